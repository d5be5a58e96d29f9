"""slime: Megatron-style flags of ``train.py`` or ``train_async.py``.

Defaults are those of slime/utils/arguments.py (read at commit 002fa9d6).
"""

from __future__ import annotations

from rlecon.errors import RleconError
from rlecon.readers.launch.flags import flag_key
from rlecon.readers.launch.values import Fact, default

VERSION = "slime: "
ESTIMATORS = {"grpo": "grpo", "gspo": "grpo", "reinforce_plus_plus_baseline": "rloo", "ppo": "ppo"}
clean = flag_key


def read(draft):
    """Fill ``draft`` from slime's flags."""
    s = draft.settings
    draft.model(s.text("hf_checkpoint"))
    draft.ask("model.name", "--hf-checkpoint is not in the file")
    prompts = s.count("rollout_batch_size")
    draft.put("rollout.prompts_per_step", prompts)
    group = s.count("n_samples_per_prompt") or default(1, VERSION + "n_samples_per_prompt")
    draft.put("rollout.group_size", group)
    estimator = s.text("advantage_estimator") or default("grpo", VERSION + "advantage_estimator")
    sampled = s.text("dynamic_sampling_filter_path")
    if sampled:
        draft.put("model.algorithm", Fact("dapo", sampled.words))
        draft.ask("rollout.oversampling", f"{sampled.words} throws groups away, how many depends on the data")
    elif estimator.value in ESTIMATORS:
        draft.put("model.algorithm", Fact(ESTIMATORS[estimator.value], estimator.words))
    else:
        draft.ask("model.algorithm", f"{estimator.words} is none of the algorithms that a run file knows")
    draft.put("update.critic", Fact(estimator.value == "ppo", estimator.words))
    gpus(draft)
    draft.put("rollout.max_response_tokens", s.count("rollout_max_response_len"))
    custom = s.text("custom_generate_function_path")
    if custom:
        for key in ("rollout.turns", "rollout.tool_tokens_per_turn", "rollout.environment_seconds_per_turn"):
            draft.ask(key, f"{custom.words}: turns and tools are in that code, not in the file")
    update(draft, prompts, group)
    draft.put("run.steps", s.count("num_rollout"))
    if epochs := s.count("num_epoch"):
        draft.ask("run.steps", f"{epochs.words}, and the number of rows of the dataset is not in the file")


def gpus(draft):
    s = draft.settings
    nodes, each = s.count("actor_num_nodes"), s.count("actor_num_gpus_per_node")
    together = s.flag("colocate")
    if nodes or each:
        nodes = nodes or default(1, VERSION + "actor_num_nodes")
        each = each or default(8, VERSION + "actor_num_gpus_per_node")
        train = nodes.value * each.value
        if together and together.value:
            draft.derive("hardware.gpus", train, nodes, each, together, how=f"{nodes.value} x {each.value}, colocated")
            draft.put("hardware.rollout_gpus", Fact(0, together.words))
        elif pool := s.count("rollout_num_gpus"):
            draft.derive("hardware.gpus", train + pool.value, nodes, each, pool,
                         how=f"{train} that train + {pool.value} that generate")
            draft.put("hardware.rollout_gpus", pool)
        else:
            draft.ask("hardware.rollout_gpus", "neither --colocate nor --rollout-num-gpus is in the file")
            draft.ask("hardware.gpus", f"{train} GPUs train; how many generate is not in the file")
    program = s.text("program")
    if program and "train_async" in program.value:
        draft.put("update.overlap", Fact("one_step", program.words))
        draft.put("update.staleness_steps", Fact(1, "train_async.py generates one step ahead"))
    else:
        draft.put("update.overlap", Fact("none", program.words if program else "not train_async.py"))
    tensor = s.count("rollout_num_gpus_per_engine") or default(1, VERSION + "rollout_num_gpus_per_engine")
    draft.put("rollout.tensor_parallel", tensor)
    draft.put("rollout.engine_memory_share", s.number("sglang_mem_fraction_static", low=0.01, high=1))
    draft.put("rollout.max_sequences_per_engine", s.count("sglang_max_running_requests"))
    eager = s.flag("sglang_disable_cuda_graph")
    draft.put("rollout.engine", Fact("eager", eager.words) if eager and eager.value else None)
    draft.put("rollout.partial_rollouts", s.flag("partial_rollout"))


def update(draft, prompts, group):
    s = draft.settings
    if prompts:
        rollouts = prompts.value * group.value
        batch, count = s.count("global_batch_size"), s.count("num_steps_per_rollout")
        if batch and not count:
            if batch.value > rollouts:
                raise RleconError(f"more than the {rollouts} rollouts of a step", field=batch.words,
                                  allowed=f"1 to {rollouts}")
            draft.derive("update.minibatches", -(-rollouts // batch.value), prompts, group, batch,
                         how=f"{prompts.value} x {group.value} / {batch.value}")
        draft.put("update.minibatches", count)
    own = s.flag("use_rollout_logprobs")
    draft.put("update.old_logprobs", Fact(not own.value, own.words) if own else Fact(
        True, "slime recomputes log-probabilities unless --use-rollout-logprobs is given"))
    loss, kl = s.flag("use_kl_loss"), s.number("kl_coef")
    draft.derive("update.reference_model", bool((loss and loss.value) or (kl and kl.value)), loss, kl,
                 how="" if loss or kl else "neither --use-kl-loss nor --kl-coef in the file")
    recompute = s.text("recompute_granularity")
    draft.put("update.activation_recompute", Fact(recompute.value == "full", recompute.words) if recompute else None)
    offload = s.flag("optimizer_cpu_offload")
    draft.put("update.offload", offload or Fact(False, "no --optimizer-cpu-offload in the file"))
    draft.put("update.tensor_parallel", s.count("tensor_model_parallel_size"))
    draft.put("update.pipeline_parallel", s.count("pipeline_model_parallel_size"))
    draft.put("update.expert_parallel", s.count("expert_model_parallel_size"))

"""TRL: a ``GRPOConfig`` as YAML, or as flags of ``trl grpo``.

The number of processes is accelerate's, not the file's; it is asked for, or follows from ``hardware.gpus``. Defaults
cited as "TRL 1.x" are those of trl/trainer/grpo_config.py (read at commit 006d32c9); ``vllm_device`` dates a file to
TRL 0.14 or 0.15, when one GPU of the node held vLLM.
"""

from __future__ import annotations

from rlecon.errors import RleconError
from rlecon.readers.launch.flags import flag_key
from rlecon.readers.launch.values import Fact, default

NEW, OLD = "TRL 1.x: ", "TRL 0.14-0.15 (vllm_device dates the file): "
clean = flag_key


def read(draft):
    """Fill ``draft`` from a GRPOConfig."""
    s = draft.settings
    old = s.text("vllm_device")
    version = OLD if old else NEW
    draft.model(s.text("model_name_or_path", "model"))
    if s.on("use_peft"):
        draft.put("model.lora_rank", s.count("lora_r") or default(16, NEW + "lora_r (ModelConfig)"))
    estimator = s.text("loss_type")
    draft.put("model.algorithm", Fact("grpo", estimator.words if estimator else "TRL's GRPOTrainer"))
    group = s.count("num_generations", low=2) or default(8, version + "num_generations")
    draft.put("rollout.group_size", group)
    processes = gpus(draft, old)
    batches(draft, processes, version)
    cap = s.count("max_completion_length") or default(256, version + "max_completion_length")
    draft.put("rollout.max_response_tokens", cap)
    if prompt := s.count("max_prompt_length"):
        draft.ask("rollout.prompt_tokens", f"only the cap on prompts is in the file, {prompt.words}")
    if tools := s.count("max_tool_calling_iterations"):
        for key in ("rollout.turns", "rollout.tool_tokens_per_turn", "rollout.environment_seconds_per_turn"):
            draft.ask(key, f"the run calls tools ({tools.words}); their mean is not in the file")
    server = s.on("use_vllm")
    if server:
        draft.put("rollout.engine_memory_share", s.number("vllm_gpu_memory_utilization", low=0.01, high=1))
        draft.put("rollout.tensor_parallel", s.count("vllm_tensor_parallel_size"))
    else:
        vllm = s.flag("use_vllm") or default(False, version + "use_vllm")
        draft.put("rollout.engine", Fact("eager", f"{vllm.words}: transformers generates"))
    draft.put("update.overlap", Fact("none", "TRL's GRPOTrainer trains after each generation"))
    beta = s.number("beta") or default(0.04 if old else 0.0, version + "beta")
    draft.put("update.reference_model", Fact(beta.value != 0, beta.words))
    draft.put("update.activation_recompute", s.flag("gradient_checkpointing"))


def gpus(draft, old):
    """The number of training processes as a ``Fact``; sets the pools as far as they are known."""
    s = draft.settings
    processes, total = s.count("num_processes"), draft.get("hardware.gpus")
    pool = draft.get("hardware.rollout_gpus")
    mode = s.text("vllm_mode")
    server = s.on("use_vllm") and (mode is None or mode.value == "server")
    if server and old and pool is None:
        draft.put("hardware.rollout_gpus", Fact(1, f"{old.words}: vLLM has one GPU of its own beside the trainer's"))
        pool = draft.get("hardware.rollout_gpus")
    elif not server:
        words = mode.words if mode else "no vLLM server"
        draft.put("hardware.rollout_gpus", Fact(0, f"{words}: one pool, in turns"))
        pool = draft.get("hardware.rollout_gpus")
    elif pool is None:
        draft.ask("hardware.rollout_gpus",
                  "vLLM runs as a server (trl vllm-serve), whose GPUs are not in the file")
    if processes and pool:
        count = processes.value + pool.value
        draft.derive("hardware.gpus", count, processes, pool, how=f"{processes.value} that train + {pool.value}")
        if total and total.value != count:
            raise RleconError(
                f"{processes.value} processes and {pool.value} GPUs for generation make {count}", field="hardware.gpus",
                value=total.value, allowed=str(count))
        return processes
    if processes is None and total and pool:
        if pool.value >= total.value:
            raise RleconError("leaves no GPU to train on", field="hardware.rollout_gpus", value=pool.value,
                              allowed=f"fewer than {total.value}")
        return Fact(total.value - pool.value, f"{total.words} less {pool.words}")
    draft.ask("hardware.gpus", "the number of processes is accelerate's, not the config's: give hardware.gpus,"
              " or --set num_processes=N")
    return processes


def batches(draft, processes, version):
    s = draft.settings
    each = s.count("per_device_train_batch_size") or default(8, version + "per_device_train_batch_size")
    pile = s.count("gradient_accumulation_steps") or default(1, version + "gradient_accumulation_steps")
    group = draft.get("rollout.group_size")
    whole = s.count("generation_batch_size")
    spread = s.count("steps_per_generation") or pile
    iterations = s.count("num_iterations") or default(1, version + "num_iterations")
    draft.put("update.epochs", iterations)
    if whole:
        rollouts, how = whole.value, f"{whole.value} / {group.value}"
    elif processes:
        rollouts = each.value * processes.value * spread.value
        how = f"{each.value} x {processes.value} x {spread.value} / {group.value}"
    else:
        draft.ask("rollout.prompts_per_step", "per_device_train_batch_size x processes x gradient accumulation /"
                  " num_generations needs the number of processes")
        rollouts = None
    if rollouts is not None:
        prompts = draft.whole(rollouts, group.value, f"rollout.prompts_per_step = {how}")
        draft.derive("rollout.prompts_per_step", prompts, whole or each, whole or processes, whole or spread, group,
                     how=how)
    per_generation = spread.value / pile.value
    if whole and processes:
        per_generation = whole.value / (each.value * processes.value * pile.value)
    updates = max(1, round(per_generation))
    draft.derive("update.minibatches", updates, spread, pile)
    reuse = updates > 1 or iterations.value > 1
    if reuse or version == OLD:
        draft.derive("update.old_logprobs", reuse, iterations, spread, pile,
                     how="old log-probabilities are recomputed only for batches used more than once")
    elif s.on("use_vllm"):
        draft.put("update.old_logprobs", s.flag("vllm_importance_sampling_correction") or default(
            True, NEW + "vllm_importance_sampling_correction"))
    steps = s.number("max_steps", low=-1)
    if steps and steps.value > 0:
        share = updates * iterations.value
        draft.derive("run.steps", max(1, round(steps.value / share)), steps,
                     how=f"{steps.value:g} optimizer steps, {share} per generation")
    elif epochs := s.number("num_train_epochs", low=0):
        draft.ask("run.steps", f"{epochs.words}, and the number of rows of the dataset is not in the file")

"""OpenRLHF: flags of ``train_ppo_ray``, dotted (``--rollout.batch_size``, 0.9 and later) or flat (until then).

Defaults are those of openrlhf/cli/train_ppo_ray.py (flat: read at commit 021d1b09).
"""

from __future__ import annotations

from math import ceil

from rlecon.readers.launch.flags import flag_key
from rlecon.readers.launch.nemo_rl import cap_total
from rlecon.readers.launch.values import Fact, default

VERSION = "OpenRLHF: "
ESTIMATORS = {
    "group_norm": "grpo", "dr_grpo": "grpo", "grpo": "grpo", "rloo": "rloo", "reinforce_baseline": "rloo", "gae": "ppo",
}
clean = flag_key


def read(draft):
    """Fill ``draft`` from OpenRLHF's flags."""
    s = draft.settings
    draft.model(s.text("actor.model_name_or_path", "pretrain"))
    draft.put("model.lora_rank", s.count("ds.lora.rank", "lora_rank", low=0) or default(0, VERSION + "lora_rank"))
    prompts = s.count("rollout.batch_size", "rollout_batch_size")
    draft.put("rollout.prompts_per_step", prompts)
    draft.ask("rollout.prompts_per_step", "rollout.batch_size is not in the file (OpenRLHF's own default is 1024)")
    group = s.count("rollout.n_samples_per_prompt", "n_samples_per_prompt")
    group = group or default(1, VERSION + "n_samples_per_prompt")
    draft.put("rollout.group_size", group)
    estimator = s.text("algo.advantage.estimator", "advantage_estimator") or default(
        "gae", VERSION + "advantage_estimator")
    critic = estimator.value == "gae"
    filtered = s.on("algo.dynamic_filtering_enable", "dynamic_filtering")
    if filtered:
        words = s.flag("algo.dynamic_filtering_enable", "dynamic_filtering").words
        draft.put("model.algorithm", Fact("dapo", f"{words}; {estimator.words}"))
        draft.ask("rollout.oversampling", f"{words} throws groups away, how many depends on the data")
    elif estimator.value in ESTIMATORS:
        draft.put("model.algorithm", Fact(ESTIMATORS[estimator.value], estimator.words))
    else:
        draft.ask("model.algorithm", f"{estimator.words} is none of the algorithms that a run file knows")
    kl = s.number("algo.kl.init_coef", "init_kl_coef") or default(0.01, VERSION + "init_kl_coef")
    draft.put("update.reference_model", Fact(kl.value > 0, kl.words))
    draft.derive("update.critic", critic, estimator)
    gpus(draft, critic, kl.value > 0)
    lengths(draft)
    update(draft, group)


def _role(s, role, absent=None):
    """GPUs of a role as a ``Fact``."""
    nodes = s.count(f"{role}.num_nodes", f"{role}_num_nodes", low=0)
    each = s.count(f"{role}.num_gpus_per_node", f"{role}_num_gpus_per_node", low=0)
    if nodes is None and each is None:
        return absent
    nodes = nodes or default(1, f"{VERSION}{role}.num_nodes")
    each = each or default(8, f"{VERSION}{role}.num_gpus_per_node")
    return Fact(nodes.value * each.value, f"{nodes.words}; {each.words}")


def gpus(draft, critic, reference):
    s = draft.settings
    actor = _role(s, "actor")
    engines = s.count("vllm.num_engines", "vllm_num_engines", low=0)
    tensor = s.count("vllm.tensor_parallel_size", "vllm_tensor_parallel_size") or Fact(1, "one GPU per engine")
    pool = engines.value * tensor.value if engines else 0
    together = s.flag("train.colocate_all", "colocate_all_models")
    if actor is None:
        draft.ask("hardware.gpus", "actor.num_nodes and actor.num_gpus_per_node are not in the file")
    elif together and together.value:
        draft.derive("hardware.gpus", actor.value, together, actor, how="all roles and vLLM share the actor's GPUs")
        draft.put("hardware.rollout_gpus", Fact(0, together.words))
        if pool and pool != actor.value:
            draft.note(f"vLLM's {pool} GPUs are not the actor's {actor.value}: OpenRLHF refuses to start so")
    else:
        pairs = [("actor", actor)]
        shared = s.on("train.colocate_actor_ref", "colocate_actor_ref")
        if reference and not shared:
            pairs.append(("ref", _role(s, "ref") or default(8, VERSION + "ref.num_gpus_per_node")))
        judge = _role(s, "reward")
        if critic:
            pairs.append(("critic", _role(s, "critic") or default(8, VERSION + "critic.num_gpus_per_node")))
        if judge and not (critic and s.on("train.colocate_critic_reward", "colocate_critic_reward")):
            pairs.append(("reward", judge))
        if pool:
            pairs.append(("vLLM", Fact(pool, f"{engines.words}; {tensor.words}")))
        total = sum(fact.value for _, fact in pairs)
        draft.derive("hardware.gpus", total, *(fact for _, fact in pairs),
                     how=" + ".join(f"{fact.value} {role}" for role, fact in pairs))
        draft.put("hardware.rollout_gpus", Fact(pool, f"{engines.words}; {tensor.words}" if pool else
                                                "no vLLM engines: the actor's GPUs generate"))
        if len(pairs) > 2 or not pool:
            draft.note("roles have GPUs of their own (" + ", ".join(f"{role} {fact.value}" for role, fact in pairs)
                       + "); a run file knows one pool that trains and one that generates")
    if engines and engines.value:
        draft.put("rollout.tensor_parallel", tensor)
        draft.put("rollout.engine_memory_share", s.number(
            "vllm.gpu_memory_utilization", "vllm_gpu_memory_utilization", low=0.01, high=1)
            or default(0.95, VERSION + "vllm_gpu_memory_utilization"))
        eager = s.flag("vllm.enforce_eager", "enforce_eager")
        draft.put("rollout.engine", Fact("eager" if eager.value else "typical", eager.words) if eager else None)
    else:
        draft.put("rollout.engine", Fact("eager", "no vLLM engines: transformers generates"))
    late = s.flag("train.async_enable", "async_train")
    if late and late.value:
        queue = s.count("train.async_queue_size", "async_queue_size") or default(1, VERSION + "async_queue_size")
        draft.put("update.overlap", Fact("one_step" if queue.value == 1 else "full", f"{late.words}; {queue.words}"))
        draft.put("update.staleness_steps", queue)
    else:
        draft.put("update.overlap", Fact("none", "no asynchronous training in the file"))
    draft.put("rollout.partial_rollouts", s.flag("train.partial_rollout_enable", "partial_rollout"))
    reward = s.text("reward.model_name_or_path", "reward_pretrain")
    if reward:
        draft.model(reward, "judge.name")
        draft.put("judge.role", Fact("reward", reward.words))
        if "judge.name" not in draft.run:
            draft.reasons.pop("judge.name", None)
            draft.run.pop("judge.role", None)
            draft.origins.pop("judge.role", None)
            draft.note(f"{reward.words}: a reward model that is not in the catalogue; give judge.name to price it")


def lengths(draft):
    s = draft.settings
    prompt = s.count("prompt_max_len")
    new = s.count("rollout.max_new_tokens", "generate_max_len")
    total = s.count("data.max_len", "max_len")
    if prompt:
        draft.ask("rollout.prompt_tokens", f"only the cap on prompts is in the file, {prompt.words}")
    elif total:
        draft.ask("rollout.prompt_tokens", f"only {total.words} is in the file, prompt and response together")
    cap_total(draft, total, new)
    agent = s.text("train.agent_func_path", "agent_func_path", "train.agent_path")
    if agent:
        for key in ("rollout.turns", "rollout.tool_tokens_per_turn", "rollout.environment_seconds_per_turn"):
            draft.ask(key, f"the run has an agent ({agent.words}); the mean is not in the file")


def update(draft, group):
    s = draft.settings
    batch = s.count("train.batch_size", "train_batch_size") or default(128, VERSION + "train_batch_size")
    prompts = draft.get("rollout.prompts_per_step")
    if prompts:
        rollouts = prompts.value * group.value
        draft.derive("update.minibatches", max(1, ceil(rollouts / batch.value)), prompts, group, batch,
                     how=f"{prompts.value} x {group.value} / {batch.value}")
        most = s.number("data.max_samples", "max_samples", low=1)
        if most and most.value < 1e8:
            rounds = s.count("train.num_episodes", "num_episodes") or default(1, VERSION + "num_episodes")
            bound = int(most.value * rounds.value // prompts.value)
            draft.ask("run.steps", f"{most.words} is a ceiling on the dataset ({rounds.words}): at most {bound} steps")
    draft.put("update.epochs", s.count("train.max_epochs", "max_epochs") or default(1, VERSION + "max_epochs"))
    draft.put("update.old_logprobs", Fact(True, "OpenRLHF recomputes log-probabilities with the actor"))
    recompute = s.flag("actor.gradient_checkpointing_enable", "gradient_checkpointing")
    draft.put("update.activation_recompute", recompute or default(False, VERSION + "gradient_checkpointing"))
    offload = s.flag("ds.adam_offload", "adam_offload")
    draft.put("update.offload", offload or default(False, VERSION + "adam_offload"))
    draft.put("update.tensor_parallel", s.count("ds.tensor_parallel_size", "ds_tensor_parallel_size"))

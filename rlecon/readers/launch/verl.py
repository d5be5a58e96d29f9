"""verl: Hydra overrides on a command line, in a script, or as YAML.

Defaults cited as "verl 0.6+" are those of verl/trainer/config/_generated_ppo_trainer.yaml (read at commit 01d4d766).
"""

from __future__ import annotations

from math import ceil

from rlecon.errors import RleconError
from rlecon.readers.launch.values import Fact, default

VERSION = "verl 0.6+: "
ESTIMATORS = {
    "grpo": "grpo", "grpo_passk": "grpo", "grpo_vectorized": "grpo", "rloo": "rloo", "rloo_vectorized": "rloo",
    "reinforce_plus_plus_baseline": "rloo", "gae": "ppo",
}
SHORT = ("actor.", "rollout.", "ref.", "model.")
ACTOR, ROLLOUT = "actor_rollout_ref.actor.", "actor_rollout_ref.rollout."


def clean(key):
    """Full key: some people write keys without ``actor_rollout_ref.``; Hydra groups may use slashes."""
    key = key.replace("/", ".")
    return "actor_rollout_ref." + key if key.startswith(SHORT) else key


def read(draft):
    """Fill ``draft`` from verl's settings."""
    s = draft.settings
    draft.model(s.text("actor_rollout_ref.model.path"))
    model = "actor_rollout_ref.model."
    draft.put("model.lora_rank", s.count(model + "lora_rank", model + "lora.rank", low=0))
    batch = s.count("data.train_batch_size")
    draft.put("rollout.prompts_per_step", batch)
    draft.ask("rollout.prompts_per_step", "data.train_batch_size is not in the file (verl's own default is 1024)")
    group = s.count(ROLLOUT + "n")
    draft.put("rollout.group_size", group)
    draft.ask("rollout.group_size", ROLLOUT + "n is not in the file (verl's own default is 1)")
    algorithm(draft)
    gpus(draft)
    lengths(draft)
    rollout(draft)
    update(draft)
    steps = s.count("trainer.total_training_steps")
    draft.put("run.steps", steps)
    if steps is None and (epochs := s.count("trainer.total_epochs")):
        draft.ask("run.steps", f"{epochs.words}, and the number of rows in data.train_files is not in the file")


def algorithm(draft):
    s = draft.settings
    estimator = s.text("algorithm.adv_estimator")
    if estimator is None:
        draft.ask("model.algorithm", "algorithm.adv_estimator is not in the file (verl's own default, gae, is PPO)")
        estimator = Fact("", "algorithm.adv_estimator is not in the file")
    name = ESTIMATORS.get(estimator.value.lower())
    if s.on("distillation.enabled"):
        draft.put("model.algorithm", Fact("distillation", s.flag("distillation.enabled").words))
        draft.model(s.text("distillation.teacher_models.teacher_model.model_path"), "judge.name")
        draft.put("judge.role", Fact("teacher", s.flag("distillation.enabled").words))
    filtered = s.flag("algorithm.filter_groups.enable")
    if filtered and filtered.value:
        draft.derive("model.algorithm", "dapo", estimator, filtered, how="group filtering")
        draft.ask(
            "rollout.oversampling",
            f"{filtered.words} throws groups away, how many depends on the data",
        )
    elif name:
        draft.put("model.algorithm", name, estimator.words)
    elif estimator.value:
        draft.ask("model.algorithm", f"{estimator.words} is none of the algorithms that a run file knows")
    if generated := s.count("data.gen_batch_size"):
        batch = draft.get("rollout.prompts_per_step")
        if batch and generated.value != batch.value:
            draft.note(f"{generated.words}: generation works in batches of its own; oversampling says how many")
    critic = estimator.value.lower() == "gae"
    if estimator.value:
        draft.derive("update.critic", critic, estimator, how="a critic is trained" if critic else "no critic")
    loss, reward = s.flag(ACTOR + "use_kl_loss"), s.flag("algorithm.use_kl_in_reward")
    loss = loss or default(False, VERSION + ACTOR + "use_kl_loss")
    reward = reward or default(False, VERSION + "algorithm.use_kl_in_reward")
    draft.derive("update.reference_model", loss.value or reward.value, loss, reward)


def gpus(draft):
    s = draft.settings
    nodes, each = s.count("trainer.nnodes"), s.count("trainer.n_gpus_per_node")
    program = s.text("program")
    separate = s.count(ROLLOUT + "nnodes", low=0)
    nodes_of_rollout = separate if separate and separate.value > 0 else None
    if nodes or each:
        nodes = nodes or default(1, VERSION + "trainer.nnodes")
        each = each or default(8, VERSION + "trainer.n_gpus_per_node")
        train = nodes.value * each.value
        if nodes_of_rollout:
            inside = s.count(ROLLOUT + "n_gpus_per_node") or each
            pool = nodes_of_rollout.value * inside.value
            draft.derive("hardware.gpus", train + pool, nodes, each, nodes_of_rollout, inside,
                         how=f"{train} that train + {pool} that generate")
            draft.derive("hardware.rollout_gpus", pool, nodes_of_rollout, inside)
        else:
            draft.derive("hardware.gpus", train, nodes, each, how=f"{nodes.value} x {each.value}")
            draft.derive("hardware.rollout_gpus", 0, how="verl's hybrid engine: one pool, in turns")
    else:
        reason = s.undecided.get("trainer.n_gpus_per_node") or s.undecided.get("trainer.nnodes")
        draft.ask("hardware.gpus", "trainer.nnodes and trainer.n_gpus_per_node are not "
                  + (f"settled: {reason}" if reason else "in the file"))
    words = program.value if program else ""
    if "fully_async" in words or "async_training" in s:
        draft.put("update.overlap", Fact("full", program.words if program else "async_training.* is set"))
        draft.put("update.staleness_steps", _staleness(s))
    elif "one_step_off" in words:
        draft.put("update.overlap", Fact("one_step", program.words))
        draft.put("update.staleness_steps", Fact(1, "one step off policy"))
    else:
        draft.put("update.overlap", Fact("none", "verl trains after it generates (rollout.mode=async is the server)"))


def _staleness(s):
    fact = s.number("async_training.staleness_threshold", low=0)
    return Fact(ceil(fact.value) if fact.value else 0, fact.words) if fact else None


def lengths(draft):
    s = draft.settings
    cap = s.count("data.max_response_length", ROLLOUT + "response_length")
    draft.put("rollout.max_response_tokens", cap)
    if prompt := s.count("data.max_prompt_length", ROLLOUT + "prompt_length"):
        draft.ask("rollout.prompt_tokens", f"only the cap on prompts is in the file, {prompt.words}")
    multi = ROLLOUT + "multi_turn."
    turns = s.count("rllm.agent.max_steps", multi + "max_assistant_turns", multi + "max_turns")
    if turns or s.on(ROLLOUT + "multi_turn.enable"):
        cap = turns.words if turns else ROLLOUT + "multi_turn.enable"
        draft.ask("rollout.turns", f"the run is an agent's ({cap}), and the mean number of turns is not in the file")
        draft.ask("rollout.tool_tokens_per_turn", f"what the tools return ({cap}) is not in the file")
        draft.ask("rollout.environment_seconds_per_turn", f"how long the environment takes ({cap}) is not in the file")


def rollout(draft):
    s = draft.settings
    tensor = s.count(ROLLOUT + "tensor_model_parallel_size")
    draft.put("rollout.tensor_parallel", tensor or default(2, VERSION + ROLLOUT + "tensor_model_parallel_size"))
    draft.put("rollout.engine_memory_share", s.number(ROLLOUT + "gpu_memory_utilization", low=0.01, high=1))
    eager = s.flag(ROLLOUT + "enforce_eager")
    if eager:
        draft.put("rollout.engine", Fact("eager" if eager.value else "typical", eager.words))
    draft.put("rollout.max_sequences_per_engine", s.count(ROLLOUT + "max_num_seqs"))
    quantized = s.text(ROLLOUT + "quantization")
    if quantized and "fp8" in quantized.value.lower():
        draft.put("rollout.weight_bits", Fact(8, quantized.words))
    elif quantized:
        draft.ask("rollout.weight_bits", f"{quantized.words} does not say how many bits a weight has")


def update(draft):
    s = draft.settings
    batch = draft.get("rollout.prompts_per_step")
    mini = s.count(ACTOR + "ppo_mini_batch_size") or default(256, VERSION + ACTOR + "ppo_mini_batch_size")
    if batch:
        if isinstance(batch.value, int) and mini.value > batch.value and not mini.words.startswith("default"):
            raise RleconError(
                f"larger than the batch of {batch.value} prompts", field=mini.words, allowed=f"1 to {batch.value}")
        count = max(1, ceil(batch.value / mini.value))
        draft.derive("update.minibatches", count, batch, mini, how=f"{batch.value} / {mini.value}")
    draft.put("update.epochs", s.count(ACTOR + "ppo_epochs") or default(1, VERSION + ACTOR + "ppo_epochs"))
    bypass = s.flag("algorithm.rollout_correction.bypass_mode")
    draft.put("update.old_logprobs", Fact(not bypass.value, bypass.words) if bypass else Fact(
        True, "verl recomputes old log-probabilities unless algorithm.rollout_correction.bypass_mode is set"))
    checkpoint = s.flag("actor_rollout_ref.model.enable_gradient_checkpointing")
    recompute = s.text(ACTOR + "megatron.override_transformer_config.recompute_granularity",
                       ACTOR + "megatron.recompute_granularity")
    if recompute:
        draft.put("update.activation_recompute", Fact(recompute.value == "full", recompute.words))
    draft.put("update.activation_recompute", checkpoint)
    for engine in ("megatron", "fsdp_config"):
        draft.put("update.offload", s.flag(f"{ACTOR}{engine}.optimizer_offload"))
    draft.put("update.tensor_parallel", s.count(ACTOR + "megatron.tensor_model_parallel_size"))
    draft.put("update.pipeline_parallel", s.count(ACTOR + "megatron.pipeline_model_parallel_size"))
    draft.put("update.expert_parallel", s.count(ACTOR + "megatron.expert_model_parallel_size"))
    reward = s.text("reward.reward_model.model_path", "reward_model.model.path")
    if reward and s.on("reward.reward_model.enable", "reward_model.enable"):
        draft.model(reward, "judge.name")
        draft.put("judge.role", Fact("reward", reward.words))

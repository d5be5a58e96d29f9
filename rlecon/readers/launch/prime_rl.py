"""prime-rl: one TOML file for trainer, orchestrator and inference.

Defaults are those of packages/prime-rl-configs (read at commits eaebf880 and later). ``orchestrator.batch_size`` counts
rollouts, not prompts. Generation and training always have pools of their own and overlap.
"""

from __future__ import annotations

from rlecon.errors import RleconError
from rlecon.readers.launch.nemo_rl import cap_total
from rlecon.readers.launch.values import Fact, default, scalar

VERSION = "prime-rl: "


def clean(key):
    return key


def prepare(draft, path, beside):
    """Refuse what this file leaves to others."""
    if "toml_files" in draft.settings:
        raise RleconError("the file inherits from other TOML files", field="toml_files", value=str(path),
                          advice="give them in order: rlecon import BASE.toml FILE.toml")


def _sources(s):
    fact = s.find("orchestrator.train.source", "orchestrator.train.env", "orchestrator.env")
    return [row for row in fact.value if isinstance(row, dict)] if fact and isinstance(fact.value, list) else []


def read(draft):
    """Fill ``draft`` from prime-rl's settings."""
    s = draft.settings
    draft.model(s.text("model.name", "trainer.model.name", "orchestrator.model.name"))
    rank = s.count("trainer.model.lora.rank", "model.lora.rank")
    if rank is None and ("trainer.model.lora" in s or "model.lora" in s):
        rank = default(16, VERSION + "trainer.model.lora.rank")
    draft.put("model.lora_rank", rank or Fact(0, "no trainer.model.lora in the file"))
    algorithm(draft)
    group(draft)
    gpus(draft)
    lengths(draft)
    update(draft)
    steps = s.count("max_steps", "trainer.max_steps", "orchestrator.max_steps")
    draft.put("run.steps", steps)
    if steps is None:
        draft.ask("run.steps", "max_steps is not in the file; prime-rl then trains until it is stopped")


def algorithm(draft):
    s = draft.settings
    kind = s.text("orchestrator.train.algo.type", "orchestrator.algo.type")
    known = {"grpo": "grpo", "rloo": "rloo", "opd": "distillation", "opsd": "distillation"}
    if kind is None:
        draft.put("model.algorithm", default("grpo", VERSION + "orchestrator.train.algo.type"))
    elif kind.value in known:
        draft.put("model.algorithm", Fact(known[kind.value], kind.words))
    else:
        draft.ask("model.algorithm", f"{kind.words} is none of the algorithms that a run file knows")


def group(draft):
    s = draft.settings
    size = s.count("orchestrator.group_size", "orchestrator.rollouts_per_example", "orchestrator.train.group_size")
    own = sorted({row["group_size"] for row in _sources(s) if isinstance(row.get("group_size"), int)})
    if len(own) == 1 and all("group_size" in row for row in _sources(s)):
        size = Fact(own[0], f"group_size={own[0]} of every [[orchestrator.train.source]]")
    elif own:
        draft.ask("rollout.group_size", f"the sources have groups of their own sizes ({own}); give their mean")
        size = None
    draft.put("rollout.group_size", size)
    draft.ask(
        "rollout.group_size",
        "group_size is not in the file, and prime-rl's own default of 1 leaves a group-relative algorithm no signal",
    )
    size = draft.get("rollout.group_size")
    batch = s.count("orchestrator.batch_size")
    tokens = s.count("orchestrator.token_batch_size")
    if batch is None and tokens:
        draft.ask("rollout.prompts_per_step", f"{tokens.words} counts tokens: rollouts follow from their length")
        return
    batch = batch or default(128, VERSION + "orchestrator.batch_size")
    if size:
        prompts = draft.whole(batch.value, size.value, f"rollout.prompts_per_step: {batch.words} / {size.value}")
        draft.derive("rollout.prompts_per_step", prompts, batch, size,
                     how=f"{batch.value} rollouts / {size.value}")
    else:
        draft.ask("rollout.prompts_per_step", f"{batch.words} counts rollouts; prompts follow from the group size")
    factor = s.number("orchestrator.oversampling_factor", low=1)
    draft.put("rollout.oversampling", factor)
    if s.number("orchestrator.buffer.easy_threshold") or s.on("orchestrator.buffer.online_difficulty_filtering"):
        draft.ask("rollout.oversampling", "difficulty filtering throws groups away, how many depends on the data")


def gpus(draft):
    s = draft.settings
    each = s.count("deployment.gpus_per_node") or default(8, VERSION + "deployment.gpus_per_node")
    kind = s.text("deployment.type")
    train, infer = s.count("deployment.num_train_nodes"), s.count("deployment.num_infer_nodes", low=0)
    if (kind and kind.value == "multi_node") or train:
        replicas = s.count("deployment.num_infer_replicas") or Fact(1, "one inference replica")
        if train and infer and infer.value:
            pool = infer.value * replicas.value * each.value
            draft.derive("hardware.gpus", train.value * each.value + pool, train, infer, each,
                         how=f"({train.value} + {infer.value * replicas.value}) nodes x {each.value}")
            draft.derive("hardware.rollout_gpus", pool, infer, each)
        else:
            draft.ask("hardware.gpus", "deployment.num_train_nodes or num_infer_nodes is not in the file")
    elif (split := [s.find(f"{role}_gpu_ids") for role in ("trainer", "inference")]) and all(
            fact and isinstance(fact.value, list) for fact in split):
        one, two = (Fact(len(fact.value), fact.words) for fact in split)
        draft.derive("hardware.gpus", one.value + two.value, one, two, how=f"{one.value} train + {two.value} generate")
        draft.derive("hardware.rollout_gpus", two.value, two)
    elif "deployment" in s or "inference" in s:
        one = s.count("deployment.num_train_gpus") or default(1, VERSION + "deployment.num_train_gpus")
        two = s.count("deployment.num_infer_gpus") or default(1, VERSION + "deployment.num_infer_gpus")
        draft.derive("hardware.gpus", one.value + two.value, one, two,
                     how=f"single node: {one.value} that train + {two.value} that generate")
        draft.derive("hardware.rollout_gpus", two.value, two)
    else:
        draft.ask("hardware.gpus", "the file starts no inference: how many GPUs the run has is set elsewhere")
    tensor = s.count("inference.vllm.tensor_parallel_size", "inference.parallel.tp", "inference.tp")
    draft.put("rollout.tensor_parallel", tensor)
    draft.put("rollout.engine_memory_share", s.number(
        "inference.vllm.gpu_memory_utilization", "inference.gpu_memory_utilization", low=0.01, high=1))
    eager = s.flag("inference.vllm.enforce_eager", "inference.model.enforce_eager")
    draft.put("rollout.engine", Fact("eager" if eager.value else "typical", eager.words) if eager else None)
    draft.put("rollout.max_sequences_per_engine", s.count("inference.vllm.max_num_seqs", "inference.max_num_seqs"))


def lengths(draft):
    s = draft.settings
    total = s.count("orchestrator.seq_len", "seq_len", "trainer.model.seq_len")
    new = s.count("orchestrator.train.sampling.max_completion_tokens", "orchestrator.train.sampling.max_tokens",
                  "orchestrator.sampling.max_tokens", "orchestrator.sampling.max_completion_tokens")
    rows = _sources(s)
    harness = []
    for row in rows:
        agent = row.get("env", {}) if isinstance(row.get("env"), dict) else {}
        agent = agent.get("agent", {}) if isinstance(agent.get("agent"), dict) else {}
        name = agent.get("harness", {}).get("id") if isinstance(agent.get("harness"), dict) else None
        if name is not None and scalar(str(name)) is not None:
            harness.append(str(name))
    if total:
        draft.ask("rollout.prompt_tokens", f"only {total.words} is in the file, prompt and response together")
    if harness:
        new = None  # a cap on one turn is none on the trajectory
        for key in ("rollout.turns", "rollout.tool_tokens_per_turn", "rollout.environment_seconds_per_turn"):
            draft.ask(key, f"the agent works through the harness {harness[0]!r}; the mean is not in the file")
    cap_total(draft, total, new)


def update(draft):
    s = draft.settings
    level = s.count("max_async_level", "orchestrator.max_async_level", "trainer.max_async_level", low=0)
    if level:
        draft.put("update.overlap", Fact(("none", "one_step")[level.value] if level.value < 2 else "full", level.words))
        draft.put("update.staleness_steps", level)
    bound = "orchestrator.max_off_policy_steps"
    stale = s.count(bound, low=0) or default(8, VERSION + bound)
    draft.put("update.overlap", Fact("full" if stale.value else "none", f"pools of their own; {stale.words}"))
    draft.put("update.staleness_steps", stale)
    draft.put("update.minibatches", Fact(1, "prime-rl: one update per batch"))
    draft.put("update.epochs", Fact(1, "prime-rl: each batch is used once"))
    again = s.flag("trainer.recompute_logprobs", "recompute_logprobs")
    draft.put("update.old_logprobs", again or Fact(False, "prime-rl's loss takes the engine's log-probabilities"))
    draft.put("update.reference_model", Fact(False, "prime-rl has no reference model in its RL loss"))
    if "trainer.model.ac" in s or "trainer.model.ac_offloading" in s:
        key = "trainer.model.ac" if "trainer.model.ac" in s else "trainer.model.ac_offloading"
        mode = s.text("trainer.model.ac.mode")
        line = s.entries[key].line if key in s.entries else 0
        words = mode.words if mode else f"[{key}]" + (f" (line {line})" if line else "")
        draft.put("update.activation_recompute", Fact(mode is None or mode.value == "full", words))
    else:
        draft.put("update.activation_recompute", default(False, VERSION + "trainer.model.ac"))
    draft.put("update.expert_parallel", s.count("trainer.model.ep"))
    draft.put("update.tensor_parallel", s.count("trainer.model.tp"))
    offload = s.flag("trainer.model.optim_cpu_offload", "trainer.model.fsdp_cpu_offload")
    draft.put("update.offload", offload or default(False, VERSION + "trainer.model.optim_cpu_offload"))
    if (eight := s.flag("trainer.model.fp8")) is not None:
        draft.put("update.train_bits", Fact(8 if eight.value else 16, eight.words))
    if context := s.count("trainer.model.cp"):
        draft.note(f"{context.words}: context parallelism has no key in the run file")

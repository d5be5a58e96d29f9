"""NeMo-RL: YAML that inherits by ``defaults:``, with OmegaConf references.

Recipes hold what differs from a base; the base is looked for where ``defaults:`` points, then beside the recipe, or is
given by ``--set defaults=PATH``.
"""

from __future__ import annotations

from pathlib import Path

from rlecon.errors import RleconError
from rlecon.readers.launch.formats import read_text, yaml_entries
from rlecon.readers.launch.values import Fact

MAX_BASES = 8


def clean(key):
    return key.replace("/", ".")


def prepare(draft, path, beside):
    """Put the bases that ``defaults:`` names under the settings of the file."""
    s = draft.settings
    chain, here, entries = [path], path, dict(s.entries)
    _no_circle(path, [])
    while (wanted := _defaults(entries.pop("defaults", None))) is not None:
        s.used.add("defaults")
        if len(wanted) > 1:
            raise RleconError("inherits from several files", field="defaults", value=", ".join(wanted)[:200],
                              advice="give them in order on the command line: rlecon import BASE FILE")
        base = _find(wanted[0], here, draft)
        _no_circle(base, chain)
        chain.append(base)
        if len(chain) > MAX_BASES:
            raise RleconError("inherits through too many files", field="defaults", value=str(base),
                              allowed=f"at most {MAX_BASES}")
        below = yaml_entries(read_text(base), base.name)
        parents = {key[:spot] for key in below for spot in range(len(key)) if key[spot] == "."}
        kids = {}
        for key in entries:
            for spot in range(len(key)):
                if key[spot] == "." and key[:spot] in below:
                    below.pop(key[:spot])
            if key in parents:
                kids[key] = None
        if kids:
            stems = tuple(key + "." for key in kids)
            below = {key: entry for key, entry in below.items() if not key.startswith(stems)}
        entries = {**below, **entries}
        here = base
        if "defaults" not in below:
            break
        entries["defaults"] = below["defaults"]
    s.entries = entries


def _defaults(entry):
    if entry is None or entry.value in (None, ""):
        return None
    value = entry.value
    return [str(v) for v in value] if isinstance(value, list) else [str(value)]


def _no_circle(path, chain):
    try:
        known = [item.resolve() for item in chain]
        if path.resolve() in known:
            raise RleconError("inherits from itself", field="defaults", value=str(path))
    except (OSError, RuntimeError) as error:
        raise RleconError(f"cannot be followed: {error}", field="defaults", value=str(path)) from None


def _find(wanted, here, draft):
    name = Path(wanted)
    if len(wanted) > 500 or name.suffix not in {".yaml", ".yml"}:
        raise RleconError("not the name of a YAML file", field="defaults", value=wanted[:200])
    given = draft.settings.entries.get("defaults")
    choices = [name if given is not None and given.given and name.exists() else here.parent / name,
               here.parent / name.name]
    try:
        for choice in choices:
            if choice.is_file():
                return choice
        near = sorted(item for item in here.parent.iterdir()
                      if item.name.endswith(("-" + name.name, "_" + name.name)) and item.is_file() and item != here)
    except OSError:
        near = []
    if len(near) == 1:
        draft.note(f"defaults: {wanted} is read from {near[0].name}, which lies beside the file")
        return near[0]
    raise RleconError(
        "the file inherits from this one, which is not here", field="defaults", value=wanted,
        advice="put it beside the file, or give its path with --set defaults=PATH",
    )


def read(draft):
    """Fill ``draft`` from NeMo-RL's settings."""
    s = draft.settings
    draft.model(s.text("policy.model_name"))
    lora = "policy.dtensor_cfg.lora_cfg" if not s.on("policy.megatron_cfg.enabled") else "policy.megatron_cfg.peft"
    if (enabled := s.flag(lora + ".enabled")) is not None:
        rank = s.count(lora + ".dim")
        draft.put("model.lora_rank", rank if enabled.value and rank else Fact(0, enabled.words))
    prompts, group = s.count("grpo.num_prompts_per_step"), s.count("grpo.num_generations_per_prompt")
    draft.put("rollout.prompts_per_step", prompts)
    draft.put("rollout.group_size", group)
    dynamic = s.flag("grpo.use_dynamic_sampling")
    if dynamic and dynamic.value:
        draft.put("model.algorithm", Fact("dapo", dynamic.words))
        draft.ask("rollout.oversampling", f"{dynamic.words} throws groups away, how many depends on the data")
    else:
        estimator = s.text("grpo.adv_estimator.name")
        leave_out = s.flag("grpo.use_leave_one_out_baseline")
        if estimator and estimator.value not in {"grpo", "rloo"}:
            draft.ask("model.algorithm", f"{estimator.words} is none of the algorithms that a run file knows")
        elif leave_out and leave_out.value and not s.on("grpo.normalize_rewards"):
            draft.put("model.algorithm", Fact("rloo", leave_out.words))
        else:
            draft.put("model.algorithm", estimator or Fact("grpo", "the grpo section"))
    gpus(draft)
    lengths(draft)
    update(draft, prompts, group)
    steps, epochs = s.count("grpo.max_num_steps"), s.count("grpo.max_num_epochs")
    if steps and (epochs is None or steps.value < 100_000):
        draft.put("run.steps", steps)
        if epochs:
            draft.note(f"{epochs.words} may end the run before {steps.words}")
    elif epochs:
        ceiling = f" ({steps.words} is only a ceiling)" if steps else ""
        draft.ask("run.steps", f"{epochs.words}{ceiling}, and the number of rows of the dataset is not in the file")


def gpus(draft):
    s = draft.settings
    nodes, each = s.count("cluster.num_nodes"), s.count("cluster.gpus_per_node")
    together = s.flag("policy.generation.colocated.enabled")
    if nodes and each:
        draft.derive("hardware.gpus", nodes.value * each.value, nodes, each, how=f"{nodes.value} x {each.value}")
    if together is None or together.value:
        words = together.words if together else "no separate generation resources in the file"
        draft.put("hardware.rollout_gpus", Fact(0, f"{words}: one pool, in turns"))
    else:
        own_nodes = s.count("policy.generation.colocated.resources.num_nodes")
        own_each = s.count("policy.generation.colocated.resources.gpus_per_node") or each
        if own_nodes is None and nodes and nodes.value == 1:
            own_nodes = Fact(1, "one node")
        if own_nodes and own_each:
            draft.derive("hardware.rollout_gpus", own_nodes.value * own_each.value, together, own_nodes, own_each)
        else:
            draft.ask("hardware.rollout_gpus", f"{together.words}, and its resources are not in the file")
    late = s.flag("grpo.async_grpo.enabled")
    if late and late.value:
        age = s.count("grpo.async_grpo.max_trajectory_age_steps", low=0)
        draft.put("update.overlap", Fact("one_step" if age and age.value == 1 else "full", late.words))
        draft.put("update.staleness_steps", age)
    else:
        draft.put("update.overlap", Fact("none", late.words if late else "grpo.async_grpo is not in the file"))
    cfg = "policy.generation.vllm_cfg."
    draft.put("rollout.tensor_parallel", s.count(cfg + "tensor_parallel_size"))
    draft.put("rollout.engine_memory_share", s.number(cfg + "gpu_memory_utilization", low=0.01, high=1))
    if (eager := s.flag(cfg + "enforce_eager")) is not None:
        draft.put("rollout.engine", Fact("eager" if eager.value else "typical", eager.words))
    precision = s.text(cfg + "precision")
    if precision:
        bits = {"bfloat16": 16, "float16": 16, "fp8": 8}.get(precision.value)
        draft.put("rollout.weight_bits", Fact(bits, precision.words))
    cache = s.text(cfg + "kv_cache_dtype")
    if cache and cache.value.startswith("fp8"):
        draft.put("rollout.kv_bits", Fact(8, cache.words))


def lengths(draft):
    s = draft.settings
    total = s.count("policy.max_total_sequence_length")
    new = s.count("policy.generation.max_new_tokens")
    if total:
        draft.ask("rollout.prompt_tokens", f"only {total.words} is in the file, prompt and response together")
    cap_total(draft, total, new)
    turns = s.count("grpo.max_rollout_turns")
    if turns and turns.value == 1:
        draft.put("rollout.turns", turns)
    elif turns:
        for key in ("rollout.turns", "rollout.tool_tokens_per_turn", "rollout.environment_seconds_per_turn"):
            draft.ask(key, f"the run has several turns (at most: {turns.words}); their mean is not in the file")


def cap_total(draft, total, new=None):
    """The cap on a response where the file caps prompt and response together, less the prompt when it is known."""
    prompt = draft.get("rollout.prompt_tokens")
    caps = [new.value] if new else []
    words = [new] if new else []
    how = ""
    if total:
        room = total.value - int(prompt.value) if prompt else total.value
        if room < 1:
            raise RleconError("leaves no room for a response", field="rollout.prompt_tokens", value=prompt.value,
                              allowed=f"less than {total.value}")
        caps.append(room)
        words.append(total)
        how = "prompt and response together" + (f", less {prompt.value:g} of the prompt" if prompt else "")
    if caps:
        draft.derive("rollout.max_response_tokens", min(caps), *words, how=how)


def update(draft, prompts, group):
    s = draft.settings
    batch = s.count("policy.train_global_batch_size")
    if prompts and group and batch:
        count = max(1, draft.whole(prompts.value * group.value, min(batch.value, prompts.value * group.value),
                                   f"update.minibatches: {prompts.words} x {group.words} over {batch.words}"))
        draft.derive("update.minibatches", count, prompts, group, batch,
                     how=f"{prompts.value} x {group.value} / {batch.value}")
    forced = s.flag("loss_fn.force_on_policy_ratio")
    if forced and forced.value and s.number("grpo.seq_logprob_error_threshold") is None:
        draft.put("update.old_logprobs", Fact(False, f"{forced.words}: the pass for old log-probabilities is skipped"))
    else:
        draft.put("update.old_logprobs", Fact(True, forced.words if forced else "NeMo-RL recomputes log-probabilities"))
    penalty = s.number("loss_fn.reference_policy_kl_penalty", low=0)
    skip = s.flag("grpo.skip_reference_policy_logprobs_calculation")
    if skip and skip.value:
        draft.put("update.reference_model", Fact(False, skip.words))
    elif penalty:
        draft.put("update.reference_model", Fact(penalty.value > 0, penalty.words))
    if s.on("policy.megatron_cfg.enabled"):
        cfg = "policy.megatron_cfg."
        draft.put("update.tensor_parallel", s.count(cfg + "tensor_model_parallel_size"))
        draft.put("update.pipeline_parallel", s.count(cfg + "pipeline_model_parallel_size"))
        draft.put("update.expert_parallel", s.count(cfg + "expert_model_parallel_size"))
        eight = s.flag(cfg + "fp8_cfg.enabled")
        draft.put("update.train_bits", Fact(8 if eight.value else 16, eight.words) if eight else None)
        draft.put("update.offload", s.flag(cfg + "optimizer.optimizer_cpu_offload"))
    else:
        cfg = "policy.dtensor_cfg."
        draft.put("update.tensor_parallel", s.count(cfg + "tensor_parallel_size"))
        draft.put("update.offload", s.flag(cfg + "cpu_offload"))
    draft.put("update.activation_recompute", s.flag(cfg + "activation_checkpointing"))

"""ROLL: YAML with GPUs per role as ``device_mapping``: ``list(range(0,16))``, read by pattern, never evaluated."""

from __future__ import annotations

import re
from math import ceil

from rlecon.errors import RleconError
from rlecon.readers.launch.values import Fact

ESTIMATORS = {"grpo": "grpo", "gae": "ppo", "step_reinforce": None}
RANGE = re.compile(r"list\(\s*range\(\s*(\d{1,6})\s*(?:,\s*(\d{1,6})\s*)?(?:,\s*(\d{1,6})\s*)?\)\s*\)")


def devices(text):
    """The GPUs that a ``device_mapping`` names, as a set.

    >>> sorted(devices("list(range(0,4)) + [8, 9]"))
    [0, 1, 2, 3, 8, 9]
    """
    found = set()
    for part in re.split(r"\+", str(text)):
        part = part.strip()
        if match := RANGE.fullmatch(part):
            start, stop, step = match[1], match[2], match[3]
            start, stop = (0, int(start)) if stop is None else (int(start), int(stop))
            if stop > 100_000 or step == "0":
                raise RleconError("not a set of GPUs", field="device_mapping", value=str(text)[:80])
            found |= set(range(start, stop, int(step or 1)))
        elif re.fullmatch(r"\[?\s*\d{1,6}(\s*,\s*\d{1,6})*\s*,?\s*\]?", part):
            found |= {int(number) for number in re.findall(r"\d+", part)}
        elif not re.fullmatch(r"\[\s*\]", part):
            raise RleconError("not a list of GPUs that can be read", field="device_mapping", value=str(text)[:80],
                              allowed="list(range(a,b)), [0,1,2], or a sum of them")
    return found


def clean(key):
    return key


def _mapping(s, role):
    fact = s.find(f"{role}.device_mapping")
    return Fact(devices(fact.value), fact.words) if fact else None


def read(draft):
    """Fill ``draft`` from ROLL's settings."""
    s = draft.settings
    draft.model(s.text("actor_train.model_args.model_name_or_path", "pretrain"))
    draft.put("model.lora_rank", s.count("actor_train.model_args.lora_rank", low=0) or Fact(0, "no LoRA in the file"))
    prompts = s.count("rollout_batch_size")
    group = s.count("num_return_sequences_in_group", "train_env_manager.group_size")
    draft.put("rollout.prompts_per_step", prompts)
    draft.put("rollout.group_size", group)
    estimator = s.text("adv_estimator")
    name = ESTIMATORS.get(estimator.value) if estimator else None
    if name:
        draft.put("model.algorithm", Fact(name, estimator.words))
        draft.put("update.critic", Fact(name == "ppo", estimator.words))
    else:
        draft.ask("model.algorithm", f"{estimator.words if estimator else 'adv_estimator is not in the file'}:"
                  " none of the algorithms that a run file knows")
    train = gpus(draft)
    draft.put("rollout.max_response_tokens", s.count("response_length", "actor_infer.generating_args.max_new_tokens"))
    if prompt := s.count("prompt_length"):
        draft.ask("rollout.prompt_tokens", f"only the cap on prompts is in the file, {prompt.words}")
    if turns := s.count("max_actions_per_traj", "train_env_manager.max_traj_per_env"):
        for key in ("rollout.turns", "rollout.tool_tokens_per_turn", "rollout.environment_seconds_per_turn"):
            draft.ask(key, f"the run is an agent's ({turns.words}); the mean is not in the file")
    update(draft, prompts, group, train)
    draft.put("run.steps", s.count("max_steps"))
    judges(draft)


def gpus(draft):
    s = draft.settings
    train, infer, reference = (_mapping(s, role) for role in ("actor_train", "actor_infer", "reference"))
    everyone = [fact for fact in (train, infer, reference, _mapping(s, "critic")) if fact]
    helpers = {key.split(".")[1]: Fact(devices(entry.value), entry.words) for key, entry in s.entries.items()
               if re.fullmatch(r"rewards\.[^.]+\.device_mapping", key) and isinstance(entry.value, str | list)}
    if train and infer:
        total = set().union(*(fact.value for fact in [*everyone, *helpers.values()]))
        draft.derive("hardware.gpus", len(total), train, infer, *helpers.values(),
                     how=f"{len(train.value)} train, {len(infer.value)} generate, {len(total)} in all")
        if train.value & infer.value:
            draft.derive("hardware.rollout_gpus", 0, train, infer, how="shared GPUs: one pool, in turns")
            if infer.value != train.value:
                draft.note(
                    f"generation uses {len(infer.value)} of the {len(total)} GPUs"
                    + "".join(f", {name} {len(fact.value)}" for name, fact in helpers.items())
                    + "; a run file's one pool generates on all of them: allow for it in rollout speed"
                )
        else:
            draft.derive("hardware.rollout_gpus", len(infer.value), infer)
    else:
        draft.ask("hardware.gpus", "device_mapping of actor_train and actor_infer is not in the file")
    ahead = s.number("async_generation_ratio", low=0)
    if ahead and ahead.value > 0:
        draft.put("update.overlap", Fact("one_step" if ahead.value <= 1 else "full", ahead.words))
        draft.put("update.staleness_steps", Fact(ceil(ahead.value), ahead.words))
    else:
        draft.put("update.overlap", Fact("none", ahead.words if ahead else "async_generation_ratio is not in the file"))
    cfg = "actor_infer.strategy_args.strategy_config."
    draft.put("rollout.tensor_parallel", s.count(cfg + "tensor_parallel_size", cfg + "tp_size",
                                                 "actor_infer.num_gpus_per_worker"))
    draft.put("rollout.engine_memory_share", s.number(
        cfg + "gpu_memory_utilization", cfg + "mem_fraction_static", low=0.01, high=1))
    draft.put("rollout.max_sequences_per_engine", s.count(cfg + "max_num_seqs", cfg + "max_running_requests"))
    return train


def update(draft, prompts, group, train):
    s = draft.settings
    cfg = "actor_train.strategy_args.strategy_config."
    sizes = {}
    for key, name in (("tensor_parallel", "tensor_model_parallel_size"), ("pipeline_parallel",
                      "pipeline_model_parallel_size"), ("expert_parallel", "expert_model_parallel_size")):
        sizes[key] = s.count(cfg + name)
        draft.put("update." + key, sizes[key])
    each = s.count("actor_train.training_args.per_device_train_batch_size")
    pile = s.count("actor_train.training_args.gradient_accumulation_steps")
    context = s.count(cfg + "context_parallel_size")
    split = 1
    for fact in (sizes["tensor_parallel"], sizes["pipeline_parallel"], context):
        split *= fact.value if fact else 1
    if prompts and group and each and pile and train and train.value:
        batch = each.value * pile.value * max(1, len(train.value) // split)
        rollouts = prompts.value * group.value
        draft.derive("update.minibatches", max(1, ceil(rollouts / batch)), prompts, group, each, pile, train,
                     how=f"{rollouts} rollouts / {batch} per update")
    draft.put("update.epochs", s.count("ppo_epochs"))
    kl = s.flag("use_kl_loss", "add_token_level_kl", "enable_reference")
    reward_kl = s.flag("add_token_level_kl")
    draft.derive("update.reference_model", bool((kl and kl.value) or (reward_kl and reward_kl.value)), kl, reward_kl,
                 how="" if kl or reward_kl else "no KL term in the file")
    recompute = s.text(cfg + "recompute_granularity")
    off = s.flag("actor_train.model_args.disable_gradient_checkpointing")
    if recompute:
        draft.put("update.activation_recompute", Fact(recompute.value == "full", recompute.words))
    elif off:
        draft.put("update.activation_recompute", Fact(not off.value, off.words))


def judges(draft):
    s = draft.settings
    shares = {key.rsplit(".", 1)[1]: entry for key, entry in s.entries.items()
              if key.startswith("actor_train.data_args.domain_interleave_probs.")}
    for key in s.entries:
        match = re.fullmatch(r"rewards\.([^.]+)\.strategy_args\.strategy_name", key)
        if match:
            name = s.text(f"rewards.{match[1]}.model_args.model_name_or_path")
            share = shares.get(match[1])
            draft.note(
                f"reward worker {match[1]} runs a model ({name.words if name else 'not named'})"
                + (f" on the share {share.words} of prompts" if share else "")
                + "; set [judge] if every rollout should be priced with it"
            )

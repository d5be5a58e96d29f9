"""AReaL: YAML with GPUs in backend strings such as ``sglang:d4p1t1`` (data, pipeline, tensor, context, expert).

Expert parallelism rearranges GPUs and adds none: GPUs = d x p x t x c.
"""

from __future__ import annotations

import re

from rlecon.errors import RleconError
from rlecon.readers.launch.values import Fact


def backend(text):
    """Degrees of one backend string as a dict with ``name`` and the letters given.

    >>> backend("sglang:d4p1t2")["t"]
    2
    """
    match = re.fullmatch(r"(?:([A-Za-z]+)(?:\[\w+\])?:)?((?:[dptce]\d{1,5})+)", str(text).strip())
    degrees = dict(re.findall(r"([dptce])(\d+)", match[2])) if match else {}
    if not match or "0" in degrees.values():
        raise RleconError("not a backend string that can be read", field="backend", value=str(text)[:80],
                          allowed="NAME:d4p1t1, with degrees of at least 1")
    found = {letter: int(number) for letter, number in degrees.items()}
    found["name"] = (match[1] or "").lower()
    found["gpus"] = found.get("d", 1) * found.get("p", 1) * found.get("t", 1) * found.get("c", 1)
    return found


def clean(key):
    return key


def read(draft):
    """Fill ``draft`` from AReaL's settings."""
    s = draft.settings
    draft.model(s.text("actor.path"))
    lora = s.flag("actor.use_lora")
    if lora and lora.value:
        draft.put("model.lora_rank", s.count("actor.lora_rank"))
        draft.ask("model.lora_rank", f"{lora.words}, and actor.lora_rank is not in the file")
    else:
        draft.put("model.lora_rank", Fact(0, lora.words if lora else "no actor.use_lora in the file"))
    prompts = s.count("train_dataset.batch_size", "rollout.consumer_batch_size")
    group = s.count("gconfig.n_samples")
    draft.put("rollout.prompts_per_step", prompts)
    draft.put("rollout.group_size", group)
    if s.text("critic.path", "critic.backend"):
        draft.put("model.algorithm", Fact("ppo", "a critic section"))
        draft.put("update.critic", Fact(True, "a critic section"))
    else:
        level = s.text("actor.reward_norm.mean_level", "actor.adv_norm.mean_level")
        draft.put("model.algorithm", Fact("grpo", level.words if level else "no critic section"))
        draft.put("update.critic", Fact(False, "no critic section"))
    if s.on("dynamic_bs") or s.text("rollout.should_accept_fn"):
        draft.ask("rollout.oversampling", "groups are thrown away (dynamic_bs), how many depends on the data")
    gpus(draft)
    draft.put("rollout.max_response_tokens", s.count("gconfig.max_new_tokens"))
    if prompt := s.count("train_dataset.max_length"):
        draft.ask("rollout.prompt_tokens", f"only the cap on prompts is in the file, {prompt.words}")
    if turns := s.count("max_turns", "workflow.max_turns"):
        for key in ("rollout.turns", "rollout.tool_tokens_per_turn", "rollout.environment_seconds_per_turn"):
            draft.ask(key, f"the run has several turns (at most: {turns.words}); the mean is not in the file")
    draft.put("update.minibatches", s.count("actor.ppo_n_minibatches"))
    again = s.flag("actor.recompute_logprob")
    draft.put("update.old_logprobs", again)
    kl = s.number("actor.kl_ctl")
    draft.put("update.reference_model", Fact(kl.value > 0, kl.words) if kl else None)
    draft.put("update.activation_recompute", s.flag("actor.gradient_checkpointing"))
    draft.put("update.offload", s.flag("actor.fsdp.offload_params", "enable_offload"))
    steps = s.count("total_train_steps")
    draft.put("run.steps", steps)
    if epochs := s.count("total_train_epochs"):
        draft.ask("run.steps", f"{epochs.words}, and the number of rows of train_dataset is not in the file")


def gpus(draft):
    s = draft.settings
    generate, train = s.text("rollout.backend"), s.text("actor.backend")
    whole = s.text("allocation_mode")
    if whole and not (generate and train):
        parts = whole.value.split("+")
        if len(parts) == 2:
            generate, train = (Fact(part, whole.words) for part in parts)
    if generate and train:
        one, two = backend(generate.value), backend(train.value)
        placed = s.text("rollout.scheduling_strategy.type")
        if placed and placed.value == "colocation":
            draft.derive("hardware.gpus", max(one["gpus"], two["gpus"]), generate, train, placed)
            draft.derive("hardware.rollout_gpus", 0, placed)
        else:
            draft.derive("hardware.gpus", one["gpus"] + two["gpus"], generate, train,
                         how=f"{two['gpus']} that train + {one['gpus']} that generate")
            draft.derive("hardware.rollout_gpus", one["gpus"], generate)
        draft.derive("rollout.tensor_parallel", one.get("t", 1), generate)
        draft.derive("update.tensor_parallel", two.get("t", 1), train)
        draft.derive("update.pipeline_parallel", two.get("p", 1), train)
        draft.derive("update.expert_parallel", two.get("e", 1), train)
        nodes, each = s.count("cluster.n_nodes"), s.count("cluster.n_gpus_per_node")
        total = draft.get("hardware.gpus")
        if nodes and each and total and total.value > nodes.value * each.value:
            draft.note(f"{nodes.words} and {each.words} hold fewer GPUs than the {total.value} of the backends")
        share = {"sglang": "sglang.mem_fraction_static", "vllm": "vllm.gpu_memory_utilization"}.get(one["name"])
        if share:
            draft.put("rollout.engine_memory_share", s.number(share, low=0.01, high=1))
            draft.put("rollout.max_sequences_per_engine", s.count(
                "sglang.max_running_requests" if one["name"] == "sglang" else "vllm.max_num_seqs"))
    else:
        draft.ask("hardware.gpus", "rollout.backend and actor.backend are not in the file")
    stale = s.count("rollout.max_head_offpolicyness", low=0)
    if stale:
        draft.put("update.overlap", Fact("full" if stale.value else "none", stale.words))
        draft.put("update.staleness_steps", stale)

"""The levers: what each sets in the run file, or why it does not apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rlecon import catalog, supply
from rlecon.errors import RleconError
from rlecon.pricing import bill
from rlecon.run import Run

LORA_RANK = 32
ACCEPTANCE, DRAFTS = 0.7, 3  # a good draft model on reasoning text
TENANTS = 8


@dataclass(frozen=True)
class Change:
    """A lever: its name, what it does, and the run-file keys that it sets, or a refusal in words.

    Of a ``family`` (bits, GPUs) only one member can be pulled; ``splits`` asks for the best split of the GPUs.
    """

    name: str
    words: str
    keys: Callable[[Run], dict]
    family: str = ""
    splits: bool = False


def _refuse(why: str):
    raise RleconError(why)


def _predictable(run: Run, *more: str) -> None:
    for key in ("rollout.measured_tokens_per_second_per_gpu", *more):
        if run[key] is not None:
            _refuse(f"{key} is given, a measurement of this engine and GPU: what a change does to it cannot be known")


def _lora(run: Run) -> dict:
    if run["model.lora_rank"] > 0:
        _refuse("the run already trains an adapter")
    return {"model.lora_rank": LORA_RANK}


def _tenants(run: Run) -> dict:
    if run["update.tenants"] > 1:
        _refuse("the base model is already shared")
    _predictable(run)
    return {"update.tenants": TENANTS, "model.lora_rank": run["model.lora_rank"] or LORA_RANK}


def _rollout_bits(bits: int):
    def keys(run: Run) -> dict:
        if run["rollout.weight_bits"] <= bits:
            _refuse(f"rollout weights already have {run['rollout.weight_bits']} bits")
        _predictable(run)
        return {"rollout.weight_bits": bits}

    return keys


def _overlap(run: Run) -> dict:
    if run["update.overlap"] != "none":
        _refuse(f"the run already overlaps (update.overlap = {run['update.overlap']!r})")
    if run["hardware.gpus"] - run["judge.gpus"] < 2:
        _refuse("one GPU cannot be two pools")
    return {"update.overlap": "full", "update.staleness_steps": max(1, run["update.staleness_steps"])}


def _group_of_two(run: Run) -> dict:
    if run["rollout.group_size"] <= 2:
        _refuse("groups already have no more than two rollouts")
    return {"rollout.group_size": 2}


def _prefix_cache(run: Run) -> dict:
    if run["rollout.turns"] <= 1:
        _refuse("a single turn has no earlier turns to keep")
    if run["rollout.prefix_cached"]:
        _refuse("earlier turns are already kept")
    return {"rollout.prefix_cached": True}


def _speculation(run: Run) -> dict:
    if run["rollout.speculative_acceptance"] > 0:
        _refuse("the engine already speculates")
    _predictable(run)
    return {"rollout.speculative_acceptance": ACCEPTANCE, "rollout.speculative_drafts": DRAFTS}


def _bigger_batch(run: Run) -> dict:
    """Twice the sequences per engine: by the scheduler's cap, by memory, or by half as many steps of twice the size."""
    _predictable(run)
    now = bill(run, outputs=["resident_limit", "sequences_per_engine", "resident_sequences"])
    limit, cap = float(now["resident_limit"]), float(now["max_sequences_per_engine"])
    if float(now["sequences_per_engine"]) <= limit:
        return {"rollout.prompts_per_step": 2 * run["rollout.prompts_per_step"], "run.steps": run["run.steps"] / 2}
    if limit >= cap * (1 - 1e-9):
        return {"rollout.max_sequences_per_engine": 2 * cap}
    most = supply.value("engine_memory_share_separate")
    if float(now["engine_memory_share"]) >= most:
        _refuse("memory holds no more sequences: use fewer bits for the cache or more GPUs per engine")
    return {"rollout.engine_memory_share": most}


def _moe_twin(run: Run) -> dict:
    name = run["model.name"]
    twin = catalog.entry("models", name).get("moe_twin") if name is not None else None
    if not twin:
        _refuse("the catalogue knows no mixture-of-experts model of like quality")
    _predictable(run, "update.measured_mfu")
    return {"model.name": twin}


def _gpu(name: str):
    def keys(run: Run) -> dict:
        _predictable(run, "update.measured_mfu")
        return {"hardware.gpu": name, "hardware.usd_per_gpu_hour": None}

    return keys


def _faster(run: Run) -> list[str]:
    """GPUs of the catalogue with more bandwidth than the run's, and no less arithmetic."""
    if run["hardware.gpu"] == "custom":
        return []
    old = catalog.gpu(run["hardware.gpu"])
    return [
        g.name
        for g in catalog.gpus()
        if g.memory_bytes_per_second > old.memory_bytes_per_second
        and g.dense_bf16_flops_per_second >= old.dense_bf16_flops_per_second
    ]


def changes_of(run: Run) -> list[Change]:
    """All levers that can be asked of a run; those that do not apply say why when their keys are asked for."""
    found = [
        Change("lora", f"LoRA of rank {LORA_RANK} instead of full training", _lora),
        Change("async", "generation and training side by side, at the best split of the same GPUs", _overlap,
               splits=True),
        Change("fp8_rollouts", "rollout weights at 8 bits", _rollout_bits(8), family="bits"),
        Change("fp4_rollouts", "rollout weights at 4 bits", _rollout_bits(4), family="bits"),
        Change("group_size_2", "two rollouts per prompt, the same prompts", _group_of_two),
        Change("prefix_cache", "earlier turns stay in the KV cache", _prefix_cache),
        Change("speculation", f"{DRAFTS} drafted tokens, chance {ACCEPTANCE:g} each", _speculation),
        Change("bigger_batch", "twice the sequences per engine", _bigger_batch),
        Change("tenants", f"{TENANTS} LoRA jobs share the base model and its GPUs", _tenants),
        Change("moe_twin", "a mixture-of-experts model of like quality", _moe_twin),
    ]  # fmt: skip
    found += [
        Change(f"gpu_{name}", f"the same number of {catalog.gpu(name).label}", _gpu(name), family="gpu")
        for name in _faster(run)
    ]
    return found

"""Levers: what each change of a run would save, alone and together, with shares that no order can change.

A change turns a run into another run, or says why it does not apply. All are priced by the same bill. The share of a
change in the saving of all together is its Shapley value on the logarithm of the bill, so that shares add to the whole.
No combination can save more than its bound: phases that no change touches are paid in full.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from rlecon import catalog, supply
from rlecon.errors import RleconError
from rlecon.pricing import Z80, Bill, bill
from rlecon.run import Run

LORA_RANK = 32
ACCEPTANCE, DRAFTS = 0.7, 3  # a good draft model on reasoning text
SPLITS = 16  # pool sizes tried for overlap, in sixteenths of all GPUs
GENERATING = ("rollout", "environment", "idle")
SWITCHING = ("weight_sync", "reward")
TRAINING = ("old_logprobs", "reference", "update")


@dataclass(frozen=True)
class Change:
    """A change of a run: its name, what it does, the phases it can shorten, and a family of which one is used."""

    name: str
    words: str
    apply: Callable[[Run], Run]
    touches: tuple[str, ...] = ()
    family: str = ""
    last: bool = False  # applied after the others, since it searches for its best setting
    scale: Callable[[Run, Run], float] = field(default=lambda before, after: 1.0)  # least factor on every phase


def _refuse(why: str):
    raise RleconError(why)


def _lora(run: Run) -> Run:
    if np.any(np.asarray(run["model.lora_rank"]) > 0):
        _refuse("the run already trains an adapter")
    return run.replace({"model.lora_rank": LORA_RANK})


def _rollout_bits(bits: int):
    def apply(run: Run) -> Run:
        if run["rollout.weight_bits"] <= bits:
            _refuse(f"rollout weights already have {run['rollout.weight_bits']} bits")
        if run["rollout.measured_tokens_per_second_per_gpu"] is not None:
            _refuse("the generation rate is measured, so no change of the engine can be predicted")
        return run.replace({"rollout.weight_bits": bits})

    return apply


def _overlap(run: Run) -> Run:
    if run["update.overlap"] != "none":
        _refuse(f"the run already overlaps (update.overlap = {run['update.overlap']!r})")
    total = run["hardware.gpus"]
    if total < 2:
        _refuse("one GPU cannot be two pools")
    best, best_usd = None, math.inf
    for part in range(1, SPLITS):
        pool = round(total * part / SPLITS)
        if not 0 < pool < total:
            continue
        after = run.replace({
            "hardware.rollout_gpus": pool, "update.overlap": "full",
            "update.staleness_steps": max(1, run["update.staleness_steps"]),
        })  # fmt: skip
        try:
            hours = float(bill(after, outputs=["gpu_hours_per_step"])["gpu_hours_per_step"])
        except RleconError:
            continue
        if hours < best_usd:
            best, best_usd = after, hours
    if best is None:
        _refuse("no split of the GPUs into two pools fits the model")
    return best


def _group_of_two(run: Run) -> Run:
    if run["rollout.group_size"] <= 2:
        _refuse("groups already have two rollouts")
    return run.replace({"rollout.group_size": 2})


def _prefix_cache(run: Run) -> Run:
    if run["rollout.turns"] <= 1:
        _refuse("a single turn has no earlier turns to keep")
    if run["rollout.prefix_cached"]:
        _refuse("earlier turns are already kept")
    return run.replace({"rollout.prefix_cached": True})


def _speculation(run: Run) -> Run:
    if run["rollout.speculative_acceptance"] > 0:
        _refuse("the engine already speculates")
    if run["rollout.measured_tokens_per_second_per_gpu"] is not None:
        _refuse("the generation rate is measured, so no change of the engine can be predicted")
    return run.replace({"rollout.speculative_acceptance": ACCEPTANCE, "rollout.speculative_drafts": DRAFTS})


def _bigger_batch(run: Run) -> Run:
    """Twice the sequences per engine: by the scheduler's cap, by memory, or by fewer and larger steps."""
    now = bill(run)
    limit, cap = float(now["resident_limit"]), float(now["max_sequences_per_engine"])
    queue = float(now["sequences_per_engine"])
    if queue > limit and limit >= cap * (1 - 1e-9):
        return run.replace({"rollout.max_sequences_per_engine": 2 * cap})
    if queue > limit:
        share = float(now["engine_memory_share"])
        if share >= supply.value("engine_memory_share_separate"):
            _refuse("memory holds no more sequences: use fewer bits for the cache or more GPUs per engine")
        return run.replace({"rollout.engine_memory_share": supply.value("engine_memory_share_separate")})
    changes: dict = {"rollout.prompts_per_step": 2 * run["rollout.prompts_per_step"]}
    if run["run.steps"] is None:
        _refuse("half as many steps of twice the size need run.steps")
    changes["run.steps"] = run["run.steps"] / 2
    return run.replace(changes)


def _moe_twin(run: Run) -> Run:
    name = run["model.name"]
    twin = catalog.entry("models", name).get("moe_twin") if name is not None else None
    if not twin:
        _refuse("the catalogue knows no mixture-of-experts model of like quality")
    return run.replace({"model.name": twin})


def _gpu(name: str):
    def apply(run: Run) -> Run:
        if run["hardware.gpu"] == name:
            _refuse("the run already uses it")
        changes = {"hardware.gpu": name, "hardware.usd_per_gpu_hour": None}
        if run["hardware.usd_per_gpu_hour"] is not None and catalog.gpu_price(name) is not None:
            # a price the user pays for one GPU says nothing of another: both are taken from the catalogue
            changes["hardware.usd_per_gpu_hour"] = None
        return run.replace(changes)

    return apply


def _gpu_scale(before: Run, after: Run) -> float:
    old, new = catalog.gpu(before["hardware.gpu"]), catalog.gpu(after["hardware.gpu"])
    speed = [
        new.memory_bytes_per_second / old.memory_bytes_per_second,
        new.dense_bf16_flops_per_second / old.dense_bf16_flops_per_second,
        new.link_bytes_per_second / old.link_bytes_per_second,
        new.memory_bytes / old.memory_bytes,
    ]
    return 1 / max(1.0, *speed)


def _group_scale(before: Run, after: Run) -> float:
    return after["rollout.group_size"] / before["rollout.group_size"]


def _newer(run: Run) -> list[str]:
    """GPUs of the catalogue that are faster than the run's in both bandwidth and arithmetic."""
    name = run["hardware.gpu"]
    if name == "custom":
        return []
    old = catalog.gpu(name)
    return [
        g.name
        for g in catalog.gpus()
        if g.memory_bytes_per_second > old.memory_bytes_per_second
        and g.dense_bf16_flops_per_second >= old.dense_bf16_flops_per_second
        and g.name != name
    ]


def changes_of(run: Run) -> list[Change]:
    """All changes that can be asked of a run; those that do not apply say why when applied."""
    found = [
        Change("lora", f"LoRA of rank {LORA_RANK} instead of full training", _lora, (*TRAINING, *SWITCHING)),
        Change("async", "generation and training side by side, at the best split of the same GPUs", _overlap,
               (*GENERATING, *TRAINING, *SWITCHING), last=True),
        Change("fp8_rollouts", "rollout weights at 8 bits", _rollout_bits(8), GENERATING, family="bits"),
        Change("fp4_rollouts", "rollout weights at 4 bits", _rollout_bits(4), GENERATING, family="bits"),
        Change("group_size_2", "two rollouts per prompt, the same prompts", _group_of_two,
               (*GENERATING, *TRAINING, "reward"), scale=_group_scale),
        Change("prefix_cache", "earlier turns stay in the KV cache", _prefix_cache, GENERATING),
        Change("speculation", f"{DRAFTS} drafted tokens, chance {ACCEPTANCE:g} each", _speculation, GENERATING),
        Change("bigger_batch", "twice the sequences per engine", _bigger_batch,
               (*GENERATING, *TRAINING, *SWITCHING), last=True),
        Change("moe_twin", "a mixture-of-experts model of like quality", _moe_twin,
               (*GENERATING, *TRAINING, *SWITCHING)),
    ]  # fmt: skip
    found += [
        Change(f"gpu_{name}", f"the same number of {catalog.gpu(name).label}", _gpu(name),
               (*GENERATING, *TRAINING, *SWITCHING), family="gpu", scale=_gpu_scale)
        for name in _newer(run)
    ]  # fmt: skip
    return found


def _totals(made: Bill) -> tuple[float, float]:
    """Dollars (NaN where no price is known) and hours of the run, or of a step where its length is unknown."""
    long = made["gpu_hours_run"] is not None
    usd = made["usd_run"] if long else made["usd_per_step"]
    hours = made["step_seconds"] * (made["steps"] if long else 1.0)
    return (math.nan if usd is None else float(usd)), float(hours)


def shapley(names, value) -> dict[str, float]:
    """Each name's average contribution to ``value(frozenset)`` over all orders of joining; they add to the whole."""
    names = list(names)
    n = len(names)
    known = {frozenset(c): value(frozenset(c)) for size in range(n + 1) for c in combinations(names, size)}
    shares = {}
    for name in names:
        rest = [x for x in names if x != name]
        total = 0.0
        for size in range(n):
            weight = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            for c in combinations(rest, size):
                base = frozenset(c)
                total += weight * (known[base | {name}] - known[base])
        shares[name] = total
    return shares


def _ordered(changes):
    return sorted(changes, key=lambda c: (c.last, c.name))


def _apply_all(run: Run, changes) -> Run:
    for change in _ordered(changes):
        run = change.apply(run)
    return run


def _untouched(made: Bill, changes) -> float:
    """Share of the step that no change can shorten."""
    touched = {phase for c in changes for phase in c.touches}
    left = sum(float(x) for phase, x in made.phases.items() if phase not in touched)
    return left / float(made["step_seconds"])


def _interval(ratio: float) -> dict:
    """A ratio of two predictions with its own 80 % interval: ratios are no better predicted than levels."""
    if not math.isfinite(ratio):
        return {"low": None, "mid": None, "high": None}
    factor = math.exp(Z80 * supply.value("residual_log_sd_ratio"))
    return {"low": ratio / factor, "mid": ratio, "high": ratio * factor}


def levers(run: Run, *, only=None) -> dict:
    """What each change would save, alone and together: the JSON object of ``rlecon levers``.

    Ratios are new over old: dollars and wall-clock hours of the run (of a step where ``run.steps`` is not given), at
    the same number of steps; ``signal_ratio`` says what happens to the signal of a step. ``only`` limits the changes by
    name.
    Raises RleconError where the run itself cannot be priced.
    """
    if any(np.ndim(x) for x in run.values.values()):
        raise RleconError("levers compare one run with its changes: give scalars, not arrays")
    if run["hardware.usd_per_gpu_hour"] is not None and run["hardware.gpu"] != "custom":
        listed = catalog.gpu_price(run["hardware.gpu"])
    else:
        listed = None
    before = bill(run)
    usd, hours = _totals(before)
    alone, applicable = {}, []
    for change in changes_of(run):
        if only is not None and change.name not in only:
            continue
        try:
            after_run = change.apply(run)
            after = bill(after_run)
        except RleconError as error:
            alone[change.name] = {"what": change.words, "applies": False, "why": str(error)}
            continue
        new_usd, new_hours = _totals(after)
        if change.family == "gpu" and listed is not None:
            # compare list prices with list prices: the user's own rent of one GPU says nothing of another's
            new_usd *= run["hardware.usd_per_gpu_hour"] / listed.mid
        row = {
            "what": change.words, "applies": True, "usd_ratio_alone": _interval(new_usd / usd),
            "time_ratio_alone": _interval(new_hours / hours),
        }  # fmt: skip
        if before["signal_per_step"] is not None and before["signal_per_step"] > 0:
            steps = float(after["steps"] or 1) / float(before["steps"] or 1)
            row["signal_ratio"] = float(after["signal_per_step"] / before["signal_per_step"]) * steps
        if change.name == "group_size_2":
            row["same_rollouts"] = _same_rollouts(run, before)
        if not math.isfinite(new_usd):
            row["why"] = "no price of this GPU is known: dollars cannot be compared"
        alone[change.name] = row
        if math.isfinite(usd) and not math.isfinite(new_usd):
            row["together"] = "left out: hours would be compared with dollars"
            continue
        applicable.append((change, new_usd / usd if math.isfinite(new_usd) else new_hours / hours))
    return _combine(run, before, alone, applicable, usd, hours)


def _same_rollouts(run: Run, before: Bill) -> dict:
    """Groups of two at the same number of rollouts: more prompts, the same bill, another signal."""
    prompts = run["rollout.prompts_per_step"] * run["rollout.group_size"] // 2
    after = bill(run.replace({"rollout.group_size": 2, "rollout.prompts_per_step": prompts}))
    usd, hours = _totals(before)
    new_usd, new_hours = _totals(after)
    out = {"usd_ratio": _finite(new_usd / usd), "time_ratio": _finite(new_hours / hours)}
    if before["signal_per_step"]:
        out["signal_ratio"] = float(after["signal_per_step"] / before["signal_per_step"])
    return out


def _finite(x: float):
    return float(x) if math.isfinite(x) else None


def _combine(run, before, alone, applicable, usd, hours) -> dict:
    """Shares, product, all together and the bound, over the best change of each family."""
    chosen, families = [], {}
    for change, ratio in applicable:
        if not change.family:
            chosen.append(change)
        elif change.family not in families or ratio < families[change.family][1]:
            families[change.family] = (change, ratio)
    chosen += [change for change, _ in families.values()]
    by_name = {c.name: c for c in chosen}
    cache: dict = {}

    def priced(names):
        if names not in cache:
            try:
                after_run = _apply_all(run, [by_name[n] for n in names])
                cache[names] = (after_run, bill(after_run))
            except RleconError:
                cache[names] = None
        return cache[names]

    # a change that only applies alone (it becomes pointless or impossible beside another) leaves the set
    while chosen and priced(frozenset(by_name)) is None:
        weakest = max(by_name, key=lambda n: alone[n]["time_ratio_alone"]["mid"])
        alone[weakest]["together"] = "left out: it does not apply beside the others"
        del by_name[weakest]
        chosen = list(by_name.values())
    names = list(by_name)

    def log_total(kind):
        def value(subset):
            got = priced(subset)
            if got is None:
                return 0.0
            return math.log(_totals(got[1])[kind] / (usd, hours)[kind])

        return value

    out: dict = {"changes": alone}
    product = {"usd": 1.0, "time": 1.0}
    for kind, key in ((0, "usd"), (1, "time")):
        for name in names:
            mid = alone[name][f"{key}_ratio_alone"]["mid"]
            product[key] = product[key] * mid if mid is not None else math.nan
        if not math.isfinite((usd, hours)[kind]) or not math.isfinite(product[key]):
            out.setdefault("together", {})[key] = None
            continue
        value = log_total(kind)
        shares = shapley(names, value)
        whole = value(frozenset(names))
        for name in names:
            alone[name].setdefault("share", {})[key] = shares[name] / whole if whole else 0.0
        out.setdefault("together", {})[key] = _interval(math.exp(whole))
    floor = _untouched(before, chosen)
    scale = 1.0
    for change in chosen:
        scale *= change.scale(run, change.apply(run))
    out["product_of_alone"] = {k: _finite(x) for k, x in product.items()}
    out["bound"] = {"time": floor * scale}
    out["used_together"] = sorted(names)
    return out

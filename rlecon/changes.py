"""Levers: what each change of a run would save, alone and together, with shares that no order can change.

A lever turns a run into another run, or says why it does not apply. Every set of levers is priced by the same
equations, all sets in one array. The share of a lever in the saving of all together is its Shapley value on the
logarithm of the bill, so shares add to the whole. No set can save more than the bound: Amdahl's law phase by phase,
each lever with the least factor that it has on a phase in any company.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rlecon import catalog, supply
from rlecon.capability import shapley
from rlecon.errors import RleconError
from rlecon.pricing import Z80, bill
from rlecon.resolve import resolve, run_model
from rlecon.run import Run

LORA_RANK = 32
ACCEPTANCE, DRAFTS = 0.7, 3  # a good draft model on reasoning text
TENANTS = 8
SPLITS = 16  # pool sizes tried for overlap, in sixteenths of all GPUs
UNKNOWN_STEPS = 2.0  # stands for a number of steps that is not given: ratios do not depend on it
MOVED = 1e-9  # relative change of a phase that counts as one

GENERATED = ("rollout", "environment")
TRAINED = ("old_logprobs", "reference", "update")
SECONDS = {
    "rollout": "rollout_seconds", "environment": "environment_seconds", "judge": "judge_seconds",
    "old_logprobs": "old_logprobs_seconds", "reference": "reference_seconds", "update": "update_seconds",
    "weight_sync": "weight_sync_seconds", "overhead": "overhead_seconds", "evaluation": "evaluation_seconds_per_step",
}  # fmt: skip
NEEDED = (*SECONDS.values(), "step_seconds", "gpu_hours_per_step", "environment_usd_per_step", "signal_per_step")


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


# --- all sets of levers in one array ---------------------------------------------------------------------------------
class _Prices:
    """Hours, dollars, signal and parts of many runs, priced in one call; NaN where a run cannot be."""

    def __init__(self, runs: list, rents: list):
        self.found = [self._resolved(run) for run in runs]
        sizes = [0 if f is None else f[1] for f in self.found]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.values = self._solve()
        self.count, self.rents = len(runs), np.array(rents, float)
        self._choose()

    @staticmethod
    def _resolved(run):
        try:
            q = dict(resolve(run).quantities)
        except RleconError:
            return None
        for name, stand_in in (("usd_per_gpu_hour", 0.0), ("mean_pass_rate", 0.5)):
            if q.get(name) is None:
                q[name] = stand_in
        return q, max((x.size for x in q.values() if isinstance(x, np.ndarray)), default=1)

    def _solve(self) -> dict:
        model = run_model()
        names = [*model.inputs(NEEDED), "steps", "attempts"]
        table = {n: np.empty(self.starts[-1]) for n in names}
        for found, a, b in zip(self.found, self.starts, self.starts[1:], strict=False):
            if found is not None:
                for n in names:
                    table[n][a:b] = found[0][n]
        constant = {n: x[0] for n, x in table.items() if x.size and (x == x[0]).all() and n != "gpus"}
        return table | {
            n: np.broadcast_to(x, table["gpus"].shape)
            for n, x in model.solve(table | constant, NEEDED, reasons=[]).items()
        }

    def _choose(self):
        """Of every run's splits the one with the shortest step."""
        step, pick = self.values["step_seconds"], np.full(self.count, -1)
        for i, (a, b) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            part = step[a:b]
            if part.size and np.isfinite(part).any():
                pick[i] = a + int(np.nanargmin(part))
        known = pick >= 0
        at = lambda name: np.where(known, self.values[name][pick], np.nan)  # noqa: E731
        steps, gpus = at("steps"), at("gpus")
        pools = {p: at("rollout_pool_gpus") / gpus for p in GENERATED} | {p: at("training_pool_gpus") / gpus
                                                                           for p in TRAINED}  # fmt: skip
        pools["judge"] = at("judge_pool_gpus") / gpus
        pools["evaluation"] = at("active_tenants")
        step = at("step_seconds")
        time = {phase: at(name) * pools.get(phase, 1.0) for phase, name in SECONDS.items()}
        time["idle"] = np.maximum(0.0, step - sum(time.values()))
        paid = gpus / 3600 * self.rents * at("attempts") / (at("tenants") * at("duty_cycle"))
        self.parts = {
            "time": {p: x * steps for p, x in time.items()},
            "usd": {p: x * steps * paid for p, x in time.items()},
        }
        self.parts["usd"]["sandboxes"] = at("environment_usd_per_step") * steps * at("attempts")
        self.totals = {"time": step * steps, "usd": sum(self.parts["usd"].values())}
        self.signal = at("signal_per_step") * steps

    def copy(self, to: int, source: int) -> None:
        """Let one run stand for another that cannot be."""
        for kind in ("time", "usd"):
            self.totals[kind][to] = self.totals[kind][source]
            for part in self.parts[kind].values():
                part[to] = part[source]
        self.signal[to] = self.signal[source]


def _splits_of(run: Run) -> np.ndarray:
    total = run["hardware.gpus"] - run["judge.gpus"]
    pools = np.unique(np.round(total * np.arange(1, SPLITS) / SPLITS).astype(int))
    return pools[(pools > 0) & (pools < total)]


def _pulled(run: Run, changes, keys) -> Run:
    """The run with these levers; where one asks for a split of the GPUs, an array of all of them."""
    merged: dict = {}
    for change in changes:
        merged |= keys[change.name]
    if any(c.splits for c in changes):
        merged["hardware.rollout_gpus"] = _splits_of(run)
    return run.replace(merged) if merged else run


class _Rents:
    """Dollars per GPU-hour: the run's own for its GPU; for others list prices, in proportion to what the run pays."""

    def __init__(self, run: Run):
        self.name, self.given = run["hardware.gpu"], run["hardware.usd_per_gpu_hour"]
        listed = catalog.gpu_price(self.name) if self.name != "custom" else None
        self.own = self.given if self.given is not None else math.nan if listed is None else listed.mid
        self.scale = 1.0 if listed is None or self.given is None else self.given / listed.mid

    def of(self, run: Run) -> float:
        if run["hardware.gpu"] == self.name:
            return self.own
        price = catalog.gpu_price(run["hardware.gpu"])
        return math.nan if price is None else price.mid * self.scale


def _scalar(run: Run) -> None:
    for key, value in run.values.items():
        if np.ndim(value):
            raise RleconError(
                "several values", field=key, advice="levers compare one run with its changes: give one value"
            )


def _interval(ratio: float, moved: float = 1.0) -> dict:
    """A ratio with its own 80 % interval: that of published ratios, on the share of the bill that the change moves."""
    if not math.isfinite(ratio):
        return {"low": None, "mid": None, "high": None}
    factor = math.exp(Z80 * supply.value("residual_log_sd_ratio") * moved)
    return {"low": ratio / factor, "mid": ratio, "high": ratio * factor}


def _moved(parts: dict, before: int, after: int) -> float:
    """Share of the larger bill that is in parts which differ: equal parts cancel in a ratio, with their errors."""
    pairs = [(float(x[before]), float(x[after])) for x in parts.values()]
    whole = sum(max(p) for p in pairs)
    return sum(max(p) for p in pairs if abs(p[0] - p[1]) > MOVED * max(p)) / whole if whole > 0 else 0.0


def _finite(x):
    return float(x) if math.isfinite(x) else None


def levers(run: Run, *, only=None) -> dict:
    """What each lever would save, alone and together: the JSON object of ``rlecon levers``.

    Parameters: ``run`` a :class:`Run` of scalars; ``only`` limits the levers by name. Ratios are new over old: dollars
    and wall-clock hours of the run (for the same rollouts of a step where ``run.steps`` is not given), with an 80 %
    interval. Returns a dict: ``changes`` (by name: ``usd_ratio_alone``, ``time_ratio_alone``, ``signal_ratio``,
    ``share`` of the saving of all together, ``phase_factors``; or ``why`` one does not apply), ``used_together``,
    ``product_of_alone``, ``amdahl_of_alone`` (the factors that each has alone, phase by phase), ``together`` and
    ``bound``. Raises RleconError where the run itself cannot be priced, or for an unknown lever.
    Source: Amdahl (1967), Shapley (1953).

    >>> from rlecon import Run
    >>> run = Run(model={"name": "qwen3-8b"}, hardware={"gpu": "h100-sxm", "gpus": 8}, reward={"pass_rate": 0.3},
    ...           rollout={"prompts_per_step": 64, "group_size": 8, "response_tokens": 2000})
    >>> found = levers(run, only=("lora", "fp8_rollouts"))
    >>> round(sum(c["share"]["time"] for c in found["changes"].values()), 9)
    1.0
    """
    _scalar(run)
    notes = []
    if run["run.response_growth_per_step"]:
        notes.append("Responses grow: ratios are those of the first step.")
        run = run.replace({"run.response_growth_per_step": 0.0})
    bill(run)  # what is wrong with the run itself is said first, and in words
    if run["run.steps"] is None:
        run = run.replace({"run.steps": UNKNOWN_STEPS})
    elif run["environment.build_usd"]:
        notes.append("What building the tasks costs is in no ratio: no lever changes it.")
    rents, changes = _Rents(run), changes_of(run)
    names = [c.name for c in changes]
    unknown = [n for n in only or () if n not in names]
    if unknown:
        raise RleconError("no such lever", field="only", value=", ".join(unknown), allowed=", ".join(names))
    changes = [c for c in changes if only is None or c.name in only]
    rows: dict = {}
    keys = _applicable(run, changes, rows)
    alone = [c for c in changes if c.name in keys]
    runs = [run, *(_pulled(run, [c], keys) for c in alone)]
    priced = _Prices(runs, [rents.of(r) for r in runs])
    taught = run["reward.pass_rate"] is not None and priced.signal[0] > 0
    for i, change in enumerate(alone, start=1):
        rows[change.name] = _row(run, change, priced, i, taught)
    applies = [c for c in alone if rows[c.name]["applies"]]
    if math.isfinite(priced.totals["usd"][0]):
        for change in [c for c in applies if rows[c.name]["usd_ratio_alone"]["mid"] is None]:
            rows[change.name]["together"] = "left out: without a price its hours would be compared with dollars"
            applies.remove(change)
    chosen = _one_of_each_family(applies, rows)
    out = {"changes": {n: rows[n] for n in names if n in rows}}
    out |= _together(run, chosen, keys, rents, rows, taught)
    return out | {"notes": notes}


def _applicable(run, changes, rows) -> dict:
    """Keys of the levers that can be pulled alone; the others get their row, with the reason."""
    keys = {}
    for change in changes:
        try:
            keys[change.name] = change.keys(run)
            if not change.splits:
                bill(_pulled(run, [change], keys), outputs=["step_seconds", "update_state_bytes_per_gpu"])
        except RleconError as error:
            rows[change.name] = {"what": change.words, "applies": False, "why": str(error)}
            keys.pop(change.name, None)
    return keys


def _row(run, change, priced, i, taught) -> dict:
    ratios = {kind: float(priced.totals[kind][i] / priced.totals[kind][0]) for kind in ("usd", "time")}
    if not math.isfinite(ratios["time"]):
        why = "no split of the GPUs into two pools fits the model" if change.splits else "it does not fit"
        return {"what": change.words, "applies": False, "why": why}
    row = {"what": change.words, "applies": True}
    for kind in ("usd", "time"):
        row[f"{kind}_ratio_alone"] = _interval(ratios[kind], _moved(priced.parts[kind], 0, i))
    if taught:
        row["signal_ratio"] = float(priced.signal[i] / priced.signal[0])
    if change.name == "group_size_2":
        row["same_rollouts"] = _same_rollouts(run, taught)
    if change.family == "gpu" and not math.isfinite(ratios["usd"]):
        row["why"] = "no price of this GPU is known: dollars cannot be compared"
    return row


def _same_rollouts(run: Run, taught: bool) -> dict:
    """Groups of two at the same number of rollouts: more prompts, much the same bill, another signal."""
    prompts = max(1, run["rollout.prompts_per_step"] * run["rollout.group_size"] // 2)
    now, after = bill(run), bill(run.replace({"rollout.group_size": 2, "rollout.prompts_per_step": prompts}))
    ratio = lambda name: float(after[name] / now[name]) if now[name] else None  # noqa: E731
    out = {"usd_ratio": ratio("usd_per_step"), "time_ratio": ratio("step_seconds")}
    return out | ({"signal_ratio": ratio("signal_per_step")} if taught else {})


def _one_of_each_family(changes, rows) -> list:
    """Of each family the cheapest member with a known price; where none has a price, the fastest."""

    def rank(change):
        usd, time = (rows[change.name][f"{kind}_ratio_alone"]["mid"] for kind in ("usd", "time"))
        return (usd is None, time if usd is None else usd)

    chosen = []
    for change in changes:
        rivals = [c for c in changes if c.family and c.family == change.family]
        best = min(rivals, key=rank) if rivals else change
        if best is change:
            chosen.append(change)
        else:
            rows[change.name]["together"] = f"left out: {best.name} is used, and only one can be"
    return chosen


def _priced_sets(run, chosen, keys, rents) -> _Prices:
    runs = []
    for mask in range(2 ** len(chosen)):
        runs.append(_pulled(run, [c for i, c in enumerate(chosen) if mask >> i & 1], keys))
    return _Prices(runs, [rents.of(r) for r in runs])


def _together(run, chosen, keys, rents, rows, taught) -> dict:
    """Shares, product, all together and the bound."""
    chosen = list(chosen)
    while True:
        priced = _priced_sets(run, chosen, keys, rents)
        if math.isfinite(priced.totals["time"][-1]):
            break
        weakest = max(chosen, key=lambda c: rows[c.name]["time_ratio_alone"]["mid"])
        rows[weakest.name]["together"] = "left out: it does not fit beside the others"
        chosen.remove(weakest)
    names, last = [c.name for c in chosen], 2 ** len(chosen) - 1
    dollars = bool(np.isfinite(priced.totals["usd"][[0, last]]).all())
    kind_of_choice = "usd" if dollars else "time"
    for mask in range(last + 1):  # a set that does not fit is worth what its best part is worth
        if not math.isfinite(priced.totals[kind_of_choice][mask]):
            smaller = [mask & ~(1 << i) for i in range(len(names)) if mask >> i & 1]
            priced.copy(mask, min(smaller, key=lambda m: priced.totals[kind_of_choice][m]))
    out: dict = {"used_together": names}
    for key in ("product_of_alone", "amdahl_of_alone", "together", "bound"):
        out[key] = {"usd": None, "time": None}
    for kind in ("usd", "time") if dollars else ("time",):
        total = priced.totals[kind]
        logs = np.log(total / total[0])
        shares, whole = shapley(names, logs) if names else {}, float(logs[last])
        factors = _factors(priced.parts[kind], len(names))
        for i, name in enumerate(names):
            rows[name].setdefault("share", {})[kind] = shares[name] / whole if whole else 0.0
            rows[name].setdefault("phase_factors", {})[kind] = {
                p: {"alone": _finite(a[i]), "least": _finite(b[i])} for p, (a, b) in factors.items()
            }
        out["product_of_alone"][kind] = float(math.prod(float(total[1 << i] / total[0]) for i in range(len(names))))
        start = {p: float(x[0]) for p, x in priced.parts[kind].items()}
        for key, which in (("amdahl_of_alone", 0), ("bound", 1)):
            left = sum(s * float(np.prod(factors[p][which])) for p, s in start.items() if s > 0)
            out[key][kind] = left / float(total[0])
        out["together"][kind] = _interval(math.exp(whole), _moved(priced.parts[kind], 0, last))
    if taught:
        out["together"]["signal_ratio"] = float(priced.signal[last] / priced.signal[0])
    return out


def _factors(parts: dict, count: int) -> dict:
    """(alone, least) factors of every lever on every phase; the least is over all sets that it joins or stays out of.

    What a set leaves of a phase is a chain of such factors, in whatever order, so it is never below the product of the
    least. A phase that is not there cannot shrink: its factor is 1.
    """
    masks, found = np.arange(2**count), {}
    for phase, size in parts.items():
        alone, least = np.ones(count), np.ones(count)
        for i in range(count):
            without = masks[(masks >> i & 1) == 0]
            there = without[size[without] > 0]
            if there.size:
                least[i] = min(1.0, np.min(size[there | 1 << i] / size[there]))
            if size[0] > 0:
                alone[i] = size[1 << i] / size[0]
        found[phase] = (alone, least)
    return found


# --- text ------------------------------------------------------------------------------------------------------------
def text(found: dict) -> str:
    """The text of ``rlecon levers``: the answer, the levers by what they save, and why others do not apply."""
    kind = "usd" if found["together"]["usd"] else "time"
    words = {"usd": "dollars", "time": "hours"}[kind]
    rows = found["changes"]
    used = found["used_together"]
    digits = lambda x: f"{x:.2f}" if x >= 0.1 else f"{x:.2g}"  # noqa: E731
    number = lambda x: "unknown" if x is None else digits(x)  # noqa: E731
    span = lambda x: (  # noqa: E731
        "unknown" if x["mid"] is None else f"{digits(x['mid'])} ({digits(x['low'])} to {digits(x['high'])})"
    )
    if not used:
        lines = ["No lever applies to this run."]
    else:
        whole, product = found["together"][kind], found["product_of_alone"][kind]
        lines = [
            f"All together: {span(whole)} of the {words}. The single savings multiply to {number(product)}; phase by "
            f"phase, to {number(found['amdahl_of_alone'][kind])}. No set can get below {number(found['bound'][kind])}.",
            "Ratios are new over old, for the same rollouts; 80 % intervals.",
            "",
            f"  {'lever':<14} {'dollars':<21} {'hours':<21} {'share':>6}  what",
        ]
    applies = [n for n, r in rows.items() if r["applies"]]

    def size(name):
        ratio = rows[name][f"{kind}_ratio_alone"]["mid"]
        return math.inf if ratio is None else ratio

    for name in sorted(applies, key=size):
        row = rows[name]
        share = f"{100 * row['share'][kind]:4.0f} %" if name in used else "     -"
        lines.append(
            f"  {name:<14} {span(row['usd_ratio_alone']):<21} {span(row['time_ratio_alone']):<21} {share:>6}  "
            f"{row['what']}"
        )
    changed = [n for n in applies if abs(rows[n].get("signal_ratio", 1.0) - 1) > 0.005]
    if changed:
        lines += ["", "Signal changes too, new over old:"]
        lines += [f"  {n:<14} {rows[n]['signal_ratio']:.2f}" for n in changed]
        same = rows.get("group_size_2", {}).get("same_rollouts")
        if same and "signal_ratio" in same:
            lines.append(
                f"  {'':<14} groups of two at the same rollouts: signal {number(same['signal_ratio'])}, "
                f"dollars {number(same['usd_ratio'])}, hours {number(same['time_ratio'])}"
            )
    rest = [(n, r["why"]) for n, r in rows.items() if not r["applies"]]
    rest += [(n, r["together"]) for n, r in rows.items() if "together" in r]
    reasons: dict = {}
    for name, why in rest:
        reasons.setdefault(why, []).append(name)
    if rest:
        lines += ["", "Not in it", *(f"  {', '.join(who)}: {why}" for why, who in reasons.items())]
    return "\n".join([*lines, *(["", *found["notes"]] if found["notes"] else [])])

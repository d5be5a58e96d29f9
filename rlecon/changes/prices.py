"""Sets of levers priced in one array: hours, dollars, signal and their parts, with the interval of a ratio."""

from __future__ import annotations

import math

import numpy as np

from rlecon import catalog, supply
from rlecon.errors import RleconError
from rlecon.interval import Z80
from rlecon.resolve import resolve, run_model
from rlecon.run import Run

SPLITS = 16  # pool sizes tried for overlap, in sixteenths of all GPUs
MOVED = 1e-9  # relative change of a phase that counts as one

GENERATED = ("rollout", "environment")
TRAINED = ("old_logprobs", "reference", "update")
SECONDS = {
    "rollout": "rollout_seconds", "environment": "environment_seconds", "judge": "judge_seconds",
    "old_logprobs": "old_logprobs_seconds", "reference": "reference_seconds", "update": "update_seconds",
    "weight_sync": "weight_sync_seconds", "overhead": "overhead_seconds", "evaluation": "evaluation_seconds_per_step",
}  # fmt: skip
NEEDED = (*SECONDS.values(), "step_seconds", "gpu_hours_per_step", "environment_usd_per_step", "signal_per_step")


class Prices:
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


def pulled(run: Run, changes, keys) -> Run:
    """The run with these levers; where one asks for a split of the GPUs, an array of all of them."""
    merged: dict = {}
    for change in changes:
        merged |= keys[change.name]
    if any(c.splits for c in changes):
        merged["hardware.rollout_gpus"] = _splits_of(run)
    return run.replace(merged) if merged else run


class Rents:
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


def interval(ratio: float, moved: float = 1.0) -> dict:
    """A ratio with its own 80 % interval: that of published ratios, on the share of the bill that the change moves."""
    if not math.isfinite(ratio):
        return {"low": None, "mid": None, "high": None}
    factor = math.exp(Z80 * supply.value("residual_log_sd_ratio") * moved)
    return {"low": ratio / factor, "mid": ratio, "high": ratio * factor}


def moved(parts: dict, before: int, after: int) -> float:
    """Share of the larger bill that is in parts which differ: equal parts cancel in a ratio, with their errors."""
    pairs = [(float(x[before]), float(x[after])) for x in parts.values()]
    whole = sum(max(p) for p in pairs)
    return sum(max(p) for p in pairs if abs(p[0] - p[1]) > MOVED * max(p)) / whole if whole > 0 else 0.0

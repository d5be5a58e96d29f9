"""The bill of a run: time, tokens, memory, dollars and learning, with intervals where published runs can test them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlecon import growth, interval, remarks, sensitivity
from rlecon.formatting import fill_in, plain_spaces
from rlecon.interval import Z80 as Z80
from rlecon.json_numbers import json_number
from rlecon.resolve import resolve, run_model
from rlecon.run import Run

CHUNK = 20_000  # points evaluated together: bounds memory to a few hundred megabytes
PHASES = {
    "rollout": "rollout_seconds",
    "environment": "environment_seconds",
    "old_logprobs": "old_logprobs_seconds",
    "reference": "reference_seconds",
    "update": "update_seconds",
    "weight_sync": "weight_sync_seconds",
    "reward": "reward_seconds",
    "evaluation": "evaluation_seconds_per_step",
    "idle": "idle_seconds",
}
LEARNING = (
    "mixed_group_share",
    "mixed_groups_per_step",
    "bits_per_rollout",
    "bits_per_step",
    "bits_per_token",
    "signal_per_step",
    "usd_per_mixed_group",
    "usd_per_bit",
)
MONEY = (
    "usd_per_step",
    "usd_run",
    "environment_usd_run",
    "environment_build_usd",
    "usd_per_token",
    "gpu_usd_per_step",
    "environment_usd_per_step",
)


@dataclass(frozen=True)
class Figure:
    """A predicted figure: ``low`` and ``high`` bound 80 % where calibrated, else they are None."""

    low: float | None
    mid: float
    high: float | None

    def to_dict(self):
        return {"low": json_number(self.low), "mid": json_number(self.mid), "high": json_number(self.high)}

    def __float__(self):
        return float(self.mid)


class Bill:
    """What :func:`bill` returns: figures as attributes, by the names of the JSON output.

    ``bill.step_seconds`` is a :class:`Figure`; ``bill["rollout_seconds"]`` is any quantity of the model, an array where
    inputs were arrays; ``bill.to_dict()`` is the JSON object.
    """

    def __init__(self, run, resolved, values, reasons, overrides=None):
        self.run, self.resolved, self.values, self.reasons = run, resolved, values, reasons
        self.overrides = overrides
        known, labels = {**resolved.quantities, **values}, {"hardware.gpu": resolved.gpu.label}
        self.warnings, self.not_modeled = (
            [plain_spaces(text) for text in remarks.said(which, run.values, known, labels)]
            for which in (remarks.WARNINGS, remarks.NOT_MODELED)
        )

    def __getitem__(self, name):
        return self.values.get(name)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        values = self.__dict__["values"]
        if name in values:
            return self.figure(name)
        raise AttributeError(f"the bill has no figure {name!r}")

    @property
    def log_sd(self):
        """Log standard deviation of the step time: one residual per phase, combined over its share of the step."""
        return self.values.get("step_log_sd")

    def figure(self, name) -> Figure:
        """A quantity with its interval where it is calibrated: times of the step, GPU-hours and money."""
        mid = self.values.get(name)
        if mid is None:
            return Figure(None, None, None)
        timed = {"step_seconds", "gpu_hours_per_step", "gpu_hours_run"}
        if (
            name not in timed
            and name not in MONEY[:2]
            and name not in ("usd_per_mixed_group", "usd_per_bit", "usd_per_token")
        ):
            return Figure(None, mid, None)
        if self.log_sd is None:  # not among the outputs asked for
            return Figure(None, mid, None)
        kind = "time" if name in timed else "usd"
        factors = interval.ends().solve(
            {**self.resolved.quantities, **self.values}, [f"{kind}_low_factor", f"{kind}_high_factor"], check=False
        )
        fixed = self.values["environment_build_usd"] if name == "usd_run" else 0.0
        low, high = (fixed + (mid - fixed) * factors[f"{kind}_{end}_factor"] for end in ("low", "high"))
        return Figure(low, mid, high)

    @property
    def phases(self) -> dict:
        """Busy seconds of the phases that apply."""
        out = {}
        for phase, name in PHASES.items():
            if np.any(np.asarray(self.values[name]) > 0) or phase in ("rollout", "update"):
                out[phase] = self.values[name]
        if "evaluation" in out:  # given for one job; every active tenant has its own
            out["evaluation"] = out["evaluation"] * self.values["active_tenants"]
        return out

    @property
    def fits(self):
        """Whether the engine and the update fit their GPUs, and why not."""
        gpu = self.resolved.gpu.memory_bytes
        rollout, update = self.values["rollout_bytes_per_gpu"], self.values["update_bytes_per_gpu"]
        if np.any(np.asarray(update) > gpu):
            text = fill_in(remarks.TOO_LARGE.text, {"update_bytes_per_gpu": np.max(update), "memory_bytes": gpu})
            return False, plain_spaces(text[0].lower() + text[1:].rstrip("."))
        return True, (
            f"engine {np.max(rollout) / 1e9:.0f} GB, update {np.max(update) / 1e9:.0f} GB (estimate) "
            f"of {gpu / 1e9:.0f} GB"
        )

    def sensitivity(self, limit=None) -> list[dict]:
        """What moves the run's dollars (its hours where no price is known), for scalar runs.

        Continuous inputs come first, largest elasticity first; at a kink ``below`` and ``above`` differ. Whole numbers
        and switches follow with their next setting: ``ratio`` of the totals, and ``ratio_per_signal`` of totals per
        unit of signal, which holds what is learned fixed.
        """
        rows = sensitivity.rows(self)
        return rows[:limit] if limit else rows

    def to_dict(self) -> dict:
        """The JSON object of ``rlecon estimate``."""
        v = self.values
        fits, why = self.fits
        figure = lambda name: self.figure(name).to_dict()  # noqa: E731
        out = {
            "run": {
                key: {"value": self._value(key), "from": self.resolved.origins.get(key, self.run.origins[key])}
                for key in self.run.values
                if self._value(key) is not None
                and self.resolved.origins.get(key, self.run.origins[key]) != "not given"  # a 0 stands for it
            },
            "step_seconds": figure("step_seconds"),
            "phases": {k: json_number(x) for k, x in self.phases.items()},
            "rollout": {
                "tokens_per_second_per_gpu": json_number(
                    _rate(v, "generated_tokens_per_step", "rollout_seconds", "rollout_pool_gpus")
                ),
                "mfu": json_number(v["decode_mfu"]),
                "bandwidth_utilisation": json_number(v["decode_bandwidth_utilisation"]),
                "resident_sequences_per_gpu": json_number(v["resident_sequences"] / v["tensor_parallel"]),
                "share_of_step": json_number(v["rollout_share"]),
            },
            "update": {
                "tokens_per_second_per_gpu": json_number(
                    _rate(v, "update_tokens", "update_seconds", "training_pool_gpus")
                ),
                "mfu": json_number(v["train_mfu"]),
            },
            "memory": {
                "rollout_bytes_per_gpu": json_number(v["rollout_bytes_per_gpu"]),
                "update_bytes_per_gpu": json_number(v["update_bytes_per_gpu"]),
                "gpu_bytes": json_number(self.resolved.gpu.memory_bytes),
                "fits": bool(fits),
                "why": why,
            },
            "tokens": {
                "generated_per_step": json_number(v["generated_tokens_per_step"]),
                "processed_per_step": json_number(v["processed_tokens_per_step"]),
            },
            "money": {
                name: figure(name)
                for name in (
                    "gpu_hours_per_step",
                    "usd_per_step",
                    "gpu_hours_run",
                    "usd_run",
                    "environment_usd_run",
                    "environment_build_usd",
                )
            },
            "learning": {name: figure(name) for name in LEARNING},
        }
        several = any(map(np.ndim, self.run.values.values()))
        if self.run["target.pass_rate"] is not None and not several:
            from rlecon.forecast import target

            found = target(self.run, overrides=self.overrides)
            out["target"] = {k: x for k, x in found.to_dict().items() if k in ("steps", "usd", "gpu_hours", "basis")}
            self.warnings += [f"target: {note}" for note in found.notes if f"target: {note}" not in self.warnings]
        out["sensitivity"] = [] if several else self.sensitivity()
        out["warnings"] = [*self.warnings, *dict.fromkeys(f"null where {words}" for _, words in self.reasons)]
        out["not_modeled"] = self.not_modeled
        return out

    def short(self, key) -> str:
        """A resolved input in a few characters."""
        value = self._value(key)
        return "none" if value is None else f"{value:.4g}" if isinstance(value, int | float) else str(value)

    def _value(self, key):
        value = self.run[key]
        if value is None:
            name = key.split(".", 1)[1]
            value = self.resolved.quantities.get(name)
            if isinstance(value, float) and math.isinf(value):
                return None
        if isinstance(value, np.ndarray):
            return json_number(value)
        if isinstance(value, np.generic):
            return value.item()
        return value


def _rate(v, tokens, seconds, pool):
    share = v["active_tenants"] if tokens == "generated_tokens_per_step" else 1  # of a round of all active tenants
    return share * v[tokens] / (v[seconds] * v[pool])


def bill(run: Run, *, outputs=None, overrides=None) -> Bill:
    """Price a run.

    Parameters: ``run`` a :class:`Run` (numbers may be arrays that broadcast; 10^6 points are one call); ``outputs``
    limits the work to named quantities; ``overrides`` replaces calibrated constants by name. Returns a :class:`Bill`.
    Raises RleconError where the run is incomplete, impossible or does not fit (for arrays such points are NaN).
    """
    resolved = resolve(run, overrides=overrides)
    q = resolved.quantities | growth.factors(run, resolved, overrides)
    priced = q["usd_per_gpu_hour"] is not None
    lengthy = "steps" in q
    taught = "mean_pass_rate" in q
    if not priced:
        q["usd_per_gpu_hour"] = math.nan
    if not lengthy:
        q["steps"] = 1.0
    if not taught:
        q["mean_pass_rate"] = 0.5
    checked = {k: x for k, x in q.items() if not (k == "usd_per_gpu_hour" and not priced)}
    if not priced:
        checked["usd_per_gpu_hour"] = 0.0
    reasons: list = list(resolved.reasons)
    values = _evaluate(checked, outputs, reasons)
    unknown = set()
    if not priced:
        unknown |= {
            n
            for n in (*MONEY, "usd_per_mixed_group", "usd_per_bit", "usd_per_gpu_hour")
            if n != "environment_build_usd"
        }
    if not lengthy:
        unknown |= {"usd_run", "gpu_hours_run", "environment_usd_run", "steps"}
    if not taught:
        unknown |= {*LEARNING, "mean_pass_rate"}
    for name in unknown:
        if name in values or outputs is None:
            values[name] = None
    return Bill(run, resolved, values, reasons, overrides)


def _evaluate(q, outputs, reasons):
    shape = np.broadcast_shapes(*(x.shape for x in q.values() if isinstance(x, np.ndarray)))
    total = math.prod(shape) if shape else 1
    engine = run_model()
    if total <= CHUNK:
        return engine.solve(q, outputs, reasons=reasons)
    flat = {k: np.broadcast_to(x, shape).reshape(-1) if np.ndim(x) else x for k, x in q.items()}
    kept: dict[str, list] = {}
    for start in range(0, total, CHUNK):
        part = {k: x[start : start + CHUNK] if np.ndim(x) else x for k, x in flat.items()}
        found: list = []
        solved = engine.solve(part, outputs, reasons=found)
        wanted = outputs or solved
        for name in wanted:
            kept.setdefault(name, []).append(np.broadcast_to(solved[name], min(CHUNK, total - start)))
        for mask, words in found:
            if not any(words == w for _, w in reasons):
                reasons.append((mask, words))
    return {k: np.concatenate(x).reshape(shape) for k, x in kept.items()}

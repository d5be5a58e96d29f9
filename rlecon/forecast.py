"""Forecast: steps, GPU-hours and dollars until a pass rate is reached, from a pilot's log or from published runs.

A pilot's mean rewards are put on the scale of a clock (see :mod:`rlecon.clocks`), where they grow along a line; the
interval of the crossing follows Fieller, because intercept and slope err together. Without knowing the clock, the hull
of four clocks is reported. A pilot cannot see where the curve will end: a ceiling can only be stated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from rlecon import catalog
from rlecon.clocks import CLOCKS, SHAPES, clock, clock_slope, enough_equation
from rlecon.errors import RleconError
from rlecon.growth import CAP_SHARE, lengths
from rlecon.interval import Z80
from rlecon.json_numbers import json_ready
from rlecon.pilot import fit_pilot
from rlecon.pricing import bill

GRID = 400  # points at which the bill of a run with growing responses is evaluated


def published_drives() -> dict:
    """Drive per step of every clock in the published runs whose start, end and number of steps are known.

    Two runs of the catalogue qualify: R1-Zero (AIME) and DeepSWE (SWE-bench Verified), both at 512 rollouts a step.

    >>> {k: round(max(v) / min(v)) for k, v in published_drives().items()}["constant"]
    16
    """
    zero, swe = catalog.measurement("r1_zero_recipe"), catalog.measurement("deepswe_pass_rates")
    runs = (
        (zero.parts["aime24_start"], zero.parts["aime24_end"], zero.value[0]),
        (*swe.value, swe.config["steps"]),
    )
    return {
        name: [float(clock(name, end) - clock(name, start)) / steps for start, end, steps in runs] for name in CLOCKS
    }


@dataclass(frozen=True)
class Forecast:
    """What :func:`target` returns. Each of ``steps``, ``gpu_hours`` and ``usd`` is a dict of low, mid and high.

    A ``high`` of None has no bound; a ``mid`` of None is unknown. ``basis`` says what the drift was taken from;
    ``clocks`` holds the answer of each clock; ``decided`` is false where a pilot cannot tell its drift from none, and
    ``enough_steps`` is then the length of a pilot that would.
    """

    steps: dict
    gpu_hours: dict
    usd: dict
    basis: str
    decided: bool
    start_pass_rate: float
    target_pass_rate: float
    objective: str
    ceiling: float | None
    clocks: dict
    pilot_steps: int | None = None
    enough_steps: float | None = None
    logit_per_step: float | None = None
    notes: list = field(default_factory=list)

    def to_dict(self) -> dict:
        """The JSON object of ``rlecon target``: infinite and unknown figures are null."""
        from dataclasses import asdict

        return json_ready(asdict(self))


def target(run, pilot=None, *, overrides=None) -> Forecast:
    """Steps, GPU-hours and dollars until ``run``'s target pass rate.

    Parameters: ``run`` a :class:`rlecon.Run` with ``target.pass_rate``; ``pilot`` the mean rewards of the run's first
    steps, or the path of its training log (default: ``target.pilot_log``); ``overrides`` of calibrated constants. The
    drift comes from the pilot, else from ``target.logit_per_step``, else from two published runs (wide). Without
    ``target.objective`` the answer is the hull of four clocks. Returns a :class:`Forecast`. Raises RleconError where
    the target is not ahead, or lies at or above the stated ceiling.

    >>> from rlecon import Run
    >>> run = Run(model={"name": "qwen3-8b"}, hardware={"gpu": "h100-sxm", "gpus": 8, "usd_per_gpu_hour": 2.5},
    ...           rollout={"prompts_per_step": 64, "group_size": 8, "response_tokens": 2000},
    ...           reward={"pass_rate": 0.2}, target={"pass_rate": 0.5, "logit_per_step": 0.01, "objective": "log"})
    >>> round(target(run).steps["mid"])
    171
    """
    end, objective, ceiling = run["target.pass_rate"], run["target.objective"], run["target.ceiling"]
    if end is None:
        raise RleconError("not given", field="target.pass_rate", advice="say which pass rate to reach")
    for name in ("target.pass_rate", "reward.pass_rate", "target.ceiling", "target.logit_per_step"):
        if np.ndim(run[name]):
            raise RleconError("one value per call", field=name, advice="call once for each value")
    top = 1.0 if ceiling is None else ceiling
    if end >= top:
        raise RleconError(
            "is not reached in any number of steps"
            if ceiling is None
            else f"a curve that ends at {top:g} never gets there",
            field="target.pass_rate",
            value=end,
            allowed=f"below {top:g}",
        )
    rewards = _rewards(run, pilot)
    names = [objective] if objective else list(CLOCKS)
    size = run["rollout.group_size"] if objective == "grpo" and np.ndim(run["rollout.group_size"]) == 0 else None
    kind = {"group_size": size if size and size > 1 else None, "ceiling": top}
    notes, enough, drift, decided, clocks = [], None, run["target.logit_per_step"], True, {}
    if rewards is not None:
        basis = "pilot"
        first = rewards[np.isfinite(rewards)]
        slope, begin = np.polyfit(np.arange(first.size), first, 1) if first.size > 1 else (0.0, first.mean())
        start = float(np.clip(begin, 1e-3, top - 1e-3))
        if start >= end:
            raise RleconError(f"the pilot already starts at {start:.3g}", field="target.pass_rate", value=end)
        for name in names:
            line = fit_pilot(rewards, name, end, **kind)
            clocks[name] = {
                "low": line.low, "mid": line.mid, "high": line.high, "drive": line.drive,
                "drive_error": line.drive_error, "decided": line.decided,
            }  # fmt: skip
        decided = all(c["decided"] for c in clocks.values())
        now = float(np.clip(first.mean(), 1e-3, top - 1e-3))
        noise = float(np.var(first - np.polyval([slope, begin], np.arange(first.size)), ddof=2))
        drift = max(float(slope), 0.0) / (now * (1 - now))
        if drift > 0:
            enough = float(
                enough_equation(
                    mean_reward_variance=noise,
                    normal_deviate=Z80,
                    prompt_variance=now * (1 - now),
                    logit_per_step=drift,
                )
            )
        if not decided:
            notes.append(
                "The pilot cannot tell its drift from none: only a lower bound of the steps is known"
                + (f"; if the drift is what it seems, about {enough:.0f} steps would tell." if enough else ".")
            )
        elif any(c["drive"] < 3 * c["drive_error"] for c in clocks.values()):
            notes.append(
                "The drift is barely larger than its error. Pilots that happen to show a drift early are the lucky "
                "ones, so this forecast leans to the optimistic side."
            )
    else:
        start = run["reward.pass_rate"]
        if start is None:
            raise RleconError("not given", field="reward.pass_rate", advice="say where the run starts, or give a pilot")
        if not 0 < start < end:
            raise RleconError(
                "is not below the target", field="reward.pass_rate", value=start, allowed=f"above 0, below {end:g}"
            )
        published = published_drives()
        apart = max(max(published[n]) / min(published[n]) for n in names)
        for name in names:
            way = float(clock(name, end, **kind) - clock(name, start, **kind))
            if drift is not None:
                share = start / top
                shape = float(SHAPES[name](pass_rate=share))
                if name == "grpo" and kind["group_size"]:
                    shape = 1 / (share * (1 - share) * float(clock_slope(name, share, group_size=kind["group_size"])))
                steps = way * shape / drift
                clocks[name] = {"low": steps, "mid": steps, "high": steps, "drive": drift / shape, "decided": True}
            else:
                slow, fast = min(published[name]), max(published[name])
                pace = math.sqrt(slow * fast)
                clocks[name] = {
                    "low": way / fast,
                    "mid": way / pace,
                    "high": way / slow,
                    "drive": pace,
                    "decided": True,
                }
        basis = "logit_per_step" if drift is not None else "published"
        notes.append(
            f"The logit drift of {drift:g} per step is taken as exact; the range is that of the clocks."
            if drift is not None
            else f"No pilot: the drift is that of two published runs at 512 rollouts a step, which differ {apart:.0f}-"
            "fold; both are benchmark scores. Twenty to fifty logged steps of your own tell more."
        )
    low = min(c["low"] for c in clocks.values())
    high = max(c["high"] for c in clocks.values()) if decided else math.inf
    mids = [c["mid"] for c in clocks.values()]
    mid = math.exp(np.mean(np.log(mids))) if decided and all(0 < m < math.inf for m in mids) else math.nan
    if objective is None:
        notes.append("The range is the hull of four clocks: which one a run follows is not known beforehand.")
    if ceiling is None:
        notes.append(
            "No ceiling is stated. Published curves end at pass rates from 0.52 to 0.71, and a pilot cannot see where "
            "its own will: the low end is firmer than the high end."
        )
    if basis == "published" and rewards is None and run["rollout.prompts_per_step"] is not None:
        made = np.max(np.asarray(run["rollout.prompts_per_step"]) * np.asarray(run["rollout.group_size"]))
        if not 256 <= made <= 1024:
            notes.append(f"This run takes {made:.0f} rollouts a step: while noise limits a step, drift goes with them.")
    steps = {"low": low, "mid": mid, "high": high}
    hours, usd = _cost(run, steps, notes, overrides)
    return Forecast(
        steps, hours, usd, basis, decided, float(start), float(end), objective or "hull", ceiling, clocks,
        None if rewards is None else int(np.isfinite(rewards).sum()), enough, drift, notes,
    )  # fmt: skip


def _rewards(run, pilot):
    """Mean rewards of a pilot as an array, or None; a path is read as a training log."""
    pilot = run["target.pilot_log"] if pilot is None else pilot
    if pilot is None:
        return None
    if isinstance(pilot, str) or hasattr(pilot, "__fspath__"):
        from rlecon.readers.logs import read_log

        report = read_log(pilot)
        pilot = [s.pass_rate for s in report.steps]
        if not any(p is not None for p in pilot):
            raise RleconError(
                "this log does not show a pass rate",
                field="pilot",
                advice="; ".join(f for f in report.flags if f.startswith("pass_rate")) or "give mean rewards instead",
            )
    values = np.array([math.nan if x is None else x for x in pilot], float)
    if not np.isfinite(values).any():
        raise RleconError("holds no number", field="pilot")
    return values


def _cost(run, steps, notes, overrides):
    """GPU-hours and dollars for low, mid and high steps: the bill step by step where responses grow."""
    growth = run["run.response_growth_per_step"] or 0.0
    ends = np.array([s for s in steps.values() if math.isfinite(s)])
    if ends.size == 0:
        none = dict.fromkeys(steps)
        return none, dict(none)
    base = bill(run.replace({"run.steps": 1.0}), overrides=overrides)
    hour, step = base.figure("gpu_hours_per_step"), base.figure("usd_per_step")
    attempts, build = float(np.max(base["attempts"])), float(np.max(base["environment_build_usd"]))
    if growth:
        t = np.linspace(0, ends.max(), GRID)
        length = lengths(run, t)
        cap = run["rollout.max_response_tokens"]
        if cap is not None and length.max() >= CAP_SHARE * cap:
            notes.append(f"Responses grow to {CAP_SHARE:.0%} of the cap and then stay.")
        along = {"rollout.response_tokens": length, "run.steps": 1.0, "run.response_growth_per_step": 0.0}
        grown = bill(run.replace(along), overrides=overrides)
        series = {"gpu_hours": grown["gpu_hours_per_step"], "usd": grown["usd_per_step"]}
        if np.isnan(series["gpu_hours"]).any():
            raise RleconError(
                "responses grow beyond what this run can hold",
                field="run.response_growth_per_step",
                value=growth,
                advice="cap them, or grow less",
            )

        def total(name, end):
            if series[name] is None:
                return math.nan
            gone = np.concatenate([[0.0], np.cumsum((series[name][1:] + series[name][:-1]) / 2 * np.diff(t))])
            return float(np.interp(end, t, gone))
    else:

        def total(name, end):
            each = base["gpu_hours_per_step"] if name == "gpu_hours" else base["usd_per_step"]
            return math.nan if each is None else float(each) * end

    out = []
    for name, figure, fixed in (("gpu_hours", hour, 0.0), ("usd", step, build)):
        row = {}
        for which, end in steps.items():
            if not math.isfinite(end):
                row[which] = math.inf if end == math.inf else math.nan
                continue
            row[which] = total(name, end) * attempts
        if math.isfinite(row["mid"]) and row["mid"] > 0 and figure.low is not None:
            # Steps and the price of one err apart: their logarithms add in quadrature.
            for which, edge in (("low", figure.low), ("high", figure.high)):
                if math.isfinite(row[which]) and row[which] > 0:
                    apart = math.hypot(math.log(row[which] / row["mid"]), math.log(float(edge) / float(figure.mid)))
                    row[which] = row["mid"] * math.exp(-apart if which == "low" else apart)
        out.append({which: x + fixed for which, x in row.items()})
    return out

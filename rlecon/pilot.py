"""Pilots: fit the first steps of a run on the scale of a clock, and say when the line crosses the target."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlecon.clocks import clock, clock_slope
from rlecon.errors import RleconError

FEWEST = 8  # steps of a pilot below which a line with an error is not worth fitting


@dataclass(frozen=True)
class Line:
    """A pilot on the scale of one clock: steps to the target, counted from the pilot's first step.

    ``high`` is infinite and ``mid`` may be where the drift cannot be told from none (``decided`` is false).
    """

    low: float
    mid: float
    high: float
    drive: float
    drive_error: float
    decided: bool


def fit_pilot(rewards, objective: str, target: float, *, group_size=None, ceiling=1.0, level=0.8) -> Line:
    """Fit a line to a pilot's mean rewards on the scale of a clock, and say when it crosses the target.

    Parameters: ``rewards`` mean reward (0 to 1) of each step, NaN where not logged; ``objective``, ``group_size`` and
    ``ceiling`` as in :func:`rlecon.clocks.clock`; ``target`` pass rate; ``level`` of the interval. Rewards are smoothed
    by a line, the clock is linearised there, and weights are those of binomial noise; the scale of the noise comes from
    the residuals, so batch and group size need not be known. Returns a :class:`Line`. Raises RleconError for a pilot
    that is too short or shows one outcome only. Source: Fieller's interval for a ratio, Student's t.

    >>> rewards = 1 / (1 + np.exp(1.2 - 0.02 * np.arange(40))) + 0.01 * np.cos(9 * np.arange(40))
    >>> fitted = fit_pilot(rewards, "constant", 0.6)
    >>> fitted.low < 80.3 < fitted.high
    True
    """
    from scipy.special import stdtrit

    rewards = np.asarray(rewards, float)
    kept = np.isfinite(rewards)
    t, r = np.flatnonzero(kept).astype(float), rewards[kept]
    if t.size < FEWEST:
        raise RleconError(
            "too few steps to fit a line", field="pilot", value=t.size, unit="step", allowed=f"at least {FEWEST}"
        )
    if np.any((r < 0) | (r > 1)):
        raise RleconError("mean rewards are not pass rates", field="pilot", allowed="0 to 1: map -1 and 1 to 0 and 1")
    if r.max() == r.min():
        raise RleconError("the mean reward never changes", field="pilot", value=float(r[0]))
    slope, start = np.polyfit(t, r, 1)
    floor = max(1e-3, 0.2 * r[r > 0].min())
    if r.max() >= ceiling:
        raise RleconError("the pilot passes it", field="target.ceiling", value=ceiling, allowed=f"above {r.max():g}")
    smooth = np.clip(start + slope * t, floor, ceiling - max(1e-3, 0.2 * (ceiling - r.max())))
    kind = {"group_size": group_size, "ceiling": ceiling}
    steep = clock_slope(objective, smooth, **kind)
    y = clock(objective, smooth, **kind) + (r - smooth) * steep
    weight = 1 / (steep**2 * smooth * (1 - smooth))
    middle = np.average(t, weights=weight)
    spread = np.sum(weight * (t - middle) ** 2)
    drive = np.sum(weight * (t - middle) * y) / spread
    level_at_middle = np.average(y, weights=weight)
    scale = np.sum(weight * (y - level_at_middle - drive * (t - middle)) ** 2) / (t.size - 2)
    v_level, v_drive = scale / weight.sum(), scale / spread  # uncorrelated at the weighted middle
    quantile = stdtrit(t.size - 2, 0.5 + level / 2)
    goal = float(clock(objective, target, **kind)) - level_at_middle
    # Steps s from the middle with (goal - drive s)^2 <= q^2 (v_level + v_drive s^2): Fieller.
    a = drive**2 - quantile**2 * v_drive
    b, c = goal * drive, goal**2 - quantile**2 * v_level
    inner = b * b - a * c
    decided = bool(a > 0 and drive > 0)
    mid = middle + goal / drive if drive > 0 else math.inf
    if decided:
        low, high = (middle + (b - math.sqrt(inner)) / a, middle + (b + math.sqrt(inner)) / a)
    else:
        high = math.inf
        # The steepest drift of the interval crosses first.
        ahead = sorted(s for s in _roots(a, b, c) if s > 0) if inner >= 0 else []
        low = middle + ahead[0] if ahead else 0.0
    low, mid, high = (float(x) for x in (max(low, 0.0), mid, high))
    return Line(low, mid, high, float(drive), math.sqrt(v_drive), decided)


def _roots(a, b, c):
    """Roots of a s^2 - 2 b s + c."""
    if a == 0:
        return (c / (2 * b),) if b else ()
    inner = math.sqrt(b * b - a * c)
    return (b - inner) / a, (b + inner) / a

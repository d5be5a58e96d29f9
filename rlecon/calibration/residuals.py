"""What errors say: their summary, the residual of each phase, and how many intervals cover."""

from __future__ import annotations

import math

import numpy as np

from rlecon import catalog
from rlecon.calibration.points import Points
from rlecon.interval import Z80

PHASE_SDS = ("residual_log_sd_rollout", "residual_log_sd_update")
SD_BOUNDS = (0.03, 0.8)


def summary(log_ratios) -> dict:
    """Median factor, worst factor, shares within 1.25, 1.5 and 2, and the bias of log(predicted / measured) times."""
    r = np.abs(np.asarray(log_ratios, float))
    return {
        "n": len(r),
        "median": float(np.exp(np.median(r))),
        "worst": float(np.exp(np.max(r))),
        "within_1.25": float(np.mean(r <= math.log(1.25))),
        "within_1.5": float(np.mean(r <= math.log(1.5))),
        "within_2": float(np.mean(r <= math.log(2.0))),
        "bias": float(np.mean(log_ratios)),
        "rms": float(np.sqrt(np.mean(r**2))),
    }


def residual_sds(points: Points, log_ratios) -> dict:
    """Most likely residual per phase, from the errors of whole steps.

    The residual that all phases share is :func:`release_spread`, since steps of one framework cannot tell it apart;
    ``residual_log_sd_moving`` stays as it is: transfers are too small a share of these steps to tell it.
    """
    from scipy.optimize import minimize

    shared = {"residual_log_sd_framework": release_spread()[0]}

    def cost(x):
        sd = points.solve({**shared, **dict(zip(PHASE_SDS, np.exp(x), strict=True))}, ["step_log_sd"])["step_log_sd"]
        return float(np.sum(np.log(sd) + 0.5 * (log_ratios / sd) ** 2))

    bounds = [tuple(np.log(SD_BOUNDS))] * len(PHASE_SDS)
    best = minimize(cost, np.log([0.2, 0.15]), bounds=bounds, method="L-BFGS-B")
    return {**shared, **{n: float(v) for n, v in zip(PHASE_SDS, np.exp(best.x), strict=True)}}


def guessed_length_sd(points: Points, log_ratios) -> float:
    """What a guessed mean length adds to the log sd of a step: what the errors hold beyond the interval of each point.

    ``points`` are steps whose ``length_log_sd`` is left out here, ``log_ratios`` their errors.
    """
    known = known_length_sds(points)
    return math.sqrt(max(0.0, float(np.mean(np.square(log_ratios) - known**2))))


def known_length_sds(points: Points) -> np.ndarray:
    """Log sd of each step, were its mean length known."""
    phases = points.solve(outputs=["step_log_sd"])["step_log_sd"]
    return np.sqrt(phases**2 - np.array([p.quantities["length_log_sd"] for p in points.points]) ** 2)


def coverage(log_ratios, log_sds) -> tuple[int, int]:
    """How many of how many measurements lie in the 80 % interval of their prediction."""
    inside = np.abs(np.asarray(log_ratios)) <= Z80 * np.asarray(log_sds)
    return int(np.sum(inside)), int(np.size(inside))


def release_spread() -> tuple[float, int]:
    """Log sd of one release of a framework about its mean: the same configuration measured in consecutive releases.

    Step times are divided by the mean response length; returns the sd and the number of pairs. No model that is blind
    to the release can do better.
    """
    rows: dict = {}
    for m in catalog.measurements("step", tag="known_length"):
        c = m.config
        key = (c["model"], c["gpu"], c["gpus"], c["overlap"], c["tensor_parallel"], c["train_bits"])
        rows.setdefault(key, []).append((m.id, math.log(m.value / c["response_tokens"])))
    steps = []
    for found in rows.values():
        found.sort()
        steps += [b[1] - a[1] for a, b in zip(found, found[1:], strict=False)]
    return float(np.sqrt(np.mean(np.square(steps)) / 2)), len(steps)

"""The documented fit: decode, then training, then whole steps; and every point with its like left out."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from rlecon import catalog
from rlecon.calibration.decoding import decode_points
from rlecon.calibration.fitting import BOUNDS, Fit, fit
from rlecon.calibration.points import Points
from rlecon.calibration.steps import step_points
from rlecon.calibration.training import training_points

DECODE_CONSTANTS = (
    "weight_read_efficiency",
    "kv_read_efficiency",
    "compute_efficiency",
    "latency_per_layer_seconds",
    "host_seconds_per_sequence",
    "request_seconds",
    "expert_efficiency_tuned",
    "collective_seconds",
)
TRAINING_CONSTANTS = (
    "train_efficiency",
    "train_attention_efficiency",
    "train_expert_efficiency",
    "moe_dispatch_bytes",
    "optimizer_gpu_seconds_per_parameter",
)
STEP_CONSTANTS = ("expert_efficiency_typical", "colocation_factor", "step_overhead_seconds")
# what is believed before any fit, and how strongly (log sd): it decides only where no measurement does
PRIORS = {
    "expert_efficiency_tuned": (0.6, 0.5),
    "collective_seconds": (10e-6, 0.5),
    "train_attention_efficiency": (0.5, 0.3),
    "train_expert_efficiency": (0.5, 0.5),
    "moe_dispatch_bytes": (8.0, 1.0),
    "optimizer_gpu_seconds_per_parameter": (2e-10, 1.0),
    "colocation_factor": (1.38, 0.15),
    "step_overhead_seconds": (12.0, 0.5),
    "expert_efficiency_typical": (0.38, 0.5),
}


@cache
def calibrate(without: str | None = None, *, starts: int = 2, held: tuple = ()) -> Fit:
    """Fit the calibrated constants to the documented set: decode, then training, then whole steps.

    Each stage holds what the earlier ones found, so that steps cannot bend what phases measured directly. ``without``
    names a family of models, one measurement or a source; every stage leaves it out. Without a source, what the rest
    cannot tell is drawn to the middle of its physical bounds (:func:`blind_priors`), since the beliefs of ``PRIORS``
    were formed with all sources in view. ``held`` are pairs of a constant and the value at which it stays.
    """
    keep = lambda p: p.fitted and without not in (p.family, p.id, source_of(p))  # noqa: E731
    blind = without in sources()
    found: dict = dict(held)
    spread: dict = {}
    last = None
    for points, names in (
        (decode_points(), DECODE_CONSTANTS),
        (training_points(), TRAINING_CONSTANTS),
        (step_points(), STEP_CONSTANTS),
    ):
        names = tuple(n for n in names if n not in dict(held))
        priors = blind_priors(names) if blind else {n: PRIORS[n] for n in names if n in PRIORS}
        if not any(keep(p) for p in points.points):
            found |= {n: priors[n][0] for n in names}
            continue
        begin = {n: priors[n][0] for n in names} if blind else {}
        last = fit([points.only(keep)], names, priors=priors, base={**found, **begin}, starts=starts)
        found = {**found, **last.constants}
        spread |= last.spread
    return Fit(found, last.rms, spread)


def source_of(point) -> str:
    """Key of the work that published a point first."""
    return catalog.measurement(point.id).source[0]


@cache
def sources() -> tuple:
    """Keys of the works whose measurements the fit has seen."""
    points = (*decode_points().points, *training_points().points, *step_points().points)
    return tuple(sorted({source_of(p) for p in points if p.fitted}))


def blind_priors(names) -> dict:
    """The middle of each constant's physical bounds, in logarithms, and a quarter of their width as its log sd."""
    return {n: (math.sqrt(BOUNDS[n][0] * BOUNDS[n][1]), math.log(BOUNDS[n][1] / BOUNDS[n][0]) / 4) for n in names}


def leave_out(points: Points, by: str = "family", held: tuple = ()) -> np.ndarray:
    """log(predicted / measured) time of every point, with its like left out of every fit.

    ``by`` says what is left out: the "family" of the model, the measurement ("id": a whole sweep), or the "source".
    ``held`` as in :func:`calibrate`.
    """
    out = np.empty(len(points))
    keys = [source_of(p) if by == "source" else getattr(p, by) for p in points.points]
    for key in sorted(set(keys)):
        mask = np.array([k == key for k in keys])
        chosen = Points([p for p, m in zip(points.points, mask, strict=True) if m])
        out[mask] = chosen.log_time_ratio(calibrate(key, held=held).constants)
    return out

"""Least squares of log errors: calibrated constants within their bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlecon import catalog

# constants that a fit may move, with bounds: physical, and below 1 for efficiencies
BOUNDS = {
    "weight_read_efficiency": (0.5, 0.95),
    "kv_read_efficiency": (0.5, 0.95),
    "compute_efficiency": (0.3, 0.9),
    "latency_per_layer_seconds": (5e-6, 200e-6),
    "host_seconds_per_sequence": (1e-6, 60e-6),
    "request_seconds": (1e-5, 1e-2),
    "expert_efficiency_tuned": (0.2, 1.0),
    "expert_efficiency_typical": (0.1, 1.0),
    "collective_seconds": (2e-6, 60e-6),
    "cross_node_factor": (1.0, 10.0),
    "train_efficiency": (0.2, 0.7),
    "train_attention_efficiency": (0.3, 0.8),
    "train_expert_efficiency": (0.1, 1.0),
    "moe_dispatch_bytes": (0.5, 60.0),
    "optimizer_gpu_seconds_per_parameter": (1e-11, 2e-8),
    "step_overhead_seconds": (1.0, 60.0),
    "colocation_factor": (1.0, 2.5),
    "rl_fp8_train_gain": (1.0, 2.0),
    "weight_sync_bytes_per_second": (5e9, 100e9),
}
STARTS = 4


@dataclass(frozen=True)
class Fit:
    """What a fit found: constants by name, the root mean square log error, and how far its starts agree."""

    constants: dict
    rms: float
    spread: dict


def fit(sets, names, *, weights=None, priors=None, starts=STARTS, base=None, seed=0) -> Fit:
    """Fit calibrated constants to measurements by least squares of log errors.

    Parameters: ``sets`` of :class:`Points`; ``names`` of the constants to move, within ``BOUNDS``; ``weights`` one
    array per set, or None for equal weight of every point; ``priors`` maps a name to ``(value, log_sd)``, a pull that
    counts like one measurement with that error over a residual of 0.1; ``base`` other constants to hold.
    Several starts, the best wins; ``spread`` is the range of the constants over starts whose error is within 1 % of it.
    """
    from scipy.optimize import least_squares

    names = list(names)
    low = np.log([BOUNDS[n][0] for n in names])
    high = np.log([BOUNDS[n][1] for n in names])
    weights = weights or [np.ones(len(s)) for s in sets]
    priors = priors or {}

    def constants(x):
        return {**(base or {}), **dict(zip(names, np.exp(x), strict=True))}

    def residuals(x):
        overrides = constants(x)
        parts = [w * s.log_time_ratio(overrides) for s, w in zip(sets, weights, strict=True)]
        pulls = [0.1 * (x[names.index(n)] - math.log(v)) / sd for n, (v, sd) in priors.items() if n in names]
        return np.concatenate([*parts, pulls])

    generator = np.random.default_rng(seed)
    first = np.clip(np.log([(base or {}).get(n, catalog.constant(n).value) for n in names]), low + 1e-6, high - 1e-6)
    tried = []
    for start in range(starts):
        x0 = first if start == 0 else low + (high - low) * generator.uniform(0.1, 0.9, len(names))
        tried.append(least_squares(residuals, x0, bounds=(low, high), x_scale=0.1))
    tried.sort(key=lambda t: t.cost)
    best = tried[0]
    close = [t.x for t in tried if t.cost <= best.cost * 1.01 + 1e-12]
    spread = {n: (float(np.exp(min(c[i] for c in close))), float(np.exp(max(c[i] for c in close))))
              for i, n in enumerate(names)}
    found = constants(best.x)
    count = sum(len(s) for s in sets)
    error = sum(float(np.sum(s.log_time_ratio(found) ** 2)) for s in sets)
    return Fit({n: float(found[n]) for n in names}, math.sqrt(error / count), spread)

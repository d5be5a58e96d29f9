"""Responses that grow over a run: hours and sandbox rent of the mean step, over those of the first.

Length usually rises while reasoning is trained, and the price of a step is not proportional to it. So the step is
priced at lengths along the run, and the mean is taken.
"""

from __future__ import annotations

import math

import numpy as np

from rlecon.errors import RleconError

POINTS = 64  # steps at which a run is priced: all of a short one, else so many in even parts
CAP_SHARE = 0.95  # responses stop growing where their mean comes so near to the cap
_PER_STEP = ("gpu_hours_per_step", "environment_usd_per_step")


def lengths(run, at) -> np.ndarray:
    """Mean response length in tokens at the steps ``at`` (0 is the first); under a cap it stops just below it.

    Raises RleconError for a growth of -100 % or less.
    """
    growth = np.asarray(run["run.response_growth_per_step"], float)
    if np.any(growth <= -1):
        raise RleconError(
            "leaves no response", field="run.response_growth_per_step", value=float(growth.min()), allowed="above -1"
        )
    first = np.asarray(run["rollout.response_tokens"], float)
    with np.errstate(over="ignore"):
        length = first * (1 + growth) ** at
    cap = run["rollout.max_response_tokens"]
    return length if cap is None else np.minimum(length, np.maximum(CAP_SHARE * np.asarray(cap), first))


def factors(run, resolved, overrides=None) -> dict:
    """``hours_growth`` and ``environment_growth`` of a run; nothing where lengths stay.

    Parameters: ``run`` a :class:`rlecon.Run`; ``resolved`` what :func:`rlecon.resolve.resolve` made of it;
    ``overrides`` of calibrated constants. Raises RleconError where responses grow beyond what the run can hold, and
    where the growth is given without a number of steps (no totals, nothing to do) it returns an empty dict.
    """
    growth, steps = run["run.response_growth_per_step"], run["run.steps"]
    if not np.any(np.asarray(growth)):
        return {}
    if steps is None:
        return {}
    from rlecon.pricing import bill

    points = min(POINTS, max(1, math.ceil(float(np.max(steps)))))
    engine = resolved.quantities["tensor_parallel"]  # one engine for all lengths: the first step's
    along = run.replace({"rollout.tensor_parallel": engine})
    wide = {k: np.asarray(x)[..., None] for k, x in along.values.items() if np.ndim(x)}
    along = along.replace(wide)
    at = np.maximum((np.arange(points) + 0.5) / points * np.asarray(along["run.steps"], float) - 0.5, 0.0)
    first = np.asarray(along["rollout.response_tokens"], float)
    grown = lengths(along, at) + np.zeros_like(first)
    length = np.concatenate([np.broadcast_to(first, (*grown.shape[:-1], 1)), grown], axis=-1)
    still = {"run.response_growth_per_step": 0.0, "run.steps": 1.0, "rollout.response_tokens": length}
    made = bill(along.replace(still), outputs=list(_PER_STEP), overrides=overrides)
    hours, rent = (np.broadcast_to(made[name], length.shape) for name in _PER_STEP)
    if not wide and np.isnan(hours).any():
        raise RleconError(
            "responses grow beyond what this run can hold",
            field="run.response_growth_per_step",
            value=float(growth),
            unit="1/step",
            advice="cap them, grow less, or give each engine more GPUs",
        )

    def mean_over_first(series):
        paid = series[..., 0] > 0
        return np.where(paid, series[..., 1:].mean(axis=-1) / np.where(paid, series[..., 0], 1.0), 1.0)[()]

    return {"hours_growth": mean_over_first(hours), "environment_growth": mean_over_first(rent)}

"""Clocks: how far apart two pass rates are in steps of policy gradient, under each objective, and where curves end.

The logit of the pass rate drifts by ``drive * g(p)`` a step. A clock is the function of the pass rate that then grows
evenly: steps = (clock at the target - clock at the start) / drive. The drive holds learning rate, batch, clipping and
interference between prompts; it is measured, not predicted.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.errors import RleconError

_p = v.pass_rate
_q = 1 - _p
_inside = [((_p > 0) & (_p < 1), "a pass rate of {pass_rate} is infinitely far away")]

logit_equation = Equation(v.pass_logit, sp.log(_p / _q), "log odds", holds_when=_inside)
SHAPES = {
    "mean_success": Equation(v.drift_shape, _p * _q, "ascent on the mean pass rate", name="drift_mean_success"),
    "grpo": Equation(
        v.drift_shape, sp.sqrt(_p * _q), "advantages over the group's deviation, large groups", name="drift_grpo"
    ),
    "log": Equation(v.drift_shape, _q, "ascent on log p", name="drift_log"),
    "constant": Equation(v.drift_shape, sp.Integer(1), "the logit drifts evenly", name="drift_constant"),
}
CLOCKS = {
    "mean_success": Equation(
        v.objective_clock,
        2 * sp.log(_p / _q) + (_p - _q) / (_p * _q),
        "integral of dp/(p q)^2",
        holds_when=_inside,
        name="clock_mean_success",
    ),
    "grpo": Equation(
        v.objective_clock,
        2 * (2 * _p - 1) / sp.sqrt(_p * _q),
        "integral of dp/(p q)^(3/2)",
        holds_when=_inside,
        name="clock_grpo",
    ),
    "log": Equation(
        v.objective_clock, sp.log(_p / _q) + 1 / _q, "integral of dp/(p q^2)", holds_when=_inside, name="clock_log"
    ),
    "constant": Equation(
        v.objective_clock, sp.log(_p / _q), "integral of dp/(p q)", holds_when=_inside, name="clock_constant"
    ),
}
steps_equation = Equation(
    v.steps,
    (v.target_clock - v.start_clock) / v.drive,
    "the clock grows by the drive each step",
    holds_when=[(v.target_clock > v.start_clock, "the target is not above the start")],
    name="steps_to_target",
)
drive_equation = Equation(
    v.drive,
    v.logit_per_step / v.drift_shape,
    "from a drift of the logit measured at one pass rate",
    holds_when=[(v.drift_shape > 0, "no drift where every rollout has one outcome")],
)
_names = {"mean_success": "steps_if_mean", "grpo": "steps_if_grpo", "log": "steps_if_log", "constant": "steps_if_even"}
_between = [
    (
        (v.start_pass_rate > 0) & (v.start_pass_rate < v.target_pass_rate) & (v.target_pass_rate < 1),
        "a target of {target_pass_rate} is not ahead of a start at {start_pass_rate}",
    )
]
REACHED = {
    name: Equation(
        getattr(v, left),
        SHAPES[name].right.subs(_p, v.start_pass_rate)
        * (CLOCKS[name].right.subs(_p, v.target_pass_rate) - CLOCKS[name].right.subs(_p, v.start_pass_rate))
        / v.logit_per_step,
        "way on the clock over the drive, which is the drift at the start over its shape there",
        holds_when=[*_between, (v.logit_per_step > 0, "without drift no target is reached")],
    )
    for name, left in _names.items()
}
_steps = [getattr(v, left) for left in _names.values()]
fewest_steps_equation = Equation(v.fewest_target_steps, sp.Min(*_steps), "the fastest of four clocks")
most_steps_equation = Equation(v.most_target_steps, sp.Max(*_steps), "the slowest of four clocks")
target_usd_low_equation = Equation(
    v.target_usd_low, v.fewest_target_steps * v.usd_per_step, "every step costs the same: lengths do not grow"
)
target_usd_high_equation = Equation(
    v.target_usd_high, v.most_target_steps * v.usd_per_step, "every step costs the same: lengths do not grow"
)
_ends = (fewest_steps_equation, most_steps_equation, target_usd_low_equation, target_usd_high_equation)
HULL = (*REACHED.values(), *_ends)
enough_equation = Equation(
    v.pilot_steps,
    (v.slope_factor * v.mean_reward_variance) ** sp.Rational(1, 3)
    * (v.normal_deviate / (v.prompt_variance * v.logit_per_step)) ** sp.Rational(2, 3),
    "the slope of a line through t points has variance 12 Var / t^3: steps until its interval leaves zero",
    holds_when=[(v.prompt_variance * v.logit_per_step > 0, "no drift is never seen")],
)
reward_variance_equation = Equation(
    v.mean_reward_variance,
    v.pass_variance / (v.prompts_per_step * v.group_size) + v.pass_rate_spread**2 / v.prompts_per_step,
    "mean reward of a step: noise of rollouts, and of the prompts drawn",
)

# --- curves that saturate --------------------------------------------------------------------------------------------
fraction_equation = Equation(
    v.gain_fraction,
    (v.target_pass_rate - v.start_pass_rate) / (v.asymptotic_pass_rate - v.start_pass_rate),
    "share of the gain that the ceiling allows",
    holds_when=[
        (
            v.target_pass_rate < v.asymptotic_pass_rate,
            "a curve that ends at {asymptotic_pass_rate} never reaches {target_pass_rate}",
        )
    ],
    source="khatri2025art",
)
saturation_equation = Equation(
    v.steps,
    v.half_gain_steps * (v.gain_fraction / (1 - v.gain_fraction)) ** (1 / v.scaling_exponent),
    "odds of the gain grow as a power of steps",
    source="khatri2025art",
    name="steps_saturating",
)
compute_equation = Equation(
    v.compute_gpu_hours,
    v.half_gain_gpu_hours * (v.gain_fraction / (1 - v.gain_fraction)) ** (1 / v.scaling_exponent),
    "odds of the gain grow as a power of compute",
    source="khatri2025art",
    name="compute_saturating",
)
curve_equation = Equation(
    v.target_pass_rate,
    v.start_pass_rate
    + (v.asymptotic_pass_rate - v.start_pass_rate)
    / (1 + (v.half_gain_gpu_hours / v.compute_gpu_hours) ** v.scaling_exponent),
    "the curve itself: pass rate after the given compute",
    source="khatri2025art",
    name="saturating_curve",
)
compute_ratio_equation = Equation(
    v.compute_ratio,
    (v.gain_fraction / (1 - v.gain_fraction)) ** (1 / v.scaling_exponent),
    "compute over that at half of the gain: 9^(1/zeta) for nine tenths",
    source="khatri2025art",
)
slope_equation = Equation(
    v.midpoint_slope,
    v.scaling_exponent * (v.asymptotic_pass_rate - v.start_pass_rate) / 4,
    "slope of the curve at half of the gain, per e-fold of compute",
    source="khatri2025art",
)
_middle = (v.asymptotic_pass_rate + v.start_pass_rate) / 2
accuracy_equation = Equation(
    v.accuracy_exponent,
    v.midpoint_slope / (_middle * (1 - _middle)),
    "the same slope in log odds of accuracy: comparable between curves with other ceilings",
)


def accuracy_exponent_between(low: float, high: float, compute_ratio: float) -> float:
    """Exponent of the odds of accuracy that two points imply: change of ln(p/q) over change of ln C.

    >>> round(accuracy_exponent_between(0.33, 0.66, 100), 3), round(accuracy_exponent_between(0.2, 0.8, 100), 3)
    (0.298, 0.602)
    """
    logit = logit_equation(pass_rate=np.array([low, high]))
    return float((logit[1] - logit[0]) / np.log(compute_ratio))


# --- clocks for any group size and with a ceiling --------------------------------------------------------------------
LARGEST_GROUP = 10_000
NODES = 64


def group_clock(pass_rate, group_size):
    """Clock of advantages over the deviation of a finite group: integral of dp/(p q g), g = p q h_G(p), from 1/2.

    For pairs it is that of mean success exactly; for large groups it tends to that of "grpo".

    >>> round(float(group_clock(0.6, 2) - CLOCKS["mean_success"](pass_rate=0.6)), 9)
    0.0
    """
    from numpy.polynomial.legendre import leggauss
    from scipy.special import expit, logit

    from rlecon.special import implementations

    if np.any(np.asarray(group_size) > LARGEST_GROUP):
        raise RleconError(
            "the clock of a group sums over its outcomes",
            field="rollout.group_size",
            value=float(np.max(group_size)),
            unit="rollout",
            allowed=f"up to {LARGEST_GROUP:,} with a target",
        )
    x, w = leggauss(NODES)
    end = np.asarray(logit(np.asarray(pass_rate, float)))[..., None]
    p = expit(end * (1 + x) / 2)
    shape = p * (1 - p) * implementations()["group_weight"](p, np.asarray(group_size, float)[..., None])
    return np.sum(w * end / 2 / shape, axis=-1)[()]


def clock(objective: str, pass_rate, *, group_size=None, ceiling=1.0):
    """Clock of an objective at a pass rate; arrays broadcast.

    Parameters: ``objective`` one of mean_success, grpo, log, constant; ``group_size`` makes "grpo" that of finite
    groups; ``ceiling`` is the share of prompts that can be learned at all: the clock is then that of p/ceiling, the
    pass rate among those. Raises RleconError for pass rates outside (0, ceiling).

    >>> round(float(clock("log", 0.5) - clock("log", 0.3)), 3)
    1.419
    """
    if objective not in CLOCKS:
        raise RleconError("not an objective", field="target.objective", value=objective, allowed=", ".join(CLOCKS))
    share = np.asarray(pass_rate, float) / ceiling
    if np.any(~((share > 0) & (share < 1))):
        raise RleconError(
            "is never reached, or never left",
            field="pass_rate",
            value=f"{float(np.ravel(pass_rate)[np.argmin((np.ravel(share) > 0) & (np.ravel(share) < 1))]):g}",
            allowed=f"above 0 and below the ceiling of {ceiling:g}",
        )
    if objective == "grpo" and group_size is not None:
        return group_clock(share, group_size)
    return CLOCKS[objective](pass_rate=share)


def clock_slope(objective: str, pass_rate, *, group_size=None, ceiling=1.0):
    """Derivative of :func:`clock` with respect to the pass rate."""
    from rlecon.special import implementations

    share = np.asarray(pass_rate, float) / ceiling
    pq = share * (1 - share)
    if objective == "grpo" and group_size is not None:
        shape = pq * implementations()["group_weight"](share, group_size)
    else:
        shape = SHAPES[objective](pass_rate=share)
    return 1 / (pq * shape) / ceiling


# --- two starting points ---------------------------------------------------------------------------------------------
def steps_ratio(objective: str, weak, strong, target, *, group_size=None):
    """Steps to ``target`` from the pass rate ``weak`` over those from ``strong``, at the same drive; arrays broadcast.

    Raises RleconError for a target that is not above both starts.

    >>> [round(float(steps_ratio(k, 0.02, 0.3, 0.5)), 1) for k in ("mean_success", "grpo", "log")]
    [15.8, 7.9, 3.4]
    """
    if np.any(np.asarray(target) <= np.maximum(weak, strong)):
        raise RleconError("is not above both starts", field="target", value=target, allowed="above weak and strong")
    end, low, high = (clock(objective, x, group_size=group_size) for x in (target, weak, strong))
    return (end - low) / (end - high)


def start_readings(weak: float = 0.02, strong: float = 0.3, target: float = 0.5) -> list[float]:
    """What a stronger start saves, by purchase: a success, signal, bits, mixed groups of 16, steps by three objectives.

    >>> [round(x, 1) for x in start_readings()]
    [15.0, 10.7, 6.2, 3.6, 15.8, 7.9, 3.4]
    """
    from rlecon.hardness import readings

    found = {r.key: r.ratio for r in readings(weak, strong)}
    steps = [float(steps_ratio(k, weak, strong, target)) for k in ("mean_success", "grpo", "log")]
    return [found["success"], found["variance"], found["bits"], found["mixed_16"], *steps]

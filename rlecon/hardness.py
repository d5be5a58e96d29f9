"""Hardness: what a low pass rate costs, in each of the senses in which people say so.

A hard task can be dear because successes are rare, because groups are flat, because gradients are small, or because a
step must be shorter. These are different quantities with different ratios. Each reading is an equation; the table of
:func:`readings` evaluates all of them at two pass rates and names what each holds fixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy as sp

from rlecon import information
from rlecon import vocabulary as v
from rlecon.equation import Equation, Model
from rlecon.errors import RleconError
from rlecon.special import normal_quantile

_p, _G = v.pass_rate, v.group_size
_q = 1 - _p
_unit = v.logit_sensitivity**2 / v.score_dimension

# --- waits -----------------------------------------------------------------------------------------------------------
success_wait = Equation(v.rollouts_per_success, 1 / _p, "geometric wait", name="rollouts_per_success")
sure_wait = Equation(
    v.rollouts_to_sure_success,
    sp.log(1 - v.confidence) / sp.log(_q),
    "n with q^n = 1 - confidence",
    holds_when=[((_p > 0) & (_p < 1), "a pass rate of {pass_rate} waits for nothing or for ever")],
)
both_wait = Equation(
    v.rollouts_to_both,
    1 / _p + 1 / _q - 1,
    "either outcome first, then the wait for the other",
    holds_when=[((_p > 0) & (_p < 1), "at a pass rate of {pass_rate} only one outcome exists")],
    source="bay2026groupstd",
)
certify_wait = Equation(
    v.rollouts_to_certify,
    sp.log(1 - v.confidence) / sp.log(_p),
    "n straight passes with p^n = 1 - confidence",
    holds_when=[((_p > 0) & (_p < 1), "a pass rate of {pass_rate} cannot be certified by passes")],
)

# --- groups ----------------------------------------------------------------------------------------------------------
alike_mixed = Equation(
    v.mixed_group_share,
    1 - _p**_G - _q**_G,
    "chance that a group of one prompt holds both outcomes",
    source="bay2026groupstd",
    name="mixed_group_share_alike",
)
mixed_wait = Equation(
    v.rollouts_per_mixed_group,
    _G / v.mixed_group_share,
    "rollouts spent per group that teaches",
    holds_when=[(v.mixed_group_share > 0, "no group is mixed")],
)
signal_wait = Equation(
    v.rollouts_per_signal,
    _G / ((_G - 1) * _p * _q),
    "a leave-one-out baseline leaves G-1 of G comparisons, each worth p q",
    holds_when=[
        (_G > 1, "a group of one has nothing to compare with"),
        (_p * _q > 0, "no rollout differs from another"),
    ],
    source="zhou2026ustatistic",
)

# --- signal of one rollout -------------------------------------------------------------------------------------------
variance = Equation(v.prompt_variance, _p * _q, "reward 0 or 1")
sd = Equation(v.reward_sd, sp.sqrt(_p * _q), "reward 0 or 1")
odds = Equation(v.pass_odds, _p / _q, "odds", holds_when=[(_p < 1, "odds of certainty are infinite")])
snr_baseline = Equation(
    v.signal_to_noise,
    _p * _q * _unit,
    "(p q Delta)^2 over the variance p q of reward minus baseline",
    name="snr_baseline",
)
snr_zero_one = Equation(
    v.signal_to_noise,
    _p * _q**2 * _unit,
    "(p q Delta)^2 over E[r^2] = p: rewards 0 and 1, no baseline",
    name="snr_zero_one",
)
snr_plus_minus = Equation(
    v.signal_to_noise,
    4 * _p**2 * _q**2 * _unit,
    "(2 p q Delta)^2 over E[r^2] = 1: rewards -1 and 1, no baseline",
    name="snr_plus_minus",
)
threshold = Equation(
    v.threshold_information,
    sp.exp(-(normal_quantile(_p) ** 2)) / (2 * sp.pi * _p * _q),
    "slope phi(Phi^-1(p)) squared over p q: a normal skill must pass a threshold",
    holds_when=[((_p > 0) & (_p < 1), "no slope at a pass rate of {pass_rate}")],
    source="cohen1983dichotomization",
)

# --- one step of the best size, noise-limited ------------------------------------------------------------------------
_noisy = [
    (
        v.rollouts * _p * _q * _unit <= 1,
        "with {rollouts} rollouts a step is no longer limited by noise at a pass rate of {pass_rate}",
    )
]
gain = Equation(
    v.step_gain,
    v.rollouts * (_p * _q * v.logit_sensitivity) ** 4 / (2 * v.curvature * _p * _q * v.score_dimension),
    "n |grad|^4 / (2 curv noise) for the pass rate",
    holds_when=_noisy,
)
log_gain = Equation(
    v.log_step_gain,
    v.rollouts * (_q * v.logit_sensitivity) ** 4 / (2 * v.curvature * _q / _p * v.score_dimension),
    "n |grad|^4 / (2 curv noise) for the log pass rate: gradient and noise divided by p and p^2",
    holds_when=_noisy,
)
full_gain = Equation(
    v.step_gain,
    v.rollouts
    * (_p * _q * v.logit_sensitivity) ** 4
    / (2 * _p * _q * v.score_dimension)
    / (1 + v.rollouts * _p * _q * _unit * (1 + _p * _q * v.logit_sensitivity**2)),
    "the KL-limited step of any size: signal adds to noise along u, where Fisher information is 1 + p q Delta^2",
    name="step_gain_full",
)
kl_curvature = Equation(
    v.curvature,
    sp.Integer(1),
    "step limited by a KL penalty: Fisher information of the score, 1 per dimension",
    name="curvature_kl",
)
objective_curvature = Equation(
    v.curvature,
    _p * _q,
    "step limited by the objective: p q bounds |d2p/dlogit2| = p q |1 - 2p| and equals that of log p; charged to all d "
    "directions of the noise, an assumption (p bends along u alone) that cancels from ratios",
    name="curvature_objective",
)


@dataclass(frozen=True)
class Reading:
    """One sense of "harder": what is bought, and what it costs or yields at two pass rates.

    ``per`` is "wait" where the quantity counts rollouts and "yield" where it is worth per rollout; ``ratio`` is always
    rollouts needed at the hard pass rate over those at the easy one.
    """

    key: str
    title: str
    fixed: str
    per: str
    hard: float
    easy: float

    @property
    def ratio(self) -> float:
        return self.hard / self.easy if self.per == "wait" else self.easy / self.hard


_GROUP = [mixed_wait, alike_mixed]
_SNR = "signal-to-noise of the gradient"
_READINGS = (  # key, title, what is held fixed, wait or yield, equations (the output first), further values
    ("success", "first success", "number of right rollouts", "wait", [success_wait], {}),
    ("sure_success", "a success at 95 % certainty", "chance of at least one right rollout", "wait", [sure_wait],
     {"confidence": 0.95}),
    ("both", "both outcomes seen", "one contrast, stopping when it is there", "wait", [both_wait], {}),
    ("variance", "variance of the reward", f"{_SNR}, with baseline", "yield", [variance], {}),
    ("mixed_2", "mixed pair", "mixed groups of 2", "wait", _GROUP, {"group_size": 2}),
    ("mixed_8", "mixed group of 8", "mixed groups of 8", "wait", _GROUP, {"group_size": 8}),
    ("mixed_16", "mixed group of 16", "mixed groups of 16", "wait", _GROUP, {"group_size": 16}),
    ("bits", "entropy of the reward", "bits of reward", "yield", [information.entropy_equation], {}),
    ("sd", "standard deviation of the reward", "sum of advantages over their deviation", "yield", [sd], {}),
    ("snr_zero_one", "SNR without baseline, rewards 0 and 1", _SNR, "yield", [snr_zero_one], {}),
    ("snr_plus_minus", "SNR without baseline, rewards -1 and 1", _SNR, "yield", [snr_plus_minus], {}),
    ("odds", "odds", "relative precision of the measured pass rate", "yield", [odds], {}),
    ("threshold", "a normal skill and a threshold", "information about the skill", "yield", [threshold], {}),
    ("gain_kl", "gain of a KL-limited step", "gain in pass rate", "yield", [gain, kl_curvature], {}),
    ("gain_objective", "gain at curvature p q", "gain in pass rate", "yield", [gain, objective_curvature], {}),
    ("log_gain_kl", "log gain of a KL-limited step", "gain in log pass rate", "yield", [log_gain, kl_curvature], {}),
    ("log_gain_objective", "log gain at curvature p q", "gain in log pass rate", "yield",
     [log_gain, objective_curvature], {}),
)  # fmt: skip


def readings(hard: float = 0.05, easy: float = 0.5, *, logit_sensitivity: float = 1.0, score_dimension: float = 1e6):
    """Every reading of "a hard task costs more": rollouts at ``hard`` over rollouts at ``easy``.

    Parameters: two pass rates between 0 and 1; the score's sensitivity and dimension cancel from all ratios as long as
    steps stay limited by noise. Returns a list of :class:`Reading`. Raises RleconError for pass rates of 0 or 1.

    >>> {r.key: round(r.ratio, 2) for r in readings()}["variance"]
    5.26
    """
    for name, value in (("hard", hard), ("easy", easy)):
        if not 0 < value < 1:
            raise RleconError("needs both outcomes", field=name, value=value, allowed="above 0 and below 1")
    common = {"logit_sensitivity": logit_sensitivity, "score_dimension": score_dimension, "rollouts": 1.0}
    rows = []
    for key, title, fixed, per, equations, more in _READINGS:
        output = equations[0].left.name
        values = Model(equations).solve({"pass_rate": np.array([hard, easy]), **common, **more}, [output])[output]
        rows.append(Reading(key, title, fixed, per, *map(float, values)))
    return rows


def certify(pass_rate: float, confidence: float = 0.95) -> int:
    """Straight passes that show a pass rate above ``pass_rate`` with the given confidence (whole rollouts).

    >>> certify(0.99)
    299
    """
    return math.ceil(float(certify_wait(pass_rate=pass_rate, confidence=confidence)) - 1e-9)

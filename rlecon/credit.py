"""Credit and horizon: what a denser reward is worth, and what a long chain of decisions costs without one.

A finer scale for one score is worth little: pass or fail keeps most of what a normal score tells. A reward for each
step, given to that step, is worth about as many times as there are steps. Chains come in two kinds: those that go on
after a failed step, so that every step is scored, and those that stop at the first failure.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from rlecon import hardness
from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.errors import RleconError
from rlecon.information import binary_entropy
from rlecon.vocabulary import flops_per_parameter

_p, _rho, _T = v.pass_rate, v.step_success, v.turns
_q = 1 - _p

# --- resolution ------------------------------------------------------------------------------------------------------
dichotomisation_equation = Equation(
    v.dichotomisation_efficiency,
    hardness.threshold.right,
    "phi(Phi^-1(p))^2 / (p q): what pass or fail keeps of a normal score",
    holds_when=[((_p > 0) & (_p < 1), "nothing is kept at a pass rate of {pass_rate}")],
    source="cohen1983dichotomization",
)


def kept_by_levels(levels: int) -> float:
    """Share of a normal score's information kept by ``levels`` equally probable levels.

    Levels times the sum of squared differences of the normal density at the cuts. Source: Cohen (1983) for two levels.

    >>> [round(kept_by_levels(v), 3) for v in (2, 3, 4, 8)]
    [0.637, 0.793, 0.861, 0.945]
    """
    from scipy.special import ndtri

    if int(levels) != levels or levels < 1:
        raise RleconError("not a number of levels", field="levels", value=levels, allowed="whole numbers, at least 1")
    density = np.exp(-(ndtri(np.arange(levels + 1) / levels) ** 2) / 2) / np.sqrt(2 * np.pi)
    return float(levels * np.sum(np.diff(density) ** 2))


# --- a chain of decisions --------------------------------------------------------------------------------------------
horizon_equation = Equation(_p, _rho**_T, "every one of T steps must be right", name="horizon_pass_rate")
step_equation = Equation(_rho, _p ** (1 / _T), "steps alike", name="horizon_step_success")
own_equation = Equation(
    v.credit_gain,
    _rho * (1 - _rho**_T) / (_rho**_T * (1 - _rho)),
    "own-step rewards over one terminal reward; the chain goes on after a failure",
    name="credit_gain_going_on",
)
own_limit_equation = Equation(
    v.credit_gain,
    _T * _q / (_p * sp.log(1 / _p)),
    "the same for many steps at a fixed pass rate of the chain: linear in their number",
    holds_when=[((_p > 0) & (_p < 1), "no contrast at a pass rate of {pass_rate}")],
    name="credit_gain_going_on_limit",
)
_P = _rho**_T
own_stop_equation = Equation(
    v.credit_gain,
    _rho * (1 - _P) * (_T * (1 - 2 * _P) + _P * (1 - _P) / (1 - _rho)) / (_T**2 * _P * (1 - _rho) ** 2),
    "the same where the chain stops at the first failure; one parameter shared by all steps",
    name="credit_gain_stopping",
)
own_value_equation = Equation(
    v.credit_gain,
    _rho * (1 - _P) * (_T - _rho * (1 - _P) / (1 - _rho)) / (_T**2 * _P * (1 - _rho) ** 2),
    "stopping chain against a terminal reward with a perfect value baseline; shared parameter",
    name="credit_gain_stopping_value",
)
_reach_1 = (1 - _P) / (_T * (1 - _rho))  # mean over steps of the chance to reach them
_reach_2 = (1 - _P**2) / (_T * (1 - _rho**2))  # and of its square
own_each_equation = Equation(
    v.credit_gain,
    _rho / (_P * (1 - _rho)) * ((1 - 2 * _P) * _reach_1 + _P * _reach_2),
    "stopping chain, a parameter for each step, mean over steps",
    name="credit_gain_stopping_each",
)
summed_equation = Equation(
    v.credit_gain,
    _rho * (1 - _P) / (_T * _P * (1 - _rho)),
    "step rewards added into one return, no credit, over one terminal reward; going-on chain",
    name="credit_gain_summed",
)
value_each_equation = Equation(
    v.credit_gain,
    _rho / (_P * (1 - _rho)) * (_reach_1 - _P),
    "stopping chain, a parameter for each step, against a terminal reward with a perfect value baseline",
    name="credit_gain_stopping_value_each",
)


def chain_bits(turns: int, step_success: float):
    """Bits of a chain's step rewards and of their sum: T H(rho), and the entropy of a binomial.

    >>> [round(b, 2) for b in chain_bits(10, 0.5 ** 0.1)]
    [3.55, 1.54]
    """
    from scipy.stats import binom

    p = binom.pmf(np.arange(turns + 1), turns, step_success)
    p = p[p > 0]
    return float(turns * binary_entropy(step_success)), float(-np.sum(p * np.log2(p)))


# --- exploration and horizon -----------------------------------------------------------------------------------------
lock_equation = Equation(
    v.exploration_rollouts,
    v.actions**_T,
    "one way in a^T, no hint on the way",
    source="ladosz2022exploration",
    name="lock_rollouts",
)
shaped_equation = Equation(
    v.exploration_rollouts,
    v.actions * _T,
    "each right step is confirmed: a tries for each of T steps",
    name="shaped_lock_rollouts",
)
effective_equation = Equation(
    v.exploration_rollouts,
    _T**2 * v.actions**v.effective_horizon,
    "bound for greedy search over random play: exponential in the effective horizon only",
    source="laidlaw2023bridging",
    name="effective_horizon_rollouts",
)
exponent_equation = Equation(
    v.time_exponent,
    sp.log(v.long_tokens / v.short_tokens) / sp.log(v.long_seconds / v.short_seconds),
    "tokens follow human time to this power between two tasks",
    holds_when=[(sp.Ne(v.long_seconds, v.short_seconds), "two tasks of one length have no exponent")],
)
outcome_equation = Equation(
    v.decisions,
    _T / _rho**_T,
    "every try runs to its end",
    source="mousavi2026barrier",
    name="decisions_outcome",
)
early_equation = Equation(
    v.decisions,
    (1 - _rho**_T) / ((1 - _rho) * _rho**_T),
    "every try stops at its first failure",
    source="mousavi2026barrier",
    name="decisions_outcome_stopping",
)
process_equation = Equation(v.decisions, _T / _rho, "each right step is found and kept", name="decisions_process")
barrier_equation = Equation(
    v.decision_ratio, _rho ** (1 - _T), "tries run to their end, over process reward", name="decision_ratio"
)
early_barrier_equation = Equation(
    v.decision_ratio,
    (1 - _rho**_T) * _rho ** (1 - _T) / (_T * (1 - _rho)),
    "tries stop at their first failure, over process reward",
    name="decision_ratio_stopping",
)

# --- on-policy distillation ------------------------------------------------------------------------------------------
distillation_equation = Equation(
    v.distillation_flops_ratio,
    (1 + flops_per_parameter * v.teacher_parameters / v.rl_flops_per_token) / v.credit_gain,
    "the teacher reads every token once more; rollouts fall by the gain of dense credit",
    source="lu2025onpolicy",
)
teacher_equation = Equation(
    v.break_even_teacher_parameters,
    (v.credit_gain - 1) * v.rl_flops_per_token / flops_per_parameter,
    "the teacher whose reading eats the saving",
    holds_when=[(v.credit_gain >= 1, "a gain of {credit_gain} saves nothing")],
)

"""Bits: the entropy of a reward, a ceiling on what any method can learn from it."""

from __future__ import annotations

import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.special import digamma
from rlecon.vocabulary import one_bit

_p = v.pass_rate
entropy_equation = Equation(
    v.entropy_bits,
    sp.Piecewise(
        (0, (_p <= 0) | (_p >= 1)),
        (-one_bit * (_p * sp.log(_p) + (1 - _p) * sp.log(1 - _p)) / sp.log(2), True),
    ),
    "binary entropy: most bits that a right-or-wrong reward carries",
    source="shannon1948",
)
_m, _a, _b = v.mean_pass_rate, v.beta_successes, v.beta_failures
_mean_entropy = (digamma(_a + _b + 1) - _m * digamma(_a + 1) - (1 - _m) * digamma(_b + 1)) / sp.log(2)
bits_equation = Equation(
    v.bits_per_rollout,
    sp.Piecewise(
        (0, v.pass_variance <= 0),
        (-one_bit * (_m * sp.log(_m) + (1 - _m) * sp.log(1 - _m)) / sp.log(2), v.pass_rate_spread <= 0),
        (one_bit * _mean_entropy, True),
    ),
    "E[H(p)] over a Beta distribution of pass rates",
)
step_equation = Equation(v.bits_per_step, v.bits_per_rollout * v.rollouts, "bits offered by one step")
token_equation = Equation(v.bits_per_token, v.bits_per_rollout / v.response_tokens, "bits per generated token")

EQUATIONS = [bits_equation, step_equation, token_equation]


def binary_entropy(pass_rate):
    """Binary entropy in bits of a pass rate, or of an array of them.

    >>> round(float(binary_entropy(0.05)), 4)
    0.2864
    """
    return entropy_equation(pass_rate=pass_rate)[()]

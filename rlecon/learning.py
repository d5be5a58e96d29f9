"""Signal: pass rates and their spread over prompts, groups that teach, what a step of policy gradient receives."""

from __future__ import annotations

import sympy as sp

from rlecon import information
from rlecon import vocabulary as v
from rlecon.equation import Equation, Model, cases, compare, smallest
from rlecon.special import mean_flat_share

fail_rate_equation = Equation(v.fail_rate, 1 - v.pass_rate, "right or wrong")
pass_variance_equation = Equation(
    v.pass_variance,
    v.mean_pass_rate * (1 - v.mean_pass_rate) - v.pass_rate_spread**2,
    "E[p(1-p)] = pbar qbar - Var p: spread over prompts is variance that no rollout of a prompt sees",
    holds_when=[
        (
            compare(
                v.pass_rate_spread**2, "<=", v.mean_pass_rate * (1 - v.mean_pass_rate) * (1 + sp.Rational(1, 10**9))
            ),
            "a spread of {pass_rate_spread} is more than pass rates with mean {mean_pass_rate} can have",
        )
    ],
)
_precision = v.mean_pass_rate * (1 - v.mean_pass_rate) / v.pass_rate_spread**2 - 1
successes_equation = Equation(
    v.beta_successes, v.mean_pass_rate * _precision, "Beta distribution with the given mean and spread"
)
failures_equation = Equation(
    v.beta_failures, (1 - v.mean_pass_rate) * _precision, "Beta distribution with the given mean and spread"
)
_a, _b, _G = v.beta_successes, v.beta_failures, v.group_size
_plus, _minus = v.false_positive_rate, v.false_negative_rate
mixed_equation = Equation(
    v.mixed_group_share,
    cases(
        (1 - v.observed_pass_rate**_G - (1 - v.observed_pass_rate) ** _G, v.pass_rate_spread <= 0),
        (
            1 - v.mean_pass_rate * (1 - _minus) ** _G - v.mean_pass_rate * _minus**_G
            - (1 - v.mean_pass_rate) * (1 - _plus) ** _G - (1 - v.mean_pass_rate) * _plus**_G,
            v.pass_variance <= 0,
        ),
        (1 - mean_flat_share(_a, _b, _plus, _minus, _G), True),
    ),
    "a group teaches where its verdicts differ: 1 - E[p^G] - E[q^G] of the observed rates",
    source="bay2026groupstd",
)  # fmt: skip
# Dynamic sampling keeps mixed groups only, up to a full batch; else flat groups stay in the batch and teach nothing.
_kept = cases((smallest(v.oversampling, 1 / v.mixed_group_share), v.mixed_group_share > 0), (v.oversampling, True))
mixed_groups_equation = Equation(
    v.mixed_groups_per_step,
    v.prompts_per_step * v.mixed_group_share * (1 - v.dynamic_sampling + v.dynamic_sampling * _kept),
    "groups of one step that teach",
)
_seen_variance = v.observed_pass_rate * (1 - v.observed_pass_rate) - v.youden_index**2 * v.pass_rate_spread**2
signal_equation = Equation(
    v.signal_per_step,
    v.rollouts
    * cases((0, v.pass_variance <= 0), (v.youden_index**2 * v.pass_variance**2 / _seen_variance, True))
    * (v.group_size - 1)
    / v.group_size
    * (1 - v.dynamic_sampling + v.dynamic_sampling * _kept),
    "n E[pq] (G-1)/G; errors shrink the gradient by J and leave the variance of what is observed",
    holds_when=[
        (
            v.youden_index > 0,
            "a verifier with false positives {false_positive_rate} and false negatives {false_negative_rate} accepts "
            "wrong answers at least as often as right ones: its rewards teach nothing (they must add to less than 1)",
        )
    ],
    source="zhou2026ustatistic",
)

EQUATIONS = [
    information.youden_equation,
    pass_variance_equation,
    successes_equation,
    failures_equation,
    mixed_equation,
    mixed_groups_equation,
    signal_equation,
]

MIXED = Model(
    [information.observed_equation, pass_variance_equation, successes_equation, failures_equation, mixed_equation],
    "the share of mixed groups",
)

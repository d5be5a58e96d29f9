"""Signal: pass rates and their spread over prompts, groups that teach, what a step of policy gradient receives."""

from __future__ import annotations

import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.special import log_gamma

fail_rate_equation = Equation(v.fail_rate, 1 - v.pass_rate, "right or wrong")
pass_variance_equation = Equation(
    v.pass_variance,
    v.mean_pass_rate * (1 - v.mean_pass_rate) - v.pass_rate_spread**2,
    "E[p(1-p)] = pbar qbar - Var p: spread over prompts is variance that no rollout of a prompt sees",
    holds_when=[
        (
            v.pass_rate_spread**2 <= v.mean_pass_rate * (1 - v.mean_pass_rate),
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
_flat = sp.exp(log_gamma(_a + _G) - log_gamma(_a) + log_gamma(_a + _b) - log_gamma(_a + _b + _G)) + sp.exp(
    log_gamma(_b + _G) - log_gamma(_b) + log_gamma(_a + _b) - log_gamma(_a + _b + _G)
)
mixed_equation = Equation(
    v.mixed_group_share,
    sp.Piecewise(
        (1 - v.mean_pass_rate**_G - (1 - v.mean_pass_rate) ** _G, v.pass_rate_spread <= 0),
        (sp.Piecewise((0, v.pass_variance <= 0), (1 - _flat, True)), True),
    ),
    "a group teaches where it holds both outcomes: 1 - E[p^G] - E[q^G]",
    source="bay2026groupstd",
)
# Dynamic sampling keeps mixed groups only, up to a full batch; else flat groups stay in the batch and teach nothing.
_kept = sp.Piecewise((sp.Min(v.oversampling, 1 / v.mixed_group_share), v.mixed_group_share > 0), (v.oversampling, True))
mixed_groups_equation = Equation(
    v.mixed_groups_per_step,
    v.prompts_per_step * v.mixed_group_share * (1 - v.dynamic_sampling + v.dynamic_sampling * _kept),
    "groups of one step that teach",
)
signal_equation = Equation(
    v.signal_per_step,
    v.rollouts
    * v.pass_variance
    * (v.group_size - 1)
    / v.group_size
    * (1 - v.dynamic_sampling + v.dynamic_sampling * _kept),
    "n E[pq] (G-1)/G: the leave-one-out baseline leaves G-1 of G comparisons",
    source="zhou2026ustatistic",
)

EQUATIONS = [
    pass_variance_equation,
    successes_equation,
    failures_equation,
    mixed_equation,
    mixed_groups_equation,
    signal_equation,
]

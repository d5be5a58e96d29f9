"""Signal of a step: everything is a mean over prompts whose pass rates follow a Beta distribution."""

from __future__ import annotations

import math

from tests.reference.core import mixed, over_beta, refuse_unless


def beta(mean, spread):
    """Parameters of the Beta distribution with this mean and standard deviation."""
    size = mean * (1 - mean) / spread**2 - 1
    return mean * size, (1 - mean) * size


def over_prompts(function, mean, spread):
    """Mean over prompts: one pass rate, a Beta of them, or only hopeless and certain prompts."""
    if spread == 0:
        return function(mean)
    if mean * (1 - mean) - spread**2 <= 0:
        return mean * function(1.0) + (1 - mean) * function(0.0)
    return over_beta(function, *beta(mean, spread))


def pass_variance(mean_pass_rate, pass_rate_spread):
    """E[p] - E[p^2], from the definition of a variance."""
    refuse_unless(pass_rate_spread**2 <= mean_pass_rate * (1 - mean_pass_rate) * (1 + 1e-9))
    return mean_pass_rate - (pass_rate_spread**2 + mean_pass_rate**2)


def _beta_or_point(mean, spread, which):
    return math.inf if spread == 0 else beta(mean, spread)[which]


def mixed_group_share(mean_pass_rate, pass_rate_spread, false_positive_rate, false_negative_rate, group_size):
    def verdict(p):
        return p * (1 - false_negative_rate) + (1 - p) * false_positive_rate

    return over_prompts(lambda p: mixed(int(group_size), verdict(p)), mean_pass_rate, pass_rate_spread)


def kept(dynamic_sampling, mixed_group_share, oversampling):
    """Groups in the batch that teach, over those that a plain batch would hold."""
    if not dynamic_sampling:
        return 1.0
    return min(oversampling * mixed_group_share, 1.0) / mixed_group_share if mixed_group_share else oversampling


def mixed_groups_per_step(prompts_per_step, mixed_group_share, dynamic_sampling, oversampling):
    return prompts_per_step * mixed_group_share * kept(dynamic_sampling, mixed_group_share, oversampling)


def signal_per_step(
    rollouts,
    group_size,
    mean_pass_rate,
    pass_rate_spread,
    false_positive_rate,
    false_negative_rate,
    mixed_group_share,
    dynamic_sampling,
    oversampling,
):
    """Squared mean gradient over the variance of what is observed, both as means over prompts."""
    contrast = (1 - false_negative_rate) - false_positive_rate
    refuse_unless(contrast > 0)

    def accepted(p):
        return p * (1 - false_negative_rate) + (1 - p) * false_positive_rate

    slope = contrast * over_prompts(lambda p: p * (1 - p), mean_pass_rate, pass_rate_spread)
    noise = over_prompts(lambda p: accepted(p) * (1 - accepted(p)), mean_pass_rate, pass_rate_spread)
    one = slope**2 / noise if slope > 0 else 0.0
    return rollouts * one * (1 - 1 / group_size) * kept(dynamic_sampling, mixed_group_share, oversampling)


REFERENCE = {
    "fail_rate": lambda pass_rate: 1 - pass_rate,
    "pass_variance": pass_variance,
    "beta_successes": lambda mean_pass_rate, pass_rate_spread: _beta_or_point(mean_pass_rate, pass_rate_spread, 0),
    "beta_failures": lambda mean_pass_rate, pass_rate_spread: _beta_or_point(mean_pass_rate, pass_rate_spread, 1),
    "mixed_group_share": mixed_group_share,
    "mixed_groups_per_step": mixed_groups_per_step,
    "signal_per_step": signal_per_step,
}

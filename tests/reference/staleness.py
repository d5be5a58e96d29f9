"""Importance weights: lognormal with mean one, as integrals over the normal that is their logarithm."""

from __future__ import annotations

import math

from tests.reference.core import integral, normal


def _mean(function, sd):
    """Mean of a function of a lognormal weight of mean one."""
    def density(z):
        return function(math.exp(sd * z - sd**2 / 2)) * normal.pdf(z)

    return integral(density, -12, -3, 0, 3, 6, 14)


def effective_share(sd):
    return 1 / _mean(lambda w: w**2, sd)


def truncation_bias(importance_cap, weight_log_sd):
    """E[(iw - cap)+], split where it begins."""
    s = weight_log_sd
    begin = math.log(importance_cap) / s + s / 2

    def above(z):
        return (math.exp(s * z - s**2 / 2) - importance_cap) * normal.pdf(z)

    return integral(above, begin, begin + 3, begin + 30)


REFERENCE = {
    "ess_token": lambda log_ratio_sd: effective_share(log_ratio_sd),
    "ess_sequence": lambda log_ratio_sd, ratio_tokens: effective_share(log_ratio_sd * math.sqrt(ratio_tokens)),
    "ess_normalized": lambda log_ratio_sd, ratio_tokens: effective_share(
        log_ratio_sd * ratio_tokens / (ratio_tokens * math.sqrt(ratio_tokens))
    ),
    "truncation_bias": truncation_bias,
}

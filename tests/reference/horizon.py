"""Trends carried forward: growth compounded as a continuous rate."""

from __future__ import annotations

import math

from tests.reference.core import refuse_unless


def even_halving_days(doubling_days, time_exponent):
    """Halving time whose rate of fall is the rate at which tokens grow."""
    refuse_unless(time_exponent > 0)
    growth = time_exponent * math.log(2) / doubling_days
    return math.log(2) / growth


REFERENCE = {
    "horizon_ratio": lambda elapsed_days, doubling_days: math.exp(math.log(2) * elapsed_days / doubling_days),
    "token_price_ratio": lambda elapsed_days, price_halving_days: math.exp(
        -math.log(2) * elapsed_days / price_halving_days
    ),
    "bits_per_usd_in_time": lambda reward_bits_ratio, token_price_ratio, horizon_ratio, time_exponent: (
        reward_bits_ratio / token_price_ratio * math.exp(-time_exponent * math.log(horizon_ratio))
    ),
    "even_halving_days": even_halving_days,
}

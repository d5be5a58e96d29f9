"""Horizon: longer tasks carried forward in time, and what they do to the bits that a dollar of training buys.

Two clocks run against each other. The length of task that models manage doubles, and tokens follow it to a power; the
price of a token halves. Where they balance, bits per dollar stay as they are. A trend is a fit to the past: carry it
forward with the range of its fits, and say so.
"""

from __future__ import annotations

from rlecon import vocabulary as v
from rlecon.equation import Equation

horizon_equation = Equation(
    v.horizon_ratio,
    2 ** (v.elapsed_days / v.doubling_days),
    "length of task doubles at an even pace",
    source="kwa2025metr",
)
price_equation = Equation(
    v.token_price_ratio,
    2 ** (-v.elapsed_days / v.price_halving_days),
    "price of a token halves at an even pace",
    source="epoch2025prices",
)
bits_equation = Equation(
    v.bits_per_usd_ratio,
    v.reward_bits_ratio / (v.token_price_ratio * v.horizon_ratio**v.time_exponent),
    "bits of a trajectory over its tokens and their price; tokens follow task length to a power",
    name="bits_per_usd_in_time",
)
even_equation = Equation(
    v.even_halving_days,
    v.doubling_days / v.time_exponent,
    "tokens of a trajectory grow as fast as their price falls",
    holds_when=[(v.time_exponent > 0, "tokens that do not grow with task length need no cheaper tokens")],
)

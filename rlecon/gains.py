"""What one engine gains from fewer bytes and from drafted tokens, in one decode step; what a newer GPU changes.

Limits and shares, for thinking. The bill prices the same changes through every term of `rlecon.generation`.
"""

from __future__ import annotations

import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.vocabulary import one_token

_ROUNDING = sp.Rational(1, 10**9)  # shares that add to one may pass it by a last digit
_drafts = v.speculative_drafts / one_token
memory_equation = Equation(
    v.speculation_gain,
    v.tokens_per_verification / one_token / (1 + v.draft_cost_share * _drafts),
    "while bytes and latency bind, a verification costs what one token did; only the drafts come on top",
    source="leviathan2023fast",
    name="speculation_gain_memory",
)
compute_equation = Equation(
    v.speculation_gain,
    v.tokens_per_verification / v.verified_tokens,
    "where arithmetic binds, every verified token is paid, and the rejected ones are waste",
    source="leviathan2023fast",
    name="speculation_gain_compute",
)
precision_equation = Equation(
    v.precision_gain,
    1
    / (
        1
        - v.weight_time_share * (1 - v.weight_bits_ratio)
        - v.kv_time_share * (1 - v.kv_bits_ratio)
        - v.compute_time_share * (1 - v.compute_time_ratio)
    ),
    "Amdahl's law on the parts of a decode step: latency and host work keep their time",
    holds_when=[
        (
            v.weight_time_share + v.kv_time_share + v.compute_time_share <= 1 + _ROUNDING,
            "shares of one step cannot exceed it: {weight_time_share} + {kv_time_share} + {compute_time_share}",
        )
    ],
    source="amdahl1967",
)
hardware_equation = Equation(
    v.usd_ratio,
    v.rent_ratio
    * (
        v.bandwidth_time_share / v.bandwidth_ratio
        + v.flops_time_share / v.flops_ratio
        + (1 - v.bandwidth_time_share - v.flops_time_share)
    ),
    "each part of the time shrinks with what binds it, the rest not at all; all of it is paid at the new rent",
    holds_when=[
        (
            v.bandwidth_time_share + v.flops_time_share <= 1 + _ROUNDING,
            "shares of one time cannot exceed it: {bandwidth_time_share} + {flops_time_share}",
        )
    ],
)

"""Fewer bits and drafted tokens: old time over new time; and what an adapter can hold."""

from __future__ import annotations

from tests.reference.core import refuse_unless


def precision_gain(
    weight_time_share, kv_time_share, compute_time_share, weight_bits_ratio, kv_bits_ratio, compute_time_ratio
):
    rest = 1 - (weight_time_share + kv_time_share + compute_time_share)
    refuse_unless(rest >= 0)
    new = rest + weight_time_share * weight_bits_ratio + kv_time_share * kv_bits_ratio
    return 1 / (new + compute_time_share * compute_time_ratio)


REFERENCE = {
    "precision_gain": precision_gain,
    "speculation_gain_compute": lambda tokens_per_verification, verified_tokens: (
        tokens_per_verification / verified_tokens
    ),
    "speculation_gain_memory": lambda tokens_per_verification, draft_cost_share, speculative_drafts: (
        tokens_per_verification / (1 + speculative_drafts * draft_cost_share)
    ),
    "capacity_ratio": lambda adapter_parameters, bits_per_parameter, supplied_bits: (
        adapter_parameters * bits_per_parameter / supplied_bits
    ),
}

"""Fewer bits and drafted tokens: old time over new time; what an adapter can hold, and tenants of one base."""

from __future__ import annotations

from tests.reference.core import BITS_PER_BYTE, refuse_unless


def precision_gain(
    weight_time_share, kv_time_share, compute_time_share, weight_bits_ratio, kv_bits_ratio, compute_time_ratio
):
    rest = 1 - (weight_time_share + kv_time_share + compute_time_share)
    refuse_unless(rest >= 0)
    new = rest + weight_time_share * weight_bits_ratio + kv_time_share * kv_bits_ratio
    return 1 / (new + compute_time_share * compute_time_ratio)


def held_adapter_bytes(tenants, active_tenants, adapter_bytes, full_training):
    refuse_unless(tenants <= 1 or not full_training)
    return active_tenants * adapter_bytes if tenants > 1 else 0.0


def sharing_gain(base_weight_bytes, tenant_sequences, kv_bytes_per_sequence, active_tenants, adapter_bytes):
    """Bytes per tenant: alone, the base with the adapter merged in; shared, all of one step over its tenants."""
    caches = tenant_sequences * kv_bytes_per_sequence
    together = base_weight_bytes + active_tenants * (caches + adapter_bytes)
    return (base_weight_bytes + caches) / (together / active_tenants)


def usd_ratio(rent_ratio, bandwidth_time_share, flops_time_share, bandwidth_ratio, flops_ratio):
    rest = 1 - (bandwidth_time_share + flops_time_share)
    refuse_unless(rest >= 0)
    hours = rest + bandwidth_time_share / bandwidth_ratio + flops_time_share / flops_ratio
    return hours * rent_ratio


REFERENCE = {
    "usd_ratio": usd_ratio,
    "precision_gain": precision_gain,
    "speculation_gain_compute": lambda tokens_per_verification, verified_tokens: (
        tokens_per_verification / verified_tokens
    ),
    "speculation_gain_memory": lambda tokens_per_verification, draft_cost_share, speculative_drafts: (
        tokens_per_verification / (1 + speculative_drafts * draft_cost_share)
    ),
    "adapter_bytes": lambda trainable_parameters, activation_bits: (
        trainable_parameters * (activation_bits / BITS_PER_BYTE)
    ),
    "held_adapter_bytes": held_adapter_bytes,
    "sharing_gain": sharing_gain,
    "sharing_limit": lambda base_weight_bytes, tenant_sequences, kv_bytes_per_sequence: (
        (base_weight_bytes + tenant_sequences * kv_bytes_per_sequence) / (tenant_sequences * kv_bytes_per_sequence)
    ),
    "most_tenants": lambda tenant_room_bytes, tenant_sequences, kv_bytes_per_sequence, adapter_bytes: (
        tenant_room_bytes / (adapter_bytes + tenant_sequences * kv_bytes_per_sequence)
    ),
    "pooling_gain": lambda tenants, active_tenants: tenants / active_tenants,
    "lora_flops_ratio": lambda matmul_flops_per_token, causal_attention_flops_per_token: (
        1 - matmul_flops_per_token / (3 * (matmul_flops_per_token + causal_attention_flops_per_token))
    ),
    "capacity_ratio": lambda adapter_parameters, bits_per_parameter, supplied_bits: (
        adapter_parameters * bits_per_parameter / supplied_bits
    ),
}

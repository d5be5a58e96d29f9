"""From a run file to what the equations take."""

from __future__ import annotations

import math

from tests.reference.core import BITS_PER_BYTE, refuse_unless


def rollout_pool_gpus(rollout_gpus, judge_gpus, gpus):
    refuse_unless(rollout_gpus + judge_gpus < gpus)
    return rollout_gpus or gpus - judge_gpus


def concurrent_streams(shared_pool, one_step_overlap, full_overlap):
    refuse_unless(not (one_step_overlap and shared_pool))
    return float(not shared_pool and bool(one_step_overlap or full_overlap))


def engine_memory_share(requested_memory_share, shared_pool, colocated_memory_share, separate_memory_share):
    return requested_memory_share or (colocated_memory_share if shared_pool else separate_memory_share)


def loaded_weight_bytes(
    trunk_parameters, router_parameters, expert_parameters, total_parameters, weight_bits, activation_bits
):
    quantised = trunk_parameters - router_parameters + expert_parameters
    return (quantised * weight_bits + (total_parameters - quantised) * activation_bits) / BITS_PER_BYTE


def mean_sequence_bytes(
    prompt_tokens,
    response_tokens,
    kv_elements_per_token,
    window_kv_elements_per_token,
    window_tokens,
    kv_bits,
    state_bytes,
):
    length = prompt_tokens + response_tokens
    numbers = kv_elements_per_token * length + window_kv_elements_per_token * min(length, window_tokens)
    return numbers * kv_bits / BITS_PER_BYTE + state_bytes


def tensor_parallel(
    requested_tensor_parallel,
    rollout_pool_gpus,
    engine_memory_share,
    memory_bytes,
    reserved_bytes,
    loaded_weight_bytes,
    kv_shards_max,
    mean_sequence_bytes,
):
    """The smallest power of two whose GPUs hold the weights and eight sequences."""
    if requested_tensor_parallel:
        return requested_tensor_parallel
    size = 1
    while size <= min(rollout_pool_gpus, 1024):
        room = engine_memory_share * memory_bytes - reserved_bytes - loaded_weight_bytes / size
        if room > 0 and min(size, kv_shards_max) * room >= 8 * mean_sequence_bytes:
            return size
        size *= 2
    return refuse_unless(False)


def trainable_parameters(total_parameters, lora_rank, lora_parameters_per_rank, group_relative, group_size):
    refuse_unless(not group_relative or group_size > 1)
    return lora_rank * lora_parameters_per_rank if lora_rank else total_parameters


REFERENCE = {
    "shared_pool": lambda rollout_gpus: 0.0 if rollout_gpus else 1.0,
    "rollout_pool_gpus": rollout_pool_gpus,
    "training_pool_gpus": lambda rollout_gpus, judge_gpus, gpus: gpus - (rollout_gpus + judge_gpus),
    "concurrent_streams": concurrent_streams,
    "continuous_generation": lambda full_overlap, partial_rollouts: float(bool(full_overlap or partial_rollouts)),
    "colocation_factor": lambda shared_pool, shared_pool_factor: shared_pool_factor if shared_pool else 1.0,
    "engine_memory_share": engine_memory_share,
    "speculative_drafts": lambda requested_drafts, speculative_acceptance: (
        requested_drafts if speculative_acceptance else 0.0
    ),
    "loaded_weight_bytes": loaded_weight_bytes,
    "mean_sequence_bytes": mean_sequence_bytes,
    "tensor_parallel": tensor_parallel,
    "full_training": lambda lora_rank: 0.0 if lora_rank else 1.0,
    "trainable_parameters": trainable_parameters,
    "microbatch_tokens": lambda max_response_tokens, response_tokens: (
        max_response_tokens if math.isfinite(max_response_tokens) else 2 * response_tokens
    ),
    "model_parallel": lambda training_tensor_parallel, training_pipeline_parallel: (
        training_tensor_parallel * training_pipeline_parallel
    ),
}

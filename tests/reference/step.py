"""One step: two streams, in turn or side by side."""

from __future__ import annotations

from tests.reference.core import BITS_PER_BYTE, SECONDS_PER_HOUR, refuse_unless


def rollout_seconds(
    measured_tokens_per_second_per_gpu,
    active_tenants,
    generated_tokens_per_step,
    rollout_pool_gpus,
    continuous_generation,
    continuous_generation_seconds,
    batch_generation_seconds,
):
    if measured_tokens_per_second_per_gpu:
        tokens = active_tenants * generated_tokens_per_step
        return tokens / rollout_pool_gpus / measured_tokens_per_second_per_gpu
    return continuous_generation_seconds if continuous_generation else batch_generation_seconds


def weight_sync_seconds(
    shared_pool,
    concurrent_streams,
    overlapped_sync_share,
    total_parameters,
    activation_bits,
    weight_sync_bytes_per_second,
    tenants,
    active_tenants,
    trainable_parameters,
):
    """Once to the engines; one pool also moves its trainer back in; two streams leave a share of the first exposed.

    Of tenants only the adapters travel.
    """
    per_parameter = (activation_bits / BITS_PER_BYTE) / weight_sync_bytes_per_second
    once = total_parameters * per_parameter
    sent = active_tenants * trainable_parameters * per_parameter if tenants > 1 else once
    exposed = overlapped_sync_share if concurrent_streams else 1.0
    return sent * exposed + (once if shared_pool else 0.0)


def step_seconds(
    generation_stream_seconds,
    training_stream_seconds,
    concurrent_streams,
    weight_sync_seconds,
    overhead_seconds,
    evaluation_seconds_per_step,
    active_tenants,
):
    streams = generation_stream_seconds, training_stream_seconds
    phases = max(streams) if concurrent_streams else sum(streams)
    return phases + weight_sync_seconds + overhead_seconds + evaluation_seconds_per_step * active_tenants


def idle_seconds(
    active_tenants,
    shared_pool,
    step_seconds,
    weight_sync_seconds,
    overhead_seconds,
    evaluation_seconds_per_step,
    generation_stream_seconds,
    training_stream_seconds,
    rollout_pool_gpus,
    training_pool_gpus,
    judge_seconds,
    judge_gpus,
    gpus,
):
    """Every GPU of two pools could work while the phases last."""
    if shared_pool:
        return 0.0
    phases = step_seconds - (weight_sync_seconds + overhead_seconds + active_tenants * evaluation_seconds_per_step)
    worked = generation_stream_seconds * rollout_pool_gpus + training_stream_seconds * training_pool_gpus
    worked += judge_seconds * judge_gpus
    return (phases * gpus - worked) / gpus


def rollout_share_by_utilisation(decode_mfu, train_mfu, scoring_passes, backward_passes):
    writing, learning = 1 / decode_mfu, (scoring_passes + backward_passes) / train_mfu
    return writing / (writing + learning)


def environment_seconds(
    continuous_generation,
    environment_seconds_per_turn,
    turns,
    refill_tokens,
    drain_tokens,
    response_tokens,
):
    """What the slowest chain of a batch waits: whole trajectories while the queue lasts, then a long one."""
    if continuous_generation:
        return 0.0
    before = refill_tokens / response_tokens  # trajectories that the chain has finished
    last = 1 + (turns - 1) * (drain_tokens / response_tokens)  # its last one has turns in proportion to its tokens
    return (before * turns + last) * environment_seconds_per_turn


def container_seconds_per_rollout(
    continuous_generation,
    rollout_seconds,
    resident_sequences,
    sequences_per_engine,
    decode_seconds_per_sequence,
    batch_generation_seconds,
    environment_seconds_per_rollout,
):
    """A trajectory's life: residents over the rate at which they end, or its decoding and its waits."""
    if continuous_generation:
        rate = sequences_per_engine / rollout_seconds
        return resident_sequences / rate
    stretched = rollout_seconds / batch_generation_seconds
    return decode_seconds_per_sequence * stretched + environment_seconds_per_rollout


def environment_cpu_seconds(
    started_rollouts, environment_cpus, container_seconds_per_rollout, environment_seconds_per_rollout
):
    """Every trajectory holds its processors for its life, where it has an environment at all."""
    if not environment_seconds_per_rollout:
        return 0.0
    return container_seconds_per_rollout * environment_cpus * started_rollouts


def judge_pool_gpus(judge_gpus, judge_active_parameters, rollout_pool_gpus):
    refuse_unless(judge_active_parameters > 0 or not judge_gpus)
    return judge_gpus or rollout_pool_gpus


def judge_flops_per_token(judge_active_parameters, judge_attention_flops, trajectory_tokens):
    """A multiply and an add per parameter; the token in the middle looks back at half of the trajectory."""
    return 2 * judge_active_parameters + judge_attention_flops * (trajectory_tokens / 2)


def judge_seconds(
    active_tenants,
    started_rollouts,
    trajectory_tokens,
    judge_flops_per_token,
    compute_efficiency,
    bf16_flops_per_second,
    judge_response_tokens,
    judge_tokens_per_second_per_gpu,
    judge_pool_gpus,
    judge_weight_bytes,
    memory_bytes,
):
    refuse_unless(judge_weight_bytes <= judge_pool_gpus * memory_bytes)
    judged = active_tenants * started_rollouts
    read = judged * trajectory_tokens * judge_flops_per_token
    written = judged * judge_response_tokens
    gpu_seconds = read / (bf16_flops_per_second * compute_efficiency) + written / judge_tokens_per_second_per_gpu
    return gpu_seconds / judge_pool_gpus


def generation_stream_seconds(rollout_seconds, environment_seconds, judge_seconds, judge_gpus):
    writing = rollout_seconds + environment_seconds
    return max(writing, judge_seconds) if judge_gpus else writing + judge_seconds


REFERENCE = {
    "rollout_seconds": rollout_seconds,
    "environment_seconds": environment_seconds,
    "judge_pool_gpus": judge_pool_gpus,
    "judge_flops_per_token": judge_flops_per_token,
    "judge_seconds": judge_seconds,
    "reward_seconds": lambda judge_seconds, overhead_seconds: judge_seconds + overhead_seconds,
    "generation_stream_seconds": generation_stream_seconds,
    "training_stream_seconds": lambda old_logprobs_seconds, reference_seconds, update_seconds: (
        old_logprobs_seconds + reference_seconds + update_seconds
    ),
    "weight_sync_seconds": weight_sync_seconds,
    "overhead_seconds": lambda step_overhead_seconds, concurrent_streams, overlapped_overhead_share, active_tenants: (
        active_tenants * step_overhead_seconds * (overlapped_overhead_share if concurrent_streams else 1.0)
    ),
    "step_seconds": step_seconds,
    "idle_seconds": idle_seconds,
    "rollout_share": lambda rollout_seconds, step_seconds: min(1.0, rollout_seconds / step_seconds),
    "rollout_share_by_utilisation": rollout_share_by_utilisation,
    "container_seconds_per_rollout": container_seconds_per_rollout,
    "environment_cpu_seconds": environment_cpu_seconds,
    "overlap_gain": lambda rollout_share: (
        (rollout_share + (1 - rollout_share)) / max(rollout_share, 1 - rollout_share)
    ),
    "containers": lambda engines, resident_sequences: engines * resident_sequences,
    "container_use": lambda environment_seconds_per_rollout, container_seconds_per_rollout: (
        environment_seconds_per_rollout / container_seconds_per_rollout
    ),
    "environment_usd_per_rollout": lambda environment_cpus, container_seconds_per_rollout, usd_per_cpu_hour: (
        environment_cpus * usd_per_cpu_hour * container_seconds_per_rollout / SECONDS_PER_HOUR
    ),
}

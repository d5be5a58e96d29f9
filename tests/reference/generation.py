"""One inference engine: what it reads, computes and holds."""

from __future__ import annotations

import math

from tests.reference.core import BITS_PER_BYTE, FLOPS_PER_PARAMETER, integral, normal, refuse_unless, root
from tests.reference.trajectory import longest, with_loops


def tokens_per_verification(speculative_acceptance, speculative_drafts):
    """The verifier's own token, and draft i if all before it were accepted."""
    return sum(speculative_acceptance**i for i in range(int(speculative_drafts) + 1))


def bits_to_bytes(*pairs):
    return sum(number * (bits / BITS_PER_BYTE) for number, bits in pairs)


def engine_weight_bytes(
    dense_weight_bytes,
    expert_weight_bytes,
    total_parameters,
    trunk_parameters,
    head_parameters,
    expert_parameters,
    head_bits,
):
    rest = total_parameters - (trunk_parameters + head_parameters + expert_parameters)
    return dense_weight_bytes + expert_weight_bytes + bits_to_bytes((rest, head_bits))


def experts_touched_share(experts_per_token, experts, decoding_sequences, verified_tokens):
    """An expert is left alone where every token of the batch chose others."""
    refuse_unless(experts_per_token <= experts)
    tokens = decoding_sequences * verified_tokens
    missed = (experts - experts_per_token) / experts
    return 1 - (math.exp(tokens * math.log(missed)) if missed else 0.0)


def kv_bytes(kv_bytes_per_token, window_kv_bytes_per_token, window_tokens, state_bytes, context):
    return kv_bytes_per_token * context + window_kv_bytes_per_token * min(context, window_tokens) + state_bytes


def resident_limit(max_sequences_per_engine, kv_shards, kv_room_bytes, kv_bytes_at_peak):
    most = min(max_sequences_per_engine, kv_room_bytes * kv_shards / kv_bytes_at_peak)
    refuse_unless(most >= 1)
    return most


def hop_seconds(collective_seconds, engine_nodes, cross_node_factor):
    if engine_nodes <= 1:
        return collective_seconds
    return max(collective_seconds, collective_seconds * cross_node_factor * math.log2(engine_nodes))


def fixed_step_seconds(layers, latency_per_layer_seconds, hop_seconds, tensor_parallel):
    collectives = 0 if tensor_parallel == 1 else 2
    return layers * latency_per_layer_seconds + layers * collectives * hop_seconds


def expert_compute(
    expert_parameters,
    experts_per_token,
    experts,
    verified_tokens,
    tensor_parallel,
    compute_efficiency,
    expert_efficiency,
    rollout_flops_per_second,
):
    chosen = expert_parameters * (experts_per_token / experts)
    rate = tensor_parallel * rollout_flops_per_second * compute_efficiency * expert_efficiency
    return FLOPS_PER_PARAMETER * chosen * verified_tokens / rate


def attention_seconds(
    kv_bytes_per_sequence,
    kv_shards,
    kv_read_efficiency,
    memory_bytes_per_second,
    attention_flops_per_context_token,
    window_attention_flops_per_context_token,
    context_tokens,
    window_tokens,
    verified_tokens,
    tensor_parallel,
    compute_efficiency,
    bf16_flops_per_second,
):
    reading = kv_bytes_per_sequence / (memory_bytes_per_second * kv_read_efficiency) / kv_shards
    flops = attention_flops_per_context_token * context_tokens
    flops += window_attention_flops_per_context_token * min(context_tokens, window_tokens)
    computing = flops * verified_tokens / (bf16_flops_per_second * compute_efficiency) / tensor_parallel
    return max(reading, computing)


def link_seconds(
    layers,
    hidden,
    activation_bits,
    verified_tokens,
    tensor_parallel,
    link_efficiency,
    link_bytes_per_second,
):
    """A ring all-reduce sends 2 (n-1)/n of its volume; there are two in a layer."""
    volume = hidden * verified_tokens * activation_bits / BITS_PER_BYTE
    ring = 2 * (tensor_parallel - 1) / tensor_parallel * volume
    return 2 * layers * ring / (link_bytes_per_second * link_efficiency)


def prefill_seconds(
    turns,
    request_seconds,
    prefill_tokens,
    active_parameters_matmul,
    rollout_flops_per_second,
    attention_flops_per_context_token_training,
    prompt_tokens,
    bf16_flops_per_second,
    tensor_parallel,
    compute_efficiency,
):
    matrices = FLOPS_PER_PARAMETER * active_parameters_matmul / rollout_flops_per_second
    attention = attention_flops_per_context_token_training * (prompt_tokens / 2) / bf16_flops_per_second
    engine = tensor_parallel * compute_efficiency
    return turns * request_seconds + prefill_tokens * (matrices + attention) / engine


def sequences_per_engine(started_rollouts, engines, active_tenants):
    return started_rollouts * active_tenants / engines


def engines(rollout_pool_gpus, tensor_parallel):
    refuse_unless(tensor_parallel <= rollout_pool_gpus)
    return rollout_pool_gpus / tensor_parallel


def resident_sequences(resident_limit, sequences_per_engine, continuous_generation, staleness_steps):
    ahead = staleness_steps if continuous_generation else 0
    return max(1.0, min(resident_limit, sequences_per_engine + ahead * sequences_per_engine))


def decode_seconds(
    response_tokens, tokens_per_verification, inter_token_seconds, prefill_seconds_per_sequence, decoding_sequences
):
    decode_steps = response_tokens / tokens_per_verification
    return decode_steps * inter_token_seconds + decoding_sequences * prefill_seconds_per_sequence


def refill_tokens(sequences_per_engine, resident_sequences, response_tokens, square_response_tokens):
    """Renewals: places that all start afresh have begun t/mean + (cv^2 - 1)/2 more sequences after t steps.

    That line holds after one mean response; before it the correction counts in part.
    """
    more = max(0.0, sequences_per_engine / resident_sequences - 1)
    cv_square = (square_response_tokens - response_tokens**2) / response_tokens**2
    return response_tokens * max(0.0, more - min(more, 1.0) * (cv_square - 1) / 2)


def refill_seconds(
    refill_tokens,
    sequences_per_engine,
    resident_sequences,
    response_tokens,
    inter_token_seconds,
    decoding_sequences,
    slope_seconds,
    tokens_per_verification,
):
    """Steps pay what no sequence adds; cache, host and links are paid by the tokens of those that waited."""
    every_step = inter_token_seconds - decoding_sequences * slope_seconds
    tokens = max(0.0, sequences_per_engine - resident_sequences) * response_tokens
    return (refill_tokens * every_step + tokens * slope_seconds) / tokens_per_verification


def ended_drain_tokens(
    active_tenants,
    started_rollouts,
    engines,
    resident_sequences,
    sequences_per_engine,
    refill_tokens,
    log_length_location,
    log_length_sd,
    max_response_tokens,
):
    """From the last start to the last end: 1 - Pr(all have ended), starts spread evenly over the refill."""
    first = min(active_tenants * started_rollouts, engines * resident_sequences)
    later = engines * max(0.0, sequences_per_engine - resident_sequences)
    law = log_length_location, log_length_sd, max_response_tokens
    if not later or not refill_tokens:
        return longest(first, *law)

    def log_ended(t):
        if t >= max_response_tokens:
            return 0.0
        z = (math.log(t) - log_length_location) / log_length_sd if t > 0 else -40.0
        return math.log(max(normal.cdf(z), 1e-300))

    def some_alive(u):
        start = max(u, 1e-12)
        ends = [start, *(x for x in _breaks(law) if start < x < u + refill_tokens), u + refill_tokens]
        ages = integral(log_ended, *ends, rel=1e-10) / refill_tokens
        return -math.expm1(first * log_ended(u + refill_tokens) + later * ages)

    top = min(max_response_tokens, math.exp(log_length_location + log_length_sd * 12))
    stops = {0.0, top, *_breaks(law), max(0.0, max_response_tokens - refill_tokens)}  # the first meet the cap then
    return integral(some_alive, *sorted(x for x in stops if x <= top), rel=1e-9)


def drain_tokens(
    ended_drain_tokens,
    active_tenants,
    started_rollouts,
    engines,
    resident_sequences,
    sequences_per_engine,
    refill_tokens,
    looping_share,
    max_response_tokens,
):
    """As long as without loops, unless some response loops: the one that started last then ends with the cap."""
    later = engines * max(0.0, sequences_per_engine - resident_sequences)
    responses = min(active_tenants * started_rollouts, engines * resident_sequences) + later
    if not looping_share:
        return ended_drain_tokens
    age = refill_tokens / (2 + looping_share * later)
    some_loops = -math.expm1(responses * math.log1p(-looping_share))
    return ended_drain_tokens + some_loops * max(0.0, max_response_tokens - age - ended_drain_tokens)


def _breaks(law):
    location, spread, cap = law
    return sorted({math.exp(location + spread * z) for z in (-4, -1.5, 0, 1.5, 4)} | {min(cap, 1e300)})


def expert_drain_tokens(
    resident_sequences,
    verified_tokens,
    experts_per_token,
    experts,
    looping_share,
    log_length_location,
    log_length_sd,
    max_response_tokens,
):
    """Steps at which an expert is read: one minus the chance that every sequence is done or chose others."""
    n, share = resident_sequences * verified_tokens, experts_per_token / experts
    law = log_length_location, log_length_sd, max_response_tokens
    return with_loops(lambda s: 1 - (1 - share * s) ** n, looping_share, *law, n)


def drain_seconds(
    drain_tokens,
    expert_drain_tokens,
    fixed_step_seconds,
    dense_read_seconds,
    resident_sequences,
    response_tokens,
    dense_compute_seconds_per_sequence,
    expert_read_seconds,
    expert_compute_seconds_per_sequence,
    draft_seconds,
    slope_seconds,
    tokens_per_verification,
):
    tokens = resident_sequences * response_tokens
    dense = max(drain_tokens * dense_read_seconds, tokens * dense_compute_seconds_per_sequence)
    expert = max(expert_drain_tokens * expert_read_seconds, tokens * expert_compute_seconds_per_sequence)
    every_step = drain_tokens * (fixed_step_seconds + draft_seconds)
    return (every_step + dense + expert + tokens * slope_seconds) / tokens_per_verification


def decoding_sequences(
    resident_sequences,
    environment_seconds_per_rollout,
    fixed_step_seconds,
    dense_read_seconds,
    expert_read_seconds,
    slope_seconds,
    response_tokens,
):
    """Little's law: the share of residents that decode is the share of their time that they spend decoding."""
    if not environment_seconds_per_rollout:
        return resident_sequences

    def excess(b):
        decoding = response_tokens * (fixed_step_seconds + dense_read_seconds + expert_read_seconds + b * slope_seconds)
        return b - resident_sequences * decoding / (decoding + environment_seconds_per_rollout)

    return max(1.0, root(excess, 0, resident_sequences))


def decode_mfu(
    load_test_tokens_per_second_per_gpu,
    active_parameters_matmul,
    attention_flops_per_context_token,
    window_attention_flops_per_context_token,
    context_tokens,
    window_tokens,
    rollout_flops_per_second,
):
    flops = FLOPS_PER_PARAMETER * active_parameters_matmul + attention_flops_per_context_token * context_tokens
    flops += window_attention_flops_per_context_token * min(context_tokens, window_tokens)
    return flops * load_test_tokens_per_second_per_gpu / rollout_flops_per_second


def bandwidth_utilisation(
    streamed_weight_bytes,
    tensor_parallel,
    decoding_sequences,
    kv_bytes_per_sequence,
    kv_shards,
    inter_token_seconds,
    memory_bytes_per_second,
):
    per_gpu = streamed_weight_bytes / tensor_parallel + decoding_sequences * kv_bytes_per_sequence / kv_shards
    return per_gpu / inter_token_seconds / memory_bytes_per_second


def roofline_seconds(
    streamed_weight_bytes,
    tensor_parallel,
    memory_bytes_per_second,
    decoding_sequences,
    kv_bytes_per_sequence,
    kv_shards,
    active_parameters_matmul,
    verified_tokens,
    rollout_flops_per_second,
):
    reading = bandwidth_utilisation(
        streamed_weight_bytes, tensor_parallel, decoding_sequences, kv_bytes_per_sequence, kv_shards, 1.0,
        memory_bytes_per_second,
    )  # fmt: skip
    flops = FLOPS_PER_PARAMETER * active_parameters_matmul * verified_tokens * decoding_sequences
    return max(reading, flops / tensor_parallel / rollout_flops_per_second)


def kv_bytes_per_sequence(kv_bytes_per_token, window_kv_bytes_per_token, window_tokens, state_bytes, context_tokens):
    return kv_bytes(kv_bytes_per_token, window_kv_bytes_per_token, window_tokens, state_bytes, context_tokens)


def kv_bytes_at_peak(kv_bytes_per_token, window_kv_bytes_per_token, window_tokens, state_bytes, peak_context_tokens):
    return kv_bytes(kv_bytes_per_token, window_kv_bytes_per_token, window_tokens, state_bytes, peak_context_tokens)


def dense_compute_seconds_per_sequence(
    trunk_parameters, head_parameters, verified_tokens, tensor_parallel, compute_efficiency, rollout_flops_per_second
):
    return (
        FLOPS_PER_PARAMETER * (trunk_parameters + head_parameters) * verified_tokens
        / tensor_parallel / (rollout_flops_per_second * compute_efficiency)
    )


def expert_read_seconds(
    expert_weight_bytes, tensor_parallel, weight_read_efficiency, expert_efficiency, memory_bytes_per_second
):
    rate = tensor_parallel * memory_bytes_per_second * weight_read_efficiency * expert_efficiency
    return expert_weight_bytes / rate


def expert_seconds(expert_read_seconds, experts_touched_share, expert_compute_seconds_per_sequence, decoding_sequences):
    return max(experts_touched_share * expert_read_seconds, decoding_sequences * expert_compute_seconds_per_sequence)


def draft_seconds(
    draft_cost_share,
    speculative_drafts,
    fixed_step_seconds,
    dense_read_seconds,
    expert_read_seconds,
    experts_touched_share,
):
    return (
        speculative_drafts * draft_cost_share
        * (fixed_step_seconds + dense_read_seconds + experts_touched_share * expert_read_seconds)
    )


def inter_token_seconds(
    fixed_step_seconds, dense_seconds, expert_seconds, draft_seconds, decoding_sequences, slope_seconds
):
    return fixed_step_seconds + draft_seconds + dense_seconds + expert_seconds + slope_seconds * decoding_sequences


def batch_generation_seconds(refill_seconds, drain_seconds, sequences_per_engine, prefill_seconds_per_sequence):
    return refill_seconds + drain_seconds + prefill_seconds_per_sequence * sequences_per_engine


def engine_sequences_per_second(resident_sequences, decode_seconds_per_sequence, environment_seconds_per_rollout):
    return resident_sequences / (decode_seconds_per_sequence + environment_seconds_per_rollout)


def load_test_tokens_per_second_per_gpu(
    resident_sequences, response_tokens, decode_seconds_per_sequence, tensor_parallel
):
    return resident_sequences * response_tokens / decode_seconds_per_sequence / tensor_parallel


REFERENCE = {
    "tokens_per_verification": tokens_per_verification,
    "verified_tokens": lambda speculative_drafts: speculative_drafts + 1,
    "dense_weight_bytes": lambda trunk_parameters, weight_bits, head_parameters, head_bits, held_adapter_bytes: (
        bits_to_bytes((trunk_parameters, weight_bits), (head_parameters, head_bits)) + held_adapter_bytes
    ),
    "expert_weight_bytes": lambda expert_parameters, weight_bits: bits_to_bytes((expert_parameters, weight_bits)),
    "engine_weight_bytes": engine_weight_bytes,
    "experts_touched_share": experts_touched_share,
    "streamed_weight_bytes": lambda dense_weight_bytes, expert_weight_bytes, experts_touched_share: (
        dense_weight_bytes + experts_touched_share * expert_weight_bytes
    ),
    "kv_bytes_per_token": lambda kv_elements_per_token, kv_bits: bits_to_bytes((kv_elements_per_token, kv_bits)),
    "window_kv_bytes_per_token": lambda window_kv_elements_per_token, kv_bits: bits_to_bytes(
        (window_kv_elements_per_token, kv_bits)
    ),
    "kv_bytes_per_sequence": kv_bytes_per_sequence,
    "kv_bytes_at_peak": kv_bytes_at_peak,
    "kv_shards": lambda tensor_parallel, kv_shards_max: min(tensor_parallel, kv_shards_max),
    "kv_room_bytes": lambda engine_memory_share, memory_bytes, reserved_bytes, engine_weight_bytes, tensor_parallel: (
        memory_bytes * engine_memory_share - (reserved_bytes + engine_weight_bytes / tensor_parallel)
    ),
    "resident_limit": resident_limit,
    "engine_nodes": lambda tensor_parallel, gpus_per_node: max(1.0, tensor_parallel / gpus_per_node),
    "hop_seconds": hop_seconds,
    "fixed_step_seconds": fixed_step_seconds,
    "dense_read_seconds": lambda dense_weight_bytes, tensor_parallel, weight_read_efficiency, memory_bytes_per_second: (
        dense_weight_bytes / tensor_parallel / (memory_bytes_per_second * weight_read_efficiency)
    ),
    "dense_compute_seconds_per_sequence": dense_compute_seconds_per_sequence,
    "expert_read_seconds": expert_read_seconds,
    "expert_compute_seconds_per_sequence": expert_compute,
    "attention_seconds_per_sequence": attention_seconds,
    "link_seconds_per_sequence": link_seconds,
    "slope_seconds": lambda host_seconds_per_sequence, attention_seconds_per_sequence, link_seconds_per_sequence: (
        host_seconds_per_sequence + attention_seconds_per_sequence + link_seconds_per_sequence
    ),
    "dense_seconds": lambda dense_read_seconds, dense_compute_seconds_per_sequence, decoding_sequences: max(
        dense_read_seconds, decoding_sequences * dense_compute_seconds_per_sequence
    ),
    "expert_seconds": expert_seconds,
    "draft_seconds": draft_seconds,
    "inter_token_seconds": inter_token_seconds,
    "prefill_seconds_per_sequence": prefill_seconds,
    "sequences_per_engine": sequences_per_engine,
    "engines": engines,
    "resident_sequences": resident_sequences,
    "decode_seconds_per_sequence": decode_seconds,
    "refill_tokens": refill_tokens,
    "refill_seconds": refill_seconds,
    "drain_tokens": drain_tokens,
    "ended_drain_tokens": ended_drain_tokens,
    "expert_drain_tokens": expert_drain_tokens,
    "drain_seconds": drain_seconds,
    "batch_generation_seconds": batch_generation_seconds,
    "engine_sequences_per_second": engine_sequences_per_second,
    "continuous_generation_seconds": lambda sequences_per_engine, engine_sequences_per_second: (
        sequences_per_engine / engine_sequences_per_second
    ),
    "decoding_sequences": decoding_sequences,
    "load_test_tokens_per_second_per_gpu": load_test_tokens_per_second_per_gpu,
    "load_test_residents": lambda resident_limit, concurrent_requests: min(resident_limit, concurrent_requests),
    "decode_mfu": decode_mfu,
    "decode_bandwidth_utilisation": bandwidth_utilisation,
    "ridge_sequences": lambda weight_bits, rollout_flops_per_second, memory_bytes_per_second: (
        (weight_bits / BITS_PER_BYTE / memory_bytes_per_second) / (FLOPS_PER_PARAMETER / rollout_flops_per_second)
    ),
    "roofline_seconds": roofline_seconds,
}

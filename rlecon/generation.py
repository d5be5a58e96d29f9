"""Decode and prefill: what one inference engine does in a second.

One decode step of an engine of T GPUs that holds b sequences takes

    tau(b) = tau_0 + max(weight read, dense arithmetic) + max(expert read, expert arithmetic) + b tau_b

and the engine's memory caps b. A synchronous batch is full engines until the queue is empty, then a drain to the
longest response; continuous generation never drains.
"""

from __future__ import annotations

import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation, cases, largest, root, smallest
from rlecon.special import last_tokens, reached_tokens
from rlecon.vocabulary import bits_per_byte, flops_per_parameter, one_token

# --- speculation ------------------------------------------------------------------------------------------------------
tokens_equation = Equation(
    v.tokens_per_verification,
    one_token
    * (1 - v.speculative_acceptance ** (v.speculative_drafts / one_token + 1))
    / (1 - v.speculative_acceptance),
    "accepted drafts form a geometric series; the verifier adds one token",
    source="leviathan2023fast",
)
verified_equation = Equation(v.verified_tokens, v.speculative_drafts + one_token, "drafts and the token after them")

# --- bytes ------------------------------------------------------------------------------------------------------------
dense_bytes_equation = Equation(
    v.dense_weight_bytes,
    (v.trunk_parameters * v.weight_bits + v.head_parameters * v.head_bits) / bits_per_byte + v.held_adapter_bytes,
    "quantised engines keep the output head at its own precision; adapters of tenants are read beside the base",
)
expert_bytes_equation = Equation(
    v.expert_weight_bytes, v.expert_parameters * v.weight_bits / bits_per_byte, "all routed experts"
)
engine_bytes_equation = Equation(
    v.engine_weight_bytes,
    v.dense_weight_bytes
    + v.expert_weight_bytes
    + (v.total_parameters - v.trunk_parameters - v.head_parameters - v.expert_parameters) * v.head_bits / bits_per_byte,
    "what the engine stores: matrices, and embeddings and norms at the head's precision",
)
touched_equation = Equation(
    v.experts_touched_share,
    1 - (1 - v.experts_per_token / v.experts) ** (v.decoding_sequences * v.verified_tokens / one_token),
    "distinct experts that a batch of independent tokens touches",
    holds_when=[
        (
            v.experts_per_token <= v.experts,
            "{experts_per_token} experts per token exceed the {experts} experts of a layer",
        )
    ],
)
streamed_equation = Equation(
    v.streamed_weight_bytes,
    v.dense_weight_bytes + v.expert_weight_bytes * v.experts_touched_share,
    "weight bytes that one decode step reads",
)
kv_equation = Equation(
    v.kv_bytes_per_token, v.kv_elements_per_token * v.kv_bits / bits_per_byte, "full-attention layers"
)
window_kv_equation = Equation(
    v.window_kv_bytes_per_token, v.window_kv_elements_per_token * v.kv_bits / bits_per_byte, "sliding-window layers"
)
kv_sequence_equation = Equation(
    v.kv_bytes_per_sequence,
    v.kv_bytes_per_token * v.context_tokens
    + v.window_kv_bytes_per_token * smallest(v.context_tokens, v.window_tokens)
    + v.state_bytes,
    "a window stops growing, a state never grows",
)
kv_peak_equation = Equation(
    v.kv_bytes_at_peak,
    v.kv_bytes_per_token * v.peak_context_tokens
    + v.window_kv_bytes_per_token * smallest(v.peak_context_tokens, v.window_tokens)
    + v.state_bytes,
    "the room a sequence needs before it may start",
)

# --- residents --------------------------------------------------------------------------------------------------------
shards_equation = Equation(
    v.kv_shards, smallest(v.tensor_parallel, v.kv_shards_max), "heads are split over GPUs; a latent cache is replicated"
)
room_equation = Equation(
    v.kv_room_bytes,
    v.engine_memory_share * v.memory_bytes - v.reserved_bytes - v.engine_weight_bytes / v.tensor_parallel,
    "what weights and the engine's own buffers leave on one GPU",
)
limit_equation = Equation(
    v.resident_limit,
    smallest(v.max_sequences_per_engine, v.kv_shards * v.kv_room_bytes / v.kv_bytes_at_peak),
    "memory and the scheduler cap what an engine holds",
    holds_when=[
        (
            v.resident_limit >= 1,
            "the weights leave no room for one sequence of {peak_context_tokens} tokens on one engine "
            "of {tensor_parallel} GPUs: use more GPUs per engine, fewer bits or a larger memory share",
        )
    ],
)

# --- one decode step --------------------------------------------------------------------------------------------------
nodes_equation = Equation(
    v.engine_nodes, largest(1, v.tensor_parallel / v.gpus_per_node), "nodes that one engine spans"
)
hop_equation = Equation(
    v.hop_seconds,
    cases(
        (v.collective_seconds, v.engine_nodes <= 1),
        (v.collective_seconds * largest(1, v.cross_node_factor * sp.log(v.engine_nodes) / sp.log(2)), True),
    ),
    "a collective across nodes costs a hop per doubling of nodes",
)
fixed_equation = Equation(
    v.fixed_step_seconds,
    v.layers * (v.latency_per_layer_seconds + 2 * v.hop_seconds * smallest(1, v.tensor_parallel - 1)),
    "launch and dependency floor of every layer, and its two all-reduces where an engine has several GPUs",
)
read_equation = Equation(
    v.dense_read_seconds,
    v.dense_weight_bytes / (v.tensor_parallel * v.weight_read_efficiency * v.memory_bytes_per_second),
    "dense weights are read once per decode step",
)
dense_compute_equation = Equation(
    v.dense_compute_seconds_per_sequence,
    flops_per_parameter
    * (v.trunk_parameters + v.head_parameters)
    * v.verified_tokens
    / (v.tensor_parallel * v.compute_efficiency * v.rollout_flops_per_second),
    "two FLOPs per parameter and token",
)
expert_read_equation = Equation(
    v.expert_read_seconds,
    v.expert_weight_bytes
    / (v.tensor_parallel * v.weight_read_efficiency * v.expert_efficiency * v.memory_bytes_per_second),
    "all experts, at the efficiency of small grouped matrix products",
)
expert_compute_equation = Equation(
    v.expert_compute_seconds_per_sequence,
    flops_per_parameter
    * v.expert_parameters
    * v.experts_per_token
    / v.experts
    * v.verified_tokens
    / (v.tensor_parallel * v.compute_efficiency * v.expert_efficiency * v.rollout_flops_per_second),
    "only the chosen experts compute",
)
attention_equation = Equation(
    v.attention_seconds_per_sequence,
    largest(
        v.kv_bytes_per_sequence / (v.kv_shards * v.kv_read_efficiency * v.memory_bytes_per_second),
        (
            v.attention_flops_per_context_token * v.context_tokens
            + v.window_attention_flops_per_context_token * smallest(v.context_tokens, v.window_tokens)
        )
        * v.verified_tokens
        / (v.tensor_parallel * v.compute_efficiency * v.bf16_flops_per_second),
    ),
    "the cache is read once per decode step; latent attention may be bound by arithmetic instead",
)
link_equation = Equation(
    v.link_seconds_per_sequence,
    4
    * v.layers
    * v.hidden
    * v.activation_bits
    * v.verified_tokens
    / one_token
    * (v.tensor_parallel - 1)
    / v.tensor_parallel
    / (bits_per_byte * v.link_efficiency * v.link_bytes_per_second),
    "two ring all-reduces per layer move twice their volume",
)
slope_equation = Equation(
    v.slope_seconds,
    v.host_seconds_per_sequence + v.attention_seconds_per_sequence + v.link_seconds_per_sequence,
    "host work, cache and links grow with the batch",
)
dense_equation = Equation(
    v.dense_seconds,
    largest(v.dense_read_seconds, v.dense_compute_seconds_per_sequence * v.decoding_sequences),
    "whichever binds",
)
expert_equation = Equation(
    v.expert_seconds,
    largest(
        v.expert_read_seconds * v.experts_touched_share, v.expert_compute_seconds_per_sequence * v.decoding_sequences
    ),
    "whichever binds",
)
draft_equation = Equation(
    v.draft_seconds,
    v.draft_cost_share
    * v.speculative_drafts
    / one_token
    * (v.fixed_step_seconds + v.dense_read_seconds + v.expert_read_seconds * v.experts_touched_share),
    "each drafted token costs a share of a memory-bound step",
)
step_equation = Equation(
    v.inter_token_seconds,
    v.fixed_step_seconds
    + v.dense_seconds
    + v.expert_seconds
    + v.draft_seconds
    + v.decoding_sequences * v.slope_seconds,
    "one decode step",
)
prefill_equation = Equation(
    v.prefill_seconds_per_sequence,
    v.turns * v.request_seconds
    + v.prefill_tokens
    * (
        flops_per_parameter * v.active_parameters_matmul / v.rollout_flops_per_second
        + v.attention_flops_per_context_token_training * v.prompt_tokens / 2 / v.bf16_flops_per_second
    )
    / (v.tensor_parallel * v.compute_efficiency),
    "prefill is bound by arithmetic; every call costs the host a request",
)

# --- a synchronous batch ----------------------------------------------------------------------------------------------
queue_equation = Equation(
    v.sequences_per_engine,
    v.active_tenants * v.started_rollouts / v.engines,
    "a step's rollouts of all active tenants, spread evenly",
)
engines_equation = Equation(
    v.engines,
    v.rollout_pool_gpus / v.tensor_parallel,
    "GPUs that generate, T to an engine",
    holds_when=[
        (
            v.rollout_pool_gpus >= v.tensor_parallel,
            "an engine of {tensor_parallel} GPUs does not fit on {rollout_pool_gpus} rollout GPUs",
        )
    ],
)
in_flight_equation = Equation(
    v.resident_sequences,
    largest(1, smallest(v.resident_limit, v.sequences_per_engine * (1 + v.continuous_generation * v.staleness_steps))),
    "as many as memory allows, the batch provides and the staleness bound permits; a half-empty engine still runs one",
)
decode_time_equation = Equation(
    v.decode_seconds_per_sequence,
    v.response_tokens / v.tokens_per_verification * v.inter_token_seconds
    + v.prefill_seconds_per_sequence * v.decoding_sequences,
    "a sequence decodes its tokens and waits while the prefills of its neighbours take their turn",
)
_queued = largest(0, v.sequences_per_engine - v.resident_sequences)
refill_tokens_equation = Equation(
    v.refill_tokens,
    v.response_tokens
    * largest(
        0,
        _queued / v.resident_sequences
        + (1 - (v.square_response_tokens / v.response_tokens**2 - 1)) / 2 * smallest(1, _queued / v.resident_sequences),
    ),
    "each place frees up once per mean response; the first time later, since all started fresh (renewal theory)",
)
refill_equation = Equation(
    v.refill_seconds,
    (
        v.refill_tokens * (v.inter_token_seconds - v.decoding_sequences * v.slope_seconds)
        + _queued * v.response_tokens * v.slope_seconds
    )
    / v.tokens_per_verification,
    "full engines until the queue is empty",
)
ended_drain_equation = Equation(
    v.ended_drain_tokens,
    last_tokens(
        smallest(v.active_tenants * v.started_rollouts, v.engines * v.resident_sequences),
        v.engines * _queued,
        v.refill_tokens,
        v.log_length_location,
        v.log_length_sd,
        v.max_response_tokens,
    ),
    "the phase ends with the last response of the whole step, whenever it started",
)
_waiting = v.engines * _queued
_all = smallest(v.active_tenants * v.started_rollouts, v.engines * v.resident_sequences) + _waiting
drain_tokens_equation = Equation(
    v.drain_tokens,
    v.ended_drain_tokens
    + (1 - (1 - v.looping_share) ** _all)
    * largest(0, v.loop_tokens - v.refill_tokens / (2 + v.looping_share * _waiting) - v.ended_drain_tokens),
    "one loop among thousands of responses is enough to run to the cap; exact for one batch, and in waves the "
    "youngest loop is taken at its mean age",
)
_chosen = v.experts_per_token / v.experts
_no_loop = (1 - _chosen * v.looping_share) ** (v.resident_sequences * v.verified_tokens / one_token)
expert_drain_equation = Equation(
    v.expert_drain_tokens,
    v.loop_tokens * (1 - _no_loop)
    + _no_loop
    * reached_tokens(
        v.resident_sequences * v.verified_tokens / one_token,
        _chosen * (1 - v.looping_share) / (1 - _chosen * v.looping_share),
        v.log_length_location,
        v.log_length_sd,
        v.max_response_tokens,
    ),
    "an expert is read while any sequence that chose it is alive; a loop that did keeps it up to the cap",
)
drain_equation = Equation(
    v.drain_seconds,
    (
        v.drain_tokens * v.fixed_step_seconds
        + largest(
            v.drain_tokens * v.dense_read_seconds,
            v.resident_sequences * v.response_tokens * v.dense_compute_seconds_per_sequence,
        )
        + largest(
            v.expert_drain_tokens * v.expert_read_seconds,
            v.resident_sequences * v.response_tokens * v.expert_compute_seconds_per_sequence,
        )
        + v.drain_tokens * v.draft_seconds
        + v.resident_sequences * v.response_tokens * v.slope_seconds
    )
    / v.tokens_per_verification,
    "weights and latency pay the longest response, cache and host pay each token: the long tail is charged twice",
)
batch_equation = Equation(
    v.batch_generation_seconds,
    v.refill_seconds + v.drain_seconds + v.sequences_per_engine * v.prefill_seconds_per_sequence,
    "waves, drain and every prefill",
)

# --- continuous generation --------------------------------------------------------------------------------------------
rate_equation = Equation(
    v.engine_sequences_per_second,
    v.resident_sequences / (v.decode_seconds_per_sequence + v.environment_seconds_per_rollout),
    "Little's law: residents over the time each stays",
)
continuous_equation = Equation(
    v.continuous_generation_seconds,
    v.sequences_per_engine / v.engine_sequences_per_second,
    "engines that never wait",
)
# b_dec solves b_dec (L tau(b_dec) + t_env) = b L tau(b_dec) for tau affine in b_dec: the fixed point in closed form.
_fixed = (v.fixed_step_seconds + v.dense_read_seconds + v.expert_read_seconds) * v.response_tokens / one_token
_slope = v.slope_seconds * v.response_tokens / one_token
_half = (_fixed + v.environment_seconds_per_rollout - v.resident_sequences * _slope) / 2
decoding_equation = Equation(
    v.decoding_sequences,
    cases(
        (v.resident_sequences, v.environment_seconds_per_rollout <= 0),
        (
            largest(
                1, v.resident_sequences * _fixed / (_half + root(_half**2 + v.resident_sequences * _fixed * _slope))
            ),
            True,
        ),
    ),
    "residents that wait for their environment hold cache and decode nothing",
)

# --- what a load test reports -----------------------------------------------------------------------------------------
load_equation = Equation(
    v.load_test_tokens_per_second_per_gpu,
    v.resident_sequences * v.response_tokens / (v.decode_seconds_per_sequence * v.tensor_parallel),
    "generated tokens over the time of a full engine, prefill included",
)
load_residents_equation = Equation(
    v.resident_sequences,
    smallest(v.resident_limit, v.concurrent_requests),
    "requests in flight, as far as memory and scheduler allow",
    name="load_test_residents",
)
mfu_equation = Equation(
    v.decode_mfu,
    v.load_test_tokens_per_second_per_gpu
    * (
        flops_per_parameter * v.active_parameters_matmul
        + v.attention_flops_per_context_token * v.context_tokens
        + v.window_attention_flops_per_context_token * smallest(v.context_tokens, v.window_tokens)
    )
    / v.rollout_flops_per_second,
    "model FLOPs of generated tokens over the peak",
)
mbu_equation = Equation(
    v.decode_bandwidth_utilisation,
    (v.streamed_weight_bytes / v.tensor_parallel + v.decoding_sequences * v.kv_bytes_per_sequence / v.kv_shards)
    / (v.inter_token_seconds * v.memory_bytes_per_second),
    "bytes that must be read over those that could be",
)
ridge_equation = Equation(
    v.ridge_sequences,
    v.weight_bits
    * v.rollout_flops_per_second
    / (flops_per_parameter * bits_per_byte * v.memory_bytes_per_second * one_token),
    "batch at which two FLOPs per weight take as long as reading it",
)
roofline_equation = Equation(
    v.roofline_seconds,
    largest(
        v.streamed_weight_bytes / (v.tensor_parallel * v.memory_bytes_per_second)
        + v.decoding_sequences * v.kv_bytes_per_sequence / (v.kv_shards * v.memory_bytes_per_second),
        flops_per_parameter
        * v.active_parameters_matmul
        * v.verified_tokens
        * v.decoding_sequences
        / (v.tensor_parallel * v.rollout_flops_per_second),
    ),
    "the bound that no engine passes: peaks only, no latency",
)

_ENGINE = [
    tokens_equation,
    verified_equation,
    dense_bytes_equation,
    expert_bytes_equation,
    engine_bytes_equation,
    touched_equation,
    streamed_equation,
    kv_equation,
    window_kv_equation,
    kv_sequence_equation,
    kv_peak_equation,
    shards_equation,
    room_equation,
    limit_equation,
    nodes_equation,
    hop_equation,
    fixed_equation,
    read_equation,
    dense_compute_equation,
    expert_read_equation,
    expert_compute_equation,
    attention_equation,
    link_equation,
    slope_equation,
    dense_equation,
    expert_equation,
    draft_equation,
    step_equation,
    prefill_equation,
    decode_time_equation,
    load_equation,
    mfu_equation,
    mbu_equation,
    ridge_equation,
    roofline_equation,
    decoding_equation,
]
EQUATIONS = [
    *_ENGINE,
    queue_equation,
    engines_equation,
    in_flight_equation,
    refill_tokens_equation,
    refill_equation,
    ended_drain_equation,
    drain_tokens_equation,
    expert_drain_equation,
    drain_equation,
    batch_equation,
    rate_equation,
    continuous_equation,
]
LOAD_TEST = [*_ENGINE, load_residents_equation]

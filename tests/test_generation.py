"""Decode, batches and continuous engines: known values, exact limits, simulation twins, and wrong formulas refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlecon import Run, bill, generation, phases, simulate
from rlecon.equation import Model
from rlecon.errors import RleconError
from rlecon.generation import touched_equation

BARE = {  # one efficiency for all reads, no latency, no host
    "weight_read_efficiency": 0.665,
    "kv_read_efficiency": 0.665,
    "latency_per_layer_seconds": 0.0,
    "host_seconds_per_sequence": 0.0,
    "request_seconds": 0.0,
    "compute_efficiency": 1.0,
}
WEIGHTS = 15_138_291_712.0  # bytes of Qwen3-8B that a decode step reads: matrices and head, no input embedding
CACHE = 147_456.0
BANDWIDTH = 0.665 * 3.35e12
ROOMY = {  # an H100 with memory to spare, so that no batch waits for room
    "gpu": "custom",
    "gpus": 1,
    "dense_bf16_flops_per_second": 989e12,
    "memory_bytes": 4e12,
    "memory_bytes_per_second": 3.35e12,
}


def batch(rollouts=256, mean=2000.0, cv=0.8, cap=None, prompt=0.0, limit=4096, pool=None, looping=0.0, **update):
    rollout = {
        "prompts_per_step": rollouts // 8,
        "group_size": 8,
        "prompt_tokens": prompt,
        "response_tokens": mean,
        "response_tokens_cv": cv,
        "max_sequences_per_engine": limit,
        "tensor_parallel": 1,
        "looping_share": looping,
    }
    if cap:
        rollout["max_response_tokens"] = cap
    hardware = ROOMY if pool is None else {**ROOMY, "gpus": 2, "rollout_gpus": 1}
    run = Run(model={"name": "qwen3-8b"}, hardware=hardware, rollout=rollout, update=update)
    made = bill(run, overrides=BARE)
    return made, made["rollout_seconds"] - rollouts * made["prefill_seconds_per_sequence"]


def test_weights_that_a_step_streams():
    v = phases.load_test().solve(phases.decode_quantities("qwen3-8b", "h100-sxm", 1, 0, 1))
    assert v["streamed_weight_bytes"] == pytest.approx(WEIGHTS, rel=1e-3)


@pytest.mark.parametrize(("prompt", "seconds"), [(0, 136.3), (128, 140.7)])
def test_the_long_tail_is_charged_twice(prompt, seconds):
    """Weights pay the longest response, the cache pays the second moment: closed form against discrete events."""
    made, closed = batch(prompt=prompt)
    assert closed == pytest.approx(seconds, abs=0.1)
    location, spread = made["log_length_location"], made["log_length_sd"]
    got, error = simulate.synchronous_batch(
        np.random.default_rng(4), 256, location, spread, fixed_seconds=WEIGHTS / BANDWIDTH,
        context_seconds=CACHE / BANDWIDTH, prompt_tokens=prompt, repeats=400)  # fmt: skip
    assert abs(got - closed) < 4 * error


@pytest.mark.parametrize("limit", [64, 128])
@pytest.mark.parametrize("cap", [None, 8192.0])
def test_waves_of_a_batch_that_does_not_fit(limit, cap):
    mean = 2000.0 if cap is None else 1990.0
    made, closed = batch(mean=mean, cap=cap, limit=limit)
    got, error = simulate.synchronous_batch(
        np.random.default_rng(5), 256, made["log_length_location"], made["log_length_sd"], cap or math.inf,
        fixed_seconds=WEIGHTS / BANDWIDTH, context_seconds=CACHE / BANDWIDTH, resident_limit=limit, repeats=400)
    assert closed == pytest.approx(got, abs=4 * error + 0.015 * got)
    # full batches until the queue is empty and then the longest of all: what a first guess would say is refused
    guess = (256 / limit - 1) * mean * (WEIGHTS / BANDWIDTH) + made["longest_response_tokens"] * WEIGHTS / BANDWIDTH
    guess += 256 * CACHE / BANDWIDTH * made["square_response_tokens"] / 2
    if cap is None and limit == 64:
        assert abs(guess - got) > 0.05 * got


@pytest.mark.parametrize(("looping", "limit", "within"), [
    (0.0005, 4096, 0.01), (0.004, 4096, 0.01), (0.03, 4096, 0.01),  # one batch: exact but for the cache of the loops
    (0.0005, 64, 0.03), (0.004, 64, 0.03), (0.03, 64, 0.03), (0.004, 16, 0.03),  # waves: the youngest loop ends them
])  # fmt: skip
def test_loops_set_the_end_of_a_batch(looping, limit, within):
    """A few responses that never end: closed form against discrete events, and against leaving them out."""
    made, closed = batch(cap=16_384.0, looping=looping, limit=limit, mean=1000.0)
    law = made["log_length_location"], made["log_length_sd"], 16_384.0
    got, error = simulate.synchronous_batch(
        np.random.default_rng(9), 256, *law, looping=looping, fixed_seconds=WEIGHTS / BANDWIDTH,
        context_seconds=CACHE / BANDWIDTH, resident_limit=limit, repeats=400)
    assert closed == pytest.approx(got, abs=4 * error + within * got)
    drawn = simulate.lengths(np.random.default_rng(10), 400_000, *law, looping)
    assert drawn.mean() == pytest.approx(1000, rel=0.02)  # the mean that was asked for is that of all responses
    _, without = batch(cap=16_384.0, limit=limit, mean=1000.0)
    assert looping < 0.001 or without < 0.85 * got


def test_a_loop_needs_a_cap_and_leaves_the_mean_some_room():
    for settings in ({"cap": None, "looping": 0.01}, {"cap": 16_384.0, "looping": 0.2, "mean": 1000.0}):
        with pytest.raises(RleconError, match="leaves nothing of a mean"):
            batch(**settings)


def test_experts_are_read_for_a_loop_that_chose_them():
    made, _ = batch(cap=16_384.0, mean=1000.0, looping=0.01)
    law = made["log_length_location"], made["log_length_sd"], 16_384.0
    rng, share = np.random.default_rng(11), 8 / 128
    last = [np.max(simulate.lengths(rng, 64, *law, 0.01) * (rng.random(64) < share)) for _ in range(40_000)]
    closed = float(generation.expert_drain_equation(
        loop_tokens=16_384.0, looping_share=0.01, resident_sequences=64, verified_tokens=1, experts_per_token=8,
        experts=128, log_length_location=law[0], log_length_sd=law[1], max_response_tokens=16_384.0))
    assert abs(np.mean(last) - closed) < 4 * np.std(last) / math.sqrt(len(last))


def test_waves_pass_into_one_batch():
    """The closed form is continuous where the last sequence finds room, and exact there."""
    one, without = batch(limit=256)
    _, almost = batch(limit=256 - 1e-6)
    assert almost == pytest.approx(without, rel=1e-5)
    assert one["refill_tokens"] == 0
    assert one["drain_tokens"] == pytest.approx(one["longest_response_tokens"], rel=1e-12)


def test_equal_lengths_end_together():
    made, closed = batch(cv=0.0, mean=1000.0)
    assert made["longest_response_tokens"] == pytest.approx(1000, rel=1e-6)
    assert closed == pytest.approx(1000 * (WEIGHTS + 256 * CACHE * 500) / BANDWIDTH, rel=1e-3)


def test_cache_peak_of_a_batch_that_started_together():
    rng = np.random.default_rng(6)
    for cv, cap, prompt, looping in ((0.8, 8192.0, 300.0, 0.0), (0.4, None, 2000.0, 0.0), (1.5, 30_000.0, 0.0, 0.0),
                                     (0.8, 8192.0, 300.0, 0.02)):
        made, _ = batch(rollouts=4096, cv=cv, cap=cap, prompt=prompt, looping=looping)
        got, _ = simulate.peak_cache(rng, 4096, made["log_length_location"], made["log_length_sd"], cap or math.inf,
                                     prompt_tokens=prompt, looping=looping, repeats=30)
        # loops count in full while they still grow: room that is kept for them
        assert -0.03 * got < made["peak_context_tokens"] - got < (0.03 + 8 * looping) * got
    made, _ = batch(cv=0.0, mean=1000.0, prompt=500.0)
    assert made["peak_context_tokens"] == pytest.approx(1500, rel=1e-4)


def test_continuous_engines_against_discrete_events():
    made, _ = batch(limit=64, prompt=128, pool=1, overlap="full", staleness_steps=8)
    tokens = made["generated_tokens_per_step"] / (made["rollout_seconds"]
                                                  - 256 * made["prefill_seconds_per_sequence"])
    assert made["resident_sequences"] == 64
    assert tokens == pytest.approx(64 / ((WEIGHTS + 64 * CACHE * (128 + 1640)) / BANDWIDTH), rel=1e-3)
    got, error = simulate.continuous_generation(
        np.random.default_rng(7), 64, made["log_length_location"], made["log_length_sd"],
        fixed_seconds=WEIGHTS / BANDWIDTH, context_seconds=CACHE / BANDWIDTH, prompt_tokens=128, sequences=60_000)
    assert abs(got - tokens) < 4 * error
    # the plain mean context would be wrong: a token sits in a long response more often
    naive = 64 / ((WEIGHTS + 64 * CACHE * (128 + 1000)) / BANDWIDTH)
    assert abs(got - naive) > 10 * error


def test_environment_waits_by_littles_law():
    made = Model(
        [generation.decoding_equation], "waiting residents"
    ).solve({
        "resident_sequences": 64, "fixed_step_seconds": 0.008, "dense_read_seconds": 0.0, "expert_read_seconds": 0.0,
        "response_tokens": 2000, "slope_seconds": 5e-5, "environment_seconds_per_rollout": 30.0,
    })  # fmt: skip
    decoding = float(made["decoding_sequences"])
    seconds = 2000 * (0.008 + 5e-5 * decoding)
    assert decoding == pytest.approx(64 * seconds / (seconds + 30), rel=1e-9)  # the fixed point
    (got, error), (rate, rate_error) = simulate.environment_wait(
        np.random.default_rng(8), 64, 10, 200, 3.0, fixed_seconds=0.008, slope_seconds=5e-5, trajectories=12_000)
    assert got == pytest.approx(decoding, abs=4 * error + 0.005 * decoding)
    assert rate == pytest.approx(64 / (seconds + 30), abs=4 * rate_error + 0.005 * rate)
    assert abs(got - 64) > 10 * error  # residents that wait do not decode


@pytest.mark.parametrize(("b", "share", "per_token"), [(1, 0.06, 0.0625), (4, 0.23, 0.0569), (16, 0.64, 0.0403),
                                                       (32, 0.87, None), (64, 0.98, 0.0154)])
def test_distinct_experts(b, share, per_token):
    closed = float(touched_equation(experts_per_token=8, experts=128, decoding_sequences=b, verified_tokens=1))
    assert round(closed, 2) == share
    if per_token:
        assert closed / b == pytest.approx(per_token, abs=5e-4)
    got, error = simulate.distinct_experts(np.random.default_rng(b), 128, 8, b, repeats=800)
    assert abs(got - closed) < 4 * error + 1e-12
    if b > 4:
        assert abs(got - min(1, b * 8 / 128)) > 0.01  # experts are shared: counting top-k per token is wrong


def test_expert_reads_per_token_keep_falling():
    b = np.arange(1, 4000)
    share = touched_equation(experts_per_token=8, experts=128, decoding_sequences=b, verified_tokens=1)
    assert np.all(np.diff(share / b) < 0)
    assert share[255] / 256 == pytest.approx(0.0039, abs=5e-5)


def test_ridge_of_a_gpu():
    v = phases.load_test().solve(phases.decode_quantities("qwen3-30b-a3b", "h100-sxm", 1, 0, 16))
    assert v["ridge_sequences"] == pytest.approx(295, abs=1)
    assert v["ridge_sequences"] * 128 / 8 == pytest.approx(4720, abs=20)  # where experts begin to compute


@pytest.mark.parametrize(("efficiency", "mfu"), [(0.665, 0.103), (1.0, 0.155)])
def test_decode_mfu_needs_the_efficiency(efficiency, mfu):
    overrides = {**BARE, "weight_read_efficiency": efficiency, "kv_read_efficiency": efficiency}
    q = phases.decode_quantities("qwen3-8b", "h100-sxm", 64, 128, 1024, overrides=overrides)
    v = phases.load_test().solve(q)
    got = 2 * v["active_parameters_matmul"] * 64 / (v["inter_token_seconds"] * v["bf16_flops_per_second"])
    assert got == pytest.approx(mfu, abs=0.0015)
    share = v["dense_seconds"] / v["inter_token_seconds"]
    assert got == pytest.approx(efficiency * 64 / v["ridge_sequences"] * share, rel=0.01)


def test_latent_caches_are_replicated_and_heads_are_not():
    q = phases.decode_quantities("deepseek-v3", "h200-sxm", 8, 1024, 1024, tensor_parallel=8, weight_bits=8)
    assert phases.load_test().solve(q)["kv_shards"] == 1
    q = phases.decode_quantities("qwen3-8b", "h100-sxm", 8, 1024, 1024, tensor_parallel=4)
    assert phases.load_test().solve(q)["kv_shards"] == 4


def test_a_collective_across_nodes_costs_more():
    def hop(gpus, gpu="h100-sxm"):
        q = phases.decode_quantities("qwen3-235b-a22b", gpu, 8, 100, 100, tensor_parallel=gpus)
        return float(phases.load_test().solve(q)["hop_seconds"])

    assert hop(16) == pytest.approx(3.5 * hop(8))
    assert hop(32) == pytest.approx(7 * hop(8))
    assert hop(32, "gb200") == hop(8, "gb200")

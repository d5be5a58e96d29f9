"""Gains of drafts and of fewer bits: known values, exact limits, twins, and wrong formulas refused."""

import numpy as np
import pytest

from rlecon import gains, generation, phases
from rlecon.equation import Model
from rlecon.errors import RleconError

SPECULATION = [generation.tokens_equation, generation.verified_equation]
NO_CAP = {"engine_memory_share": 0.9, "max_sequences_per_engine": np.inf}


def speculation(equation, **values):
    known = {"speculative_acceptance": 0.7, "speculative_drafts": 4, "draft_cost_share": 0.0} | values
    return float(Model([*SPECULATION, equation]).solve(known, ["speculation_gain"])["speculation_gain"])


def test_known_values_of_speculation():
    assert speculation(gains.memory_equation) == pytest.approx(2.7731)
    assert speculation(gains.memory_equation, draft_cost_share=0.05) == pytest.approx(2.7731 / 1.2)
    assert speculation(gains.compute_equation) == pytest.approx(0.55462)


def test_exact_limits_of_speculation():
    assert speculation(gains.memory_equation, speculative_drafts=0) == 1
    assert speculation(gains.compute_equation, speculative_drafts=0) == 1
    # nothing accepted: one token for the price of k + 1
    assert speculation(gains.compute_equation, speculative_acceptance=0.0) == pytest.approx(1 / 5)
    # nearly everything accepted: k + 1 tokens for the price of one, or of as many
    assert speculation(gains.memory_equation, speculative_acceptance=1 - 1e-9) == pytest.approx(5)
    assert speculation(gains.compute_equation, speculative_acceptance=1 - 1e-9) == pytest.approx(1)


def test_tokens_of_a_verification_by_simulation():
    rng = np.random.default_rng(0)
    accepted = rng.random((400_000, 4)) < 0.7
    got = 1 + np.cumprod(accepted, axis=1).sum(axis=1)
    want = float(generation.tokens_equation(speculative_acceptance=0.7, speculative_drafts=4))
    assert abs(got.mean() - want) < 4 * got.std() / np.sqrt(got.size)
    assert abs(got.mean() - (1 + 4 * 0.7)) > 0.5  # drafts after a rejection do not count


def test_the_engine_lies_between_both_limits():
    """All terms of a decode step: the memory limit at one sequence, below the plain step at many short ones."""

    def gain(sequences, response):
        q = phases.decode_quantities("qwen3-8b", "h20", sequences, 0, response, **NO_CAP)
        names = ["inter_token_seconds", "tokens_per_verification"]
        plain = phases.load_test().solve(q, names)
        drafted = phases.load_test().solve(q | {"speculative_acceptance": 0.7, "speculative_drafts": 4}, names)
        ratio = plain["inter_token_seconds"] / drafted["inter_token_seconds"]
        return float(ratio * drafted["tokens_per_verification"]), q["draft_cost_share"]

    one, cost = gain(1, 1024)
    assert one == pytest.approx(speculation(gains.memory_equation, draft_cost_share=cost), rel=0.01)
    many, _ = gain(512, 128)
    assert speculation(gains.compute_equation) < many < 1


def shares(sequences, **settings):
    q = phases.decode_quantities("qwen3-8b", "h100-sxm", sequences, 128, 1024, **NO_CAP, **settings)
    return phases.load_test().solve(q)


@pytest.mark.parametrize("sequences", [1, 16, 64, 128])
@pytest.mark.parametrize("kv_bits", [16, 8])
def test_amdahl_on_bytes_equals_two_decode_steps(sequences, kv_bits):
    wide, narrow = shares(sequences), shares(sequences, weight_bits=8, kv_bits=kv_bits)
    assert wide["dense_seconds"] == wide["dense_read_seconds"]  # bound by bytes on both sides
    assert narrow["dense_seconds"] == narrow["dense_read_seconds"]
    step = wide["inter_token_seconds"]
    got = gains.precision_equation(
        weight_time_share=wide["dense_read_seconds"] / step,
        kv_time_share=sequences * wide["attention_seconds_per_sequence"] / step,
        compute_time_share=0.0,
        weight_bits_ratio=narrow["dense_weight_bytes"] / wide["dense_weight_bytes"],
        kv_bits_ratio=kv_bits / 16,
        compute_time_ratio=1.0,
    )
    assert got == pytest.approx(step / narrow["inter_token_seconds"], rel=1e-9)


def test_limits_of_precision():
    nothing = {"weight_bits_ratio": 0.5, "kv_bits_ratio": 0.5, "compute_time_ratio": 0.5}
    only = gains.precision_equation
    assert only(weight_time_share=1, kv_time_share=0, compute_time_share=0, **nothing) == 2
    assert only(weight_time_share=0, kv_time_share=0, compute_time_share=0, **nothing) == 1
    assert only(weight_time_share=0.5, kv_time_share=0.3, compute_time_share=0.2, **nothing) == pytest.approx(2)
    with pytest.raises(RleconError, match="cannot exceed"):
        only(weight_time_share=0.8, kv_time_share=0.3, compute_time_share=0, **nothing)
    assert only(weight_time_share=0.6, kv_time_share=0, compute_time_share=0, **nothing) != pytest.approx(1.6)


def newer(bandwidth, flops, rent=1.78, **ratios):
    at = {"bandwidth_ratio": 2.3, "flops_ratio": 2.275} | ratios
    return float(gains.hardware_equation(rent_ratio=rent, bandwidth_time_share=bandwidth, flops_time_share=flops, **at))


def test_limits_of_a_newer_gpu():
    assert newer(1, 0) == pytest.approx(1.78 / 2.3)  # all time reads memory
    assert newer(0, 1) == pytest.approx(1.78 / 2.275)
    assert newer(0, 0) == pytest.approx(1.78)  # nothing shrinks: dearer by the rent
    assert newer(0.5, 0.3, rent=1, bandwidth_ratio=1, flops_ratio=1) == pytest.approx(1)
    assert newer(0.5, 0.3) == pytest.approx(1.78 * (0.5 / 2.3 + 0.3 / 2.275 + 0.2))
    with pytest.raises(RleconError, match="cannot exceed"):
        newer(0.7, 0.6)


@pytest.mark.parametrize("sequences", [1, 32, 96])
def test_a_newer_gpu_equals_two_decode_steps(sequences):
    """The same batch on H100 and B200: reads shrink with bandwidth, launches and host work do not."""
    old, new = (
        phases.decode("qwen3-8b", name, sequences, 128, 1024, engine_memory_share=0.9)
        for name in ("h100-sxm", "b200")
    )
    step = old["inter_token_seconds"]
    assert old["parts"]["compute"] == new["parts"]["compute"] == 0
    reads = (old["parts"]["weights"] + old["parts"]["kv"]) / step
    got = newer(reads, 0, rent=1, bandwidth_ratio=7.7 / 3.35)
    assert got == pytest.approx(new["inter_token_seconds"] / step, rel=1e-9)

"""Sharing one base model: capacity, tenants on one engine, tenants who come and go, and their bill."""

import math

import numpy as np
import pytest

from rlecon import Run, bill, phases
from rlecon import sharing as s
from rlecon.errors import RleconError

RUN = Run(
    model={"name": "qwen3-8b", "lora_rank": 32},
    hardware={"gpu": "h100-sxm", "gpus": 8, "usd_per_gpu_hour": 2.5},
    rollout={
        "prompts_per_step": 16, "group_size": 8, "response_tokens": 2000, "response_tokens_cv": 0.8,
        "max_response_tokens": 8192,
    },
    update={"old_logprobs": False},
    reward={"pass_rate": 0.3},
    run={"steps": 200},
)  # fmt: skip


def with_tenants(count, duty=1.0, run=RUN):
    return bill(run.replace({"update.tenants": count, "update.duty_cycle": duty}))


def test_an_adapter_holds_what_rewards_supply():
    got = s.capacity_equation(adapter_parameters=3e6, bits_per_parameter=16, supplied_bits=3.2e5)
    assert float(got) == pytest.approx(150)


def test_two_thirds_of_the_flops_without_attention():
    """Matrices alone: forward and activations' gradient of three passes. Attention only: nothing saved."""
    assert float(s.flops_equation(matmul_flops_per_token=1e10, causal_attention_flops_per_token=0)) == pytest.approx(
        2 / 3
    )
    only = s.flops_equation(matmul_flops_per_token=1e-9, causal_attention_flops_per_token=1e10)
    assert float(only) == pytest.approx(1)


def test_pooling_by_the_exact_quantile():
    assert s.pooled_gpus(20, 0.1) == 6
    assert s.pooled_gpus(20, 1.0) == 20  # nothing to share at full duty
    assert s.pooled_gpus(1, 0.1) == 1
    chances = [math.comb(20, j) * 0.1**j * 0.9 ** (20 - j) for j in range(21)]
    assert sum(chances[:7]) >= 0.99 > sum(chances[:6])
    assert list(s.pooled_gpus(np.array([1, 20]), 0.1)) == [1, 6]
    with pytest.raises(RleconError, match="duty_cycle"):
        s.pooled_gpus(20, 0.0)
    with pytest.raises(RleconError, match="tenants"):
        s.pooled_gpus(2.5, 0.1)


def test_pooling_against_tenants_drawn_at_random():
    rng = np.random.default_rng(3)
    active = rng.binomial(1, 0.1, size=(40_000, 20)).sum(axis=1)
    assert (active <= 6).mean() > 0.99 > (active <= 5).mean()


@pytest.mark.parametrize(("b", "tenants", "gain", "limit"), [(4, 8, 5.3, 13.8), (16, 8, 3.0, 4.2), (64, 2, 1.29, 1.8)])
def test_base_reads_shared(b, tenants, gain, limit):
    """Qwen3-8B at a context of 2,000 tokens, adapters of no size."""
    at = {"base_weight_bytes": 15.14e9, "tenant_sequences": b, "kv_bytes_per_sequence": 147456 * 2000}
    assert float(s.gain_equation(active_tenants=tenants, adapter_bytes=0, **at)) == pytest.approx(gain, rel=0.01)
    assert float(s.limit_equation(**at)) == pytest.approx(limit, rel=0.01)
    assert float(s.gain_equation(active_tenants=1, adapter_bytes=0, **at)) == 1
    endless = float(s.gain_equation(active_tenants=10**9, adapter_bytes=0, **at))
    assert endless == pytest.approx(float(s.limit_equation(**at)), rel=1e-6)


def test_memory_limits_tenants():
    """64 sequences of 2,000 tokens each take 18.9 GB: two tenants in the 55.6 GB of a measured engine, not eight."""
    most = float(
        s.most_equation(
            tenant_room_bytes=55.6e9, tenant_sequences=64, kv_bytes_per_sequence=147456 * 2000, adapter_bytes=0
        )
    )
    assert 2 < most < 3 and abs(8 * 64 * 147456 * 2000 / 151e9 - 1) < 0.001


# --- the bill --------------------------------------------------------------------------------------------------------
def test_one_tenant_at_full_duty_is_a_run_by_itself():
    one, plain = with_tenants(1), bill(RUN)
    assert one.to_dict()["money"] == plain.to_dict()["money"]
    assert one["held_adapter_bytes"] == 0


def test_a_lone_tenant_pays_for_its_idle_time():
    lone, busy = with_tenants(1, 0.25), with_tenants(1)
    assert float(lone["step_seconds"]) == float(busy["step_seconds"])
    assert float(lone["usd_run"]) == pytest.approx(4 * float(busy["usd_run"]))
    assert any("25 %" in w for w in lone.warnings)


def test_time_slices_alone_give_the_pooling_gain():
    """Where the whole step is training with a measured utilisation, sharing gains what the binomial says: 3.3x."""
    fast = RUN.replace(
        {"rollout.measured_tokens_per_second_per_gpu": 1e5, "update.measured_mfu": 0.3, "hardware.rollout_gpus": 4}
    )
    known = with_tenants(20, 0.1, fast), with_tenants(1, 0.1, fast)
    slices = [b["training_stream_seconds"] + b["rollout_seconds"] + b["overhead_seconds"] for b in known]
    assert float(slices[0] / slices[1]) == pytest.approx(6)
    gain = float(known[1]["usd_run"] / known[0]["usd_run"])
    assert gain == pytest.approx(20 / 6, rel=0.05)  # what is left: adapters travel instead of the base


def test_tenants_on_one_engine_save_what_the_base_costs():
    alone, shared = with_tenants(1), with_tenants(4)
    assert shared["sequences_per_engine"] == 4 * alone["sequences_per_engine"]
    assert float(shared["rollout_seconds"]) < 4 * float(alone["rollout_seconds"])
    for phase in ("update_seconds", "overhead_seconds"):
        assert float(shared[phase]) == pytest.approx(4 * float(alone[phase]))
    assert float(shared["usd_run"]) < float(alone["usd_run"]) < 4 * float(shared["usd_run"])
    assert sum(map(float, shared.phases.values())) == pytest.approx(float(shared["step_seconds"]))
    assert float(shared["bits_per_step"]) == float(alone["bits_per_step"])  # a tenant's own
    rates = [b.to_dict()["rollout"]["tokens_per_second_per_gpu"] for b in (alone, shared)]
    assert rates[1] > rates[0]
    assert shared["train_mfu"] == pytest.approx(float(alone["train_mfu"]))


def test_adapters_are_read_and_take_room():
    alone, shared = with_tenants(1), with_tenants(4)
    bytes_each = float(alone["adapter_bytes"])
    assert bytes_each == pytest.approx(2 * float(alone["trainable_parameters"]))
    assert float(shared["dense_weight_bytes"] - alone["dense_weight_bytes"]) == pytest.approx(4 * bytes_each)
    assert float(alone["kv_room_bytes"] - shared["kv_room_bytes"]) == pytest.approx(
        4 * bytes_each / float(alone["tensor_parallel"])
    )


def test_tenants_beyond_the_memory_wait_in_waves():
    tight = RUN.replace({"rollout.engine_memory_share": 0.35, "rollout.prompts_per_step": 64})
    few, many = with_tenants(2, run=tight), with_tenants(16, run=tight)
    assert many["resident_sequences"] <= many["resident_limit"] < many["sequences_per_engine"]
    # memory is full: eight times the tenants take eight times as long, and nothing more is saved
    assert float(many["rollout_seconds"]) > 0.8 * 8 * float(few["rollout_seconds"])


def test_evaluation_is_each_tenants_own():
    made = with_tenants(3, run=RUN.replace({"run.evaluation_seconds_per_step": 10.0}))
    assert float(made.phases["evaluation"]) == 30
    assert sum(map(float, made.phases.values())) == pytest.approx(float(made["step_seconds"]))


def test_tenants_need_adapters():
    with pytest.raises(RleconError, match="lora_rank"):
        with_tenants(2, run=RUN.replace({"model.lora_rank": 0}))


def test_tenants_as_an_array():
    many = with_tenants(np.array([1, 4, 20]), 0.5)
    one = [with_tenants(n, 0.5) for n in (1, 4, 20)]
    assert np.allclose(many["usd_run"], [float(b["usd_run"]) for b in one])


def test_a_load_test_has_no_tenants():
    assert float(phases.load_test().solve(phases.decode_quantities("qwen3-8b", "h100-sxm", 8, 512, 512))[
        "held_adapter_bytes"]) == 0  # fmt: skip

"""The bill: limits that are exact, invariances, refusals, intervals, arrays, sensitivities."""

import json
import math

import numpy as np
import pytest

from rlecon import Run, bill
from rlecon.errors import RleconError
from rlecon.sensitivity import moves

BASE = {
    "model": {"name": "qwen3-8b"},
    "hardware": {"gpu": "h100-sxm", "gpus": 64, "usd_per_gpu_hour": 2.5},
    "rollout": {
        "prompts_per_step": 256, "group_size": 8, "prompt_tokens": 512, "response_tokens": 4000,
        "response_tokens_cv": 0.8, "max_response_tokens": 8192,
    },
    "reward": {"pass_rate": 0.3},
    "run": {"steps": 200},
}  # fmt: skip


def run(**changes):
    return Run(**BASE).replace({k.replace("__", "."): x for k, x in changes.items()})


def test_phases_add_to_the_step_in_one_pool():
    made = bill(run())
    assert sum(float(x) for x in made.phases.values()) == pytest.approx(made.step_seconds.mid)


def test_money_is_time_times_price():
    made = bill(run())
    assert made["gpu_hours_per_step"] == pytest.approx(64 * made.step_seconds.mid / 3600)
    assert made["usd_run"] == pytest.approx(200 * 2.5 * made["gpu_hours_per_step"])
    assert bill(run(run__attempts=3.0))["usd_run"] == pytest.approx(3 * made["usd_run"])
    built = bill(run(environment__build_usd=1000.0, environment__runs=4.0))
    assert built["usd_run"] == pytest.approx(made["usd_run"] + 250)


def test_two_pools_wait_for_the_longer_stream():
    made = bill(run(hardware__rollout_gpus=48, update__overlap="one_step", update__staleness_steps=1))
    streams = made["generation_stream_seconds"], made["training_stream_seconds"]
    rest = made["weight_sync_seconds"] + made["overhead_seconds"]
    assert made.step_seconds.mid == pytest.approx(max(streams) + rest)
    busy = (48 * streams[0] + 16 * streams[1]) / 64
    assert made["idle_seconds"] == pytest.approx(max(streams) - busy)
    turn = bill(run(hardware__rollout_gpus=48))
    assert turn.step_seconds.mid > made.step_seconds.mid


def test_continuous_generation_never_costs_more_than_batches_of_the_same_size():
    batch = bill(run())["rollout_seconds"]
    kept = bill(run(rollout__partial_rollouts=True))["rollout_seconds"]
    assert kept < batch
    same_length = {"rollout__response_tokens_cv": 0.0, "rollout__max_response_tokens": None}
    assert bill(run(**same_length))["rollout_seconds"] == pytest.approx(
        bill(run(**same_length, rollout__partial_rollouts=True))["rollout_seconds"], rel=0.01
    )


def test_measured_values_replace_the_model():
    made = bill(run(rollout__measured_tokens_per_second_per_gpu=1000.0))
    assert made["rollout_seconds"] == pytest.approx(256 * 8 * 4000 / (1000 * 64))
    made = bill(run(update__measured_mfu=0.3))
    assert made["train_mfu"] == pytest.approx(0.3)


def test_learning_of_a_known_step():
    made = bill(run())
    assert made["mixed_group_share"] == pytest.approx(1 - 0.3**8 - 0.7**8)
    assert made["bits_per_rollout"] == pytest.approx(-(0.3 * math.log2(0.3) + 0.7 * math.log2(0.7)))
    assert made["signal_per_step"] == pytest.approx(2048 * 0.21 * 7 / 8)


def test_spread_lowers_all_three_meters_and_vanishes_smoothly():
    flat, wide, tiny = (bill(run(reward__pass_rate_spread=s)) for s in (0.0, 0.3, 1e-4))
    for name in ("mixed_group_share", "bits_per_rollout", "signal_per_step"):
        assert wide[name] < flat[name]
        assert tiny[name] == pytest.approx(flat[name], rel=1e-4)
    full = bill(run(reward__pass_rate=0.5, reward__pass_rate_spread=0.5))
    assert full["mixed_group_share"] == 0 and full["bits_per_rollout"] == 0 and full["signal_per_step"] == 0


def test_spread_against_a_draw_of_prompts():
    rng = np.random.default_rng(3)
    p = rng.beta(0.3, 0.7, 400_000)
    made = bill(run(reward__pass_rate=0.3, reward__pass_rate_spread=float(np.sqrt(0.21 / 2)), rollout__group_size=16))
    for value, draws in (
        (made["mixed_group_share"], 1 - p**16 - (1 - p) ** 16),
        (made["bits_per_rollout"], -(p * np.log2(p) + (1 - p) * np.log2(1 - p + 1e-300))),
    ):
        draws = np.nan_to_num(draws)
        assert abs(draws.mean() - value) < 5 * draws.std() / np.sqrt(len(draws))


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"hardware__gpu": "h100-sx"}, "h100-sxm"),
        ({"model__name": "qwen3-9b"}, "qwen3-8b"),
        ({"hardware__rollout_gpus": 200}, "leaves no GPU of 64"),
        ({"hardware__gpu": "a100-sxm-80", "rollout__weight_bits": 8}, "rollout.weight_bits = 8 bit"),
        ({"hardware__gpu": "a100-sxm-80", "update__train_bits": 8}, "update.train_bits = 8 bit"),
        ({"hardware__gpus": 2, "model__name": "deepseek-v3"}, "weights alone"),
        ({"hardware__gpus": 1}, "optimizer state"),
        ({"rollout__max_response_tokens": 3000.0}, "cannot exceed the cap"),
        ({"rollout__group_size": 1}, "group-relative"),
        ({"update__overlap": "one_step"}, "one pool"),
        ({"rollout__response_tokens": None}, "rollout.response_tokens: not given"),
        ({"rollout__tensor_parallel": 128}, "does not fit on 64"),
        ({"reward__pass_rate_spread": 0.48}, "more than pass rates with mean 0.3 can have"),
        ({"hardware__gpu": "custom"}, "dense_bf16_flops_per_second"),
        ({"hardware__memory_bytes": 4e10}, "hardware.memory_bytes = .*belongs to a custom GPU"),
        ({"model__name": None}, "model.name"),
        ({"rollout__prompt_tokens": 900_000.0}, "cannot hold eight"),
        ({"rollout__tensor_parallel": 1, "rollout__prompt_tokens": 400_000.0}, "leave no room"),
    ],
)
def test_impossible_requests_are_refused_in_words(changes, words):
    with pytest.raises(RleconError, match=words):
        bill(run(**changes))


def test_unknown_prices_and_rates_stay_unknown():
    made = bill(run(hardware__gpu="gb200", hardware__usd_per_gpu_hour=None))
    assert made.usd_run.mid is None and made.step_seconds.mid > 0
    assert any("price" in w for w in made.warnings)
    made = bill(run(reward__pass_rate=None))
    assert made.signal_per_step.mid is None and made["usd_run"] > 0
    made = bill(run(run__steps=None))
    assert made.usd_run.mid is None and made["usd_per_step"] > 0
    for answer in (bill(run(run__steps=None)), bill(run(reward__pass_rate=None))):
        json.dumps(answer.to_dict(), allow_nan=False)


def test_intervals_widen_with_an_unknown_price():
    known, looked_up = bill(run()), bill(run(hardware__usd_per_gpu_hour=None))
    for made in (known, looked_up):
        figure = made.usd_run
        assert figure.low < figure.mid < figure.high
    assert known.usd_run.high / known.usd_run.low < looked_up.usd_run.high / looked_up.usd_run.low
    assert known.step_seconds.high / known.step_seconds.mid == pytest.approx(
        known.step_seconds.mid / known.step_seconds.low
    )


def test_arrays_broadcast_and_impossible_points_are_masked():
    made = bill(run(reward__pass_rate=[[0.1], [0.5]], rollout__response_tokens=[2000.0, 4000.0, 9000.0]))
    assert made["step_seconds"].shape in ((3,), (2, 3))
    assert np.isnan(np.broadcast_to(made["step_seconds"], (2, 3))[:, 2]).all()
    assert any("cannot exceed the cap" in words for _, words in made.reasons)
    one = bill(run(reward__pass_rate=0.5, rollout__response_tokens=2000.0))
    assert np.broadcast_to(made["usd_per_bit"], (2, 3))[1, 0] == pytest.approx(one["usd_per_bit"], rel=1e-12)


def test_chunks_do_not_change_the_answer(monkeypatch):
    from rlecon import pricing

    rates = np.linspace(0.05, 0.95, 37)
    whole = bill(run(reward__pass_rate=rates))["usd_per_bit"]
    monkeypatch.setattr(pricing, "CHUNK", 10)
    parts = bill(run(reward__pass_rate=rates), outputs=["usd_per_bit"])["usd_per_bit"]
    assert np.array_equal(whole, parts)


def test_sensitivity_rows_agree_with_bills():
    made = bill(run())
    rows = {(r["input"], r.get("next")): r for r in made.sensitivity()}
    up = bill(run(rollout__response_tokens=4000 * 1.0001))["usd_run"]
    slope = math.log(up / made["usd_run"]) / math.log(1.0001)
    assert rows[("rollout.response_tokens", None)]["elasticity"] == pytest.approx(slope, abs=2e-3)
    for (key, new), row in rows.items():
        if new is None:
            continue
        other = bill(run(**{key.replace(".", "__"): new}))
        if key == "rollout.tensor_parallel" or key.startswith(("hardware", "rollout", "update")):
            assert row["ratio"] == pytest.approx(other["usd_run"] / made["usd_run"], abs=2e-4), key


def test_prices_sum_to_one_in_elasticities():
    rows = {
        r["input"]: r["elasticity"]
        for r in bill(run(rollout__environment_seconds_per_turn=30.0, rollout__turns=10.0)).sensitivity()
        if "elasticity" in r
    }
    assert rows["hardware.usd_per_gpu_hour"] + rows["rollout.usd_per_cpu_hour"] == pytest.approx(1, abs=1e-3)


def test_json_has_the_contract_keys():
    out = bill(run()).to_dict()
    assert list(out) == [
        "run", "step_seconds", "phases", "rollout", "update", "memory", "tokens", "money", "learning", "sensitivity",
        "warnings", "not_modeled",
    ]  # fmt: skip
    assert out["run"]["hardware.gpus"] == {"value": 64, "from": "given"}
    assert set(out["learning"]) == {
        "mixed_group_share", "mixed_groups_per_step", "bits_per_rollout", "bits_per_step", "bits_per_token",
        "signal_per_step", "usd_per_mixed_group", "usd_per_bit",
    }  # fmt: skip
    json.dumps(out, allow_nan=False)


@pytest.mark.parametrize(
    "name", ["qwen3-0.6b", "qwen3-30b-a3b", "gpt-oss-120b", "olmo-3-7b", "llama-3.1-70b", "deepseek-v3", "qwen3.5-9b"]
)
@pytest.mark.parametrize("gpu", ["h100-sxm", "mi300x", "b200"])
def test_every_kind_of_model_gets_a_bill(name, gpu):
    made = bill(run(model__name=name, hardware__gpu=gpu, hardware__gpus=512))
    assert 1 < made.step_seconds.mid < 1e5
    assert made["decode_mfu"] < 1 and made["decode_bandwidth_utilisation"] < 1 and made["train_mfu"] < 1


def test_more_of_everything_costs_more():
    base = bill(run())["usd_per_step"]
    for change in (
        {"rollout__response_tokens": 5000.0},
        {"rollout__prompts_per_step": 300},
        {"rollout__prompt_tokens": 2000.0},
        {"update__reference_model": True},
        {"update__epochs": 2},
        {"rollout__turns": 8.0, "rollout__tool_tokens_per_turn": 500.0},
        {"rollout__environment_seconds_per_turn": 20.0},
    ):
        assert bill(run(**change))["usd_per_step"] > base


def test_moving_recomputation_keeps_the_overrides():
    overrides = {"activation_bytes_per_token": 12.0}
    made = bill(run(update__activation_recompute=False), overrides=overrides)
    changes = {key: change for key, _, change in moves(made)}
    there = bill(run(update__activation_recompute=True), overrides=overrides)
    assert made["activation_bytes_per_token"] != 12.0
    assert changes["update.activation_recompute"]["activation_bytes_per_token"] == 12.0
    assert there["activation_bytes_per_token"] == 12.0

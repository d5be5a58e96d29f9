"""Logs of each framework: the right readings, and the traps."""

from __future__ import annotations

import json
import math

import pytest

from rlecon.readers.logs import read_log
from tests.log_lines import FIXTURES, read

approx = pytest.approx


def entropy(p):
    return -(p * math.log2(p) + (1 - p) * math.log2(1 - p))


def flagged(report, *words):
    return any(all(word in flag for word in words) for flag in report.flags)


# ------------------------------------------------------------------------------------------------------- verl


def test_a_whole_verl_step():
    r = read("verl_8b_g5.log")
    assert (r.rollouts, r.group_size, r.gpus) == (1280, 5, 8)
    assert r.steps[0].step == 3
    shares = {"rollout": 0.551, "old_logprobs": 0.113, "reference": 0.0774, "update": 0.2584}
    for phase, share in shares.items():
        assert r.phase_share[phase] == approx(share, rel=0.01)
    assert r.phase_share["other"] + r.phase_share["advantage"] == approx(0.0003, rel=0.05)
    assert r.gpu_hours == approx(2.819, rel=0.001) and 200 * r.gpu_hours == approx(564, rel=0.001)
    assert r.response_tokens / r.phase_seconds["rollout"] / r.gpus == approx(916.5, rel=0.001), "responses, not prompts"
    assert r.pass_rate == approx(0.0758, rel=0.001) and r.bits_per_rollout == approx(0.387, rel=0.001)
    assert r.bits_per_rollout * r.rollouts == approx(495, rel=0.002)
    assert r.steps[0].bits_per_token == approx(r.bits_per_token)
    assert r.bits_per_token == approx(9.67e-5, rel=0.001) and r.bits_per_gpu_hour == approx(176, rel=0.002)
    assert r.mixed_group_share == approx(0.326, rel=0.002) and r.mixed_group_from.startswith("upper bound")
    assert r.truncated_share == approx(0.897, rel=0.001) and r.mfu == approx(0.419, rel=0.001)
    assert r.mean_trajectory_seconds / r.max_trajectory_seconds == approx(0.72, rel=0.01)
    # Six FLOPs per parameter and token alone, at the poster's peak.
    assert 6 * 8.19e9 * r.all_tokens / (r.phase_seconds["update"] * r.gpus * 280e12) == approx(0.356, rel=0.01)


def test_fewer_rollouts_are_not_a_faster_step():
    a, b = read("verl_8b_g5.log"), read("verl_8b_g4.log")
    assert (b.rollouts, b.group_size, b.gpus) == (1024, 4, 8)
    for phase, share in {"rollout": 0.536, "old_logprobs": 0.094, "reference": 0.085, "update": 0.284}.items():
        assert b.phase_share[phase] == approx(share, rel=0.01)
    assert b.step_seconds / a.step_seconds - 1 == approx(-0.27, abs=0.005)
    assert b.step_seconds / b.rollouts == approx(0.906, rel=0.001)
    assert (b.step_seconds / b.rollouts) / (a.step_seconds / a.rollouts) - 1 == approx(-0.086, abs=0.001)


def test_nested_timers_and_an_unknown_peak():
    r = read("verl_small.log")
    assert (r.rollouts, r.group_size, r.gpus) == (1024, 8, 1)
    assert r.phase_share["rollout"] == approx(0.333, rel=0.002), "generate_sequences and reshard lie inside gen"
    assert r.phase_share["old_logprobs"] == approx(0.211, rel=0.002)
    assert r.phase_share["update"] == approx(0.442, rel=0.002)
    assert "reference" not in r.phase_share
    assert r.mfu is None and flagged(r, "mfu", "unknown peak")
    assert r.bits_per_rollout == approx(0.433, rel=0.001) and r.bits_per_token == approx(4.65e-3, rel=0.01)
    assert r.mixed_group_share == approx(0.525, rel=0.001)


def test_gpus_from_tokens_per_rank_and_an_impossible_mfu():
    r = read("verl_cut_rates.log")
    assert (r.gpus, r.rollouts, r.group_size) == (4, 5120, 5)
    assert "only this many" in r.gpus_from, "tokens per millisecond bound the count from above"
    assert r.phase_share["rollout"] == approx(0.767, rel=0.001) and r.phase_share["update"] == approx(0.148, rel=0.002)
    assert r.gpu_hours == approx(0.107, rel=0.003) and r.bits_per_rollout == approx(0.087, rel=0.01)
    assert r.mfu is None and flagged(r, "mfu", "1.018", "impossible")


def test_a_pass_rate_of_nine_tenths_that_teaches_nothing():
    r = read("verl_zero_advantage.log")
    assert r.gpus == 8 and [s.rollouts for s in r.steps] == [4096, 4096]
    assert [s.pass_rate for s in r.steps] == [0.891, 0.906]
    assert r.mixed_group_share == 0 and r.mixed_group_from.startswith("logged")
    assert r.bits_per_rollout == r.bits_per_token == 0
    assert entropy(0.906) == approx(0.45, rel=0.01), "what the pass rate alone would promise"
    assert r.step_seconds is None and r.phase_share == {}, "both steps are cut before their total"
    assert r.phase_seconds["old_logprobs"] == approx(6.569), "known in one step only"


def test_two_cut_steps_are_not_joined():
    r = read("verl_two_cut_steps.log")
    first, other = r.steps
    assert (first.step, first.gpus, first.rollouts, first.group_size) == (34, 4, 1280, 5)
    assert first.mean_prompt_tokens == approx(167.3, rel=0.001) and first.step_seconds is None
    assert other.step is None and other.label == "?" and other.rollouts is None
    assert other.response_tokens == approx(1_505_748, rel=1e-6) and other.all_tokens == approx(1_717_338, rel=1e-6)
    for phase, share in {"rollout": 0.465, "old_logprobs": 0.062, "reference": 0.062, "update": 0.406,
                         "weight_sync": 0.005}.items():  # fmt: skip
        assert other.phase_share[phase] == approx(share, abs=0.0006)
    assert first.pass_rate is None and flagged(r, "pass_rate", "graded"), "no whole number of rollouts was right"
    assert r.bits_per_gpu_hour is None
    assert flagged(r, "preemptions", "not available") and flagged(r, "mfu", "unknown peak")


def test_a_table_of_phases_and_a_rate_per_gpu():
    r = read("verl_table.md", gpus=8)
    assert r.step_seconds == 290 and r.all_tokens == approx(331_760) and r.all_tokens / 160 == approx(2073, rel=0.001)
    assert r.phase_share["rollout"] == approx(0.10)
    assert sum(r.phase_share[p] for p in ("old_logprobs", "reference", "update")) == approx(0.89, abs=0.005)
    assert r.mfu == approx(0.025)
    assert read("verl_table.md").all_tokens is None


def test_an_agent_run_that_ends_at_its_timeout():
    r = read("verl_agent_timeout.log", gpus=16)
    assert r.rollouts == 128 and r.pass_rate == 5 / 128
    assert r.gpu_hours == approx(17.73, rel=0.001) and r.phase_share["rollout"] == approx(0.902, rel=0.001)
    assert r.response_tokens / r.step_seconds / r.gpus == approx(15.2, rel=0.002)
    assert r.bits_per_rollout * r.rollouts == approx(30.5, rel=0.002)
    assert r.bits_per_gpu_hour == approx(1.7, rel=0.02) and r.bits_per_token == approx(3.1e-5, rel=0.02)
    assert r.mfu == approx(0.0163)
    assert 6 * 3.3e9 * r.response_tokens / (r.phase_seconds["update"] * 16 * 989e12) == approx(0.0046, rel=0.03)


def test_samples_are_not_tokens():
    r = read("verl_images.log")
    assert len(r.steps) == 1 and r.steps[0].step == 302
    assert r.all_tokens is None and r.gpus is None and flagged(r, "samples", "not tokens")
    assert r.pass_rate is None and r.mean_reward == 0.9056
    assert read("verl_images.log", gpus=8).rollouts == approx(8 * 0.313 * 408.8)


def test_wrapped_cut_and_repeated_values():
    r = read("verl_wrapped.log")
    ten, eleven, twelve = r.steps
    assert ten.phase_seconds["rollout"] == 30 and ten.phase_seconds["update"] == 40, "glued across the wrap"
    assert ten.mean_prompt_tokens == 20 and ten.group_size == 4 and ten.rollouts == 64 and ten.gpus == 4
    assert ten.phase_share["evaluation"] == approx(0.2) and ten.phase_share["checkpoint"] == approx(0.05)
    assert eleven.phase_seconds["rollout"] == 33, "of a key given twice the last counts"
    assert eleven.phase_seconds["update"] == 4, "a line that ends with its line end is whole"
    assert twelve.phase_seconds["rollout"] == 30 and twelve.step_seconds is None, "the file ends inside a number"
    assert [s.step for s in r.steps] == [10, 11, 12], "a line of validation alone is no step"


# -------------------------------------------------------------------------------------------------------- TRL


def test_trl_without_spread_in_any_group():
    r = read("trl_zero_std.log")
    assert r.mixed_group_share == 0 and r.bits_per_rollout == 0 and r.mixed_group_from.startswith("logged")
    assert r.pass_rate is None and r.mean_reward == 3.0
    assert r.all_tokens is None and flagged(r, "num_tokens counts from the start")
    assert r.mean_response_tokens == 701.8125 and r.truncated_share == 0


def test_trl_old_keys():
    r = read("trl_old_keys.log")
    assert [s.mean_response_tokens for s in r.steps] == [232.825, 237.0375]
    assert [s.mixed_group_share for s in r.steps] == [None, 0.0], "a mean spread of 0 within groups means none"
    assert r.pass_rate is None and flagged(r, "weighted sum of 2 rewards")
    new = "{'completions/mean_length': 100.0, 'reward': 1.0, 'reward_std': 0.0}"
    assert read_log([new]).mixed_group_share is None, "newer code takes the spread over the batch"


def test_trl_time_from_the_bar():
    r = read("trl_bar.log", gpus=8, usd_per_gpu_hour=2.0)
    assert r.step_seconds == 281.24 and r.planned_steps == 1000
    assert flagged(r, "1000 steps at this pace take 78.1 h, 625 GPU-hours")
    assert r.planned_steps * r.usd == approx(1250, rel=0.001)
    assert r.pass_rate == approx(0.0257, rel=0.002)


def test_trl_cumulative_tokens_and_other_bars():
    r = read("trl_window.log")
    assert [s.step for s in r.steps] == [5, 10] and r.planned_steps == 500
    assert [s.step_seconds for s in r.steps] == [19.0, 21.0]
    assert [s.all_tokens for s in r.steps] == [None, 12_800], "64,000 more tokens in five steps"
    assert [s.mixed_group_share for s in r.steps] == [0.75, 0.5]
    assert r.pass_rate is None


# -------------------------------------------------------------------------------------------------------- slime


def test_slime_step_time_leaves_the_sleep_out():
    r = read("slime_wait.log")
    s = r.steps[0]
    assert s.step == 2 and s.step_seconds == approx(14.18, rel=0.001)
    assert s.step_seconds == approx(11.3338740 + 2.8442583, rel=0.001)
    assert s.phase_share["idle"] == approx(0.799, rel=0.001)
    assert sum(s.outside_step_seconds.values()) == approx(6.315, rel=0.001) and flagged(r, "outside the step's timer")
    assert s.all_tokens == approx(2414, rel=1e-6)


def test_slime_batch_gpus_and_flat_groups():
    r = read("slime_flat.log", group_size=8)
    assert (r.rollouts, r.gpus) == (256, 8) and r.response_tokens == approx(710_071)
    assert r.response_tokens / r.gpus == approx(239.126 * 371.180, rel=1e-4)
    assert r.max_response_tokens / r.phase_seconds["rollout"] == approx(11.04, rel=0.001)
    assert r.mixed_group_share == approx(6 / 32) and r.mixed_group_from.startswith("logged")
    assert r.truncated_share == 0.46484375
    unknown = read("slime_flat.log")
    assert unknown.mixed_group_share is None and flagged(unknown, "26 groups", "at most 9.85")


def test_two_frameworks_in_one_paste():
    slime, verl = read("slime_and_verl.log"), read("slime_and_verl.log", framework="verl")
    assert slime.framework == "slime" and slime.step_seconds == approx(532.9, rel=1e-3)
    assert flagged(slime, "verl's keys")
    assert verl.step_seconds == approx(33.64, rel=1e-3)
    assert slime.step_seconds / verl.step_seconds == approx(15.8, rel=0.005)


def test_vime_columns_are_separate_runs():
    r = read("slime_table.md")
    sync, overlapped = r.steps
    assert r.separate_runs and r.step_seconds is None
    assert sync.phase_seconds["idle"] + sync.phase_seconds["update"] == approx(178.6)
    assert 178.6 / max(sync.phase_seconds["idle"], sync.phase_seconds["update"]) == approx(1.83, abs=0.01)
    assert sync.step_seconds / overlapped.step_seconds == approx(1.72, abs=0.01)


# ------------------------------------------------------------------------------------------------------ prime-rl


def test_prime_orchestrator_rollouts():
    r = read("prime_orchestrator.log")
    assert [s.step for s in r.steps] == [28, 29]
    assert all(s.rollouts == approx(512, rel=0.01) for s in r.steps)
    assert r.all_tokens == approx((2408.9 * 73.77 + 2288.1 * 72.73) / 2)
    assert r.pass_rate is None and read("prime_orchestrator.log", binary_reward=True).pass_rate == approx(0.39525)


def test_prime_mfu_that_forgot_the_gpus():
    r = read("prime_mfu.log")
    assert r.mfu == approx(0.4246) and r.steps[0].mfu is None
    assert flagged(r, "337.59%", "8 GPUs") and flagged(r, "impossible")


def test_prime_components_run_side_by_side():
    r = read("prime_both.log")
    four, five = r.steps
    assert four.step == 4 and four.step_seconds == 61.0 and four.mfu == approx(0.213), "not 121 s"
    assert flagged(r, "at the same time")
    assert five.phase_seconds["idle"] == 36 and five.gpus == 4 and five.mfu == 0.25
    assert flagged(r, "engines' GPUs are not in this log")


def test_prime_benchmark_rows():
    r = read("prime_benchmark.csv")
    lora, full = r.steps
    assert r.separate_runs and flagged(r, "1 rows of failed runs")
    rates = [s.all_tokens / s.step_seconds for s in (lora, full)]
    assert rates[0] / rates[1] == approx(1.87, abs=0.005)


# ------------------------------------------------------------------------------------------------------- NeMo-RL


def test_nemo_console():
    r = read("nemo_console.log")
    seven, eight = r.steps
    assert (seven.step, seven.gpus, seven.rollouts, r.planned_steps) == (7, 8, 1024, 100)
    assert seven.all_tokens == approx(8588.75 * 35.7) and seven.step_seconds == 35.7
    assert seven.phase_seconds["weight_sync"] == 2.2, "the transfer lies inside the refit's total"
    assert seven.phase_seconds["other"] == approx(35.7 - 10.97 - 6.49 - 4.95 - 3.14 - 2.2 - 0.01)
    assert eight.phase_seconds["idle"] == 32.52 and "rollout" not in eight.phase_seconds
    assert flagged(r, "background") and r.steps[1].mean_reward == 0.3486


def test_nemo_identity_and_table():
    r = read("nemo_identity.log")
    assert r.all_tokens == 2_869_598 and r.gpu_hours == approx(2869598 / 1199 / 3600)
    table = read("nemo_table.csv")
    sync, off, bf16, fp8, *_ = table.steps
    assert sync.gpu_hours == approx(1.707, rel=1e-3) and off.gpu_hours == approx(1.351, rel=1e-3)
    assert off.gpu_hours / sync.gpu_hours - 1 == approx(-0.21, abs=0.005)
    assert bf16.gpu_hours == approx(9.12, rel=1e-3) and fp8.gpu_hours == approx(8.42, rel=1e-3)
    for s in table.steps:
        assert 1.02 <= s.all_tokens / s.response_tokens <= 1.17, "prompts are counted"


# ------------------------------------------------------------------------------------------------ SkyRL, OpenRLHF


def test_skyrl_console():
    r = read("skyrl.log")
    twelve, thirteen = r.steps
    assert (twelve.step, twelve.group_size, twelve.step_seconds) == (12, 4, 286.05)
    assert twelve.phase_seconds["update"] == 195, "policy_train lies inside"
    assert twelve.phase_seconds["rollout"] == 27.65 and twelve.mean_response_tokens == 812.5
    assert thirteen.phase_seconds["idle"] == 187.38 and thirteen.phase_seconds["update"] == 9
    assert thirteen.outside_step_seconds == {"eval": 33.0} and flagged(r, "eval runs outside")


def test_skyrl_table_of_seconds_per_step():
    r = read("skyrl_table.md", framework="SkyRL")
    assert [s.step_seconds for s in r.steps] == [937, 2225, 5297] and r.separate_runs


def test_openrlhf_console():
    r = read("openrlhf.log")
    one, two = r.steps
    assert one.step_seconds == 150 and one.phase_share["rollout"] == 0.5 and one.mean_prompt_tokens == 100
    assert one.mixed_group_share == 0.625 and one.truncated_share == 0.05 and "other" not in one.phase_seconds
    assert two.overlapping and two.step_seconds == 95 and flagged(r, "run at the same time")
    old = read("openrlhf_old.log")
    assert old.step_seconds is None and old.phase_seconds["old_logprobs"] == 150


# ------------------------------------------------------------------------------------------------ exported metrics

EXPORTED = {
    "verl": {"timing_s/gen": 6, "timing_s/update_actor": 3, "timing_s/step": 10, "perf/total_num_tokens": 1920,
             "perf/throughput": 96, "response_length/mean": 100, "prompt_length/mean": 20},
    "trl": {"reward": 0.5, "completions/mean_length": 100, "frac_reward_zero_std": 0.25, "step_time": 10},
    "skyrl": {"timing/generate": 6, "timing/policy_train": 3, "timing/step": 10, "reward/avg_raw_reward": 0.5},
    "slime": {"perf/rollout_time": 6, "perf/train_wait_time": 6, "perf/train_time": 4, "perf/step_time": 10},
    "openrlhf": {"timing/generation": 6, "timing/ppo_train": 3, "timing/make_experience": 1, "timing/step_total": 10},
    "prime_rl": {"time/step": 10, "time/wait_for_batch": 6, "time/forward_backward": 3, "perf/mfu": 20},
    "nemo_rl": {"timing/train/total_step_time": 10, "timing/train/generation": 6, "timing/train/policy_training": 3},
}  # fmt: skip


@pytest.mark.parametrize("framework", EXPORTED)
@pytest.mark.parametrize("style", ["json", "csv", "wandb"])
def test_exported_metrics(framework, style):
    values = {"step": 1} | EXPORTED[framework]
    rows = [values, values | {"step": 2}]
    if style == "json":
        lines = [json.dumps(row) for row in rows]
    else:
        name = "brave-run-7 - " if style == "wandb" else ""
        lines = [",".join(k if k == "step" else name + k for k in values)]
        lines += [",".join(map(str, row.values())) for row in rows]
    if framework == "trl" and style != "json":
        lines[0] += ",rewards/format/mean"
        lines[1:] = [line + ",1.0" for line in lines[1:]]
    report = read_log(lines)
    assert report.framework == framework and [s.step for s in report.steps] == [1, 2]
    assert report.step_seconds == 10
    if framework != "trl":
        assert 6 in report.phase_seconds.values()


NOISE = [
    "2026-11-30 12:00:00 - INFO - engine: loaded shard 3 of 8",
    "12 - INFO - perf: fine",
    "Throughput: 3.2 requests/s, reward model at http://10.0.0.1:8000/v1",
    "| Total | 12 |",
    "| GPU | 0 |",
    "saved at step: 3 - done",
    "Processed prompts: 100%|##########| 16/16 [00:05<00:00,  3.1it/s]",
    "{'finish_reason': 'stop', 'text': 'the answer is 12'}",
    "INFO 11-30 12:00:01 metrics.py:455] Avg prompt throughput: 0.0 tokens/s, Running: 256 reqs, KV cache: 81.2%",
    "RuntimeWarning: step 5 took long: 3.0 s",
    "<answer> 3/4 </answer> score: 1.0",
]


# Wrapped lines stand next to each other: anything between the pieces would lose the wrapped value.
STEADY = sorted({path.name for path in FIXTURES.glob("*.log")} - {"verl_wrapped.log"})


@pytest.mark.parametrize("name", STEADY)
def test_noise_between_lines_changes_nothing(name):
    quiet = (FIXTURES / name).read_text().splitlines()
    loud = [*NOISE]
    for i, line in enumerate(quiet):
        loud += [line, NOISE[i % len(NOISE)], NOISE[(3 * i + 1) % len(NOISE)]]
    loud += NOISE
    assert read_log(loud).to_dict() == read_log(quiet).to_dict()

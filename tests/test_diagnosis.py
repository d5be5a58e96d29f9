"""Diagnosis: each rule finds its waste, clears a healthy log, and says when it cannot tell."""

from __future__ import annotations

import json

import pytest

from rlecon import Run, bill, catalog
from rlecon.diagnosis import RULES, compare, diagnose
from rlecon.errors import RleconError
from rlecon.readers.logs import read_log
from tests.log_lines import FIXTURES, finding, read, step

approx = pytest.approx


def test_every_rule_answers_every_log_with_a_reason():
    assert 10 <= len(RULES) <= 14
    for path in sorted(FIXTURES.iterdir()):
        report = read_log(path, framework="skyrl") if path.name == "skyrl_table.md" else read_log(path)
        findings = diagnose(report)
        assert {f.rule for f in findings} == {rule.__name__ for rule in RULES}
        for f in findings:
            assert f.verdict in ("found", "clear", "cannot tell") and f.says and "nan" not in f.says, (path.name, f)
            json.dumps(f.to_dict(), allow_nan=False)
            if f.verdict == "cannot tell":
                assert f.says.startswith("Cannot tell, because ")
                assert f.seconds_saved_per_step is None and f.usd_saved_per_step is None
            if f.verdict == "found":
                assert f.usd_saved_per_step is not None or f.money_reason, (path.name, f)
                assert f.evidence and (f.confidence or f.seconds_saved_per_step is None)
        order = [("found", "clear", "cannot tell").index(f.verdict) for f in findings]
        assert order == sorted(order)


def test_savings_never_exceed_the_step():
    for path in sorted(FIXTURES.glob("verl*")):
        report = read_log(path, gpus=8, usd_per_gpu_hour=2.0)
        for f in diagnose(report):
            if f.verdict == "found" and f.seconds_saved_per_step is not None and report.step_seconds:
                assert 0 <= f.seconds_saved_per_step <= report.step_seconds
                usd = f.seconds_saved_per_step * 8 * 2.0 / 3600
                assert f.usd_saved_per_step == approx(usd)


def test_padding_is_found_by_its_mfu():
    f = finding("update_bound", read("verl_table.md", gpus=8, usd_per_gpu_hour=2.0))
    usual = 0.75 * catalog.constant("train_efficiency").value
    assert f.verdict == "found" and f.seconds_saved_per_step == approx(91 * (1 - 0.025 / usual))
    assert f.evidence["faster_rollouts_at_most"] == approx(1.11, abs=0.005) and "1.11 times" in f.says
    assert f.evidence["training_share"] == approx(0.886, abs=0.001)
    assert f.usd_saved_per_step == approx(f.seconds_saved_per_step * 8 * 2 / 3600)
    busy = step(timing_s__gen=10, timing_s__update_actor=90, timing_s__step=100, perf__mfu__actor=0.4)
    assert finding("update_bound", read_log([busy])).verdict == "clear"
    blind = step(timing_s__gen=10, timing_s__update_actor=90, timing_s__step=100, perf__mfu__actor=0.0)
    assert finding("update_bound", read_log([blind])).verdict == "cannot tell"


def test_a_model_expectation_sharpens_the_update_rule():
    busy = read_log([step(timing_s__gen=10, timing_s__update_actor=90, timing_s__step=100)])
    f = finding("update_bound", busy, expectation={"update": 30.0})
    assert f.verdict == "found" and f.seconds_saved_per_step == 60 and f.confidence == "against the model"
    assert finding("update_bound", busy, expectation={"update": 80.0}).verdict == "clear"
    assert finding("update_bound", busy, expectation={"rollout": 80.0}).verdict == "cannot tell"


def test_tensor_parallel_needs_a_run():
    report = read("verl_8b_g5.log")
    assert finding("small_model_tensor_parallel", report).verdict == "cannot tell"
    run = {"rollout.tensor_parallel": 2, "model.name": "qwen3-0.6b", "hardware.gpu": "h100-sxm"}
    f = finding("small_model_tensor_parallel", report, run=run)
    assert f.verdict == "found" and f.evidence["weight_share_of_one_gpu"] < 0.05 and f.money_reason
    whole = Run(model={"name": "qwen3-0.6b"}, hardware={"gpu": "h100-sxm", "gpus": 8},
                rollout={"prompts_per_step": 256, "group_size": 5, "response_tokens": 4000, "tensor_parallel": 2})
    one = float(bill(whole.replace({"rollout.tensor_parallel": 1}))["rollout_seconds"])
    f = finding("small_model_tensor_parallel", report, run=whole, expectation={"rollout": one + 7})
    assert f.seconds_saved_per_step == approx(7) and f.confidence == "against the model"
    assert finding("small_model_tensor_parallel", report, run=run | {"model.name": "qwen3-32b"}).verdict == "clear"
    assert finding("small_model_tensor_parallel", report, run=run | {"rollout.tensor_parallel": 1}).verdict == "clear"


def test_rollouts_at_the_cap_hold_most_of_the_tokens():
    f = finding("truncated", read("verl_8b_g5.log", usd_per_gpu_hour=2.0))
    assert f.verdict == "found" and f.evidence["truncated_share"] == approx(0.897, rel=0.001)
    assert f.evidence["truncated_share_of_response_tokens"] == approx(0.8969 * 4096 / 4003.34, rel=1e-3)
    assert f.confidence.startswith("at most")
    assert finding("truncated", read("verl_cut_rates.log")).verdict == "clear"


def test_flat_groups_are_logged_or_bounded_and_both_budgets_are_said():
    f = finding("flat_groups", read("verl_8b_g5.log"))
    assert f.verdict == "found" and f.says.startswith("At least 67%") and f.confidence.startswith("at least")
    assert f.seconds_saved_per_step == approx((327.78 + 143.32 + 98.14) * (1 - 0.32566), rel=1e-3)
    assert "at a fixed number of prompts" in f.says and "at a fixed number of rollouts" in f.says
    f = finding("flat_groups", read("verl_zero_advantage.log"))
    assert f.says.startswith("100%") and f.confidence == "measured"


def test_the_table_of_homogeneous_groups():
    lines = [step(timing_s__gen=1, critic__score__mean=0.1819, critic__score__min=0, critic__score__max=1)]
    f = finding("flat_groups", read_log(lines, group_size=2))
    shares = f.evidence["mixed_share_by_group_size"]
    assert [shares[g] for g in (2, 4, 8, 16)] == approx([0.298, 0.551, 0.799, 0.960], abs=0.0006)
    per = f.evidence["mixed_groups_per_rollout"]
    assert [per[g] for g in (2, 4, 8, 16)] == approx([0.149, 0.138, 0.100, 0.060], abs=0.0006)


def test_a_trainer_that_waits_is_worth_the_overlap_bound():
    report = read_log(["perf 1: {'perf/train_wait_time': 97.2, 'perf/train_time': 81.4, 'perf/step_time': 178.6}"])
    f = finding("trainer_waits", report)
    assert f.verdict == "found" and f.evidence["overlap_at_most"] == approx(1.83, abs=0.01)
    assert f.seconds_saved_per_step == approx(81.4) and f.confidence.startswith("at most")
    turns = read("verl_8b_g5.log")
    assert finding("trainer_waits", turns).verdict == "clear"
    assert finding("trainer_waits", read("trl_bar.log")).verdict == "cannot tell"


def test_a_long_tail_empties_the_engines():
    f = finding("engines_wait", read("verl_8b_g5.log"))
    assert f.verdict == "found" and f.evidence["mean_over_max"] == approx(0.72, abs=0.005)
    assert f.seconds_saved_per_step == approx(698.88 * (1 - 496.72 / 690.43), rel=1e-3)


def test_weights_in_transfer():
    f = finding("weight_transfer", read("slime_wait.log", gpus=8, usd_per_gpu_hour=2.0))
    assert f.verdict == "found" and f.seconds_saved_per_step == approx(6.315, rel=1e-3)
    assert finding("weight_transfer", read("verl_table.md")).verdict == "clear"
    assert finding("weight_transfer", read("verl_8b_g5.log")).verdict == "cannot tell"
    f = finding("weight_transfer", read("slime_wait.log"), expectation={"weight_sync": 1.0})
    assert f.seconds_saved_per_step == approx(5.315, rel=1e-3)


def test_a_timeout_sets_the_stage():
    report = read("verl_agent_timeout.log", gpus=16)
    f = finding("timeout", report)
    assert f.verdict == "found" and f.evidence["limit_seconds"] == 3600 and f.confidence.startswith("possible")
    assert f.seconds_saved_per_step is None and f.money_reason
    assert finding("timeout", report, trajectory_timeout_seconds=3600).confidence == "measured"
    assert finding("timeout", report, trajectory_timeout_seconds=9000).verdict == "clear"
    many = read_log([step(n, timing_s__gen=1199 + n % 2, timing_s__step=1500) for n in range(1, 9)])
    assert finding("timeout", many).confidence == "likely"
    mixed = read_log([step(n, timing_s__gen=900 + 37 * n, timing_s__step=3000) for n in range(9)])
    assert finding("timeout", mixed).verdict == "clear", "one step of nine can be near by chance"


def test_few_sequences_are_latency_bound():
    f = finding("latency_bound", read("slime_flat.log"))
    assert f.verdict == "found"
    assert f.evidence["mean_sequences_in_flight_per_gpu"] == approx(32 * 2773.7 / 4096, rel=1e-3)
    assert f.evidence["seconds_per_token_of_the_longest"] == approx(1 / 11.035, rel=1e-3)
    assert finding("latency_bound", read("verl_small.log")).verdict == "clear"
    assert finding("latency_bound", read("verl_agent_timeout.log")).verdict == "cannot tell"
    f = finding("latency_bound", read("slime_flat.log"), expectation={"rollout": 100.0})
    assert f.seconds_saved_per_step == approx(271.18, rel=1e-3)


def test_faster_rollouts_by_amdahl():
    report = read_log([step(timing_s__gen=70, timing_s__update_actor=30, timing_s__step=100)])
    f = finding("faster_rollouts", report)
    assert f.evidence["step_gain_by_rollout_gain"] == {1.5: approx(1.30, abs=0.005), 2.0: approx(1.54, abs=0.005)}
    assert f.evidence["at_most"] == approx(3.33, abs=0.005) and f.seconds_saved_per_step == 35
    assert finding("faster_rollouts", read("verl_table.md")).verdict == "clear"


def test_validation_inside_the_step():
    f = finding("evaluation_inside", read("verl_wrapped.log"))
    assert f.verdict == "found" and f.evidence["parts_seconds"] == {"evaluation": 20.0, "checkpoint": 5.0}


def test_more_gpus_for_less():
    f = finding("more_gpus_for_less", read("nemo_table.csv", usd_per_gpu_hour=2.0))
    assert f.verdict == "found" and f.evidence["gpus"] == [128, 256]
    assert f.evidence["scaling_efficiency"] == approx(14.044 / 22.187, rel=1e-3)
    assert f.usd_saved_per_step == approx(2 * (22.187 - 14.044), rel=1e-3) and f.seconds_saved_per_step < 0
    assert finding("more_gpus_for_less", read("verl_8b_g5.log")).verdict == "cannot tell"
    # A benchmark gives each GPU its own batch: eight times the tokens in the same time is no waste.
    head = "type,model,lora_rank,num_gpus,device,seq_len,ac,success,mfu_pct,throughput_tok_s,step_time_s"
    rows = [head, "rl,M-4B,16,1,H100,16384,Recompute,True,21.7,6229.2,5.26",
            "rl,M-4B,16,8,H100,16384,Recompute,True,21.2,48719.2,5.38"]
    f = finding("more_gpus_for_less", read_log(rows))
    assert f.verdict == "cannot tell" and "as many tokens" in f.says


def test_step_counts():
    hour = read_log([step(timing_s__gen=300, timing_s__step=396)], gpus=8, group_size=8, rollouts=1024)
    f = finding("step_count", hour, planned_steps=4800, tasks=20_000)
    assert f.verdict == "found" and f.evidence["passes_over_the_tasks"] == approx(30.7, abs=0.1)
    assert f.evidence["hours"] == 528 and f.evidence["gpu_hours"] == 4224
    f = finding("step_count", hour, planned_steps=1000, tasks=20_000)
    assert f.verdict == "clear" and f.evidence["hours"] == 110 and f.evidence["gpu_hours"] == 880
    f = finding("step_count", hour, planned_steps=320, minibatch_prompts=8)
    assert f.evidence["optimizer_steps_per_rollout_step"] == 16 and "20 of these" in f.says
    assert finding("step_count", hour).verdict == "cannot tell"
    f = finding("step_count", read("trl_bar.log", gpus=8))
    assert f.evidence["hours"] == approx(78.1, abs=0.05) and f.evidence["gpu_hours"] == approx(625, rel=1e-3)


def test_comparing_two_logs_per_rollout():
    f = compare(read("verl_8b_g5.log", usd_per_gpu_hour=2.0), read("verl_8b_g4.log", usd_per_gpu_hour=2.0))
    assert f.evidence["step_seconds_ratio"] - 1 == approx(-0.27, abs=0.005)
    assert f.evidence["seconds_per_rollout"] == approx([0.991, 0.906], abs=0.0006)
    assert f.evidence["rollouts_per_second_gain"] == approx(1.094, abs=0.001) and "-8.6%" in f.says
    assert compare(read("verl_8b_g5.log"), read("trl_bar.log")).verdict == "cannot tell"


def test_unknown_context_is_refused():
    with pytest.raises(RleconError, match="unknown context"):
        diagnose(read("verl_8b_g5.log"), weather="fine")

"""Forecasts: coverage of the intervals on simulated logs, when the data cannot tell, and what is refused."""

import json

import numpy as np
import pytest

from rlecon import RleconError, Run, forecast
from rlecon.clocks import CLOCKS, clock
from rlecon.pilot import fit_pilot

GRID = np.linspace(1e-4, 1 - 1e-4, 50_001)
STEPS = 382


def curve(truth, length, *, start=0.2, end=0.6, steps=STEPS, ceiling=1.0):
    drive = (clock(truth, end, ceiling=ceiling) - clock(truth, start, ceiling=ceiling)) / steps
    return np.interp(
        clock(truth, start, ceiling=ceiling) + drive * np.arange(length), clock(truth, GRID), GRID * ceiling
    )


def logs(truth, *, length=50, rollouts=512, count=250, seed=0, **kind):
    rng = np.random.default_rng(seed)
    p = curve(truth, length, **kind)
    return rng.binomial(rollouts, p, (count, length)) / rollouts


def coverage(series, names, *, steps=STEPS, **kind):
    """Share of logs whose interval (the hull over ``names``) holds the truth, and its median width."""
    held, widths = [], []
    for rewards in series:
        lines = [fit_pilot(rewards, name, 0.6, **kind) for name in names]
        low = min(line.low for line in lines)
        high = max(line.high for line in lines) if all(line.decided for line in lines) else np.inf
        held.append(low <= steps <= high)
        widths.append(high / max(low, 1))
    return np.mean(held), np.median(widths)


@pytest.mark.parametrize("truth", ["grpo", "mean_success", "log"])
def test_the_right_clock_covers_what_it_says(truth):
    held, _ = coverage(logs(truth), [truth])
    assert abs(held - 0.8) < 4 * np.sqrt(0.8 * 0.2 / 250)


def test_width_of_the_right_clock():
    assert coverage(logs("grpo"), ["grpo"])[1] == pytest.approx(1.9, abs=0.15)
    assert coverage(logs("grpo", rollouts=4096, seed=1), ["grpo"])[1] == pytest.approx(1.25, abs=0.03)


def test_a_wrong_clock_fails_and_more_data_makes_it_surer():
    """The negative control: the log clock must not cover a run divided by the group's deviation."""
    few, _ = coverage(logs("grpo"), ["log"])
    many, _ = coverage(logs("grpo", rollouts=4096, seed=1), ["log"])
    assert few < 0.4
    assert many < 0.05
    flat, _ = coverage(logs("grpo", rollouts=4096, seed=1), ["constant"])
    assert flat < 0.5


@pytest.mark.parametrize("truth, rollouts", [("grpo", 512), ("grpo", 4096), ("mean_success", 512)])
def test_the_hull_covers(truth, rollouts):
    held, width = coverage(logs(truth, rollouts=rollouts, seed=2), list(CLOCKS))
    assert held > 0.83
    assert 1.8 < width < 6


def test_short_pilots_mostly_cannot_tell_and_the_rest_are_optimistic():
    lines = [fit_pilot(r, "grpo", 0.6) for r in logs("grpo", length=20)]
    undecided = [line for line in lines if not line.decided]
    assert 0.5 < len(undecided) / len(lines) < 0.8
    assert all(line.high == np.inf and line.low >= 0 for line in undecided)
    bounded = np.mean([line.low <= STEPS for line in undecided])
    assert bounded > 0.8
    assert np.median([line.mid for line in lines if line.decided]) < 0.65 * STEPS


def test_a_ceiling_must_be_stated():
    """Truth: three prompts in ten are never learned. Blind clocks promise too early; the stated ceiling covers."""
    series = logs("grpo", seed=3, ceiling=0.7, steps=STEPS)
    blind, _ = coverage(series, ["grpo"])
    told, _ = coverage(series, ["grpo"], ceiling=0.7)
    assert blind < 0.4
    assert abs(told - 0.8) < 4 * np.sqrt(0.8 * 0.2 / 250)


def test_a_pilot_cannot_see_the_ceiling():
    rewards = logs("grpo", seed=4, count=1, rollouts=10**7, ceiling=0.55, end=0.5)[0]
    assert fit_pilot(rewards, "grpo", 0.6).decided  # a finite answer, for a target that is never reached


def test_exact_limits():
    noiseless = curve("constant", 60)
    line = fit_pilot(noiseless, "constant", 0.6)
    assert line.mid == pytest.approx(STEPS, rel=0.02)
    assert line.high / line.low < 1.02
    holes = noiseless.copy()
    holes[5:12] = np.nan
    assert fit_pilot(holes, "constant", 0.6).mid == pytest.approx(line.mid, rel=0.01)


@pytest.mark.parametrize(
    "rewards, words",
    [
        (np.linspace(0.2, 0.3, 5), "too few"),
        (np.full(40, 0.2), "never changes"),
        (np.linspace(-0.5, 0.5, 40), "map -1"),
    ],
)
def test_pilots_that_are_none(rewards, words):
    with pytest.raises(RleconError, match=words):
        fit_pilot(rewards, "grpo", 0.6)


# --- the public function ---------------------------------------------------------------------------------------------
RUN = Run(
    model={"name": "qwen3-8b"},
    hardware={"gpu": "h100-sxm", "gpus": 8, "usd_per_gpu_hour": 2.5},
    rollout={"prompts_per_step": 64, "group_size": 8, "response_tokens": 2000, "max_response_tokens": 8192},
    reward={"pass_rate": 0.2},
    target={"pass_rate": 0.6},
)


def test_published_runs_are_sixteen_fold_apart():
    drives = forecast.published_drives()
    assert drives["constant"] == pytest.approx([2.8e-4, 4.4e-3], rel=0.02)
    for name, ratio in (("constant", 15.6), ("mean_success", 15.1), ("grpo", 15.4), ("log", 10.8)):
        assert max(drives[name]) / min(drives[name]) == pytest.approx(ratio, abs=0.1)
    found = forecast.target(RUN)
    assert found.basis == "published"
    assert found.steps["high"] / found.steps["low"] > 10
    assert any("pilot" in note.lower() for note in found.notes)


def test_a_pilot_narrows_the_forecast():
    rewards = logs("grpo", count=1, seed=5)[0]
    found = forecast.target(RUN, rewards)
    assert found.basis == "pilot"
    assert found.pilot_steps == 50
    assert found.steps["low"] < STEPS < found.steps["high"]
    assert found.steps["high"] / found.steps["low"] < 8
    one = forecast.target(RUN.replace({"target.objective": "grpo"}), rewards)
    assert found.steps["low"] <= one.steps["low"] < one.steps["high"] <= found.steps["high"]
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_a_pilot_that_cannot_tell():
    flat = np.random.default_rng(6).binomial(512, 0.2, 20) / 512
    found = forecast.target(RUN, flat)
    assert not found.decided
    said = found.to_dict()
    assert said["steps"]["high"] is None
    assert said["usd"]["high"] is None
    assert any("cannot tell" in note for note in found.notes)


def test_money_is_steps_times_the_bill():
    run = RUN.replace({"target.logit_per_step": 0.01, "target.objective": "log", "run.attempts": 2.0})
    run = run.replace({"environment.build_usd": 1000.0, "environment.runs": 4})
    found = forecast.target(run)
    from rlecon import bill

    step = bill(run.replace({"run.steps": 1.0}))
    assert found.usd["mid"] == pytest.approx(2 * found.steps["mid"] * float(step["usd_per_step"]) + 250)
    assert found.gpu_hours["mid"] == pytest.approx(2 * found.steps["mid"] * float(step["gpu_hours_per_step"]))
    share = 0.2
    way = clock("log", 0.6) - clock("log", share)
    assert found.steps["mid"] == pytest.approx(way * (1 - share) / 0.01)


def test_growing_responses_cost_more_up_to_the_cap():
    run = RUN.replace({"target.logit_per_step": 0.01, "target.objective": "log"})
    flat = forecast.target(run)
    grown = forecast.target(run.replace({"run.response_growth_per_step": 0.002}))
    assert grown.steps == flat.steps
    growth = (1.002 ** flat.steps["mid"] - 1) / 0.002 / flat.steps["mid"]
    assert 1 < grown.usd["mid"] / flat.usd["mid"] < growth * 1.2
    capped = forecast.target(run.replace({"run.response_growth_per_step": 0.05}))
    assert any("95%" in note for note in capped.notes)


def test_pairs_follow_the_mean_success_clock():
    run = RUN.replace({"target.logit_per_step": 0.01, "target.objective": "grpo", "rollout.group_size": 2})
    mean = forecast.target(run.replace({"target.objective": "mean_success"}))
    assert forecast.target(run).steps["mid"] == pytest.approx(mean.steps["mid"])


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"target.ceiling": 0.5}, "never gets there"),
        ({"target.pass_rate": 1.0}, "any number of steps"),
        ({"target.pass_rate": 0.1}, "not below the target"),
        ({"reward.pass_rate": 0.0}, "not below the target"),
        ({"reward.pass_rate": [0.1, 0.2]}, "one value per call"),
    ],
)
def test_what_is_refused(changes, words):
    with pytest.raises(RleconError, match=words):
        forecast.target(RUN.replace(changes))
    with pytest.raises(RleconError, match=r"target\.pass_rate"):
        forecast.target(Run())


def test_a_log_is_read(tmp_path):
    rewards = logs("grpo", count=1, seed=7, rollouts=512)[0]
    text = "".join(
        f"step:{i + 1} - critic/score/mean:{r:.6f} - critic/score/max:1.0 - critic/score/min:0.0 - "
        f"response_length/mean:2000.0 - timing_s/step:100.0 - timing_s/gen:60.0\n"
        for i, r in enumerate(rewards)
    )
    path = tmp_path / "pilot.log"
    path.write_text(text, encoding="utf-8")
    from_log = forecast.target(RUN, str(path))
    assert from_log.steps["mid"] == pytest.approx(forecast.target(RUN, rewards).steps["mid"], rel=1e-3)
    silent = tmp_path / "silent.log"
    silent.write_text(
        "step:1 - response_length/mean:2000.0 - timing_s/step:100.0 - timing_s/gen:60.0\n", encoding="utf-8"
    )
    with pytest.raises(RleconError, match="does not show a pass rate"):
        forecast.target(RUN, str(silent))


def test_the_bill_says_it_too():
    from rlecon import bill

    run = RUN.replace({"target.logit_per_step": 0.01})
    said = bill(run).to_dict()
    assert said["target"]["steps"]["mid"] == pytest.approx(forecast.target(run).steps["mid"])
    assert "target" not in bill(RUN.replace({"target.pass_rate": None})).to_dict()

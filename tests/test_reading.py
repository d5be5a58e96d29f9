"""rlecon read: a log with its diagnosis, and with the model beside it."""

import json

import pytest

from tests.test_cli import RUN, call

LOG = (
    "step:1 - critic/rewards/mean:0.3 - critic/rewards/max:1.0 - critic/rewards/min:0.0 - response_length/mean:900 - "
    "response_length/max:4000 - response_length/clip_ratio:0.02 - prompt_length/mean:100 - timing_s/gen:80 - "
    "timing_s/old_log_prob:10 - timing_s/update_actor:60 - timing_s/step:160 - perf/total_num_tokens:2048000 - "
    "perf/throughput:200\n"
)


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "a.log").write_text(LOG)
    (tmp_path / "run.toml").write_text(RUN)
    return str(tmp_path / "a.log"), str(tmp_path / "run.toml")


def test_json_of_a_log_alone(paths):
    done = call("read", paths[0], "--gpu", "h100-sxm", "--json")
    assert done.exit_code == 0, done.stderr
    out = json.loads(done.stdout)
    assert out["framework"] == "verl" and out["rollouts"] == 2048 and out["gpus"] == 64
    assert out["gpu_hours"] == pytest.approx(64 * 160 / 3600)
    assert out["usd"] == pytest.approx(out["gpu_hours"] * out["usd_per_gpu_hour"])
    assert {f["verdict"] for f in out["diagnosis"]} <= {"found", "clear", "cannot tell"}
    assert "expected" not in out


def test_with_a_run_the_model_stands_beside_the_log(paths):
    out = json.loads(call("read", paths[0], "--run", paths[1], "--json").stdout)
    from_log = ["reward.pass_rate", "rollout.prompt_tokens", "rollout.response_tokens"]
    assert out["expected"]["from_log"] == from_log  # cut at 4,000 tokens: not by the cap of the run file
    assert out["gap"]["step"] == pytest.approx(160 / out["expected"]["step_seconds"]["mid"])
    assert out["gap"]["rollout"] == pytest.approx(80 / out["expected"]["phases"]["rollout"])


def test_text_and_refusals(paths, tmp_path):
    text = call("read", paths[0], "--run", paths[1]).stdout
    assert text.startswith("verl, 1 step: a step takes") and "Model beside log" in text
    (tmp_path / "no.log").write_text("nothing to see\n")
    for bad in (str(tmp_path / "no.log"), str(tmp_path / "missing.log")):
        done = call("read", bad)
        assert done.exit_code == 2 and done.stdout == "" and done.stderr.startswith("rlecon: ")


def test_savings_stand_in_dollars_or_without_a_price_in_time(paths):
    words = call("read", paths[0], "--gpus", "64").stdout
    priced = call("read", paths[0], "--gpus", "64", "--usd-per-gpu-hour", "2.5").stdout
    saved = json.loads(call("read", paths[0], "--gpus", "64", "--json").stdout)["diagnosis"][0]
    assert saved["seconds_saved_per_step"] > 0 and saved["usd_saved_per_step"] is None
    assert "Saves up to $" in priced and "Saves up to $" not in words and "Saves up to" in words


def test_binary_reward_lets_a_mean_reward_be_the_pass_rate(tmp_path):
    log = tmp_path / "trl.log"
    log.write_text("{'loss': 0.0, 'completion_length': 500.0, 'reward': 0.25, 'reward_std': 0.1}\n")
    plain = json.loads(call("read", str(log), "--json").stdout)
    assert plain["pass_rate"] is None and any("binary_reward" in flag for flag in plain["flags"])
    said = json.loads(call("read", str(log), "--binary-reward", "--json").stdout)
    assert said["pass_rate"] == 0.25 and said["bits_per_rollout"] == pytest.approx(0.811, abs=0.001)


def test_rollouts_may_be_said(tmp_path):
    log = tmp_path / "verl.log"
    log.write_text("step:1 - timing_s/gen:10 - timing_s/step:30 - response_length/mean:100\n")
    assert json.loads(call("read", str(log), "--json").stdout)["rollouts"] is None
    out = json.loads(call("read", str(log), "--rollouts", "64", "--json").stdout)
    assert out["rollouts"] == 64 and out["response_tokens"] == 6400 and out["rollouts_from"] == "given"

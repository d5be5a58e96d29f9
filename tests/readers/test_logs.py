"""Logs: text, numbers, detection, averages and what stays unknown."""

from __future__ import annotations

import json
import math

import pytest

from rlecon.errors import RleconError
from rlecon.readers import logs, text
from rlecon.readers.logs import read_log
from tests.log_lines import FIXTURES, step


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("0.5", 0.5), ("-1e-08", -1e-8), ("np.float64(0.19)", 0.19), ("tensor(2.5, device='cuda:0')", 2.5),
        ("57%", 0.57), ("~29s", 29.0), ("2.3-2.7%", 0.025), ("3597s (60 min)", 3597.0), ("1,234.5 tok/s", 1234.5),
        ("0.12…", None), ("0.12...", None), ("?", None), ("", None), ("nan", None), ("inf", None), ("1e400", None),
        ("9" * 300, None),
    ],
)  # fmt: skip
def test_a_number_is_read_as_printed_or_not_at_all(printed, value):
    assert text.number(printed) == (None if value is None else pytest.approx(value))


def test_pairs_take_every_style_and_no_cut_value():
    line = "{'a/b': 1.5, \"c\": '2', d: 3, 'e': np.float64(4.0), 'f': 0.1…, 'g': 281.24s/it"
    assert text.pairs(line) == {"a/b": 1.5, "c": 2.0, "d": 3.0, "e": 4.0}


def test_the_smallest_batch_is_found_and_refused():
    assert text.smallest_batch(2773.71484375, 0.46484375) == 256
    assert text.smallest_batch(0.1) is None and text.smallest_batch(3.0) is None


def test_lines_of_a_file_survive_its_bytes(tmp_path):
    path = tmp_path / "x.log"
    path.write_bytes(b"\xff\xfe caf\xc3\xa9\r\n\x1b[36mred\x1b[0m\r 5%|\n" + b"a" * 1_000_000 + b"\nlast:1.2")
    lines = list(text.read_lines(path))
    assert lines[1] == "red" and lines[2] == " 5%|" and "café" in lines[0]
    assert len(lines[3]) <= 2**18 + 1 and lines[3].endswith(text.CUT)
    assert lines[4] == "last:1.2" + text.CUT


def test_a_line_over_several_chunks_is_cut_not_kept(tmp_path):
    path = tmp_path / "x.log"
    path.write_bytes(b"first\n" + b"b" * 5_000_000 + b"\nlast\n")
    lines = list(text.read_lines(path))
    assert [len(line) for line in lines] == [5, 2**18 + 1, 4]


def test_progress_reaches_the_end(tmp_path):
    path = tmp_path / "x.log"
    path.write_text("\n".join(step(n, timing_s__gen=1, timing_s__step=2) for n in range(60_000)))
    seen = []
    report = read_log(path, progress=lambda done, total: seen.append((done, total)))
    size = path.stat().st_size
    assert len(seen) > 1 and seen[-1] == (size, size)
    assert report.total["steps"] == 60_000 and len(report.steps) <= logs._LISTED
    numbers = [s.step for s in report.steps]
    assert {b - a for a, b in zip(numbers[:-1], numbers[1:], strict=True)} == {numbers[1] - numbers[0]}


def test_averages_are_means_and_pooled_ratios():
    report = read_log(
        [
            step(1, timing_s__gen=60, timing_s__step=100, response_length__mean=10, prompt_length__mean=10,
                 perf__total_num_tokens=640, perf__throughput=3.2, critic__score__mean=0.5, critic__score__max=1,
                 critic__score__min=0),
            step(2, timing_s__gen=20, timing_s__testing=100, timing_s__step=200, response_length__mean=30,
                 prompt_length__mean=10, perf__total_num_tokens=1280, perf__throughput=3.2, critic__score__mean=0.25,
                 critic__score__max=1, critic__score__min=0),
        ]
    )  # fmt: skip
    assert report.step_seconds == 150 and report.phase_seconds["rollout"] == 40
    assert report.phase_seconds["evaluation"] == 50, "a whole step without validation spent no time on it"
    assert report.phase_share["rollout"] == pytest.approx(80 / 300)
    assert sum(report.phase_share.values()) == pytest.approx(1)
    assert report.rollouts == 32 and report.gpus == 2 and report.pass_rate == 0.375
    quarter = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert report.bits_per_rollout == pytest.approx((1 + quarter) / 2)
    assert report.bits_per_token == pytest.approx((1 + quarter) / 40)
    assert report.bits_per_gpu_hour == pytest.approx(32 * (1 + quarter) / (2 * 300 / 3600))
    assert report.total == {"steps": 2, "seconds": 300, "gpu_hours": pytest.approx(1 / 6), "usd": None, "rollouts": 64}
    assert any(flag.startswith("step_seconds: validation (100 s)") for flag in report.flags)


def test_money_needs_a_price_and_says_whose():
    lines = [step(1, timing_s__step=3600)]
    assert read_log(lines, gpus=4, usd_per_gpu_hour=2.5).usd == pytest.approx(10)
    assert read_log(lines, gpus=4).usd is None
    listed = read_log(lines, gpus=4, gpu="h100-sxm")
    assert listed.usd == pytest.approx(4 * listed.usd_per_gpu_hour) and listed.gpu == "h100-sxm"
    assert any("catalogue's median" in flag for flag in listed.flags)
    assert any("not in the catalogue" in flag for flag in read_log(lines, gpus=4, gpu="abacus").flags)


def test_every_unknown_has_a_reason():
    report = read_log([step(1, timing_s__gen=5)])
    told = {flag.split(":")[0] for flag in report.flags}
    for key, value in report.to_dict().items():
        if key in logs.WHY_UNKNOWN and (value is None or value == {}):
            assert key in told, key


def test_the_report_is_plain_json_with_the_keys_of_the_contract():
    report = read_log(FIXTURES / "verl_8b_g5.log", usd_per_gpu_hour=2.0)
    out = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    keys = {
        "rollouts", "group_size", "gpus", "step_seconds", "phase_seconds", "phase_share", "response_tokens",
        "all_tokens", "gpu_hours", "usd", "pass_rate", "bits_per_rollout", "bits_per_token", "bits_per_gpu_hour",
        "mixed_group_share", "truncated_share", "flags",
    }  # fmt: skip
    assert keys | {"framework", "steps"} <= out.keys() and keys <= out["steps"][0].keys()


def test_given_numbers_win_and_a_clash_is_said():
    report = read_log(FIXTURES / "verl_8b_g5.log", gpus=16, group_size=10, rollouts=640)
    assert (report.gpus, report.group_size, report.rollouts) == (16, 10, 640)
    assert report.gpus_from == report.group_size_from == report.rollouts_from == "given"
    assert any("the log's own rates fit 8" in flag for flag in report.flags)
    assert any("the log shows 5" in flag for flag in report.flags)


@pytest.mark.parametrize(
    ("low", "high", "mean", "rate"),
    [(0, 1, 0.25, 0.25), (-1, 1, 0.0, 0.5), (-3, 5, 0.5, None), (0.2, 0.7, 0.5, None), (0, 0, 0, 0), (1, 1, 1, 1),
     (0, 1, 1.5, None)],
)  # fmt: skip
def test_a_reward_is_a_pass_rate_only_if_its_range_says_so(low, high, mean, rate):
    report = read_log(
        [step(1, timing_s__gen=1, critic__score__mean=mean, critic__score__min=low, critic__score__max=high)]
    )
    assert report.pass_rate == rate and report.mean_reward == mean


def test_a_lone_mean_reward_is_a_pass_rate_only_when_told():
    lines = [step(1, timing_s__gen=1, critic__score__mean=0.3)]
    assert read_log(lines).pass_rate is None
    assert read_log(lines, binary_reward=True).pass_rate == 0.3
    assert read_log([step(1, timing_s__gen=1, critic__score__mean=1.3)], binary_reward=True).pass_rate is None


def test_phases_that_overlap_are_not_made_to_add_up():
    report = read_log([step(1, timing_s__gen=80, timing_s__update_actor=70, timing_s__step=100)])
    assert report.steps[0].overlapping and "other" not in report.phase_seconds
    assert sum(report.phase_share.values()) == pytest.approx(1.5)
    assert any(flag.startswith("phase_share: phases run at the same time") for flag in report.flags)


def test_a_step_number_that_goes_back_is_kept_and_said():
    report = read_log([step(n, timing_s__step=10) for n in (1, 2, 2, 3)])
    assert report.total["steps"] == 4 and report.total["seconds"] == 40
    assert any("goes back 1 times" in flag for flag in report.flags)


@pytest.mark.parametrize(
    "bad",
    [{"gpus": 0}, {"gpus": 2.5}, {"group_size": -1}, {"usd_per_gpu_hour": float("nan")}, {"rollouts": "many"},
     {"framework": "keras"}],
)  # fmt: skip
def test_bad_arguments_are_one_clear_error(bad):
    with pytest.raises(RleconError) as caught:
        read_log([step(1, timing_s__step=1)], **bad)
    assert caught.value.field == next(iter(bad))


def test_what_cannot_be_read_is_refused(tmp_path):
    for source in ([], ["nothing here"], ["Step: 826/4725, Loss: -0.01, Iteration time: 80.240s, Reward: 1.5"]):
        with pytest.raises(RleconError, match="no line of this log"):
            read_log(source)
    with pytest.raises(RleconError, match="cannot be opened"):
        read_log(tmp_path / "missing.log")
    with pytest.raises(RleconError, match="cannot be opened"):
        read_log(tmp_path)
    with pytest.raises(RleconError, match="cannot be opened"):
        read_log("a\0b")
    with pytest.raises(RleconError, match="no training step of verl"):
        read_log(["step:0 - val-core/math/reward/mean@1:0.4"], framework="verl")


def test_frameworks_are_told_apart():
    files = [path for path in sorted(FIXTURES.iterdir()) if path.name != "skyrl_table.md"]
    names = {path.name: read_log(path).framework for path in files}
    for name, framework in names.items():
        expected = next(f for f in logs.FRAMEWORKS if name.startswith(f.split("_")[0]))
        assert framework == expected, name


def test_nothing_is_executed(tmp_path):
    target = tmp_path / "touched"
    evil = f"perf 0: {{'perf/rollout_time': __import__('os').system('touch {target}'), 'perf/step_time': 3.0}}"
    assert read_log([evil]).step_seconds == 3.0
    assert not target.exists()


def test_a_line_with_commas_and_slashes_is_no_table():
    odd = "INFO loaded a/b, c/d, e/f, and g/h"
    ten, thirty = step(1, timing_s__step=10), step(2, timing_s__step=30)
    assert read_log([odd, ten, "x/y, z/w, v/u", thirty]).step_seconds == 20
    assert read_log([odd, odd.replace(",", ";"), ten, odd, odd, thirty]).step_seconds == 20

"""The command line: one JSON object or one screen; one message and status 2 for bad input, never a traceback."""

import builtins
import errno
import io
import json
import os
import pathlib
import subprocess
import sys

import pytest
from click.testing import CliRunner

from rlecon.cli import main

RUN = """
[model]
name = "qwen3-8b"
[hardware]
gpu = "h100-sxm"
gpus = 64
[rollout]
prompts_per_step = 256
group_size = 8
prompt_tokens = 512
response_tokens = 4000
response_tokens_cv = 0.8
max_response_tokens = 8192
[reward]
pass_rate = 0.3
[run]
steps = 200
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text(RUN)
    return str(file)


def call(*args):
    return CliRunner().invoke(main, list(args))


def test_estimate_json_is_one_object(path):
    done = call("estimate", path, "--json", "--set", "hardware.gpus=128")
    assert done.exit_code == 0 and done.stderr == ""
    out = json.loads(done.stdout)
    assert out["run"]["hardware.gpus"] == {"value": 128, "from": "flag"}
    assert out["step_seconds"]["low"] < out["step_seconds"]["mid"] < out["step_seconds"]["high"]


def test_estimate_text_is_one_screen_with_the_answer_first(path):
    done = call("estimate", path)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 200
    assert lines[0].startswith("qwen3-8b on 64 H100 SXM: a step takes") and "$" in lines[0]
    for heading in ("Where a step goes", "Change this first", "Filled in"):
        assert heading in done.stdout


def test_every_resolved_input_says_where_it_is_from(path):
    out = json.loads(call("estimate", path, "--json").stdout)["run"]
    assert out["hardware.memory_bytes"]["from"] == "catalogue: h100-sxm"
    assert not [key for key, row in out.items() if row["from"] == "not given"]


def test_everything_may_come_from_flags():
    done = call("estimate", "--json", *(
        part for pair in (
            "model.name=qwen3-8b", "hardware.gpu=h100-sxm", "hardware.gpus=8", "rollout.prompts_per_step=32",
            "rollout.group_size=4", "rollout.response_tokens=1000",
        ) for part in ("--set", pair)
    ))  # fmt: skip
    assert done.exit_code == 0
    out = json.loads(done.stdout)
    assert out["money"]["usd_run"]["mid"] is None and out["money"]["usd_per_step"]["mid"] > 0


@pytest.mark.parametrize(
    "extra, words",
    [
        (["--set", "reward.pass_rate=1.2"], "reward.pass_rate = 1.2"),
        (["--set", "reward.pass_rate=nan"], "reward.pass_rate = nan"),
        (["--set", "hardware.gpus=-4"], "hardware.gpus = -4 GPU"),
        (["--set", "model.name=qwen3-9b"], "did you mean"),
        (["--set", "hardware.gpu=h1000"], "did you mean"),
        (["--set", "hardware.rollout_gpus=200"], "no GPU of 64"),
        (["--set", "hardware.gpu=a100-sxm-80", "--set", "rollout.weight_bits=8"], "rollout.weight_bits = 8 bit"),
        (["--set", "model.name=deepseek-v3", "--set", "hardware.gpus=2"], "GB"),
        (["--set", "hardware.gpuss=2"], "did you mean hardware.gpus"),
        (["--set", "nonsense"], "section.key=value"),
        (["--set", "model.config=/nowhere/config.json"], "model.name"),
    ],
)
def test_bad_input_is_one_message_and_status_2(path, extra, words):
    for form in ([], ["--json"]):
        done = call("estimate", path, *extra, *form)
        assert done.exit_code == 2
        assert done.stdout == ""
        assert words in done.stderr and "Traceback" not in done.stderr


def test_a_typo_names_line_and_key(tmp_path):
    file = tmp_path / "typo.toml"
    file.write_text(RUN.replace("group_size", "group_sise"))
    done = call("estimate", str(file))
    assert done.exit_code == 2
    assert "rollout.group_sise" in done.stderr and "line 9" in done.stderr and "rollout.group_size" in done.stderr


def test_missing_files_and_no_input():
    assert call("estimate", "/nowhere/run.toml").exit_code == 2
    assert call("estimate").exit_code == 2
    assert call("model", "/nowhere/config.json").exit_code == 2


READERS = {  # each command that reads a file, with what it says of an empty one
    "estimate": "hardware.gpu: not given",
    "levers": "hardware.gpu: not given",
    "target": "target.pass_rate: not given",
    "read": "no line of this log has the keys of a framework",
    "import": "a launch config is a mapping",
    "model": "not valid JSON",
}
COMMANDS = [*([name] for name in READERS), ["target", "--pilot"], ["read", "--run"]]


def of_file(command, file, tmp_path):
    """The command on that file: as its argument, or as its option beside a good argument."""
    if len(command) == 1:
        return call(*command, str(file))
    (tmp_path / "good.toml").write_text(RUN + "[target]\npass_rate = 0.6\n")
    return call(command[0], str(tmp_path / "good.toml"), command[1], str(file))


def one_message(done, *words):
    assert done.exit_code == 2 and done.stdout == "" and "Traceback" not in done.stderr
    said = done.stderr.splitlines()[-1]
    assert all(word in said for word in words), done.stderr
    assert len(done.stderr.splitlines()) == 1 or done.stderr.startswith("Usage: ")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_directory_is_no_file(command, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    one_message(of_file(command, folder, tmp_path), str(folder))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_file_that_may_not_be_read_is_one_message(command, tmp_path, monkeypatch):
    """Tests may run as one who may read everything, so the system's refusal is imitated at each way to open a file."""
    file = tmp_path / "secret.json"
    file.write_text(RUN)

    def refusing(real):
        def opened(path, *args, **kwargs):
            if not isinstance(path, int) and os.fspath(path) == str(file):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
            return real(path, *args, **kwargs)

        return opened

    for home, name in ((builtins, "open"), (io, "open"), (os, "open"), (pathlib.Path, "open")):
        monkeypatch.setattr(home, name, refusing(getattr(home, name)))
    with pytest.raises(PermissionError):
        file.read_text()
    one_message(of_file(command, file, tmp_path), str(file), "Permission denied")


def test_the_command_line_itself_asks_the_system(path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    one_message(call("estimate", path), path, "is not readable")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_bytes_that_are_no_text_are_one_message(command, tmp_path):
    file = tmp_path / "bytes.json"
    file.write_bytes(b"\xff\xfe\x00[model]\x80\n")
    log = command in (["read"], ["target", "--pilot"])  # of a log, any bytes are read
    words = READERS["read" if log else "model"] if log or command == ["model"] else "UTF-8"
    one_message(of_file(command, file, tmp_path), words)


@pytest.mark.parametrize("content", ["", " \n\n"])
@pytest.mark.parametrize("command", READERS)
def test_an_empty_file_says_what_it_lacks(command, content, tmp_path):
    file = tmp_path / "empty.json"
    file.write_text(content)
    one_message(call(command, str(file)), READERS[command])


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("hardware.gpus=[8, 16]",), "several values"),
        (("hardware.gpus=[]",), "hardware.gpus"),
        (("hardware.gpus=[8, 16]", "reward.pass_rate=[0.1, 0.2, 0.3]"), "do not broadcast"),
        (("rollout.response_tokens=1e-300",), "at least 1"),
    ],
)
def test_lists_and_tiny_numbers_are_refused_in_words(path, extra, words):
    done = call("estimate", path, *(part for item in extra for part in ("--set", item)))
    assert done.exit_code == 2 and words in done.stderr and done.stderr.count("\n") == 1


def test_lists_are_priced_as_json_and_say_which_points_are_impossible(path):
    done = call("estimate", path, "--json", "--set", "rollout.response_tokens=[4000, 9000]")
    out = json.loads(done.stdout)
    assert out["step_seconds"]["mid"][0] > 0 and out["step_seconds"]["mid"][1] is None
    assert any("cap" in line for line in out["warnings"])


@pytest.mark.parametrize("rate", ["0", "-0.0", "1"])
def test_a_pass_rate_at_its_end_teaches_nothing_and_says_so(path, rate):
    done = call("estimate", path, "--set", f"reward.pass_rate={rate}")
    assert done.exit_code == 0 and "no group teaches" in done.stdout


@pytest.mark.parametrize(
    "item",
    ["update.pipeline_parallel=[1,2]", "run.steps=[100,200]", "environment.build_usd=[1,2]", "rollout.group_size=[1,2]",
     "hardware.usd_per_gpu_hour=[1,2]", "run.attempts=[1,2]", "rollout.environment_cpus=[1,2]"],
)  # fmt: skip
def test_a_list_of_any_key_is_strict_json(path, item):
    done = call("estimate", path, "--json", "--set", item, "--set", "target.pass_rate=0.6")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["sensitivity"] == []


GRPO_TARGET = ("--set", "target.pass_rate=0.6", "--set", "target.objective=grpo")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["estimate", "--set", "rollout.group_size=1e300"], "rollout.group_size = 1e+300 rollout: too large"),
        (["estimate", "--set", "hardware.usd_per_gpu_hour=1e-300"], "too small to be meant"),
        (["target", *GRPO_TARGET, "--set", "rollout.group_size=1e9"], "up to 10,000 with a target"),
        (["estimate", "--set", "rollout.engine=" + "x" * 10_000], "(10002 characters)"),
        (["estimate", "--set", "y" * 10_000 + "=1"], "(10000 characters)"),
        (["estimate", "--set", "=1"], "(empty)"),
        (["estimate", "--set", "run.steps=" + "[" * 5000], "run.steps"),
        (["estimate", "--set", "run.steps=" + "9" * 5000], "run.steps"),
        (["read", "--set", "hardware.gpus=8"], "--run RUN.toml"),
    ],
)
def test_hostile_values_get_one_short_line(path, command, words):
    done = call(command[0], path, *command[1:])
    assert done.exit_code == 2 and words in done.stderr
    assert done.stderr.count("\n") == 1 and len(done.stderr) < 700


LOAD = ("decode", "--model", "qwen3-8b", "--gpu", "h100-sxm", "--prompt-tokens", "9", "--response-tokens", "9")
UPDATE = ("train", "--model", "qwen3-8b", "--gpu", "h100-sxm", "--gpus", "8", "--sequence-tokens", "4096")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((*LOAD, "--batch", "1e300"), "batch"),
        ((*LOAD, "--batch", "8", "--kv-bits", "3"), "kv_bits = 3 bit: no such precision"),
        ((*LOAD, "--batch", "8", "--engine-memory-share", "1e-9"), "leave no room for one sequence"),
        ((*UPDATE, "--tokens", "1e300"), "tokens = 1e+300 token"),
        ((*UPDATE, "--tokens", "1e6", "--optimizer-steps", "0"), "--optimizer-steps"),
    ],
)
def test_one_phase_refuses_what_cannot_be(command, words):
    done = call(*command)
    assert done.exit_code == 2 and words in done.stderr and "nan" not in done.stderr


def test_a_huge_group_is_priced_at_once(path):
    assert call("estimate", path, "--set", "rollout.group_size=1000000000").exit_code == 0


def test_output_that_cannot_be_written_is_one_message(path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    command = [sys.executable, "-m", "rlecon.cli", "estimate", path]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "output" in done.stderr


def test_model_by_name():
    done = call("model", "qwen3-8b", "--json")
    out = json.loads(done.stdout)
    assert out["total_parameters"] == 8_190_735_360 and out["kv_bytes_per_token"] == 147_456
    text = call("model", "qwen3-8b").stdout
    assert "147,456 bytes" in text


def test_formulas():
    rows = json.loads(call("formulas", "--json").stdout)["formulas"]
    assert {"name", "latex", "quantities", "source", "holds_when"} <= set(rows[0])
    assert len(rows) > 100
    one = call("formulas", "kv_room_bytes")
    assert one.exit_code == 0 and "engine_memory_share" in one.stdout
    wrong = call("formulas", "kv_rom_bytes")
    assert wrong.exit_code == 2 and "kv_room_bytes" in wrong.stderr


def test_schema_is_a_json_schema():
    made = json.loads(call("schema", "--json").stdout)
    assert made["title"] == "rlecon run file" and "$defs" in made


HEAVY = ("scipy", "matplotlib", "unittest", "yaml", "rlecon.calibration", "rlecon.changes", "rlecon.readers.logs")


@pytest.mark.parametrize(
    "command, unwanted",
    [
        ("estimate RUN", HEAVY),
        ("estimate RUN --json", HEAVY),
        ("estimate RUN --set reward.false_positive_rate=0.1", HEAVY),
        ("estimate RUN --set rollout.max_sequences_per_engine=16", HEAVY),  # rollouts in waves
        ("decode --model qwen3-8b --gpu h100-sxm --batch 64 --prompt-tokens 512 --response-tokens 4000", HEAVY),
        ("train --model qwen3-8b --gpu h100-sxm --gpus 8 --tokens 1e6 --sequence-tokens 4096", HEAVY),
        ("model qwen3-8b", (*HEAVY, "sympy")),
        ("schema", (*HEAVY, "sympy")),
        ("estimate --help", (*HEAVY, "sympy", "numpy")),
    ],
)
def test_a_command_loads_only_what_it_needs(path, command, unwanted):
    command = [str(path) if word == "RUN" else word for word in command.split()]
    script = (
        "import atexit, sys\nfrom rlecon.cli import main\n"
        f"atexit.register(lambda: print([m for m in {unwanted} if m in sys.modules], file=sys.stderr))\n"
        f"main({command})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_two_clean_runs_give_the_same_bytes(path):
    command = [sys.executable, "-m", "rlecon", "estimate", path, "--json"]
    outs = {subprocess.run(command, capture_output=True, check=True).stdout for _ in range(2)}
    assert len(outs) == 1

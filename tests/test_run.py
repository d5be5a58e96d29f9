"""The run file: types, bounds, typos with line and key, overrides, arrays, schema."""

import numpy as np
import pytest

from rlecon.errors import RleconError
from rlecon.run import KEYS, Run, parse_override, schema

TEXT = """
[model]
name = "qwen3-8b"
[hardware]
gpu = "h100-sxm"
gpus = 64
[rollout]
prompts_per_step = 256
group_size = 8
response_tokens = 4000
"""


def test_values_and_origins():
    run = Run.from_text(TEXT, overrides=["hardware.gpus=128", "rollout.engine=tuned"])
    assert run["hardware.gpus"] == 128 and run.origins["hardware.gpus"] == "flag"
    assert run["rollout.engine"] == "tuned"
    assert run["rollout.group_size"] == 8 and run.origins["rollout.group_size"] == "file"
    assert run["rollout.turns"] == 1 and run.origins["rollout.turns"] == "default"
    assert run["run.steps"] is None and run.origins["run.steps"] == "not given"


@pytest.mark.parametrize(
    "line, message",
    [
        ("group_sze = 3", r"rollout.group_sze: no such key \(line 11\); did you mean rollout.group_size"),
        ("group_size = 3.5", "whole number"),
        ("oversampling = 0.5", "of at least 1"),
        ("oversampling = nan", "of at least 1"),
        ("oversampling = inf", "of at least 1"),
        ("weight_bits = 12", "4, 8, 16"),
        ('engine = "tund"', "did you mean tuned"),
        ('turns = "many"', "number"),
        ("turns = true", "number"),
        ("partial_rollouts = 1", "true, false"),
        ("speculative_acceptance = 1.0", "below 1"),
        ("response_tokens_cv = -1", "of at least 0"),
        ("response_tokens_cv 1", r"not valid TOML: .*line 11"),
    ],
)
def test_bad_lines_name_key_value_and_range(line, message):
    text = TEXT.replace("group_size = 8\n", "") if "group_size = 3.5" in line else TEXT
    with pytest.raises(RleconError, match=message):
        Run.from_text(text + line)


def test_unknown_sections_and_scalars_for_tables():
    with pytest.raises(RleconError, match="did you mean rollout"):
        Run.from_text("[rolout]\nturns = 2")
    with pytest.raises(RleconError, match="is a table"):
        Run.from_text("rollout = 3")
    with pytest.raises(RleconError, match="is a table"):
        Run(rollout=3)


def test_missing_and_unreadable_files(tmp_path):
    with pytest.raises(RleconError, match="cannot read the run file"):
        Run.from_file(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(RleconError, match="UTF-8"):
        Run.from_file(tmp_path / "latin.toml")


def test_nested_too_deeply_and_a_mark_of_the_byte_order(tmp_path):
    with pytest.raises(RleconError, match="nested too deeply"):
        Run.from_text("a = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(RleconError, match="not valid TOML"):
        Run.from_text("[run]\nsteps = " + "9" * 5000)
    (tmp_path / "bom.toml").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert Run.from_file(tmp_path / "bom.toml")["rollout.group_size"] == 8


def test_config_paths_are_relative_to_the_run_file(tmp_path):
    (tmp_path / "run.toml").write_text('[model]\nconfig = "config.json"')
    assert Run.from_file(tmp_path / "run.toml")["model.config"] == str(tmp_path / "config.json")


def test_overrides():
    assert parse_override("hardware.gpus=128") == ("hardware.gpus", 128)
    assert parse_override("model.name=qwen3-8b") == ("model.name", "qwen3-8b")
    with pytest.raises(RleconError, match="section.key=value"):
        parse_override("hardware.gpus")
    with pytest.raises(RleconError, match="did you mean hardware.gpus"):
        parse_override("hardware.gpu_s=1")


def test_arrays_are_checked_element_by_element():
    run = Run(reward={"pass_rate": [0.1, 0.5]}, rollout={"group_size": np.array([2, 4])})
    assert isinstance(run["reward.pass_rate"], np.ndarray)
    for bad in ([0.1, 1.5], [0.1, float("nan")], [[0.1], ["x"]]):
        with pytest.raises(RleconError, match="reward.pass_rate"):
            Run(reward={"pass_rate": bad})
    with pytest.raises(RleconError, match="group_size"):
        Run(rollout={"group_size": [2, 2.5]})


def test_replace_keeps_the_rest_and_none_takes_back():
    run = Run.from_text(TEXT)
    other = run.replace({"rollout.group_size": 2, "hardware.gpu": None})
    assert other["rollout.group_size"] == 2 and other["hardware.gpu"] is None
    assert run["rollout.group_size"] == 8
    assert other.given()["rollout"] == {"prompts_per_step": 256, "group_size": 2, "response_tokens": 4000.0}


def test_ppo_brings_its_critic():
    assert Run(model={"algorithm": "ppo"})["update.critic"] is True
    assert Run(model={"algorithm": "ppo"}, update={"critic": False})["update.critic"] is False


def test_schema_names_every_key_with_its_meaning():
    made = schema()
    for name in KEYS:
        section, key = name.split(".")
        struct = made["$defs"]["RunFile"]["properties"][section]
        target = (struct.get("$ref") or struct["allOf"][0]["$ref"]).rsplit("/", 1)[-1]
        assert made["$defs"][target]["properties"][key].get("description") or "anyOf" in str(
            made["$defs"][target]["properties"][key]
        )
        assert KEYS[name].meaning

"""The shipped schema is the run file's own, and accepts and refuses what the run file does."""

import json
import tomllib
from importlib import resources

import pytest

from rlecon.calculators import CAPPED
from rlecon.errors import RleconError
from rlecon.run import KEYS, Run, schema

jsonschema = pytest.importorskip("jsonschema")


def test_the_shipped_file_is_what_the_package_makes():
    text = resources.files("rlecon.data").joinpath("run.schema.json").read_text(encoding="utf-8")
    made = json.loads(json.dumps(schema()))
    assert json.loads(text) == made, "write it again: rlecon schema > rlecon/data/run.schema.json"


def test_it_is_a_schema_with_every_key_and_no_null():
    made = schema()
    jsonschema.Draft202012Validator.check_schema(made)
    refs = made["$defs"]["RunFile"]["properties"].items()
    sections = {name: made["$defs"][x["$ref"].rsplit("/", 1)[1]] for name, x in refs}
    found = {f"{section}.{key}" for section, table in sections.items() for key in table["properties"]}
    assert found == set(KEYS)
    assert "null" not in json.dumps(made)
    assert all(field["description"] for table in sections.values() for field in table["properties"].values())


GOOD = [
    CAPPED,
    {},
    {"hardware": {"gpu": "custom", "memory_bytes": 64e9}},
    {"update": {"overlap": "full", "critic": True}},
    {"judge": {"name": "qwen3-32b", "role": "teacher", "gpus": 8}},
    {"rollout": {"weight_bits": 4}},
]
BAD = [
    {"hardware": {"gpuss": 8}}, {"hardwares": {}}, {"hardware": {"gpus": 0}}, {"hardware": {"gpus": 2.5}},
    {"hardware": {"gpus": "8"}}, {"hardware": {"gpu": "h1000"}}, {"model": {"name": "gpt-7"}},
    {"reward": {"pass_rate": 1.2}}, {"rollout": {"weight_bits": 5}}, {"rollout": {"engine": "fast"}},
    {"rollout": {"speculative_acceptance": 1.0}}, {"rollout": {"response_tokens": 0}}, {"update": {"critic": "yes"}},
]  # fmt: skip


@pytest.mark.parametrize("table", GOOD)
def test_what_a_run_accepts_the_schema_accepts(table):
    Run(**table)
    jsonschema.validate(table, schema())


@pytest.mark.parametrize("table", BAD)
def test_what_a_run_refuses_the_schema_refuses(table):
    from rlecon.resolve import architecture_of, gpu_of

    with pytest.raises(RleconError):
        run = Run(**table)
        architecture_of(run), gpu_of(run)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(table, schema())


def test_a_file_that_names_its_schema_is_still_a_run():
    text = '#:schema ./run.schema.json\n[hardware]\ngpus = 8\n'
    assert Run.from_text(text)["hardware.gpus"] == 8
    jsonschema.validate(tomllib.loads(text), schema())

"""Counts of the catalogue's models against published totals, and exact small cases."""

import tomllib
from pathlib import Path

import pytest

import rlecon.architecture
from rlecon.architecture import Architecture

MODELS = tomllib.loads((Path(rlecon.architecture.__file__).parent / "data" / "models.toml").read_text())
TOLERANCE = {"exact": 1e-3, "rounded": 1e-2}


@pytest.mark.parametrize("name", MODELS)
def test_total_meets_the_published_total(name):
    entry = MODELS[name]
    total = Architecture.from_entry(entry, name).total_parameters + entry.get("mtp_parameters", 0)
    assert total == pytest.approx(entry["total_published"], rel=TOLERANCE[entry["published_status"]])

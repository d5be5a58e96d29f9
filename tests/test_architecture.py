"""Counts of the catalogue's models against published totals, and exact small cases."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import rlecon
from rlecon.architecture import Architecture
from rlecon.errors import RleconError

MODELS = tomllib.loads((Path(rlecon.__file__).parent / "data" / "models.toml").read_text())


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if "total_published" in entry])
def test_total_meets_the_published_total(name):
    entry = MODELS[name]
    total = Architecture.from_entry(entry, name).total_parameters
    tolerance = {"exact": 0.001, "rounded": 0.01}[entry["published_status"]]
    assert total == pytest.approx(entry["total_published"], rel=entry.get("published_tolerance", tolerance))

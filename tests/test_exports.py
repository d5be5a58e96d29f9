"""The catalogue as files: nothing lost, every value with unit, kind, source and date; the template of the data page."""

import csv
import importlib.util
import io
import json
import re
import tomllib
from pathlib import Path

import pytest

from rlecon import catalog, exports
from rlecon.errors import RleconError

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "book" / "source" / "data.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def table():
    return list(csv.DictReader(io.StringIO(exports.as_csv())))


def test_every_value_has_its_origin(table):
    assert tuple(table[0]) == exports.COLUMNS
    for row in table:
        assert row["kind"] in catalog.KINDS and row["source"] and re.match(r"\d{4}", row["as_of"]), row
        assert row["value"] != "" or row["field"], row


def test_nothing_is_lost(table):
    assert {r["entry"] for r in table if r["file"] == "gpus"} == {g.name for g in catalog.gpus()}
    assert {r["entry"] for r in table if r["file"] == "constants"} == {c.name for c in catalog.constants()}
    measured = {r["entry"] for r in table if r["file"].startswith("measurements")}
    assert measured == {m.id for m in catalog.measurements()}
    rents = [float(r["value"]) for r in table if r["file"] == "prices" and r["field"] == "usd_per_gpu_hour"]
    assert sorted(rents) == sorted(p["usd_per_gpu_hour"] for p in catalog.prices("gpu_rental"))
    places = [(r["file"], r["entry"], r["field"]) for r in table]
    assert len(places) == len(set(places))


def test_units(table):
    found = {(r["entry"], r["field"]): (r["value"], r["unit"]) for r in table}
    assert found["h200-sxm", "memory_bytes_per_second"] == (str(4.8e12), "byte/s")
    assert found["metr_doubling_days", "value[1]"] == ("131", "day")
    assert found["r1_gpu_hours", "config.gpus"] == ("512", "")
    assert found["r1_zero_recipe", "parts.aime24_start"] == ("0.156", "")
    c = catalog.constant("cross_node_factor")
    assert found[c.name, "high"] == (str(c.high), c.unit)


def test_json_is_what_the_files_say():
    document = json.loads(exports.as_json())
    assert set(document) == {p.stem for p in catalog.DATA.glob("*.toml")}
    assert document["gpus"]["h100-sxm"]["memory_bytes_per_second"] == catalog.gpu("h100-sxm").memory_bytes_per_second
    assert len(document["claims"]["claim"]) == len(catalog.claims())
    assert exports.as_json() == exports.as_json() and exports.as_csv() == exports.as_csv()


def test_a_build_writes_what_the_page_links(tmp_path):
    spec = importlib.util.spec_from_file_location("catalogue", ROOT / "book" / "_ext" / "catalogue.py")
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    extension.write(tmp_path)
    linked = re.findall(r'href="([^"]+)" download', PAGE)
    assert len(linked) == len(exports.FILES)
    for name in linked:
        assert (tmp_path / name).stat().st_size > 100_000
    assert (tmp_path / "catalogue" / "catalogue.csv").read_bytes().decode() == exports.as_csv()


def test_the_template_is_an_entry_and_its_words_are_needed():
    template = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL).group(1)
    ((name, entry),) = tomllib.loads(template).items()
    catalog.check_entry(name, entry)
    assert set(entry) >= {"value", "low", "high", "unit", "meaning"}
    for word in ("source", "as_of", "kind"):
        with pytest.raises(RleconError):
            catalog.check_entry(name, {k: x for k, x in entry.items() if k != word})

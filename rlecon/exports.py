"""The catalogue as files to take away: one JSON document, and one CSV with a row for every value.

A row says what the value is of, its unit where the name or the entry tells it, its kind, its source and its date. What
nobody has published has no row; words by which entries are found are in the JSON alone.
"""

from __future__ import annotations

import csv
import io
import json
import math
import tomllib
from functools import cache

from rlecon import catalog

COLUMNS = ("file", "entry", "field", "value", "unit", "kind", "source", "as_of", "note")
ABOUT = ("kind", "source", "as_of", "note", "unit", "id", "name")  # of an entry, not values of it
FOUND_BY = ("tags", "aliases", "topic", "family", "locator", "confidence", "usable")
MEASURED = ("value", "low", "high")  # fields whose unit the entry states
UNITS = (  # ends of names, longest first where one ends in another
    ("usd_per_gpu_hour", "USD/(GPU h)"),
    ("usd_per_cpu_hour", "USD/(vCPU h)"),
    ("usd_per_million", "USD/(million token)"),
    ("flops_per_second", "FLOP/s"),
    ("bytes_per_second", "byte/s"),
    ("tokens_per_second", "token/s"),
    ("gpu_hours", "GPU h"),
    ("seconds", "s"),
    ("minutes", "min"),
    ("days", "day"),
    ("bytes", "byte"),
    ("tokens", "token"),
    ("watts", "W"),
    ("percent", "%"),
    ("usd", "USD"),
)


def unit_of(field: str, entry: dict) -> str:
    """Unit of a field: stated by its entry, told by its name, or empty where neither says.

    >>> unit_of("memory_bytes_per_second", {}), unit_of("value", {"unit": "day"}), unit_of("layers", {})
    ('byte/s', 'day', '')
    """
    last = field.rsplit(".", 1)[-1]
    if field.split(".", 1)[0].split("[", 1)[0] in MEASURED:
        return entry.get("unit", "")
    return next((unit for end, unit in UNITS if last == end or last.endswith("_" + end)), "")


@cache
def read() -> dict:
    """Every entry of every file of the catalogue, as it stands: ``{file: {name or array: entry or entries}}``."""
    return {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(catalog.DATA.glob("*.toml"))
    }


def _leaves(value, path: str):
    """Dotted paths and values of everything that is not a table or a list."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{place}]")
    else:
        yield path, value


def _entries(content: dict):
    for name, inside in content.items():
        if isinstance(inside, list):
            for place, entry in enumerate(inside):
                yield entry.get("id", f"{name}[{place}]"), entry
        else:
            yield name, inside


def rows() -> list[tuple]:
    """One tuple in the order of ``COLUMNS`` for every value of the catalogue (claims are in the JSON alone)."""
    found = []
    for file, content in read().items():
        if file == "claims":
            continue
        for name, entry in _entries(content):
            catalog.check_entry(f"{file}.toml: {name}", entry)
            source = entry["source"]
            about = (
                entry["kind"],
                source if isinstance(source, str) else "; ".join(source),
                str(entry["as_of"]),
                entry.get("note", ""),
            )
            for field, value in _leaves({k: x for k, x in entry.items() if k not in ABOUT + FOUND_BY}, ""):
                found.append((file, name, field, value, unit_of(field, entry), *about))
    return found


def _finite(value):
    """JSON has no infinity: it is written as a word."""
    if isinstance(value, dict):
        return {k: _finite(x) for k, x in value.items()}
    if isinstance(value, list):
        return [_finite(x) for x in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def as_json() -> str:
    """The catalogue as a JSON document."""
    return json.dumps(_finite(read()), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv() -> str:
    """The catalogue as CSV (RFC 4180, UTF-8), one row for every value."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows(rows())
    return out.getvalue()


FILES = {"catalogue.json": as_json, "catalogue.csv": as_csv}

"""Facts with a source and a date: GPUs, models, prices, constants, published measurements, claims.

The files are TOML in ``rlecon/data``; each is parsed on first use and kept. An entry without source, date and kind
is refused, so that a number cannot enter the package without saying where it comes from.
"""

from __future__ import annotations

import difflib
import re
import statistics
import tomllib
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import MappingProxyType

from rlecon.catalog_records import GPU, Claim, Constant, Measurement, Price
from rlecon.errors import RleconError

DATA = Path(__file__).parent / "data"
KINDS = ("vendor_peak", "measured", "published", "derived", "assumed")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


# --- files -----------------------------------------------------------------------------------------------------------


def check_entry(where: str, entry: dict) -> None:
    """Refuse an entry that does not say where it comes from, when, and what kind of fact it is.

    >>> check_entry("gpus.toml: x", {"source": "a2026b", "as_of": "2026-11", "kind": "measured"})
    """
    source = entry.get("source")
    keys = [source] if isinstance(source, str) else source
    if not isinstance(keys, (list, tuple)) or not keys or not all(isinstance(k, str) and k.strip() for k in keys):
        raise RleconError("a fact without a source", field=where, advice="give `source`, a key of references.bib")
    if not _DATE.fullmatch(str(entry.get("as_of", ""))):
        raise RleconError("a fact without a date", field=where, value=entry.get("as_of"),
                          advice="give `as_of` as YYYY, YYYY-MM or YYYY-MM-DD")
    if entry.get("kind") not in KINDS:
        raise RleconError("not a kind of fact", field=where, value=entry.get("kind"), allowed=", ".join(KINDS))


@cache
def _read(stem: str) -> dict:
    path = DATA / f"{stem}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RleconError(f"not valid TOML: {error}", field=path.name) from error


@cache
def _tables(stem: str) -> dict:
    """Entries of a file with one table each, checked, by name."""
    entries = _read(stem)
    for name, entry in entries.items():
        check_entry(f"{stem}.toml: {name}", entry)
    return entries


@cache
def _rows(stem: str) -> dict:
    """Entries of a file of arrays of tables, checked: {array: rows}."""
    arrays = _read(stem)
    for array, rows in arrays.items():
        for index, row in enumerate(rows):
            check_entry(f"{stem}.toml: {array}[{row.get('id', index)}]", row)
    return arrays


def _record(kind, entry: dict):
    """Build a record, turning lists into tuples and a lone source into one."""
    known = {f.name: f for f in fields(kind)}
    unknown = sorted(set(entry) - set(known))
    if unknown:
        raise RleconError("not a field of the catalogue", field=f"{entry.get('id') or entry.get('name')}.{unknown[0]}",
                          allowed=", ".join(known))
    values = dict(entry)
    if isinstance(values.get("source"), str):
        values["source"] = [values["source"]]
    values = {key: tuple(v) if isinstance(v, list) and key != "value" and key != "claimed" else v
              for key, v in values.items()}
    return kind(**values)


# --- names -----------------------------------------------------------------------------------------------------------


def _plain(name: str) -> str:
    """A name without owner, case and separators that people vary."""
    return re.sub(r"[^a-z0-9.]+", "-", str(name).rsplit("/", 1)[-1].lower()).strip("-")


def _find(name: str, entries: dict, what: str) -> str:
    """The catalogue's name for what was asked: exact, by alias, or an error that names the nearest."""
    if name in entries:
        return name
    spelled = {}
    for own, entry in entries.items():
        for form in (own, *entry.get("aliases", ())):
            spelled.setdefault(_plain(form), own)
    plain = _plain(name)
    if plain in spelled:
        return spelled[plain]
    near = difflib.get_close_matches(plain, spelled, n=5, cutoff=0.5)
    near += [form for form in spelled if plain and (plain in form or form in plain)]
    near = list(dict.fromkeys(spelled[form] for form in near))[:4]
    advice = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(entries)}"
    raise RleconError(f"unknown {what}", field=what, value=name, advice=advice)


# --- the catalogue ---------------------------------------------------------------------------------------------------


@cache
def _gpu(name: str) -> GPU:
    return _record(GPU, {"name": name, **_tables("gpus")[name]})


def gpu(name: str) -> GPU:
    """The GPU of that name, alias or spelling.

    >>> gpu("H100 SXM").memory_bytes_per_second
    3350000000000.0
    """
    return _gpu(_find(name, _tables("gpus"), "gpu"))


def gpus() -> tuple[GPU, ...]:
    """All GPUs, in the order of the file.

    >>> len(gpus())
    13
    """
    return tuple(_gpu(name) for name in _tables("gpus"))


def entry(file: str, name: str) -> MappingProxyType:
    """One entry of gpus, models or constants as it stands in the file.

    >>> entry("constants", "cross_node_factor")["value"]
    3.5
    """
    return MappingProxyType(_tables(file)[_find(name, _tables(file), file.rstrip("s"))])


@cache
def _model(name: str):
    from rlecon.architecture import Architecture  # imported here so that a GPU look-up does not pay for it

    return Architecture.from_entry({"name": name, **_tables("models")[name]})


def model(name: str):
    """The model of that name, alias or spelling, counted by `rlecon.architecture`.

    >>> model("Qwen/Qwen3-8B").name
    'qwen3-8b'
    """
    return _model(_find(name, _tables("models"), "model"))


def models() -> tuple:
    """All models, in the order of the file."""
    return tuple(_model(name) for name in _tables("models"))


def _price(rows: list[dict], key: str, unit: str) -> Price | None:
    rows = [row for row in rows if row["counts"]]
    if not rows:
        return None
    values = sorted(row[key] for row in rows)
    low = high = None
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    sources = dict.fromkeys(s for r in rows for s in ([r["source"]] if isinstance(r["source"], str) else r["source"]))
    return Price(low, statistics.median(values), high, unit, max(row["as_of"] for row in rows), tuple(sources),
                 len(values))


def gpu_price(name: str) -> Price | None:
    """Rent of one GPU: quartiles and median of the list prices that count; None where there is none.

    Which rows count is written at the top of ``prices.toml``.

    >>> gpu_price("h100-sxm").mid
    3.92
    >>> gpu_price("gb200") is None
    True
    """
    own = gpu(name).name
    return _price([r for r in prices("gpu_rental") if r["gpu"] == own], "usd_per_gpu_hour", "USD/(GPU h)")


def cpu_price() -> Price:
    """Rent of one vCPU in a hosted sandbox: quartiles and median of list prices, memory not included.

    >>> round(cpu_price().mid, 4)
    0.0602
    """
    return _price(prices("cpu_rental"), "usd_per_cpu_hour", "USD/(vCPU h)")


def prices(table: str) -> tuple[MappingProxyType, ...]:
    """All rows of one table of prices: gpu_rental, cpu_rental, managed_training, api_tokens.

    >>> sorted({row["provider"] for row in prices("cpu_rental") if row["counts"]})
    ['Daytona', 'E2B', 'Islo', 'Modal']
    """
    tables = _rows("prices")
    return tuple(MappingProxyType(row) for row in tables[_find(table, {t: {} for t in tables}, "table of prices")])


@cache
def _constant(name: str) -> Constant:
    return _record(Constant, {"name": name, **_tables("constants")[name]})


def constant(name: str) -> Constant:
    """The calibrated constant of that name.

    >>> constant("cross_node_factor").value
    3.5
    """
    return _constant(_find(name, _tables("constants"), "constant"))


def constants() -> tuple[Constant, ...]:
    """All calibrated constants, in the order of the file."""
    return tuple(_constant(name) for name in _tables("constants"))


def measurement_files() -> tuple[str, ...]:
    """Names of the files of measurements, by topic."""
    return tuple(sorted(p.stem for p in DATA.glob("measurements*.toml")))


@cache
def _measurements(stem: str) -> dict[str, Measurement]:
    return {row["id"]: _record(Measurement, row) for row in _rows(stem).get("measurement", ())}


@cache
def _all_measurements() -> dict[str, Measurement]:
    every: dict[str, Measurement] = {}
    for stem in measurement_files():
        for key, row in _measurements(stem).items():
            if key in every:
                raise RleconError("two measurements share an id", field=f"{stem}.toml", value=key)
            every[key] = row
    return every


def measurement(id: str) -> Measurement:
    """The published measurement of that id.

    >>> measurement("silybench_8b_bf16_128_1024").config["gpu"]
    'h100-sxm'
    """
    every = _all_measurements()
    return every[_find(id, {k: {} for k in every}, "measurement")]


def measurements(topic: str | None = None, *, family: str | None = None, tag: str | None = None,
                 quantity: str | None = None, usable: bool | None = None, **config) -> tuple[Measurement, ...]:
    """Measurements that match all that is given; further keywords are keys of ``config``.

    >>> all(m.usable for m in measurements("step", usable=True, gpu="h100-sxm"))
    True
    """
    return tuple(
        m for m in _all_measurements().values()
        if (topic is None or m.topic == topic)
        and (family is None or m.family == family)
        and (tag is None or tag in m.tags)
        and (quantity is None or m.quantity == quantity)
        and (usable is None or m.usable == usable)
        and all(m.config.get(key) == value for key, value in config.items())
    )


@cache
def _claims() -> dict[str, Claim]:
    return {row["id"]: _record(Claim, row) for row in _rows("claims").get("claim", ())}


def claim(id: str) -> Claim:
    """The claim of that id."""
    return _claims()[_find(id, {k: {} for k in _claims()}, "claim")]


def claims(chapter: str | None = None) -> tuple[Claim, ...]:
    """All claims, or those of one chapter, in the order of the file."""
    return tuple(c for c in _claims().values() if chapter is None or c.chapter == chapter)

"""The ledger as a page: how many claims carry each label, and rows of text under the chapter that settles them."""

from __future__ import annotations

from rlecon import catalog
from rlecon.claims import interval, resolve


def tally(ledger_rows) -> dict[str, int]:
    """How many claims carry each label; claims still without a computation are counted as open."""
    found: dict[str, int] = {}
    for row in ledger_rows:
        label = "open" if row.status == "open" else row.claim.label.replace("_", " ")
        found[label] = found.get(label, 0) + 1
    return found


def _range_text(value, unit: str) -> str | None:
    from rlecon.formatting import format_number

    if value is None:
        return None
    bounds = interval(value)
    if unit == "year":  # no comma of thousands
        return " to ".join(dict.fromkeys(f"{bound:g}" for bound in bounds))
    ends = [format_number(b if b != int(b) or abs(b) >= 1e6 else int(b)) for b in bounds]
    text = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    return f"{text} {unit}".strip() if unit not in ("", "1") else text


def _named(case) -> list[str]:
    """Names of the equations and measurements that a case evaluates."""
    if not isinstance(case, dict):
        return [case[1:].partition(":")[0]] if isinstance(case, str) and case.startswith("@") else []
    names = [case["id"]] if "id" in case else [resolve(path).name for path in case["equations"]]
    parts = [*case.get("inputs", {}).values()]
    for key in ("times", "over"):
        part = case.get(key, [])
        parts += part if isinstance(part, list) else [part]
    return names + [name for part in parts for name in _named(part)]


def called(claim: catalog.Claim) -> list[str]:
    """What gives a computed value: names of equations, measurements or figures of the catalogue, or a function.

    >>> called(catalog.claim("M40"))
    ['memory_bytes_per_second']
    """
    if claim.settled_by != "computation" or not claim.compute:
        return []
    given, name = claim.arguments, claim.compute.partition(":")[2]
    if name == "evaluated":
        names = [name for case in given["cases"] for name in _named(case)]
    elif name == "measured":
        names = [item[key] for item in given["items"] for key in ("id", "over_id") if key in item]
    else:
        figures = {"gpu_ratio": "field", "model_ratio": "fields", "entry_ratio": "top", "price_spread": "key"}
        found = given[figures[name]] if name in figures else claim.compute.replace(":", ".")
        names = found if isinstance(found, list) else [found, given["bottom"]] if "bottom" in given else [found]
    return list(dict.fromkeys(names))


def _title(slug: str) -> str:
    """The title of a chapter, from its text."""
    from rlecon.book import ROOT

    text = (ROOT / "book" / "source" / f"{slug}.md").read_text(encoding="utf-8")
    return next(line[2:].strip() for line in text.splitlines() if line.startswith("# "))


def by_chapter(ledger_rows) -> dict[str, list[tuple[str, ...]]]:
    """Rows of text for the ledger page, under the title of the chapter that settles them, linked where it exists."""
    from rlecon.book import ROOT
    from rlecon.formatting import format_number

    pages = (ROOT / "_toc.yml").read_text(encoding="utf-8").split()
    found: dict[str, list] = {}
    for row in ledger_rows:
        claim = row.claim
        slug = claim.chapter
        title = f"[{_title(slug)}]({slug}.ipynb)" if slug in pages else slug
        names = ", ".join(f"`{name}`" for name in called(claim))
        computed = f"; from {names}" if names else ""
        reading = f" (read as: {claim.reading}{computed})" if claim.reading else f" ({computed[2:]})" if names else ""
        condition = f" It needs: {claim.needs}." if claim.needs else ""
        cited = " ".join(f"{{cite}}`{key}`" for key in claim.source)
        label = "open" if row.status == "open" else claim.label.replace("_", " ")
        claimed = _range_text(claim.claimed, claim.unit)
        if row.relation and claim.tolerance_factor > 1:
            claimed += f", within {format_number(claim.tolerance_factor)}x"
        found.setdefault(title, []).append(
            (
                claim.id,
                f"**{claim.claim}**{reading}. {claim.why}{condition} {cited}".strip(),
                claimed,
                _range_text(row.value, claim.unit),
                f"{label} ({row.relation})" if row.relation else label,
            )
        )
    return found

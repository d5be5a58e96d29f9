"""What a chapter needs around its computations: numbers for sentences, tables, and one command that runs a chapter.

``say`` puts a computed number into a sentence, ``table`` shows rows, and ``python -m rlecon.book run SLUG`` turns the
text ``book/source/SLUG.md`` into the executed notebook ``book/SLUG.ipynb``. Matplotlib, Jupyter and Sphinx stay
unimported until they are used.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rlecon.errors import RleconError

MAX_DIGITS = 6  # more would differ between processors
THIN = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
TIMES = "\N{MULTIPLICATION SIGN}"
COUNT_PREFIXES = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
SI_PREFIXES = (
    (1e24, "Y"),
    (1e21, "Z"),
    (1e18, "E"),
    (1e15, "P"),
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "\N{GREEK SMALL LETTER MU}"),
    (1e-9, "n"),
)
DURATIONS = ((86400.0 * 3, 86400.0, "days"), (3600.0 * 2, 3600.0, "h"), (180.0, 60.0, "min"))
SI_UNITS = {"bytes": "B", "bytes/s": "B/s", "flop": "FLOP", "flop/s": "FLOP/s"}
MONEY = ("usd", "$")


def _number(value, digits: int, places: int | None = None) -> str:
    """``value`` to ``digits`` significant digits, in plain or scientific notation as a reader would write it."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    size = abs(rounded)
    if not 1e-4 <= size < 1e9:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        power = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        text = f"{mantissa}{THIN}{TIMES}{THIN}10{power}"
    else:
        decimals = max(0, digits - 1 - math.floor(math.log10(size))) if places is None else places
        text = f"{rounded:,.{decimals}f}"
    return text.replace("-", MINUS)


def _scaled(value: float, prefixes, digits: int) -> tuple[float, str]:
    """``value`` divided by the prefix that leaves one to three digits before the point."""
    rounded = abs(float(f"{value:.{digits - 1}e}"))
    for factor, prefix in prefixes:
        if rounded >= factor:
            return value / factor, prefix
    return value, ""


def plain(value, field: str = "value"):
    """A Python ``int``, ``float`` or ``str`` for ``value``; refuses all but a finite number or a text."""
    if isinstance(value, str):
        if not value.strip():
            raise RleconError("an empty text cannot stand in a sentence", field=field)
        return value
    item = getattr(value, "item", None)
    if item is not None and getattr(value, "size", 1) == 1:
        value = item()
    elif hasattr(value, "is_number") and value.is_number:
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise RleconError("a number or a text is needed", field=field, value=type(value).__name__)
    if not math.isfinite(value):
        raise RleconError("not a finite number", field=field, value=value, advice="say in words why there is none")
    return value


def format_number(value, unit: str = "", digits: int = 3) -> str:
    """One number as a reader would write it, with its unit.

    ``unit`` may be ``"usd"``, ``"tokens"``, ``"bits"`` and other counted nouns (thousands are written out; M, B and T
    are used), ``"seconds"`` (minutes, hours or days where they read better), ``"bytes"``, ``"flop"``, ``"%"``
    (``value`` is a share, 0.37 for 37 %), ``"x"`` (a ratio), or any other text, which is appended. ``digits`` counts
    significant digits, 1 to 6; a Python ``int`` below a million is written whole.

    >>> format_number(1234567, "usd", 2), format_number(4.1e6, "tokens", 2), format_number(0.372, "%", 2)
    ('$1.2\\xa0M', '4.1\\xa0M\\xa0tokens', '37\\xa0%')
    >>> format_number(9000, "seconds"), format_number(147456, "bytes"), format_number(5.2631, "x")
    ('2.50\\xa0h', '147\\xa0kB', '5.26×')
    """
    if not 1 <= digits <= MAX_DIGITS:
        raise RleconError("too many or too few digits", field="digits", value=digits, allowed=f"1 to {MAX_DIGITS}")
    value = plain(value)
    if isinstance(value, str):
        return value
    kind = unit.lower()
    whole = isinstance(value, int) and abs(value) < 1e6
    if kind in MONEY:
        scaled, prefix = _scaled(value, COUNT_PREFIXES, digits)
        size = abs(float(f"{scaled:.{digits - 1}e}"))
        cents = 2 if not prefix and 1 <= size < 100 and digits >= 3 else None
        text = f"{abs(value):,}" if whole and not prefix else _number(abs(scaled), digits, cents)
        return (MINUS if value < 0 else "") + "$" + text + (THIN + prefix if prefix else "")
    if kind == "%":
        return _number(100 * value, digits) + THIN + "%"
    if kind == "x":
        return _number(value, digits) + TIMES
    if kind == "seconds":
        for least, size, name in DURATIONS:
            if abs(value) >= least:
                return _number(value / size, digits) + THIN + name
        if abs(value) >= 1 or value == 0:
            return _number(value, digits) + THIN + "s"
        scaled, prefix = _scaled(value, SI_PREFIXES, digits)
        return _number(scaled, digits) + THIN + prefix + "s"
    if kind in SI_UNITS:
        scaled, prefix = _scaled(value, SI_PREFIXES, digits)
        return _number(scaled, digits) + THIN + prefix + SI_UNITS[kind]
    if whole:
        text = f"{value:,}".replace("-", MINUS)
    else:
        scaled, prefix = _scaled(value, COUNT_PREFIXES, digits) if unit else (value, "")
        text = _number(scaled, digits) + (THIN + prefix if prefix else "")
    return text + (THIN + unit if unit else "")


def format_value(value, unit: str = "", digits: int = 3) -> str:
    """A number, a text, or an interval: ``(low, high)``, ``(low, mid, high)`` or an object with these attributes.

    >>> format_value((0.31, 0.37, 0.45), "%", 2)
    '37\\xa0% (31\\xa0% to 45\\xa0%)'
    """
    if all(hasattr(value, name) for name in ("low", "mid", "high")):
        value = (value.low, value.mid, value.high) if value.low is not None else value.mid
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = [format_number(v, unit, digits) for v in value]
        if len(parts) == 2:
            return f"{parts[0]} to {parts[1]}"
        if len(parts) == 3:
            return f"{parts[1]} ({parts[0]} to {parts[2]})"
        raise RleconError("an interval has two or three numbers", field="value", value=len(parts), allowed="2 or 3")
    return format_number(value, unit, digits)


def say(key: str, value, unit: str = "", digits: int = 3) -> None:
    """Put a computed number under ``key``, ready for a sentence: ``{glue:text}`key``` pastes it.

    Arguments as in :func:`format_value`. Shows nothing under its own cell. Raises ``RleconError`` for NaN, infinities,
    arrays, empty texts and keys that are not lower-case words joined by hyphens.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", key):
        raise RleconError("not a key", field="key", value=key, allowed="lower-case words joined by hyphens")
    try:
        text = format_value(value, unit, digits)
    except RleconError as error:
        raise RleconError(f"say({key!r}): {error}") from None
    from myst_nb import glue

    glue(key, text, display=False)


class Table:
    """Rows of ready text, shown as a Markdown table (in a notebook and, through MyST, in the book)."""

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]):
        self.header, self.rows, self.numeric = list(header), [list(row) for row in rows], list(numeric)

    def _repr_markdown_(self) -> str:
        lines = [self.header, ["---:" if right else ":---" for right in self.numeric], *self.rows]
        return "\n".join("| " + " | ".join(row) + " |" for row in lines)

    def __repr__(self) -> str:
        widths = [max(len(row[i]) for row in [self.header, *self.rows]) for i in range(len(self.header))]
        pad = [str.rjust if right else str.ljust for right in self.numeric]
        lines = [
            "  ".join(p(cell, w) for p, cell, w in zip(pad, row, widths, strict=True)).rstrip()
            for row in [self.header, *self.rows]
        ]
        return "\n".join(lines)


def table(rows: Iterable[Mapping | Sequence], columns: Mapping[str, str] | Sequence[str], digits: int = 3) -> Table:
    """A table of ``rows`` (mappings, or sequences in the order of ``columns``), rounded once.

    ``columns`` maps a row's key to its heading; a heading ``"time [seconds]"`` names the unit that the cells are
    formatted with (see :func:`format_number`), and is shown without it. A cell that is ``None`` is shown as an en dash:
    unknown. Text cells may hold MyST, for example a citation.

    >>> table([{"gpu": "h100", "usd": 2.5}], {"gpu": "GPU", "usd": "rent per hour [usd]"})
    GPU   rent per hour
    h100          $2.50
    """
    names = list(columns) if not isinstance(columns, Mapping) else list(columns.keys())
    heads = list(columns) if not isinstance(columns, Mapping) else list(columns.values())
    parsed = [re.fullmatch(r"(.*?)(?:\s*\[([^\]]+)\])?", head).groups() for head in heads]
    cells, numeric = [], [True] * len(names)
    for row in rows:
        values = [row[name] for name in names] if isinstance(row, Mapping) else list(row)
        if len(values) != len(names):
            raise RleconError("a row has the wrong length", field="rows", value=len(values), allowed=str(len(names)))
        line = []
        for i, value in enumerate(values):
            if isinstance(value, str):
                numeric[i] = False
            text = "\N{EN DASH}" if value is None else format_value(value, parsed[i][1] or "", digits)
            line.append(text.replace("|", "\\|").replace("\n", " "))
        cells.append(line)
    return Table([head for head, _ in parsed], cells, numeric)


# --- running a chapter ------------------------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parent.parent
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}
SECONDS_PER_CELL = 120


def read_text(path: Path):
    """The notebook that a MyST text stands for, with cell ids that depend on the text alone."""
    import jupytext

    notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="md:myst")
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        key = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        seen[key] = seen.get(key, 0) + 1
        cell["id"] = key if seen[key] == 1 else f"{key}-{seen[key]}"
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": dict(LANGUAGE)}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def execute(notebook, folder: Path):
    """Run every cell in ``folder`` with a fresh kernel; the notebook is changed in place and returned."""
    from nbclient import NotebookClient

    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": dict(LANGUAGE)}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.pop("transient", None)
    return notebook


def run_chapter(slug: str, root: Path = ROOT) -> bool:
    """Execute ``book/source/SLUG.md`` into ``book/SLUG.ipynb``; True if the notebook's bytes changed.

    Nothing is written when a cell fails.
    """
    import nbformat

    source, target = root / "book" / "source" / f"{slug}.md", root / "book" / f"{slug}.ipynb"
    if not source.exists():
        raise RleconError("there is no such chapter", field="slug", value=slug, advice=f"write book/source/{slug}.md")
    notebook = execute(read_text(source), root / "book")
    text = nbformat.writes(notebook, version=4) + "\n"
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return False
    target.write_text(text, encoding="utf-8")
    return True


def chapters(root: Path = ROOT) -> list[str]:
    """Slugs of all chapter texts, sorted."""
    return sorted(path.stem for path in (root / "book" / "source").glob("*.md"))


def main(arguments: Sequence[str] | None = None) -> int:
    """``python -m rlecon.book run [SLUG ...]``: all chapters when none is named."""
    from nbclient.exceptions import CellExecutionError

    parser = argparse.ArgumentParser(prog="python -m rlecon.book", description=main.__doc__)
    parser.add_argument("command", choices=["run"])
    parser.add_argument("slugs", nargs="*", metavar="SLUG")
    options = parser.parse_args(arguments)
    failed = 0
    for slug in options.slugs or chapters():
        try:
            print(f"{slug}: {'written' if run_chapter(slug) else 'unchanged'}", flush=True)
        except CellExecutionError as error:
            failed += 1
            print(f"{slug}: not written, a cell failed\n{error}", file=sys.stderr)
        except RleconError as error:
            failed += 1
            print(error, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

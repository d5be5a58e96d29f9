"""What a chapter needs around its computations: numbers for sentences, tables, and one command that runs a chapter.

``say`` puts a computed number into a sentence, ``table`` shows rows, and ``python -m rlecon.book run SLUG`` turns the
text ``book/source/SLUG.md`` into the executed notebook ``book/SLUG.ipynb``. Matplotlib, Jupyter and Sphinx stay
unimported until they are used.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rlecon.errors import RleconError
from rlecon.formatting import format_value


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
        # two dollar signs in one cell would be read as a formula
        escape = lambda cell: cell.replace("$", r"\$") if cell.count("$") > 1 else cell  # noqa: E731
        rows = [[escape(c) if right else c for c, right in zip(row, self.numeric, strict=True)] for row in self.rows]
        lines = [self.header, ["---:" if right else ":---" for right in self.numeric], *rows]
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
SECONDS_PER_CELL, SECONDS_PER_CHAPTER = 120, 15


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
        start = time.monotonic()
        try:
            changed, took = run_chapter(slug), time.monotonic() - start
            slow = "" if took <= SECONDS_PER_CHAPTER else f": a chapter may take {SECONDS_PER_CHAPTER} s"
            print(f"{slug}: {'written' if changed else 'unchanged'} ({took:.1f} s{slow})", flush=True)
        except CellExecutionError as error:
            failed += 1
            print(f"{slug}: not written, a cell failed\n{error}", file=sys.stderr)
        except RleconError as error:
            failed += 1
            print(error, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

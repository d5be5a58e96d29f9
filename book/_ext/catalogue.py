"""The catalogue beside the pages, as JSON and CSV: written when the build is over, linked by the data page."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from rlecon.exports import FILES

FOLDER = "catalogue"


def write(outdir: Path) -> None:
    folder = outdir / FOLDER
    folder.mkdir(exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text(), encoding="utf-8", newline="")


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Runs when the build is over."""
    if exception is None and app.builder.format == "html":
        write(Path(app.outdir))


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""What a page offers to take away: the data of each figure as a CSV file, and a CSV button under each table.

A figure carries the data it draws (:func:`rlecon.figures.svg`); a finished build writes them beside the page and links
them in the caption, so that the link works without JavaScript and from disk. The buttons are brought to life by
``tables.js``; ``ledger.js`` filters the ledger of claims.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

from rlecon.figure_data import data_in

FOLDER = "_data"
FIGURE = re.compile(
    r'<figure[^>]*\bid="(?P<name>[^"]+)"[^>]*>.*?src="(?P<src>_images/[^"]+\.svg)".*?</figure>', re.DOTALL
)
TABLE = re.compile(r'<div class="pst-scrollable-table-container"[^>]*>.*?</table>\s*</div>', re.DOTALL)
TOOLS = (
    '<p class="table-tools"><button type="button" class="table-csv" title="This table as CSV" disabled>CSV</button></p>'
)
LINK = re.compile(r'<p class="figure-data">.*?</p>')
ARTICLE = re.compile(r"<article\b.*?</article>", re.DOTALL)


def with_table_tools(page: str) -> str:
    """``page`` with a button under each table of its article."""
    return ARTICLE.sub(lambda part: TABLE.sub(lambda m: m.group() + TOOLS, part.group()), page)


def with_figure_data(page: str, stem: str, outdir: Path) -> str:
    """``page`` with a link under each figure that carries its data; writes the files that it links."""

    def linked(found: re.Match) -> str:
        data = data_in((outdir / found["src"]).read_text(encoding="utf-8"))
        if data is None:
            return found.group()
        name = f"{stem}-{found['name'].removeprefix('fig-')}.csv"
        (outdir / FOLDER).mkdir(exist_ok=True)
        (outdir / FOLDER / name).write_text(data, encoding="utf-8", newline="")
        link = f'<p class="figure-data"><a href="{FOLDER}/{name}" download>Data (CSV)</a></p></figcaption>'
        return found.group().replace("</figcaption>", link)

    return FIGURE.sub(linked, page)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Runs when the build is over."""
    if exception is not None or app.builder.format != "html":
        return
    outdir = Path(app.outdir)
    shutil.rmtree(outdir / FOLDER, ignore_errors=True)
    for page in outdir.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        bare = LINK.sub("", text.replace(TOOLS, ""))  # a page that an earlier build wrote has them already
        new = with_figure_data(with_table_tools(bare), page.stem, outdir)
        if new != text:
            page.write_text(new, encoding="utf-8")


def load_where_needed(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Pages without tables load nothing; early, so that formulas in cells are seen as they were written."""
    body = context.get("body") or ""
    if '<table class="table' in body:
        app.add_js_file("tables.js", loading_method="defer", priority=200)
    if "ledger-filter" in body:
        app.add_js_file("ledger.js", loading_method="defer", priority=201)


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", load_where_needed)
    app.connect("build-finished", finish, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

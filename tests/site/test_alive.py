"""What a reader's hand meets on the built pages: tables sort, data can be taken away, and all of it
stands without JavaScript and from any folder of any server."""

from __future__ import annotations

import csv
import functools
import gzip
import http.server
import io
import re
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rlecon.figure_data import data_in
from tests.site import checks
from tests.site.conftest import SITE

NAMES = [path.name for path in checks.pages(SITE)]
LIVE = [name for name in NAMES if 'class="calc"' in (SITE / name).read_text(encoding="utf-8")]
MOST_BYTES = 350_000
OWN = ("book.css", "icons.css", "calculator.css", "calculator.js", "special.js", "bill.js", "tables.js", "ledger.js")


@pytest.fixture
def opened(new_page):
    """Open a page of the built book."""

    def open_page(address, width=1280, **settings):
        page = new_page(width, **settings)
        page.goto(address if "://" in address else (SITE / address).as_uri(), wait_until="load")
        return page

    return open_page


# --- nothing is heavy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_light(site, name):
    """Page, pictures, data and the book's own scripts and styles, compressed; the theme and MathJax are apart."""
    page = checks.read(site / name)
    own = {site / name}
    for link in page.loaded + page.links:
        path = (site / urlsplit(link).path).resolve()
        if path.name in OWN or path.parent.name in ("_images", "_data"):
            own.add(path)
    size = sum(len(gzip.compress(path.read_bytes(), 6)) for path in own)
    assert size <= MOST_BYTES, f"{size:,} bytes"


# --- without JavaScript, in any folder --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LIVE)
def test_without_scripts_every_calculator_shows_its_default(opened, name):
    page = opened(name, java_script_enabled=False)
    boxes = page.locator(".calc")
    for i in range(boxes.count()):
        box = boxes.nth(i)
        assert re.search(r"\d", box.locator(".calc-big").inner_text())
        assert box.locator(".calc-line").get_attribute("d").count("L") > 5
        assert box.locator(".calc-plot").bounding_box()["height"] > 100
        assert box.locator("input:enabled, select:enabled, button:enabled").count() == 0
    assert page.locator(".table-csv:visible, .ledger-filter:visible").count() == 0


def test_the_site_works_from_any_folder_of_a_server(opened, tmp_path):
    folder = tmp_path / "some" / "sub"
    folder.mkdir(parents=True)
    (folder / "path").symlink_to(SITE, target_is_directory=True)
    wrong = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def send_error(self, code, *rest, **more):
            wrong.append(f"{code} {self.path}")
            super().send_error(code, *rest, **more)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = f"http://127.0.0.1:{server.server_port}/some/sub/path/"
        try:
            for name in ("", "gpu-hours.html", "claims.html", "price-your-run.html", "search.html?q=rollout"):
                page = opened(home + name)
                page.wait_for_load_state("networkidle")
            page.wait_for_selector("#search-results li:nth-child(4)")
        finally:
            server.shutdown()
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_no_link_starts_at_the_root(site, name):
    page = checks.read(site / name)
    assert [link for link in page.links + page.loaded if link.startswith("/")] == []


# --- data to take away ------------------------------------------------------------------------------------------------

FIGURE = re.compile(r'<figure[^>]*\bid="(fig-[^"]+)".*?src="(_images/[^"]+\.svg)".*?</figure>', re.DOTALL)


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_with_data_offers_them(site, name):
    text = (site / name).read_text(encoding="utf-8")
    figures = list(FIGURE.finditer(text))
    assert len(figures) == text.count("<figure")
    for found in figures:
        data = data_in((site / found[2]).read_text(encoding="utf-8"))
        link = re.search(r'class="figure-data"><a href="([^"]+)"', found.group())
        assert (data is None) == (link is None), found[1]
        if data is not None:
            rows = list(csv.reader(io.StringIO((site / link[1]).read_text(encoding="utf-8"))))
            assert len(rows) > 2 and len({len(row) for row in rows}) == 1, found[1]
            assert rows == list(csv.reader(io.StringIO(data)))


@pytest.mark.parametrize("name", NAMES)
def test_every_table_of_an_article_offers_its_rows(site, name):
    text = (site / name).read_text(encoding="utf-8")
    article = re.search(r"<article\b.*?</article>", text, re.DOTALL)
    if article:
        assert article.group().count('class="table-csv"') == article.group().count('<table class="table')


def test_a_table_comes_as_csv_in_the_order_shown(opened, site):
    page = opened("data.html", accept_downloads=True)
    with page.expect_download() as waiting:
        page.locator(".table-csv").first.click()
    rows = list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8"))))
    table = page.locator(".bd-article table.table").first
    assert rows[0] == [" ".join(t.split()) for t in table.locator("thead th").all_inner_texts()]
    assert len(rows) == 1 + table.locator("tbody tr").count() and len({len(row) for row in rows}) == 1
    assert waiting.value.suggested_filename == "data-table-1.csv"


# --- sorting ----------------------------------------------------------------------------------------------------------

AMOUNTS = {
    "$1.2 M": 1.2e6, "147 kB": 147e3, "62 to 100 x": 62, "\N{MINUS SIGN}3.5 %": -3.5, "3.1 × 10⁻⁷": 3.1e-7,
    "1,234": 1234, "2.50 h": 9000, "898 ms": 0.898, "4.1 M tokens": 4.1e6, "1.98 PFLOP/s": 1.98e15, "12 B tokens": 12e9,
    "$1.2 M (1.0 M to 1.5 M)": 1.2e6, "1.2 to 3.4 k": 1200, "32 GPUs": 32, "5.26×": 5.26, "~40": 40,
}  # fmt: skip


def test_numbers_are_read_as_they_are_written(opened):
    page = opened("data.html")
    read = page.evaluate("texts => texts.map(t => rleconTables.numberIn(t, false))", list(AMOUNTS))
    assert read == pytest.approx(list(AMOUNTS.values()))
    assert page.evaluate("['h100-sxm', '2026-05-01', '–', ''].map(t => rleconTables.numberIn(t, false))") == [None] * 4
    order = page.evaluate("d => rleconTables.sorted(['2 kB', '–', '900 B', '1 GB', ''], d)", -1)
    assert order == [3, 0, 2, 1, 4]
    assert page.evaluate("rleconTables.csv([['a, b', 'say \"x\"'], ['1', '']])") == '"a, b","say ""x"""\r\n1,\r\n'


@pytest.mark.parametrize("width", [1280, 390])
def test_a_heading_sorts_by_keyboard(opened, width):
    page = opened("data.html", width)
    table = page.locator(".bd-article table.table").first
    column = lambda: [" ".join(t.split()) for t in table.locator("tbody tr td:nth-child(4)").all_inner_texts()]  # noqa: E731
    written, head = column(), table.locator("th").nth(3)
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    known = [t for t in column() if t != "–"]
    values = page.evaluate("texts => texts.map(t => rleconTables.numberIn(t, true))", known)
    assert values == sorted(values) and len(values) > 2
    assert column()[len(known) :] == ["–"] * (len(written) - len(known)) and len(known) < len(written)
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    down = page.evaluate("texts => texts.map(t => rleconTables.numberIn(t, true))", column()[: len(known)])
    assert down == sorted(values, reverse=True)
    assert column()[len(known) :] == ["–"] * (len(written) - len(known))
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") is None and column() == written


# --- the ledger -------------------------------------------------------------------------------------------------------


def shown(page) -> int:
    return page.locator(".bd-article h2.rubric ~ .pst-scrollable-table-container tbody tr:visible").count()


def test_the_ledger_is_filtered_and_says_how_many(opened):
    page = opened("claims.html")
    every = shown(page)
    said = page.locator(".ledger-filter [role=status]")
    assert said.inner_text() == f"{every} of {every} claims shown" and every > 50
    verdict = page.locator(".ledger-filter select[name=verdict]")
    option = verdict.locator("option[value='holds']").inner_text()
    verdict.select_option("holds")
    count = int(re.search(r"\((\d+)\)", option)[1])
    assert shown(page) == count and said.inner_text() == f"{count} of {every} claims shown" and 0 < count < every
    assert page.url.endswith("#ledger?verdict=holds")
    chapter = page.locator(".ledger-filter select[name=chapter]")
    chapter.select_option("gpu-hours")
    assert page.url.endswith("#ledger?verdict=holds&chapter=gpu-hours") and shown(page) < count
    assert page.locator(".bd-article h2.rubric:visible").all_inner_texts() == ["Where do the GPU-hours go?"]
    assert chapter.locator("option[value='gpu-hours']").inner_text().startswith("Where do the GPU-hours go? (")
    again = opened(page.url)
    assert shown(again) == shown(page) and again.locator("select[name=verdict]").input_value() == "holds"


@pytest.mark.parametrize(
    "query", ["verdict=nonsense", "chapter=<img src=x onerror=alert(1)>", "verdict=__proto__", "x=1"]
)
def test_a_bad_address_leaves_the_ledger_whole(opened, query):
    page = opened((SITE / "claims.html").as_uri() + "#ledger?" + query)
    assert shown(page) == page.locator(".bd-article h2.rubric ~ .pst-scrollable-table-container tbody tr").count()
    assert page.locator(".ledger-filter img").count() == 0


def test_the_ledger_stands_without_scripts(opened):
    assert shown(opened("claims.html", java_script_enabled=False)) > 50


def test_the_scripts_are_small():
    for name in ("tables.js", "ledger.js"):
        assert (SITE / "_static" / name).stat().st_size < 6_000

"""Broken on purpose: pages that the checks of the built site must refuse."""

from __future__ import annotations

import pytest

from tests.site import checks
from tests.site.reading import read_page

HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title></head><body><main><h1>A page</h1>'
)
GOOD = (
    HEAD
    + '<p id="here">A pasted <span class="pasted-text">84</span> and a <a href="#here">link</a>.</p>'
    + "{}</main></body></html>"
)

JUMPS = (
    '<div id="late"></div><p style="height: 500px; background: #ddd">below</p><script>requestAnimationFrame(() => '
    'requestAnimationFrame(() => setTimeout(() => { document.getElementById("late").style.height = "300px" }, 20)))'
    "</script>"
)


DARK = (
    "<style>@media (max-width: 400px) { html[data-theme=dark] .faint { color: #333; background: #222 } }</style>"
    '<p class="faint">faint on a phone at night</p>'
)
FOLDED = (
    '<article class="bd-article"><details><summary>more</summary><p style="color: #ccc">faint</p></details></article>'
)
CODE = (
    '<div class="highlight"><pre><span class="k">for</span> <span class="k">in</span> '
    '<span class="n" style="color: #ccc">faint</span></pre></div>'
)


def written(folder, body: str):
    path = folder / "page.html"
    path.write_text(GOOD.replace("{}", body), encoding="utf-8")
    checks.read.cache_clear()
    return path


def complaints(path) -> list[str]:
    page = checks.read(path)
    text = path.read_text(encoding="utf-8")
    return (
        checks.left_over(text)
        + checks.outside(page)
        + checks.broken_links(path, path.parent)
        + checks.silent_pictures(page)
    )


def test_a_good_page_passes(tmp_path, browser):
    path = written(tmp_path, "")
    assert complaints(path) == [] and read_page(browser, path) == []


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("<pre>Traceback (most recent call last):\n  File</pre>", "traceback"),
        ('<p>It costs <span class="pasted-text"></span> dollars.</p>', "blank"),
        ("<p>As shown [?] before.</p>", "citation"),
        ("<p>As shown [] before.</p>", "bracket"),
        ("<p>It costs {glue:text}`x`.</p>", "role"),
        ("<p>See {cite:p}`x`.</p>", "role"),
        ("<p>:::{admonition} x</p>", "directive"),
        ("<p>{.lede} x</p>", "block mark"),
        ("<p>It is {{ x }}.</p>", "substitution"),
        ("<p>It costs nan dollars.</p>", "number"),
        ('<p>It costs <span class="pasted-text">None</span>.</p>', "value"),
        ('<a href="gone.html">x</a>', "leads nowhere"),
        ('<a href="#gone">x</a>', "no such place"),
        ('<script src="https://example.org/x.js"></script>', "loads https://example.org"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loads //example.org"),
        ('<img src="data:," alt="">', "alt text"),
        ('<img src="data:," alt="_images/4f4f4f4f4f4f4f4f4f4f4f.svg">', "alt text"),
    ],
)
def test_a_broken_page_is_refused(tmp_path, body, complaint):
    found = complaints(written(tmp_path, body))
    assert any(complaint in text for text in found), found


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ('<script>fetch("https://example.org/x").catch(() => {})</script>', "asks for https://example.org"),
        ('<script>console.error("spoiled")</script>', "spoiled"),
        ("<script>spoiled()</script>", "spoiled is not defined"),
        ('<div style="width: 2000px">wide</div>', "too wide"),
        ('<div style="min-width: 600px">wide</div>', "390 px"),
        ('<article class="bd-article"><span class="math">\\(x^2\\)</span></article>', "formulas: 0 of 1"),
        ('<p style="color: #ccc; background: #fff">faint</p>', "color-contrast"),
        (DARK, "dark, 390 px: color-contrast"),
        (FOLDED, "color-contrast"),
        (CODE, "color-contrast"),
        ("<button></button>", "button-name"),
        (JUMPS, "jumps while it loads"),
    ],
)
def test_a_browser_sees_what_is_broken(tmp_path, browser, body, complaint):
    found = read_page(browser, written(tmp_path, body))
    assert any(complaint in text for text in found), found

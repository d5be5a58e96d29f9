"""Every page of the built book, read as HTML and in a browser."""

from __future__ import annotations

import pytest

from tests.site import checks
from tests.site.conftest import SITE
from tests.site.reading import read_page

NAMES = [str(path.relative_to(SITE)) for path in checks.pages(SITE)]


def test_there_are_pages(site):
    assert "index.html" in NAMES and len(NAMES) > 3


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_over(site, name):
    assert checks.left_over((site / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", NAMES)
def test_everything_it_links_to_is_there(site, name):
    assert checks.broken_links(site / name, site) == []


@pytest.mark.parametrize("name", NAMES)
def test_pictures_speak_and_nothing_is_loaded_from_afar(site, name):
    page = checks.read(site / name)
    assert checks.silent_pictures(page) + checks.outside(page) == []


@pytest.mark.parametrize("name", NAMES)
def test_in_a_browser(site, browser, name):
    found = read_page(browser, site / name)
    assert not found, "\n".join(found)


def test_a_search_from_disk_finds_and_complains_of_nothing(site, new_page):
    page = new_page()
    page.goto((site / "search.html").as_uri() + "?q=rollout", wait_until="load")
    page.wait_for_selector("#search-results li:nth-child(4)")
    page.wait_for_function("!document.querySelector('#search-results h2').textContent.includes('Searching')")


FOCUS = """selector => {
  const e = [...document.querySelectorAll(selector)].find(x => x.checkVisibility());
  e.focus({focusVisible: true});
  const style = getComputedStyle(e), card = getComputedStyle(e.closest('.sd-card') || e);
  const ring = [style, card].some(s => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0);
  return document.activeElement === e && style.opacity === '1' && ring; }"""
RINGLESS = (".sd-stretched-link", ".bd-header-article .sidebar-toggle", "button.copybtn")


def test_what_has_the_focus_is_seen(site, browser):
    """Also where the theme draws no ring of its own: cards, the sidebar's switch, the copy button."""
    page = browser.new_page()
    page.goto((site / "index.html").as_uri(), wait_until="load")
    page.add_style_tag(content="* { transition: none !important }")
    page.wait_for_selector("button.copybtn", state="attached")
    page.keyboard.press("Tab")
    for selector in (*RINGLESS, ".bd-article p > a[href]", ".calc button"):
        assert page.evaluate(FOCUS, selector), selector
    page.close()


def test_the_site_is_light(site):
    """The theme's icon script and fonts are gone, and no file is heavier than MathJax."""
    assert not list(site.rglob("fontawesome*")) and not list(site.rglob("fa-*.woff2"))
    heavy = {p.name: p.stat().st_size for p in site.rglob("*") if p.is_file() and p.stat().st_size > 1_200_000}
    assert heavy == {}

"""Every page of the book satisfies the rules in lint.py; the table of contents is complete."""

from __future__ import annotations

import pytest
import yaml

from tests.book import lint

ROOT, BOOK = lint.ROOT, lint.BOOK
NOTEBOOKS = sorted(BOOK.glob("*.ipynb"))
SLUGS = [path.stem for path in NOTEBOOKS]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
LISTED = [TOC["root"]] + [entry["file"] for part in TOC.get("parts", []) for entry in part["chapters"]]
CHAPTERS = [
    entry["file"] for part in TOC.get("parts", []) if part["caption"] != "Reference" for entry in part["chapters"]
]
KNOWN = lint.bibliography()


def notebook(slug: str) -> dict:
    return {**lint.load(BOOK / f"{slug}.ipynb"), "slug": slug}


def test_the_table_of_contents_lists_every_page_once():
    pages = SLUGS + [path.stem for path in BOOK.glob("*.md")]
    assert sorted(LISTED) == sorted(pages)


def test_every_notebook_has_its_text_and_every_text_its_notebook():
    assert sorted(path.stem for path in (BOOK / "source").glob("*.md")) == SLUGS


@pytest.mark.parametrize("slug", SLUGS)
def test_text_and_notebook_agree(slug):
    assert lint.pair(notebook(slug), BOOK / "source" / f"{slug}.md") == []


@pytest.mark.parametrize("slug", SLUGS)
def test_every_cell_ran_and_shows_what_it_shows(slug):
    assert lint.execution(notebook(slug)) + lint.stripped(notebook(slug)) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_figures_have_alt_text_caption_and_name(slug):
    assert lint.figures(notebook(slug)) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_code_can_be_read(slug):
    assert lint.code_shape(notebook(slug)) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_citations_exist(slug):
    assert lint.citations(notebook(slug), KNOWN, needed=slug in CHAPTERS) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_no_number_is_typed_in_prose(slug):
    assert lint.typed_numbers(notebook(slug)) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_pasted_numbers_are_said_once_and_used(slug):
    assert lint.glue_keys(notebook(slug)) == []


@pytest.mark.parametrize("slug", CHAPTERS)
def test_a_chapter_has_its_parts(slug):
    assert lint.structure(notebook(slug)) == []

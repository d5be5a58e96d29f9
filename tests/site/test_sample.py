"""The good chapter of tests/book, built with this project's configuration: what every chapter's page relies on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rlecon import book
from tests.book.lint import ROOT
from tests.site import checks
from tests.site.reading import read_page

GOOD = ROOT / "tests" / "book" / "fixtures" / "good.md"
REFERENCE = "@book{shannon1948, author={Shannon, Claude}, title={A Theory}, publisher={Bell}, year={1948}}\n"
TOC = {"format": "jb-book", "root": "good", "chapters": [{"file": "references"}]}


def build(root: Path) -> subprocess.CompletedProcess:
    command = [Path(sys.executable).parent / "jupyter-book", "build", "book", "--config", "_config.yml"]
    command += ["--toc", root / "_toc.yml", "--path-output", ".", "--all", "-W", "--keep-going", "-n"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, env={**os.environ, "BOOK_URL": ""})


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Path:
    """A book of one chapter and its references, built."""
    root = tmp_path_factory.mktemp("sample")
    for part in ("_ext", "assets", "vendor"):
        shutil.copytree(ROOT / "book" / part, root / "book" / part)
    (root / "book" / "source").mkdir()
    shutil.copy(ROOT / "_config.yml", root)
    shutil.copy(GOOD, root / "book" / "source")
    (root / "_toc.yml").write_text(yaml.safe_dump(TOC), encoding="utf-8")
    (root / "book" / "references.bib").write_text(REFERENCE, encoding="utf-8")
    (root / "book" / "references.md").write_text("# References\n\n```{bibliography}\n```\n", encoding="utf-8")
    book.run_chapter("good", root)
    result = build(root)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return root


def test_the_page_is_whole(sample):
    site = sample / "_build" / "html"
    path = site / "good.html"
    text = path.read_text(encoding="utf-8")
    assert checks.left_over(text) + checks.broken_links(path, site) + checks.outside(checks.read(path)) == []
    assert [p["alt"][:24] for p in checks.read(path).pictures] == ["A flip teaches most when"]
    for part in (
        "0.286\N{NO-BREAK SPACE}bits",
        "Fig. 1",
        "answer admonition",
        'class="lede',
        "Shannon, 1948",
        "solution dropdown",
    ):
        assert part in text, part
    assert "og:url" not in text and "og:title" in text


def test_the_page_reads_well_in_a_browser(sample, browser):
    assert read_page(browser, sample / "_build" / "html" / "good.html") == []


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("shannon1948", "shannon1984", "shannon1984"),
        ("{glue:text}`pass-rate`", "{glue:text}`pass-rat`", "pass-rat"),
        ("{doc}`references`", "{doc}`reference`", "reference"),
    ],
)
def test_a_warning_fails_the_build(sample, old, new, word):
    path = sample / "book" / "good.ipynb"
    stored = path.read_text(encoding="utf-8")
    assert old in stored
    try:
        path.write_text(stored.replace(old, new), encoding="utf-8")
        result = build(sample)
        said = result.stdout + result.stderr
        assert result.returncode != 0 and any("WARNING" in line and word in line for line in said.splitlines()), said
    finally:
        path.write_text(stored, encoding="utf-8")

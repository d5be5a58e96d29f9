"""The built site and a browser to read it with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.site.reading import listen

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = (
    "NO BROWSER: the pages were not read. Install Chromium (apt-get install chromium), or name one: "
    "CHROMIUM=/path/to/chromium make test, or run: .venv/bin/python -m playwright install chromium"
)


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").exists():
        pytest.fail("there is no built book: run `make book` first")
    return SITE


def installed_browser() -> str | None:
    """A Chromium on this machine: $CHROMIUM, or one in the path."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


def downloaded_browser(playwright) -> str | None:
    """The Chromium that Playwright keeps, downloaded now if it is not there yet and can be."""
    path = Path(playwright.chromium.executable_path)
    if not path.exists():
        command = [sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=180)
        except (subprocess.SubprocessError, OSError):
            return None
        found = sorted(path.parents[1].parent.glob("chromium*/**/*headless_shell")) if not path.exists() else [path]
        return str(found[-1]) if found else None
    return str(path)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = installed_browser() or downloaded_browser(playwright)
        if path is None:
            if os.environ.get("CI"):
                pytest.fail(MISSING)
            pytest.skip(MISSING)
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def new_page(browser):
    """Makes pages, each in a context of its own; complaints of any fail the test."""
    contexts, complaints = [], []

    def make(width=1280, **settings):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **settings))
        page = contexts[-1].new_page()
        listen(page, complaints)
        return page

    yield make
    for context in contexts:
        context.close()
    assert complaints == []


def pytest_terminal_summary(terminalreporter):
    """A skipped browser is said aloud, once."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    if any("NO BROWSER" in reason for reason in reasons):
        terminalreporter.write_line(MISSING, yellow=True, bold=True)

"""The project's own files agree with each other."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINS = dict(re.findall(r"^([\w.-]+)==([\w.]+)$", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE))
WANTED = [
    *PROJECT["project"]["dependencies"],
    *(need for extra in PROJECT["project"]["optional-dependencies"].values() for need in extra),
]


def test_every_dependency_is_pinned_exactly_and_explained():
    why = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for need in WANTED:
        name, *exact = re.split(r"[<>=~]=", need)
        assert name in PINS, f"{name} is not in requirements.txt"
        assert f"`{name}`" in why, f"CONTRIBUTING.md does not say why {name} is needed"
        if "==" in need:
            assert PINS[name] == exact[0]
    lines = [t for t in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines() if t and "#" not in t]
    assert all("==" in line or line == "-e ." for line in lines)


def test_the_versions_agree():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    version = PROJECT["project"]["version"]
    assert citation["version"] == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_makefile_offers_seven_things_and_contributing_names_them():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    things = ["book", "test", "fuzz", "notebooks", "lint", "serve", "clean"]
    assert re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE) == [" ".join(things)]
    assert re.findall(r"^([a-z]+):", text, re.MULTILINE) == things
    assert "The seven things" in text
    how = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert re.findall(r"^    make ([a-z]+)(?:   .*|)$", how, re.MULTILINE) == things
    assert "the seven commands" in how


def test_every_top_level_file_is_explained():
    listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    why = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    top = sorted({path.split("/")[0] for path in listed})
    assert len(top) > 10 and [name for name in top if f"`{name}" not in why] == []

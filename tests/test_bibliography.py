"""References: complete, unique, and every source key of the data resolves."""

import re
import tomllib
from pathlib import Path

import pytest
from pybtex.database import BibliographyDataError, parse_file, parse_string

from rlecon import catalog

BIB = Path(__file__).parents[1] / "book" / "references.bib"
KEY = re.compile(r"[a-z][a-z0-9]*\d{4}[a-z0-9]*")
PLACEHOLDERS = re.compile(r"to be (taken|checked|added)|todo|tbd|xxx|placeholder|\?\?|not read\)|handle\)", re.I)
REQUIRED = {"article": "journal", "inproceedings": "booktitle", "book": "publisher", "incollection": "booktitle",
            "misc": "title"}


@pytest.fixture(scope="module")
def entries():
    return parse_file(str(BIB)).entries


def test_a_key_that_comes_twice_is_refused():
    twice = "@misc{a2020b, title = {x}}\n@misc{a2020b, title = {y}}"
    with pytest.raises(BibliographyDataError):
        parse_string(twice, "bibtex")


def test_entries_are_complete(entries):
    assert len(entries) > 260
    for key, entry in entries.items():
        assert KEY.fullmatch(key), key
        assert entry.persons.get("author"), key
        assert entry.fields["title"].strip("{} "), key
        assert re.fullmatch(r"\d{4}", entry.fields["year"]), key
        assert entry.fields[REQUIRED[entry.type]], key


def test_titles_keep_their_capitals(entries):
    for key, entry in entries.items():
        assert re.fullmatch(r"\{.*\}", entry.fields["title"]), f"{key}: title not protected"


def test_no_placeholder_and_no_cut_list_without_a_word(entries):
    for key, entry in entries.items():
        text = " ".join(entry.fields.values())
        assert not PLACEHOLDERS.search(text), f"{key}: {text}"
        assert "et al" not in text, key


def test_addresses_are_addresses(entries):
    for key, entry in entries.items():
        fields = entry.fields
        if "url" in fields:
            assert re.fullmatch(r"https?://[^\s{}]+", fields["url"]), key
        if "doi" in fields:
            assert fields["doi"].startswith("10."), key
        if "eprint" in fields:
            assert re.fullmatch(r"\d{4}\.\d{4,5}", fields["eprint"]) and fields["archiveprefix"] == "arXiv", key
    known = [e.fields[k] for e in entries.values() for k in ("eprint",) if k in e.fields]
    assert len(known) == len(set(known)), "one paper under two keys"


def keys_in(value):
    """All source keys in a parsed data file, wherever they stand."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("source", "stated_in", "published_source"):
                yield from ([inner] if isinstance(inner, str) else inner)
            else:
                yield from keys_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_in(inner)


def resolves(key: str, known) -> bool:
    """A key of the bibliography, or a locator in words or as an address."""
    return key in known or (not KEY.fullmatch(key) and ("://" in key or " " in key))


@pytest.mark.parametrize("path", sorted(catalog.DATA.glob("*.toml")), ids=lambda p: p.stem)
def test_every_source_key_resolves(path, entries):
    keys = set(keys_in(tomllib.loads(path.read_text(encoding="utf-8"))))
    assert keys
    assert not sorted(k for k in keys if not resolves(k, entries))


def test_an_unknown_key_would_be_caught(entries):
    assert not resolves("nobody2026nothing", entries) and not resolves("nobody", entries)
    assert resolves("shannon1948", entries) and resolves("sum of tensor sizes", entries)

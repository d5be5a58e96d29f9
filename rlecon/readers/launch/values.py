"""Values of launch configs with the place they came from, and how they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_DEPTH = 40
MAX_TEXT = 10_000


@dataclass(frozen=True)
class Unknown:
    """A value that the file gives but does not settle; ``why`` says what it depends on."""

    why: str


@dataclass(frozen=True)
class Fact:
    """A value and the words that say where it came from."""

    value: object
    words: str


@dataclass(frozen=True)
class Entry:
    """One setting as written: its key, its raw value, its line, and the file when it is not the one asked for."""

    key: str
    value: object
    line: int = 0
    source: str = ""
    given: bool = False

    @property
    def words(self):
        """Origin in words: ``data.train_batch_size=1024 (line 12)``."""
        shown = shorten(plain(self.value))
        if self.given:
            return f"given: {self.key}={shown}"
        where = " ".join(part for part in (self.source, f"line {self.line}" if self.line else "") if part)
        return f"{self.key}={shown}" + (f" ({where})" if where else "")


def shorten(text, limit=80):
    """Text on one line, printable, and at most ``limit`` characters long."""
    text = "".join(c if c.isprintable() else " " for c in str(text))
    return text if len(text) <= limit else text[: limit - 3] + "..."


def plain(value):
    """A value as configs write it: null, true, 5, text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def scalar(text):
    """The value that a command line or a plain YAML scalar means: null, true, a number, or the text itself."""
    if not isinstance(text, str):
        return text
    word = text.strip()
    if word.lower() in {"", "null", "none", "~"}:
        return None
    if word.lower() in {"true", "false"}:
        return word.lower() == "true"
    if re.fullmatch(r"[+-]?[0-9][0-9_]{0,17}", word):
        return int(word.replace("_", ""))
    if re.fullmatch(r"[+-]?([0-9]{1,18}\.?[0-9]{0,18}|\.[0-9]{1,18})([eE][+-]?[0-9]{1,3})?", word):
        return float(word)
    return word


def drop(entries, key):
    """Remove ``key`` and everything below it."""
    if entries.pop(key, None) is None:
        for name in [name for name in entries if name.startswith(key + ".")]:
            del entries[name]


def default(value, words):
    """A framework's documented default as a ``Fact``; ``words`` names framework, version and key."""
    return Fact(value, f"default of {words}={plain(value)}")

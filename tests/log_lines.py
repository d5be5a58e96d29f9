"""Logs for tests: the stored ones by name, lines made of keys and values, and one rule's finding."""

from __future__ import annotations

from pathlib import Path

from rlecon.diagnosis import diagnose
from rlecon.readers.logs import read_log

FIXTURES = Path(__file__).parent / "readers" / "fixtures" / "logs"


def read(name, **known):
    """The report of a stored log."""
    return read_log(FIXTURES / name, **known)


def step(number=1, **values):
    """A verl line with these keys (double underscores stand for slashes)."""
    return f"step:{number} - " + " - ".join(f"{key.replace('__', '/')}:{value}" for key, value in values.items())


def finding(rule, report, **known):
    """What one rule says of a report."""
    return next(f for f in diagnose(report, **known) if f.rule == rule)

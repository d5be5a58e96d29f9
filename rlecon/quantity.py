"""Quantities: every letter of the project, declared once, with LaTeX, unit, meaning and domain.

A quantity is a SymPy symbol that prints as its letter. The vocabulary itself is in :mod:`rlecon.vocabulary`.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass

import sympy as sp

from rlecon.errors import RleconError

REGISTRY: dict[str, Quantity] = {}


class Letter(sp.Symbol):
    """A SymPy symbol that prints the LaTeX of its quantity."""

    def _latex(self, printer):
        return REGISTRY[self.name].latex

    # SymPy would ask whether the difference has a sign, up to 30 ms each; of letters alone nobody can know.
    def __lt__(self, other):
        return sp.StrictLessThan(self, other, evaluate=False)

    def __le__(self, other):
        return sp.LessThan(self, other, evaluate=False)

    def __gt__(self, other):
        return sp.StrictGreaterThan(self, other, evaluate=False)

    def __ge__(self, other):
        return sp.GreaterThan(self, other, evaluate=False)


@dataclass(frozen=True)
class Quantity:
    """What a symbol means: Python name, LaTeX, unit, meaning, domain, and a fixed value for a constant of counting."""

    name: str
    latex: str
    unit: str
    meaning: str
    low: float
    high: float
    low_open: bool
    high_open: bool
    integer: bool
    value: float | None = None
    heading: str = ""

    @property
    def symbol(self) -> Letter:
        return Letter(self.name, real=True)

    @property
    def domain(self) -> str:
        """The allowed range in words, for error messages."""
        whole = "whole numbers " if self.integer else ""
        if math.isinf(self.low) and math.isinf(self.high):
            return f"{whole}any finite number".strip()
        if math.isinf(self.high):
            return f"{whole}{'above' if self.low_open else 'at least'} {self.low:g}"
        if not self.low_open and not self.high_open:
            return f"{whole}{self.low:g} to {self.high:g}"
        left = "above" if self.low_open else "from"
        right = "below" if self.high_open else "to"
        return f"{whole}{left} {self.low:g} {right} {self.high:g}"

    def admits(self, values):
        """Boolean array (or bool): where the values lie in the domain. NaN never does."""
        low = (values > self.low) if self.low_open else (values >= self.low)
        high = (values < self.high) if self.high_open else (values <= self.high)
        return low & high


_heading = ""


def heading(text: str) -> None:
    """Group the declarations that follow under ``text`` on the notation page."""
    global _heading
    _heading = text


_DOMAIN = re.compile(r"^(Z?)([\[(])\s*([^,]+)\s*,\s*([^\])]+)\s*([\])])$")


def quantity(name: str, latex: str, unit: str, meaning: str, domain: str = "[0,inf)", value: float | None = None):
    """Declare a quantity and return its symbol.

    ``domain`` is an interval such as ``"[0,1]"``, ``"(0,inf)"`` or ``"Z[1,inf)"`` for whole numbers. ``inf`` is allowed
    as a value only where the interval is closed at it (``"(0,inf]"``).

    >>> quantity("doc_rate", "r", "1", "an example", "[0,1]").name
    'doc_rate'
    """
    match = _DOMAIN.match(domain)
    if not match:
        raise RleconError("not an interval", field=name, value=domain)
    whole, left, low, high, right = match.groups()
    made = Quantity(
        name, latex, unit, meaning, float(low), float(high), left == "(", right == ")", bool(whole), value, _heading
    )
    if name in REGISTRY and REGISTRY[name] != made:
        raise RleconError("declared twice, differently", field=name)
    REGISTRY[name] = made
    return made.symbol


def constant(name: str, latex: str, value: float, unit: str, meaning: str):
    """Declare a constant of counting: a quantity with a fixed value, so that equations hold no numbers."""
    return quantity(name, latex, unit, meaning, "(-inf,inf)", value)


def lookup(name: str) -> Quantity:
    """The quantity called ``name``; raises RleconError with the nearest names."""
    try:
        return REGISTRY[name]
    except KeyError:
        near = ", ".join(difflib.get_close_matches(name, REGISTRY, 3)) or "none is near"
        raise RleconError(f"no such quantity (nearest: {near})", field=name) from None

"""Settings asked for by type; references between them are resolved on demand, from a closed list of resolvers."""

from __future__ import annotations

import math

from rlecon.errors import RleconError
from rlecon.readers.launch.values import MAX_DEPTH, MAX_TEXT, Entry, Fact, Unknown, drop, plain, scalar, shorten

LARGEST_COUNT = 10**12


class Settings:
    """Settings of one launch config by dotted key, asked for by type; remembers what was asked.

    ``entries`` maps a dotted key to its ``Entry``. ``OmegaConf`` references (``${a.b}``, ``${.c}``, ``${mul:a,b}``,
    ``${oc.env:X,default}``) are resolved on demand, within limits.
    """

    def __init__(self, entries):
        self.entries = dict(entries)
        self.used = set()
        self.undecided = {}
        self.unsettled = None  # the name that left the last question without an answer

    def __contains__(self, name):
        return any(key == name or key.startswith(name + ".") for key in self.entries)

    def given(self, key, value):
        """Add a setting that the user gives beside the file; it wins."""
        drop(self.entries, key)
        self.entries[key] = Entry(key, value, given=True)

    def find(self, *names):
        """The first of ``names`` that is set and settled, as a ``Fact``, else None."""
        self.unsettled = None
        for name in names:
            self.used.add(name)
            entry = self.entries.get(name)
            if entry is None:
                continue
            value = entry.value
            if isinstance(value, str) and "${" in value:
                value = self._resolve(value, name, set(), [200])
            if isinstance(value, Unknown):
                self.undecided[name] = value.why
                self.unsettled = self.unsettled or name
                continue
            if value is None:
                continue
            self.unsettled = None
            shown = entry.words
            if value is not entry.value and not isinstance(entry.value, list | dict):
                shown += f" = {shorten(plain(value))}"
            return Fact(value, shown)
        return None

    def _resolve(self, text, at, seen, budget):
        for _ in range(50):
            spot = text.rfind("${")
            if spot < 0:
                return scalar(text)
            end = text.find("}", spot)
            budget[0] -= 1
            if end < 0 or budget[0] < 0 or len(text) > MAX_TEXT:
                raise RleconError(f"the reference in {shorten(text)!r} cannot be resolved", field=at)
            value = self._refer(text[spot + 2 : end].strip(), at, seen, budget)
            if isinstance(value, Unknown) or (spot == 0 and end == len(text) - 1):
                return value
            text = text[:spot] + plain(value) + text[end + 1 :]
        return Unknown(f"{at}: too many references")

    def _refer(self, inner, at, seen, budget):
        resolver, colon, rest = inner.partition(":")
        if colon:
            parts = [part.strip() for part in rest.split(",")]
            if resolver in {"oc.env", "oc.select", "env"}:
                found = self._refer(parts[0], at, seen, budget) if resolver == "oc.select" else None
                if found is not None and not isinstance(found, Unknown):
                    return found
                default = parts[1] if len(parts) > 1 else None
                return scalar(default) if default is not None else Unknown(f"{at} is taken from {parts[0]}")
            numbers = [scalar(part) for part in parts]
            if resolver not in {"mul", "add", "sub", "div", "max", "min"} or not all(
                isinstance(number, int | float) and not isinstance(number, bool) for number in numbers
            ):
                return Unknown(f"{at} uses the resolver {shorten(inner, 40)}")
            total = numbers[0]
            for number in numbers[1:]:
                if resolver == "div" and number == 0:
                    return Unknown(f"{at} divides by zero")
                total = {
                    "mul": lambda a, b: a * b, "add": lambda a, b: a + b, "sub": lambda a, b: a - b,
                    "div": lambda a, b: a / b, "max": max, "min": min,
                }[resolver](total, number)
            return total
        name = inner
        if inner.startswith("."):
            ups = len(inner) - len(inner.lstrip("."))
            base = at.split(".")[:-ups]
            name = ".".join([*base, inner.lstrip(".")])
        if name in seen or len(seen) > MAX_DEPTH:
            raise RleconError("the references run in a circle", field=name)
        entry = self.entries.get(name)
        if entry is None:
            return Unknown(f"{at} refers to {shorten(name)}, which the file does not set")
        value = entry.value
        if isinstance(value, str) and "${" in value:
            value = self._resolve(value, name, seen | {name}, budget)
        return value

    def _typed(self, names, kind, test, convert):
        fact = self.find(*names)
        if fact is None:
            return None
        value = scalar(fact.value)
        if not test(value):
            raise RleconError(f"not {kind}", field=fact.words, allowed=kind)
        return Fact(convert(value), fact.words)

    def count(self, *names, low=1):
        """A whole number of at least ``low``, as a ``Fact``; None when no name is set."""
        return self._typed(
            names, f"a whole number from {low} to 1e12",
            lambda v: isinstance(v, int | float) and not isinstance(v, bool) and v == v
            and low <= v <= LARGEST_COUNT and v == int(v), int,
        )

    def number(self, *names, low=-1e18, high=1e18):
        """A finite number within the bounds."""
        return self._typed(
            names, f"a number from {low:g} to {high:g}",
            lambda v: isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) and low <= v <= high,
            float,
        )

    def flag(self, *names):
        """True or false; 1 and 0 count."""
        return self._typed(names, "true or false", lambda v: isinstance(v, bool) or v in (0, 1), bool)

    def text(self, *names):
        """A non-empty text."""
        fact = self.find(*names)
        if fact is None or isinstance(fact.value, list | dict | bool):
            return None
        value = str(fact.value).strip().strip("\"'")
        return Fact(value, fact.words) if value and len(value) <= 500 else None

    def on(self, *names):
        """Whether a switch is set and true."""
        fact = self.flag(*names)
        return bool(fact and fact.value)

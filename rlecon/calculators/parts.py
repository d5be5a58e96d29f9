"""What a live calculator is made of: figures that it shows, dials, choices and levers that a reader moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rlecon.quantity import REGISTRY, lookup
from rlecon.run import KEYS

TIME = ("time_low_factor", "time_high_factor")  # what spreads a time, and what spreads dollars
MONEY = ("usd_low_factor", "usd_high_factor")


def q(name: str):
    """The symbol of a quantity, for the relation of a sentence."""
    return REGISTRY[name].symbol


@dataclass(frozen=True)
class Output:
    """A figure to show: quantity, label, how numbers are written, and what spreads it (names of two factors)."""

    name: str
    label: str
    unit: str = ""
    digits: int = 3
    log: bool = True
    spread: tuple[str, str] | None = None
    apart: str | None = None  # a part of the figure that the factors do not touch


@dataclass(frozen=True)
class Dial:
    """A number that a reader turns: the key of its state, the quantity it feeds, and the places where the slider stops.

    ``None`` among the stops stands for "not given"; the quantity then takes ``empty``, or the tables' value.
    """

    key: str
    quantity: str
    label: str
    default: float | None
    stops: tuple
    unit: str = ""
    log: bool = False
    empty: float | None = None
    empty_says: str = ""
    also: Mapping = field(default_factory=dict)
    missing: str = ""  # said where it is not given and no table knows it
    unknown: tuple[str, ...] = ()  # figures that nobody knows while it is not given; the model then takes `empty`
    proxies: tuple[str, ...] = ()  # quantities that stand for it while it is not given

    @property
    def scale(self) -> float:
        """What the field shows over what the equations take."""
        return 100.0 if self.unit == "%" else 1.0

    @property
    def bounds(self) -> dict:
        """Domain of the field, from the run file's key or from the quantity."""
        if self.key in KEYS:
            k = KEYS[self.key]
            low, high = (-math.inf if k.low is None else k.low), (math.inf if k.high is None else k.high)
            return {"low": low, "high": high, "lowOpen": k.low_open, "highOpen": k.high_open or k.high is None,
                    "whole": k.kind is int}  # fmt: skip
        q = lookup(self.quantity)
        return {"low": q.low, "high": q.high, "lowOpen": q.low_open, "highOpen": q.high_open, "whole": q.integer}

    @property
    def allowed(self) -> str:
        """The domain in words, in the unit of the field."""
        b, s = self.bounds, self.scale
        kind = "a whole number" if b["whole"] else "a number"
        unit = "\N{NO-BREAK SPACE}%" if self.unit == "%" else ""
        low = f"{b['low'] * s:g}{unit}"
        if math.isinf(b["high"]):
            return f"{kind} {'above' if b['lowOpen'] else 'of at least'} {low}"
        high = f"{b['high'] * s:g}{unit}"
        return f"{kind} {'above' if b['lowOpen'] else 'from'} {low} {'to below' if b['highOpen'] else 'to'} {high}"

    def admits(self, value) -> bool:
        b = self.bounds
        low = value > b["low"] if b["lowOpen"] else value >= b["low"]
        high = value < b["high"] if b["highOpen"] else value <= b["high"]
        return bool(low and high and math.isfinite(value) and (not b["whole"] or value == math.floor(value)))


@dataclass(frozen=True)
class Choice:
    """A setting that takes one of a few values; :class:`Table` says what each means."""

    key: str
    label: str
    default: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """Quantities that one or several choices set together; a row may be words instead: why there is no answer."""

    keys: tuple[str, ...]
    rows: Mapping[str, Mapping | str]


@dataclass(frozen=True)
class Preset:
    """Settings under a name that a reader knows."""

    words: str
    values: Mapping


def _read(state: Mapping, key: str):
    """A setting, or a difference of settings."""
    first, *less = key.split(" - ")
    return state[first] - sum(state[k] for k in less) if less else state[first]


@dataclass(frozen=True)
class Lever:
    """A change that a reader switches on and off: settings of a calculator, and what must not hold before.

    ``values`` are set as they are, those in ``least`` only where the reader has less; ``halves`` sets a key to half of
    another, a whole number of at least 1. ``refusals`` are (key, "is" | "above" | "at most", value, why). The key that
    is halved or tested may be a difference, ``"hardware.gpus - judge.gpus"``. Of a ``family`` only one can be on.
    """

    name: str
    label: str
    words: str
    values: Mapping
    refusals: tuple = ()
    least: tuple[str, ...] = ()
    halves: Mapping = field(default_factory=dict)
    family: str = ""

    def refusal(self, state: Mapping) -> str:
        """Why it does not apply to these settings, or nothing."""
        tests = {"is": lambda x, y: x == y, "above": lambda x, y: x is not None and x > y,
                 "at most": lambda x, y: x is not None and x <= y}  # fmt: skip
        return next((why for key, test, limit, why in self.refusals if tests[test](_read(state, key), limit)), "")

    def pulled(self, state: Mapping) -> dict:
        """The settings with this lever on."""
        out = dict(state)
        for key, value in self.values.items():
            out[key] = max(value, out[key] or 0) if key in self.least else value
        return out | {key: max(1, math.floor(_read(out, of) / 2)) for key, of in self.halves.items()}


def stops(low, high, *musts, log=True, count=60, whole=False, last=None):
    """About ``count`` round values from ``low`` to ``high`` for a slider, ``musts`` among them exactly.

    >>> stops(1, 8, 3, whole=True, count=4)
    (1, 2, 3, 4, 8)
    """
    steps = np.arange(count) / (count - 1)
    raw = low * (high / low) ** steps if log else low + (high - low) * steps
    for digits in (1, 2, 3):
        rounded = {float(f"{x:.{digits - 1}e}") for x in raw}
        if len(rounded) > 0.7 * count:
            break
    if whole:
        rounded = {float(round(x)) for x in rounded}
    kept = {x for x in rounded if low <= x <= high} | {float(low), float(high)}
    musts = [float(m) for m in musts if m is not None]
    gap = lambda a, b: abs(math.log(a / b)) / math.log(high / low) if log else abs(a - b) / (high - low)  # noqa: E731
    kept = {x for x in kept if x in (low, high) or all(gap(x, m) > 0.35 / count for m in musts)} | set(musts)
    found = sorted(int(x) if whole or x == int(x) else x for x in kept)
    return (*found, None) if last == "none" else tuple(found)


def dial(quantity, label, default, stops, **options) -> Dial:
    """A dial whose key is the quantity's name."""
    return Dial(quantity, quantity, label, default, stops, **options)

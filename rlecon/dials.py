"""What a live calculator is: dials that a reader turns, choices, and the model that they feed.

Nothing is computed here: a :class:`Calculator` hands what a reader sets to a model of the package.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from rlecon.equation import Model
from rlecon.errors import RleconError
from rlecon.quantity import lookup
from rlecon.remarks import Remark
from rlecon.run import KEYS


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


@dataclass(frozen=True)
class Calculator:
    """A live calculator; see the module's docstring."""

    title: str
    model: Model
    outputs: tuple[Output, ...]
    dials: tuple[Dial, ...]
    over: str
    choices: tuple[Choice, ...] = ()
    tables: tuple[Table, ...] = ()
    fixed: Mapping = field(default_factory=dict)
    sources: Mapping = field(default_factory=dict)
    words: tuple = ()
    presets: tuple[Preset, ...] = ()
    formula: tuple[str, ...] = ()
    name: str = ""
    run_file: bool = False
    bars: tuple[tuple[str, str, str], ...] = ()
    base: object = None
    guards: tuple[str, ...] = ()  # computed only for the conditions that they carry
    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()  # headings over groups of settings; the first stands open
    notes: tuple[Remark, ...] = ()  # every sentence that holds is shown, its settings as the page writes them
    turns: tuple[str, ...] = ()  # settings that "change this first" tries at their next value
    signal: str = ""  # what a cheaper setting must not lose
    short: bool = False  # leave out the run file
    levers: tuple[Lever, ...] = ()
    absent: str = ""  # what a run file may hold and this calculator does not, in a sentence

    @property
    def wanted(self) -> list[str]:
        """Every quantity that the page needs computed."""
        names = [*self.guards, *(o.name for o in self.outputs)]
        for o in self.outputs:
            names += [*(o.spread or ()), *([o.apart] if o.apart else [])]
        names += [name for _, name, _ in self.bars]
        names += [self.signal] if self.signal else []
        for relation, text in (*self.words, *((n.holds, n.text) for n in self.notes)):
            names += [s.name for s in getattr(relation, "free_symbols", ())]
            names += re.findall(r"\{(\w+)[|}]", text)
        return [n for n in dict.fromkeys(names) if n in self.model.by_left]

    @property
    def defaults(self) -> dict:
        return {c.key: c.default for c in (*self.choices, *self.dials)}

    def state(self, values: Mapping | None = None) -> dict:
        """The default state with some settings changed; refuses what a page would refuse."""
        out = self.defaults
        for key, value in (values or {}).items():
            if key not in out:
                raise RleconError("not a setting of this calculator", field=key, allowed=", ".join(out))
            out[key] = value
        for d in self.dials:
            value = out[d.key]
            if value is None:
                if d.default is not None and d.empty is None and None not in d.stops:
                    raise RleconError("is needed", field=d.key)
            elif not d.admits(value):
                raise RleconError(f"must be {d.allowed}", field=d.key, value=value)
        for c in self.choices:
            if out[c.key] not in dict(c.options):
                raise RleconError("not a choice", field=c.key, value=out[c.key])
        return out

    def quantities(self, state: Mapping) -> dict:
        """What the model takes at ``state``; raises RleconError where a table has words instead of numbers."""
        q = dict(self.fixed)
        for table in self.tables:
            row = table.rows["|".join(str(state[k]) for k in table.keys)]
            if isinstance(row, str):
                raise RleconError(row)
            q.update(row)
        for d in self.dials:
            value = state[d.key]
            if value is not None:
                q[d.quantity] = float(value)
                q.update(d.also)
            elif d.quantity in q and d.empty is None:
                continue
            elif d.empty is not None or d.unknown:
                q[d.quantity] = d.empty or 0.0
            else:
                raise RleconError(d.missing or f"{d.label}: a number is needed")
        return q

    def solve(self, values: Mapping | None = None, **arrays) -> dict:
        """Every quantity at a state, None where unknown; ``arrays`` replaces quantities, for curves."""
        state = self.state(values)
        solved = self.model.solve(self.quantities(state) | arrays, self.wanted)
        return solved | dict.fromkeys(self.unknown(state))

    def unknown(self, state: Mapping) -> list[str]:
        """Figures that nobody knows at this state."""
        rows = [t.rows["|".join(str(state[k]) for k in t.keys)] for t in self.tables]
        known = set(self.fixed) | {n for row in rows if not isinstance(row, str) for n in row}
        blank = [d for d in self.dials if state[d.key] is None and d.unknown and d.quantity not in known]
        return [n for d in blank for n in d.unknown]

    def dial(self, key: str) -> Dial:
        return next(d for d in self.dials if d.key == key)


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


class Shelf(Mapping):
    """Calculators by name, each made when first asked for."""

    def __init__(self):
        self.makers: dict[str, Callable] = {}

    def __getitem__(self, name) -> Calculator:
        if name not in self.makers:
            raise RleconError("no such calculator", field="calculator", value=name, allowed=", ".join(self.makers))
        return self.makers[name]()

    def __iter__(self):
        return iter(self.makers)

    def __len__(self):
        return len(self.makers)


CALCULATORS = Shelf()


def _holding(c: Calculator, name: str) -> Calculator:
    """The calculator under its name, each slider holding its default and every preset exactly."""
    made = []
    for d in c.dials:
        musts = {p.values[d.key] for p in c.presets if p.values.get(d.key) is not None} - set(d.stops)
        numbers = sorted({x for x in d.stops if x is not None} | musts)
        first, last = d.stops[0] is None, d.stops[-1] is None
        made.append(replace(d, stops=(*[None] * first, *numbers, *[None] * last)) if musts else d)
    return replace(c, name=name, dials=tuple(made))


def calculator(name: str):
    """Register a function that makes the calculator called ``name``."""

    def register(make):
        CALCULATORS.makers[name] = cache(lambda: _holding(make(), name))
        return make

    return register

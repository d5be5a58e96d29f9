"""A live calculator as a whole, and the shelf on which all of them stand by name.

Nothing is computed here: a :class:`Calculator` hands what a reader sets to a model of the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from rlecon.calculators.parts import Choice, Dial, Lever, Output, Preset, Table
from rlecon.equation import Model
from rlecon.errors import RleconError
from rlecon.remarks import Remark


@dataclass(frozen=True)
class Calculator:
    """A live calculator; the package's docstring has an example."""

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

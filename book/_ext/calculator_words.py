"""Numbers and sentences of a calculator as its page writes them; the script has twins of most."""

from __future__ import annotations

import math

from rlecon.calculators import Calculator, Dial, Output
from rlecon.formatting import THIN, fill_in, spell

OWN_MARK = ("%", "$", "$/h")  # units that stand in the number itself


def tick(x: float, unit: str) -> str:
    if unit == "%":
        return spell(float(f"{100 * x:.12g}")) + THIN + "%"
    return ("$" if unit in ("usd", "$", "$/h") else "") + spell(x)


def spoken(d: Dial, x) -> str:
    """A dial's value with its unit."""
    if x is None:
        return d.empty_says
    return tick(x, d.unit) + (f" {d.unit}" if d.unit and d.unit not in OWN_MARK else "")


def in_field(d: Dial, x) -> str:
    return "" if x is None else f"{x * d.scale:.12g}"


def nearest(d: Dial, x) -> int:
    if x is None:
        return d.stops.index(None) if None in d.stops else 0
    f = (lambda z: math.log(max(z, 1e-300))) if d.log else float
    return min((i for i, s in enumerate(d.stops) if s is not None), key=lambda i: abs(f(d.stops[i]) - f(x)))


def _true(relation, values) -> bool:
    if relation is True:
        return True
    known = {x: values[x.name] for x in relation.free_symbols}
    return None not in known.values() and bool(relation.subs(known))


def sentence(c: Calculator, text: str, values, state) -> str:
    """A sentence with its figures and choices filled in."""
    return fill_in(text, values, {x.key: dict(x.options)[state[x.key]] for x in c.choices})


def in_words(c: Calculator, values, state=None) -> str:
    """The first sentence whose relation holds."""
    chosen = next((text for relation, text in c.words if _true(relation, values)), "")
    return sentence(c, chosen, values, state or c.defaults)


def notes(c: Calculator, values, state) -> list[str]:
    """What a reader should beware of at this state."""
    said = [d.missing for d in c.dials if state[d.key] is None and any(values.get(n, 0) is None for n in d.unknown)]
    held = [n.text for n in c.notes if n.concerns(state) and _true(n.holds, values)]
    return [sentence(c, text, values, state) for text in said + held]


def spread(o: Output, values):
    """Both ends of a figure's interval, or None."""
    if o.spread is None or values[o.name] is None:
        return None
    apart = values[o.apart] if o.apart else 0.0
    ends = [float(apart + (values[o.name] - apart) * values[f]) for f in o.spread]
    return ends if all(map(math.isfinite, ends)) else None

"""The script of one calculator: its data, its sentences with their relations, and its model, compiled."""

from __future__ import annotations

import json

from rlecon import printing
from rlecon.calculators import Calculator, Dial
from rlecon.equation import RELATIVE_STEP
from rlecon.run import KEYS, NEEDED
from rlecon.sensitivity import KINK, LEAST


def literal(data) -> str:
    """JavaScript for plain data; infinities are allowed, markup is not."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _file_default(key: str):
    value = KEYS[key].default
    return str(value).lower() if isinstance(value, bool) else value


def _file_allowed(d: Dial) -> str:
    """The domain in the run file's own unit."""
    return KEYS[d.key].allowed if d.key in KEYS else d.allowed


def _holds(relation) -> str:
    if relation is True:
        return "() => true"
    names = sorted(s.name for s in relation.free_symbols)
    known = " && ".join(f"{n} !== null" for n in names)
    return f"({{{', '.join(names)}}}) => {known} && ({printing.condition_text(relation, printing.JAVASCRIPT)})"


def script(c: Calculator) -> str:
    """The data and the compiled model of a calculator, as one statement."""
    dials = [
        {"key": d.key, "quantity": d.quantity, "label": d.label, "default": d.default, "stops": d.stops, "unit": d.unit,
         "log": d.log, "empty": d.empty, "emptySays": d.empty_says, "also": dict(d.also), "missing": d.missing,
         "unknown": d.unknown, "proxies": d.proxies, "fileAllowed": _file_allowed(d),
         "turned": d.quantity.removeprefix("requested_"),
         "scale": d.scale, "allowed": d.allowed, "optional": None in d.stops, **d.bounds}
        for d in c.dials
    ]  # fmt: skip
    data = {
        "name": c.name,
        "over": c.over,
        "defaults": c.defaults,
        "dials": dials,
        "choices": [{"key": x.key, "label": x.label, "options": x.options} for x in c.choices],
        "tables": [{"keys": t.keys, "rows": t.rows} for t in c.tables],
        "fixed": dict(c.fixed),
        "outputs": [
            {"name": o.name, "label": o.label, "unit": o.unit, "digits": o.digits, "log": o.log, "spread": o.spread,
             "apart": o.apart} for o in c.outputs
        ],
        "presets": [{"words": p.words, "values": dict(p.values)} for p in c.presets],
        "bars": [{"label": label, "name": name} for label, name, _ in c.bars],
        "turns": c.turns,
        "signal": c.signal,
        "levers": [
            {"name": x.name, "label": x.label, "words": x.words, "values": dict(x.values), "refusals": x.refusals,
             "least": x.least, "halves": dict(x.halves), "family": x.family} for x in c.levers
        ],
    }  # fmt: skip
    if c.bars:
        shown_here = {x.key for x in (*c.dials, *c.choices)}
        data |= {
            "known": [k for k in KEYS if not k.startswith("judge.")] + [k for k in KEYS if k.startswith("judge.")],
            "needed": list(NEEDED),
            "elasticity": {"step": RELATIVE_STEP, "least": LEAST, "kink": KINK},
            "fileDefaults": {k: _file_default(k) for k in KEYS},
            "given": {k: x for k, x in c.base.values.items() if c.base.origins[k] == "given" and k not in shown_here},
        }
    cautions = ",".join(
        f"{{when: {literal(dict(n.when))}, unless: {literal(dict(n.unless))}, holds: {_holds(n.holds)}, "
        f"text: {literal(n.text)}}}"
        for n in c.notes
    )
    words = ",".join(f"{{holds: {_holds(r)}, text: {literal(t)}}}" for r, t in c.words)
    solve = c.model.javascript(c.wanted).replace("</", "<\\/")
    return (
        "globalThis.rleconCalculators = globalThis.rleconCalculators || {};\n"
        f"rleconCalculators[{literal(c.name)}] = Object.assign({literal(data)}, "
        f"{{words: [{words}], notes: [{cautions}], solve: {solve}}});"
    )

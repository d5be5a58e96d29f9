"""The page of a calculator in HTML, with its default result standing: head, dials, result, picture, tables."""

from __future__ import annotations

import math
from html import escape

from calculator_bill import panels, run_file
from calculator_picture import picture, svg
from calculator_words import THIN, in_field, in_words, nearest, spoken, spread

from rlecon.calculators import Calculator, Choice, Dial, Output
from rlecon.formatting import format_figure as shown
from rlecon.quantity import REGISTRY


def _dial(d: Dial, ident: str) -> str:
    letter = REGISTRY[d.quantity]
    unit = f'<span class="calc-unit">{escape(d.unit)}</span>' if d.unit else ""
    empty = f' placeholder="{escape(d.empty_says)}"' if d.empty_says else ""
    return (
        f'<div class="calc-dial" data-key="{d.key}"><label for="{ident}" title="{escape(letter.meaning)}">'
        f"{escape(d.label)}</label>"
        f'<span class="calc-field"><input class="calc-number" id="{ident}" type="text" inputmode="decimal" '
        f'autocomplete="off" spellcheck="false" value="{in_field(d, d.default)}"{empty} title="{escape(d.allowed)}" '
        f'aria-describedby="{ident}-bad" '
        f"disabled>{unit}</span>"
        f'<input type="range" min="0" max="{len(d.stops) - 1}" step="1" value="{nearest(d, d.default)}" '
        f'aria-label="{escape(d.label)}, slider" aria-valuetext="{escape(spoken(d, d.default))}" disabled>'
        f'<p class="calc-bad" id="{ident}-bad" role="alert" hidden></p></div>'
    )


def _choice(x: Choice, ident: str) -> str:
    options = "".join(
        f'<option value="{escape(v)}"{" selected" if v == x.default else ""}>{escape(label)}</option>'
        for v, label in x.options
    )
    return (
        f'<div class="calc-choice"><label for="{ident}">{escape(x.label)}</label>'
        f'<select id="{ident}" data-choice="{x.key}" autocomplete="off" disabled>{options}</select></div>'
    )


def _table(c: Calculator, o: Output, points) -> str:
    d, every = c.dial(c.over), math.ceil(len(points) / 12)
    rows = "".join(
        f"<tr><td>{escape(spoken(d, x))}</td>"
        f"<td>{escape('no result' if y is None else shown(y, o.unit, o.digits))}</td></tr>"
        for x, y, _ in points[::every]
    )
    return (
        f'<table class="calc-table calc-curve-table"><thead><tr><th scope="col">{escape(d.label)}</th>'
        f'<th scope="col">{escape(o.label)}</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _behind(c: Calculator) -> str:
    """Where the formulas stand of a calculator that runs too many to show."""
    if c.formula:
        return ""
    return (
        f'<p class="calc-behind">Computed by {len(c.model.order)} equations; '
        '<a href="formulas.html">each with its units and conditions</a>.</p>'
    )


def _fixed(c: Calculator) -> str:
    if not c.fixed:
        return ""
    rows = ""
    for name, value in sorted(c.fixed.items(), key=lambda x: REGISTRY[x[0]].meaning.lower()):
        q = REGISTRY[name]
        text = "none" if math.isinf(value) else f"{value:.4g}" + (f" {q.unit}" if q.unit not in ("1", "-") else "")
        rows += (
            f"<tr><td>{escape(q.meaning)}</td><td>{escape(text)}</td><td>{escape(c.sources.get(name, ''))}</td></tr>"
        )
    return (
        '<details class="calc-more"><summary>What is held fixed</summary><div class="calc-scroll" tabindex="0" '
        f'role="region" aria-label="What is held fixed: {escape(c.title)}"><table class="calc-table"><thead><tr>'
        '<th scope="col">Quantity</th>'
        f'<th scope="col">Value</th><th scope="col">From</th></tr></thead><tbody>{rows}</tbody></table></div></details>'
    )


def _controls(c: Calculator, ident: str) -> str:
    """Choices and dials, under headings where there are many."""
    made = {x.key: _choice(x, f"{ident}-c{i}") for i, x in enumerate(c.choices)}
    made |= {d.key: _dial(d, f"{ident}-d{i}") for i, d in enumerate(c.dials)}
    if len(c.sections) < 2:
        order = [k for _, keys in c.sections for k in keys] or list(made)
        return "".join(made[k] for k in order)
    return "".join(
        f'<details class="calc-section"{" open" if i < 3 else ""}><summary>{escape(title)}</summary>'
        f'<div class="calc-dials-of">{"".join(made[k] for k in keys)}</div></details>'
        for i, (title, keys) in enumerate(c.sections)
    )


def head(c: Calculator, ident: str) -> str:
    presets = "".join(
        f'<button type="button" class="calc-preset" disabled>{escape(p.words)}</button>' for p in c.presets
    )
    row = f'<div class="calc-presets" role="group" aria-label="Presets">{presets}</div>' if presets else ""
    return f'<div class="calc-head"><p class="calc-title" id="{ident}-title">{escape(c.title)}</p>{row}</div>'


def body(c: Calculator, ident: str) -> str:
    """Everything below the formula, with the default result standing."""
    values = c.solve()
    o = c.outputs[0]
    p = picture(c, o, values)
    ends = spread(o, values)
    outputs = "".join(
        f'<button type="button" class="calc-output" data-output="{x.name}" aria-pressed="{str(x is o).lower()}" '
        f"disabled><span>{escape(x.label)}</span>"
        f'<span class="calc-value">{escape(shown(values[x.name], x.unit, x.digits))}'
        "</span></button>"
        for x in c.outputs
    )
    overs = "".join(
        f'<option value="{d.key}"{" selected" if d.key == c.over else ""}>{escape(d.label)}</option>' for d in c.dials
    )
    span = f"{shown(ends[0], o.unit, o.digits)} to {shown(ends[1], o.unit, o.digits)}, 80{THIN}%" if ends else ""
    return (
        '<div class="calc-body"><div class="calc-dials">'
        + _controls(c, ident)
        + '</div><div class="calc-side"><div class="calc-result"><div class="calc-now">'
        f'<p class="calc-main-label">{escape(o.label)}</p>'
        f'<p class="calc-main"><output class="calc-big">{escape(shown(values[o.name], o.unit, o.digits))}</output> '
        f'<span class="calc-spread">{escape(span)}</span></p></div>'
        f'<p class="calc-words">{escape(in_words(c, values))}</p></div>'
        f'<div class="calc-view">{svg(p, ident)}'
        f'<p class="calc-against"><label for="{ident}-over">against</label> '
        f'<select class="calc-over" id="{ident}-over" autocomplete="off" disabled>{overs}</select></p>'
        f'<div class="calc-outputs" role="group" aria-label="Figures; the pressed one is plotted">{outputs}</div></div>'
        "</div></div>"
        + panels(c, values)
        + '<div class="calc-actions"><button type="button" class="calc-reset" disabled>Reset</button>'
        '<button type="button" class="calc-link" disabled>Copy link</button>'
        '<button type="button" class="calc-csv" disabled>Curve as CSV</button>'
        '<span class="calc-note" role="status"></span></div>'
        f'<details class="calc-more"><summary>The curve as a table</summary>{_table(c, o, p["points"])}</details>'
        f"{run_file(c)}{_fixed(c)}{_behind(c)}"
        '<p class="calc-hidden calc-live" aria-live="polite"></p>'
    )

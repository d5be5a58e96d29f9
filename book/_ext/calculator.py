"""The ``{calculator} name`` directive: a live formula that stands even without JavaScript.

What it shows is declared in :mod:`rlecon.calculators`. At build time the model is solved for the default settings, the
result, the words and the first picture are written into the page, and the model is compiled to JavaScript beside its
data. The script ``calculator.js`` then follows the reader's hand. Axis and tick functions have twins there.
"""

from __future__ import annotations

import json
import math
from html import escape
from pathlib import Path

import numpy as np
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from rlecon import printing
from rlecon.calculators import CALCULATORS, Calculator, Choice, Dial, Output
from rlecon.equation import Model
from rlecon.errors import RleconError
from rlecon.formatting import fill_in
from rlecon.formatting import format_figure as shown
from rlecon.quantity import REGISTRY
from rlecon.run import KEYS, NEEDED
from rlecon.run_dials import run_of

SCRIPTS, STYLES = ("special.js", "calculator.js", "bill.js"), ("calculator.css",)
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 250, 54, 16, 32, 44
THIN = "\N{NO-BREAK SPACE}"
WATCHED = ("usd_run", "gpu_hours_run", "usd_per_step")  # what a change is judged by: the first that is known
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
OWN_MARK = ("%", "$", "$/h")  # units that stand in the number itself


# --- numbers ---------------------------------------------------------------------------------------------------------


def spell(x: float) -> str:
    """A tick's number in a few letters."""
    size = abs(x)
    if size == 0:
        return "0"
    if size >= 1e15 or size < 1e-4:
        exponent = math.floor(math.log10(size) + 1e-9)
        mantissa = x / 10.0**exponent
        power = "10" + str(exponent).translate(RAISED)
        return power if abs(mantissa - 1) < 1e-6 else f"{mantissa:.3g}×{power}"
    for factor, prefix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if size >= factor * (10 if factor == 1e3 else 1):
            return f"{x / factor:.4g}{THIN}{prefix}"
    return f"{x:.4g}" if size < 1000 else f"{x:,.0f}"


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


# --- the picture: twins of the functions in calculator.js ------------------------------------------------------------


def axis(low: float, high: float, log: bool):
    """Ends and ticks that a reader would choose."""
    if log:
        a = math.floor(math.log10(low) * 2 + 1e-9) / 2
        b = max(math.ceil(math.log10(high) * 2 - 1e-9) / 2, a + 0.5)
        ends, skip = (10.0**a, 10.0**b), max(1, math.ceil((b - a) / 5))
        digits = (1,) if b - a > 2 else (1, 3) if b - a > 1 else (1, 2, 5)
        ticks = [
            float(f"{m}e{e}")
            for e in range(math.floor(a), math.ceil(b) + 1)
            for m in digits
            if (b - a <= 2 or e % skip == 0) and ends[0] * (1 - 1e-9) <= float(f"{m}e{e}") <= ends[1] * (1 + 1e-9)
        ]
        return ends, ticks
    if 0 <= low < 0.6 * high:
        low = 0.0
    if not high > low:
        high = low + (abs(low) or 1.0)
    raw = (high - low) / 5
    base = 10.0 ** math.floor(math.log10(raw))
    step = next(m * base for m in (1, 2, 5, 10) if m * base >= raw * (1 - 1e-9))
    ticks = [float(f"{i * step:.12g}") for i in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]
    return (ticks[0], ticks[-1]), ticks


def _place(x, ends, log, start, stop):
    f = math.log if log else float
    return start + (stop - start) * (f(x) - f(ends[0])) / (f(ends[1]) - f(ends[0]))


def curve(c: Calculator, o: Output):
    """Points (x, y, ends) over the plotted dial, at its stops."""
    d = c.dial(c.over)
    xs = [s for s in d.stops if s is not None]
    solved = _solve_over(c, d, xs)
    points = []
    for i, x in enumerate(xs):
        at = {n: v[i] for n, v in solved.items()}
        y = float(at[o.name])
        points.append((x, y, spread(o, at)) if math.isfinite(y) else (x, None, None))
    return points


def _solve_over(c, d, xs):
    wanted = c.wanted
    solved = c.model.solve(
        c.quantities(c.state()) | dict(d.also) | {d.quantity: np.array(xs, float)}, wanted, reasons=[]
    )
    return {n: np.broadcast_to(solved[n], len(xs)) for n in wanted}


def picture(c: Calculator, o: Output, values) -> dict:
    """Everything that the first picture shows, as plain data."""
    d, points = c.dial(c.over), curve(c, o)
    here_x, here_y = c.defaults[d.key], float(values[o.name])
    every = [y for _, y, ends in points if y is not None for y in (y, *(ends or ()))] + [here_y]
    ylog = o.log and min(every) > 0
    y_ends, y_ticks = axis(min(every), max(every), ylog)
    x_ends, xlog = (points[0][0], points[-1][0]), d.log and points[0][0] > 0
    x_at = lambda x: _place(x, x_ends, xlog, LEFT, WIDTH - RIGHT)  # noqa: E731
    y_at = lambda y: _place(y, y_ends, ylog, HEIGHT - BOTTOM, TOP)  # noqa: E731
    line, pen, band, run = "", "M", "", []

    def flush():
        nonlocal band, run
        if len(run) > 1:
            upper = "L".join(f"{x_at(x):.1f} {y_at(e[1]):.1f}" for x, _, e in run)
            lower = "L".join(f"{x_at(x):.1f} {y_at(e[0]):.1f}" for x, _, e in reversed(run))
            band += f"M{upper}L{lower}Z"
        run = []

    for x, y, ends in points:
        if y is None:
            pen = "M"
        else:
            line += f"{pen}{x_at(x):.1f} {y_at(y):.1f}"
            pen = "L"
        if ends:
            run.append((x, y, ends))
        else:
            flush()
    flush()
    plain = o.unit in ("usd", "%", "x", "") or o.unit in o.label.lower()
    unit = " (s)" if o.unit == "seconds" else "" if plain else f" ({o.unit})"
    x_unit = f" ({d.unit})" if d.unit and d.unit not in OWN_MARK else ""
    return {
        "line": line, "band": band,
        "xTicks": [(f"{x_at(x):.1f}", tick(x, d.unit)) for x in axis(*x_ends, xlog)[1] if x_ends[0] <= x <= x_ends[1]],
        "yTicks": [(f"{y_at(y):.1f}", tick(y, o.unit)) for y in y_ticks],
        "yLabel": o.label + unit + (", log scale" if ylog else ""),
        "xLabel": d.label + x_unit + (", log scale" if xlog else ""),
        "point": (f"{x_at(here_x):.1f}", f"{y_at(here_y):.1f}"),
        "points": points,
    }  # fmt: skip


def svg(c: Calculator, p: dict, ident: str) -> str:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    y_ticks = "".join(
        f'<line class="calc-grid" x1="{LEFT}" x2="{right}" y1="{at}" y2="{at}"/>'
        f'<text x="{LEFT - 8}" y="{at}" dy="0.35em" text-anchor="end">{escape(text)}</text>'
        for at, text in p["yTicks"]
    )
    x_ticks = "".join(
        f'<line class="calc-tick" x1="{at}" x2="{at}" y1="{bottom}" y2="{bottom + 5}"/>'
        f'<text x="{at}" y="{bottom + 18}" text-anchor="middle">{escape(text)}</text>'
        for at, text in p["xTicks"]
    )
    x, y = p["point"]
    return (
        f'<svg class="calc-plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{ident}-picture">'
        f'<title id="{ident}-picture">The result against one setting; the values are in the table below.</title>'
        f'<text class="calc-ylabel" x="0" y="15">{escape(p["yLabel"])}</text>'
        f'<g class="calc-yticks">{y_ticks}</g><g class="calc-xticks">{x_ticks}</g>'
        f'<line class="calc-axis" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
        f'<path class="calc-band" d="{p["band"]}"/>'
        f'<line class="calc-rule" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}"/>'
        f'<path class="calc-line" d="{p["line"]}"/><circle class="calc-point" cx="{x}" cy="{y}" r="5"/>'
        f'<text class="calc-xlabel" x="{right}" y="{HEIGHT - 5}" text-anchor="end">{escape(p["xLabel"])}</text></svg>'
    )


# --- the script of one calculator ------------------------------------------------------------------------------------


def _literal(data) -> str:
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
            "fileDefaults": {k: _file_default(k) for k in KEYS},
            "given": {k: x for k, x in c.base.values.items() if c.base.origins[k] == "given" and k not in shown_here},
        }
    cautions = ",".join(
        f"{{when: {_literal(dict(n.when))}, unless: {_literal(dict(n.unless))}, holds: {_holds(n.holds)}, "
        f"text: {_literal(n.text)}}}"
        for n in c.notes
    )
    words = ",".join(f"{{holds: {_holds(r)}, text: {_literal(t)}}}" for r, t in c.words)
    solve = c.model.javascript(c.wanted).replace("</", "<\\/")
    return (
        "globalThis.rleconCalculators = globalThis.rleconCalculators || {};\n"
        f"rleconCalculators[{_literal(c.name)}] = Object.assign({_literal(data)}, "
        f"{{words: [{words}], notes: [{cautions}], solve: {solve}}});"
    )


# --- the page --------------------------------------------------------------------------------------------------------


def _math(latex: str) -> str:
    return f'<span class="math notranslate nohighlight">\\({escape(latex)}\\)</span>'


def _dial(d: Dial, ident: str) -> str:
    letter = REGISTRY[d.quantity]
    unit = f'<span class="calc-unit">{escape(d.unit)}</span>' if d.unit else ""
    empty = f' placeholder="{escape(d.empty_says)}"' if d.empty_says else ""
    return (
        f'<div class="calc-dial" data-key="{d.key}"><label for="{ident}" title="{escape(letter.meaning)}">'
        f"{escape(d.label)}</label>"
        f'<span class="calc-field"><input class="calc-number" id="{ident}" type="text" inputmode="decimal" '
        f'autocomplete="off" spellcheck="false" value="{in_field(d, d.default)}"{empty} aria-describedby="{ident}-bad" '
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


def panels(c: Calculator, values) -> str:
    """Where a step goes, what to change first, and what to beware of, for calculators of a whole bill."""
    if not c.bars:
        return ""
    sizes = [max(0.0, float(values[name])) for _, name, _ in c.bars]
    bars = "".join(
        f'<div class="calc-bar{"" if x > 0 else " calc-zero"}"><span>{escape(label)}</span>'
        f'<span class="calc-bar-track"><span class="calc-bar-fill calc-{meaning}" '
        f'style="width:{100 * x / max(sizes):.2f}%"></span></span>'
        f'<span class="calc-bar-value">{shown(x, "seconds", 2)}</span>'
        f'<span class="calc-bar-share">{_share(x / sum(sizes))}</span></div>'
        for (label, _, meaning), x in zip(c.bars, sizes, strict=True)
    )
    remarks = "".join(f"<li>{escape(text)}</li>" for text in notes(c, values, c.defaults))
    return (
        '<div class="calc-panels"><section class="calc-panel">'
        f'<p class="calc-subtitle">Where a step goes</p>{bars}</section><section class="calc-panel">'
        f'<p class="calc-subtitle">Change this first</p>{_first(c)}</section></div>{levers(c, values)}'
        f'<ul class="calc-remarks">{remarks}</ul>'
    )


def lever_answer(c: Calculator, lever, state, values) -> tuple[float | None, str]:
    """New dollars over old (hours, where no price is known) of a lever alone, or why there is none."""
    why = lever.refusal(state)
    if why:
        return None, why
    try:
        new = c.solve(lever.pulled(state))
    except RleconError as error:
        return None, str(error)
    watched = next((n for n in WATCHED if values.get(n) is not None), "gpu_hours_per_step")
    return float(new[watched]) / float(values[watched]), ""


def levers(c: Calculator, values) -> str:
    """Switches for changes, each with its ratio alone beside it."""
    if not c.levers:
        return ""
    rows = ""
    for lever in c.levers:
        ratio, why = lever_answer(c, lever, c.defaults, values)
        says = f"calc-{c.name}-lever-{lever.name}"
        rows += (
            f'<div class="calc-lever"><button type="button" class="calc-pull" data-lever="{lever.name}" '
            f'aria-pressed="false" aria-describedby="{says}" title="{escape(why or lever.words)}" disabled>'
            f'{escape(lever.label)}</button><span class="calc-lever-says{" calc-why" if why else ""}" id="{says}">'
            f"{escape(why or f'×{ratio:.2f}')}</span></div>"
        )
    return (
        '<section class="calc-levers" role="group" aria-label="Levers"><p class="calc-subtitle">Levers</p>'
        "<p>Switch changes on, on top of your settings. Beside each: the bill with it alone, new over old. What a run "
        "teaches may change too.</p>"
        f'<div class="calc-lever-rows">{rows}</div><p class="calc-together">None is on.</p></section>'
    )


def _share(x: float) -> str:
    return escape(f"<{THIN}1{THIN}%" if 0 < x < 0.01 else shown(x, "%", 2))


def signed(x: float) -> str:
    return ("\N{MINUS SIGN}" if x < 0 else "+") + f"{abs(x):.2f}"


def _first(c: Calculator) -> str:
    """Tables of elasticities and next settings, from the package's own bill."""
    from rlecon.pricing import bill

    labels = {x.key: x.label for x in (*c.dials, *c.choices)}
    options = {x.key: dict(x.options) for x in c.choices}
    made = bill(run_of(c, c.defaults))
    rows = [r for r in made.sensitivity() if r["input"] in labels]
    now = {**c.defaults, "rollout.tensor_parallel": int(made["tensor_parallel"])}

    def word(key, value):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return options[key][text] if key in options else text

    smooth = "".join(
        f"<tr><td>{escape(labels[r['input']])}</td><td>"
        + (f"{signed(r['below'])} down, {signed(r['above'])} up" if "below" in r else signed(r["elasticity"]))
        + "</td></tr>"
        for r in [r for r in rows if "elasticity" in r][:5]
    )
    turned = "".join(
        f'<tr><td><button type="button" class="calc-turn" disabled>{escape(labels[r["input"]])}: '
        f"{escape(word(r['input'], now[r['input']]))} → {escape(word(r['input'], r['next']))}</button></td>"
        f"<td>×{r['ratio']:.2f}</td><td>{'×' + format(r['ratio_per_signal'], '.2f') if 'ratio_per_signal' in r else ''}"
        "</td></tr>"
        for r in [r for r in rows if "next" in r and r["input"] in c.turns][:5]
    )
    return (
        '<table class="calc-table"><thead><tr><th scope="col">1 % more of</th><th scope="col">bill, %</th></tr></thead>'
        f'<tbody class="calc-elasticities">{smooth}</tbody></table>'
        '<table class="calc-table"><thead><tr><th scope="col">Next setting</th><th scope="col">bill</th>'
        f'<th scope="col">per signal</th></tr></thead><tbody class="calc-settings">{turned}</tbody></table>'
    )


def run_file(c: Calculator) -> str:
    """The run as a file and as a command, and a place to paste one."""
    if not c.bars or c.short:
        return ""
    text = ""
    for section, table in run_of(c, c.defaults).given().items():
        lines = [
            f"{k} = {x:.12g}" if isinstance(x, float) else f"{k} = {_literal(x)}"
            for k, x in table.items()
            if x != KEYS[f"{section}.{k}"].default
        ]
        text += ("\n" if text else "") + f"[{section}]\n" + "".join(f"{line}\n" for line in lines) if lines else ""
    absent = f'<p class="calc-absent">{escape(c.absent)}</p>' if c.absent else ""
    return (
        absent + '<details class="calc-more"><summary>This run as a file, and yours</summary>'
        f'<pre class="calc-file-text" tabindex="0" aria-label="The run as a file">{escape(text)}</pre>'
        '<p><button type="button" class="calc-copy-file" disabled>Copy as run file</button> '
        '<button type="button" class="calc-copy-command" disabled>Copy as command</button></p>'
        '<label>A run file of yours <textarea class="calc-pasted" rows="6" spellcheck="false" autocomplete="off" '
        "disabled></textarea></label>"
        '<p><button type="button" class="calc-paste" disabled>Use it</button> '
        '<span class="calc-paste-note" role="status"></span></p></details>'
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
        f'<div class="calc-view">{svg(c, p, ident)}'
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
        f"{run_file(c)}{_fixed(c)}"
        '<p class="calc-hidden calc-live" aria-live="polite"></p>'
    )


class CalculatorDirective(SphinxDirective):
    """``{calculator} name``."""

    required_arguments = 1
    option_spec = {"name": directives.unchanged}

    def run(self):
        name = self.arguments[0]
        try:
            c = CALCULATORS[name]
            ident = f"calc-{name}"
            texts = [head(c, ident), body(c, ident), script(c)]
        except RleconError as error:
            raise self.error(f"calculator {name!r}: {error}") from None
        self.env.note_dependency(str(Path(__file__).resolve()))
        about = self.env.metadata[self.env.docname]
        about["calculators"] = about.get("calculators", "") + (" bill" if c.bars else " calculator")
        raw = lambda text: nodes.raw("", text, format="html")  # noqa: E731
        opening = f'<div class="calc" id="{ident}" data-name="{name}" role="group" aria-labelledby="{ident}-title">'
        out = [raw(opening + texts[0])]
        lines = [formula_latex(c.model, f) for f in c.formula]
        if lines:
            out.append(raw(f'<div class="calc-formula" style="min-height:{3.4 * len(lines):.1f}em">'))
            for latex in lines:
                block = nodes.math_block(latex, latex, nowrap=False, number=None, label=None)
                block["docname"] = self.env.docname
                out.append(block)
            out.append(raw("</div>"))
        out.append(raw(texts[1] + f"<script>{texts[2]}</script></div>"))
        return out


def formula_latex(model: Model, name: str) -> str:
    """LaTeX of one equation of the model, or the text itself where it is LaTeX."""
    return name if "=" in name else model.by_left[name].latex()


def load_where_needed(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Pages without a calculator load nothing of it."""
    used = app.env.metadata.get(pagename, {}).get("calculators", "")
    if not used:
        return
    for name in SCRIPTS:
        if name != "bill.js" or "bill" in used:
            app.add_js_file(name, loading_method="defer", priority=800)
    for name in STYLES:
        app.add_css_file(name)


def setup(app: Sphinx) -> dict:
    app.add_directive("calculator", CalculatorDirective)
    app.connect("html-page-context", load_where_needed)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

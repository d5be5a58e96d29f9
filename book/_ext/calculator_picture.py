"""The first picture of a calculator, as plain data and as SVG: twins of the functions in ``calculator.js``."""

from __future__ import annotations

import math
from html import escape

import numpy as np
from calculator_words import OWN_MARK, spread, tick

from rlecon.calculators import Calculator, Output

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 250, 54, 16, 32, 44


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


def svg(p: dict, ident: str) -> str:
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

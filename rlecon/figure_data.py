"""The data of a figure as CSV, carried inside its SVG: what was drawn, under the names that stand on its axes.

Nothing is typed a second time: the rows are read from the drawn figure. A page that shows the figure can offer them
(:func:`data_in`), and so can whoever keeps the picture alone.
"""

from __future__ import annotations

import csv
import io
import math
import re
from html import escape, unescape

import numpy as np

MARK = "rlecon-data"
HOUSE_COLUMNS = ("series", "kind", "label", "part")
MOST_POINTS = 200  # of a curve, spread evenly: a picture shows no more
LOG_SCALE = " (log scale)"


def spelled(value) -> str:
    """A number to six significant digits, a text as it is, nothing for what is unknown."""
    if isinstance(value, str):
        return " ".join(value.split())
    if value is None or (number := float(value)) != number:
        return ""
    return f"{number:.6g}"


def to_csv(rows: list[dict]) -> str:
    """Rows with the columns that any of them fills, in the order of their first use; the house's columns first."""
    used = {key for row in rows for key, value in row.items() if spelled(value)}
    columns = [key for key in dict.fromkeys((*HOUSE_COLUMNS, *(key for row in rows for key in row))) if key in used]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([spelled(row.get(c)) for c in columns] for row in rows)
    return buffer.getvalue()


def embed(svg: str, text: str) -> str:
    """The picture with ``text`` (CSV) inside it, where no viewer draws it."""
    held = f'<metadata id="{MARK}">{escape(text, quote=False)}</metadata>'
    return re.sub(r"(<svg\b[^>]*>)", lambda m: f"{m.group()}\n {held}", svg, count=1)


def data_in(svg: str) -> str | None:
    """The CSV that a picture carries, or None.

    >>> data_in(embed('<svg width="1"></svg>', 'x,y\\n1,2\\n')), data_in("<svg></svg>")
    ('x,y\\n1,2\\n', None)
    """
    found = re.search(rf'<metadata id="{MARK}">(.*?)</metadata>', svg, re.DOTALL)
    return unescape(found.group(1)) if found else None


# --- reading a figure -------------------------------------------------------------------------------------------------


def rows_of(figure, kept: list[tuple[list, dict]], numbers) -> list[dict]:
    """What a figure shows, a row for each point or part.

    ``kept`` holds what the house functions drew, as (artists, series); lines and error bars that a chapter drew by
    itself are read from the axes. ``numbers`` is the tick formatter of a numeric axis.
    """
    rows = []
    for axes in figure.axes:
        known = {id(artist): series for artists, series in kept for artist in artists}
        series = [s for artists, s in kept if artists and artists[0].axes is axes] + _by_hand(axes, known)
        places = [_places(axis, [v for s in series for v in s.get(key, ())], numbers)
                  for axis, key in ((axes.xaxis, "x"), (axes.yaxis, "y"))]  # fmt: skip
        names = _headings(axes, places)
        for s in series:
            rows += _series_rows(axes, s, names, places)
    return rows


def _headings(axes, places) -> tuple[str, str]:
    x, title = axes.get_xlabel(), axes.get_title(loc="left") or axes.get_title()
    y = axes.get_ylabel() or (title.splitlines() or [""])[-1]
    bare = ["item" if named else plain for named, plain in zip(places, "xy", strict=True)]
    x, y = (text.replace(LOG_SCALE, "").strip() or other for text, other in zip((x, y), bare, strict=True))
    return (x, y) if x != y else (f"x: {x}", f"y: {y}")


def _places(axis, values, numbers) -> dict[int, str] | None:
    """Names of the whole-numbered places of an axis of names, or None for an axis of numbers."""
    formatter, spots = axis.get_major_formatter(), list(axis.get_majorticklocs())
    if getattr(formatter, "func", None) is numbers or not spots or any(s != int(s) for s in spots):
        return None
    names = {int(s): formatter(s, i) for i, s in enumerate(spots)}
    if not all(re.search(r"[^\W\d_]", name) for name in names.values()):
        return None
    near = [v for v in values if not isinstance(v, str) and math.isfinite(float(v))]
    return names if all(round(float(v)) in names for v in near) else None


def _by_hand(axes, known) -> list[dict]:
    """Lines and error bars that are not the house functions' own."""
    found, bars = [], set()
    for container in axes.containers:
        if not hasattr(container, "has_yerr"):
            continue
        line, caps, columns = container.lines
        bars |= {id(part) for part in (line, *caps)}
        if line is None or id(line) in known:
            continue
        x, y, columns = line.get_xdata(), line.get_ydata(), list(columns)
        s = {"kind": "point", "meaning": "", "name": _own_label(container), "x": x, "y": y}
        bars_along = ((container.has_xerr, 0, ("x low", "x high")), (container.has_yerr, 1, ("low", "high")))
        for has, place, names in bars_along:
            if has:
                ends = np.array([np.asarray(e, float)[:, place] for e in columns.pop(0).get_segments()])
                if len(ends) == len(x):
                    s |= dict(zip(names, ends.T, strict=True))
        found.append(s)
    for line in axes.lines:
        if id(line) in known or id(line) in bars:
            continue
        x, y = list(line.get_xdata()), list(line.get_ydata())
        if line.get_transform() != axes.transData:  # a level across the axes
            x, y = ([], y[:1]) if len(set(map(float, y))) == 1 else (x[:1], [])
        kind = "line" if line.get_linestyle() not in ("None", "") else "point"
        found.append({"kind": kind, "meaning": "", "name": _own_label(line), "x": x, "y": y})
    return found


def _own_label(artist) -> str:
    label = str(artist.get_label() or "")
    return "" if label.startswith("_") else label


def _series_rows(axes, s, names, places) -> list[dict]:
    if "bars" in s:
        return [{"series": bar, "part": part, names[0]: size} for bar, part, size in s["bars"]]
    length = max(len(s.get(key, ())) for key in ("x", "y"))
    labels = _labels(axes, s)
    name = s["name"] or s["meaning"]
    if not s["name"] and length > 1 and len(labels) == 1 and s["kind"] in ("curve", "line"):
        (name,) = labels.values()
    rows = []
    spots = range(length)
    if s["kind"] in ("curve", "interval", "line") and length > MOST_POINTS:
        spots = sorted({*np.linspace(0, length - 1, MOST_POINTS).round().astype(int).tolist(), *labels})
    for i in spots:
        label = labels.get(i)
        row = {"series": name, "kind": s["kind"], "label": label if label != name else None}
        for key, column, named in (("x", names[0], places[0]), ("y", names[1], places[1])):
            value = s[key][i] if i < len(s.get(key, ())) else None
            at_place = named is not None and value is not None and not isinstance(value, str)
            row[column] = named[round(float(value))] if at_place else value
        row |= {key: s[key][i] for key in ("low", "high", "x low", "x high") if key in s}
        rows.append(row)
    return rows


def _labels(axes, s) -> dict[int, str]:
    """The texts that stand at points of a series."""
    found = {}
    if len(s.get("x", ())) != len(s.get("y", ())) or any(isinstance(v, str) for v in (*s["x"], *s["y"])):
        return found
    for text in axes.texts:
        at = getattr(text, "xy", None)
        if at is None or any(isinstance(v, str) for v in at):
            continue
        for i, point in enumerate(zip(s["x"], s["y"], strict=True)):
            if all(math.isclose(float(a), float(b), rel_tol=1e-9) for a, b in zip(point, at, strict=True)):
                found.setdefault(i, text.get_text())
    return found

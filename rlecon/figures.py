"""The house style of the figures: six colors with fixed meaning, direct labels, SVG that is the same on every run.

A chapter calls ``setup()`` once, draws on ``canvas(...)``, and ends the cell with ``show(figure)``. Nothing is computed
here: every function takes data that its caller has, and tests look at that data.

Each meaning has a color, a mark and a dash, so that a grey print can be read. The page inverts the picture in its dark
mode (and turns the hues back), so the background is transparent and the ink is nearly black.
"""

from __future__ import annotations

import io
import textwrap
import weakref
from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from rlecon import figure_data
from rlecon.errors import RleconError
from rlecon.formatting import spell

WIDTH, HEIGHT = 600, 400  # CSS pixels; a phone shows 373 of them
PIXELS_PER_INCH = 96
SMALL = 13.5  # points of the smallest text: 11 pixels on a phone
SOURCE_LETTERS = 60  # of a line under the figure
INK, FAINT = "#1f2328", "#6b7280"
# Colors that stay apart for the common kinds of color blindness (after Okabe and Ito), each with one meaning.
COLORS = {
    "rollout": "#0072b2",
    "training": "#d55e00",
    "environment": "#00876c",
    "idle": "#8a8f98",
    "learning": "#a64d87",
    "reference": INK,
}
MARKS = {"rollout": "o", "training": "s", "environment": "^", "idle": "v", "learning": "D", "reference": "X"}
DASHES = {
    "rollout": "-",
    "training": (0, (7, 2)),
    "environment": (0, (2, 2)),
    "idle": (0, (1, 3)),
    "learning": (0, (7, 2, 1.5, 2)),
    "reference": (0, (12, 3)),
}
HATCHES = {"rollout": "", "training": "//", "environment": "..", "idle": "", "learning": "xx", "reference": "--"}
# Text is laid out with the font that Matplotlib ships, and drawn with the reader's own, which is narrower.
LAYOUT_FONT = "DejaVu Sans"
PAGE_FONTS = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

LABEL_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5}

STYLE = {
    "figure.figsize": (WIDTH / PIXELS_PER_INCH, HEIGHT / PIXELS_PER_INCH),
    "figure.dpi": PIXELS_PER_INCH,
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 15,
    "axes.titlepad": 9,
    "axes.labelsize": 15,
    "axes.axisbelow": True,
    "xtick.labelsize": 15,
    "ytick.labelsize": 15,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "font.family": LAYOUT_FONT,
    "font.size": 15,
    "grid.color": "#d7dbe0",
    "grid.linewidth": 0.7,
    "lines.linewidth": 2.0,
    "lines.markersize": 7,
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "rlecon",
}


_KEPT: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # figure -> what its functions drew, as given


def setup() -> None:
    """Make the house style the current one. Call it in a chapter's first cell."""
    matplotlib.rcParams.update(STYLE)
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    if get_ipython() is not None:
        set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})


def _color(meaning: str) -> str:
    if meaning not in COLORS:
        raise RleconError("no such meaning", field="meaning", value=meaning, allowed=", ".join(COLORS))
    return COLORS[meaning]


def _keep(axes, artists, kind: str, meaning: str, label: str = "", **columns) -> None:
    """Remember what was drawn, for the figure's data."""
    series = {"kind": kind, "meaning": meaning, "name": label}
    series |= {key: np.atleast_1d(values) for key, values in columns.items()}
    _KEPT.setdefault(axes.figure, []).append((list(artists), series))


def _ends(y, error) -> dict:
    """Both ends of error bars: ``error`` is a half width, one for each point, or two rows (below, above)."""
    if error is None:
        return {}
    y, half = np.atleast_1d(np.asarray(y, float)), np.asarray(error, float)
    below, above = half if half.ndim == 2 else (half, half)
    return {"low": y - below, "high": y + above}


def canvas(x: str, y: str, *, title: str = "", xlog: bool = False, ylog: bool = False, grid: str = "", height=HEIGHT):
    """An empty figure and its axes.

    ``x`` and ``y`` are labels with units, ``grid`` is ``""``, ``"x"``, ``"y"`` or ``"both"``, ``height`` is in pixels.
    A logarithmic axis says so in its label. The label of ``y`` stands level above its axis.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH / PIXELS_PER_INCH, height / PIXELS_PER_INCH), layout="constrained")
        axes = figure.subplots()
        axes.set_xlabel(x + (" (log scale)" if xlog else ""))
        # level and above the axis: a turned label is slow to read, and a long one is higher than a phone's figure
        above = [text for text in (title, y + (" (log scale)" if ylog else "")) if text]
        if above:
            axes.set_title("\n".join(above))
        for axis, log in ((axes.xaxis, xlog), (axes.yaxis, ylog)):
            if log:
                (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
                axis.set_major_locator(LogLocator(10, numticks=7))
                axis.set_minor_formatter(NullFormatter())
            axis.set_major_formatter(FuncFormatter(lambda x, _: spell(x)))
        if grid:
            axes.grid(True, axis=grid)
    return figure, axes


def ticks(axes, axis: str, values: Sequence[float]) -> None:
    """Put ticks exactly at ``values`` on axis ``"x"`` or ``"y"``."""
    one = axes.xaxis if axis == "x" else axes.yaxis
    one.set_major_locator(FixedLocator([float(v) for v in values]))
    one.set_minor_locator(NullLocator())


def line(axes, x, y, meaning: str, *, label: str = "", at: int = -1, dx=8, dy=0, **style):
    """A model's curve, labeled directly beside its point number ``at`` (``dx``, ``dy``: pixels to the right, up)."""
    style = {"color": _color(meaning), "linestyle": DASHES[meaning], "linewidth": STYLE["lines.linewidth"], **style}
    (drawn,) = axes.plot(x, y, **style)
    _keep(axes, [drawn], "curve", meaning, label, x=x, y=y)
    if label:
        name(axes, np.asarray(x, float)[at], np.asarray(y, float)[at], label, meaning, dx=dx, dy=dy)
    return drawn


def band(axes, x, low, high, meaning: str):
    """The interval of a model's curve, between ``low`` and ``high`` at each ``x``."""
    filled = axes.fill_between(x, low, high, color=_color(meaning), alpha=0.18, linewidth=0)
    low, high = (np.broadcast_to(end, np.shape(np.atleast_1d(x))) for end in (low, high))
    _keep(axes, [filled], "interval", meaning, x=x, low=low, high=high)
    return filled


def published(axes, x, y, meaning: str, *, error=None, label: str = ""):
    """Published measurements: filled points (``error``: half widths, in the unit of ``y``)."""
    drawn = axes.errorbar(
        x,
        y,
        yerr=error,
        fmt=MARKS[meaning],
        color=_color(meaning),
        markeredgecolor="white",
        markeredgewidth=0.8,
        markersize=9,
        capsize=3,
        linestyle="none",
        label=label or "published",
        zorder=4,
    )
    _keep(axes, [drawn.lines[0]], "published", meaning, label, x=x, y=y, **_ends(y, error))
    return drawn


def simulated(axes, x, y, error, meaning: str, *, label: str = ""):
    """Simulation: open circles with bars of one standard error (``error``, in the unit of ``y``)."""
    drawn = axes.errorbar(
        x,
        y,
        yerr=error,
        fmt="o",
        color=_color(meaning),
        markerfacecolor="none",
        markeredgewidth=1.4,
        markersize=7,
        capsize=3,
        linestyle="none",
        label=label or "simulated",
        zorder=3,
    )
    _keep(axes, [drawn.lines[0]], "simulated", meaning, label, x=x, y=y, **_ends(y, error))
    return drawn


def name(axes, x: float, y: float, text: str, meaning: str = "reference", *, dx=8, dy=0, align="left"):
    """A direct label at data point (``x``, ``y``), moved by ``dx``, ``dy`` pixels to the right and up."""
    return axes.annotate(
        text,
        (float(x), float(y)),
        xytext=(dx * 0.75, dy * 0.75),
        textcoords="offset points",
        color=_color(meaning),
        ha=align,
        va="center",
        fontsize=15,
        annotation_clip=False,
    )


def parts(axes, rows: Mapping[str, Sequence[tuple[str, float, str]]], *, letter: float = 0.019):
    """Stacked horizontal bars: ``rows`` maps a bar's name to its parts ``(label, size, meaning)``.

    A part's label stands inside it where it fits, and under it where it does not; ``letter`` is the width of one letter
    as a share of the longest bar.
    """
    longest = max(sum(size for _, size, _ in bar) for bar in rows.values())
    sizes = [(title, label, size) for title, bar in rows.items() for label, size, _ in bar]
    for place, bar in enumerate(rows.values()):
        start = 0.0
        for label, size, meaning in bar:
            face = _color(meaning)
            axes.barh(place, size, left=start, height=0.62, color=face, alpha=0.25, linewidth=0)
            axes.barh(place, size, left=start, height=0.62, color="none", edgecolor=face, hatch=HATCHES[meaning])
            fits = size >= letter * len(label) * longest
            box = LABEL_BOX if fits and HATCHES[meaning] else None
            down = place if fits else place + 0.34
            align = "center" if fits else "top"
            axes.text(start + size / 2, down, label, ha="center", va=align, fontsize=SMALL, bbox=box)
            start += size
    axes.set_yticks(range(len(rows)), list(rows))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(rows) - 0.4, -0.5)
    _KEPT.setdefault(axes.figure, []).append((list(axes.patches[-1:]), {"bars": sizes}))


def source(figure, text: str) -> None:
    """A line (or two) under the figure that says where published data come from."""
    lines = "\n".join(textwrap.wrap(text, SOURCE_LETTERS))
    figure.supxlabel(lines, x=0.01, ha="left", fontsize=SMALL, color=FAINT)


def data(figure) -> str:
    """What the figure shows, as CSV: a row for each point or part, under the names that stand on its axes."""
    return figure_data.to_csv(figure_data.rows_of(figure, _KEPT.get(figure, []), spell))


def svg(figure) -> str:
    """The figure as SVG text: no date, stable ids, the page's fonts, and its own data inside."""
    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return figure_data.embed(buffer.getvalue().replace(f"'{LAYOUT_FONT}'", PAGE_FONTS), data(figure))


def show(figure) -> None:
    """Show the figure under the cell. Returns nothing, so that it can end the cell."""
    from IPython.display import display

    display({"image/svg+xml": svg(figure), "text/plain": "<figure>"}, raw=True)

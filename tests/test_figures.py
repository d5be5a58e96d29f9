"""The house style: fixed meanings, stable pictures, data drawn as given."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rlecon import figures
from rlecon.errors import RleconError


def sample():
    figure, axes = figures.canvas("tokens", "seconds", xlog=True, grid="y")
    x = np.array([1e3, 1e4, 1e5])
    figures.band(axes, x, [1, 2, 3], [2, 3, 4], "rollout")
    figures.line(axes, x, [1.5, 2.5, 3.5], "rollout", label="model")
    figures.published(axes, [2e3], [1.7], "rollout", error=[0.2])
    figures.simulated(axes, [3e4], [3.0], [0.1], "training")
    figures.source(figure, "Data: a source")
    return figure, axes


def test_the_same_figure_is_the_same_text():
    first, second = (figures.svg(sample()[0]) for _ in range(2))
    assert first == second
    assert "<dc:date>" not in first and "Matplotlib v" not in first
    assert f'width="{figures.WIDTH * 0.75:g}pt" height="{figures.HEIGHT * 0.75:g}pt"' in first


def test_text_is_text_in_the_fonts_of_the_page():
    text = figures.svg(sample()[0])
    assert "DejaVu" not in text and "Segoe UI" in text
    for words in ("tokens (log scale)", "seconds", "model", "Data: a source"):
        assert f">{words}<" in text


def test_the_background_is_transparent():
    fills = re.findall(r'id="patch_1">\s*<path [^>]*style="([^"]*)"', figures.svg(sample()[0]))
    assert fills and all("fill: none" in fill for fill in fills)


def test_data_are_drawn_as_given():
    _, axes = sample()
    curve = axes.get_lines()[0]
    assert curve.get_xdata().tolist() == [1e3, 1e4, 1e5] and curve.get_ydata().tolist() == [1.5, 2.5, 3.5]
    assert axes.get_xscale() == "log" and axes.get_yscale() == "linear"


def test_meanings_differ_in_color_mark_and_dash():
    for looks in (figures.COLORS, figures.MARKS, figures.DASHES):
        assert list(looks) == ["rollout", "training", "environment", "idle", "learning", "reference"]
        assert len(set(looks.values())) == 6


def contrast(color: str, other: str) -> float:
    def light(text):
        parts = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(color), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("meaning", figures.COLORS)
def test_colors_stand_out_from_white_paper(meaning):
    assert contrast(figures.COLORS[meaning], "#ffffff") >= 3.0


def test_an_unknown_meaning_is_refused():
    _, axes = figures.canvas("x", "y")
    with pytest.raises(RleconError, match="meaning"):
        figures.line(axes, [0, 1], [0, 1], "profit")


def test_parts_add_up_to_the_bar():
    _, axes = figures.canvas("seconds", "")
    figures.parts(axes, {"a": [("rollout", 3.0, "rollout"), ("update", 1.0, "training")], "b": [("all", 2.0, "idle")]})
    ends = {round(p.get_x() + p.get_width(), 9) for p in axes.patches if p.get_y() < 0.5}
    assert ends == {3.0, 4.0}

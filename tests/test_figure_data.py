"""The data of a figure: read from what was drawn, under the names on its axes, and back out of the picture."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from rlecon import figure_data, figures


def rows(figure) -> list[dict]:
    return list(csv.DictReader(io.StringIO(figures.data(figure))))


def test_house_functions_leave_their_data():
    figure, axes = figures.canvas("tokens", "seconds", xlog=True)
    figures.band(axes, [1, 2], [1, 2], [3, 4], "rollout")
    figures.line(axes, [1, 2], [2, 3], "rollout", label="model")
    figures.published(axes, [1.5], [2.2], "training", error=[0.2])
    figures.simulated(axes, [1, 2], [2.5, 3.5], [[0.1, 0.2], [0.3, 0.4]], "learning", label="toy")
    got = rows(figure)
    assert list(got[0]) == ["series", "kind", "tokens", "seconds", "low", "high"]
    assert [tuple(r.values()) for r in got] == [
        ("rollout", "interval", "1", "", "1", "3"),
        ("rollout", "interval", "2", "", "2", "4"),
        ("model", "curve", "1", "2", "", ""),
        ("model", "curve", "2", "3", "", ""),
        ("training", "published", "1.5", "2.2", "2", "2.4"),
        ("toy", "simulated", "1", "2.5", "2.4", "2.8"),
        ("toy", "simulated", "2", "3.5", "3.3", "3.9"),
    ]


def test_what_a_chapter_draws_by_itself_is_read_from_the_axes():
    figure, axes = figures.canvas("ratio", "", xlog=True)
    axes.errorbar([2.0, 3.0], [0, 1], xerr=[0.5, 0.25], fmt="o", label="measured")
    axes.axvline(20)
    axes.set_yticks([0, 1], ["eager", "graph"])
    got = rows(figure)
    assert got[0] == {
        "series": "measured",
        "kind": "point",
        "ratio": "2",
        "item": "eager",
        "x low": "1.5",
        "x high": "2.5",
    }
    assert got[1]["item"] == "graph" and got[1]["x high"] == "3.25"
    assert got[2]["kind"] == "line" and (got[2]["ratio"], got[2]["item"]) == ("20", "") and len(got) == 3


def test_a_label_at_a_point_names_it_and_one_on_a_curve_names_the_curve():
    figure, axes = figures.canvas("x", "y")
    figures.line(axes, [1, 2, 3], [1, 4, 9], "rollout")
    figures.name(axes, 3, 9, "squares")
    figures.published(axes, [1, 2], [5, 6], "training")
    figures.name(axes, 2, 6, "verl")
    got = rows(figure)
    assert {r["series"] for r in got[:3]} == {"squares"}
    assert [r["label"] for r in got[3:]] == ["", "verl"]


def test_parts_are_rows():
    figure, axes = figures.canvas("seconds", "")
    figures.parts(axes, {"a": [("rollout", 3.0, "rollout"), ("rest", 1.0, "idle")], "b": [("all", 2.0, "idle")]})
    assert [tuple(r.values()) for r in rows(figure)] == [("a", "rollout", "3"), ("a", "rest", "1"), ("b", "all", "2")]


def test_a_long_curve_is_thinned_and_keeps_its_ends():
    figure, axes = figures.canvas("x", "y")
    x = np.linspace(0, 1, 5001)
    figures.line(axes, x, x**2, "rollout")
    got = rows(figure)
    assert len(got) == figure_data.MOST_POINTS and (got[0]["x"], got[-1]["x"]) == ("0", "1")


def test_the_picture_carries_them():
    figure, axes = figures.canvas("a & b", "y <s>")
    figures.line(axes, [1, 2], [1, float("nan")], "rollout", label='say "x", twice')
    svg = figures.svg(figure)
    assert figure_data.data_in(svg) == figures.data(figure) and svg.count(figure_data.MARK) == 1
    assert rows(figure)[1] == {"series": 'say "x", twice', "kind": "curve", "a & b": "2", "y <s>": ""}
    assert figure_data.data_in("<svg><metadata>other</metadata></svg>") is None


@pytest.mark.parametrize(
    ("value", "text"), [(1 / 3, "0.333333"), (None, ""), (float("nan"), ""), ("a  b", "a b"), (2e18, "2e+18")]
)
def test_numbers_are_spelled_alike(value, text):
    assert figure_data.spelled(value) == text

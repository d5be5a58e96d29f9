"""Saying numbers, tables, and running a chapter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlecon import book
from rlecon.errors import RleconError

NBSP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, np.float64("nan"), None, True, "", "  ", np.ones(3), [], [1.0], {}, 1j]
)
def test_what_is_no_number_is_refused(value):
    with pytest.raises(RleconError):
        book.say("key", value)


@pytest.mark.parametrize("key", ["", "Two Words", "under_score", "-x", "x-"])
def test_keys_are_words_and_hyphens(key):
    with pytest.raises(RleconError, match="key"):
        book.say(key, 1.0)


def test_a_table_rounds_once_and_marks_what_is_unknown():
    rows = [{"gpu": "h100", "usd": 2.5, "share": None}, {"gpu": "a|b", "usd": 0.4, "share": 0.5}]
    made = book.table(rows, {"gpu": "GPU", "usd": "rent [usd]", "share": "share [%]"}, digits=2)
    assert made._repr_markdown_().replace(NBSP, " ").splitlines() == [
        "| GPU | rent | share |",
        "| :--- | ---: | ---: |",
        "| h100 | $2.5 | – |",
        "| a\\|b | $0.40 | 50 % |",
    ]


def test_a_table_refuses_ragged_rows():
    with pytest.raises(RleconError, match="wrong length"):
        book.table([[1, 2, 3]], ["a", "b"])


def test_a_failing_cell_writes_nothing(tmp_path):
    source = tmp_path / "book" / "source"
    source.mkdir(parents=True)
    (source / "bad.md").write_text("# Bad\n\n```{code-cell} ipython3\n1 / 0\n```\n", encoding="utf-8")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        book.run_chapter("bad", tmp_path)
    assert not (tmp_path / "book" / "bad.ipynb").exists()


def test_an_unknown_chapter_is_said_to_be_unknown(tmp_path):
    with pytest.raises(RleconError, match="no such chapter"):
        book.run_chapter("nowhere", tmp_path)


def test_cell_ids_follow_the_text(tmp_path):
    path = tmp_path / "x.md"
    path.write_text("# A\n\n```{code-cell} ipython3\n1\n```\n\n```{code-cell} ipython3\n1\n```\n", encoding="utf-8")
    first = [cell["id"] for cell in book.read_text(path).cells]
    assert len(set(first)) == len(first) == 3
    path.write_text("# A\n\nNew.\n\n" + path.read_text(encoding="utf-8").split("\n\n", 1)[1], encoding="utf-8")
    assert [cell["id"] for cell in book.read_text(path).cells][1:] == first[1:]


def test_an_interval_of_dollars_is_no_formula():
    made = book.table([[(1.0, 2.0, 3.0), "$n$"]], ["money [usd]", "letter"])
    assert made._repr_markdown_().splitlines()[-1] == r"| \$2.00 (\$1.00 to \$3.00) | $n$ |"
    assert "$2.00 ($1.00 to $3.00)" in repr(made)

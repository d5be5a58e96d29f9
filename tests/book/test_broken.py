"""Broken on purpose: each check must refuse a chapter that was good until one thing was spoiled."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlecon import book
from tests.book import lint

GOOD = Path(__file__).parent / "fixtures" / "good.md"
KNOWN = {"shannon1948"}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict:
    """The good chapter, executed as an author would."""
    root = tmp_path_factory.mktemp("house")
    (root / "book" / "source").mkdir(parents=True)
    (root / "book" / "source" / "good.md").write_text(GOOD.read_text(encoding="utf-8"), encoding="utf-8")
    assert book.run_chapter("good", root)
    stored = (root / "book" / "good.ipynb").read_bytes()
    assert not book.run_chapter("good", root), "a rerun must give the same bytes"
    assert (root / "book" / "good.ipynb").read_bytes() == stored
    return json.loads(stored)


@pytest.fixture
def good(made) -> dict:
    return copy.deepcopy(made)


def cell_with(notebook: dict, text: str) -> dict:
    return next(c for c in notebook["cells"] if text in lint.text_of(c["source"]))


def complaints(notebook: dict) -> list[str]:
    return [
        *lint.execution(notebook),
        *lint.stripped(notebook),
        *lint.figures(notebook),
        *lint.code_shape(notebook),
        *lint.citations(notebook, KNOWN),
        *lint.typed_numbers(notebook),
        *lint.glue_keys(notebook),
        *lint.pair(notebook, GOOD),
    ]


def respell(cell: dict, old: str, new: str) -> None:
    source = lint.text_of(cell["source"])
    assert old in source
    cell["source"] = source.replace(old, new)


def test_the_good_chapter_passes(good):
    assert complaints(good) == []


def unexecuted(notebook):
    cell = cell_with(notebook, "def entropy")
    cell["execution_count"], cell["outputs"] = None, []


def out_of_order(notebook):
    cell_with(notebook, "def entropy")["execution_count"] = 7


def outputs_stripped(notebook):
    cell_with(notebook, "def entropy")["outputs"] = []


def table_stripped(notebook):
    cell_with(notebook, "table(\n")["outputs"] = []


def value_stripped(notebook):
    cell = cell_with(notebook, "table(\n")
    cell["source"], cell["outputs"] = "entropy(0.5) + 1", []


def all_stripped(notebook):
    for cell in lint.code_cells(notebook):
        cell["execution_count"], cell["outputs"] = None, []


def error_stored(notebook):
    cell_with(notebook, "table(\n")["outputs"] = [
        {"output_type": "error", "ename": "ValueError", "evalue": "", "traceback": []}
    ]


def warning_stored(notebook):
    cell_with(notebook, "table(\n")["outputs"].append({"output_type": "stream", "name": "stderr", "text": "Warning"})


def hidden_by_comment(notebook):
    respell(cell_with(notebook, "def entropy"), "def entropy", "# NBVAL_IGNORE_OUTPUT\ndef entropy")


def hidden_by_tag(notebook):
    cell_with(notebook, "def entropy")["metadata"]["tags"] = ["nbval-skip"]


def allowed_to_fail(notebook):
    cell_with(notebook, "def entropy")["metadata"]["tags"] = ["raises-exception"]


def no_alt(notebook):
    del cell_with(notebook, "figures.canvas")["metadata"]["mystnb"]["image"]


def alt_is_a_file_name(notebook):
    cell_with(notebook, "figures.canvas")["metadata"]["mystnb"]["image"]["alt"] = "_images/" + "4f" * 32 + ".svg"


def no_caption(notebook):
    del cell_with(notebook, "figures.canvas")["metadata"]["mystnb"]["figure"]["caption"]


def no_name(notebook):
    del cell_with(notebook, "figures.canvas")["metadata"]["mystnb"]["figure"]["name"]


def picture_is_png(notebook):
    data = cell_with(notebook, "figures.canvas")["outputs"][0]["data"]
    data["image/png"] = data.pop("image/svg+xml")


def unknown_citation(notebook):
    respell(cell_with(notebook, "derived long ago"), "shannon1948", "shannon1984")


def no_citation(notebook):
    respell(cell_with(notebook, "derived long ago"), " {cite:p}`shannon1948`", "")


def unknown_citation_in_a_table(notebook):
    cell = cell_with(notebook, "table(\n")
    cell["outputs"][0]["data"]["text/markdown"] = "| a |\n| :--- |\n| {cite:t}`nobody2020` |"


def typed_ratio(notebook):
    respell(cell_with(notebook, "## In short"), "at most one bit", "5.26 times what it costs")


def typed_number_in_caption(notebook):
    cell_with(notebook, "figures.canvas")["metadata"]["mystnb"]["figure"]["caption"] += " It peaks at 37 % of flips."


def missing_key(notebook):
    respell(cell_with(notebook, "Someone must decide"), "pass-rate", "pass-rat")


def unused_key(notebook):
    respell(cell_with(notebook, "Someone must decide"), "{glue:text}`pass-rate`", "little")


def blank_key(notebook):
    for output in cell_with(notebook, "def entropy")["outputs"]:
        for kind in list(output["data"]):
            output["data"][kind] = "' '"


def long_cell(notebook):
    cell_with(notebook, "def entropy")["source"] += "\nx = 1" * 40


def long_line(notebook):
    cell_with(notebook, "def entropy")["source"] += "\nx = " + "1 + " * 25 + "1"


def text_edited_alone(notebook):
    respell(cell_with(notebook, "## In short"), "seldom", "rarely")


def code_edited_alone(notebook):
    respell(cell_with(notebook, "def entropy"), "0.05", "0.06")


def tag_edited_alone(notebook):
    cell_with(notebook, "figures.canvas")["metadata"]["tags"] = []


def cell_lost(notebook):
    notebook["cells"].pop()


SPOILED = {
    unexecuted: "execution count",
    out_of_order: "execution count",
    outputs_stripped: "stripped",
    table_stripped: "stripped",
    value_stripped: "stripped",
    all_stripped: "stripped",
    error_stored: "an error is stored",
    warning_stored: "stderr",
    hidden_by_comment: "hides",
    hidden_by_tag: "hides",
    allowed_to_fail: "hides",
    no_alt: "alt text",
    alt_is_a_file_name: "alt text",
    no_caption: "caption",
    no_name: "name",
    picture_is_png: "SVG",
    unknown_citation: "references.bib",
    no_citation: "cites nothing",
    unknown_citation_in_a_table: "references.bib",
    typed_ratio: "'5.26'",
    typed_number_in_caption: "'37'",
    missing_key: "no cell says it",
    unused_key: "no sentence uses it",
    blank_key: "blank",
    long_cell: "lines",
    long_line: "characters",
    text_edited_alone: "differs",
    code_edited_alone: "differs",
    tag_edited_alone: "differs",
    cell_lost: "cells",
}


@pytest.mark.parametrize("spoil", SPOILED, ids=lambda f: f.__name__)
def test_a_spoiled_chapter_is_refused(good, spoil):
    spoil(good)
    found = complaints(good)
    assert any(SPOILED[spoil] in text for text in found), found


# --- what nbval must refuse -------------------------------------------------------------------------------------------


def stale_number(notebook):
    """A number in a sentence that the code no longer gives."""
    for output in cell_with(notebook, "def entropy")["outputs"]:
        for kind, data in output["data"].items():
            output["data"][kind] = lint.text_of(data).replace("0.286", "0.287")


def stale_table(notebook):
    data = cell_with(notebook, "table(\n")["outputs"][0]["data"]
    for kind in data:
        data[kind] = lint.text_of(data[kind]).replace("0.811", "0.812")


def stale_code(notebook):
    respell(cell_with(notebook, "def entropy"), "pass_rate = 0.05", "pass_rate = 0.06")


def test_nbval_refuses_stale_outputs_and_passes_the_good_chapter(good, tmp_path):
    (tmp_path / "conftest.py").write_text((lint.ROOT / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "good.ipynb").write_text(json.dumps(good), encoding="utf-8")
    for spoil in (stale_number, stale_table, stale_code):
        spoiled = copy.deepcopy(good)
        spoil(spoiled)
        assert spoiled != good
        (tmp_path / f"{spoil.__name__}.ipynb").write_text(json.dumps(spoiled), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(lint.ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "--nbval", "--nbval-current-env", "."]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    failed = [line for line in result.stdout.splitlines() if line.startswith("FAILED")]
    for spoil in (stale_number, stale_table, stale_code):
        assert any(spoil.__name__ in line for line in failed), result.stdout[-2000:]
    assert not any("good" in line for line in failed), result.stdout[-2000:]


# --- numbers in prose, one sentence at a time -------------------------------------------------------------------------


def flagged(text: str) -> list[str]:
    return lint.typed_numbers({"cells": [{"cell_type": "markdown", "source": text}]})


@pytest.mark.parametrize(
    "text",
    [
        "A hard prompt costs 5.26 times as much.",
        "It saves 37 % of the bill.",
        "It saves 37% of the bill.",
        "Rollouts take 7 % of the step.",
        "The bill is $412.",
        "The bill is $1.2 M.",
        "It is 3x faster.",
        "That gives 3× the speed.",
        "A step takes 84 seconds.",
        "About 4,096 tokens are read.",
        "The model reads 16 GB.",
        "The gain is $5.26\\times$ at best.",
        "A share of $37\\%$ is lost.",
        "Twenty times more rollouts.",
        "It falls by thirty percent.",
        "A twenty-fold cost.",
        "| a | 0.31 |",
        "- The step: 12.5 s",
        "# A step costs 84 dollars",
        ":::{admonition} The answer is 84\nyes\n:::",
        "A cited sentence {cite:p}`a2020`. Then 84 seconds.",
        "The year was busy: 2024 tokens a second.",
        "Costs rose from 1.5 to 2.5.",
        "It is 1e6 tokens.",
        "A step takes 9 seconds.",
        "About 100 prompts pass.",
    ],
)
def test_typed_numbers_are_found(text):
    assert flagged(text), text


@pytest.mark.parametrize(
    "text",
    [
        "The share is {glue:text}`share`.",
        "It took 84 seconds {cite:p}`a2020`.",
        "In 2024 it fell.",
        "An H100 and a B200 run Qwen3-8B in FP8.",
        "GPT-4 and 2-GRPO differ.",
        "Take 2 GPUs, or 3 of 4 prompts.",
        "Let $p = 0.05$ and $G = 8$.",
        "Use `gpus = 64` here.",
        "```python\nx = 84.5\n```",
        "The 80 % interval is wide.",
        "A 16-bit weight has 16 bits.",
        "$$\nC = 3600\\, t\n$$",
        "```{math}\nx = 84.5\n```",
        "See {numref}`fig-84`.",
        "It passes 1/2 of the time.",
        "An 8B model is small.",
        "[link](https://a.org/84.5)",
        "1. First, plan.",
        ":::{figure} a-84.svg\n:width: 840\nA caption.\n:::",
        "Half of it, twice as long, one bit in ten.",
    ],
)
def test_names_inputs_and_cited_numbers_pass(text):
    assert flagged(text) == [], text


# --- the shape of a chapter -------------------------------------------------------------------------------------------

FILLER = "A longer sentence that says a little more about what a reader should decide and why it matters to the bill. "
SHAPED = (
    "# What does it cost?\n\n{.lede}\nOne line.\n\n{.holds}\nHolds when it holds.\n\n" + FILLER * 4 + "\n\n"
    ":::{admonition} The answer\n:class: answer\n\nIt costs $c$, here {glue:text}`c`.\n:::\n\n"
    "```{calculator} cost\n```\n\n"
    "## The middle says something\n\n"
    + FILLER * 100
    + "".join(f"\n\n:::{{exercise}}\n:label: ex-{n}\nTry.\n:::\n\n:::{{solution-start}} ex-{n}\n:::" for n in "abc")
    + "\n\n## In short\n\nThree sentences."
)


def shape(text: str) -> list[str]:
    return lint.structure({"cells": [{"cell_type": "markdown", "source": text}], "slug": "x"})


def test_a_whole_chapter_has_its_shape():
    assert shape(SHAPED) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("# What does it cost?\n", "", "one title"),
        ("{.lede}\n", "", "lede"),
        ("Holds when", "It holds if", "Holds when"),
        (":class: answer\n", "", "no answer box"),
        ("{glue:text}`c`", "much", "no computed number"),
        ("$c$", "c", "no formula"),
        ("```{calculator} cost\n```", "", "no live calculator"),
        (":label: ex-a\n", "", "exercises"),
        ("{solution-start} ex-b", "{solution-start} ex-z", "has no solution"),
        ("## In short", "## At last", "In short"),
        (FILLER * 4, "", "opening"),
        (FILLER * 100, FILLER, "words"),
        (FILLER * 100, FILLER * 200, "words"),
    ],
)
def test_a_missing_part_is_noticed(old, new, complaint):
    assert old in SHAPED
    assert any(complaint in text for text in shape(SHAPED.replace(old, new)))

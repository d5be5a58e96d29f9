"""The numbers of the validation chapter and of the README, recomputed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlecon import calibration, catalog, validation
from rlecon.errors import RleconError
from rlecon.interval import Z80


def test_the_stored_factors_are_those_of_the_fits():
    stored, found = validation.left_out(), validation.compute_left_out()
    assert stored.keys() == found.keys()
    for kind, rows in found.items():
        assert [(r["id"], r["label"]) for r in stored[kind]] == [(r["id"], r["label"]) for r in rows]
        for how in set(rows[0]) - {"id", "label"}:
            assert [r[how] for r in stored[kind]] == pytest.approx([r[how] for r in rows], abs=2e-3)


def test_the_readme_says_what_is_computed():
    text = validation.README.read_text(encoding="utf-8")
    section = text.split(validation.START)[1].split(validation.END)[0].strip("\n").splitlines()
    assert section == validation.readme_lines()


def test_a_source_left_out_is_not_seen():
    """Steps have one source: without it, what only steps tell stays at the middle of its bounds."""
    found = calibration.calibrate("nvidia2026nemorl").constants
    for name in calibration.STEP_CONSTANTS:
        low, high = calibration.BOUNDS[name]
        assert found[name] == pytest.approx(math.sqrt(low * high))
    with_all = calibration.calibrate().constants
    assert any(abs(found[n] / with_all[n] - 1) > 0.05 for n in calibration.STEP_CONSTANTS)


def test_leaving_more_out_does_not_look_better_on_phases():
    for kind in ("decode", "training"):
        rms = [calibration.summary(validation.logs(kind, how))["rms"] for how in ("in sample", "like", "source")]
        assert rms[0] < min(rms[1:])


def test_experts_at_their_own_speed_predict_other_families_better():
    found, even = (calibration.summary(validation.logs("training", how)) for how in ("like", "even experts"))
    assert found["median"] < even["median"] - 0.03
    assert found["rms"] < 0.9 * even["rms"]


def test_intervals():
    held, source, prior, decode, training = validation.intervals()
    assert decode["held"] == decode["n"] == 64
    assert 0.6 < training["held"] / training["n"] < 0.8
    assert source["n"] == held["n"]
    assert 0.7 <= held["held"] / held["n"] <= 0.95
    assert 0.6 <= prior["held"] / prior["n"] <= 0.95  # what a guess adds comes from the other sources
    assert prior["width"] > 5 * held["width"]
    assert held["width"] > math.exp(2 * Z80 * validation.floor()["sd"])


def test_whole_runs():
    rows = {r["label"]: r for r in validation.whole_runs()}
    small = rows["SimpleRL-Zoo 7B"]
    assert small["measured"] == 16 * 15
    assert 0.5 < small["ratio"] < 1
    each, shared = (r["ratio"] for label, r in rows.items() if label.startswith("R1-Zero"))
    assert each > 2 * shared  # one optimizer step per rollout would have cost far more than was paid
    slow = validation.whole_runs({"train_efficiency": 0.2})
    assert all(a["predicted"] > b["predicted"] for a, b in zip(slow, rows.values(), strict=True))


def test_what_must_be_stated():
    rows = {r["what"]: r for r in validation.must_state()}
    assert rows["rollouts per step, twice as many"]["p90"] < 2
    assert rows["mean response length, twice as long"]["p90"] > rows["spread of lengths, 0.4 to 1.3 of the mean"]["p90"]
    assert all(1 <= r["median"] <= r["p90"] for r in rows.values())
    assert all(r["n"] >= 20 for r in rows.values())


def test_the_floor_is_below_the_model():
    assert validation.floor()["median"] < np.exp(np.median(np.abs(validation.logs("step"))))
    assert validation.floor()["pairs"] == 19


def test_every_usable_step_is_in_the_table():
    seen = {p.id for p in calibration.step_points().points} | {p.id for p in calibration.held_out_points().points}
    assert {m.id for m in catalog.measurements("step", tag="known_length")} <= seen


def test_unknown_names_are_refused():
    with pytest.raises(RleconError, match="not a kind"):
        validation.logs("rollout")
    with pytest.raises(RleconError, match="leave out"):
        validation.logs("step", "gpu")

"""Training on a chain: the formulas' gains found by running it, and formulas that must fail."""

import numpy as np
import pytest

from rlecon import chain_runs as runs
from rlecon import credit
from rlecon.errors import RleconError

RATE = {"own": (8, 0.0013), "teacher": (8, 0.00065), "terminal": (64, 0.0018), "summed": (64, 0.0013)}


def needed(turns, kind):
    size, rate = RATE[kind]
    rates = np.array([1, 2, 4]) * rate * size / (turns if kind in ("terminal", "summed") else 1)
    return runs.rollouts_needed(turns, kind, rates, np.random.default_rng(7), rollouts_per_step=size)


def gain(turns, kind, against="terminal"):
    (top, top_error, _), (low, low_error, _) = needed(turns, against), needed(turns, kind)
    return top / low, np.hypot(top_error / top, low_error / low)


def formula(equation, turns, pass_rate=0.55):
    return float(equation(step_success=pass_rate ** (1 / turns), turns=turns))


@pytest.mark.parametrize("turns", [5, 10, 20])
def test_own_step_rewards_save_what_the_formula_says(turns):
    got, error = gain(turns, "own")
    assert got == pytest.approx(formula(credit.own_equation, turns), rel=2 * error + 0.15)
    assert error < 0.2
    assert got != pytest.approx(formula(credit.summed_equation, turns), rel=0.5)


def test_a_sum_saves_little_and_a_teacher_what_own_rewards_save():
    got, error = gain(10, "summed")
    assert got == pytest.approx(formula(credit.summed_equation, 10), rel=2 * error + 0.15)
    ratio, error = gain(10, "teacher", against="own")
    assert ratio == pytest.approx(1, rel=2 * error + 0.15)


def test_an_untrained_chain_passes_as_told():
    world = runs.chain(10, pass_rate=0.3)
    curve = runs.training_curve(world, "own", [0.01], np.random.default_rng(1), target=0.31, repeats=2)
    assert curve[0] == pytest.approx(0.3)
    still = runs.training_curve(world, "terminal", [0.0], np.random.default_rng(1), repeats=1, steps=5)
    assert still.shape == (6, 1, 1)
    assert still == pytest.approx(0.3)  # no rate, no learning


def test_bad_input():
    with pytest.raises(RleconError, match="own, terminal"):
        runs.training_curve(runs.chain(3), "none", [0.1], np.random.default_rng(0))
    with pytest.raises(RleconError, match="pass_rate"):
        runs.chain(3, pass_rate=1.0)
    with pytest.raises(RleconError, match="turns"):
        runs.chain(0)

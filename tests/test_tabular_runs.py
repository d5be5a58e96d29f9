"""Tables of decisions: exact divergences against every answer written out, and gains found by training."""

import itertools

import numpy as np
import pytest

from rlecon import credit
from rlecon import tabular_runs as runs
from rlecon.errors import RleconError
from rlecon.policy_gradient import softmax


def written_out(world, logits):
    """Divergence and chance to pass, answer by answer."""
    policy, teacher = softmax(logits), softmax(world.teacher)
    turns, contexts, wordings = world.start.shape
    far = passed = 0.0
    for first in range(contexts):
        for answer in itertools.product(range(wordings), repeat=turns):
            here, chance, told = first, 1 / contexts, 0.0
            for turn, taken in enumerate(answer):
                chance *= policy[turn, here, taken]
                told += np.log(policy[turn, here, taken] / teacher[turn, here, taken])
                here = world.leads_to[turn, here, taken]
            far += chance * told
            passed += chance * all(taken < wordings - 1 for taken in answer)
    return far, passed


def test_divergence_and_passing_are_exact():
    rng = np.random.default_rng(3)
    world = runs.table(3, rng, contexts=3, right=2)
    logits = rng.standard_normal((2, *world.start.shape))
    for one, far, passed in zip(logits, runs.divergence(world, logits), runs.passing(world, logits), strict=True):
        assert written_out(world, one) == pytest.approx((far, passed), rel=1e-12)
    assert runs.passing(world, world.start[None]) == pytest.approx(0.5)
    assert runs.divergence(world, world.teacher[None]) == pytest.approx(0, abs=1e-12)


def needed(world, kind, seed=5, repeats=16, scale=1.0):
    turns = len(world.start)
    size = 8 if kind == "token" else 8 * turns // 3
    rates = np.array([3, 6, 12.0]) if kind == "token" else size * np.array([1, 2, 4]) / turns**1.5
    rng = np.random.default_rng(seed)
    return runs.rollouts_needed(world, kind, rates * scale, rng, rollouts_per_step=size, repeats=repeats)


def gain(world, kind, **more):
    (top, top_error, _), (low, low_error, _) = needed(world, kind, **more), needed(world, "token")
    return top / low, np.hypot(top_error / top, low_error / low)


@pytest.mark.parametrize("turns", [3, 6])
def test_scores_of_tokens_save_as_many_times_as_there_are_decisions(turns):
    world = runs.table(turns, np.random.default_rng(turns))
    got, error = gain(world, "summed")
    assert got / turns == pytest.approx(1, abs=0.15 + 2 * error)
    got, error = gain(world, "pass")
    law = float(credit.own_equation(step_success=0.5 ** (1 / turns), turns=turns))
    assert got == pytest.approx(law, rel=0.2 + 2 * error)


def test_with_one_wording_per_decision_there_is_no_noise_to_save():
    world = runs.table(6, np.random.default_rng(1), right=1)
    got, error = gain(world, "pass", scale=3.0)
    assert got == pytest.approx(1, abs=0.25 + 2 * error)


def test_bad_input():
    rng = np.random.default_rng(0)
    world = runs.table(3, rng)
    with pytest.raises(RleconError, match="token, summed, pass"):
        runs.rollouts_needed(world, "dense", [1.0], rng)
    with pytest.raises(RleconError, match="no learning rate"):
        runs.rollouts_needed(world, "token", [0.0], rng, steps=2, repeats=2)
    with pytest.raises(RleconError, match="pass_rate"):
        runs.table(3, rng, pass_rate=0.0)
    with pytest.raises(RleconError, match="contexts"):
        runs.table(3, rng, contexts=0)

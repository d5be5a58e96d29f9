"""Simulations against the closed forms they stand beside, and closed forms that they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlecon import simulate, step, trajectory
from rlecon.trajectory import blom_equation, kept_equation, longest_equation, race_equation, square_equation

SIGMA = math.sqrt(math.log(1 + 0.8**2))
LOCATION = math.log(2000) - SIGMA**2 / 2  # mean 2,000, cv 0.8, before any cap


@pytest.fixture
def rng():
    return np.random.default_rng(12)


def longest(n, location, spread, cap=math.inf):
    return float(longest_equation(started_rollouts=n, log_length_location=location, log_length_sd=spread,
                                  max_response_tokens=cap))


@pytest.mark.parametrize(
    ("spread", "n", "ratio", "blom_low"),
    [(0.8, 16, 3.30, 9.5), (0.8, 128, 6.15, None), (0.8, 1024, 10.19, None), (1.0, 16, 4.17, 14.7),
     (1.0, 128, 8.95, 10), (1.2, 16, 5.14, 21)],
)
def test_longest_of_many(rng, spread, n, ratio, blom_low):
    closed = longest(n, -(spread**2) / 2, spread)
    assert closed == pytest.approx(ratio, abs=0.006)
    got, error = simulate.longest(rng, n, -(spread**2) / 2, spread, repeats=6000)
    assert abs(got - closed) < 4 * error
    hand = float(blom_equation(log_length_location=-(spread**2) / 2, log_length_sd=spread, rollouts=n))
    assert 0.78 * closed < hand < 0.96 * closed
    if blom_low:
        assert 100 * (1 - hand / closed) == pytest.approx(blom_low, abs=0.6)
    # the extreme-value bound overstates
    assert math.exp(spread * math.sqrt(2 * math.log(n)) - spread**2 / 2) > 1.2 * closed


def test_the_cap_sets_the_maximum(rng):
    assert longest(256, LOCATION, SIGMA) / 2000 == pytest.approx(5.94, abs=0.005)
    closed = longest(256, LOCATION, SIGMA, 8192)
    assert closed == pytest.approx(8131, abs=1)
    assert closed / 2000 == pytest.approx(4.07, abs=0.005)
    got, error = simulate.longest(rng, 256, LOCATION, SIGMA, 8192)
    assert abs(got - closed) < 4 * error
    (hit, hit_error), (cut, cut_error) = simulate.cap_hits(rng, 256, LOCATION, SIGMA, 8192, repeats=4000)
    assert hit == pytest.approx(0.91, abs=4 * hit_error + 0.005)
    assert cut == pytest.approx(0.009, abs=4 * cut_error + 0.0005)


def test_racing_keeps_short_answers(rng):
    at = {"log_length_location": -0.5, "log_length_sd": 1.0, "oversampling": 1.25}
    time, kept = float(race_equation(**at)), float(kept_equation(**at))
    assert time == pytest.approx(1.41, abs=0.005)
    assert kept == pytest.approx(0.55, abs=0.005)
    (got, error), (length, length_error) = simulate.keep_first(rng, 128, 1.25, 1.0, repeats=4000)
    assert got == pytest.approx(time, rel=0.015)
    assert length == pytest.approx(kept, rel=0.015)
    assert error < 0.005
    assert length_error < 0.005
    # without racing: nine means
    assert longest(128, -0.5, 1.0) == pytest.approx(8.95, abs=0.01)


def test_second_moment(rng):
    for looping in (0.0, 0.03):
        closed = float(square_equation(log_length_location=LOCATION, log_length_sd=SIGMA, max_response_tokens=8192,
                                       looping_share=looping, loop_tokens=8192 if looping else 0))
        drawn = simulate.lengths(rng, 400_000, LOCATION, SIGMA, 8192, looping) ** 2
        assert abs(drawn.mean() - closed) < 4 * drawn.std() / math.sqrt(len(drawn))


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_overlap_gains_at_most_the_shorter_pool(rng, share):
    closed = float(step.overlap_equation(rollout_share=share))
    assert closed == pytest.approx(1 / max(share, 1 - share))
    fixed = lambda x: lambda r, n: np.full(n, x)  # noqa: E731
    turn, _ = simulate.two_pools(rng, fixed(share), fixed(1 - share), overlap=False)
    side, _ = simulate.two_pools(rng, fixed(share), fixed(1 - share), overlap=True)
    assert turn / side == pytest.approx(closed)


def test_chance_takes_part_of_the_gain(rng):
    """Where durations vary, two pools wait for each other: the bound is not reached."""
    spread = lambda mean: lambda r, n: r.lognormal(math.log(mean) - 0.125, 0.5, n)  # noqa: E731
    turn, _ = simulate.two_pools(rng, spread(0.5), spread(0.5), overlap=False, steps=20_000)
    side, error = simulate.two_pools(rng, spread(0.5), spread(0.5), overlap=True, steps=20_000)
    assert turn / side < 2 - 10 * error
    draws = np.random.default_rng(1).lognormal(math.log(0.5) - 0.125, 0.5, (200_000, 2)).max(axis=1)
    assert side == pytest.approx(draws.mean(), rel=0.02)  # the longer of the two, on average


def test_a_perfect_split_costs_what_one_packed_pool_costs():
    """GPU-seconds are conserved: overlap pays only by removing idle time."""
    generation, training, gpus = 900.0, 300.0, 64
    packed = (generation + training) / gpus
    share = generation / (generation + training)
    split = max(generation / (share * gpus), training / ((1 - share) * gpus))
    assert split == pytest.approx(packed)
    uneven = max(generation / 32, training / 32)
    assert uneven > packed


def test_batch_without_chance_is_exact(rng):
    got, _ = simulate.synchronous_batch(rng, 10, math.log(100), 0.0, fixed_seconds=0.01, slope_seconds=1e-3,
                                        context_seconds=1e-6, prompt_tokens=50, resident_limit=5, repeats=2)
    one = 100 * 0.01 + 5 * 100 * 1e-3 + 5e-6 * (50 * 100 + 100**2 / 2)
    assert got == pytest.approx(2 * one)


def test_weights_may_depend_on_the_residents(rng):
    fixed = lambda b: 0.01 * (1 - (1 - 1 / 16) ** b)  # noqa: E731
    got, _ = simulate.synchronous_batch(rng, 16, math.log(100), 0.0, fixed_seconds=fixed, repeats=2)
    assert got == pytest.approx(100 * fixed(16))


def test_simulations_repeat_with_their_generator():
    one, two = (simulate.longest(np.random.default_rng(3), 8, 0.0, 1.0, repeats=50) for _ in range(2))
    assert one == two


def test_racing_equations_have_units():
    for equation in (trajectory.race_equation, trajectory.kept_equation, trajectory.blom_equation):
        equation.check_units()

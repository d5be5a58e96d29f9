"""Filtering and allocation: known values, brute force, and the score model by simulation."""

import itertools

import numpy as np
import pytest
import sympy as sp

from rlecon import filtering as f
from rlecon import hardness
from rlecon.equation import Model
from rlecon.errors import RleconError
from rlecon.policy_gradient import advantages as leave_one_out


def test_rollouts_per_mixed_group_and_per_signal():
    model = Model([hardness.mixed_wait, hardness.alike_mixed])
    sizes = np.array([2, 3, 8, 16])
    rare = model.solve({"pass_rate": 0.05, "group_size": sizes})["rollouts_per_mixed_group"]
    assert rare == pytest.approx([21.05, 21.05, 23.8, 28.6], abs=0.05)
    even = model.solve({"pass_rate": 0.5, "group_size": sizes})["rollouts_per_mixed_group"]
    assert even[[0, 3]] == pytest.approx([4, 16], rel=1e-3)
    signal = hardness.signal_wait(pass_rate=0.05, group_size=sizes)
    assert signal == pytest.approx([42.1, 31.6, 24.1, 22.5], abs=0.06)
    p = sp.Symbol("p")
    assert sp.expand((1 - p**3 - (1 - p) ** 3) / 3 - (1 - p**2 - (1 - p) ** 2) / 2) == 0  # 2 and 3 tie for every p


def test_filtering_scales_the_step_and_does_not_turn_it():
    rng = np.random.default_rng(7)
    p, size, repeats = 0.05, 8, 400_000
    reward = (rng.random((repeats, size)) < p).astype(float)
    along = (leave_one_out(reward) * (reward - p)).mean(axis=1)
    mixed = reward.std(axis=1) > 0
    share = hardness.alike_mixed(pass_rate=p, group_size=size)
    gain = f.filtering_equation(mixed_group_share=share)
    assert gain == pytest.approx(2.97, abs=0.005)
    ratio = along[mixed].mean() / (p * (1 - p))
    assert abs(ratio - gain) < 4 * along[mixed].std() / np.sqrt(mixed.sum()) / (p * (1 - p))
    kept = f.kept_equation(pass_rate=p, group_size=size)
    assert kept == pytest.approx(0.149, abs=0.001)
    assert abs(reward[mixed].mean() - kept) < 4 * reward[mixed].mean(axis=1).std() / np.sqrt(mixed.sum())
    assert f.kept_equation(pass_rate=p, group_size=16) == pytest.approx(0.089, abs=0.001)


def test_marginal_value_is_the_difference():
    p, sizes = 0.2, np.arange(2, 12)
    share = hardness.alike_mixed(pass_rate=p, group_size=np.arange(2, 13))
    assert f.marginal_equation(pass_rate=p, group_size=sizes) == pytest.approx(np.diff(share))


def test_allocation_against_brute_force():
    assert f.allocate([0.02, 0.1, 0.3, 0.5], 16).tolist() == [0, 6, 5, 5]
    rng = np.random.default_rng(8)
    for _ in range(12):
        p, budget = rng.beta(0.5, 0.8, 4), int(rng.integers(2, 15))

        def value(counts, p=p):
            n = np.asarray(counts)
            return np.sum(np.where(n > 0, 1 - p**n - (1 - p) ** n, 0))

        best = max(value(c) for c in itertools.product(range(budget + 1), repeat=4) if sum(c) <= budget)
        got = f.allocate(p, budget)
        assert got.sum() <= budget
        assert value(got) == pytest.approx(best)


def test_the_shadow_price_rule_spends_a_large_budget_as_well():
    """Enter where p q >= mu, then the largest G worth mu: within 2 % of the exact optimum for its own budget."""
    p = np.random.default_rng(11).beta(0.3, 0.7, 60)
    pq, sizes = p * (1 - p), np.arange(2, 200)
    mu = 0.02
    worth = pq[:, None] * (p[:, None] ** (sizes - 2) + (1 - p[:, None]) ** (sizes - 2)) >= mu
    counts = np.where(pq >= mu, 1 + np.maximum(worth.sum(axis=1), 1), 0)

    def value(n):
        return np.sum(np.where(n > 0, 1 - p**n - (1 - p) ** n, 0))

    exact = f.allocate(p, int(counts.sum()))
    assert value(exact) * 0.98 <= value(counts) <= value(exact) + 1e-9
    assert np.all(exact[pq < mu * 0.8] == 0)  # very hard and very easy prompts get nothing
    even = np.full(p.size, counts.sum() // p.size)
    assert value(even) < 0.97 * value(exact)


def test_allocation_refuses_what_is_no_budget():
    for bad in (
        {"pass_rates": [1.2], "rollouts": 4},
        {"pass_rates": [0.5], "rollouts": -1},
        {"pass_rates": [], "rollouts": 1},
    ):
        with pytest.raises(RleconError):
            f.allocate(**bad)


def test_optimal_difficulties():
    found = {name: f.optimal_difficulty(name) for name in ("signal", "bits", "success_bits", "log_pass_rate")}
    assert found == {
        "signal": sp.Rational(1, 2),
        "bits": sp.Rational(1, 2),
        "success_bits": sp.exp(-1),
        "log_pass_rate": sp.Rational(1, 4),
    }
    with pytest.raises(RleconError, match="success_bits"):
        f.optimal_difficulty("fun")


def test_best_difficulties_are_the_maxima_on_a_grid():
    p = np.linspace(0.001, 0.999, 99_801)
    worth = (p * (1 - p), -p * np.log(p) - (1 - p) * np.log(1 - p), -p * np.log(p), p * (1 - p) ** 3)
    assert f.optimal_difficulties() == pytest.approx([p[np.argmax(w)] for w in worth], abs=2e-5)

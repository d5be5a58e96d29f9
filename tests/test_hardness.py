"""Hardness: every reading at its known ratio, limits, the score model by simulation, and formulas that must fail."""

import numpy as np
import pytest
import sympy as sp

from rlecon import hardness as h
from rlecon import vocabulary as v
from rlecon.errors import RleconError

KNOWN = {  # rollouts at 5 % over 50 %, and at 2 % over 30 %
    "success": (10, 15),
    "sure_success": (13.5, 17.7),
    "both": (6.68, 13.3),
    "variance": (5.26, 10.7),
    "mixed_2": (5.26, 10.7),
    "mixed_8": (2.95, 6.31),
    "mixed_16": (1.79, 3.61),
    "bits": (3.49, 6.23),
    "sd": (2.29, 3.27),
    "snr_zero_one": (2.77, 7.65),
    "snr_plus_minus": (27.7, 115),
    "odds": (19, 21),
    "threshold": (2.84, 4.81),
    "gain_kl": (146, 1230),
    "gain_objective": (27.7, 115),
    "log_gain_kl": (1.46, 5.47),
    "log_gain_objective": (0.28, 0.51),
}


@pytest.mark.parametrize("hard, easy, column", [(0.05, 0.5, 0), (0.02, 0.3, 1)])
def test_every_reading_has_its_ratio(hard, easy, column):
    got = {r.key: r for r in h.readings(hard, easy)}
    assert set(got) == set(KNOWN)
    for key, known in KNOWN.items():
        assert got[key].ratio == pytest.approx(known[column], rel=0.02), key
        assert got[key].fixed


def test_no_reading_is_twenty_but_a_wait_is():
    ratios = [r.ratio for r in h.readings(0.05, 0.5)]
    assert min(abs(r - 20) for r in ratios) == pytest.approx(1.0)  # the odds
    assert h.success_wait(pass_rate=0.05) == pytest.approx(20)


def test_equal_rates_cost_the_same_and_the_ends_are_refused():
    assert all(r.ratio == pytest.approx(1) for r in h.readings(0.3, 0.3))
    for bad in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(RleconError, match="hard"):
            h.readings(bad, 0.5)


def test_certifying():
    assert h.certify(0.99) == 299
    assert 0.99**298 > 0.05 > 0.99**299
    assert h.certify(0.5, 0.75) == 2  # exactly two: no slip of rounding upward
    with pytest.raises(RleconError):
        h.certify(1.0)


def test_waits_by_simulation():
    rng = np.random.default_rng(3)
    p, repeats = 0.15, 40_000
    rewards = rng.random((repeats, 200)) < p
    first = rewards.argmax(axis=1) + 1
    both = (rewards != rewards[:, :1]).argmax(axis=1) + 1
    for draws, want in ((first, h.success_wait(pass_rate=p)), (both, h.both_wait(pass_rate=p))):
        assert abs(draws.mean() - want) < 4 * draws.std() / np.sqrt(repeats)
    groups = rewards[:, :8].sum(axis=1)
    mixed = ((groups > 0) & (groups < 8)).mean()
    want = h.alike_mixed(pass_rate=p, group_size=8)
    assert abs(mixed - want) < 4 * np.sqrt(want * (1 - want) / repeats)


def score_model(p, delta, dimension, rollouts, repeats, seed, lift=0.0, scale=1.0, baseline=True):
    """Gradients of ``repeats`` steps in the score model: along u, and one noise direction."""
    rng = np.random.default_rng(seed)
    right = rng.random((repeats, rollouts)) < p
    reward = scale * right + lift
    advantage = reward - (scale * p + lift) if baseline else reward
    along = (advantage * (delta * (right - p) + rng.standard_normal(right.shape))).mean(axis=1)
    across = (advantage * rng.standard_normal(right.shape)).mean(axis=1)
    return along, across


@pytest.mark.parametrize(
    "equation, lift, scale, baseline",
    [("snr_baseline", 0, 1, True), ("snr_zero_one", 0, 1, False), ("snr_plus_minus", -1, 2, False)],
)
@pytest.mark.parametrize("p", [0.05, 0.3])
def test_signal_to_noise_in_the_score_model(equation, lift, scale, baseline, p):
    dimension, rollouts, repeats = 50, 64, 20_000
    along, across = score_model(p, 1.0, dimension, rollouts, repeats, 4, lift, scale, baseline)
    signal = along.mean() ** 2
    noise = dimension * across.var() * rollouts
    error = 2 * along.std() / np.sqrt(repeats) / abs(along.mean()) + np.sqrt(2 / repeats)
    want = getattr(h, equation)(pass_rate=p, logit_sensitivity=1.0, score_dimension=dimension)
    assert signal / noise == pytest.approx(want, rel=4 * error)


@pytest.mark.parametrize("p, rollouts", [(0.05, 32), (0.2, 8)])
def test_gain_of_the_best_noise_limited_step(p, rollouts):
    dimension = 400
    along, across = score_model(p, 1.0, dimension, rollouts, 60_000, 5)
    slope = p * (1 - p)
    # best size a of a step: the most of a * slope * E[along] - a^2 / 2 * E|g|^2, Fisher information 1 per dimension
    size = along.mean() * slope / (np.mean(along**2) + (dimension - 1) * np.mean(across**2))
    got = size * along.mean() * slope / 2
    model = h.Model([h.gain, h.kl_curvature])
    values = {"pass_rate": p, "rollouts": rollouts, "logit_sensitivity": 1.0, "score_dimension": dimension}
    want = model.solve(values)["step_gain"]
    assert rollouts * slope / dimension < 0.01
    assert got == pytest.approx(want, rel=0.06)
    with pytest.raises(RleconError, match="limited by noise"):
        model.solve({**values, "rollouts": 10_000})


def test_gain_beyond_the_noise_limit():
    """At p = 1/2 with 64 rollouts in 50 dimensions the signal itself shortens the step by a quarter."""
    p, rollouts, dimension = 0.5, 64, 50
    along, across = score_model(p, 1.0, dimension, rollouts, 60_000, 7)
    slope, fisher = p * (1 - p), 1 + p * (1 - p)
    size = along.mean() * slope / (fisher * along.mean() ** 2 + dimension * np.mean(across**2))
    got = size * along.mean() * slope / 2
    values = {"pass_rate": p, "rollouts": rollouts, "logit_sensitivity": 1.0, "score_dimension": dimension}
    want = h.full_gain(**values)
    assert got == pytest.approx(want, rel=0.03)
    limited = rollouts * slope**3 / (2 * dimension)
    assert want / limited == pytest.approx(1 / (1 + rollouts * slope / dimension * fisher))
    assert h.full_gain(**{**values, "score_dimension": 1e9}) == pytest.approx(rollouts * slope**3 / 2e9, rel=1e-6)


def test_the_curvature_bound_is_one():
    """p q bounds the curvature of p in its logit, is exact for log p, and is not the curvature of p."""
    x = sp.Symbol("x", real=True)
    p = 1 / (1 + sp.exp(-x))
    assert sp.simplify(sp.diff(sp.log(p), x, 2) + p * (1 - p)) == 0
    assert sp.simplify(sp.diff(p, x, 2) - p * (1 - p) * (1 - 2 * p)) == 0


def test_the_objective_bends_along_one_direction_and_the_dimension_cancels_from_ratios():
    """The Hessian of p is Cov(r, s s'): p q (1 - 2p) Delta^2 along u and 0 across; ratios do not ask where."""
    p, delta = sp.symbols("p Delta", positive=True)
    mean = lambda of: p * of(1) + (1 - p) * of(0)  # noqa: E731
    along = lambda r: (delta * (r - p)) ** 2 + 1  # noqa: E731  E[s_u^2] given the reward
    across = lambda r: sp.Integer(1)  # noqa: E731
    bend = lambda square: sp.factor(mean(lambda r: r * square(r)) - p * mean(square))  # noqa: E731
    assert sp.simplify(bend(along) - p * (1 - p) * (1 - 2 * p) * delta**2) == 0
    assert bend(across) == 0

    few, many = ({r.key: r.ratio for r in h.readings(score_dimension=d)} for d in (1.0, 1e6))
    for key in ("gain_objective", "log_gain_objective"):
        assert few[key] == pytest.approx(many[key], rel=1e-12)


def test_wrong_formulas_are_rejected():
    """A wait of 1/p for both outcomes, and a signal of p (1 + q), do not survive the checks above."""
    rng = np.random.default_rng(6)
    rewards = rng.random((40_000, 200)) < 0.15
    both = (rewards != rewards[:, :1]).argmax(axis=1) + 1
    assert abs(both.mean() - 1 / 0.15) > 4 * both.std() / np.sqrt(len(both))
    along, across = score_model(0.3, 1.0, 50, 64, 20_000, 4)
    assert along.mean() ** 2 / (50 * across.var() * 64) != pytest.approx(0.3 * 1.7 / 50, rel=0.1)


def test_units():
    for equation in vars(h).values():
        if isinstance(equation, h.Equation):
            equation.check_units()
    assert v.pass_rate in h.gain.right.free_symbols

"""Credit and horizon: known values, limits, REINFORCE on both chains, locks, and formulas that must fail."""

import numpy as np
import pytest
import sympy as sp

from rlecon import credit as c
from rlecon import policy_gradient as pg
from rlecon.errors import RleconError


def rho(turns, p=0.5):
    return p ** (1 / turns)


def test_what_pass_or_fail_keeps():
    kept = c.dichotomisation_equation(pass_rate=np.array([0.5, 0.2, 0.05, 0.01]))
    assert 1 / kept == pytest.approx([np.pi / 2, 2.04, 4.47, 13.9], rel=0.003)
    assert [c.kept_by_levels(v) for v in (2, 3, 4, 8)] == pytest.approx([0.637, 0.793, 0.861, 0.945], abs=0.0005)
    assert c.kept_by_levels(1) == 0
    assert c.kept_by_levels(2) == pytest.approx(float(kept[0]))
    assert c.kept_by_levels(10_000) == pytest.approx(1, abs=1e-3)
    with pytest.raises(RleconError, match="levels"):
        c.kept_by_levels(0)


@pytest.mark.parametrize("p", [0.5, 0.2, 0.05])
def test_dichotomising_a_million_normal_pairs(p):
    """Squared correlation with the cause after the cut, over that before it, at a faint correlation."""
    rng = np.random.default_rng(1)
    from scipy.special import ndtri

    x, noise, r = rng.standard_normal(2_000_000), rng.standard_normal(2_000_000), 0.1
    score = r * x + np.sqrt(1 - r * r) * noise
    cut = (score > ndtri(1 - p)).astype(float)
    got = (np.corrcoef(x, cut)[0, 1] / np.corrcoef(x, score)[0, 1]) ** 2
    assert got == pytest.approx(c.dichotomisation_equation(pass_rate=p), rel=0.03)


GAINS = {
    "own_equation": (13.9, 28.4, 71.6),
    "own_stop_equation": (7.8, None, 37.8),
    "own_each_equation": (8.1, None, 39.3),
    "own_value_equation": (6.3, None, 29.5),
    "summed_equation": (1.39, None, 1.43),
}


@pytest.mark.parametrize("name", GAINS)
def test_gains_at_known_values(name):
    for turns, known in zip((10, 20, 50), GAINS[name], strict=True):
        if known is not None:
            got = getattr(c, name)(step_success=rho(turns), turns=turns)
            assert got == pytest.approx(known, rel=0.006)


def test_limits():
    many = c.own_equation(step_success=rho(10_000), turns=10_000)
    assert many == pytest.approx(c.own_limit_equation(pass_rate=0.5, turns=10_000), rel=1e-4)
    assert c.own_limit_equation(pass_rate=0.5, turns=10) == pytest.approx(10 / np.log(2))
    for equation in (c.own_equation, c.own_stop_equation, c.own_each_equation, c.own_value_equation, c.summed_equation):
        assert equation(step_success=0.3, turns=1) == pytest.approx(1)  # one step: nothing to assign
    assert c.chain_bits(10, rho(10)) == pytest.approx((3.55, 1.54), abs=0.006)


@pytest.mark.parametrize(
    "equation, dense, sparse, ends, shared",
    [
        ("own_equation", "own", "terminal", False, True),
        ("own_stop_equation", "own", "terminal", True, True),
        ("own_each_equation", "own", "terminal", True, False),
        ("own_value_equation", "own", "value", True, True),
        ("value_each_equation", "own", "value", True, False),
        ("summed_equation", "summed", "terminal", False, True),
    ],
)
def test_gains_of_reinforce_on_a_chain(equation, dense, sparse, ends, shared):
    turns = 10
    rng = np.random.default_rng(2)
    settings = {"ends": ends, "shared": shared}
    top, top_error = pg.chain_signal(turns, rho(turns), dense, rng, **settings)
    low, low_error = pg.chain_signal(turns, rho(turns), sparse, rng, **settings)
    got, relative = np.mean(top / low), np.sqrt(np.mean((top_error / top) ** 2 + (low_error / low) ** 2))
    want = getattr(c, equation)(step_success=rho(turns), turns=turns)
    assert got == pytest.approx(want, rel=4 * relative + 0.002)
    assert got != pytest.approx(turns * want, rel=0.3)


def test_the_going_on_formula_is_wrong_for_a_chain_that_stops():
    rng = np.random.default_rng(3)
    top, _ = pg.chain_signal(10, rho(10), "own", rng, ends=True)
    low, _ = pg.chain_signal(10, rho(10), "terminal", rng, ends=True)
    assert top / low != pytest.approx(c.own_equation(step_success=rho(10), turns=10), rel=0.3)


# --- locks -----------------------------------------------------------------------------------------------------------
def test_decisions_at_known_values():
    chain = {"step_success": 0.9, "turns": 50}
    assert c.outcome_equation(**chain) == pytest.approx(9702, abs=1)
    assert c.early_equation(**chain) == pytest.approx(1930, abs=1)
    assert c.process_equation(**chain) == pytest.approx(55.6, abs=0.1)
    assert c.barrier_equation(**chain) == pytest.approx(175, abs=0.5)
    assert c.early_barrier_equation(**chain) == pytest.approx(35, abs=0.3)
    assert c.early_barrier_equation(step_success=0.85, turns=50) == pytest.approx(383, abs=1)
    assert c.early_barrier_equation(step_success=0.8, turns=50) == pytest.approx(5600, rel=0.002)


@pytest.mark.parametrize("ends, equation", [(True, "early_equation"), (False, "outcome_equation")])
def test_locks_by_simulation(ends, equation):
    rng = np.random.default_rng(4)
    mean, error = pg.lock_tries(20, 0.9, rng, ends=ends, repeats=20_000)
    want = getattr(c, equation)(step_success=0.9, turns=20)
    assert abs(mean - want) < 4 * error
    mean, error = pg.lock_tries(20, 0.9, rng, process=True, repeats=20_000)
    assert abs(mean - c.process_equation(step_success=0.9, turns=20)) < 4 * error


@pytest.mark.parametrize("turns", [4, 8, 12])
def test_the_lock_of_a_random_player(turns):
    rng = np.random.default_rng(turns)
    mean, error = pg.lock_tries(turns, 0.5, rng, repeats=4000)
    tries = c.lock_equation(actions=2, turns=turns)
    assert abs(mean / turns - tries) < 4 * error / turns
    mean, error = pg.lock_tries(turns, 0.5, rng, process=True, repeats=4000)
    assert abs(mean - c.shaped_equation(actions=2, turns=turns)) < 4 * error
    blind = c.effective_equation(actions=2, turns=turns, effective_horizon=turns)
    assert blind == pytest.approx(turns**2 * tries)


def test_tokens_as_a_power_of_human_time():
    hour = 3600
    points = ((60, hour, 1e3, 1e6, 1.69), (hour, 40 * hour, 1e6, 1e9, 1.87), (hour, 168 * hour, 1e6, 1e9, 1.35))
    for short, long, few, many, want in points:
        got = c.exponent_equation(short_seconds=short, long_seconds=long, short_tokens=few, long_tokens=many)
        assert got == pytest.approx(want, abs=0.005)


# --- distillation ----------------------------------------------------------------------------------------------------
def test_reverse_kl_gradient_is_reinforce_with_log_ratio_rewards():
    """Exact, on two tabular decisions: the gradient of KL(student || teacher) against minus E[score * reward-to-go]."""
    a, b, c0, c1 = sp.symbols("a b c0 c1", real=True)
    sigmoid = lambda x: 1 / (1 + sp.exp(-x))  # noqa: E731
    teacher = {(): sp.Rational(1, 3), (0,): sp.Rational(1, 4), (1,): sp.Rational(2, 3)}
    student = {(): sigmoid(a), (0,): sigmoid(c0), (1,): sigmoid(c1)}

    def chance(table, prefix, x):
        return table[prefix] if x else 1 - table[prefix]

    divergence = reinforce = own_step = 0
    for x in (0, 1):
        for y in (0, 1):
            path = chance(student, (), x) * chance(student, (x,), y)
            first = sp.log(chance(teacher, (), x) / chance(student, (), x))
            second = sp.log(chance(teacher, (x,), y) / chance(student, (x,), y))
            divergence -= path * (first + second)
            score = sp.diff(sp.log(chance(student, (), x)), a)
            reinforce += path * score * (first + second)
            own_step += path * score * first
    at = {a: 0.3, b: 0, c0: -0.4, c1: 0.8}
    want = sp.diff(divergence, a).subs(at).evalf()
    assert float(want) == pytest.approx(float(-reinforce.subs(at).evalf()), abs=1e-12)
    assert float(want) != pytest.approx(float(-own_step.subs(at).evalf()), abs=1e-3)  # discount 0 is an approximation


def test_break_even_teacher():
    flops = {"rl_flops_per_token": 8 * 8e9}
    size = c.teacher_equation(credit_gain=7.0, **flops)
    assert size == pytest.approx(6 * 8 * 8e9 / 2)
    assert c.distillation_equation(credit_gain=7.0, teacher_parameters=size, **flops) == pytest.approx(1)
    assert c.distillation_equation(credit_gain=7.0, teacher_parameters=32e9, **flops) == pytest.approx(2 / 7)
    with pytest.raises(RleconError, match="saves nothing"):
        c.teacher_equation(credit_gain=0.5, **flops)

"""Verifiers: known factors, channels by simulation, votes, correlated errors, and where training ends."""

import numpy as np
import pytest

from rlecon import information
from rlecon import verifier as vf
from rlecon.equation import Model
from rlecon.errors import RleconError

SEEN = [vf.observed_equation, information.youden_equation]
ROLLOUTS = Model([vf.rollouts_equation, *SEEN])
DIVIDED = Model([vf.divided_equation, *SEEN])
PRECISION = Model([vf.precision_equation, vf.observed_equation])
CEILING = Model([vf.floor_equation, *SEEN])


def errs(p, plus, minus):
    return {"pass_rate": p, "false_positive_rate": plus, "false_negative_rate": minus}


@pytest.mark.parametrize(
    "p, plus, minus, factor, divided, precision",
    [
        (0.5, 0.05, 0.05, 1.23, None, 0.95),
        (0.05, 0.05, 0.05, 2.23, None, 0.50),
        (0.5, 0.2, 0.3, 4.0, None, None),
        (0.05, 0.2, 0.3, 14.7, 0.26, 0.16),
    ],
)
def test_known_factors(p, plus, minus, factor, divided, precision):
    values = errs(p, plus, minus)
    assert ROLLOUTS.solve(values)["verifier_rollouts_factor"] == pytest.approx(factor, rel=0.011)
    if divided:
        assert DIVIDED.solve(values)["verifier_gradient_factor"] == pytest.approx(divided, abs=0.005)
    if precision:
        assert PRECISION.solve(values)["verifier_precision"] == pytest.approx(precision, abs=0.006)


def test_a_perfect_verifier_changes_nothing_and_a_useless_one_is_refused():
    values = errs(0.3, 0.0, 0.0)
    assert ROLLOUTS.solve(values)["verifier_rollouts_factor"] == pytest.approx(1)
    assert PRECISION.solve(values)["verifier_precision"] == 1
    with pytest.raises(RleconError, match="away from the truth"):
        ROLLOUTS.solve(errs(0.3, 0.6, 0.4))


@pytest.mark.parametrize("p, plus, minus", [(0.5, 0.05, 0.05), (0.05, 0.2, 0.3)])
def test_gradient_and_noise_in_the_score_model(p, plus, minus):
    rng = np.random.default_rng(1)
    n = 2_000_000
    right = rng.random(n) < p
    seen = np.where(right, rng.random(n) >= minus, rng.random(n) < plus).astype(float)
    along = (seen - seen.mean()) * (right - p)
    youden = 1 - plus - minus
    assert abs(along.mean() - youden * p * (1 - p)) < 4 * along.std() / np.sqrt(n)
    noise = seen.var()
    factor = noise / (p * (1 - p)) / (along.mean() / (p * (1 - p))) ** 2
    assert factor == pytest.approx(ROLLOUTS.solve(errs(p, plus, minus))["verifier_rollouts_factor"], rel=0.03)
    assert factor != pytest.approx(1 / youden, rel=0.05)  # the shrunken gradient alone is not the price


def test_votes_at_known_values():
    sizes = (1, 3, 5, 9, 25)
    every = [vf.vote_bits(0.3, 0.2, 0.3, n) for n in sizes]
    most = [vf.vote_bits(0.3, 0.2, 0.3, n, majority=True) for n in sizes]
    assert every == pytest.approx([0.164, 0.392, 0.542, 0.712, 0.869], abs=0.0006)
    assert most == pytest.approx([0.164, 0.328, 0.455, 0.624, 0.834], abs=0.0006)
    assert vf.vote_bits(0.3, 0.2, 0.3, 401) == pytest.approx(float(information.binary_entropy(0.3)), abs=1e-6)
    assert vf.vote_bits(0.3, 0.2, 0.3, 2, majority=True) == pytest.approx(
        every[0], abs=0.02
    )  # a coin wastes the second


def test_a_table_of_votes_by_simulation():
    rng = np.random.default_rng(2)
    n, p, plus, minus, cause = 300_000, 0.3, 0.2, 0.3, 0.25
    right = rng.random(n) < p
    accept = np.where(right, 1 - minus, plus)
    votes = rng.random((n, 3)) < accept[:, None]
    copied = rng.random(n) < cause
    votes[copied] = votes[copied, :1]
    want = vf.vote_table(p, plus, minus, 3, cause)
    got = np.array([np.bincount(votes[right == t].sum(axis=1), minlength=4) for t in (False, True)]) / n
    assert np.all(np.abs(got - want) < 4 * np.sqrt(want * (1 - want) / n))
    for truth in (False, True):
        assert np.corrcoef(votes[right == truth, 0], votes[right == truth, 1])[0, 1] == pytest.approx(cause, abs=0.01)


def test_correlated_errors_set_a_floor():
    values = {**errs(0.3, 0.2, 0.3), "common_cause": 0.3}
    ceiling = CEILING.solve(values)["information_bits"]
    assert vf.vote_bits(0.3, 0.2, 0.3, 401, common_cause=0.3) == pytest.approx(ceiling, abs=1e-6)
    assert vf.vote_bits(0.3, 0.2, 0.3, 25, common_cause=0.3) < ceiling < information.binary_entropy(0.3)
    plus, minus = vf.majority_errors(0.2, 0.3, 401, common_cause=0.3)
    assert plus == pytest.approx(vf.majority_floor_equation(false_positive_rate=0.2, common_cause=0.3), abs=1e-6)
    assert minus == pytest.approx(0.3 * 0.3, abs=1e-6)
    assert vf.majority_errors(0.2, 0.3, 9, common_cause=1.0) == pytest.approx((0.2, 0.3))
    # Ten that agree as much as .8 are worth less than one better verifier.
    assert vf.vote_bits(0.3, 0.2, 0.3, 10, common_cause=0.8) < vf.vote_bits(0.3, 0.1, 0.15, 1)
    single = CEILING.solve({**values, "common_cause": 1.0})["information_bits"]
    assert single == pytest.approx(vf.vote_bits(0.3, 0.2, 0.3, 1))


# --- where training ends ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("p, plus, minus", [(0.5, 0.05, 0.05), (0.05, 0.05, 0.05), (0.05, 0.2, 0.3)])
def test_errors_that_can_be_relied_on_are_a_ceiling(p, plus, minus):
    want = PRECISION.solve(errs(p, plus, minus))["verifier_precision"]
    true, observed = vf.train_against(p, plus, minus)
    assert (true, observed) == (pytest.approx(want, abs=1e-6), pytest.approx(1, abs=1e-6))
    true, observed = vf.train_against(p, plus, minus, rule="answers")
    assert observed > 0.99
    assert true == pytest.approx(want, abs=0.01)  # equal answers: policy gradient keeps proportions too


def test_the_larger_mode_wins_under_plain_policy_gradient():
    true, observed = vf.train_against(0.05, 0.2, 0.3, rule="modes", steps=200_000, rate=1.0)
    assert observed > 0.99
    assert true < 0.02
    true, observed = vf.train_against(0.5, 0.05, 0.05, rule="modes", steps=200_000, rate=1.0)
    assert true > 0.98


@pytest.mark.parametrize("rule", vf.RULES)
def test_fresh_errors_have_no_ceiling(rule):
    steps = {"kl": 4000, "answers": 20_000, "modes": 20_000}[rule]
    true, observed = vf.train_against(0.05, 0.2, 0.3, fixed=False, rule=rule, steps=steps, rate=0.5)
    assert true > 0.99
    assert observed == pytest.approx(0.7, abs=0.01)


def test_bad_input():
    with pytest.raises(RleconError, match="kl, answers, modes"):
        vf.train_against(0.3, 0.1, 0.1, rule="dpo")
    with pytest.raises(RleconError, match="odd"):
        vf.majority_errors(0.2, 0.3, 4)
    with pytest.raises(RleconError, match="common_cause"):
        vf.vote_table(0.3, 0.1, 0.1, 3, 1.5)
    with pytest.raises(RleconError, match="verifiers"):
        vf.vote_table(0.3, 0.1, 0.1, 0)


def test_units():
    for equation in vars(vf).values():
        if isinstance(equation, vf.Equation):
            equation.check_units()

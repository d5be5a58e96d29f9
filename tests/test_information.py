"""Bits: every formula against values that do not come from it, limits, brute force and simulation."""

from __future__ import annotations

import copy
import math
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from scipy import integrate, special, stats

from rlecon import Run, bill, information, units, vocabulary
from rlecon.equation import EQUATIONS, Equation, Model
from rlecon.errors import RleconError
from rlecon.information import binary_divergence, binary_entropy, elimination, halving, mutual_information
from tests.mutants import mutants

HOFFMANN = {
    "irreducible_loss_nats": 1.69,
    "loss_scale_parameters": 406.4,
    "loss_scale_tokens": 410.7,
    "loss_exponent_parameters": 0.34,
    "loss_exponent_tokens": 0.28,
}
BESIROGLU = {
    "irreducible_loss_nats": 1.8172,
    "loss_scale_parameters": 482.01,
    "loss_scale_tokens": 2085.43,
    "loss_exponent_parameters": 0.3478,
    "loss_exponent_tokens": 0.3658,
}
CHINCHILLA = {"total_parameters": 70e9, "pretraining_tokens": 1.4e12}
WORK = {"active_parameters_matmul": 8e9, "bf16_flops_per_second": 1e15}


def eq(name, **values):
    return EQUATIONS[name](**values)


def topic():
    return [e for e in EQUATIONS.values() if e.topic == "information"]


def of_bill(mean, observed, plus, minus, variance=None, beta=None):
    """Inputs of the bill's bits: a Beta distribution of pass rates, or every prompt alike."""
    a, b = beta or (mean, 1 - mean)
    spread = 0.0 if beta is None else math.sqrt(variance)
    return {
        "mean_pass_rate": mean,
        "pass_rate_spread": spread,
        "pass_variance": mean * (1 - mean) - spread**2,
        "beta_successes": a,
        "beta_failures": b,
        "observed_pass_rate": observed,
        "false_positive_rate": plus,
        "false_negative_rate": minus,
    }


# Published or hand-computed values: equation, inputs, value, half a unit of the last digit printed.
KNOWN = [
    ("entropy_bits", {"pass_rate": 0.5}, 1.0, 1e-12),
    ("entropy_bits", {"pass_rate": 0.05}, 0.286397, 5e-7),
    ("entropy_bits", {"pass_rate": 0.99}, 0.080793, 5e-7),
    (
        "observed_pass_rate",
        {"mean_pass_rate": 0.3, "false_positive_rate": 0.2, "false_negative_rate": 0.3},
        0.35,
        1e-12,
    ),
    ("youden_index", {"false_positive_rate": 0.2, "false_negative_rate": 0.3}, 0.5, 1e-12),
    ("verifier_information", {"pass_rate": 0.3, "false_positive_rate": 0.2, "false_negative_rate": 0.3}, 0.164, 5e-4),
    # harmonic numbers: (H_6 - H_2/3 - 2 H_4/3)/ln 2; the others by quadrature in 20 digits
    ("mean_entropy", {"mean_pass_rate": 1 / 3, "beta_successes": 2, "beta_failures": 4}, 0.809512217388, 1e-11),
    ("bits_per_rollout", of_bill(0.3, 0.35, 0.2, 0.3), 0.164331119185, 1e-11),
    ("bits_per_rollout", of_bill(0.6, 0.628, 0.1, 0.02), 0.679732813665, 1e-11),
    ("bits_per_rollout", of_bill(1 / 3, 1 / 3, 0.05, 0.1, 2 / 63, (2, 4)), 0.494339833285, 1e-9),
    ("bits_per_rollout", of_bill(0.6, 0.662, 0.2, 0.03, 0.04, (3, 2)), 0.437584704970, 1e-9),
    ("success_bits", {"pass_rate": math.exp(-1)}, 0.5307, 5e-5),
    ("success_bits", {"pass_rate": 0.05}, 0.216096, 5e-7),
    ("level_bits", {"levels": 21}, 4.39, 5e-3),
    ("level_bits", {"levels": 2}, 1.0, 1e-12),
    ("noisy_score_bits", {"reward_snr": 16}, 2.04, 5e-3),
    ("score_information", {"pass_rate": 0.5, "logit_sensitivity": 1}, 0.161, 5e-4),
    ("score_information", {"pass_rate": 0.05, "logit_sensitivity": 1}, 0.033, 5e-4),
    ("score_information", {"pass_rate": 0.5, "logit_sensitivity": 3}, 0.760, 5e-4),
    ("faint_score_information", {"pass_rate": 0.5, "logit_sensitivity": 0.1}, 0.0018034, 5e-8),
    ("bits_per_step", {"bits_per_rollout": 0.88, "rollouts": 2048, "dynamic_sampling": 0, "oversampling": 3},
     1802.24, 1e-9),
    ("bits_per_step", {"bits_per_rollout": 0.5, "rollouts": 100, "dynamic_sampling": 1, "oversampling": 3},
     150.0, 1e-9),
    ("bits_per_token", {"bits_per_rollout": 1, "response_tokens": 32000}, 3.125e-5, 1e-15),
    ("tokens_per_bit", {"bits_per_token": 1e-6}, 1e6, 1e-6),
    ("pretraining_flops_per_token", {"active_parameters_matmul": 2.0, "backward_passes": 3}, 12.0, 1e-12),
    ("rl_flops_per_token", {"active_parameters_matmul": 2.0, "backward_passes": 3, "scoring_passes": 0}, 16.0, 1e-12),
    ("rl_flops_per_token", {"active_parameters_matmul": 2.0, "backward_passes": 3, "scoring_passes": 2}, 24.0, 1e-12),
    ("flops_ratio_per_token", {"rl_flops_per_token": 8.0, "pretraining_flops_per_token": 6.0}, 4 / 3, 1e-12),
    (
        "pretraining_gpu_seconds_per_token",
        dict(backward_passes=3, pretraining_mfu=0.4, **WORK),
        1.2e-4,
        1e-12,
    ),
    (
        "rl_gpu_seconds_per_token",
        dict(backward_passes=3, scoring_passes=0, decode_mfu=0.05, train_mfu=0.4, **WORK),
        4.4e-4,
        1e-12,
    ),
    (
        "rl_gpu_seconds_per_token",
        dict(backward_passes=3, scoring_passes=2, decode_mfu=0.02, train_mfu=0.4, **WORK),
        1.0e-3,
        1e-12,
    ),
    (
        "gpu_time_ratio_per_token",
        {"rl_gpu_seconds_per_token": 4.4e-4, "pretraining_gpu_seconds_per_token": 1.2e-4},
        3.67,
        5e-3,
    ),
    ("bits_per_flop", {"bits_per_token": 1e-4, "rl_flops_per_token": 6.4e10}, 1.5625e-15, 1e-24),
    ("bits_per_gpu_hour", {"bits_per_token": 1e-4, "rl_gpu_seconds_per_token": 4.4e-4}, 818.1818, 5e-5),
    ("bits_per_usd", {"bits_per_gpu_hour": 800, "usd_per_gpu_hour": 2.5}, 320, 1e-9),
    ("vocabulary_bits_per_token", {"vocabulary_size": 50257}, 15.617, 5e-4),
    ("vocabulary_bits_per_token", {"vocabulary_size": 100277}, 16.614, 5e-4),
    ("loss_bits_per_token", CHINCHILLA | HOFFMANN, 2.79, 5e-3),
    ("loss_bits_per_token", CHINCHILLA | HOFFMANN, 2.793988816335, 1e-11),  # in 20 digits, apart from the package
    ("reducible_bits_per_token", CHINCHILLA | HOFFMANN, 0.356, 5e-4),
    ("learned_bits_per_token", CHINCHILLA | HOFFMANN, 0.0915, 5e-5),
    ("learned_limit_bits_per_token", CHINCHILLA | HOFFMANN, 0.327, 5e-4),
    ("learned_bits_per_token", CHINCHILLA | BESIROGLU, 0.063, 5e-4),
    ("learned_limit_bits_per_token", CHINCHILLA | BESIROGLU, 0.171, 5e-4),
    ("stored_bits_per_token", CHINCHILLA | {"capacity_bits_per_parameter": 2}, 0.10, 1e-9),
    ("stored_bits_per_token", CHINCHILLA | {"capacity_bits_per_parameter": 3.6}, 0.18, 1e-9),
    ("ceiling_ratio", {"loss_bits_per_token": 2.79, "response_tokens": 1e6, "bits_per_rollout": 1}, 2.79e6, 1),
    ("binary_divergence_bits", {"start_pass_rate": 0.05, "target_pass_rate": 0.95}, 3.82, 5e-3),
    ("binary_divergence_bits", {"start_pass_rate": 0.5, "target_pass_rate": 0.95}, 0.71, 5e-3),
    ("binary_divergence_bits", {"start_pass_rate": 0.4, "target_pass_rate": 0.95}, 1.01, 5e-3),
    ("binary_divergence_bits", {"start_pass_rate": 0.156, "target_pass_rate": 0.779}, 1.38, 5e-3),
    ("binary_divergence_bits", {"start_pass_rate": 0.25, "target_pass_rate": 1.0}, 2.0, 1e-12),
    ("binary_divergence_bits", {"start_pass_rate": 0.75, "target_pass_rate": 0.0}, 2.0, 1e-12),
    ("fewest_rollouts", {"start_pass_rate": 0.05, "target_pass_rate": 0.5}, 1.44, 5e-3),
    ("fewest_rollouts", {"start_pass_rate": 1 / 1024, "target_pass_rate": 0.5}, 6.6, 5e-2),
]


@pytest.mark.parametrize(("name", "values", "value", "tolerance"), KNOWN)
def test_known_values(name, values, value, tolerance):
    assert float(eq(name, **values)) == pytest.approx(value, abs=tolerance, rel=0)


def test_every_equation_has_a_value_from_elsewhere():
    assert {e.name for e in topic()} == {name for name, *_ in KNOWN}


@pytest.mark.parametrize("equation", topic(), ids=lambda e: e.name)
def test_units(equation):
    equation.check_units()


def test_a_slip_of_units_is_refused():
    wrong = Equation(
        vocabulary.bits_per_token, vocabulary.bits_per_rollout * vocabulary.response_tokens, "wrong", name="wrong_unit"
    )
    try:
        with pytest.raises(RleconError, match="units"):
            wrong.check_units()
    finally:
        del EQUATIONS["wrong_unit"]


# --- entropies and channels ------------------------------------------------------------------------------------------


def test_entropy_is_that_of_scipy_and_its_edges_are_zero():
    p = np.linspace(0, 1, 101)
    assert binary_entropy(p) == pytest.approx(stats.bernoulli.entropy(p) / math.log(2), abs=1e-12)
    assert binary_entropy(0.0) == binary_entropy(1.0) == 0


def test_reward_of_a_guess_tells_its_entropy():
    """Guess and check by brute force: I(answer; reward | guess) = H(p), and the answer told outright tells no less."""
    rng = np.random.default_rng(1)
    for size in (2, 3, 8):
        prior = rng.dirichlet(np.ones(size))
        policy = rng.dirichlet(np.ones(size))
        told = 0.0
        for guess in range(size):
            joint = np.zeros((size, 2))
            joint[np.arange(size), (np.arange(size) == guess).astype(int)] = prior
            told += policy[guess] * mutual_information(joint)
        assert told == pytest.approx(np.sum(policy * binary_entropy(prior)), rel=1e-12)
        assert told <= mutual_information(np.diag(prior)) + 1e-12


def test_verifier_channel_by_its_table():
    for p, plus, minus in [(0.5, 0.05, 0.05), (0.05, 0.2, 0.3), (0.3, 0.0, 0.4), (0.3, 0.7, 0.6)]:
        joint = [[(1 - p) * (1 - plus), (1 - p) * plus], [p * minus, p * (1 - minus)]]
        found = eq("verifier_information", pass_rate=p, false_positive_rate=plus, false_negative_rate=minus)
        assert float(found) == pytest.approx(mutual_information(joint), abs=1e-12)


def test_verifier_limits():
    p = np.linspace(0.01, 0.99, 25)
    at = lambda plus, minus: eq(  # noqa: E731
        "verifier_information", pass_rate=p, false_positive_rate=plus, false_negative_rate=minus
    )
    assert at(0, 0) == pytest.approx(binary_entropy(p), rel=1e-12)
    assert at(0.4, 0.6) == pytest.approx(0, abs=1e-12)  # J = 0: a coin
    assert at(1, 1) == pytest.approx(binary_entropy(p), rel=1e-12)  # always wrong is always right


def test_successes_hold_a_quarter_of_the_bits_at_five_percent_and_half_at_even_odds():
    share = eq("success_bits", pass_rate=[0.05, 0.5]) / binary_entropy(np.array([0.05, 0.5]))
    assert share == pytest.approx([0.7545, 0.5], abs=5e-5)  # failures: 25 % and 50 %
    p = sp.symbols("p", positive=True)
    best = sp.solve(sp.diff(-p * sp.log(p), p), p)
    assert best == [sp.exp(-1)]


def bits_of_run(**reward):
    run = Run(
        model={"name": "qwen3-8b"},
        hardware={"gpu": "h100-sxm", "gpus": 64, "usd_per_gpu_hour": 2.5},
        rollout={"prompts_per_step": 256, "group_size": 8, "prompt_tokens": 512, "response_tokens": 4000},
        reward=reward,
        run={"steps": 200},
    )
    return float(bill(run)["bits_per_rollout"])


@pytest.mark.parametrize(("pass_rate", "spread"), [(0.3, 0.0), (0.3, 0.2), (0.05, 0.08), (0.7, 0.4)])
@pytest.mark.parametrize(("plus", "minus"), [(0.0, 0.0), (0.05, 0.05), (0.2, 0.3), (1e-6, 0.0)])
def test_bill_counts_a_verifiers_errors(pass_rate, spread, plus, minus):
    entropy = lambda x: stats.bernoulli.entropy(x) / math.log(2)  # noqa: E731
    given = {
        "pass_rate": pass_rate,
        "pass_rate_spread": spread,
        "false_positive_rate": plus,
        "false_negative_rate": minus,
    }
    seen = lambda p: entropy(plus + (1 - plus - minus) * p)  # noqa: E731
    if spread == 0:
        mean = seen(pass_rate)
    else:
        precision = pass_rate * (1 - pass_rate) / spread**2 - 1
        beta = stats.beta(pass_rate * precision, (1 - pass_rate) * precision)
        # in the quantile of the Beta, split where it bends
        points = [0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6, 1]
        mean = sum(integrate.quad(lambda u: seen(beta.ppf(u)), *ends, limit=200)[0] for ends in pairwise(points))
    expected = mean - pass_rate * entropy(minus) - (1 - pass_rate) * entropy(plus)
    assert bits_of_run(**given) == pytest.approx(expected, rel=2e-6)


def test_spread_by_simulation():
    """Mean over drawn prompts of the entropy of a verdict, within four standard errors."""
    rng = np.random.default_rng(20261130)
    p = rng.beta(0.3, 0.7, 400_000)
    for plus, minus in [(0.0, 0.0), (0.05, 0.1)]:
        drawn = binary_entropy(p * (1 - minus) + (1 - p) * plus)
        error = drawn.std() / math.sqrt(p.size)
        found = information.bits_equation(
            mean_pass_rate=0.3,
            pass_rate_spread=math.sqrt(0.21 / 2),
            pass_variance=0.105,
            beta_successes=0.3,
            beta_failures=0.7,
            observed_pass_rate=0.3 * (1 - minus) + 0.7 * plus,
            false_positive_rate=plus,
            false_negative_rate=minus,
        )
        expected = drawn.mean() - 0.3 * binary_entropy(minus) - 0.7 * binary_entropy(plus)
        assert float(found) == pytest.approx(expected, abs=4 * error)


def test_mean_entropy_of_a_clean_verifier():
    found = eq("mean_entropy", mean_pass_rate=1 / 3, beta_successes=2, beta_failures=4)
    assert float(found) == pytest.approx(integrate.quad(lambda p: stats.beta(2, 4).pdf(p) * binary_entropy(p), 0, 1)[0])


def test_score_channel_by_simulation_and_limits():
    """I(r; r Delta + z) by Monte Carlo, at no signal, at full signal, and at a faint one."""
    rng = np.random.default_rng(7)
    p, delta, draws = 0.3, 1.5, 400_000
    reward = rng.random(draws) < p
    seen = reward * delta + rng.standard_normal(draws)
    like = np.where(reward, stats.norm.pdf(seen, delta), stats.norm.pdf(seen))
    bits = np.log2(like / (p * stats.norm.pdf(seen, delta) + (1 - p) * stats.norm.pdf(seen)))
    found = float(eq("score_information", pass_rate=p, logit_sensitivity=delta))
    assert found == pytest.approx(bits.mean(), abs=4 * bits.std() / math.sqrt(draws))
    assert float(eq("score_information", pass_rate=p, logit_sensitivity=0)) == pytest.approx(0, abs=1e-12)
    full = float(eq("score_information", pass_rate=p, logit_sensitivity=15))
    assert full == pytest.approx(binary_entropy(p), rel=1e-9)
    faint = {"pass_rate": p, "logit_sensitivity": 0.05}
    assert float(eq("score_information", **faint)) == pytest.approx(
        float(eq("faint_score_information", **faint)), rel=2e-3
    )
    with pytest.raises(RleconError, match="not faint"):
        eq("faint_score_information", pass_rate=p, logit_sensitivity=2)


def _log_size(size, push, d):
    """Log density of |s| up to a constant, s = push * u + z with u uniform on the sphere of d dimensions."""
    x = size * push
    return x - push**2 / 2 + np.log(special.ive(d / 2 - 1, x)) - (d / 2 - 1) * np.log(x)


@pytest.mark.parametrize("d", [50, 400])
def test_bits_do_not_depend_on_the_number_of_unknown_directions(d):
    """I(u; r | s) = I(r; s | u) - I(r; s) by its definition: the Gaussian channel, less what the length of s tells."""
    rng = np.random.default_rng(11)
    draws, delta, p = 200_000, 1.0, 0.3
    reward = rng.random(draws) < p
    along = (reward - p) * delta + rng.standard_normal(draws)
    size = np.sqrt(along**2 + rng.chisquare(d - 1, draws))
    right, wrong = stats.norm.pdf(along, (1 - p) * delta), stats.norm.pdf(along, -p * delta)
    told = np.log2(np.where(reward, right, wrong) / (p * right + (1 - p) * wrong))
    right, wrong = _log_size(size, (1 - p) * delta, d), _log_size(size, p * delta, d)
    mixed = np.logaddexp(right + math.log(p), wrong + math.log(1 - p))
    given_away = (np.where(reward, right, wrong) - mixed) / math.log(2)
    bits = told - given_away
    found = float(eq("score_information", pass_rate=p, logit_sensitivity=delta))
    assert given_away.mean() < 0.01 * found
    assert bits.mean() == pytest.approx(found, abs=0.01 * found + 4 * bits.std() / math.sqrt(draws))


# --- cost of a token -------------------------------------------------------------------------------------------------


def test_an_rl_token_costs_more_by_flops_and_more_still_by_time():
    room = Model(
        [
            information.rl_flops_equation,
            information.pretraining_flops_equation,
            information.flops_ratio_equation,
            information.rl_time_equation,
            information.pretraining_time_equation,
            information.time_ratio_equation,
        ]
    )
    given = dict(backward_passes=3, scoring_passes=np.array([0, 2]), decode_mfu=np.array([[0.05], [0.02]]),
                 train_mfu=0.4, pretraining_mfu=0.4, **WORK)  # fmt: skip
    made = room.solve(given)
    assert made["flops_ratio_per_token"] == pytest.approx([8 / 6, 12 / 6])
    assert made["gpu_time_ratio_per_token"][:, 0] == pytest.approx([3.667, 7.667], abs=5e-4)
    same = room.solve(given | {"decode_mfu": 0.4})  # at one utilisation time follows FLOPs
    assert same["gpu_time_ratio_per_token"] == pytest.approx(same["flops_ratio_per_token"])


# --- the ladder ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [HOFFMANN, BESIROGLU])
def test_areas_of_the_loss_curve(law):
    """Both definitions of what is learned are areas under the curve of the loss, integrated numerically."""
    tokens = CHINCHILLA["pretraining_tokens"]
    loss = lambda d: float(eq("loss_bits_per_token", **(CHINCHILLA | law | {"pretraining_tokens": d})))  # noqa: E731
    area = integrate.quad(lambda x: loss(math.exp(x)) * math.exp(x), -40, math.log(tokens), limit=400)[0] / tokens
    assert area - loss(tokens) == pytest.approx(float(eq("learned_bits_per_token", **(CHINCHILLA | law))), rel=1e-6)
    assert area - loss(math.inf) == pytest.approx(
        float(eq("learned_limit_bits_per_token", **(CHINCHILLA | law))), rel=1e-6
    )


def test_per_parameter():
    per = CHINCHILLA["pretraining_tokens"] / CHINCHILLA["total_parameters"]
    names = ("learned_bits_per_token", "learned_limit_bits_per_token")
    assert [float(eq(n, **(CHINCHILLA | HOFFMANN))) * per for n in names] == pytest.approx([1.83, 6.54], abs=5e-3)
    assert [float(eq(n, **(CHINCHILLA | BESIROGLU))) * per for n in names] == pytest.approx([1.25, 3.42], abs=5e-3)
    big = {"total_parameters": 8e9, "pretraining_tokens": 15e12}
    values = [float(eq(n, **(big | law))) * 15e12 / 8e9 for n in names for law in (HOFFMANN, BESIROGLU)]
    assert values == pytest.approx([88, 49, 316, 135], abs=0.5)


def test_the_ladder_descends_and_its_parts_add_up():
    given = CHINCHILLA | HOFFMANN
    loss, reducible = (float(eq(n, **given)) for n in ("loss_bits_per_token", "reducible_bits_per_token"))
    assert loss - reducible == pytest.approx(1.69 / math.log(2), rel=1e-12)
    assert reducible / loss == pytest.approx(0.127, abs=5e-4)
    limit, final = (float(eq(n, **given)) for n in ("learned_limit_bits_per_token", "learned_bits_per_token"))
    assert 16.6 > loss > reducible > limit > final > 0
    assert limit / final == pytest.approx(1 / 0.28, rel=1e-12)


def test_ceiling_over_ceiling():
    loss = float(eq("loss_bits_per_token", **(CHINCHILLA | HOFFMANN)))
    ratio = eq("ceiling_ratio", loss_bits_per_token=loss, response_tokens=[1e3, 1e4, 1e6], bits_per_rollout=1)
    assert ratio == pytest.approx([2.79e3, 2.79e4, 2.79e6], rel=2e-3)


# --- supply and demand -----------------------------------------------------------------------------------------------


def test_divergence_by_its_definition():
    rng = np.random.default_rng(3)
    p, q = rng.uniform(0.01, 0.99, (2, 50))
    expected = [stats.entropy([a, 1 - a], [b, 1 - b], base=2) for a, b in zip(p, q, strict=True)]
    assert binary_divergence(p, q) == pytest.approx(expected, rel=1e-10)
    assert binary_divergence(0.3, 0.3) == pytest.approx(0, abs=1e-15)


def test_fewest_rollouts_by_small_steps():
    """Walk up the path: each small part of a rollout pays its share of H at the pass rate reached so far."""
    for start in (0.05, 1 / 1024):
        p, spent, part = start, 0.0, 1e-3
        while p < 0.5:
            slope = math.log2(p * (1 - start) / (start * (1 - p)))
            if slope == 0:  # the first step: demand grows as the square
                p += math.sqrt(2 * math.log(2) * part * float(binary_entropy(p)) * p * (1 - p))
            else:
                p += part * float(binary_entropy(p)) / slope
            spent += part
        found = float(eq("fewest_rollouts", start_pass_rate=start, target_pass_rate=0.5))
        assert spent == pytest.approx(found, rel=0.02)


def test_fewest_rollouts_grow_little_faster_than_the_logarithm_of_the_wait():
    """When ln(1/p_0) doubles, they more than double (by a loglog), while the wait is squared."""
    start = np.array([1e-2, 1e-4, 1e-8])
    fewest = eq("fewest_rollouts", start_pass_rate=start, target_pass_rate=0.5)
    rate = lambda p, p0: math.log2(p * (1 - p0) / (p0 * (1 - p))) / float(binary_entropy(p))  # noqa: E731
    exact = [
        integrate.quad(lambda x, p0=p0: rate(math.exp(x), p0) * math.exp(x), math.log(p0), math.log(0.5))[0]
        for p0 in start
    ]
    assert fewest == pytest.approx(exact, rel=1e-8)
    assert 2 < fewest[2] / fewest[1] < fewest[1] / fewest[0] < 4
    assert np.all(fewest[1:] < 1e-2 / start[1:])
    with pytest.raises(RleconError, match="one half"):
        eq("fewest_rollouts", start_pass_rate=0.1, target_pass_rate=0.9)
    with pytest.raises(RleconError, match="below the start"):
        eq("fewest_rollouts", start_pass_rate=0.3, target_pass_rate=0.2)


def test_elimination_supplies_the_logarithm_and_never_less_than_the_demand():
    for arms in (2, 3, 100, 1024):
        supplied, success, demanded = elimination(arms)
        assert supplied[-1] == pytest.approx(math.log2(arms), rel=1e-12)
        assert np.all(demanded <= supplied + 1e-12)
        assert success[-1] == 1 and demanded[-1] == pytest.approx(math.log2(arms), rel=1e-12)
    supplied, _, demanded = elimination(1024)
    assert [supplied[512], demanded[512]] == pytest.approx([5.50, 4.01], abs=5e-3)
    assert [supplied[900], demanded[900]] == pytest.approx([9.16, 8.27], abs=5e-3)
    assert supplied[512] / demanded[512] == pytest.approx(1.37, abs=5e-3)
    assert supplied[900] / demanded[900] == pytest.approx(1.11, abs=5e-3)


def test_elimination_against_the_exact_posterior():
    """Follow the posterior of a small bandit arm by arm: entropy lost, and success of the best guess."""
    arms = 7
    supplied, success, _ = elimination(arms)
    for trials in range(arms):
        entropy = won = 0.0
        for winner in range(arms):
            alive = [winner] if winner < trials else list(range(trials, arms))
            entropy += math.log2(len(alive)) / arms
            won += (1 / len(alive)) / arms
        assert math.log2(arms) - entropy == pytest.approx(supplied[trials], abs=1e-12)
        assert won == pytest.approx(success[trials], abs=1e-12)


def test_twenty_questions():
    supplied, success, demanded = halving(20)
    assert supplied[-1] == 20 == pytest.approx(demanded[-1])
    assert np.all(demanded <= supplied + 1e-12) and success[-1] == 1
    for bad in (0, 2.5):
        with pytest.raises(RleconError, match="too few questions"):
            halving(bad)
    with pytest.raises(RleconError, match="too few arms"):
        elimination(1)


def test_bits_were_not_what_a_published_run_lacked():
    """R1-Zero: 10,400 steps of 512 rollouts against 208,000 prompts that move as its benchmark did."""
    offered, demanded = 10_400 * 512, 208_000 * float(binary_divergence(0.779, 0.156))
    assert offered == 5_324_800
    assert demanded == pytest.approx(2.87e5, rel=2e-3)
    low = offered * float(binary_entropy(0.156)) / demanded
    assert (low, offered / demanded) == (pytest.approx(11.6, abs=0.1), pytest.approx(18.5, abs=0.1))


# --- a wrong formula is noticed --------------------------------------------------------------------------------------


def test_a_wrong_formula_is_rejected():
    """Bits of successes alone, p log2(1/p), passed off as the entropy: the table above must refuse it."""
    p = vocabulary.pass_rate
    wins = -vocabulary.one_bit * p * sp.log(p) / sp.log(2)
    wrong = Model([Equation(vocabulary.entropy_bits, wins, "wrong", name="wrong")])
    del EQUATIONS["wrong"]
    misses = [
        abs(float(wrong.solve(values)["entropy_bits"]) - value) > tolerance
        for name, values, value, tolerance in KNOWN
        if name == "entropy_bits"
    ]
    assert all(misses)


@pytest.mark.parametrize("equation", topic(), ids=lambda e: e.name)
def test_slips_are_caught(equation):
    """A flipped sign, a dropped term, a factor of 1.1, a swapped unit: caught by units or by the values above."""
    values = [case[1:] for case in KNOWN if case[0] == equation.name]
    missed, made = [], 0
    for words, right in mutants(equation.right):
        made += 1
        try:
            units.check(equation.left, right)
        except RleconError:
            continue
        changed = copy.copy(equation)
        changed.right = right
        changed.__dict__.pop("_alone", None)
        room = Model([changed])
        if all(abs(float(room.solve(v, check=False)[equation.left.name]) - x) <= t for v, x, t in values):
            missed.append(words)
    assert made and not missed


def test_joint_table_is_checked():
    for bad in ([[0.5, 0.6]], [[-0.1, 1.1]], [0.5, 0.5], [[float("nan"), 1.0]]):
        with pytest.raises(RleconError, match="joint"):
            mutual_information(bad)


def test_kept_groups_can_hold_more_than_their_number_times_the_entropy():
    """Under dynamic sampling only the rewards of all groups, not those of the kept ones, bound what is told."""
    p, size = 0.05, 8
    mixed = 1 - p**size - (1 - p) ** size
    told = 0.0  # entropy of the rewards of a group that is known to be mixed, by listing
    for right in range(1, size):
        chance = p**right * (1 - p) ** (size - right) / mixed
        told -= math.comb(size, right) * chance * math.log2(chance)
    each = float(information.entropy_equation(pass_rate=p))
    step = {"bits_per_rollout": each, "rollouts": size, "oversampling": 1 / mixed}
    assert told > float(information.step_equation(**step, dynamic_sampling=0))
    assert told < float(information.step_equation(**step, dynamic_sampling=1))

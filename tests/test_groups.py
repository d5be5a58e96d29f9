"""Groups: the U-statistic, the two-stage law, objective weights, filtering, allocation, and difficulty from a log."""

import itertools

import numpy as np
import pytest
import sympy as sp

from rlecon import groups as g
from rlecon.errors import RleconError


@pytest.mark.parametrize("size", [2, 3, 5])
def test_leave_one_out_is_the_average_over_pairs(size):
    r, s = sp.symbols(f"r:{size}"), sp.symbols(f"s:{size}")
    left = sum((r[i] - (sum(r) - r[i]) / sp.Integer(size - 1)) * s[i] for i in range(size)) / size
    pairs = list(itertools.combinations(range(size), 2))
    right = sum((r[i] - r[j]) * (s[i] - s[j]) / 2 for i, j in pairs) / len(pairs)
    assert sp.expand(left - right) == 0


def leave_one_out(reward):
    size = reward.shape[-1]
    return (reward - reward.mean(axis=-1, keepdims=True)) * size / (size - 1)


@pytest.mark.parametrize("size", [2, 4, 16])
def test_variance_of_a_group_in_the_score_model(size):
    rng = np.random.default_rng(size)
    p, repeats = 0.2, 100_000
    advantage = leave_one_out((rng.random((repeats, size)) < p).astype(float))
    gradient = (advantage * rng.standard_normal((repeats, size))).mean(axis=1)
    want = g.group_variance_equation(pass_rate=p, group_size=size)
    error = np.sqrt((gradient**2).var() / repeats)
    assert abs((gradient**2).mean() - want) < 4 * error
    assert abs((gradient**2).mean() - p * (1 - p) / size) > 4 * error  # the variance of a plain mean is wrong


def test_pairs_against_sixteen():
    assert g.equal_prompts_equation(group_size=2) / g.equal_prompts_equation(group_size=16) == pytest.approx(15)
    worse = g.equal_rollouts_equation(group_size=2) / g.equal_rollouts_equation(group_size=16)
    assert worse == pytest.approx(1.875)
    with pytest.raises(RleconError, match="nothing to compare"):
        g.equal_prompts_equation(group_size=1)


def test_two_stage_law_by_simulation_and_its_optimum():
    rng = np.random.default_rng(1)
    between, within, prompts, size, repeats = 0.3, 1.0, 8, 4, 60_000
    means = between * rng.standard_normal((repeats, prompts))
    noise = within / np.sqrt(size - 1) * rng.standard_normal((repeats, prompts))
    got = (means + noise).mean(axis=1).var()
    law = {"between_prompt_sd": between, "within_prompt_sd": within, "group_size": size}
    want = g.two_stage_equation(rollouts=prompts * size, **law)
    assert got == pytest.approx(want, rel=4 * np.sqrt(2 / repeats))
    few = g.finite_equation(prompts_per_step=prompts, tasks=prompts, **law)
    assert few == pytest.approx(within**2 / (prompts * (size - 1)))  # every prompt seen: nothing between them is left
    many = g.finite_equation(prompts_per_step=prompts, tasks=10**9, **law)
    assert many == pytest.approx(want, rel=1e-6)
    with pytest.raises(RleconError, match="cannot be drawn"):
        g.finite_equation(prompts_per_step=prompts, tasks=4, **law)


@pytest.mark.parametrize("ratio, visit, rollout", [(1.0, 0, 1), (4.5, 0, 1), (4.5, 2, 1), (2.4, 0.3, 0.01)])
def test_best_group_size_is_the_least_of_cost_times_variance(ratio, visit, rollout):
    G = sp.Symbol("G", positive=True)
    costs = {"usd_per_prompt_visit": visit, "usd_per_rollout": rollout}
    best = float(g.best_equation(noise_ratio=ratio, **costs))
    slope = sp.diff((visit + rollout * G) * (1 + ratio**2 / (G - 1)), G)
    assert float(slope.subs(G, best)) == pytest.approx(0, abs=1e-9)
    sizes = np.arange(2, 200)
    cost = g.variance_usd_equation(group_size=sizes, between_prompt_sd=1, within_prompt_sd=ratio, **costs)
    assert abs(sizes[np.argmin(cost)] - max(best, 2)) < 1


def test_one_ratio_gives_the_toy_of_all_pass_rates():
    """1.9 at one half reproduces the optima measured in the toy from p = .05 to .49."""
    for p, low, high in ((0.05, 5.2, 6.0), (0.15, 3.3, 3.8), (0.34, 2.8, 3.1), (0.49, 2.8, 3.0)):
        pq = p * (1 - p)
        ratio = g.ratio_equation(even_noise_ratio=1.9, pass_variance=pq, pass_variance_square=pq**2)
        assert low < g.best_equation(noise_ratio=ratio, usd_per_prompt_visit=0, usd_per_rollout=1) < high


# --- objective weights -----------------------------------------------------------------------------------------------
def test_weights_at_known_values_and_limits():
    sizes = np.array([2, 4, 8, 16, 32])
    rare = g.weight_equation(pass_rate=0.05, group_size=sizes)
    assert rare == pytest.approx([1, 1.71, 2.47, 3.27, 3.94], abs=0.005)
    even = g.weight_equation(pass_rate=0.5, group_size=sizes)
    assert rare / even == pytest.approx([1, 1.06, 1.33, 1.69, 2.00], abs=0.005)
    assert g.limit_weight_equation(pass_rate=0.05) == pytest.approx(4.59, abs=0.005)
    assert g.limit_weight_equation(pass_rate=0.05) / g.limit_weight_equation(pass_rate=0.5) == pytest.approx(
        2.29, abs=0.005
    )
    large = g.weight_equation(pass_rate=0.3, group_size=20_000)
    assert large == pytest.approx(g.limit_weight_equation(pass_rate=0.3), rel=1e-4)
    sample = g.sample_weight_equation(pass_rate=0.05, group_size=sizes)
    assert sample == pytest.approx([0.707, 1.48, 2.31, 3.16, 3.88], abs=0.005)
    assert g.maxrl_equation(pass_rate=0.05, group_size=16) == pytest.approx(11.2, abs=0.02)


@pytest.mark.parametrize("size", [2, 4, 16])
def test_weight_is_the_expected_gradient(size):
    """E[sum A_i s_i / G] with A divided by the group's deviation, in the score model, over Delta p q."""
    rng = np.random.default_rng(size + 100)
    p, repeats = 0.1, 200_000
    reward = (rng.random((repeats, size)) < p).astype(float)
    sd = reward.std(axis=1, keepdims=True)
    advantage = np.divide(reward - reward.mean(axis=1, keepdims=True), sd, out=np.zeros_like(reward), where=sd > 0)
    along = (advantage * (reward - p)).mean(axis=1)
    want = p * (1 - p) * g.weight_equation(pass_rate=p, group_size=size)
    assert abs(along.mean() - want) < 4 * along.std() / np.sqrt(repeats)


def test_beta_difficulty():
    spread = np.sqrt(0.3 * 0.7 / 2)
    assert g.mixed_share(0.3, spread, 16) == pytest.approx(0.619, abs=0.0005)
    assert 1 / g.mixed_share(0.3, spread, 16) == pytest.approx(1.62, abs=0.01)
    rng = np.random.default_rng(9)
    draws = rng.beta(0.3, 0.7, 400_000)
    pq = draws * (1 - draws)
    want = g.square_equation(beta_successes=0.3, beta_failures=0.7)
    assert abs((pq**2).mean() - want) < 4 * (pq**2).std() / np.sqrt(draws.size)


# --- difficulty from a log -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("a, b, size", [(0.3, 0.7, 16), (2, 3, 8), (1, 9, 4), (0.5, 0.5, 2)])
def test_difficulty_comes_back_from_a_simulated_log(a, b, size):
    rng = np.random.default_rng(10)
    groups, mean = 3000, a / (a + b)
    spread = np.sqrt(mean * (1 - mean) / (a + b + 1))
    inside = 0
    for _ in range(60):
        right = rng.binomial(size, rng.beta(a, b, groups))
        flat = np.mean((right == 0) | (right == size))
        found = g.difficulty_from_log(right.mean() / size, flat, size, groups=groups)
        inside += found.spread_low <= spread <= found.spread_high
    assert 60 * 0.6 <= inside <= 60  # 80 % nominal; the error of the mean is left out


def test_alike_prompts_have_no_spread():
    found = g.difficulty_from_log(0.5, 2 * 0.5**8, 8)
    assert found.spread == pytest.approx(0, abs=1e-6)
    assert found.pass_variance == pytest.approx(0.25)
    assert found.group_size == 3  # 1 + 1.9 = 2.9
    dear = g.difficulty_from_log(0.5, 2 * 0.5**8, 8, usd_per_prompt_visit=24, usd_per_rollout=1)
    assert dear.best_group_size == pytest.approx(1 + 1.9 * 5)
    best = min(found.table, key=lambda row: row["cost_times_variance"])
    assert best["group_size"] == found.group_size
    assert best["cost_times_variance"] == pytest.approx(1)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"mean_reward": -0.4, "zero_variance_share": 0.3, "group_size": 8}, "map rewards"),
        ({"mean_reward": 0.4, "zero_variance_share": 1.0, "group_size": 8}, "no mixed group"),
        ({"mean_reward": 0.0, "zero_variance_share": 0.5, "group_size": 8}, "no mixed group"),
        ({"mean_reward": 0.3, "zero_variance_share": 0.01, "group_size": 8, "groups": 10_000}, "fewer flat groups"),
        ({"mean_reward": 0.02, "zero_variance_share": 0.9, "group_size": 8, "groups": 30}, "cannot tell"),
        ({"mean_reward": 0.3, "zero_variance_share": 0.5, "group_size": 1}, "at least 2"),
    ],
)
def test_logs_that_cannot_tell_say_so(arguments, words):
    with pytest.raises(RleconError, match=words):
        g.difficulty_from_log(**arguments)


def test_a_published_log_is_less_mixed_than_alike_prompts_would_be():
    """Mean reward .1819 over 1,072 completions in pairs, 76.7 % of them flat: alike prompts would give 70.2 %."""
    found = g.difficulty_from_log(0.1819, 0.767, 2, groups=536)
    assert found.pass_variance == pytest.approx((1 - 0.767) / 2, abs=1e-6)  # pairs show E[pq] directly
    assert 0.1 < found.spread_low < found.spread < found.spread_high < 0.25
    mixed = {row["group_size"]: row["mixed_group_share"] for row in found.table}
    assert mixed[2] == pytest.approx(0.233, abs=1e-3)
    assert mixed[8] < 0.65 < 0.799  # the last is what one pass rate for all prompts promises


def test_square_by_spread_is_the_beta_one_and_knows_alike_prompts():
    for mean, spread in ((0.3, 0.2), (0.5, 0.4), (0.05, 0.1)):
        beta = g._TABLE.solve({"mean_pass_rate": mean, "pass_rate_spread": spread})
        given = {"mean_pass_rate": mean, "pass_rate_spread": spread, "pass_variance": beta["pass_variance"]}
        assert g.square_spread_equation(**given) == pytest.approx(beta["pass_variance_square"])
    alike = g.square_spread_equation(mean_pass_rate=0.3, pass_rate_spread=0, pass_variance=0.21)
    assert alike == pytest.approx(0.21**2)


@pytest.mark.parametrize("ratio, visit", [(1.9, 0), (4.5, 3.0)])
def test_cost_over_the_least(ratio, visit):
    costs = {"usd_per_prompt_visit": visit, "usd_per_rollout": 1.0}
    best = float(g.best_equation(noise_ratio=ratio, **costs))
    assert g.cost_equation(group_size=best, noise_ratio=ratio, **costs) == pytest.approx(1)
    sizes = np.linspace(1.05, 60, 400)
    over = g.cost_equation(group_size=sizes, noise_ratio=ratio, **costs)
    assert over.min() > 1 - 1e-9
    usd = g.variance_usd_equation(group_size=sizes, between_prompt_sd=1, within_prompt_sd=ratio, **costs)
    assert over / over[7] == pytest.approx(usd / usd[7])

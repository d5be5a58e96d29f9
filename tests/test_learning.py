"""Signal of a run: spread of difficulty, errors of the verifier, filtering, by simulation and at exact limits."""

import numpy as np
import pytest

from rlecon import RleconError, Run, bill, information, learning
from rlecon.equation import Model

MODEL = Model([*learning.EQUATIONS, information.observed_equation])


def solve(mean, spread=0.0, plus=0.0, minus=0.0, group=8, dynamic=0.0, oversampling=1.0):
    return MODEL.solve(
        {
            "mean_pass_rate": mean, "pass_rate_spread": spread, "false_positive_rate": plus,
            "false_negative_rate": minus, "group_size": group, "prompts_per_step": 100, "rollouts": 100 * group,
            "dynamic_sampling": dynamic, "oversampling": oversampling,
        }
    )  # fmt: skip


@pytest.mark.parametrize("a, b", [(0.3, 0.7), (2.0, 5.0)])
@pytest.mark.parametrize("plus, minus", [(0.0, 0.0), (0.05, 0.05), (0.2, 0.3)])
@pytest.mark.parametrize("group", [2, 8])
def test_mixed_groups_and_signal_by_simulation(a, b, plus, minus, group):
    rng = np.random.default_rng(int(100 * a) + group)
    n = 200_000
    mean, spread = a / (a + b), np.sqrt(a * b / (a + b + 1)) / (a + b)
    p = rng.beta(a, b, n)
    right = rng.random((n, group)) < p[:, None]
    seen = np.where(right, rng.random(right.shape) >= minus, rng.random(right.shape) < plus).astype(float)
    found = solve(mean, spread, plus, minus, group)
    mixed = seen.std(axis=1) > 0
    want = found["mixed_group_share"]
    assert abs(mixed.mean() - want) < 4 * np.sqrt(want * (1 - want) / n)
    advantage = (seen - seen.mean(axis=1, keepdims=True)) * group / (group - 1)
    along = (advantage * (right - p[:, None])).mean()  # gradients of all prompts aligned, in units of Delta
    per_group = group * along**2 / (advantage**2).mean()
    assert per_group == pytest.approx(found["signal_per_step"] / 100, rel=0.03)


def test_exact_limits():
    assert solve(0.3)["signal_per_step"] == pytest.approx(800 * 0.21 * 7 / 8)
    assert solve(0.3)["mixed_group_share"] == pytest.approx(1 - 0.3**8 - 0.7**8)
    near = solve(0.3, 1e-3)
    assert near["mixed_group_share"] == pytest.approx(solve(0.3)["mixed_group_share"], rel=1e-4)
    split = solve(0.3, np.sqrt(0.21))  # every prompt always or never solved
    assert split["mixed_group_share"] == pytest.approx(0, abs=1e-9)
    assert split["signal_per_step"] == 0
    noisy = solve(0.3, np.sqrt(0.21), 0.1, 0.2)  # mixed groups that hold errors only: they teach nothing
    want = 1 - 0.3 * (0.8**8 + 0.2**8) - 0.7 * (0.9**8 + 0.1**8)
    assert noisy["mixed_group_share"] == pytest.approx(want)
    assert noisy["signal_per_step"] == 0
    assert solve(0.0, plus=0.05)["signal_per_step"] == 0
    with pytest.raises(RleconError, match="at least as often as right"):
        solve(0.3, plus=0.6, minus=0.4)
    with pytest.raises(RleconError, match="more than pass rates"):
        solve(0.3, 0.47)


def test_errors_cost_signal_though_more_groups_are_mixed():
    """More mixed groups is not more signal: the wrong measure would call a bad verifier good."""
    clean, dirty = solve(0.05), solve(0.05, plus=0.05, minus=0.05)
    assert dirty["mixed_group_share"] > 1.5 * clean["mixed_group_share"]
    assert clean["signal_per_step"] / dirty["signal_per_step"] == pytest.approx(2.2346, abs=0.001)


def test_dynamic_sampling_fills_the_batch():
    plain, kept = solve(0.05), solve(0.05, dynamic=1, oversampling=10)
    assert kept["mixed_groups_per_step"] == pytest.approx(100)
    assert kept["signal_per_step"] / plain["signal_per_step"] == pytest.approx(1 / plain["mixed_group_share"])
    some = solve(0.05, dynamic=1, oversampling=2)
    assert some["mixed_groups_per_step"] == pytest.approx(2 * plain["mixed_groups_per_step"])


def test_the_bill_follows():
    run = Run(
        model={"name": "qwen3-8b"},
        hardware={"gpu": "h100-sxm", "gpus": 8, "usd_per_gpu_hour": 2.5},
        rollout={"prompts_per_step": 64, "group_size": 8, "response_tokens": 2000},
        reward={"pass_rate": 0.05, "false_positive_rate": 0.05, "false_negative_rate": 0.05},
    )
    made = bill(run)
    assert made["signal_per_step"] == pytest.approx(512 * 0.0475 * 7 / 8 / 2.2346, rel=1e-4)
    assert not any("false_positive" in line for line in made.not_modeled)
    many = bill(run.replace({"reward.pass_rate": np.linspace(0.01, 0.99, 50), "reward.pass_rate_spread": 0.05}))
    assert np.all(np.isfinite(many["mixed_group_share"]) & (many["mixed_group_share"] <= 1))

"""Clocks: derivatives, known ratios, limits, curves that saturate, and a run that follows its clock."""

import numpy as np
import pytest
import sympy as sp

from rlecon import clocks as c
from rlecon import vocabulary as v
from rlecon.equation import Model
from rlecon.errors import RleconError


@pytest.mark.parametrize("name", c.CLOCKS)
def test_a_clock_is_the_integral_of_its_shape(name):
    p = v.pass_rate
    slope = sp.diff(c.CLOCKS[name].right, p)
    assert sp.simplify(slope * p * (1 - p) * c.SHAPES[name].right - 1) == 0
    here = np.array([0.1, 0.5, 0.8])
    assert c.clock_slope(name, here) == pytest.approx([float(slope.subs(p, x)) for x in here])


def test_a_harder_start_costs_known_ratios():
    ratio = {n: (c.clock(n, 0.5) - c.clock(n, 0.02)) / (c.clock(n, 0.5) - c.clock(n, 0.3)) for n in c.CLOCKS}
    assert ratio["mean_success"] == pytest.approx(15.8, abs=0.05)
    assert ratio["grpo"] == pytest.approx(7.9, abs=0.05)
    assert ratio["log"] == pytest.approx(3.4, abs=0.05)
    assert c.clock("mean_success", 0.5) - c.clock("mean_success", 0.02) == pytest.approx(56.8, abs=0.05)


def test_clocks_of_finite_groups():
    p = np.array([0.05, 0.3, 0.6, 0.95])
    assert c.group_clock(p, 2) == pytest.approx(c.clock("mean_success", p), rel=1e-9)
    assert c.group_clock(p, 3000) == pytest.approx(c.clock("grpo", p), rel=2e-2)
    assert np.all(np.diff([c.group_clock(0.05, g) - c.group_clock(0.5, g) for g in (2, 4, 8, 16, 64)]) > 0)
    step = 1e-5
    slope = (c.group_clock(0.3 + step, 8) - c.group_clock(0.3 - step, 8)) / (2 * step)
    assert c.clock_slope("grpo", 0.3, group_size=8) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("name", c.CLOCKS)
def test_one_logit_follows_its_clock(name):
    """Expected ascent of a Bernoulli policy with a small step against (clock - clock) / drive."""
    logit, drive, steps = np.log(0.1 / 0.9), 0.002, 0
    while logit < np.log(0.5 / 0.5):
        p = 1 / (1 + np.exp(-logit))
        logit += drive * float(c.SHAPES[name](pass_rate=p))
        steps += 1
    want = c.steps_equation(start_clock=c.clock(name, 0.1), target_clock=c.clock(name, 0.5), drive=drive)
    assert steps == pytest.approx(want, rel=0.003)
    if name != "constant":
        wrong = c.steps_equation(
            start_clock=c.clock("constant", 0.1), target_clock=c.clock("constant", 0.5), drive=drive
        )
        assert steps != pytest.approx(wrong, rel=0.2)


def test_a_sampled_policy_follows_the_mean_success_clock():
    """Leave-one-out policy gradient on one logit, 256 rollouts a step."""
    rng = np.random.default_rng(1)
    steps = []
    for _ in range(20):
        logit, count = np.log(0.1 / 0.9), 0
        while logit < 0:
            p = 1 / (1 + np.exp(-logit))
            right = rng.random(256) < p
            advantage = (right - right.mean()) * 256 / 255
            logit += 0.05 * np.mean(advantage * (right - p))
            count += 1
        steps.append(count)
    want = (c.clock("mean_success", 0.5) - c.clock("mean_success", 0.1)) / 0.05
    assert np.mean(steps) == pytest.approx(want, rel=0.05)


def test_a_ceiling_is_a_share_of_prompts():
    assert c.clock("grpo", 0.3, ceiling=0.6) == pytest.approx(c.clock("grpo", 0.5))
    for bad in (0.6, 0.7, 0.0):
        with pytest.raises(RleconError, match="ceiling of 0.6"):
            c.clock("grpo", bad, ceiling=0.6)
    with pytest.raises(RleconError, match="mean_success, grpo"):
        c.clock("ppo", 0.3)


def test_steps_that_a_pilot_needs():
    def enough(p, delta, prompts, group, spread):
        pq = p * (1 - p)
        values = {
            "pass_variance": pq - spread**2, "pass_rate_spread": spread, "prompts_per_step": prompts,
            "group_size": group, "normal_deviate": 1.2816, "prompt_variance": pq, "logit_per_step": delta,
        }  # fmt: skip
        return Model([c.enough_equation, c.reward_variance_equation]).solve(values)["pilot_steps"]

    half = lambda p: np.sqrt(p * (1 - p) / 2)  # noqa: E731
    assert enough(0.23, 4.4e-3, 64, 8, 0.0) == pytest.approx(22, abs=0.6)
    assert enough(0.23, 4.4e-3, 64, 8, half(0.23)) == pytest.approx(37, abs=0.6)
    assert enough(0.156, 2.8e-4, 32, 16, 0.0) == pytest.approx(154, abs=2)
    assert enough(0.156, 2.8e-4, 32, 16, half(0.156)) == pytest.approx(314, abs=3)


def test_the_variance_of_a_mean_reward_by_simulation():
    rng = np.random.default_rng(2)
    a, b = 0.6, 1.4
    p = rng.beta(a, b, (20_000, 16))
    rewards = rng.binomial(4, p).mean(axis=1) / 4
    mean, spread = 0.3, np.sqrt(0.3 * 0.7 / 3)
    want = c.reward_variance_equation(
        pass_variance=mean * (1 - mean) - spread**2, pass_rate_spread=spread, prompts_per_step=16, group_size=4
    )
    assert rewards.var() == pytest.approx(want, rel=4 * np.sqrt(2 / 20_000))


# --- curves that saturate --------------------------------------------------------------------------------------------
def test_saturating_curves_at_known_values():
    assert c.compute_ratio_equation(gain_fraction=0.9, scaling_exponent=1.7) == pytest.approx(3.6, abs=0.05)
    assert c.compute_ratio_equation(gain_fraction=0.9, scaling_exponent=1.09) == pytest.approx(7.5, abs=0.05)
    model = Model([c.slope_equation, c.accuracy_equation])
    for start, known in ((0.1, 0.99), (0.3, 0.59)):
        values = {"scaling_exponent": 1.7, "asymptotic_pass_rate": 0.645, "start_pass_rate": start}
        got = model.solve(values)["accuracy_exponent"]
        assert got == pytest.approx(known, abs=0.005)
    assert c.accuracy_exponent_between(0.33, 0.66, 100) == pytest.approx(0.298, abs=0.001)
    assert c.accuracy_exponent_between(0.2, 0.8, 100) == pytest.approx(0.602, abs=0.001)


def test_curve_and_inverse_agree():
    curve = {"start_pass_rate": 0.2, "asymptotic_pass_rate": 0.645, "scaling_exponent": 1.7}
    model = Model([c.fraction_equation, c.compute_equation])
    hours = model.solve({**curve, "target_pass_rate": 0.5, "half_gain_gpu_hours": 1e4})["compute_gpu_hours"]
    back = c.curve_equation(**curve, half_gain_gpu_hours=1e4, compute_gpu_hours=hours)
    assert back == pytest.approx(0.5)
    step = 1.0001
    up, down = (c.curve_equation(**curve, half_gain_gpu_hours=1e4, compute_gpu_hours=1e4 * f) for f in (step, 1 / step))
    slope = c.slope_equation(scaling_exponent=1.7, asymptotic_pass_rate=0.645, start_pass_rate=0.2)
    assert (up - down) / (2 * np.log(step)) == pytest.approx(slope, rel=1e-6)
    with pytest.raises(RleconError, match="never reaches"):
        model.solve({**curve, "target_pass_rate": 0.7, "half_gain_gpu_hours": 1e4})


def test_units():
    for equation in (*c.CLOCKS.values(), *c.SHAPES.values(), *vars(c).values()):
        if isinstance(equation, c.Equation):
            equation.check_units()


# --- two starting points ---------------------------------------------------------------------------------------------
def test_a_stronger_start_by_purchase():
    want = [15, 10.7, 6.23, 3.61, 15.77, 7.86, 3.43]
    assert c.start_readings() == pytest.approx(want, rel=0.004)
    pairs = c.steps_ratio("grpo", 0.02, 0.3, 0.5, group_size=2)
    assert pairs == pytest.approx(c.steps_ratio("mean_success", 0.02, 0.3, 0.5))
    large = c.steps_ratio("grpo", 0.02, 0.3, 0.5, group_size=4096)
    assert large == pytest.approx(c.steps_ratio("grpo", 0.02, 0.3, 0.5), rel=0.02)
    assert c.steps_ratio("log", 0.3, 0.3, 0.5) == 1
    with pytest.raises(RleconError, match="above both"):
        c.steps_ratio("log", 0.02, 0.3, 0.3)

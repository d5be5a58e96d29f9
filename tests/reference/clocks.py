"""Steps to a target: drifts as slopes of objectives, clocks as integrals, curves by their inverse."""

from __future__ import annotations

import math

from tests.reference.core import integral, refuse_unless, root


def logit(p):
    refuse_unless(0 < p < 1)
    return -math.log(1 / p - 1)


SLOPES = {  # dJ/dp of each objective; the logit drifts by dJ/dlogit = dJ/dp p q
    "mean_success": lambda p: 1.0,
    "grpo": lambda p: 1 / math.sqrt(p * (1 - p)),  # 2 arcsin sqrt(p)
    "log": lambda p: 1 / p,
    "constant": lambda p: 1 / (p * (1 - p)),  # the logit itself
}


def _drift(objective, p):
    return SLOPES[objective](p) * p * (1 - p) if 0 < p < 1 else {"constant": 1.0, "log": 1 - p}.get(objective, 0.0)


def _clock(objective, p, at_half=0.0):
    """Integral of dp/(p q g) from one half, where the clock's free constant is fixed."""
    refuse_unless(0 < p < 1)
    return at_half + integral(lambda x: 1 / (x * (1 - x) * _drift(objective, x)), 0.5, p)


def steps_to_target(start_clock, target_clock, drive):
    refuse_unless(target_clock > start_clock)
    return (target_clock - start_clock) / drive


def drive(logit_per_step, drift_shape):
    refuse_unless(drift_shape > 0)
    return logit_per_step / drift_shape


def _reached(objective):
    """Time to walk from start to target when dp/dt = p q lambda g(p), lambda set by the drift of the logit at first."""

    def steps(start_pass_rate, target_pass_rate, logit_per_step):
        refuse_unless(0 < start_pass_rate < target_pass_rate < 1 and logit_per_step > 0)
        first = _drift(objective, start_pass_rate)
        pace = lambda x: logit_per_step * x * (1 - x) * _drift(objective, x) / first  # noqa: E731
        return integral(lambda x: 1 / pace(x), start_pass_rate, target_pass_rate)

    return steps


def _of_steps(which):
    return lambda steps_if_mean, steps_if_grpo, steps_if_log, steps_if_even: sorted(
        (steps_if_mean, steps_if_grpo, steps_if_log, steps_if_even)
    )[which]


def pilot_steps(logit_per_step, prompt_variance, mean_reward_variance, normal_deviate):
    """Least squares through t even points of variance V: the slope has variance V / sum (i - mean)^2 = 12 V / t^3."""
    slope = prompt_variance * logit_per_step
    refuse_unless(slope > 0)
    return root(lambda t: math.log(normal_deviate * math.sqrt(12 * mean_reward_variance / t**3) / slope), 1e-9, 1e9)


def gain_fraction(start_pass_rate, target_pass_rate, asymptotic_pass_rate):
    refuse_unless(target_pass_rate < asymptotic_pass_rate)
    return (target_pass_rate - start_pass_rate) / (asymptotic_pass_rate - start_pass_rate)


def _where(gain_fraction, scaling_exponent, half):
    """Compute (or steps) at which the curve 1 / (1 + (half/x)^zeta) has the given value."""
    at = root(lambda x: 1 / (1 + math.exp(-x * scaling_exponent)) - gain_fraction, -60, 60)
    return half * math.exp(at)


def saturating_curve(
    start_pass_rate, asymptotic_pass_rate, half_gain_gpu_hours, compute_gpu_hours, scaling_exponent
):
    past, before = compute_gpu_hours**scaling_exponent, half_gain_gpu_hours**scaling_exponent
    return (start_pass_rate * before + asymptotic_pass_rate * past) / (before + past)


REFERENCE = {
    "pass_logit": lambda pass_rate: logit(pass_rate),
    "drift_mean_success": lambda pass_rate: _drift("mean_success", pass_rate),
    "drift_grpo": lambda pass_rate: _drift("grpo", pass_rate),
    "drift_log": lambda pass_rate: _drift("log", pass_rate),
    "drift_constant": lambda: _drift("constant", 0.3),
    "clock_mean_success": lambda pass_rate: _clock("mean_success", pass_rate),
    "clock_grpo": lambda pass_rate: _clock("grpo", pass_rate),
    "clock_log": lambda pass_rate: _clock("log", pass_rate, at_half=2.0),
    "clock_constant": lambda pass_rate: _clock("constant", pass_rate),
    "steps_to_target": steps_to_target,
    "drive": drive,
    "steps_if_mean": _reached("mean_success"),
    "steps_if_grpo": _reached("grpo"),
    "steps_if_log": _reached("log"),
    "steps_if_even": _reached("constant"),
    "fewest_target_steps": _of_steps(0),
    "most_target_steps": _of_steps(-1),
    "target_usd_low": lambda fewest_target_steps, usd_per_step: fewest_target_steps * usd_per_step,
    "target_usd_high": lambda most_target_steps, usd_per_step: most_target_steps * usd_per_step,
    "pilot_steps": pilot_steps,
    "mean_reward_variance": lambda pass_variance, prompts_per_step, group_size, pass_rate_spread: (
        (pass_variance / group_size + pass_rate_spread**2) / prompts_per_step
    ),
    "gain_fraction": gain_fraction,
    "steps_saturating": lambda gain_fraction, scaling_exponent, half_gain_steps: _where(
        gain_fraction, scaling_exponent, half_gain_steps
    ),
    "compute_saturating": lambda gain_fraction, scaling_exponent, half_gain_gpu_hours: _where(
        gain_fraction, scaling_exponent, half_gain_gpu_hours
    ),
    "compute_ratio": lambda gain_fraction, scaling_exponent: _where(gain_fraction, scaling_exponent, 1.0),
    "saturating_curve": saturating_curve,
    "midpoint_slope": lambda scaling_exponent, start_pass_rate, asymptotic_pass_rate: (
        scaling_exponent * 0.5 * (1 - 0.5) * (asymptotic_pass_rate - start_pass_rate)
    ),
    "accuracy_exponent": lambda midpoint_slope, start_pass_rate, asymptotic_pass_rate: (
        midpoint_slope * 4 / ((start_pass_rate + asymptotic_pass_rate) * (2 - start_pass_rate - asymptotic_pass_rate))
    ),
}

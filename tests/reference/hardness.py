"""What a hard task costs: waits as sums over tries, signal as sums over outcomes."""

from __future__ import annotations

import math

from tests.reference.core import mixed, normal, refuse_unless


def rollouts_to_both(pass_rate):
    """Sum over n of the chance that n rollouts have not shown both outcomes."""
    refuse_unless(0 < pass_rate < 1)
    total, n = 1.0, 1
    while True:
        term = pass_rate**n + (1 - pass_rate) ** n
        total, n = total + term, n + 1
        if term < 1e-17:
            return total


def _straight(rate, confidence):
    """n with rate^n = 1 - confidence."""
    return math.log(1 - confidence, rate)


def rollouts_to_sure_success(pass_rate, confidence):
    refuse_unless(0 < pass_rate < 1)
    return _straight(1 - pass_rate, confidence)


def rollouts_to_certify(pass_rate, confidence):
    refuse_unless(0 < pass_rate < 1)
    return _straight(pass_rate, confidence)


def rollouts_per_mixed_group(group_size, mixed_group_share):
    refuse_unless(mixed_group_share > 0)
    return group_size / mixed_group_share


def rollouts_per_signal(pass_rate, group_size):
    """Gradient squared over its variance in one group of G: (pq)^2 (G-1)/(pq), shared by its rollouts."""
    refuse_unless(group_size > 1 and 0 < pass_rate < 1)
    variance = pass_rate * (1 - pass_rate)
    group = variance**2 / (variance / (group_size - 1))
    return group_size / group


def pass_odds(pass_rate):
    refuse_unless(pass_rate < 1)
    return pass_rate / (1 - pass_rate)


def snr(pass_rate, logit_sensitivity, score_dimension, right, wrong):
    """Score Delta (r - p) u + noise of unit variance per dimension; ``right`` and ``wrong`` are the advantages."""
    p = pass_rate
    gradient = logit_sensitivity * (p * right * (1 - p) + (1 - p) * wrong * (0 - p))
    noise = p * right**2 + (1 - p) * wrong**2
    return gradient**2 / (noise * score_dimension) if noise else 0.0


def threshold_information(pass_rate):
    """A normal skill must pass a threshold: dp/dskill is the density there; information is its square over p q."""
    refuse_unless(0 < pass_rate < 1)
    return normal.pdf(normal.inv_cdf(pass_rate)) ** 2 / (pass_rate * (1 - pass_rate))


def _best_step(gradient_square, noise, curvature):
    """Gain eta g^2 - eta^2 curv noise / 2 of the best step size."""
    if gradient_square == 0 or math.isinf(noise):
        return 0.0
    eta = gradient_square / (curvature * noise)
    return eta * gradient_square - eta**2 * curvature * noise / 2


def _noise_limited(rollouts, pass_rate, logit_sensitivity, score_dimension):
    signal = rollouts * snr(pass_rate, logit_sensitivity, score_dimension, 1 - pass_rate, -pass_rate)
    refuse_unless(signal <= 1)


def step_gain(pass_rate, rollouts, logit_sensitivity, curvature, score_dimension):
    _noise_limited(rollouts, pass_rate, logit_sensitivity, score_dimension)
    variance = pass_rate * (1 - pass_rate)
    return _best_step((variance * logit_sensitivity) ** 2, variance * score_dimension / rollouts, curvature)


def log_step_gain(pass_rate, rollouts, logit_sensitivity, curvature, score_dimension):
    """The same with gradient and noise of ln p: divided by p and by p^2."""
    _noise_limited(rollouts, pass_rate, logit_sensitivity, score_dimension)
    p, variance = pass_rate, pass_rate * (1 - pass_rate)
    gradient = variance * logit_sensitivity / p if p else logit_sensitivity
    noise = variance * score_dimension / rollouts / p**2 if p else math.inf
    return _best_step(gradient**2, noise, curvature)


def step_gain_full(pass_rate, rollouts, logit_sensitivity, score_dimension):
    """Gain eta g.g - eta^2 E[estimate' F estimate] / 2 of the best step: a KL penalty with the Fisher matrix F.

    F is 1 in every direction and 1 + p q Delta^2 along the gradient, in which the estimate has its mean.
    """
    variance = pass_rate * (1 - pass_rate)
    gradient_square = (variance * logit_sensitivity) ** 2
    if gradient_square == 0:
        return 0.0
    along = gradient_square * (1 + variance * logit_sensitivity**2)
    return _best_step(gradient_square, along + variance * score_dimension / rollouts, curvature=1.0)


REFERENCE = {
    "step_gain_full": step_gain_full,
    "rollouts_per_success": lambda pass_rate: 1 / pass_rate,
    "rollouts_to_sure_success": rollouts_to_sure_success,
    "rollouts_to_both": rollouts_to_both,
    "rollouts_to_certify": rollouts_to_certify,
    "mixed_group_share_alike": lambda pass_rate, group_size: mixed(int(group_size), pass_rate),
    "rollouts_per_mixed_group": rollouts_per_mixed_group,
    "rollouts_per_signal": rollouts_per_signal,
    "prompt_variance": lambda pass_rate: pass_rate * (1 - pass_rate) ** 2 + (1 - pass_rate) * pass_rate**2,
    "reward_sd": lambda pass_rate: math.sqrt(pass_rate - pass_rate**2),
    "pass_odds": pass_odds,
    "snr_baseline": lambda pass_rate, logit_sensitivity, score_dimension: snr(
        pass_rate, logit_sensitivity, score_dimension, 1 - pass_rate, -pass_rate
    ),
    "snr_zero_one": lambda pass_rate, logit_sensitivity, score_dimension: snr(
        pass_rate, logit_sensitivity, score_dimension, 1, 0
    ),
    "snr_plus_minus": lambda pass_rate, logit_sensitivity, score_dimension: snr(
        pass_rate, logit_sensitivity, score_dimension, 1, -1
    ),
    "threshold_information": threshold_information,
    "step_gain": step_gain,
    "log_step_gain": log_step_gain,
    "curvature_kl": lambda: 1.0,
    "curvature_objective": lambda pass_rate: pass_rate - pass_rate**2,
}

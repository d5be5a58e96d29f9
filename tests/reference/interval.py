"""Residuals of the phases that a step waits for, and the ends of an 80 % interval."""

from __future__ import annotations

import math

from tests.reference.core import normal

Z = normal.inv_cdf(0.9)  # leaves 10 % on either side


def step_log_sd(
    concurrent_streams,
    generation_stream_seconds,
    training_stream_seconds,
    rollout_seconds,
    weight_sync_seconds,
    reward_seconds,
    step_seconds,
    rollout_log_sd,
    update_log_sd,
    moving_log_sd,
    framework_log_sd,
    length_log_sd,
):
    waits = {"rollout": rollout_seconds, "training": training_stream_seconds}
    if concurrent_streams:
        waits["rollout" if generation_stream_seconds < training_stream_seconds else "training"] = 0.0
    errors = (
        waits["rollout"] / step_seconds * rollout_log_sd,
        waits["training"] / step_seconds * update_log_sd,
        (weight_sync_seconds + reward_seconds) / step_seconds * moving_log_sd,
        framework_log_sd,
        length_log_sd,
    )
    return math.hypot(*errors)


def _money(step_log_sd, price_log_sd, gpu_usd_per_step, usd_per_step):
    rent = gpu_usd_per_step / usd_per_step if usd_per_step else 0.0
    return Z * math.hypot(step_log_sd, price_log_sd * rent)


REFERENCE = {
    "step_log_sd": step_log_sd,
    "time_low_factor": lambda step_log_sd: math.exp(-Z * step_log_sd),
    "time_high_factor": lambda step_log_sd: math.exp(Z * step_log_sd),
    "usd_low_factor": lambda step_log_sd, price_low_log_sd, gpu_usd_per_step, usd_per_step: math.exp(
        -_money(step_log_sd, price_low_log_sd, gpu_usd_per_step, usd_per_step)
    ),
    "usd_high_factor": lambda step_log_sd, price_high_log_sd, gpu_usd_per_step, usd_per_step: math.exp(
        _money(step_log_sd, price_high_log_sd, gpu_usd_per_step, usd_per_step)
    ),
}

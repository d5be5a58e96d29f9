"""Dollars."""

from __future__ import annotations

from tests.reference.core import SECONDS_PER_HOUR, refuse_unless


def rollouts_per_bit(started_rollouts, bits_per_step):
    refuse_unless(bits_per_step > 0)
    return started_rollouts / bits_per_step


def rollouts_per_signal(started_rollouts, signal_per_step):
    refuse_unless(signal_per_step > 0)
    return started_rollouts / signal_per_step


def usd_per_token_by_factors(
    usd_per_gpu_hour, gpu_seconds_per_token, environment_usd_per_step, tenants, duty_cycle
):
    refuse_unless(environment_usd_per_step == 0 and tenants * duty_cycle == 1)
    return usd_per_gpu_hour * (gpu_seconds_per_token / SECONDS_PER_HOUR)


def usd_run(
    gpu_usd_per_step,
    hours_growth,
    environment_usd_per_step,
    environment_growth,
    steps,
    attempts,
    environment_build_usd,
):
    launched = steps * attempts
    rent = launched * gpu_usd_per_step * hours_growth
    sandboxes = launched * environment_usd_per_step * environment_growth
    return rent + sandboxes + environment_build_usd


def fleet_saving(rollout_share, fleet_price_ratio):
    before = 1.0
    after = (1 - rollout_share) + rollout_share * fleet_price_ratio
    return before - after


REFERENCE = {
    "gpu_hours_per_step": lambda gpus, step_seconds, tenants, duty_cycle: (
        gpus * (step_seconds / SECONDS_PER_HOUR) / tenants / duty_cycle
    ),
    "gpu_usd_per_step": lambda gpu_hours_per_step, usd_per_gpu_hour: gpu_hours_per_step * usd_per_gpu_hour,
    "environment_usd_per_step": lambda environment_cpu_seconds, usd_per_cpu_hour: (
        environment_cpu_seconds * (usd_per_cpu_hour / SECONDS_PER_HOUR)
    ),
    "usd_per_step": lambda gpu_usd_per_step, environment_usd_per_step: gpu_usd_per_step + environment_usd_per_step,
    "environment_build_usd": lambda build_usd, runs: build_usd / runs,
    "gpu_hours_run": lambda gpu_hours_per_step, hours_growth, steps, attempts: (
        gpu_hours_per_step * hours_growth * (steps * attempts)
    ),
    "environment_usd_run": lambda environment_usd_per_step, environment_growth, steps, attempts: (
        environment_usd_per_step * environment_growth * steps * attempts
    ),
    "usd_run": usd_run,
    "usd_per_mixed_group": lambda usd_per_step, mixed_groups_per_step: usd_per_step / mixed_groups_per_step,
    "usd_per_bit": lambda usd_per_step, bits_per_step: usd_per_step / bits_per_step,
    "usd_per_token": lambda usd_per_step, generated_tokens_per_step: usd_per_step / generated_tokens_per_step,
    "fleet_saving": fleet_saving,
    "gpu_seconds_per_token": lambda gpus, step_seconds, generated_tokens_per_step: (
        gpus * step_seconds / generated_tokens_per_step
    ),
    "usd_per_token_by_factors": usd_per_token_by_factors,
    "usd_per_rollout_by_tokens": lambda usd_per_token, response_tokens: usd_per_token * response_tokens,
    "rollouts_per_bit": rollouts_per_bit,
    "rollouts_per_signal_of_a_run": rollouts_per_signal,
    "usd_per_bit_by_factors": lambda usd_per_rollout, rollouts_per_bit: usd_per_rollout * rollouts_per_bit,
    "usd_per_signal_by_factors": lambda usd_per_rollout, rollouts_per_signal: usd_per_rollout * rollouts_per_signal,
}

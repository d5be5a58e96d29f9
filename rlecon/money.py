"""Dollars: per GPU-hour, step, run, mixed group, bit."""

from __future__ import annotations

import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.vocabulary import seconds_per_hour

hours_equation = Equation(
    v.gpu_hours_per_step,
    v.gpus * v.step_seconds / (seconds_per_hour * v.tenants * v.duty_cycle),
    "all GPUs are paid all the time, by all tenants alike: also while they idle",
)
gpu_usd_equation = Equation(v.gpu_usd_per_step, v.gpu_hours_per_step * v.usd_per_gpu_hour, "rent")
environment_usd_equation = Equation(
    v.environment_usd_per_step, v.environment_cpu_seconds / seconds_per_hour * v.usd_per_cpu_hour, "sandbox rent"
)
step_usd_equation = Equation(v.usd_per_step, v.gpu_usd_per_step + v.environment_usd_per_step, "one step")
build_equation = Equation(v.environment_build_usd, v.build_usd / v.runs, "runs share the tasks")
hours_run_equation = Equation(
    v.gpu_hours_run,
    v.gpu_hours_per_step * v.hours_growth * v.steps * v.attempts,
    "every launch is paid, and longer responses as they grow",
)
environment_run_equation = Equation(
    v.environment_usd_run,
    v.environment_usd_per_step * v.environment_growth * v.steps * v.attempts,
    "sandboxes of the run",
)
run_usd_equation = Equation(
    v.usd_run,
    (v.gpu_usd_per_step * v.hours_growth + v.environment_usd_per_step * v.environment_growth) * v.steps * v.attempts
    + v.environment_build_usd,
    "steps, attempts and the tasks",
)
mixed_equation = Equation(
    v.usd_per_mixed_group,
    v.usd_per_step / v.mixed_groups_per_step,
    "price of a group that teaches",
)
bit_equation = Equation(v.usd_per_bit, v.usd_per_step / v.bits_per_step, "price of a bit, at the ceiling")
token_equation = Equation(
    v.usd_per_token, v.usd_per_step / v.generated_tokens_per_step, "price of a generated token, all included"
)

fleet_equation = Equation(
    v.fleet_saving,
    v.rollout_share * (1 - v.fleet_price_ratio),
    "only the rollouts move; update and idle time stay where they are",
)

# --- the identity of the book: four factors, each with its own owner -------------------------------------------------
gpu_time_equation = Equation(
    v.gpu_seconds_per_token,
    v.gpus * v.step_seconds / v.generated_tokens_per_step,
    "every GPU of a step, over the tokens that it generates: model, engine, overlap and idle time of one job",
)
token_price_equation = Equation(
    v.usd_per_token,
    v.usd_per_gpu_hour / seconds_per_hour * v.gpu_seconds_per_token,
    "rent times time: nothing in it knows the task",
    holds_when=[
        (
            v.environment_usd_per_step <= 0,
            "sandboxes cost {environment_usd_per_step} USD a step, which the rent of GPUs leaves out: "
            "divide usd_per_step by the tokens",
        ),
        (
            sp.Eq(v.tenants * v.duty_cycle, 1),
            "{tenants} jobs, each active for a share {duty_cycle} of the time, split the rent: "
            "divide usd_per_step by the tokens",
        ),
    ],
    name="usd_per_token_by_factors",
)
rollout_price_equation = Equation(
    v.usd_per_rollout,
    v.usd_per_token * v.response_tokens,
    "a rollout is paid by its tokens",
    name="usd_per_rollout_by_tokens",
)
bit_wait_equation = Equation(
    v.rollouts_per_bit,
    v.started_rollouts / v.bits_per_step,
    "rollouts paid for until the rewards have carried one bit, at the ceiling",
    holds_when=[(v.bits_per_step > 0, "a reward that is known beforehand never adds up to a bit")],
)
signal_wait_equation = Equation(
    v.rollouts_per_signal,
    v.started_rollouts / v.signal_per_step,
    "rollouts paid for per unit of signal",
    holds_when=[(v.signal_per_step > 0, "no rollout differs from another: there is no signal to pay for")],
    name="rollouts_per_signal_of_a_run",
)
bit_price_equation = Equation(
    v.usd_per_bit,
    v.usd_per_rollout * v.rollouts_per_bit,
    "price of a rollout times rollouts per bit: the task enters here",
    name="usd_per_bit_by_factors",
)
signal_price_equation = Equation(
    v.usd_per_signal,
    v.usd_per_rollout * v.rollouts_per_signal,
    "price of a rollout times rollouts per unit of signal: the task enters here",
    name="usd_per_signal_by_factors",
)
LESSON = [
    gpu_time_equation,
    token_price_equation,
    rollout_price_equation,
    bit_wait_equation,
    bit_price_equation,
    signal_wait_equation,
    signal_price_equation,
]

EQUATIONS = [
    hours_equation,
    gpu_usd_equation,
    environment_usd_equation,
    step_usd_equation,
    build_equation,
    hours_run_equation,
    environment_run_equation,
    run_usd_equation,
    mixed_equation,
    bit_equation,
    token_equation,
]

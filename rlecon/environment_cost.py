"""Environments and deployment: what a usable task costs, when new tasks beat more rollouts, when training pays.

Tasks are to a task distribution what prompts are to a step: a first stage of sampling, whose variance no number of
rollouts lowers. What differs is the price of one more.
"""

from __future__ import annotations

import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation

task_equation = Equation(
    v.usd_per_usable_task,
    (v.pipeline_usd / v.attempted_tasks + v.usd_per_attempted_task) / (v.valid_task_share * v.mixed_task_share),
    "pipeline and attempts, over the share that builds, verifies, and gives mixed groups to this policy",
)
share_equation = Equation(
    v.task_usd_per_run, v.usd_per_usable_task * v.tasks / v.runs, "the runs that share the tasks share their bill"
)
build_share_equation = Equation(
    v.build_share,
    v.task_usd_per_run / (v.task_usd_per_run + v.run_bill_usd),
    "tasks over tasks and GPUs of one run",
)
distribution_equation = Equation(
    v.gradient_variance,
    v.between_prompt_sd**2 / v.tasks + v.within_prompt_sd**2 / v.rollouts,
    "gradient of the task distribution from K tasks and n rollouts in all: the first part stays whatever n is",
    source="kish1965",
    name="task_distribution_variance",
)
reuse_equation = Equation(
    v.rollouts_per_task,
    v.noise_ratio * sp.sqrt(v.usd_per_usable_task / v.usd_per_rollout),
    "least variance per dollar: below it roll out more, above it build more",
    source="kish1965",
)

# --- after training --------------------------------------------------------------------------------------------------
serving_equation = Equation(
    v.break_even_queries,
    v.usd_run / (v.extra_tokens * v.served_token_usd),
    "answers after which the longer answers have cost as much as training did",
    holds_when=[(v.extra_tokens > 0, "answers that are no longer cost nothing extra")],
    name="serving_overtakes_training",
)
samples_equation = Equation(
    v.equivalent_samples,
    sp.log(1 - v.target_pass_rate) / sp.log(1 - v.start_pass_rate),
    "1 - (1 - p_0)^n = p_1: tries with a perfect verifier that equal the training gain",
    holds_when=[(v.target_pass_rate < 1, "no number of tries equals certainty")],
)
sampling_equation = Equation(
    v.break_even_queries,
    v.usd_run
    / ((v.equivalent_samples - 1) * v.response_tokens * v.served_token_usd - v.extra_tokens * v.served_token_usd),
    "answers from which on training is cheaper than sampling with a perfect verifier",
    holds_when=[
        (
            (v.equivalent_samples - 1) * v.response_tokens > v.extra_tokens,
            "training never pays: its answers cost more than the tries that they replace",
        )
    ],
    name="training_beats_sampling",
)

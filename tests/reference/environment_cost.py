"""Tasks that are built, and answers that are served."""

from __future__ import annotations

import math

from tests.reference.core import refuse_unless, root


def usd_per_usable_task(
    pipeline_usd, usd_per_attempted_task, attempted_tasks, valid_task_share, mixed_task_share
):
    spent = pipeline_usd + attempted_tasks * usd_per_attempted_task
    return spent / (attempted_tasks * valid_task_share * mixed_task_share)


def rollouts_per_task(noise_ratio, usd_per_usable_task, usd_per_rollout):
    """Where dollars per task times variance per task has no slope."""

    def slope(m):
        dollars, variance = usd_per_usable_task + m * usd_per_rollout, 1 + noise_ratio**2 / m
        return usd_per_rollout * variance - dollars * noise_ratio**2 / m**2

    return root(slope, 1e-6, 1e6)


def equivalent_samples(start_pass_rate, target_pass_rate):
    refuse_unless(target_pass_rate < 1)
    return math.log(1 - target_pass_rate, 1 - start_pass_rate)


def training_beats_sampling(usd_run, response_tokens, extra_tokens, equivalent_samples, served_token_usd):
    """Answers after which the run and its longer answers cost what many tries an answer cost."""
    sampling = equivalent_samples * response_tokens * served_token_usd
    trained = (response_tokens + extra_tokens) * served_token_usd
    refuse_unless(sampling > trained)
    return usd_run / (sampling - trained)


def serving_overtakes_training(usd_run, extra_tokens, served_token_usd):
    refuse_unless(extra_tokens > 0)
    return usd_run / served_token_usd / extra_tokens


REFERENCE = {
    "usd_per_usable_task": usd_per_usable_task,
    "task_usd_per_run": lambda usd_per_usable_task, tasks, runs: usd_per_usable_task * tasks / runs,
    "build_share": lambda task_usd_per_run, run_bill_usd: 1 / (1 + run_bill_usd / task_usd_per_run),
    "task_distribution_variance": lambda between_prompt_sd, within_prompt_sd, tasks, rollouts: (
        between_prompt_sd**2 / tasks + within_prompt_sd**2 / rollouts
    ),
    "rollouts_per_task": rollouts_per_task,
    "equivalent_samples": equivalent_samples,
    "training_beats_sampling": training_beats_sampling,
    "serving_overtakes_training": serving_overtakes_training,
}

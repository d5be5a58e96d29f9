"""Rules about the plan: the same job on more GPUs, and what the number of steps means."""

from __future__ import annotations

from rlecon.readers.record import LogReport, LogStep
from rlecon.rules.finding import Context, Finding, cannot, clear

MANY_PASSES = 10.0
SAME_WORK = 0.02  # steps of one job hold the same tokens up to this share


def _same_work(few: LogStep, many: LogStep) -> bool:
    """Whether two steps hold as many tokens: a benchmark gives each GPU its own batch, and its steps are not alike."""
    for name in ("response_tokens", "all_tokens"):
        one, other = getattr(few, name), getattr(many, name)
        if one and other:
            return abs(one / other - 1) <= SAME_WORK
    return False


def more_gpus_for_less(report: LogReport, context: Context) -> Finding:
    """The same job on more GPUs: faster, but each step costs more GPU-hours."""
    rule = "more_gpus_for_less"
    groups: dict[str, list[LogStep]] = {}
    for step in report.steps:
        if report.separate_runs and step.gpus and step.gpu_hours and step.label:
            words = [word for word in step.label.split() if word != f"{step.gpus:g}"]
            groups.setdefault(" ".join(words), []).append(step)
    worst = None
    for name, steps in groups.items():
        few, many = min(steps, key=lambda s: s.gpus), max(steps, key=lambda s: s.gpus)
        if many.gpus > few.gpus and _same_work(few, many):
            efficiency = few.gpu_hours / many.gpu_hours
            if worst is None or efficiency < worst[0]:
                worst = (efficiency, name, few, many)
    if worst is None:
        return cannot(rule, "the log holds no two runs of one job on different numbers of GPUs with steps of as many "
                      "tokens; compare two logs")
    efficiency, name, few, many = worst
    evidence = {
        "gpus": [few.gpus, many.gpus],
        "step_seconds": [few.step_seconds, many.step_seconds],
        "gpu_hours": [few.gpu_hours, many.gpu_hours],
        "scaling_efficiency": efficiency,
    }
    says = (
        f"{name}: {many.gpus:g} GPUs instead of {few.gpus:g} make a step {few.step_seconds / many.step_seconds:.2f} "
        f"times as fast at {many.gpu_hours / few.gpu_hours:.2f} times the GPU-hours (scaling efficiency "
        f"{efficiency:.0%})."
    )
    if efficiency > 0.9:
        return clear(rule, says, **evidence)
    usd = None
    if report.usd_per_gpu_hour is not None:
        usd = (many.gpu_hours - few.gpu_hours) * report.usd_per_gpu_hour
    return Finding(
        rule,
        "found",
        says,
        evidence,
        few.step_seconds and many.step_seconds - few.step_seconds,
        usd,
        None if usd is not None else "no price: give usd_per_gpu_hour",
        "measured: slower, but cheaper",
    )


def step_count(report: LogReport, context: Context) -> Finding:
    """Whether the planned steps are what the plan means: passes over the tasks, and optimizer against rollout steps."""
    rule = "step_count"
    planned = context.planned_steps or report.planned_steps or context.of_run("run.steps")
    if not planned or not report.step_seconds:
        return cannot(rule, "the number of planned steps or the step's time is unknown; give planned_steps")
    hours = planned * report.step_seconds / 3600
    gpu_hours = hours * report.gpus if report.gpus else None
    evidence: dict = {"planned_steps": planned, "hours": hours, "gpu_hours": gpu_hours}
    says = f"{planned:g} steps of {report.step_seconds:.4g} s take {hours:.4g} h"
    says += f", {gpu_hours:.4g} GPU-hours." if gpu_hours else "."
    group = report.group_size or context.of_run("rollout.group_size")
    prompts = context.of_run("rollout.prompts_per_step") or (
        report.rollouts / group if report.rollouts and group else None
    )
    tasks = context.tasks or context.of_run("environment.tasks")
    if prompts and context.minibatch_prompts:
        evidence["optimizer_steps_per_rollout_step"] = prompts / context.minibatch_prompts
        says += (
            f" Each takes {prompts / context.minibatch_prompts:g} optimizer steps: a plan of {planned:g} optimizer "
            f"steps is {planned * context.minibatch_prompts / prompts:.4g} of these."
        )
    if not (prompts and tasks):
        return clear(
            rule, says + " Passes over the tasks are unknown: give tasks and the prompts per step.", **evidence
        )
    evidence["passes_over_the_tasks"] = passes = planned * prompts / tasks
    says += f" That is {passes:.3g} passes over {tasks:g} tasks."
    if passes <= MANY_PASSES:
        return clear(rule, says, **evidence)
    return Finding(
        rule,
        "found",
        says + " Check whether the plan counts prompts, rollouts or optimizer steps.",
        evidence,
        money_reason="it changes the number of steps, not the price of one",
        confidence="likely",
    )

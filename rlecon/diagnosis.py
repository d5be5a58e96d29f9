"""What to change first: rules that read a training log and say what each waste costs, or why they cannot tell.

The rules stand in :mod:`rlecon.rules`. Here they are run on one log, and two logs of one job are compared.
"""

from __future__ import annotations

from collections.abc import Callable

from rlecon.errors import RleconError
from rlecon.readers.record import LogReport
from rlecon.rules.decoding import faster_rollouts, latency_bound, small_model_tensor_parallel
from rlecon.rules.finding import Context, Finding, cannot, found
from rlecon.rules.plan import more_gpus_for_less, step_count
from rlecon.rules.training import flat_groups, truncated, update_bound
from rlecon.rules.waiting import engines_wait, evaluation_inside, timeout, trainer_waits, weight_transfer

RULES: tuple[Callable[[LogReport, Context], Finding], ...] = (
    update_bound, small_model_tensor_parallel, truncated, flat_groups, trainer_waits, engines_wait, weight_transfer,
    timeout, latency_bound, faster_rollouts, evaluation_inside, more_gpus_for_less, step_count,
)  # fmt: skip


def diagnose(report: LogReport, **known) -> tuple[Finding, ...]:
    """Run every rule on a log; found ones first, by what they save.

    Args:
        report: what ``read_log`` returned.
        known: fields of ``Context``: run (a Run), expectation (phase -> s per step), trajectory_timeout_seconds,
            planned_steps, tasks, minibatch_prompts.

    Returns:
        One ``Finding`` per rule.

    Raises:
        RleconError: a name is not a field of ``Context``.

    Source: the rules answer questions of practitioners; each names its evidence.

    >>> from rlecon.readers.logs import read_log
    >>> line = "step:1 - response_length/clip_ratio:0.9 - timing_s/gen:60 - timing_s/step:100"
    >>> diagnose(read_log([line]))[0].rule
    'truncated'
    """
    unknown = known.keys() - Context.__dataclass_fields__.keys()
    if unknown:
        raise RleconError("unknown context", field=min(unknown), allowed=", ".join(Context.__dataclass_fields__))
    context = Context(**known)
    findings = []
    for rule in RULES:
        if report.separate_runs and rule is not more_gpus_for_less:
            findings.append(cannot(rule.__name__, "the rows are separate runs"))
        else:
            findings.append(rule(report, context))
    order = {"found": 0, "clear": 1, "cannot tell": 2}
    return tuple(sorted(findings, key=lambda f: (order[f.verdict], -(f.seconds_saved_per_step or 0.0))))


def compare(before: LogReport, after: LogReport) -> Finding:
    """Two logs of one job: the gain per rollout and in GPU-hours, which a step's time alone can fake.

    Returns a ``Finding``; "cannot tell" where a step's time or its rollouts are unknown in either log.
    """
    rule = "compare"
    if not (before.step_seconds and after.step_seconds and before.rollouts and after.rollouts):
        return cannot(rule, "both logs need the step's time and its rollouts")
    old, new = before.step_seconds / before.rollouts, after.step_seconds / after.rollouts
    evidence = {
        "step_seconds_ratio": after.step_seconds / before.step_seconds,
        "rollouts_ratio": after.rollouts / before.rollouts,
        "seconds_per_rollout": [old, new],
        "rollouts_per_second_gain": old / new,
    }
    says = (
        f"The step takes {after.step_seconds / before.step_seconds - 1:+.1%} time with "
        f"{after.rollouts / before.rollouts - 1:+.1%} rollouts: {new / old - 1:+.1%} seconds per rollout."
    )
    if before.gpus and after.gpus:
        cost = new * after.gpus / (old * before.gpus)
        evidence["gpu_seconds_per_rollout_ratio"] = cost
        says += f" A rollout takes {cost - 1:+.1%} GPU time."
    return found(rule, after, says, max(old - new, 0.0) * after.rollouts, "measured", **evidence)

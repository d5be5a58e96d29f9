"""Rules about time in which nobody computes: trainer or engines wait, weights move, a timeout runs out."""

from __future__ import annotations

from rlecon.readers.record import LogReport, LogStep
from rlecon.rules.finding import Context, Finding, cannot, clear, found

# Shares of the step below these are not worth a change, and are called clear.
IDLE_SHARE, TAIL_SHARE, TRANSFER_SHARE, EVALUATION_SHARE = 0.15, 0.25, 0.05, 0.05
# Round limits that people set on a trajectory or a phase, and how near a logged time must come to be suspect.
ROUND_SECONDS = (300, 600, 900, 1200, 1800, 2400, 2700, 3600, 5400, 7200, 10800, 14400)
NEAR = 0.005


def trainer_waits(report: LogReport, context: Context) -> Finding:
    """The trainer waits for rollouts; overlapping the two is worth at most (a + b) / max(a, b)."""
    rule = "trainer_waits"
    idle = report.phase_seconds.get("idle")
    if idle is None or not report.step_seconds:
        if report.phase_share.get("rollout") and not any(step.overlapping for step in report.steps):
            return clear(
                rule,
                "Rollouts and training take turns in this log, on GPUs that do both: nobody waits, and "
                "overlap needs a pool of its own.",
            )
        return cannot(rule, "the log has no timer of the trainer's wait")
    share, work = idle / report.step_seconds, max(report.step_seconds - idle, 0.0)
    evidence = {"idle_seconds": idle, "idle_share": share, "busy_seconds": work}
    if share < IDLE_SHARE:
        return clear(rule, f"The trainer waits {share:.1%} of the step.", **evidence)
    bound = (idle + work) / max(idle, work)
    evidence["overlap_at_most"] = bound
    return found(
        rule,
        report,
        f"The trainer waits {share:.0%} of the step for rollouts. Overlap them with training (one "
        f"step off policy): at most {bound:.2f} times faster; beyond that move GPUs to the rollouts.",
        min(idle, work),
        "at most: perfect overlap on the same GPUs",
        **evidence,
    )


def engines_wait(report: LogReport, context: Context) -> Finding:
    """Engines empty out while the longest trajectory finishes."""
    rule = "engines_wait"
    mean, longest, rollout = (
        report.mean_trajectory_seconds,
        report.max_trajectory_seconds,
        report.phase_seconds.get("rollout"),
    )
    if not mean or not longest:
        return cannot(rule, "the log has no mean and longest time of a trajectory")
    tail = 1 - mean / longest
    evidence = {"mean_trajectory_seconds": mean, "max_trajectory_seconds": longest, "mean_over_max": mean / longest}
    if report.tool_share is not None:
        evidence["tool_share"] = report.tool_share
    if tail < TAIL_SHARE:
        return clear(rule, f"The mean trajectory takes {mean / longest:.0%} of the longest one's time.", **evidence)
    return found(
        rule,
        report,
        f"The mean trajectory takes {mean / longest:.0%} of the longest one's time, so "
        f"{tail:.0%} of the slots' time goes by empty. Let unfinished trajectories continue in the next step "
        "(partial rollouts), oversample and drop stragglers, or overlap.",
        rollout * tail if rollout else None,
        "at most: engines that never drain",
        "the rollout is not timed",
        **evidence,
    )


def weight_transfer(report: LogReport, context: Context) -> Finding:
    """Weights on their way from trainer to engines, with the engines' sleep and wake-up."""
    rule = "weight_transfer"
    parts = {name: value for name, value in report.outside_step_seconds.items() if value and name != "eval"}
    if "weight_sync" in report.phase_seconds:
        parts["weight_sync"] = report.phase_seconds["weight_sync"]
    if not parts or not report.step_seconds:
        return cannot(rule, "the log does not time the transfer of weights together with the step")
    seconds = sum(parts.values())
    share = seconds / (report.step_seconds + sum(v for k, v in parts.items() if k != "weight_sync"))
    expected = context.expected("weight_sync")
    evidence = {"parts_seconds": parts, "share": share, "expected_seconds": expected}
    if share < TRANSFER_SHARE:
        return clear(rule, f"Moving weights takes {share:.1%} of the time.", **evidence)
    saved = max(seconds - (expected or 0.0), 0.0)
    return found(
        rule,
        report,
        f"Moving weights (and putting engines to sleep) takes {seconds:.3g} s, {share:.0%} of the "
        "time. Transfer over the fast links in large buckets, or overlap it with the next rollouts.",
        saved,
        "against the model" if expected is not None else "at most: a transfer of no time",
        **evidence,
    )


def timeout(report: LogReport, context: Context) -> Finding:
    """A stage as long as a round limit is set by that limit, not by computing."""
    rule = "timeout"
    times = [t for t in (_stage_seconds(step) for step in report.steps) if t]
    if not times:
        return cannot(rule, "no rollout is timed")
    given = context.trajectory_timeout_seconds
    limits = (given,) if given else ROUND_SECONDS
    near = {limit: sum(abs(t / limit - 1) <= NEAR for t in times) / len(times) for limit in limits}
    limit, share = max(near.items(), key=lambda item: item[1])
    evidence = {"rollout_seconds": sum(times) / len(times), "steps": len(times)}
    if share == 0 or (len(times) >= 3 and share < 0.5):
        return clear(rule, "The rollouts' times lie at no round limit.", **evidence)
    evidence |= {"limit_seconds": limit, "share_of_steps_at_the_limit": share}
    mean = report.mean_trajectory_seconds
    seconds = sum(times) / len(times) - mean if mean else None
    sure = "measured" if given else "likely" if len(times) >= 3 else "possible: one step can land there by chance"
    return found(
        rule,
        report,
        f"Rollouts take {sum(times) / len(times):.4g} s, next to a limit of {limit:g} s: the stage "
        "is probably set by a timeout of its slowest trajectories, not by computing. Look at the environment and "
        "the longest trajectories before buying faster GPUs.",
        seconds,
        sure,
        "what remains without the stragglers needs the mean time of a trajectory",
        **evidence,
    )


def _stage_seconds(step: LogStep) -> float | None:
    return step.phase_seconds.get("rollout") or step.max_trajectory_seconds


def evaluation_inside(report: LogReport, context: Context) -> Finding:
    """Validation and checkpoints that the step's time contains."""
    rule = "evaluation_inside"
    if not report.phase_share:
        return cannot(rule, "no phase is timed together with the step")
    parts = {name: report.phase_seconds[name] for name in ("evaluation", "checkpoint") if name in report.phase_seconds}
    share = sum(report.phase_share.get(name, 0.0) for name in parts)
    if share < EVALUATION_SHARE:
        return clear(
            rule, f"Validation and checkpoints take {share:.1%} of the logged time.", parts_seconds=parts, share=share
        )
    return found(
        rule,
        report,
        f"Validation and checkpoints take {share:.0%} of the logged time. Do both half as often, or "
        "validate on fewer prompts.",
        sum(parts.values()) / 2,
        "if done half as often",
        parts_seconds=parts,
        share=share,
    )

"""Rules about what is trained: slow training passes, truncated responses, groups that teach nothing."""

from __future__ import annotations

from rlecon import catalog
from rlecon.readers.derived import mixed_bound
from rlecon.readers.record import LogReport
from rlecon.rules.finding import TRAINING, Context, Finding, cannot, clear, found, training_seconds

# Shares of the step, of responses and of groups below these are not worth a change, and are called clear.
UPDATE_SHARE, TRUNCATED_SHARE, FLAT_SHARE = 0.5, 0.2, 0.2


def update_bound(report: LogReport, context: Context) -> Finding:
    """Training passes fill the step at a low MFU: padding, or micro-batches too small to feed the GPU."""
    rule = "update_bound"
    share = report.phase_share.get("update")
    if share is None:
        return cannot(rule, "the log has no update timer together with the step's time")
    passes = sum(report.phase_share.get(phase, 0.0) for phase in TRAINING)
    update = report.phase_seconds["update"]
    bound = 1 / max(1 - report.phase_share.get("rollout", 0.0), 1e-9)
    evidence = {"training_share": passes, "update_share": share, "mfu": report.mfu, "faster_rollouts_at_most": bound}
    expected = context.expected("update")
    if expected is not None:
        if update <= 1.25 * expected:
            return clear(
                rule, f"The update takes {update:.3g} s, {update / expected:.2f} times the model's time.", **evidence
            )
        return found(
            rule,
            report,
            f"The update takes {update:.3g} s; the model expects {expected:.3g} s. Remove padding "
            "(packing, remove_padding) and raise the tokens per micro-batch.",
            update - expected,
            "against the model",
            **evidence,
            expected_seconds=expected,
        )
    if passes < UPDATE_SHARE:
        return clear(rule, f"Training passes take {passes:.0%} of the step: it is not update-bound.", **evidence)
    if report.mfu is None:
        return cannot(
            rule,
            f"training passes take {passes:.0%} of the step, but the log has no usable MFU to say whether "
            "that is slow; give a run file",
        )
    # Model FLOPs leave recomputation out: three of the four passes that the calibrated share counts.
    usual = 0.75 * catalog.constant("train_efficiency").value
    evidence["usual_mfu"] = usual
    if report.mfu >= 0.6 * usual:
        return clear(
            rule,
            f"Training passes take {passes:.0%} of the step, at an MFU of {report.mfu:.1%}: that is the "
            "work itself, not padding.",
            **evidence,
        )
    saved = update * (1 - report.mfu / usual)
    evidence["seconds_if_other_passes_follow"] = training_seconds(report) * (1 - report.mfu / usual)
    return found(
        rule,
        report,
        f"Training passes take {passes:.0%} of the step at an MFU of {report.mfu:.1%}; a usual one "
        f"is {usual:.0%}. Remove padding and raise the tokens per micro-batch first: faster rollouts are worth "
        f"at most {bound:.2f} times.",
        saved,
        "likely: at the usual MFU",
        **evidence,
    )


def truncated(report: LogReport, context: Context) -> Finding:
    """Responses that end at the cap are paid in full and seldom pass."""
    rule = "truncated"
    share = report.truncated_share
    if share is None:
        return cannot(rule, "the log has no share of responses that ended at the cap")
    longest, mean = report.max_response_tokens, report.mean_response_tokens
    tokens = min(1.0, share * longest / mean) if longest and mean else share
    evidence = {"truncated_share": share, "truncated_share_of_response_tokens": tokens, "pass_rate": report.pass_rate}
    if share < TRUNCATED_SHARE:
        return clear(rule, f"{share:.1%} of responses end at the cap.", **evidence)
    spent = sum(report.phase_seconds.get(phase, 0.0) for phase in ("rollout", *TRAINING))
    seconds = spent * tokens if spent else None
    least = "" if longest and mean else "at least "
    return found(
        rule,
        report,
        f"{share:.0%} of responses end at the cap and hold {least}{tokens:.0%} of the generated tokens: that buys "
        "unfinished answers. Raise the cap, shorten the answers (length penalty, another start), or drop prompts that "
        "never fit; what is saved depends on how many then finish.",
        seconds,
        "at most: if none of them taught anything",
        "no phase is timed",
        **evidence,
    )


def flat_groups(report: LogReport, context: Context) -> Finding:
    """Groups whose rewards are all equal have no advantage, so their rollouts teach nothing."""
    rule = "flat_groups"
    mixed = report.mixed_group_share
    if mixed is None:
        return cannot(rule, "the share of mixed groups is not logged, and its bound needs pass rate and group size")
    logged = str(report.mixed_group_from).startswith("logged")
    flat = 1 - mixed
    evidence = {
        "mixed_group_share": mixed,
        "from": report.mixed_group_from,
        "pass_rate": report.pass_rate,
        "group_size": report.group_size,
    }
    words = "" if logged else "at least "
    if flat < FLAT_SHARE:
        return clear(rule, f"{words}{flat:.0%} of the groups are flat.".capitalize(), **evidence)
    advice = "Filter or choose prompts by pass rate; skipping flat groups in the update saves what is counted here."
    if report.pass_rate is not None and 0 < report.pass_rate < 1:
        sizes = {size: mixed_bound(report.pass_rate, size) for size in (2, 4, 8, 16)}
        evidence["mixed_share_by_group_size"] = sizes
        evidence["mixed_groups_per_rollout"] = {size: share / size for size, share in sizes.items()}
        advice += (
            " A larger group makes more of the prompts' groups mixed at a fixed number of prompts; at a fixed number "
            "of rollouts a smaller one gives more mixed groups."
        )
    seconds = training_seconds(report) * flat or None
    if report.step_seconds:
        evidence["seconds_spent_on_flat_groups"] = report.step_seconds * flat
    return found(
        rule,
        report,
        f"{words}{flat:.0%} of the groups are flat: their rollouts are paid and teach nothing. ".capitalize() + advice,
        seconds,
        "measured" if logged else "at least: prompts differ in pass rate",
        "no training pass is timed",
        **evidence,
    )

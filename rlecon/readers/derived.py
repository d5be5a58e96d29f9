"""What follows from one step's log: GPU-hours, money, pass rate, bits and shares."""

from __future__ import annotations

from functools import lru_cache

from rlecon.groups import mixed_share
from rlecon.information import binary_entropy
from rlecon.readers.record import Draft, Hints
from rlecon.readers.text import product, ratio, whole


def pass_rate_of(draft: Draft, rollouts: float | None, binary: bool) -> float | None:
    """The pass rate, if the logged reward is one: 0/1 or +-1 by its range, and a whole number of right rollouts."""
    if draft.passed is not None:
        return draft.passed if 0 <= draft.passed <= 1 else None
    mean, low, high = draft.reward, draft.reward_low, draft.reward_high
    if mean is None:
        return None
    if low is None or high is None:
        if binary and 0 <= mean <= 1:
            return mean
        draft.flag(
            "reward unclear",
            f"pass_rate: only the mean reward ({mean:.4g}) is logged, which does not show a 0/1 reward"
            + ("; if it is one, this mean is the pass rate: say binary_reward" if 0 <= mean <= 1 else ""),
        )
        return None
    if (low, high) == (-1.0, 1.0):
        rate = (1 + mean) / 2
    elif 0 <= low <= high <= 1 and (low in (0.0, 1.0)) and (high in (0.0, 1.0)):
        rate = mean
    else:
        draft.flag("reward scale", f"pass_rate: rewards run from {low:g} to {high:g}, so their mean is not a pass rate")
        return None
    if not 0 <= rate <= 1:
        draft.flag("reward scale", f"pass_rate: the mean reward {mean:g} lies outside its own range")
        return None
    right = product(rate, rollouts)
    # A mean printed with four digits or more shows whether a whole number of rollouts was right.
    checkable = right is not None and not binary and abs(mean * 1000 - round(mean * 1000)) > 1e-6
    if checkable and rollouts == round(rollouts) and abs(right - round(right)) > max(0.02, 2e-6 * rollouts):
        draft.flag(
            "graded reward",
            f"pass_rate: a mean reward of {mean:.6g} is no whole number of right answers among {rollouts:g} rollouts, "
            "so the reward is graded and its mean is not a pass rate",
        )
        return None
    return rate


@lru_cache(4096)
def _entropy(pass_rate: float) -> float:
    return float(binary_entropy(pass_rate))


@lru_cache(4096)
def mixed_bound(pass_rate: float, group_size: int) -> float:
    """Share of mixed groups if every prompt had the mean pass rate; it is concave, so a spread only lowers it."""
    return float(mixed_share(pass_rate, 0.0, float(group_size)))


def derive(draft: Draft, hints: Hints) -> dict:
    """What follows from one step's log (fields of ``LogStep``): GPU-hours, money, pass rate, bits, shares."""
    seconds = draft.seconds if draft.seconds is not None and draft.seconds > 0 else None
    gpus, gpus_from = (hints.gpus, "given") if hints.gpus else (draft.gpus, draft.gpus_from)
    group, group_from = (hints.group_size, "given") if hints.group_size else (draft.group_size, draft.group_from)
    if hints.group_size and draft.group_size and hints.group_size != draft.group_size:
        draft.flag("group size differs", f"group_size: given {hints.group_size}, the log shows {draft.group_size}")
    if hints.gpus and draft.gpus and hints.gpus != draft.gpus:
        draft.flag("gpus differ", f"gpus: given {hints.gpus}, the log's own rates fit {draft.gpus}")
    rollouts, rollouts_from = (hints.rollouts, "given") if hints.rollouts else (draft.rollouts, draft.rollouts_from)
    response, mean = draft.response_tokens, draft.response_mean
    if rollouts is None and response is not None and mean and (near := whole(response / mean, 0.001)):
        rollouts, rollouts_from = near, "inferred: response tokens of the batch / mean response length"
    if response is None:
        response = product(rollouts, mean)
    if mean is None:
        mean = ratio(response, rollouts)
    everything, prompt = draft.all_tokens, draft.prompt_mean
    if everything is None and mean is not None and prompt is not None:
        everything = product(rollouts, mean + prompt)
    if prompt is None and everything is not None and rollouts and mean is not None and everything > rollouts * mean:
        prompt = everything / rollouts - mean
    gpu_seconds = product(gpus, seconds)
    gpu_hours = ratio(draft.gpu_seconds if gpu_seconds is None else gpu_seconds, 3600.0)
    shares, phases = {}, draft.phases
    if seconds and phases:
        spent = sum(phases.values())
        if spent > 1.02 * seconds:
            draft.overlapping = True
        if draft.overlapping:
            draft.flag("overlap", "phase_share: phases run at the same time; their shares do not add up to the step")
        elif seconds - spent > 1e-9:
            phases["other"] = seconds - spent
        shares = {name: value / seconds for name, value in phases.items()}
    rate = pass_rate_of(draft, rollouts, hints.binary_reward)
    mixed, mixed_from = draft.mixed, draft.mixed_from
    if mixed is not None and not 0 <= mixed <= 1:
        mixed = mixed_from = None
    bits = _entropy(rate) if rate is not None else None
    if mixed is not None:
        # Rollouts of a group without spread cannot teach; those of a mixed one at most a bit each.
        bits = min(bits, mixed) if bits is not None else 0.0 if mixed == 0 else None
        if mixed == 0 and rate != 0:
            draft.flag("no signal", "bits_per_rollout: no group had mixed rewards, so nothing is learnt from this step")
    elif rate is not None and group and group > 1:
        mixed, mixed_from = mixed_bound(rate, group), "upper bound: every prompt at the mean pass rate"
    truncated = draft.truncated if draft.truncated is not None and 0 <= draft.truncated <= 1 else None
    mfu = draft.mfu
    if mfu is not None and mfu > 1:
        draft.flag("mfu impossible", f"mfu: logged as {mfu:.4g}, above 1, which is impossible: left out")
        mfu = None
    elif mfu is not None and mfu <= 0:
        draft.flag("mfu zero", "mfu: logged as 0, which means an unknown peak, not an idle GPU: taken as unknown")
        mfu = None
    return {
        "step": draft.step,
        "label": draft.label,
        "overlapping": draft.overlapping,
        "rollouts": rollouts,
        "rollouts_from": rollouts_from if rollouts is not None else None,
        "group_size": group,
        "group_size_from": group_from if group else None,
        "gpus": gpus,
        "gpus_from": gpus_from if gpus else None,
        "step_seconds": seconds,
        "phase_seconds": phases,
        "phase_share": shares,
        "outside_step_seconds": draft.outside,
        "response_tokens": response,
        "all_tokens": everything,
        "gpu_hours": gpu_hours,
        "usd": product(gpu_hours, hints.usd_per_gpu_hour),
        "pass_rate": rate,
        "bits_per_rollout": bits,
        "bits_per_token": ratio(bits, mean),
        "bits_per_gpu_hour": ratio(product(bits, rollouts), gpu_hours),
        "mixed_group_share": mixed,
        "mixed_group_from": mixed_from,
        "truncated_share": truncated,
        "mean_response_tokens": mean,
        "mean_prompt_tokens": prompt,
        "max_response_tokens": draft.response_max,
        "mean_reward": draft.reward,
        "mfu": mfu,
        "mean_trajectory_seconds": draft.trajectory_mean,
        "max_trajectory_seconds": draft.trajectory_max,
        "tool_share": draft.tool_share,
        "flags": draft.flags,
    }

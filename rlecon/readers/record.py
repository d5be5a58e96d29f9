"""One record for every framework's step: what the log says (Draft), what follows (LogStep), averages (LogReport).

A quantity that the log does not settle stays ``None``, and a flag says why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import lru_cache

from rlecon.information import binary_entropy
from rlecon.learning import MIXED
from rlecon.readers.text import product, ratio, whole


@dataclass(slots=True)
class Draft:
    """What the log says about one step; a framework's module fills it and derives nothing."""

    step: int | None = None
    label: str | None = None
    seconds: float | None = None
    phases: dict = field(default_factory=dict)
    outside: dict = field(default_factory=dict)
    overlapping: bool = False
    rollouts: float | None = None
    rollouts_from: str | None = None
    group_size: int | None = None
    group_from: str | None = None
    gpus: int | None = None
    gpus_from: str | None = None
    gpu_seconds: float | None = None
    response_tokens: float | None = None
    response_mean: float | None = None
    response_max: float | None = None
    prompt_mean: float | None = None
    all_tokens: float | None = None
    reward: float | None = None
    reward_low: float | None = None
    reward_high: float | None = None
    passed: float | None = None
    mixed: float | None = None
    mixed_from: str | None = None
    truncated: float | None = None
    mfu: float | None = None
    trajectory_mean: float | None = None
    trajectory_max: float | None = None
    tool_share: float | None = None
    raw: dict = field(default_factory=dict)
    flags: list = field(default_factory=list)

    def says_something(self) -> bool:
        """Whether the record holds a figure of training at all (a line of validation alone does not)."""
        return bool(self.seconds or self.phases or self.all_tokens or self.mfu) or not (
            self.reward is None and self.response_mean is None and self.mixed is None
        )

    def flag(self, kind: str, text: str) -> None:
        """Say something about this step; flags of one kind are counted together in the report."""
        self.flags.append((kind, text))

    def add(self, phase: str, seconds: float | None) -> None:
        """Add seconds to a phase; negative times are refused."""
        if seconds is not None and seconds >= 0:
            self.phases[phase] = self.phases.get(phase, 0.0) + seconds
        elif seconds is not None:
            self.flag("negative time", f"phase_seconds: {phase} is negative in the log and is left out")


@dataclass(frozen=True, slots=True)
class Hints:
    """What the user says about the run; it wins over what the log lets one infer."""

    gpus: int | None = None
    group_size: int | None = None
    rollouts: int | None = None
    usd_per_gpu_hour: float | None = None
    binary_reward: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """One step, or the average of all; every figure is per step, and None where the log does not settle it.

    ``step_seconds``, ``phase_seconds`` in s; ``response_tokens`` and ``all_tokens`` (prompts too) are totals of a step,
    ``mean_*_tokens`` are per rollout; ``gpu_hours`` in GPU h; ``usd`` in USD; shares, ``pass_rate`` and ``mfu`` from
    0 to 1; ``bits_*`` are upper bounds (binary entropy of the mean pass rate, at most one bit per rollout of a mixed
    group); ``mixed_group_from`` says whether the share of mixed groups is logged or an upper bound.
    """

    rollouts: float | None = None
    group_size: float | None = None
    gpus: float | None = None
    step_seconds: float | None = None
    phase_seconds: dict = field(default_factory=dict)
    phase_share: dict = field(default_factory=dict)
    response_tokens: float | None = None
    all_tokens: float | None = None
    gpu_hours: float | None = None
    usd: float | None = None
    pass_rate: float | None = None
    bits_per_rollout: float | None = None
    bits_per_token: float | None = None
    bits_per_gpu_hour: float | None = None
    mixed_group_share: float | None = None
    truncated_share: float | None = None
    mean_response_tokens: float | None = None
    mean_prompt_tokens: float | None = None
    max_response_tokens: float | None = None
    mean_reward: float | None = None
    mfu: float | None = None
    mean_trajectory_seconds: float | None = None
    max_trajectory_seconds: float | None = None
    tool_share: float | None = None
    outside_step_seconds: dict = field(default_factory=dict)
    rollouts_from: str | None = None
    group_size_from: str | None = None
    gpus_from: str | None = None
    mixed_group_from: str | None = None
    flags: tuple = ()

    def to_dict(self) -> dict:
        """Plain dictionaries, lists and numbers, ready for JSON."""
        out = {f.name: getattr(self, f.name) for f in fields(self)}
        out["flags"] = list(self.flags)
        return out


@dataclass(frozen=True, kw_only=True, slots=True)
class LogStep(Reading):
    """One step of the log, with its number (None where it is not printed) or its label (a row of a table)."""

    step: int | None = None
    label: str | None = None
    overlapping: bool = False


@dataclass(frozen=True, kw_only=True)
class LogReport(Reading):
    """The whole log: every step, the averages (the inherited fields), and the totals of what is logged.

    ``separate_runs`` is true for a table whose rows are different runs: nothing is averaged then.
    ``planned_steps`` is the length of the run where a progress bar shows it.
    """

    framework: str = ""
    gpu: str | None = None
    usd_per_gpu_hour: float | None = None
    steps: tuple[LogStep, ...] = ()
    total: dict = field(default_factory=dict)
    planned_steps: int | None = None
    separate_runs: bool = False

    def to_dict(self) -> dict:
        out = {"framework": self.framework, "steps": [step.to_dict() for step in self.steps]}
        return out | {key: value for key, value in super().to_dict().items() if key not in out}


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
    values = dict.fromkeys(("pass_rate_spread", "false_positive_rate", "false_negative_rate"), 0.0)
    values |= {"mean_pass_rate": pass_rate, "group_size": float(group_size)}
    return float(MIXED.solve(values, ["mixed_group_share"])["mixed_group_share"])


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


_MEANS = [
    "rollouts",
    "group_size",
    "gpus",
    "step_seconds",
    "response_tokens",
    "all_tokens",
    "gpu_hours",
    "usd",
    "pass_rate",
    "bits_per_rollout",
    "mixed_group_share",
    "truncated_share",
    "mean_response_tokens",
    "mean_prompt_tokens",
    "mean_reward",
    "mfu",
    "mean_trajectory_seconds",
    "max_trajectory_seconds",
    "tool_share",
]
_SAID = ("rollouts_from", "group_size_from", "gpus_from", "mixed_group_from")
_TOTALS = {"seconds": "step_seconds", "gpu_hours": "gpu_hours", "usd": "usd", "rollouts": "rollouts"}
WHY_UNKNOWN = {
    "rollouts": "the log has no count and no total of tokens with both mean lengths; give rollouts",
    "group_size": "no advantage, reward count or key shows it; give group_size",
    "gpus": "no rate per GPU is logged together with a total; give gpus",
    "step_seconds": "no timer of the whole step is logged",
    "phase_seconds": "no timer of a phase is logged",
    "phase_share": "it needs the step's time and its phases",
    "response_tokens": "it needs the rollouts of a step and their mean length",
    "all_tokens": "no total of prompt and response tokens is logged or follows",
    "gpu_hours": "it needs the step's time and the GPUs",
    "usd": "it needs GPU-hours and usd_per_gpu_hour",
    "pass_rate": "the log shows no reward that is a pass rate",
    "bits_per_rollout": "it needs the pass rate or a logged share of mixed groups",
    "bits_per_token": "it needs bits per rollout and the mean response length",
    "bits_per_gpu_hour": "it needs bits per rollout, rollouts and GPU-hours of the same step",
    "mixed_group_share": "it is not logged, and its bound needs the pass rate and the group size",
    "truncated_share": "the log has no share of responses at the cap",
}


class Average:
    """Sums over all steps, in constant memory: means over the steps that know a figure, ratios over those with both."""

    def __init__(self):
        self.steps = self.went_back = self.whole_steps = 0
        self.sums = dict.fromkeys(_MEANS, 0.0)
        self.counts = dict.fromkeys(_MEANS, 0)
        self.phases, self.cut, self.shared, self.outside = {}, {}, {}, {}
        self.shared_seconds = 0.0
        self.token_bits = [0.0, 0.0]
        self.hour_bits = [0.0, 0.0]
        self.longest = self.last_step = None
        self.said = {name: set() for name in _SAID}
        self.gpus = set()
        self.flags: dict[str, list] = {}

    def add(self, step: dict) -> None:
        """Take one derived step into the sums."""
        self.steps += 1
        for name in _MEANS:
            value = step[name]
            if value is not None:
                self.sums[name] += value
                self.counts[name] += 1
        phases, seconds = step["phase_seconds"], step["step_seconds"]
        if phases:
            self.whole_steps += seconds is not None
            self.shared_seconds += seconds or 0.0
            for name, value in phases.items():
                self.phases[name] = self.phases.get(name, 0.0) + value
                if seconds is None:
                    self.cut[name] = self.cut.get(name, 0) + 1
                else:
                    self.shared[name] = self.shared.get(name, 0.0) + value
        for name, value in step["outside_step_seconds"].items():
            total = self.outside.setdefault(name, [0.0, 0])
            total[0] += value
            total[1] += 1
        bits, mean = step["bits_per_rollout"], step["mean_response_tokens"]
        if bits is not None:
            if mean:
                self.token_bits[0] += bits
                self.token_bits[1] += mean
            if step["rollouts"] is not None and step["gpu_hours"]:
                self.hour_bits[0] += bits * step["rollouts"]
                self.hour_bits[1] += step["gpu_hours"]
        longest = step["max_response_tokens"]
        if longest is not None and (self.longest is None or longest > self.longest):
            self.longest = longest
        for name in _SAID:
            if step[name] is not None and len(self.said[name]) < 9:
                self.said[name].add(step[name])
        if step["gpus"] and len(self.gpus) < 9:
            self.gpus.add(step["gpus"])
        if step["step"] is not None:
            self.went_back += self.last_step is not None and step["step"] <= self.last_step
            self.last_step = step["step"]
        for kind, text in step["flags"]:
            self.flags.setdefault(kind, [text, 0])[1] += 1

    def counted_flags(self) -> list[str]:
        """One sentence per kind of flag, with the number of steps that raised it."""
        many = self.steps > 1
        return [text + (f" ({n} of {self.steps} steps)" if many else "") for text, n in self.flags.values()]

    def values(self) -> dict:
        """The averages by field name."""
        out: dict = {n: self.sums[n] / self.counts[n] if self.counts[n] else None for n in _MEANS}
        for name in ("rollouts", "group_size", "gpus"):
            if out[name] is not None and out[name] == round(out[name]):
                out[name] = round(out[name])
        # A phase that a whole step lacks took no time; in a step cut before its total it is unknown.
        out["phase_seconds"] = {n: v / (self.whole_steps + self.cut.get(n, 0)) for n, v in self.phases.items()}
        out["phase_share"] = {n: v / self.shared_seconds for n, v in self.shared.items()}
        out["outside_step_seconds"] = {n: v / count for n, (v, count) in self.outside.items()}
        out["bits_per_token"] = ratio(*self.token_bits)
        out["bits_per_gpu_hour"] = ratio(*self.hour_bits)
        out["max_response_tokens"] = self.longest
        for name, words in self.said.items():
            out[name] = next(iter(words)) if len(words) == 1 else "differs between steps" if words else None
        return out

    def total(self) -> dict:
        """Totals over the logged steps; None where a step lacks the figure."""
        full = {name: self.sums[key] if self.counts[key] == self.steps else None for name, key in _TOTALS.items()}
        return {"steps": self.steps} | full

"""One record for every framework's step: what the log says (Draft), what follows (LogStep), the whole (LogReport).

A quantity that the log does not settle stays ``None``, and a flag says why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields


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

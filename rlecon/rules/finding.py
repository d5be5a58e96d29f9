"""What a rule is given and what it answers: ``Context`` and ``Finding``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from rlecon.readers.record import LogReport

TRAINING = ("update", "old_logprobs", "reference", "critic")


@dataclass(frozen=True)
class Finding:
    """One rule's answer: verdict is "found", "clear" or "cannot tell"; savings are per step, None with a reason."""

    rule: str
    verdict: str
    says: str
    evidence: dict = field(default_factory=dict)
    seconds_saved_per_step: float | None = None
    usd_saved_per_step: float | None = None
    money_reason: str | None = None
    confidence: str = ""

    def to_dict(self) -> dict:
        """A plain dictionary, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Context:
    """What the log does not say: the run file, the model's expectation (phase -> s), limits and plans."""

    run: object = None
    expectation: Mapping[str, float] | None = None
    trajectory_timeout_seconds: float | None = None
    planned_steps: float | None = None
    tasks: float | None = None
    minibatch_prompts: float | None = None

    def expected(self, *phases: str) -> float | None:
        """Seconds that the model expects for these phases together, or None if it says nothing of one of them."""
        if self.expectation is None or any(phase not in self.expectation for phase in phases):
            return None
        return sum(float(self.expectation[phase]) for phase in phases)

    def of_run(self, key: str):
        """A value of the run file by its dotted key, or None."""
        try:
            return self.run[key] if self.run is not None else None
        except KeyError:
            return None


def cannot(rule: str, because: str) -> Finding:
    return Finding(rule, "cannot tell", f"Cannot tell, because {because}.")


def clear(rule: str, says: str, **evidence) -> Finding:
    return Finding(rule, "clear", says, evidence)


def found(rule: str, report: LogReport, says, seconds, confidence, why_no_money=None, **evidence) -> Finding:
    usd = None
    if seconds is None:
        reason = why_no_money
    elif report.usd_per_gpu_hour is None:
        reason = "no price: give usd_per_gpu_hour"
    elif not report.gpu_hours or not report.step_seconds:
        reason = "GPU-hours of a step are unknown: give gpus"
    else:
        usd, reason = seconds * report.gpu_hours / report.step_seconds * report.usd_per_gpu_hour, None
    return Finding(rule, "found", says, evidence, seconds, usd, reason, confidence)


def training_seconds(report) -> float:
    return sum(report.phase_seconds.get(phase, 0.0) for phase in TRAINING)

"""OpenRLHF logs: ``Global step N: {...}`` lines, and the older ``--perf`` timers.

``timing/step_total`` is the sum of the other timers in the synchronous trainer, and wall time in the asynchronous one,
where generation overlaps training. ``timing/make_experience`` holds the forward passes of policy, reference, reward
and critic. ``dynamic_filtering_pass_rate`` is the share of prompts (in percent) whose groups were kept.
Source: OpenRLHF, openrlhf/trainer/ppo_trainer.py and ppo_trainer_async.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlecon.readers.logs import BaseReader
from rlecon.readers.record import Draft
from rlecon.readers.text import pairs, whole

SIGNATURE = re.compile(
    r"Global step \d+[^:]{0,20}:|timing/(?:make_experience|ppo_train|step_total|broadcast)\b|['\"]actor_time['\"]\s*:"
)
_PHASES = {
    "timing/generation": "rollout", "timing/make_experience": "old_logprobs", "timing/ppo_train": "update",
    "timing/policy_train": "update", "timing/broadcast": "weight_sync", "timing/actor_idle_wait": "idle",
    "generate_time": "rollout", "actor_time": "old_logprobs", "wait_time": "idle",
}  # fmt: skip
_KNOWN = {*_PHASES, "timing/step_total", "reward", "response_length", "total_length", "truncated"}
_STEP = re.compile(r"Global step (\d{1,9})[^:]{0,20}:")


class Reader(BaseReader):
    """Reads the console of OpenRLHF's trainers."""

    def read(self, lines: Iterator[str]) -> Iterator[Draft]:
        metrics: dict[str, float] = {}
        for line in lines:
            found = _STEP.search(line) if "lobal step" in line else None
            if found:
                if metrics:
                    yield from self._draft(metrics)
                metrics = pairs(line[found.end() :]) | {"global_step": float(found[1])}
            elif "timing/" in line or "reward" in line or "_time" in line or metrics and ":" in line:
                values = {key: value for key, value in pairs(line).items() if key in _KNOWN or line.startswith("{")}
                if not metrics and not values.keys() & _PHASES.keys():
                    continue
                if metrics.keys() & values.keys() & (_PHASES.keys() | {"timing/step_total"}):
                    yield from self._draft(metrics)
                    metrics = {}
                metrics.update({key: value for key, value in values.items() if key not in metrics})
        if metrics:
            yield from self._draft(metrics)

    @staticmethod
    def _draft(metrics: dict[str, float]) -> Iterator[Draft]:
        if not metrics.keys() & (_PHASES.keys() | {"timing/step_total", "reward"}):
            return
        draft = Draft(step=whole(metrics.get("global_step", metrics.get("step")), 0.0))
        for key, phase in _PHASES.items():
            if key in metrics:
                draft.add(phase, metrics[key])
        draft.seconds = metrics.get("timing/step_total")
        spent = sum(draft.phases.values())
        if draft.seconds is None and "timing/ppo_train" in metrics and spent:
            draft.seconds = spent
            draft.flag("summed", "step_seconds: no total is logged; the sum of the timers is taken")
        elif draft.seconds and spent > 1.02 * draft.seconds:
            draft.overlapping = True
        if "timing/make_experience" in metrics:
            draft.flag(
                "experience", "phase_seconds: old_logprobs holds the passes of policy, reference, reward and critic"
            )
        if "actor_time" in metrics:
            draft.flag(
                "old timers", "phase_seconds: these timers are summed per rollout batch; no step total is logged"
            )
        draft.reward = metrics.get("reward")
        draft.response_mean, whole_length = metrics.get("response_length"), metrics.get("total_length")
        if draft.response_mean is not None and whole_length is not None and whole_length >= draft.response_mean:
            draft.prompt_mean = whole_length - draft.response_mean
        draft.truncated = metrics.get("truncated")
        if "dynamic_filtering_pass_rate" in metrics:
            draft.mixed = metrics["dynamic_filtering_pass_rate"] / 100
            draft.mixed_from = "logged: groups that the dynamic filter kept"
        yield draft

"""TRL (and open-r1) logs: one Python dictionary per logging step, and the trainer's progress bar.

``num_tokens`` is cumulative; ``completion_length`` is the old name of ``completions/mean_length``;
``frac_reward_zero_std`` is the share of groups without spread; ``reward_std`` of 0 says the same in old logs only,
because newer code takes it over the whole batch. ``reward`` is a weighted sum, no pass rate.
Source: TRL, trl/trainer/grpo_trainer.py and docs/source/grpo_trainer.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlecon.readers.logs import BaseReader
from rlecon.readers.record import Draft
from rlecon.readers.text import pairs

SIGNATURE = re.compile(
    r"frac_reward_zero_std|['\"]completions/(?:mean_length|clipped_ratio)['\"]\s*:|['\"]completion_length['\"]\s*:\s*['\"]?\d|"
    r"profiling/Time taken: GRPOTrainer"
)
_RECORD = re.compile(r"['\"](?:reward|completion_length|completions/mean_length)['\"]\s*:")
_BAR = re.compile(
    r"^\s*\d{1,3}%\|[^|]{0,300}\|\s*(\d{1,9})/(\d{1,9}) \[([\d:]{4,12})<[^,\]]{0,20},\s*([\d.]{1,12})(s/it|it/s)"
)
_PROFILED = re.compile(r"profiling/Time taken: \w+\.(\w+)['\"]?\s*:\s*([\d.eE+-]+)")
_PROFILE_PHASES = {
    "_generate_single_turn": "rollout", "generate": "rollout", "_calculate_rewards": "reward",
    "_move_model_to_vllm": "weight_sync", "sync_weights": "weight_sync",
}  # fmt: skip
# The accuracy rewards that TRL and open-r1 ship are 0 or 1; no other name promises that.
_ACCURACY = re.compile(r"^rewards/(?:\w+\.)?accuracy(?:_reward)?(?:_func)?(?:/mean)?$")


class Reader(BaseReader):
    """Reads the console log of TRL's GRPO trainer, or its metrics as JSON lines."""

    def read(self, lines: Iterator[str]) -> Iterator[Draft]:
        waiting: Draft | None = None
        bar = last = None
        tokens: float | None = None
        for line in lines:
            if "it" in line and (found := _BAR.match(line)):
                done, planned, elapsed = int(found[1]), int(found[2]), _clock(found[3])
                if self.planned_steps not in (None, planned):
                    continue
                rate = float(found[4]) if found[4].count(".") < 2 and found[4].strip(".") else 0.0
                pace = rate if found[5] == "s/it" else 1 / rate if rate else None
                bar = (done, elapsed, pace, planned)
                if waiting:
                    self._time(waiting, bar, last)
                    last = bar
                    yield waiting
                    waiting = None
                continue
            if ":" not in line or not _RECORD.search(line) or "'eval_" in line:
                continue
            values = pairs(line)
            if waiting:
                yield waiting
            waiting = self._draft(values, line, tokens)
            tokens = values.get("num_tokens", tokens)
        if waiting:
            if bar and bar != last:
                self._time(waiting, bar, last)
            yield waiting

    def _time(self, draft: Draft, bar, last) -> None:
        done, elapsed, pace, planned = bar
        self.planned_steps = planned
        if draft.step is None:
            draft.step = done
        if draft.seconds is not None:
            return
        if last and done > last[0] and elapsed > last[1]:
            draft.seconds = (elapsed - last[1]) / (done - last[0])
        elif last is None or done > last[0]:
            draft.seconds = pace
        if draft.seconds is not None:
            draft.flag("bar time", "step_seconds: read from the progress bar (evaluation and checkpoints included)")

    def _draft(self, values: dict[str, float], line: str, tokens_before: float | None) -> Draft:
        draft = Draft()
        for key in ("step", "global_step", "train/global_step"):
            if key in values and values[key] == int(values[key]):
                draft.step = int(values[key])
        if "train/" in line:
            values = {key.removeprefix("train/"): value for key, value in values.items()}
        draft.seconds = values.get("step_time")
        draft.response_mean = values.get("completions/mean_length", values.get("completion_length"))
        draft.response_max = values.get("completions/max_length")
        draft.truncated = values.get("completions/clipped_ratio")
        draft.reward = values.get("reward")
        if "num_tokens" in values:
            if tokens_before is not None and values["num_tokens"] > tokens_before:
                draft.raw["window_tokens"] = values["num_tokens"] - tokens_before
            else:
                draft.flag(
                    "cumulative",
                    "all_tokens: num_tokens counts from the start of the run, so the first logged "
                    "step does not show what it used itself",
                )
        rewards = [key for key in values if key.startswith("rewards/") and not key.endswith("/std")]
        accuracy = [key for key in rewards if _ACCURACY.match(key)]
        if accuracy:
            draft.passed = values[accuracy[0]]
            draft.flag("accuracy", f"pass_rate: the mean of {accuracy[0]}, a reward of 0 or 1")
        elif rewards and draft.reward is not None:
            draft.passed = -1.0
            draft.flag(
                "summed reward",
                f"pass_rate: the reward ({draft.reward:.4g}) is a weighted sum of {len(rewards)} "
                "rewards, none of which is known to be 0 or 1",
            )
        if "frac_reward_zero_std" in values:
            draft.mixed, draft.mixed_from = 1 - values["frac_reward_zero_std"], "logged: 1 - frac_reward_zero_std"
        elif "completion_length" in values and values.get("reward_std") == 0:
            draft.mixed, draft.mixed_from = 0.0, "logged: the mean spread within groups is 0"
        for name, seconds in _PROFILED.findall(line) if "profiling/" in line else ():
            if (
                name in _PROFILE_PHASES
                and len(seconds) < 30
                and re.fullmatch(r"\d+\.?\d*(?:[eE][+-]?\d{1,2})?", seconds)
            ):
                draft.add(_PROFILE_PHASES[name], float(seconds))
        return draft

    def finish(self, drafts, hints) -> None:
        """Tokens per step from the cumulative count, over the steps between two logged lines."""
        before = None
        for draft in drafts:
            window = draft.raw.get("window_tokens")
            if window is not None and hints.rollouts and draft.response_mean and window < hints.rollouts:
                window = None
            if window is not None:
                steps = 1
                if draft.step is not None and before is not None and draft.step > before:
                    steps = draft.step - before
                draft.all_tokens = window / steps
            before = draft.step if draft.step is not None else before


def _clock(text: str) -> float:
    seconds = 0.0
    for part in text.split(":"):
        seconds = seconds * 60 + (float(part) if part else 0.0)
    return seconds

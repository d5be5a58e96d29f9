"""Averages and totals of a log's steps, in constant memory."""

from __future__ import annotations

from rlecon.readers.text import ratio

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

"""SkyRL logs: the console prints each step's metrics as a dictionary of text, in one line or one key per line.

``timing/step`` holds generate, fwd_logprobs_values_reward, train_critic_and_policy (which holds policy_train and
critic_train), sync_weights and save_checkpoints; ``timing/eval`` lies outside the step. Fully asynchronous runs log
``wait_for_generation_buffer`` instead of generate. ``reward/avg_pass_at_N`` names the group size.
Source: SkyRL, skyrl_train/trainer.py and fully_async_trainer.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlecon.readers.logs import BaseReader
from rlecon.readers.record import Draft
from rlecon.readers.text import number, pairs, quantity, whole

SIGNATURE = re.compile(
    r"timing/(?:fwd_logprobs_values_reward|train_critic_and_policy|wait_for_generation_buffer|generate\b|policy_train\b|"
    r"sync_weights)|trainer/global_step['\"]?\s*:|reward/avg_pass_at_\d|Finished: '(?:step|generate)', time cost"
)
_PHASES = {
    "generate": "rollout", "wait_for_generation_buffer": "idle", "fwd_logprobs_values_reward": "old_logprobs",
    "compute_advantages_and_returns": "advantage", "sync_weights": "weight_sync", "save_checkpoints": "checkpoint",
}  # fmt: skip
_FINISHED = re.compile(r"Finished: '([\w/]{1,60})', time cost: ([\d.]{1,15})s")
_ROW = re.compile(r"^\|([^|]{1,200})\|\s*([\d.,]{1,15})\s*(mean|median|max|min)?\s*\|")


class Reader(BaseReader):
    """Reads the console of SkyRL and its forks, or a table of seconds per optimizer step."""

    def read(self, lines: Iterator[str]) -> Iterator[Draft]:
        metrics: dict[str, float] = {}
        timers: dict[str, float] = {}
        in_table = False
        for line in lines:
            if "/" in line and (
                "timing/" in line or "reward/" in line or "generate/" in line or "trainer/" in line or "policy/" in line
            ):
                found = pairs(line)
                keys = metrics.keys() & found.keys()
                if "timing/step" in keys or "trainer/global_step" in keys or "timing/generate" in keys:
                    yield from self._draft(metrics, {})
                    metrics = {}
                metrics.update(found)
                timers = {}
            elif "Finished: '" in line and (found := _FINISHED.search(line)):
                seconds = number(found[2])
                if seconds is not None:
                    timers[found[1]] = timers.get(found[1], 0.0) + seconds
                if found[1] == "step":
                    if "timing/step" not in metrics and metrics.get("timing/generate") is None:
                        yield from self._draft(metrics, timers)
                        metrics = {}
                    timers = {}
            elif line.startswith("|"):
                if "seconds per" in line and "step" in line:
                    in_table = self.separate_runs = True
                elif in_table and (found := _ROW.match(line)):
                    draft = Draft(label=f"{found[1].strip()}, {found[3] or 'value'}", seconds=quantity(found[2])[0])
                    yield draft
            else:
                in_table = False
        yield from self._draft(metrics, timers if "step" in timers else {})

    @staticmethod
    def _draft(metrics: dict[str, float], timers: dict[str, float]) -> Iterator[Draft]:
        timing = {key[7:]: value for key, value in metrics.items() if key.startswith("timing/")} or timers
        if not timing and "reward/avg_raw_reward" not in metrics:
            return
        step = metrics.get("trainer/global_step", metrics.get("step"))
        draft = Draft(step=whole(step, 0.0), seconds=timing.get("step"))
        for name, phase in _PHASES.items():
            if name in timing:
                draft.add(phase, timing[name])
        trained = timing.get("train_critic_and_policy")
        if trained is None and "policy_train" in timing:
            trained = timing["policy_train"] + timing.get("critic_train", 0.0)
        draft.add("update", trained)
        for name in ("eval", "save_hf_model"):
            if name in timing:
                draft.outside[name] = timing[name]
                draft.flag("outside " + name, f"step_seconds: {name} runs outside the step's timer")
        if "wait_for_generation_buffer" in timing:
            draft.flag("async", "phase_seconds: rollouts are generated in the background; idle is the trainer's wait")
        if "fwd_logprobs_values_reward" in timing:
            draft.flag(
                "one timer",
                "phase_seconds: old_logprobs holds the passes of policy, reference and critic, and a "
                "teacher's scores: one timer for all",
            )
        draft.reward = metrics.get("reward/avg_raw_reward")
        draft.response_mean = metrics.get("generate/avg_num_tokens", metrics.get("generate/avg_assistant_tokens"))
        draft.response_max = metrics.get("generate/max_num_tokens")
        sizes = [key.rsplit("_", 1)[1] for key in metrics if re.fullmatch(r"reward/avg_pass_at_\d{1,4}", key)]
        if sizes and (size := max(map(int, sizes))) > 1:
            draft.group_size, draft.group_from = size, "logged: the name of pass@N"
        yield draft

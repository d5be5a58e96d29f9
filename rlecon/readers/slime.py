"""slime (and vime) logs: ``perf N: {...}`` and ``rollout N: {...}`` dictionaries, or a pasted table.

``step_time`` = ``train_wait_time`` (the trainer waits for rollouts) + ``train_time`` (log-probability passes and
update); sleep, wake-up and weight update are outside it. ``tokens_per_gpu_per_sec`` counts response tokens over the
rollout GPUs, ``actor_train_tok_per_s`` all tokens over all GPUs, ``rollout/zero_std/count_R`` the groups whose rewards
are all R. Source: slime, slime/ray/rollout.py and slime/utils/train_metric_utils.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlecon.readers.logs import BaseReader
from rlecon.readers.record import Draft, Hints
from rlecon.readers.text import pairs, product, quantity, ratio, smallest_batch, whole

SIGNATURE = re.compile(
    r"perf/(?:rollout_time|train_wait_time|step_time|actor_train_time|total_train_time|tokens_per_gpu_per_sec)|"
    r"rollout/(?:response_lengths|zero_std/|raw_reward)|\|\s*(?:avg )?train_wait\s*\|"
)
_PHASES = {
    "perf/ref_log_probs_time": "reference", "perf/log_probs_time": "old_logprobs", "perf/actor_train_time": "update",
    "perf/critic_train_time": "critic", "perf/data_preprocess_time": "data",
}  # fmt: skip
_OUTSIDE = ("perf/sleep_time", "perf/wake_up_time", "perf/update_weights_time")
_RECORD = re.compile(r"\b(perf|rollout) (\d{1,9}): ")
_LOOSE = re.compile(r"^['\"{\s]{0,4}(?:perf|rollout)/|^\{\"")
_LABEL = re.compile(r"zero_std/count_([-\d.]+)")


class Reader(BaseReader):
    """Reads slime, vime and kin; the two records of one rollout id are one step."""

    def read(self, lines: Iterator[str]) -> Iterator[Draft]:
        metrics: dict[str, float] = {}
        current: int | None = None
        table: list[list[str]] = []
        for line in lines:
            if "perf" in line or "rollout" in line:
                found = _RECORD.search(line)
                if found or _LOOSE.match(line):
                    values = pairs(line[found.end() :] if found else line)
                    step = int(found[2]) if found else whole(values.get("step"), 0.0) or current
                    if metrics and (
                        step != current or metrics.keys() & values.keys() & {"perf/step_time", "perf/rollout_time"}
                    ):
                        yield from self._draft(metrics, current)
                        metrics = {}
                    metrics.update(values)
                    current = step
                    continue
            if "timing_s/step" in line:
                self.note("framework: lines with verl's keys are in this log too and are left out")
            if line.lstrip().startswith("|") and len(table) < 40:
                table.append([cell.strip(" *`") for cell in line.strip().strip("|").split("|")])
        if metrics:
            yield from self._draft(metrics, current)
        yield from self._columns(table)

    def _columns(self, table: list[list[str]]) -> Iterator[Draft]:
        """A pasted comparison: one run per column, metrics as rows."""
        rows = {row[0].removeprefix("avg "): row[1:] for row in table if row and row[0].removeprefix("avg ") != row[0]}
        if not {"train_wait", "train_time"} & rows.keys():
            return
        self.separate_runs = True
        head = table[0][1:]
        for index, label in enumerate(head):

            def cell(name, index=index):
                row = rows.get(name, [])
                return (
                    quantity(row[index])[0]
                    if index < len(row) and row[index].rstrip(")%. 0123456789(").endswith("s")
                    else None
                )

            draft = Draft(label=label, seconds=cell("step_time"))
            draft.add("idle", cell("train_wait"))
            draft.add("update", cell("train_time"))
            if draft.seconds:
                draft.flag("train time", "phase_seconds: update holds all of train_time (log-probability passes too)")
                yield draft

    @staticmethod
    def _draft(metrics: dict[str, float], step: int | None) -> Iterator[Draft]:
        get = metrics.get
        draft = Draft(step=step)
        for key, phase in _PHASES.items():
            if key in metrics:
                draft.add(phase, metrics[key])
        rollout, wait, train = get("perf/rollout_time"), get("perf/train_wait_time"), get("perf/train_time")
        draft.seconds = get("perf/step_time")
        if wait is not None:
            busy = min(rollout, wait) if rollout is not None else None
            if busy is not None:
                draft.add("rollout", busy)
                draft.add("idle", wait - busy)
            else:
                draft.add("idle", wait)
                draft.flag(
                    "wait",
                    "phase_seconds: idle is the trainer's wait for rollouts; the rollout's own time is not logged",
                )
            if draft.seconds is None and train is not None:
                draft.seconds = wait + train
        elif rollout is not None:
            draft.add("rollout", rollout)
            if draft.seconds is None and (total := get("perf/total_train_time", train)) is not None:
                draft.add("update", total - sum(v for k, v in draft.phases.items() if k != "rollout"))
                draft.seconds = rollout + total
                draft.flag("in turn", "step_seconds: rollout time + training time, as if they ran in turn")
        for key in _OUTSIDE:
            if key in metrics:
                draft.outside[key.removeprefix("perf/").removesuffix("_time")] = metrics[key]
        if draft.outside:
            apart = sum(draft.outside.values())
            draft.flag(
                "outside",
                f"step_seconds: sleep, wake-up and weight update ({apart:.4g} s) are logged outside the step's timer",
            )
        draft.response_mean = get("rollout/response_len/mean", get("rollout/response_lengths"))
        draft.response_max = get("rollout/response_len/max")
        draft.truncated = get("rollout/truncated_ratio", get("rollout/truncated"))
        if (total := get("rollout/total_lengths")) is not None and draft.response_mean is not None:
            draft.prompt_mean = max(total - draft.response_mean, 0.0)
        draft.all_tokens = product(get("perf/actor_train_tok_per_s"), get("perf/actor_train_time"))
        draft.reward = get("rollout/raw_reward")
        draft.raw["gpu_tokens"] = product(get("perf/tokens_per_gpu_per_sec"), rollout)
        draft.raw["exact"] = (get("rollout/response_len/mean"), get("rollout/truncated_ratio"))
        counts = {m[1]: v for k, v in metrics.items() if (m := _LABEL.search(k)) and not k.startswith("eval")}
        if counts:
            draft.raw["dead"] = sum(counts.values())
            if all(label.rstrip(".0") in ("", "1") for label in counts):
                draft.reward_low, draft.reward_high = 0.0, 1.0
        yield draft

    def finish(self, drafts: list[Draft], hints: Hints) -> None:
        """Rollouts from the printed means, GPUs from the rate per GPU, mixed groups from the groups without spread."""
        for draft in drafts:
            count = hints.rollouts
            if count is None:
                count = whole(ratio(draft.all_tokens, (draft.response_mean or 0) + (draft.prompt_mean or 0)), 0.003)
                if count and draft.prompt_mean is not None:
                    draft.rollouts, draft.rollouts_from = count, "inferred: all tokens / mean length"
                else:
                    count = None
            if count is None and (batch := smallest_batch(*draft.raw.get("exact", ()))) and batch >= 16:
                count = draft.rollouts = batch
                draft.rollouts_from = "inferred: the smallest batch with exactly the printed means (or a multiple)"
            per_gpu = draft.raw.get("gpu_tokens")
            gpus = whole(ratio(product(count, draft.response_mean), per_gpu), 0.005)
            if gpus:
                draft.gpus, draft.gpus_from = gpus, "inferred: response tokens / (rate per rollout GPU x rollout time)"
            dead = draft.raw.get("dead")
            size = hints.group_size
            if dead is not None and count and size and dead <= count / size:
                draft.mixed = 1 - dead * size / count
                draft.mixed_from = "logged: groups without spread over all groups"
            elif dead is not None:
                most = f", so the group size is at most {count / dead:.3g}" if count and dead else ""
                draft.flag(
                    "dead groups", f"mixed_group_share: {dead:g} groups have one reward for all{most}; give group_size"
                )

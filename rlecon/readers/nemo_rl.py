"""NeMo-RL logs: blocks of bullets under "Training Results", "Timing" and "Performance Metrics", exported keys, tables.

``exposed_generation`` (asynchronous runs) is only the part of generation that the trainer waits for;
``prepare_for_generation/total`` is the refit of the engine's weights; rates per GPU count prompt and response tokens;
the training worker's idle ratio is forced to 0 whenever it would matter, so it is not used.
Source: NeMo-RL, nemo_rl/algorithms/grpo.py and utils.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from rlecon.readers.logs import BaseReader
from rlecon.readers.record import Draft, Hints
from rlecon.readers.text import logged, number, pairs, product, quantity, ratio, table_rows, whole

SIGNATURE = re.compile(
    r"Training Results:|Total step time:|policy_and_reference_logprobs|train/(?:total_num_tokens|throughput_per_gpu)|"
    r"timing/train/|gen_gbs,train_gbs|E2E \(Tokens/sec"
)
_PHASES = {
    "generation": "rollout", "exposed_generation": "idle", "policy_training": "update",
    "policy_and_reference_logprobs": "old_logprobs", "prepare_for_generation/total": "weight_sync",
    "weight_sync": "weight_sync", "reward_calculation": "reward", "checkpointing": "checkpoint",
    "validation": "evaluation", "value_training": "critic", "advantage_calculation": "advantage",
}  # fmt: skip
_STEP = re.compile(r"(?<!=)={5,90}\s{0,9}Step (\d{1,9})(?:\s*/\s*(\d{1,9}))?\b")
_BULLET = re.compile(r"^[^A-Za-z]{0,12}([A-Za-z][\w/ ()%.-]{0,80}?)\s{0,4}[:=]\s{0,4}(.{1,80})")
_NAMES = {
    "Total step time": "total_step_time", "Avg Reward": "reward", "Avg Total Reward": "reward",
    "Mean Generation Length": "mean_gen_tokens_per_sample", "E2E (Samples/sec)": "samples_per_sec",
    "E2E (Tokens/sec)": "tokens_per_sec", "E2E (Tokens/sec/gpu)": "tokens_per_sec_per_gpu",
    "Training Model Floating Point Utilization": "train_fp_utilization",
    "throughput_per_gpu": "tokens_per_sec_per_gpu", "mean_generation_length": "mean_gen_tokens_per_sample",
}  # fmt: skip
_PREFIX = re.compile(r"^(?:timing/train/|train/|performance/)")
_USED = {*_PHASES, *_NAMES.values(), "total_num_tokens", "mean_prompt_length", "truncation_rate"}


class Reader(BaseReader):
    """Reads the console of NeMo-RL, its exported keys one per line, or a table of published runs."""

    def read(self, lines: Iterator[str]) -> Iterator[Draft]:
        metrics: dict[str, str] = {}
        step = None
        for line in lines:
            if "gen_gbs,train_gbs" in line:
                self.separate_runs = True
                yield from self._table([line], lines)
                return
            if "Step " in line and (found := _STEP.search(line)):
                if metrics:
                    yield self._draft(metrics, step)
                metrics, step = {}, int(found[1])
                self.planned_steps = int(found[2]) if found[2] else self.planned_steps
                continue
            if line.startswith("{") and ("timing/train/" in line or '"train/' in line):
                if metrics:
                    yield self._draft(metrics, step)
                found = {_PREFIX.sub("", key): repr(value) for key, value in pairs(line).items()}
                yield self._draft(
                    {_NAMES.get(key, key): value for key, value in found.items()},
                    whole(number(found.get("step", "")), 0.0),
                )
                metrics, step = {}, None
                continue
            if ":" not in line and "=" not in line or not (found := _BULLET.match(line)):
                continue
            name, text = _PREFIX.sub("", found[1].strip()), found[2]
            name = _NAMES.get(name, name)
            if name == "Training Results" and "total_step_time" in metrics:
                yield self._draft(metrics, step)
                metrics, step = {}, None
            if name in _USED:
                if name == "total_step_time" and name in metrics:
                    yield self._draft(metrics, step)
                    metrics, step = {}, None
                metrics[name] = text
        if metrics:
            yield self._draft(metrics, step)

    @staticmethod
    def _draft(metrics: dict[str, str], step: int | None) -> Draft:
        get = partial(logged, metrics)
        draft = Draft(step=step)
        draft.seconds = get("total_step_time")
        for name, phase in _PHASES.items():
            if name in metrics:
                draft.add(phase, get(name))
        if "exposed_generation" in metrics:
            draft.flag(
                "exposed",
                "phase_seconds: generation runs in the background; idle is the part that the trainer "
                "waits for, and the busy time of the engines is not logged",
            )
        if "policy_and_reference_logprobs" in metrics:
            draft.flag(
                "both logprobs", "phase_seconds: old_logprobs holds the reference's pass too: one timer for both"
            )
        draft.response_mean, draft.prompt_mean = get("mean_gen_tokens_per_sample"), get("mean_prompt_length")
        draft.reward, draft.truncated = get("reward"), get("truncation_rate")
        draft.all_tokens = get("total_num_tokens")
        if draft.all_tokens is None:
            draft.all_tokens = product(get("tokens_per_sec"), draft.seconds)
        rate = get("tokens_per_sec_per_gpu")
        gpus = whole(ratio(get("tokens_per_sec"), rate), 0.005) or whole(
            ratio(ratio(draft.all_tokens, draft.seconds), rate), 0.005
        )
        if gpus:
            draft.gpus, draft.gpus_from = gpus, "inferred: tokens per second in all / per GPU"
        draft.gpu_seconds = ratio(draft.all_tokens, rate)
        count = whole(product(get("samples_per_sec"), draft.seconds), 0.005)
        if count:
            draft.rollouts, draft.rollouts_from = count, "inferred: samples per second x step time"
        mfu, unit = quantity(metrics.get("train_fp_utilization", ""))
        draft.mfu = mfu
        return draft

    @staticmethod
    def _table(head: list[str], lines: Iterator[str]) -> Iterator[Draft]:
        for row in table_rows(head, lines):
            gpus, seconds = whole(number(row.get("gpus", "")), 0.0), number(row.get("step_time_s", ""))
            rate = number(row.get("tokens_per_sec_per_gpu", ""))
            name = " ".join(row.get(key, "") for key in ("model", "system", "gpus", "precision", "policy_lag"))
            draft = Draft(label=name.strip(), seconds=seconds, gpus=gpus, gpus_from="logged")
            draft.all_tokens = product(rate, gpus, seconds)
            draft.response_mean = number(row.get("gen_avg_seq", ""))
            draft.rollouts, draft.rollouts_from = whole(number(row.get("gen_gbs", "")), 0.0), "logged"
            draft.flag("sequence", "response_tokens: gen_avg_seq x gen_gbs; the rate per GPU counts prompts too")
            yield draft

    def finish(self, drafts: list[Draft], hints: Hints) -> None:
        """Rollouts from the total of tokens, where both mean lengths are logged."""
        for draft in drafts:
            if draft.rollouts is None and draft.response_mean and draft.prompt_mean:
                count = whole(ratio(draft.all_tokens, draft.response_mean + draft.prompt_mean), 0.005)
                if count:
                    draft.rollouts, draft.rollouts_from = (
                        count,
                        "inferred: all tokens / mean prompt and response length",
                    )

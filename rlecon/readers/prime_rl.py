"""prime-rl logs: ``Step N | Time: ... |`` lines of orchestrator and trainer, exported keys, benchmark rows.

Orchestrator and trainer run at the same time, so their times are never added. The trainer's throughput counts packed
slots (padding too) and, since mid-2025, only forward and backward; its MFU is in percent. The orchestrator's
throughput x time / sequence length gives the rollouts of a step, a little too many when some began a step earlier.
Source: prime-rl, src/prime_rl/orchestrator/orchestrator.py, src/prime_rl/trainer/rl/train.py, benchmarks/baselines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlecon.readers.logs import BaseReader
from rlecon.readers.record import Draft, Hints
from rlecon.readers.text import number, pairs, product, ratio, table_rows, whole

SIGNATURE = re.compile(
    r"Step \d+ \| Time: [\d.]{1,15}s \|.{0,500}(?:tokens/s|Seq\. Length)|\[TRAIN\].{0,300}tokens_per_second:|"
    r"time/(?:wait_for_batch|forward_backward|wait_for_policy|broadcast_weights)|num_gpus,device,seq_len"
)
_LINE = re.compile(r"Step (\d{1,9}) \| (Time: .{1,2000})")
_OLD = re.compile(r"step: (\d{1,9}), (.{0,300}tokens_per_second: .{1,300})")
_FIELD = re.compile(r"(?:^| )(Time|Reward|Throughput|Seq\. Length|MFU): (-?\d{1,15}(?:\.\d{1,15})?)(?![\w.…]*…)")
_PHASES = {
    "time/wait_for_batch": "idle", "time/load_data": "data", "time/forward_backward": "update",
    "time/broadcast_weights": "weight_sync", "time/save_ckpt": "checkpoint",
}  # fmt: skip


class Reader(BaseReader):
    """Reads the two components' consoles (a step of both is one record), exported metrics, and benchmark tables."""

    def read(self, lines: Iterator[str]) -> Iterator[Draft]:
        waiting: dict[int | None, Draft] = {}
        for line in lines:
            if "num_gpus,device,seq_len" in line:
                self.separate_runs = True
                yield from self._table(line, lines)
                return
            if "Step " in line and (found := _LINE.search(line)):
                step = int(found[1])
                if step not in waiting:
                    if len(waiting) >= 64:
                        yield waiting.pop(next(iter(waiting)))
                    waiting[step] = Draft(step=step)
                elif self._again(waiting[step], found[2]):
                    yield waiting.pop(step)
                    waiting[step] = Draft(step=step)
                self._fields(waiting[step], found[2])
            elif "tokens_per_second" in line and (found := _OLD.search(line)):
                values = pairs(found[2])
                draft = Draft(step=int(found[1]))
                draft.raw["rate"] = values.get("tokens_per_second")
                draft.mfu = values["mfu"] / 100 if "mfu" in values else None
                yield draft
            elif "time/" in line or "perf/" in line:
                values = pairs(line)
                if values.keys() & _PHASES.keys():
                    draft = self._exported(values)
                    if draft.step is None or draft.step in waiting and waiting[draft.step].phases:
                        yield from waiting.values()
                        waiting = {}
                    self._merge(waiting, draft)
        yield from waiting.values()

    @staticmethod
    def _merge(waiting: dict[int | None, Draft], draft: Draft) -> None:
        """Put exported timers to the console's record of the same step, if there is one."""
        known = waiting.setdefault(draft.step, draft)
        if known is not draft:
            known.phases, known.flags = draft.phases, known.flags + draft.flags
            known.gpus, known.gpus_from = draft.gpus, draft.gpus_from
            known.mfu = draft.mfu if known.mfu is None else known.mfu
            known.seconds = max(known.seconds or 0.0, draft.seconds or 0.0) or None

    @staticmethod
    def _again(draft: Draft, text: str) -> bool:
        return (" Reward: " in text) == ("orchestrator" in draft.raw) and (
            " Reward: " in text or "trainer" in draft.raw
        )

    @staticmethod
    def _fields(draft: Draft, text: str) -> None:
        values = {key: float(value) for key, value in _FIELD.findall(text)}
        seconds, rate = values.get("Time"), values.get("Throughput")
        component = "orchestrator" if "Reward" in values or "Seq. Length" in values else "trainer"
        draft.raw[component] = seconds
        if component == "trainer":
            draft.mfu = ratio(values.get("MFU"), 100.0)
            draft.raw["rate"] = rate
        else:
            draft.reward = values.get("Reward")
            draft.all_tokens = product(rate, seconds)
            count = ratio(draft.all_tokens, values.get("Seq. Length"))
            if count is not None and count < 1e9:
                draft.rollouts, draft.rollouts_from = round(count), "inferred: throughput x time / sequence length"
                draft.flag(
                    "estimate",
                    "rollouts: from the orchestrator's throughput, which can read up to a few percent "
                    "high when rollouts began in the step before",
                )
        times = [draft.raw[name] for name in ("orchestrator", "trainer") if draft.raw.get(name) is not None]
        draft.seconds = max(times, default=None)
        if len(times) == 2:
            draft.flag(
                "two components", "step_seconds: orchestrator and trainer run at the same time; the longer counts"
            )

    @staticmethod
    def _exported(values: dict[str, float]) -> Draft:
        step = values.get("step", values.get("_step"))
        draft = Draft(
            step=int(step) if step is not None and step == int(step) else None, seconds=values.get("time/step")
        )
        for key, phase in _PHASES.items():
            if key in values:
                draft.add(phase, values[key])
        draft.mfu = values["perf/mfu"] / 100 if "perf/mfu" in values else None
        if gpus := whole(ratio(values.get("perf/throughput"), values.get("perf/throughput_per_gpu")), 0.005):
            draft.gpus, draft.gpus_from = gpus, "inferred: throughput in all / per GPU (of the trainer alone)"
            draft.flag("trainer only", "gpus: the trainer's own; the engines' GPUs are not in this log")
        return draft

    def _table(self, header: str, lines: Iterator[str]) -> Iterator[Draft]:
        failed = 0

        for row in table_rows([header], lines):
            if row.get("success", "").strip().lower() != "true":
                failed += 1
                continue
            rank = f"LoRA {row['lora_rank']}" if row.get("lora_rank") else "full"
            label = " ".join(
                [
                    row.get("type", ""),
                    row.get("model", ""),
                    rank,
                    row.get("num_gpus", ""),
                    row.get("device", ""),
                    row.get("seq_len", ""),
                    row.get("ac", ""),
                ]
            )
            draft = Draft(label=label.strip(), seconds=number(row.get("step_time_s", "")))
            draft.gpus, draft.gpus_from = whole(number(row.get("num_gpus", "")), 0.0), "logged"
            mfu = number(row.get("mfu_pct", ""))
            draft.mfu = mfu / 100 if mfu is not None else None
            draft.all_tokens = product(number(row.get("throughput_tok_s", "")), draft.seconds)
            yield draft
        if failed:
            self.note(f"steps: {failed} rows of failed runs are left out (their zeros are not measurements)")

    def finish(self, drafts: list[Draft], hints: Hints) -> None:
        """An MFU above 1 beside a possible one at the same token rate shows how many GPUs were not divided out."""
        plain = [d for d in drafts if d.mfu is not None and 0 < d.mfu <= 1 and d.raw.get("rate")][:1000]
        for draft in drafts:
            if draft.mfu is None or draft.mfu <= 1 or not draft.raw.get("rate") or not plain:
                continue
            other = min(plain, key=lambda d: abs(d.raw["rate"] - draft.raw["rate"]))
            times = whole(draft.mfu / other.mfu, 0.02)
            if times and times > 1 and abs(other.raw["rate"] / draft.raw["rate"] - 1) < 0.05:
                draft.flag(
                    "undivided",
                    f"mfu: {draft.mfu:.2%} is {times} times another step's {other.mfu:.2%} at the same "
                    f"token rate: not divided by {times} GPUs",
                )

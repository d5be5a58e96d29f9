"""verl logs: ``step:N - key:value - ...`` lines of the console, the keys one per line, or a pasted table of phases.

Timers (seconds of the driver, whole step): ``timing_s/step`` holds every phase, validation and checkpoints included;
``timing_s/generate_sequences``, ``reshard`` and ``agent_loop/*`` lie inside ``gen`` and are not added.
``perf/throughput`` is tokens per second and GPU; ``timing_per_token_ms/gen`` divides by response tokens, every other
``timing_per_token_ms`` by all tokens; ``global_seqlen/mean`` is tokens per data-parallel rank.
Source: verl, verl/trainer/ppo/metric_utils.py and ray_trainer.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import partial

from rlecon.readers.logs import BaseReader
from rlecon.readers.record import Draft, Hints
from rlecon.readers.text import decimals, logged, number, pairs, quantity, ratio, whole

SIGNATURE = re.compile(
    r"timing_s/(?:gen|step|collect_trajectory|old_log_prob|update_actor|ref)\b|critic/score/mean|global_seqlen/|"
    r"perf/mfu/actor|\|\s*(?:update_actor|old_log_prob)\s*\|"
)
_PHASES = {
    "gen": "rollout", "gen_max": "rollout", "collect_trajectory": "rollout", "generation": "rollout",
    "reward": "reward", "old_log_prob": "old_logprobs", "ref": "reference", "ref_log_prob": "reference",
    "RefPolicy": "reference", "values": "critic", "update_critic": "critic", "adv": "advantage",
    "update_actor": "update", "update_weights": "weight_sync", "save_checkpoint": "checkpoint",
    "testing": "evaluation",
}  # fmt: skip
_WANTED = re.compile(
    r"timing_s/|timing_per_token_ms/|perf/|critic/(?:score|rewards|advantages)/|response_length/|prompt_length/|"
    r"global_seqlen/|training/global_step|response/"
)
_STEP = re.compile(r"(?:^|[\s)])step:\s?(\d{1,9}|\?)(?= - [\w-]{1,60}/)(.*)")
_LINE = re.compile(
    r"(?:^|[ \t)'\"])((?:timing_s|perf|critic|response_length|prompt_length|actor|training)/[\w./@-]{1,100})['\"]?"
    r"\s{0,4}:(.*)"
)
_BELOW = re.compile(r"\s{0,8}[-*]?\s{0,4}(Throughput|MFU)\b[^:]{0,60}:(.{1,60})")
_MORE = re.compile(r" - [a-z_]\w{0,40}/[\w/@.+-]{1,100}:")
_WHOLE = re.compile(r"[a-z_]\w{0,40}/[\w/@.+-]{1,100}:[-+\d.eE]{1,40}$")
_OF = re.compile(r"\((\d{1,9})\s*/\s*(\d{1,9})\b")


class Reader(BaseReader):
    """Reads verl and its forks (rllm, EasyR1)."""

    def read(self, lines: Iterator[str]) -> Iterator[Draft]:
        metrics: dict[str, str] = {}
        tail, in_table, rows = "", False, 0
        for line in lines:
            started = _STEP.search(line) if "step:" in line else None
            if started:
                if metrics:
                    yield from self._draft(metrics)
                metrics, tail = {"step": started[1]}, self._take(started[2], metrics_into := {})
                metrics.update(metrics_into)
            elif line.startswith("{") and ('"timing_s/' in line or '"critic/' in line):
                if metrics:
                    yield from self._draft(metrics)
                yield from self._draft({key: repr(value) for key, value in pairs(line).items()})
                metrics, tail = {}, ""
            elif " - " in line and (_WANTED.search(line) or tail and _MORE.search(line)):
                tail = self._take(self._joined(line, tail, metrics), metrics)
            elif line.lstrip().startswith("|"):
                rows += self._table_row(line, metrics, rows)
                in_table, tail = in_table or rows > 0, ""
                continue
            elif "/" in line and (found := _LINE.search(line)) and (_WANTED.match(found[1])):
                if found[1] in metrics and found[1].startswith(("timing_s/step", "perf/throughput")):
                    yield from self._draft(metrics)
                    metrics = {}
                metrics[found[1]] = found[2]
                tail = ""
            else:
                if in_table and (found := _BELOW.match(line)):
                    metrics.setdefault({"Throughput": "perf/throughput", "MFU": "perf/mfu/actor"}[found[1]], found[2])
                tail = ""
            rows = 0
        if metrics:
            yield from self._draft(metrics)

    @staticmethod
    def _take(text: str, metrics: dict[str, str]) -> str:
        """Store the pairs of one line and return its last piece, which the next line may continue."""
        parts = text.split(" - ")
        for part in parts:
            key, colon, value = part.rpartition(":")
            if colon and _WANTED.match(key := key.strip(" -'\"{")):
                metrics[key] = value
        return parts[-1]

    @staticmethod
    def _joined(line: str, tail: str, metrics: dict[str, str]) -> str:
        """Undo a wrap in the middle of a pair: the pieces are glued unless the new line starts a pair of its own."""
        first = line.lstrip().split(" - ", 1)[0]
        if not _WHOLE.match(tail.strip() + first) or ":" in tail and _WHOLE.match(first):
            return line
        metrics.pop(tail.rpartition(":")[0].strip(" -"), None)
        return tail.strip() + line.lstrip()

    @staticmethod
    def _table_row(line: str, metrics: dict[str, str], rows: int) -> bool:
        """Store a row of a pasted table whose first cell is a timer's name; say whether it was one."""
        cells = [cell.strip(" *`") for cell in line.strip(" |").split("|", 3)]
        if len(cells) < 2 or quantity(cells[1])[0] is None:
            return False
        name = (cells[0].split() or [""])[0]
        if name in _PHASES:
            metrics["timing_s/" + name] = cells[1]
        elif name.lower() in ("total", "step") and rows:
            metrics.setdefault("timing_s/step", cells[1])
        else:
            return False
        return True

    def _draft(self, metrics: dict[str, str]) -> Iterator[Draft]:
        step = metrics.get("step") or metrics.get("training/global_step", "")
        draft = Draft(step=whole(number(step), 0.0) if step not in ("", "?") else None)
        if step.strip() in ("0", "0.0"):
            draft.step = 0
        if step == "?":
            draft.label = "?"

        get = partial(logged, metrics)
        draft.seconds = get("timing_s/step") or get("perf/time_per_step")
        for name, phase in _PHASES.items():
            if (seconds := get("timing_s/" + name)) is not None:
                if name == "collect_trajectory" and "timing_s/gen" in metrics:
                    continue
                draft.add(phase, seconds)
        if (evaluation := draft.phases.get("evaluation", 0)) > 0:
            draft.flag("validation inside", f"step_seconds: validation ({evaluation:.4g} s) is counted inside the step")
        draft.response_mean, draft.prompt_mean = get("response_length/mean"), get("prompt_length/mean")
        draft.response_max, draft.truncated = get("response_length/max"), get("response_length/clip_ratio")
        draft.all_tokens = get("perf/total_num_tokens")
        self._rates(draft, metrics, get)
        draft.reward, kind = get("critic/score/mean"), "score"
        if draft.reward is None:
            draft.reward, kind = get("critic/rewards/mean"), "rewards"
        draft.reward_low, draft.reward_high = get(f"critic/{kind}/min"), get(f"critic/{kind}/max")
        if (counted := _OF.search(metrics.get(f"critic/{kind}/mean", ""))) and 0 < int(counted[2]) >= int(counted[1]):
            draft.passed = int(counted[1]) / int(counted[2])
            draft.rollouts, draft.rollouts_from = int(counted[2]), "logged: the score's own count"
        high, low = get("critic/advantages/max"), get("critic/advantages/min")
        if high is not None and low is not None:
            if high == low == 0:
                draft.mixed, draft.mixed_from = 0.0, "logged: every advantage is exactly 0"
                draft.flag(
                    "zero advantages",
                    "mixed_group_share: every advantage is 0: no group had mixed rewards, or the group size is 1",
                )
            text = metrics["critic/advantages/max" if high >= -low else "critic/advantages/min"]
            draft.raw["advantage"] = (max(high, -low), decimals(text))
        draft.mfu = get("perf/mfu/actor")
        if draft.mfu is None:
            draft.mfu = get("actor/perf/mfu/actor")
        prefix = "timing_s/agent_loop/"
        draft.trajectory_mean = get(prefix + "generate_sequences/mean")
        draft.trajectory_max = get(prefix + "generate_sequences/max")
        tools = get(prefix + "tool_calls/mean")
        if tools is not None and draft.trajectory_mean is not None:
            draft.tool_share = ratio(tools, tools + draft.trajectory_mean)
        if (preempted := get(prefix + "slowest/num_preempted")) is not None and preempted < 0:
            draft.flag("preempted", "preemptions: logged as -1, which means not available")
        for name in ("mean", "min", "max", "balanced_max"):
            if (value := get("global_seqlen/" + name)) is not None:
                draft.raw["seqlen_" + name] = value
        draft.raw["seqlen_decimals"] = decimals(metrics.get("global_seqlen/mean", ""))
        if draft.phases or draft.seconds or draft.reward is not None or draft.response_mean is not None:
            yield draft

    @staticmethod
    def _rates(draft: Draft, metrics: dict[str, str], get) -> None:
        """Tokens and GPUs from the rates: per GPU, per response token or per token, each by its definition."""
        rate, unit = quantity(metrics.get("perf/throughput", ""))
        if rate is not None and "sample" in unit:
            draft.raw["samples_rate"] = rate
            draft.flag("samples rate", f"perf/throughput: {rate:g} {unit} counts samples, not tokens")
        elif rate is not None:
            draft.raw["tokens_rate"] = rate
            gpus = whole(ratio(ratio(draft.all_tokens, rate), draft.seconds), 0.01)
            if gpus:
                draft.gpus, draft.gpus_from = gpus, "inferred: total tokens / (tokens per second and GPU x step time)"
        low, high = 0.0, math.inf
        for key, text in metrics.items():
            if not key.startswith("timing_per_token_ms/"):
                continue
            name = key.split("/", 1)[1]
            seconds, per_token = get("timing_s/" + name), number(text)
            if seconds is None or per_token is None or per_token <= 0:
                continue
            half = 0.5 * 10.0 ** -decimals(text) if "e" not in text.lower() else 0.0
            tokens = seconds * 1000 / per_token
            if half / per_token < 1e-4:
                if name == "gen":
                    draft.response_tokens = tokens
                elif draft.all_tokens is None:
                    draft.all_tokens = tokens
            elif name != "gen":
                low = max(low, seconds * 1000 / (per_token + half))
                high = min(high, seconds * 1000 / (per_token - half) if per_token > half else math.inf)
        draft.raw["tokens_between"] = (low, high)

    def finish(self, drafts: list[Draft], hints: Hints) -> None:
        """Group size from the largest advantage, GPUs from the tokens per rank, rollouts from tokens over lengths."""
        group = self._group_size(drafts)
        ranks, how = self._ranks(drafts)
        for draft in drafts:
            gpus = hints.gpus or draft.gpus
            if draft.all_tokens is None and "seqlen_mean" in draft.raw and ranks:
                draft.all_tokens = draft.raw["seqlen_mean"] * ranks
            if draft.gpus is None and not hints.gpus and ranks:
                draft.gpus, draft.gpus_from = ranks, how
            if draft.all_tokens is None and "tokens_rate" in draft.raw and gpus and draft.seconds:
                draft.all_tokens = draft.raw["tokens_rate"] * gpus * draft.seconds
            if draft.rollouts is None and "samples_rate" in draft.raw and gpus and draft.seconds:
                draft.rollouts = draft.raw["samples_rate"] * gpus * draft.seconds
                draft.rollouts_from = "inferred: samples per second and GPU x GPUs x step time"
            if draft.rollouts is None and draft.response_mean is not None and draft.prompt_mean is not None:
                count = ratio(draft.all_tokens, draft.response_mean + draft.prompt_mean)
                if near := whole(count, 0.005):
                    size = hints.group_size or group
                    if size and near % size and abs(round(near / size) * size - count) < 0.003 * count:
                        near = round(near / size) * size
                    draft.rollouts, draft.rollouts_from = near, "inferred: all tokens / mean prompt and response length"
        self._rollouts_across_steps(drafts, group)
        for draft in drafts:
            divides = draft.rollouts is None or (group and draft.rollouts % group == 0)
            if group and divides and draft.group_size is None:
                draft.group_size = group
                draft.group_from = "inferred: the largest advantage is (G-1)/sqrt(G)"

    @staticmethod
    def _group_size(drafts: list[Draft]) -> int | None:
        best = max((d.raw["advantage"] for d in drafts if "advantage" in d.raw), default=None)
        if best is None or not 0.7 < best[0] < 64:
            return None
        value, digits = best
        size = round(((value + math.sqrt(value * value + 4)) / 2) ** 2)
        tolerance = max(1e-5 * value, 0.51 * 10.0**-digits)
        return size if size >= 2 and abs(value - (size - 1) / math.sqrt(size)) <= tolerance else None

    @staticmethod
    def _ranks(drafts: list[Draft]) -> tuple[int | None, str]:
        """Data-parallel ranks: total over mean where both are logged, else the only count that all steps allow."""
        seen = [d for d in drafts if d.raw.get("seqlen_mean")]
        if not seen:
            return None, ""
        for draft in seen:
            if exact := whole(ratio(draft.all_tokens, draft.raw["seqlen_mean"]), 0.001):
                return exact, "inferred: total tokens / tokens per data-parallel rank (GPUs, if each rank is one GPU)"
        totals = [d.all_tokens for d in drafts if d.all_tokens]

        def fits(count: int) -> bool:
            for raw in (d.raw for d in seen[:50]):
                mean, low, high = raw["seqlen_mean"], raw.get("seqlen_min"), raw.get("seqlen_max")
                error = count * 0.51 * 10.0 ** -raw["seqlen_decimals"]
                if abs(mean * count - round(mean * count)) > min(error, 0.4):
                    return False
                if low is not None and high is not None and high > low:
                    if count == 1 or (count == 2 and abs((low + high) / 2 - mean) > 0.6):
                        return False
                    least, most = low * (count - 1) + high, high * (count - 1) + low
                    if not least - count <= mean * count <= most + count:
                        return False
                between = raw.get("tokens_between", (0.0, math.inf))
                if not between[0] <= mean * count <= between[1]:
                    return False
                if totals and not 0.6 < mean * count / (sum(totals) / len(totals)) < 1.7:
                    return False
            return True

        possible = [count for count in range(1, 129) if fits(count)]
        if not possible:
            return None, ""
        basis = "inferred: tokens per data-parallel rank"
        if totals:
            target = sum(totals) / len(totals) / seen[0].raw["seqlen_mean"]
            near = min(possible, key=lambda count: abs(count - target))
            return near, basis + f" fit {near}, nearest to another step's total (GPUs, if each rank is one GPU)"
        if len(possible) == 1:
            return possible[0], basis + " fit only this many (GPUs, if each rank is one GPU)"
        return possible[0], basis + f" fit {', '.join(map(str, possible[:3]))}, ...; the fewest is taken"

    @staticmethod
    def _rollouts_across_steps(drafts: list[Draft], group: int | None) -> None:
        """A cut step without prompt lengths: prompts of another step of the run give the batch, to a multiple of G."""
        prompts = [d.all_tokens - d.response_tokens for d in drafts if d.all_tokens and d.response_tokens]
        if not prompts or not group:
            return
        for draft in drafts:
            if draft.rollouts is None and draft.all_tokens and draft.response_mean and draft.response_tokens is None:
                count = (draft.all_tokens - sum(prompts) / len(prompts)) / draft.response_mean
                near = round(count / group) * group if 0 < count < 1e9 else 0
                # The printed mean is a 32-bit float of a whole number of tokens over the batch.
                total = draft.response_mean * near
                if near and abs(near - count) < 0.01 * count and abs(total - round(total)) < 1e-7 * max(total, 1):
                    draft.rollouts = near
                    draft.rollouts_from = "inferred: this step's tokens less the prompt tokens of another step"

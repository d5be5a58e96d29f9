"""Training logs: find the framework, read every step into one record, and average.

One module per framework turns text into drafts (what the log says, nothing derived); ``derived`` says what follows.
"""

from __future__ import annotations

import importlib
import math
import re
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain, islice

from rlecon import catalog
from rlecon.errors import RleconError
from rlecon.readers.average import Average
from rlecon.readers.derived import derive
from rlecon.readers.record import WHY_UNKNOWN, Draft, Hints, LogReport, LogStep
from rlecon.readers.text import read_lines, records

FRAMEWORKS = ("verl", "trl", "nemo_rl", "skyrl", "openrlhf", "slime", "prime_rl")
_ALIASES = {
    "vime": "slime",
    "miles": "slime",
    "rllm": "verl",
    "easyr1": "verl",
    "open-r1": "trl",
    "marinskyrl": "skyrl",
}
# Steps that are looked at together, and steps that a report lists: both bound the memory of a log of any length.
_BLOCK, _LISTED = 10_000, 10_000


def _report(sums: Average, kept: list[LogStep], framework: str, gpu, hints: Hints, reader: BaseReader) -> LogReport:
    flags = reader.notes + sums.counted_flags()
    common = {"framework": framework, "gpu": gpu, "usd_per_gpu_hour": hints.usd_per_gpu_hour, "steps": tuple(kept)}
    if reader.separate_runs:
        flags.append("average: the rows are separate runs, so nothing is averaged")
        return LogReport(**common, flags=tuple(flags), separate_runs=True)
    values = sums.values()
    if reader.planned_steps and values["step_seconds"]:
        hours = reader.planned_steps * values["step_seconds"] / 3600
        cost = f", {hours * hints.gpus:.0f} GPU-hours on {hints.gpus} GPUs" if hints.gpus else ""
        flags.append(f"planned_steps: {reader.planned_steps} steps at this pace take {hours:.1f} h{cost}")
    if len(kept) < sums.steps:
        flags.append(f"steps: {sums.steps} are logged and averaged; {len(kept)} evenly spaced ones are listed")
    if sums.went_back:
        flags.append(f"steps: the step number goes back {sums.went_back} times (restarts?): all steps count and cost")
    if len(sums.gpus) > 1:
        flags.append("gpus: the inferred number differs between steps; the mean is shown")
    for name, why in WHY_UNKNOWN.items():
        if not values[name] and values[name] != 0 and not any(text.startswith(name + ":") for text in flags):
            flags.append(f"{name}: unknown, because {why}")
    return LogReport(**common, **values, total=sums.total(), planned_steps=reader.planned_steps, flags=tuple(flags))


def _module(name: str):
    return importlib.import_module(f"rlecon.readers.{name}")


def framework_name(name: str) -> str:
    """The reader's name for what people call the framework ("prime-rl", "NeMo RL", "vime").

    >>> framework_name("NeMo-RL"), framework_name("vime")
    ('nemo_rl', 'slime')
    """
    key = str(name).strip().lower()
    key = _ALIASES.get(key, re.sub(r"[-\s]+", "_", key))
    if key not in FRAMEWORKS:
        raise RleconError(
            "no reader for this framework", field="framework", value=str(name)[:60], allowed=", ".join(FRAMEWORKS)
        )
    return key


def detect(lines: Iterator[str]) -> tuple[str, Iterator[str]]:
    """The framework, by the first line that only one framework writes, and the lines from a little before it."""
    signatures = [(name, _module(name).SIGNATURE) for name in FRAMEWORKS]
    anything = re.compile("|".join(f"(?:{pattern.pattern})" for _, pattern in signatures))
    before: deque[str] = deque(maxlen=40)
    for line in lines:
        if anything.search(line):
            name = next(name for name, pattern in signatures if pattern.search(line))
            return name, chain(before, [line], lines)
        before.append(line)
    raise RleconError(
        "no line of this log has the keys of a framework that can be read",
        field="log",
        allowed="logs of " + ", ".join(FRAMEWORKS),
        advice="give the console output or an exported table with the framework's own keys, or name the framework",
    )


def _check(name, value, low, kind):
    if value is None:
        return None
    try:
        good = kind(value) == value and math.isfinite(value) and value >= low
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise RleconError("not a usable number", field=name, value=value, allowed=f"{low} or more", advice="correct it")
    return kind(value)


def read_log(
    source,
    *,
    framework: str | None = None,
    gpu: str | None = None,
    gpus: int | None = None,
    usd_per_gpu_hour: float | None = None,
    group_size: int | None = None,
    rollouts: int | None = None,
    binary_reward: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> LogReport:
    """Read a training log of verl, TRL, prime-rl, NeMo-RL, SkyRL, slime (vime) or OpenRLHF.

    Args:
        source: path of the log, or an iterable of its lines. The text is only read: nothing in it is executed.
        framework: which reader to use; detected from the first telling line when not given.
        gpu: name of the GPU; without a price the catalogue's dated median for it is used, and a flag says so.
        gpus: GPUs of the whole run; inferred from the log's own rates when not given and possible.
        usd_per_gpu_hour: price, in USD per GPU-hour; without it and without a known GPU money stays unknown.
        group_size: rollouts per prompt; inferred from the largest advantage when not given and possible.
        rollouts: rollouts in one step, if the log does not settle it.
        binary_reward: say that the reward is 0 or 1 where the log shows only its mean.
        progress: called with (bytes read, bytes in all) while a file is read.

    Returns:
        A ``LogReport``: one ``LogStep`` per logged step, their averages, and flags that say what is unknown and why.

    Raises:
        RleconError: the file cannot be opened, no reader fits, or an argument is out of range.

    Source: the key names and their meaning are read from each framework's code; see the modules of this folder.

    >>> line = "step:1 - response_length/mean:100 - prompt_length/mean:20 - timing_s/gen:6 - timing_s/step:10"
    >>> report = read_log([line + " - perf/total_num_tokens:1920 - perf/throughput:96"])
    >>> report.rollouts, report.gpus, report.phase_share["rollout"]
    (16, 2, 0.6)
    """
    reader_notes = []
    if gpu is not None and usd_per_gpu_hour is None:
        usd_per_gpu_hour, said = _listed_price(gpu)
        reader_notes.append(said)
    hints = Hints(
        gpus=_check("gpus", gpus, 1, int),
        group_size=_check("group_size", group_size, 1, int),
        rollouts=_check("rollouts", rollouts, 1, int),
        usd_per_gpu_hour=_check("usd_per_gpu_hour", usd_per_gpu_hour, 0, float),
        binary_reward=bool(binary_reward),
    )
    lines = records(read_lines(source, progress))
    if framework is None:
        name, lines = detect(lines)
    else:
        name = framework_name(framework)
    reader = _module(name).Reader()
    reader.notes.extend(reader_notes)
    sums, kept, stride = Average(), [], 1
    for block in _blocks(draft for draft in reader.read(lines) if draft.says_something()):
        reader.finish(block, hints)
        for draft in block:
            step = derive(draft, hints)
            if sums.steps % stride == 0:
                kept.append(LogStep(**{**step, "flags": tuple(text for _, text in step["flags"])}))
                if len(kept) > _LISTED:
                    del kept[1::2]
                    stride *= 2
            sums.add(step)
    if not sums.steps:
        raise RleconError(f"no training step of {name} in this log", field="log", advice="check the framework")
    return _report(sums, kept, name, gpu, hints, reader)


def _listed_price(name: str) -> tuple[float | None, str]:
    """The catalogue's median rent of a GPU, with the words for the report."""
    try:
        price = catalog.gpu_price(name)
    except RleconError:
        return None, f"usd: unknown, because {str(name)[:60]} is not in the catalogue; give usd_per_gpu_hour"
    if price is None:
        return None, f"usd: unknown, because the catalogue has no price of {name}; give usd_per_gpu_hour"
    spread = f", quartiles {price.low:g} to {price.high:g}" if price.low is not None and price.high is not None else ""
    return price.mid, f"usd: at {price.mid:g} USD per GPU-hour, the catalogue's median as of {price.as_of}{spread}"


def _blocks(drafts: Iterator[Draft]) -> Iterator[list[Draft]]:
    while block := list(islice(drafts, _BLOCK)):
        yield block


class BaseReader:
    """What every framework's reader has: notes about the whole log, and a last look at all steps together."""

    def __init__(self):
        self.notes: list[str] = []
        self.planned_steps: int | None = None
        self.separate_runs = False

    def note(self, text: str) -> None:
        """Say something about the whole log, once."""
        if text not in self.notes:
            self.notes.append(text)

    def read(self, lines: Iterator[str]) -> Iterator[Draft]:
        """Yield one draft per step."""
        raise NotImplementedError

    def finish(self, drafts: list[Draft], hints: Hints) -> None:
        """Fill in what only several steps together show. Nothing by default."""

"""`rlecon read`: a log, its diagnosis, and the model's expectation beside it."""

from __future__ import annotations

import sys

from rlecon import diagnosis
from rlecon.readers.logs import read_log
from rlecon.readers.record import LogReport
from rlecon.run import Run

CAP_MET = 0.98  # of the cap, from which the longest response was cut by it
LONG_FILE = 4_000_000  # bytes from which a bar is worth showing


def progress_bar(quiet: bool):
    """A callback that draws a bar on standard error while a long file is read; None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        return None
    import click

    bars: list = []

    def show(done: int, total: int) -> None:
        if total < LONG_FILE:
            return
        if not bars:
            bars.append(click.progressbar(length=total, label="reading", file=sys.stderr))
        bars[0].update(done - bars[0].pos)
        if done >= total:
            bars[0].render_finish()

    return show


def expectation(run: Run, report: LogReport) -> dict:
    """The model's seconds per phase for a run, with what the log knows better put in its place.

    Response length, prompt length, group size and pass rate of the log replace those of the run file, so that the gap
    is the model's and not the run file's. Where more responses were cut than the spread of lengths explains, the rest
    loops up to the cap of the run file, if the longest response of the log met that cap.
    """
    from rlecon.looping import looping_share
    from rlecon.pricing import bill
    from rlecon.resolve import resolve

    known = {
        "rollout.response_tokens": report.mean_response_tokens,
        "rollout.prompt_tokens": report.mean_prompt_tokens,
        "reward.pass_rate": report.pass_rate,
    }
    cap = run["rollout.max_response_tokens"]
    changes = {k: float(x) for k, x in known.items() if x}
    if cap is not None and changes.get("rollout.response_tokens", 0) >= cap:
        changes["rollout.response_tokens"] = 0.999 * cap
    met = cap is not None and (report.max_response_tokens or cap) >= CAP_MET * cap
    if met and report.truncated_share and "rollout.response_tokens" in changes:
        cv, mean = resolve(run).quantities["response_tokens_cv"], changes["rollout.response_tokens"]
        if report.truncated_share * cap < mean:
            looping = looping_share(report.truncated_share, mean, cap, cv)
            changes |= {"rollout.looping_share": looping} if looping else {}
    made = bill(run.replace(changes, origin="log") if changes else run)
    step = made.figure("step_seconds")
    return {
        "from_log": sorted(changes),
        "step_seconds": step.to_dict(),
        "phases": {name: float(x) for name, x in made.phases.items()},
        "usd_per_step": made.figure("usd_per_step").to_dict(),
    }


def read(log, *, run: Run | None = None, progress=None, gpu=None, gpus=None, usd_per_gpu_hour=None, **hints) -> dict:
    """The JSON object of ``rlecon read``.

    With ``run``, GPUs, price and group size come from the run file where they are not given, and ``expected`` and
    ``gap`` (log over model, phase by phase) are added.
    """
    if run is not None:
        gpus = gpus or run["hardware.gpus"]
        gpu = gpu or (run["hardware.gpu"] if run["hardware.gpu"] != "custom" else None)
        usd_per_gpu_hour = usd_per_gpu_hour if usd_per_gpu_hour is not None else run["hardware.usd_per_gpu_hour"]
        hints["group_size"] = hints.get("group_size") or run["rollout.group_size"]
    report = read_log(log, gpu=gpu, gpus=gpus, usd_per_gpu_hour=usd_per_gpu_hour, progress=progress, **hints)
    answer = report.to_dict()
    known = {}
    if run is not None:
        expected = expectation(run, report)
        answer["expected"] = expected
        answer["gap"] = {
            name: seconds / expected["phases"][name]
            for name, seconds in report.phase_seconds.items()
            if seconds and expected["phases"].get(name)
        }
        if report.step_seconds:
            answer["gap"]["step"] = report.step_seconds / expected["step_seconds"]["mid"]
        known = {"run": run, "expectation": expected["phases"]}
    answer["diagnosis"] = [finding.to_dict() for finding in diagnosis.diagnose(report, **known)]
    return answer


def text(answer: dict) -> str:
    """The answer as one screen: the step, where it went, what to change first, what is unknown."""
    from rlecon import report

    value = report.value
    steps = len(answer["steps"])
    if answer["separate_runs"]:
        head = f"{answer['framework']}: a table of {steps} separate runs"
    else:
        money = f", {value(answer['usd'], 'usd')}" if answer["usd"] is not None else ""
        took = value(answer["step_seconds"], "seconds") if answer["step_seconds"] else "an unknown time"
        head = f"{answer['framework']}, {steps} step{'s' if steps != 1 else ''}: a step takes {took}{money}"
    lines = [head + ".", ""]
    phases = {k: x for k, x in answer["phase_seconds"].items() if x}
    if phases:
        lines += ["Where a step goes", *report.bars([(k.replace("_", " "), x) for k, x in phases.items()]), ""]
    facts = [
        ("rollouts", "rollouts", ""), ("gpus", "GPUs", ""), ("mean_response_tokens", "tokens per response", ""),
        ("pass_rate", "pass rate", "%"), ("mixed_group_share", "mixed groups", "%"),
        ("truncated_share", "cut at the cap", "%"), ("bits_per_rollout", "bits per rollout, at most", ""),
        ("mfu", "logged MFU", "%"),
    ]  # fmt: skip
    rows = [(words, value(answer[key], unit)) for key, words, unit in facts if answer.get(key) is not None]
    lines += [report.table(rows)] if rows else []
    if "expected" in answer:
        lines += ["", "Model beside log (log over model)"]
        lines += [f"  {name.replace('_', ' ')}: {ratio:.2f}" for name, ratio in answer["gap"].items()]
    found = [f for f in answer["diagnosis"] if f["verdict"] == "found"]
    if found:
        lines += ["", "Change this first"]
        for f in found[:4]:
            saved, unit = f["usd_saved_per_step"], "usd"
            if saved is None:  # without a price, the time
                saved, unit = f["seconds_saved_per_step"], "seconds"
            tail = f" Saves up to {value(saved, unit)} a step." if saved and saved > 0 else ""
            lines.append(f"  {f['says']}{tail}")
    if answer["flags"]:
        lines += ["", "Read with care", *(f"  {flag}" for flag in answer["flags"][:6])]
    return "\n".join(lines)

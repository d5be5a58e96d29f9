"""One screen of text: the answer first, then where it goes, then what to change first, then warnings."""

from __future__ import annotations

import re
import shutil

import numpy as np

from rlecon.errors import RleconError
from rlecon.formatting import format_number, format_value, plain_spaces

BAR = "█"
PHASE_WORDS = {
    "rollout": "rollout", "environment": "environments", "old_logprobs": "old log-probabilities",
    "reference": "reference, critic", "update": "update", "weight_sync": "weight transfer",
    "reward": "switching, data", "evaluation": "evaluation", "idle": "idle GPUs",
}  # fmt: skip


def value(x, unit="", digits=3) -> str:
    """A number as text; an interval is written in the unit of its middle, which stands once."""
    if hasattr(x, "mid"):
        if x.low is None:
            return value(x.mid, unit, digits)
        low, mid, high = (float(y) for y in (x.low, x.mid, x.high))
        text = value(mid, unit, digits)
        number = re.search(r"[\d.,]*\d", text)
        scale = mid / float(number.group().replace(",", "")) if mid else 1.0
        size = float(f"{scale:.2g}")
        sides = (plain_spaces(format_number(side / size, "", digits)) for side in (low, high))
        return f"{text} ({' to '.join(sides)})"
    if isinstance(x, np.generic):
        x = x.item()
    return plain_spaces(format_value(x, unit, digits))


def bars(rows, width=None) -> list[str]:
    """Rows of (label, seconds) as aligned bars with seconds and shares."""
    width = width or min(34, max(10, shutil.get_terminal_size((88, 24)).columns - 56))
    total = sum(amount for _, amount in rows) or 1.0
    label_width = max(len(label) for label, _ in rows)
    lines = []
    for label, amount in rows:
        filled = BAR * max(1 if amount > 0 else 0, round(width * amount / total))
        lines.append(
            f"  {label:<{label_width}}  {plain_spaces(format_number(float(amount), 'seconds')):>9}  "
            f"{100 * amount / total:3.0f} %  {filled}"
        )
    return lines


def estimate(bill) -> str:
    """The text of ``rlecon estimate``; raises RleconError for several runs at once."""
    run, v, resolved = bill.run, bill.values, bill.resolved
    words = PHASE_WORDS | ({"reward": f"{run['judge.role']} model, switching"} if run["judge.name"] else {})
    several = [key for key, given in run.values.items() if np.ndim(given)]
    if several:
        raise RleconError(
            "several values", field=", ".join(several), advice="--json prices all of them; text is about one run"
        )
    pools = ""
    if run["hardware.rollout_gpus"]:
        pools = f" ({run['hardware.rollout_gpus']} generating, {int(v['training_pool_gpus'])} training)"
    lora = f", LoRA rank {run['model.lora_rank']}" if run["model.lora_rank"] else ""
    answer = [f"a step takes {value(bill.figure('step_seconds'), 'seconds')}"]
    if v["gpu_hours_run"] is not None:
        answer.append(f"the run {value(bill.figure('gpu_hours_run'), 'GPU-hours')}")
        if v["usd_run"] is not None:
            answer.append(value(bill.figure("usd_run"), "usd"))
    else:
        answer.append(f"{value(bill.figure('gpu_hours_per_step'), 'GPU-hours')} a step")
        if v["usd_per_step"] is not None:
            answer.append(value(bill.figure("usd_per_step"), "usd") + " a step")
    lines = [
        f"{resolved.architecture.name}{lora} on {run['hardware.gpus']} {resolved.gpu.label}{pools}: "
        + ", ".join(answer) + ".",
        "The ranges hold 80 % of steps like those that calibrate the model: one framework; others err more.",
        "",
        "Where a step goes",
        *bars([(words[k], float(x)) for k, x in bill.phases.items()]),
    ]  # fmt: skip
    if float(v["concurrent_streams"]):
        lines.append("  (two pools work side by side: busy times add to more than the step)")
    rate = v["generated_tokens_per_step"] / (v["rollout_seconds"] * v["rollout_pool_gpus"])
    lines += [
        "",
        f"Rollout  {value(v['generated_tokens_per_step'], 'tokens', 2)} a step, {value(rate)} a second and GPU; "
        f"{value(v['resident_sequences'])} sequences on an engine of {int(v['tensor_parallel'])} GPU",
        f"         while full: MFU {value(v['decode_mfu'], '%', 2)}, bandwidth "
        f"{value(v['decode_bandwidth_utilisation'], '%', 2)}",
        f"Update   MFU {value(v['train_mfu'], '%', 2)}",
        f"Memory   {bill.fits[1]}",
    ]
    if v["mixed_group_share"] == 0:
        lines.append("Learning no group teaches: all rollouts of a prompt end alike")
    elif v["mixed_group_share"] is not None:
        lines.append(
            f"Learning {value(v['mixed_group_share'], '%')} of groups teach; at most "
            f"{value(v['bits_per_rollout'], 'bits', 2)} per rollout, {value(v['bits_per_token'], 'bits', 2)} per token"
        )
        if v["usd_per_bit"] is not None and np.isfinite(v["usd_per_bit"]):
            lines.append(
                f"         {value(v['usd_per_mixed_group'], 'usd', 2)} per mixed group, "
                f"{value(v['usd_per_bit'], 'usd', 2)} per bit"
            )
    lines += ["", "Change this first"]
    lines += [f"  {line}" for line in advice(bill, 3)]
    lines += _notes(bill)
    return "\n".join(lines)


def target(forecast) -> str:
    """The text of ``rlecon target``."""

    def span(row, unit):
        low, mid, high = row["low"], row["mid"], row["high"]
        if low is None or not np.isfinite(low):
            return "unknown"
        if high is None or not np.isfinite(high):
            return f"at least {value(low, unit)}"
        if mid is None or not np.isfinite(mid):
            return f"{value(low, unit)} to {value(high, unit)}"
        return f"{value(mid, unit)} ({value(low, unit)} to {value(high, unit)})"

    words = {"pilot": "the pilot's log", "logit_per_step": "the given drift", "published": "published runs"}
    lines = [
        f"From {forecast.start_pass_rate:.3g} to {forecast.target_pass_rate:.3g}: "
        f"{span(forecast.steps, '')} steps, {span(forecast.gpu_hours, 'GPU-hours')}, {span(forecast.usd, 'usd')}.",
        f"Drift from {words[forecast.basis]}.",
        "",
        "By clock",
        *(f"  {name.replace('_', ' '):<13} {span(row, '')} steps" for name, row in forecast.clocks.items()),
        "",
        "Mind",
        *(f"  {note}" for note in forecast.notes),
    ]
    return "\n".join(lines)


def advice(bill, count) -> list[str]:
    """The settings whose next value saves most, then the inputs that the bill follows most closely."""
    rows = bill.sensitivity()
    what = "dollars" if bill.values["usd_per_step"] is not None else "GPU-hours"
    price = {"hardware.usd_per_gpu_hour", "run.steps", "run.attempts"}
    per = lambda r: r.get("ratio_per_signal", r["ratio"])  # noqa: E731
    moves = [r for r in rows if "next" in r and per(r) < 0.995][: max(1, count - 1)]
    kept = " for the same signal" if bill.values["signal_per_step"] is not None else ""
    lines = [f"{r['input']} = {str(r['next']).lower()}: {what} x{per(r):.2f}{kept}" for r in moves]
    for row in rows:
        if "elasticity" in row and row["input"] not in price and len(lines) < count:
            lines.append(f"{row['input']}: 1 % more changes {what} by {row['elasticity']:+.2f} %")
    return lines


def _notes(bill) -> list[str]:
    lines = []
    if bill.warnings:
        lines += ["", "Warnings", *(f"  {w}" for w in bill.warnings)]
    if bill.not_modeled:
        lines += ["", "Not modeled", *(f"  {w}" for w in bill.not_modeled)]
    filled = ("catalogue", "default", "smallest")
    named = f"catalogue: {bill.resolved.gpu.name}"  # data of the GPU that the run names are no assumption
    assumed = [k for k, o in bill.resolved.origins.items() if o.startswith(filled) and o != named]
    if assumed:
        words = ", ".join(f"{k.split('.', 1)[1]} {bill.short(k)}" for k in sorted(assumed))
        lines += ["", f"Filled in  {words}"]
    return lines


def table(pairs) -> str:
    """Name and value lines, aligned."""
    width = max(len(name) for name, _ in pairs)
    return "\n".join(f"  {name:<{width}}  {text}" for name, text in pairs)

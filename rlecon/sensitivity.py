"""What moves a bill: elasticities of continuous inputs, and the next setting of whole numbers and switches.

All points are priced in one array call along the same equations, so that a full answer stays within milliseconds.
"""

from __future__ import annotations

import numpy as np

from rlecon import supply
from rlecon.equation import RELATIVE_STEP
from rlecon.errors import RleconError
from rlecon.quantity import REGISTRY
from rlecon.resolve import DIRECT, GROUP_RELATIVE, run_model

LEAST = 5e-4  # elasticities smaller than this are not worth a line
KINK = 0.01  # sides that differ by more are both shown
SWITCHES = ("update.old_logprobs", "update.reference_model", "update.activation_recompute", "update.critic")
WHOLE = (
    "hardware.gpus",
    "rollout.group_size",
    "rollout.prompts_per_step",
    "rollout.tensor_parallel",
    "update.epochs",
    "update.minibatches",
)
NOT_DIRECT = {
    "usd_per_gpu_hour": "hardware.usd_per_gpu_hour", "max_response_tokens": "rollout.max_response_tokens",
    "engine_memory_share": "rollout.engine_memory_share", "response_tokens_cv": "rollout.response_tokens_cv",
    "measured_tokens_per_second_per_gpu": "rollout.measured_tokens_per_second_per_gpu",
    "measured_mfu": "update.measured_mfu", "usd_per_cpu_hour": "rollout.usd_per_cpu_hour",
    "build_usd": "environment.build_usd",
}  # fmt: skip
BITS = {"weight_bits", "kv_bits", "train_bits"}


def output_of(values) -> str:
    """What is watched: dollars of the run, else hours, else dollars or hours of a step."""
    for name in ("usd_run", "gpu_hours_run", "usd_per_step"):
        if values.get(name) is not None:
            return name
    return "gpu_hours_per_step"


def moves(bill) -> list[tuple]:
    """(key, next setting, changed quantities) of every whole number and switch that has a next setting."""
    run, q = bill.run, bill.resolved.quantities
    out = []
    for key in WHOLE:
        name = DIRECT.get(key, key.split(".")[1])
        now = int(q[name])
        for new in (now * 2, now // 2):
            if new < 1 or new * 2 != now and new != now * 2:
                continue
            change = {name: new}
            if key == "hardware.gpus":
                factor = new / now
                change |= {n: q[n] * factor for n in ("rollout_pool_gpus", "training_pool_gpus", "judge_gpus")}
                if any(float(x) != int(x) for x in change.values()):
                    continue
            if key == "rollout.group_size" and new < 2 and run["model.algorithm"] in GROUP_RELATIVE:
                continue
            out.append((key, new, change))
    for key in SWITCHES:
        if key == "update.critic" and run["model.algorithm"] != "ppo":
            continue
        new = not run[key]
        change = {DIRECT[key]: float(new)}
        if key == "update.activation_recompute":
            change["activation_bytes_per_token"] = supply.activation_bytes(new, bill.overrides)
        out.append((key, new, change))
    if run["update.overlap"] != "full":
        new = not run["rollout.partial_rollouts"]
        out.append(("rollout.partial_rollouts", new, {"continuous_generation": float(new)}))
    if not q["measured_tokens_per_second_per_gpu"]:
        for bits in (16, 8, 4):
            if bits == run["rollout.weight_bits"]:
                continue
            try:
                peaks = supply.of_gpu(
                    bill.resolved.gpu, weight_bits=bits, train_bits=run["update.train_bits"], overrides=bill.overrides
                )
            except RleconError:
                continue
            change = {"weight_bits": bits, "rollout_flops_per_second": peaks["rollout_flops_per_second"]}
            out.append(("rollout.weight_bits", bits, change))
    return out


def rows(bill) -> list[dict]:
    """The rows of :meth:`rlecon.pricing.Bill.sensitivity`."""
    values, output = bill.values, output_of(bill.values)
    taught = values.get("signal_per_step") is not None
    model = run_model()
    wanted = [output, *(["signal_per_step"] if taught else [])]
    needed = model.inputs(wanted)
    now = {name: values[name] for name in needed if values.get(name) is not None}
    for name in needed:
        now.setdefault(name, 1.0 if name in ("steps", "usd_per_gpu_hour") else 0.5)
    key_of = {quantity: key for key, quantity in DIRECT.items()} | NOT_DIRECT
    smooth = [
        n for n in needed
        if n in key_of and not REGISTRY[n].integer and n not in BITS and np.isfinite(now[n]) and now[n] != 0
        and not isinstance(bill.run[key_of[n]], bool)
    ]  # fmt: skip
    steps = moves(bill)
    size = 1 + 2 * len(smooth) + len(steps)
    touched = {*smooth, *(name for _, _, change in steps for name in change if name in now)}
    table = {n: np.full(size, float(x)) if n in touched else x for n, x in now.items()}
    for i, name in enumerate(smooth):
        table[name][1 + 2 * i] *= 1 - RELATIVE_STEP
        table[name][2 + 2 * i] *= 1 + RELATIVE_STEP
    first = 1 + 2 * len(smooth)
    for i, (_, _, change) in enumerate(steps):
        for name, x in change.items():
            if name in table:
                table[name][first + i] = x
    reasons: list = []
    solved = model.solve(table, wanted, reasons=reasons)
    totals = np.broadcast_to(solved[output], size)
    logs = np.log(totals / totals[0])
    found = []
    for i, name in enumerate(smooth):
        below = float(logs[1 + 2 * i] / np.log1p(-RELATIVE_STEP))
        above = float(logs[2 + 2 * i] / np.log1p(RELATIVE_STEP))
        sides = [x for x in (below, above) if np.isfinite(x)]
        if not sides or max(map(abs, sides)) < LEAST:
            continue
        row = {"input": key_of[name], "elasticity": round(sum(sides) / len(sides), 4)}
        if len(sides) == 2 and abs(below - above) > KINK:
            row |= {"below": round(below, 4), "above": round(above, 4)}
        found.append(row)
    found.sort(key=lambda r: -abs(r["elasticity"]))
    settings = []
    for i, (key, new, _) in enumerate(steps):
        ratio = float(totals[first + i] / totals[0])
        if not np.isfinite(ratio):
            continue
        row = {"input": key, "next": new, "ratio": round(ratio, 4)}
        if taught:
            signal = np.broadcast_to(solved["signal_per_step"], size)
            if signal[0] > 0 and signal[first + i] > 0:
                row["ratio_per_signal"] = round(ratio * float(signal[0] / signal[first + i]), 4)
        settings.append(row)
    settings.sort(key=lambda r: r.get("ratio_per_signal", r["ratio"]))
    return found + settings

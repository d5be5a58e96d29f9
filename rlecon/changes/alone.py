"""Each lever alone: whether it applies, and its ratios of dollars, hours and signal."""

from __future__ import annotations

import math

from rlecon.changes.prices import interval, moved, pulled
from rlecon.errors import RleconError
from rlecon.pricing import bill
from rlecon.run import Run


def applicable(run, changes, rows) -> dict:
    """Keys of the levers that can be pulled alone; the others get their row, with the reason."""
    keys = {}
    for change in changes:
        try:
            keys[change.name] = change.keys(run)
            if not change.splits:
                bill(pulled(run, [change], keys), outputs=["step_seconds", "update_state_bytes_per_gpu"])
        except RleconError as error:
            rows[change.name] = {"what": change.words, "applies": False, "why": str(error)}
            keys.pop(change.name, None)
    return keys


def row(run, change, priced, i, taught) -> dict:
    ratios = {kind: float(priced.totals[kind][i] / priced.totals[kind][0]) for kind in ("usd", "time")}
    if not math.isfinite(ratios["time"]):
        why = "no split of the GPUs into two pools fits the model" if change.splits else "it does not fit"
        return {"what": change.words, "applies": False, "why": why}
    row = {"what": change.words, "applies": True}
    for kind in ("usd", "time"):
        row[f"{kind}_ratio_alone"] = interval(ratios[kind], moved(priced.parts[kind], 0, i))
    if taught:
        row["signal_ratio"] = float(priced.signal[i] / priced.signal[0])
    if change.name == "group_size_2":
        row["same_rollouts"] = _same_rollouts(run, taught)
    if change.family == "gpu" and not math.isfinite(ratios["usd"]):
        row["why"] = "no price of this GPU is known: dollars cannot be compared"
    return row


def _same_rollouts(run: Run, taught: bool) -> dict:
    """Groups of two at the same number of rollouts: more prompts, much the same bill, another signal."""
    prompts = max(1, run["rollout.prompts_per_step"] * run["rollout.group_size"] // 2)
    now, after = bill(run), bill(run.replace({"rollout.group_size": 2, "rollout.prompts_per_step": prompts}))
    ratio = lambda name: float(after[name] / now[name]) if now[name] else None  # noqa: E731
    out = {"usd_ratio": ratio("usd_per_step"), "time_ratio": ratio("step_seconds")}
    return out | ({"signal_ratio": ratio("signal_per_step")} if taught else {})

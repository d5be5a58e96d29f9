"""Tables for the validation chapter: every measurement, ratios of steps, and what other models say."""

from __future__ import annotations

import math

import numpy as np

from rlecon import catalog
from rlecon.calibration.decoding import decode_points
from rlecon.calibration.other_frameworks import other_framework_points, phase_points, unknown_length_points
from rlecon.calibration.reasons import reason
from rlecon.calibration.residuals import summary
from rlecon.calibration.stages import calibrate, leave_out
from rlecon.calibration.steps import held_out_points, step_points
from rlecon.calibration.training import training_points


def _row(point, predicted, ratio, left_out):
    return {
        "id": point.id,
        "label": point.label,
        "kind": point.kind,
        "family": point.family,
        "framework": point.framework,
        "regime": point.regime,
        "unit": point.unit,
        "measured": point.measured,
        "predicted": float(predicted),
        "time_ratio": float(np.exp(ratio)),
        "factor": float(np.exp(abs(ratio))),
        "fitted": point.fitted,
        "left_out_factor": None if left_out is None else float(np.exp(abs(left_out))),
        "note": reason(point),
        "source": catalog.measurement(point.id).source,
    }


def report(overrides=None) -> list[dict]:
    """Every usable published measurement beside what the model says of it.

    One dict per measurement: ``measured`` and ``predicted`` in ``unit``, ``time_ratio`` (predicted over measured time),
    ``factor``, ``regime``, ``fitted``, and for fitted rows ``left_out_factor``, with their family (decode: their
    sweep) left out of every fit. ``overrides`` replaces constants; left-out factors are then not computed.
    """
    rows = []
    for points, by in (
        (decode_points(), "id"),
        (training_points(), "family"),
        (step_points(), "family"),
        (held_out_points(), None),
        (unknown_length_points(), None),
        (other_framework_points(), None),
        (phase_points(), None),
    ):
        predicted, ratio = points.predict(overrides), points.log_time_ratio(overrides)
        left = leave_out(points, by) if by and overrides is None else [None] * len(points)
        rows += [
            _row(p, predicted[i], ratio[i], left[i] if p.fitted else None) for i, p in enumerate(points.points)
        ]
    return rows


def ratios(overrides=None) -> list[dict]:
    """Published ratios of two steps that differ in one thing, beside the ratio of their predictions."""
    points = step_points()
    predicted = dict(zip((p.id for p in points.points), points.predict(overrides), strict=True))
    rows = []
    for m in catalog.measurements("ratio"):
        top, bottom = m.config.get("numerator"), m.config.get("denominator")
        if top not in predicted or bottom not in predicted or m.quantity not in RATIO_OF:
            continue
        measured = RATIO_OF[m.quantity](m)
        ratio = predicted[top] / predicted[bottom]
        rows.append({
            "id": m.id,
            "what": m.what,
            "numerator": top,
            "denominator": bottom,
            "measured": measured,
            "predicted": float(ratio),
            "factor": float(np.exp(abs(math.log(ratio / measured)))),
            "right_sign": bool((ratio > 1) == (measured > 1)),
            "source": m.source,
        })
    return rows


def _ratio_of_steps(m):
    top, bottom = (catalog.measurement(m.config[k]) for k in ("numerator", "denominator"))
    return top.value / bottom.value


RATIO_OF = {"ratio_of_step_times": _ratio_of_steps, "ratio_of_throughputs": _ratio_of_steps}


def peers(overrides=None) -> list[dict]:
    """What other public models say of the same measurements, where they can answer; times, so that less is faster."""
    rows = []
    points = decode_points()
    ours = points.log_time_ratio(overrides)
    for i, p in enumerate(points.points):
        m = catalog.measurement(p.id)
        others = {}
        if p.id == "inferencex_r1_fp8_tp8_h200":
            at = [row["concurrent_requests"] for row in m.series].index(int(p.label.split()[0]))
            others = {k.removesuffix("_ms"): v[at] / 1e3 / p.measured for k, v in m.baseline.items()}
        elif "simulator_decode" in m.baseline:
            others = {"infersim": p.measured / m.baseline["simulator_decode"]}
        for name, ratio in {"rlecon": float(np.exp(ours[i])), **others}.items() if others else ():
            rows.append({"id": p.id, "label": p.label, "tool": name, "time_ratio": ratio,
                         "factor": float(np.exp(abs(math.log(ratio)))), "fitted": name == "rlecon" and p.fitted})
    return rows


def decode_errors() -> dict:
    """The two published 16-bit sweeps of a dense 8B: errors in sample and with the scored sweep left out of the fit."""
    out = {}
    for key in ("silybench_8b_bf16_128_1024", "silybench_8b_bf16_2048_2048"):
        points = decode_points().only(lambda p, key=key: p.id == key)
        out[key] = {
            "in sample": summary(points.log_time_ratio()),
            "left out": summary(points.log_time_ratio(calibrate(key).constants)),
        }
    return out

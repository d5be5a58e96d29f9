"""How well the model predicts: summaries by what was left out, whole runs, what a reader has to state, README lines.

Left-out factors need some ten fits, so they are kept in ``data/left_out.json``. ``python -m rlecon.validation`` writes
that file and the accuracy section of the README again; the tests recompute both.
"""

from __future__ import annotations

import json
import math
import textwrap
from functools import cache
from pathlib import Path

import numpy as np

from rlecon import calibration, catalog, supply
from rlecon.calibration import Points, coverage, summary
from rlecon.errors import RleconError
from rlecon.interval import Z80
from rlecon.run import Run

FILE = Path(__file__).parent / "data" / "left_out.json"
README = Path(__file__).parents[1] / "README.md"
AS_OF = "2026-11-30"
SETS = {
    "decode": (calibration.decode_points, "id"),
    "training": (calibration.training_points, "family"),
    "step": (calibration.step_points, "family"),
}
DIGITS = 4
EVEN = (("train_expert_efficiency", 1.0),)  # experts as fast as dense products


def _fitted(kind: str) -> Points:
    return SETS[kind][0]().only(lambda p: p.fitted)


def compute_left_out() -> dict:
    """log(predicted / measured) time of every fitted point, its sweep or family, and its whole source, left out.

    Training also with its family left out and the products of experts taken to be as fast as dense ones.
    """
    out = {}
    for kind, (_, by) in SETS.items():
        points = _fitted(kind)
        columns = {name: calibration.leave_out(points, how) for name, how in (("like", by), ("source", "source"))}
        if kind == "training":
            columns["even experts"] = calibration.leave_out(points, by, EVEN)
        out[kind] = [
            {"id": p.id, "label": p.label, **{name: round(float(c[i]), DIGITS) for name, c in columns.items()}}
            for i, p in enumerate(points.points)
        ]
    return out


@cache
def left_out() -> dict:
    """What :func:`compute_left_out` found when it was last run: by kind, a list in the order of the fitted points."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def logs(kind: str, how: str = "like") -> np.ndarray:
    """log(predicted / measured) time of the fitted points of one kind ("decode", "training", "step").

    ``how``: "in sample", "like" (sweep or family of the model left out) or "source"; training also "even experts".
    """
    if kind not in SETS:
        raise RleconError("not a kind of measurement", field="kind", value=kind, allowed=", ".join(SETS))
    if how == "in sample":
        return _fitted(kind).log_time_ratio()
    ways = [key for key in left_out()[kind][0] if key not in ("id", "label")]
    if how not in ways:
        raise RleconError("not a way to leave out", field="how", value=how, allowed=", ".join(["in sample", *ways]))
    return np.array([row[how] for row in left_out()[kind]])


def table() -> list[dict]:
    """One row per kind and way of leaving out: :func:`rlecon.calibration.summary` of the factors.

    >>> [row["n"] for row in table() if row["how"] == "like"]
    [64, 40, 44]
    """
    ways = ("in sample", "like", "source")
    return [{"kind": kind, "how": how, **summary(logs(kind, how))} for kind in SETS for how in ways]


def step_sds() -> np.ndarray:
    """Log sd that the bill states for each of the published steps."""
    return calibration.step_points().solve(outputs=["step_log_sd"])["step_log_sd"]


def guessed_sds(points: Points) -> np.ndarray:
    """Log sd of steps whose mean length is guessed; for each, what the guess adds is that of the other sources."""
    errors, known = points.log_time_ratio(), calibration.known_length_sds(points)
    source = np.array([calibration.source_of(p) for p in points.points])
    added = np.empty(len(points))
    for key in set(source):
        rest = points.only(lambda p, key=key: calibration.source_of(p) != key)
        added[source == key] = calibration.guessed_length_sd(rest, errors[source != key])
    return np.hypot(known, added)


def intervals() -> list[dict]:
    """How many 80 % intervals hold the published number, and how wide they are.

    Whole steps of the fitted framework with the model's family left out; the same with the whole source left out; steps
    of other frameworks whose mean length is a prior; decoding and training, sweep or family left out, with the
    residuals that the bill gives these phases. ``width`` is high over low in the middle; ``needed`` the factor
    that would have held four in five. What a guessed length adds comes from the sources that are not scored.
    """
    rows = []
    other = calibration.unknown_length_points()
    phase = {
        kind: np.full(len(logs(kind)), math.hypot(*(catalog.constant(f"residual_log_sd_{n}").value
                                                    for n in (name, "framework"))))
        for kind, name in (("decode", "rollout"), ("training", "update"))
    }  # fmt: skip
    for what, errors, sds in (
        ("family left out", logs("step"), step_sds()),
        ("source left out", logs("step", "source"), step_sds()),
        ("other frameworks, length from a prior", other.log_time_ratio(), guessed_sds(other)),
        ("decoding, sweep left out", logs("decode"), phase["decode"]),
        ("training, family left out", logs("training"), phase["training"]),
    ):
        held, n = coverage(errors, sds)
        rows.append({
            "what": what, "held": held, "n": n,
            "width": float(np.exp(2 * Z80 * np.median(sds))),
            "needed": float(np.exp(np.quantile(np.abs(errors), 0.8))),
        })
    return rows


SHARED = 16  # optimizer steps of R1-Zero that share one rollout phase: recalled from its report, not read for this


# --- whole runs -------------------------------------------------------------------------------------------------------
def _whole(m, model, steps, prompts, group, cap, kind, gpu="h100-sxm", minibatches=1, bits=16):
    length = calibration.prior_length(kind, cap)
    run = Run(
        model={"name": model},
        hardware={"gpu": gpu, "gpus": m.config["gpus"]},
        rollout={"prompts_per_step": prompts, "group_size": group, "prompt_tokens": 200, "response_tokens": length,
                 "max_response_tokens": cap, "weight_bits": bits, "response_tokens_guessed": True,
                 "looping_share": float(calibration.assumed_looping(length, cap))},
        update={"minibatches": minibatches, "reference_model": True, "old_logprobs": True},
        run={"steps": steps},
    )  # fmt: skip
    return run, length


def whole_runs(overrides=None) -> list[dict]:
    """Published GPU-hours of whole runs beside the bill's: batch, steps and cap are printed, the mean length is not.

    R1-Zero stands twice, since its bill depends on how many optimizer steps share a rollout. Each row has ``measured``
    and ``predicted`` GPU-hours, the 80 % interval of the bill (which knows that the length is guessed), the assumed
    ``length``, and ``needed``: the mean length in tokens at which the bill equals the published hours, None where there
    is none under the cap.
    """
    from rlecon.pricing import bill

    seven, big = catalog.measurement("simplerl_7b"), catalog.measurement("simplerl_32b")
    zero, hours = catalog.measurement("r1_zero_recipe"), catalog.measurement("r1_cost")
    c7, c32 = seven.config, big.config
    steps, prompts, group, cap, _ = zero.value
    zero_hours = hours.config["gpus"] * hours.config["hours"]["r1_zero"]
    cases = (
        (seven, _whole(seven, "qwen2.5-7b", c7["steps"], c7["prompts_per_step"], c7["group_size"],
                       c7["max_response_tokens"], "base"), seven.value, "SimpleRL-Zoo 7B"),
        (big, _whole(big, "qwen2.5-32b", c32["steps"], c32["prompts_per_step"], c32["group_size"],
                     c32["max_response_tokens"], "base"), big.value, "SimpleRL-Zoo 32B"),
        (hours, _whole(hours, "deepseek-v3", steps, prompts, group, cap, "reasoning", gpu="h800", bits=8),
         zero_hours, "R1-Zero, rollouts in each step"),
        (hours, _whole(hours, "deepseek-v3", steps / SHARED, prompts * SHARED, group, cap, "reasoning", gpu="h800",
                       bits=8, minibatches=SHARED), zero_hours, f"R1-Zero, rollouts for {SHARED} steps"),
    )  # fmt: skip
    rows = []
    for m, (run, length), measured, label in cases:
        figure = bill(run, overrides=overrides).figure("gpu_hours_run")
        grid = np.geomspace(100, 0.95 * run["rollout.max_response_tokens"], 60)
        loops = calibration.assumed_looping(grid, run["rollout.max_response_tokens"])
        along = run.replace({"rollout.response_tokens": grid, "rollout.looping_share": loops})
        along = bill(along, overrides=overrides)["gpu_hours_run"]
        inside = along[0] < measured < along[-1]
        rows.append({
            "id": m.id, "label": label, "measured": float(measured), "predicted": float(figure.mid),
            "low": float(figure.low), "high": float(figure.high), "length": float(length),
            "ratio": float(figure.mid / measured),
            "needed": float(np.interp(measured, along, grid)) if inside else None,
            "source": m.source,
        })  # fmt: skip
    return rows


# --- what a reader has to say -----------------------------------------------------------------------------------------
def _scaled(key, factor, share_of=None):
    def change(run):
        new = run[key] * factor
        if share_of is not None:
            new = min(new, 0.95 * run[share_of])
        return {key: new}

    return change


def _overlap(run):
    if run["update.overlap"] == "none":
        return {"update.overlap": "one_step", "update.staleness_steps": 1,
                "hardware.rollout_gpus": run["hardware.gpus"] // 2}  # fmt: skip
    return {"update.overlap": "none", "update.staleness_steps": 0, "hardware.rollout_gpus": 0}


def _split(run):
    return {"hardware.rollout_gpus": run["hardware.gpus"] * 3 // 4} if run["update.overlap"] != "none" else None


STATED = (  # (what is not known, what is changed)
    ("rollouts per step, twice as many", _scaled("rollout.prompts_per_step", 2)),
    ("mean response length, twice as long", _scaled("rollout.response_tokens", 2, "rollout.max_response_tokens")),
    ("mean response length, a third longer", _scaled("rollout.response_tokens", 4 / 3, "rollout.max_response_tokens")),
    ("one pool or two, overlapped", _overlap),
    ("rollout's share of two pools, 1/2 or 3/4", _split),
    ("engine: CUDA graphs or eager", lambda run: {"rollout.engine": "eager"}),
    ("GPUs per engine, twice as many", _scaled("rollout.tensor_parallel", 2)),
    ("rollout weights at 8 bits", lambda run: {"rollout.weight_bits": 8}),
    ("reference model, old log-probabilities", lambda run: {"update.reference_model": False,
                                                            "update.old_logprobs": False}),
    ("activations recomputed or kept", lambda run: {"update.activation_recompute":
                                                    not run["update.activation_recompute"]}),
    ("optimizer steps, four times as many", _scaled("update.minibatches", 4)),
    ("prompt length, four times as long", _scaled("rollout.prompt_tokens", 4)),
    ("spread of lengths, 0.4 to 1.3 of the mean", None),
)  # fmt: skip


SHORT = {  # a few letters for a figure
    "rollouts per step, twice as many": "rollouts ×2",
    "mean response length, twice as long": "mean length ×2",
    "mean response length, a third longer": "mean length ×4/3",
    "one pool or two, overlapped": "pools overlapped",
    "rollout's share of two pools, 1/2 or 3/4": "split 1/2 or 3/4",
    "engine: CUDA graphs or eager": "engine eager",
    "GPUs per engine, twice as many": "GPUs per engine ×2",
    "rollout weights at 8 bits": "8-bit rollout",
    "reference model, old log-probabilities": "no extra passes",
    "activations recomputed or kept": "recompute",
    "optimizer steps, four times as many": "optimizer steps ×4",
    "prompt length, four times as long": "prompt ×4",
    "spread of lengths, 0.4 to 1.3 of the mean": "length spread",
}


def _step_seconds(runs):
    return Points([calibration.step_point(m, run) for m, run in runs]).predict()


def must_state() -> list[dict]:
    """How far a step moves when one setting of it is unknown: median and 90th percentile over the published steps.

    A factor of 1.3 in the 90th percentile means: one run in ten is off by more if this is left to a default.
    """
    base = [(m, calibration.nemo_run(m)) for m in catalog.measurements("step", tag="known_length")]
    spread = "rollout.response_tokens_cv"
    rows = []
    before = _step_seconds(base)
    for what, change in STATED:
        moved, kept = [], []
        for i, (m, run) in enumerate(base):
            new = {spread: 1.3} if change is None else change(run)
            if new is None:
                continue
            try:
                other = run.replace(new)
                calibration.step_point(m, other)
            except RleconError:
                continue  # a setting that this run cannot have
            moved.append((m, other))
            kept.append(i)
        start = before[kept]
        if change is None:
            start = _step_seconds([(base[i][0], base[i][1].replace({spread: 0.4})) for i in kept])
        factor = np.exp(np.abs(np.log(_step_seconds(moved) / start)))
        rows.append({"what": what, "short": SHORT[what], "n": len(kept), "median": float(np.median(factor)),
                     "p90": float(np.quantile(factor, 0.9))})  # fmt: skip
    return sorted(rows, key=lambda row: -row["p90"])


# --- the README -------------------------------------------------------------------------------------------------------
def floor() -> dict:
    """What consecutive releases of one framework differ by: the error that no model blind to the release can avoid.

    ``median`` is the median factor of one measurement about the mean of two releases, were the differences normal.
    """
    sd, pairs = calibration.release_spread()
    return {"sd": sd, "pairs": pairs, "median": math.exp(supply.QUARTILE * sd), "factor": math.exp(sd)}


def readme_lines() -> list[str]:
    """The accuracy section of the README, computed."""
    words = {"decode": "decode, one engine", "training": "training", "step": "whole RL steps, mean length known"}
    like = {"decode": "sweep", "training": "family", "step": "family"}
    out = [
        f"Published measurements against predictions from their configuration alone, {AS_OF}. A factor of 1.10x is an",
        "error of a tenth either way; the sweep, or the family of the model, is left out of the fit that predicts it.",
        "",
        "| what | n | median, fitted | left out | within 1.25x | within 1.5x | within 2x | source left out |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for kind in SETS:
        fitted, rows, blind = (summary(logs(kind, how)) for how in ("in sample", "like", "source"))
        out.append(
            f"| {words[kind]} | {rows['n']} | {fitted['median']:.2f}x | {rows['median']:.2f}x ({like[kind]}) | "
            f"{rows['within_1.25']:.0%} | {rows['within_1.5']:.0%} | {rows['within_2']:.0%} | {blind['median']:.2f}x |"
        )
    held, _, prior, *_ = intervals()
    ratio = np.abs(calibration.unknown_length_points().log_time_ratio())
    held_out = calibration.held_out_points().log_time_ratio()
    prose = (
        f"The 80 % interval of a step holds {held['held']} of {held['n']} published steps and is {held['width']:.1f}x "
        f"wide from low to high. All {held['n']} are of one framework. On {prior['n']} steps of other frameworks, "
        f"whose mean length is not printed, the median error is {math.exp(np.median(ratio)):.2f}x; the interval of a "
        f"guessed length (`response_tokens_guessed`), with the scored source left out, holds {prior['held']} and is "
        f"{prior['width']:.0f}x wide. The one step found after the terms were chosen is "
        f"{math.exp(abs(held_out[0])):.2f}x off. Releases of one framework differ by {floor()['median']:.2f}x "
        "themselves. The chapter *Does the model predict real runs?* shows every row."
    )
    return [*out, "", *textwrap.wrap(prose, 118)]


START, END = "<!-- accuracy: written by python -m rlecon.validation -->", "<!-- end of accuracy -->"


def main() -> None:
    """Write the left-out factors and the README's section again."""
    FILE.write_text(json.dumps(compute_left_out(), indent=0) + "\n", encoding="utf-8")
    left_out.cache_clear()
    text = README.read_text(encoding="utf-8")
    head, rest = text.split(START)
    _, tail = rest.split(END)
    README.write_text("\n".join([head + START, *readme_lines(), END]) + tail, encoding="utf-8")


if __name__ == "__main__":
    main()

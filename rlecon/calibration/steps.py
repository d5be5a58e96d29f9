"""Published whole steps whose mean response length is printed, as points: all of one framework."""

from __future__ import annotations

from functools import cache

from rlecon import catalog
from rlecon.calibration.points import Point, Points
from rlecon.resolve import resolve
from rlecon.run import Run


def nemo_run(m) -> Run:
    """The run file of a published NeMo-RL row: recorded configuration, and the framework's defaults for the rest.

    Its asynchronous rows are one step off: one batch in flight, waited for, which is ``one_step`` here and not a
    continuous engine.
    """
    c = m.config
    pool = c["rollout_gpus"] if "rollout_gpus" in c else (c["gpus"] // 2 if c["overlap"] == "full" else 0)
    prompt = m.derived["prompt_tokens"]
    return Run(
        model={"name": c["model"]},
        hardware={"gpu": c["gpu"], "gpus": c["gpus"], "rollout_gpus": pool},
        rollout={
            "prompts_per_step": c["prompts_per_step"],
            "group_size": c["group_size"],
            "prompt_tokens": prompt,
            "response_tokens": c["response_tokens"],
            "max_response_tokens": c["max_sequence_tokens"] - prompt,
            "tensor_parallel": c["tensor_parallel"],
            "weight_bits": c.get("weight_bits", 16),
        },
        update={
            "overlap": "one_step" if c["overlap"] == "full" else c["overlap"],
            "staleness_steps": c.get("staleness_steps", 0),
            "minibatches": c["minibatches"],
            "old_logprobs": True,
            "reference_model": True,
            "train_bits": c["train_bits"],
            "activation_recompute": c.get("activation_recompute", False),
            "tensor_parallel": c.get("update_tensor_parallel", 1),
            "pipeline_parallel": c.get("update_pipeline_parallel", 1),
            "expert_parallel": c.get("update_expert_parallel", 1),
        },
    )


def phase_point(m, run, output, measured, regime, *, label="step", fitted=False, note="") -> Point:
    """One phase of a run file, or its whole step, as a point beside the measurement ``m``, in seconds."""
    q = dict(resolve(run).quantities)
    q = {k: x for k, x in q.items() if x is not None}
    q.setdefault("usd_per_gpu_hour", 0.0)
    return Point(m.id, label, m.family, regime, "step", output, measured, "s", q, engine=run["rollout.engine"],
                 framework=m.config.get("framework", ""), fitted=fitted, note=note)


def step_point(m, run) -> Point:
    """The step time of a run file as a point beside the measurement ``m``."""
    return phase_point(m, run, "step_seconds", m.value, "")


@cache
def step_points() -> Points:
    """The published NeMo-RL steps whose mean response length is printed."""
    rows = []
    for m in catalog.measurements("step", tag="known_length"):
        regime = "asynchronous" if m.config["overlap"] == "full" else "synchronous"
        rows.append(phase_point(m, nemo_run(m), "step_seconds", m.value, regime, fitted=True))
    return Points(rows)


@cache
def held_out_points() -> Points:
    """Published steps that no fit and no choice of terms has seen."""
    rows = [
        phase_point(m, nemo_run(m), "step_seconds", m.value, "held out",
                    note="found after the terms were chosen; split of the GPUs assumed")
        for m in catalog.measurements("step", tag="held_out")
    ]
    return Points(rows)

"""Published steps outside the fitted framework: their mean length is a prior, or inferred from a phase."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from rlecon import catalog
from rlecon.calibration.points import Points
from rlecon.calibration.steps import phase_point
from rlecon.run import Run

# where the mean length is not printed: (length, what it is) by measurement
_PRIORS = {"base": "length_prior_base_tokens", "reasoning": "length_prior_reasoning_tokens"}
UNKNOWN_LENGTH = {
    "verl_7b_colocate_32": "base",
    "verl_7b_colocate_64": "base",
    "verl_7b_colocate_128": "base",
    "verl_7b_async_32": "base",
    "verl_7b_async_128": "base",
    "verl_30b_colocate_128": "base",
    "verl_30b_async_96_32": "base",
    "areal_7b": "reasoning",
    "simplerl_32b": "base",
}
LOOP_TOKENS_AT_MOST = 0.5  # of all tokens
PHASES = {
    "rollout_seconds": "rollout_seconds",
    "old_logprobs_seconds": "old_logprobs_seconds",
    "reference_seconds": "reference_seconds",
    "update_seconds": "update_seconds",
}


def prior_length(kind: str, cap: float) -> float:
    """Mean response length assumed where none is known: a prior by kind of model, at most a share of the cap."""
    share = catalog.constant("length_prior_cap_share").value
    return min(catalog.constant(_PRIORS[kind]).value, share * cap)


def assumed_looping(response_tokens, cap):
    """Share of responses that loop up to the cap, where only the cap is published: at most half of the tokens."""
    return np.minimum(catalog.constant("looping_share").value, LOOP_TOKENS_AT_MOST * np.asarray(response_tokens) / cap)


def _open_run(m, response_tokens) -> Run:
    """The run of a published row whose lengths are not printed; what is not stated keeps its default."""
    c = m.config
    overlap = c.get("overlap", "none")
    pool = c.get("rollout_gpus", 0)
    if overlap == "full" and not pool:
        pool = int(0.75 * c["gpus"])
    return Run(
        model={"name": c["model"]},
        hardware={"gpu": c["gpu"], "gpus": c["gpus"], "rollout_gpus": pool},
        rollout={
            "prompts_per_step": c["prompts_per_step"],
            "group_size": c["group_size"],
            "prompt_tokens": 200,
            "response_tokens": response_tokens,
            "max_response_tokens": c["max_response_tokens"],
            "response_tokens_guessed": True,
            "looping_share": float(assumed_looping(response_tokens, c["max_response_tokens"])),
        },
        update={
            "overlap": overlap,
            "staleness_steps": 1 if overlap == "full" else 0,
            "minibatches": c.get("minibatches", 1),
            "reference_model": c.get("reference_model", False),
            "old_logprobs": True,
        },
    )


def _published_step_seconds(m):
    if "async_step_seconds" in m.derived:
        return m.derived["async_step_seconds"]
    return m.derived.get("step_seconds", m.value)


@cache
def unknown_length_points() -> Points:
    """Published steps of other frameworks whose mean length is not printed: a prior stands for it; never fitted."""
    rows = []
    for key, kind in UNKNOWN_LENGTH.items():
        m = catalog.measurement(key)
        run = _open_run(m, prior_length(kind, m.config["max_response_tokens"]))
        rows.append(phase_point(m, run, "step_seconds", _published_step_seconds(m), "length from a prior",
                                note="mean length, prompt and engine size assumed"))
    return Points(rows)


def inferred_length(m) -> float:
    """Mean response length at which the model's update takes as long as the published one, in tokens."""
    return _inferred_length(m.id)


@cache
def _inferred_length(id: str) -> float:
    m = catalog.measurement(id)
    low, high = 16.0, 0.98 * m.config["max_response_tokens"]
    for _ in range(26):
        middle = math.sqrt(low * high)
        point = phase_point(m, _open_run(m, middle), "update_seconds", m.parts["update_seconds"], "")
        low, high = (middle, high) if Points([point]).log_time_ratio()[0] < 0 else (low, middle)
    return math.sqrt(low * high)


@cache
def phase_points() -> Points:
    """Phases of published steps, the mean length inferred from the update: they show errors that totals hide."""
    rows = []
    for key in ("verl_7b_colocate_32", "verl_7b_colocate_64", "verl_7b_colocate_128", "verl_30b_colocate_128"):
        m = catalog.measurement(key)
        length = inferred_length(m)
        run = _open_run(m, length)
        for phase, output in PHASES.items():
            if phase in m.parts and phase != "update_seconds":
                rows.append(phase_point(m, run, output, m.parts[phase], "phase, length inferred from the update",
                                        label=phase, note=f"mean length of {length:.0f} tokens inferred"))
    return Points(rows)


@cache
def other_framework_points() -> Points:
    """Phases of the one published run outside the fitted framework whose mean length is printed."""
    m = catalog.measurement("olmo3_learner_wait")
    c = m.config
    run = Run(
        model={"name": c["model"]},
        hardware={"gpu": c["gpu"], "gpus": c["gpus"], "rollout_gpus": c["rollout_gpus"]},
        rollout={
            "prompts_per_step": c["prompts_per_step"],
            "group_size": c["group_size"],
            "response_tokens": c["response_tokens"],
            "max_response_tokens": c["max_response_tokens"],
            "tensor_parallel": c["tensor_parallel"],
            "engine": "eager",
        },
        update={"overlap": "full", "staleness_steps": c["staleness_steps"], "old_logprobs": False},
    )
    note = "prompt length assumed"
    return Points([
        phase_point(m, run, "rollout_seconds", m.parts["rollout_seconds_typical"], "other framework, length known",
                    label="rollout", note=note),
        phase_point(m, run, "update_seconds", m.parts["train_seconds_typical"], "other framework, length known",
                    label="update", note=note),
    ])

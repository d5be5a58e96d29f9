"""A whole bill computed a second time: the run's inputs through ``tests/reference``, in place of the equations."""

from __future__ import annotations

from inspect import signature

import pytest

from rlecon import Run, bill
from rlecon.resolve import resolve, run_model
from tests.reference import REFERENCE

ROLLOUT = {"prompts_per_step": 256, "group_size": 8, "prompt_tokens": 512, "response_tokens": 4000,
           "response_tokens_cv": 0.8, "max_response_tokens": 8192}  # fmt: skip
RUNS = {
    "dense, one pool, waves": Run(
        model={"name": "qwen3-8b"},
        hardware={"gpu": "h100-sxm", "gpus": 16, "usd_per_gpu_hour": 2.5},
        rollout=ROLLOUT | {"tensor_parallel": 1},
        reward={"pass_rate": 0.3, "pass_rate_spread": 0.2, "false_positive_rate": 0.05},
        run={"steps": 200},
    ),
    "mixture of experts, two pools": Run(
        model={"name": "qwen3-30b-a3b", "algorithm": "dapo"},
        hardware={"gpu": "h200-sxm", "gpus": 64, "rollout_gpus": 48, "usd_per_gpu_hour": 3.0},
        rollout=ROLLOUT | {"oversampling": 1.5, "weight_bits": 8, "speculative_acceptance": 0.6},
        update={"overlap": "one_step", "staleness_steps": 1, "reference_model": True},
        reward={"pass_rate": 0.6},
        run={"steps": 100},
    ),
    "agents with tools and an adapter": Run(
        model={"name": "qwen3-32b", "lora_rank": 32},
        hardware={"gpu": "h100-sxm", "gpus": 32, "usd_per_gpu_hour": 2.0},
        rollout=ROLLOUT | {"turns": 5, "tool_tokens_per_turn": 300, "environment_seconds_per_turn": 4.0,
                           "prefix_cached": False},
        update={"overlap": "full"},
        reward={"pass_rate": 0.2, "pass_rate_spread": 0.25},
        run={"steps": 50},
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", RUNS)
def test_a_bill_agrees_with_a_second_computation_from_its_inputs(title):
    run = RUNS[title]
    values, priced = dict(resolve(run).quantities), bill(run)
    for equation in run_model().order:
        function = REFERENCE[equation.name]
        values[equation.left.name] = function(**{n: values[n] for n in signature(function).parameters})
    for equation in run_model().order:
        name = equation.left.name
        assert float(priced[name]) == pytest.approx(values[name], rel=1e-6, abs=1e-12), name

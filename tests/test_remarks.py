"""Sentences beside a bill: said when their settings and relations call for them, the same by command and on a page."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from rlecon import Run, bill, remarks
from rlecon import vocabulary as v
from rlecon.calculators import CALCULATORS, run_of
from rlecon.quantity import REGISTRY
from rlecon.remarks import NOT_MODELED, TOO_LARGE, WARNINGS, Remark
from rlecon.run import KEYS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "book" / "_ext"))
from calculator_words import notes  # noqa: E402  (it lives with the book)

RUN = Run(
    model={"name": "qwen3-8b"},
    hardware={"gpu": "h100-sxm", "gpus": 64, "usd_per_gpu_hour": 2.5},
    rollout={"prompts_per_step": 256, "group_size": 8, "response_tokens": 4000, "response_tokens_cv": 0.8,
             "max_response_tokens": 8192},
    reward={"pass_rate": 0.3},
    run={"steps": 200},
)  # fmt: skip
SAID = {
    "no 4-bit units": {"rollout.weight_bits": 4},
    "No price of": {"hardware.gpu": "custom", "hardware.usd_per_gpu_hour": None, "hardware.memory_bytes": 80e9,
                    "hardware.dense_bf16_flops_per_second": 1e15, "hardware.memory_bytes_per_second": 3e12},
    "No cap": {"rollout.max_response_tokens": None},
    "only the first step is priced": {"run.response_growth_per_step": 0.001, "run.steps": None},
    "figures of a step are those of the first": {"run.response_growth_per_step": 0.001},
    "No number of steps": {"run.steps": None},
    "No pass rate": {"reward.pass_rate": None},
    "without CUDA graphs": {"rollout.engine": "eager"},
    "sequences per engine: rollouts run in waves": {"model.name": "qwen3-32b", "hardware.gpus": 16},
    "fit only in turn": {"hardware.gpus": 2},
    "some engines stay idle": {"hardware.gpus": 4096},
    "adapters on experts": {"model.name": "qwen3-30b-a3b", "model.lora_rank": 8},
    "tenants share the GPUs": {"update.tenants": 20, "update.duty_cycle": 0.1, "model.lora_rank": 8},
    "active 12.5 % of the time": {"update.duty_cycle": 0.125},
    "Offloaded trainers": {"update.offload": True},
}  # fmt: skip
LEFT_OUT = {
    "reward.levels": {"reward.levels": 3},
    "teacher of a distillation": {"model.algorithm": "distillation"},
    "update.pipeline_parallel": {"update.pipeline_parallel": 2},
    "update.expert_parallel": {"update.expert_parallel": 2},
    "update.tensor_parallel": {"update.tensor_parallel": 2},
}


@pytest.mark.parametrize("part", SAID)
def test_a_warning_is_said_where_it_is_called_for(part):
    made = bill(RUN.replace(SAID[part]))
    assert sum(part in text for text in made.warnings) == 1 and not any("{" in text for text in made.warnings)
    assert bill(RUN).warnings == []


@pytest.mark.parametrize("part", LEFT_OUT)
def test_what_is_not_modeled_is_said(part):
    assert sum(part in text for text in bill(RUN.replace(LEFT_OUT[part])).not_modeled) == 1
    assert bill(RUN).not_modeled == []


def test_a_judge_that_teaches_prices_the_distillation():
    taught = RUN.replace({"model.algorithm": "distillation", "judge.name": "qwen3-32b", "judge.role": "teacher"})
    assert bill(taught).not_modeled == []
    assert len(bill(taught.replace({"judge.role": "reward"})).not_modeled) == 1


def test_every_remark_has_a_test_and_names_what_exists():
    assert len(SAID) == len(WARNINGS)
    for remark in (*WARNINGS, *NOT_MODELED, TOO_LARGE):
        assert remark.keys <= set(KEYS) and set(remark.tested) | set(remark.named) <= set(REGISTRY)
        assert remark.holds is not True or remark.keys or remark.lacks


def test_of_lists_all_points_must_call_for_it_and_figures_are_left_out():
    waves = {"model.name": "qwen3-32b", "hardware.gpus": 16}
    both = bill(RUN.replace({**waves, "rollout.engine": "eager", "rollout.group_size": np.array([8, 16])}))
    assert any("CUDA" in text for text in both.warnings) and not any("waves" in text for text in both.warnings)
    some = Remark("some", v.group_size > 8)
    asked = lambda values: remarks.said([some], {}, {"group_size": np.array(values)}, {})  # noqa: E731
    assert asked([16, 32]) == ["some"] and asked([8, 16]) == []
    assert remarks.said([some], {}, {"group_size": None}, {}) == [] == remarks.said([some], {}, {}, {})


def test_unless_is_about_any_and_when_about_all():
    remark = Remark("text", when={"rollout.engine": "eager"}, unless={"run.attempts": 1.0})
    at = lambda attempts: {"rollout.engine": "eager", "run.attempts": attempts}  # noqa: E731
    assert remark.concerns(at(2.0)) and not remark.concerns(at(1.0)) and remark.concerns(at(np.array([1.0, 2.0])))
    assert not remark.concerns({"rollout.engine": "tuned", "run.attempts": 2.0})


@pytest.mark.parametrize("part", [p for p, changes in (SAID | LEFT_OUT).items()
                                  if set(changes) <= set(CALCULATORS["bill"].defaults)])  # fmt: skip
def test_the_page_says_what_the_command_says(part):
    c = CALCULATORS["bill"]
    changes = (SAID | LEFT_OUT)[part]
    chosen = {x.key for x in c.choices}
    state = c.state({k: str(x).lower() if k in chosen else x for k, x in changes.items()})
    made = bill(run_of(c, state))
    spoken = [text.replace("\N{NO-BREAK SPACE}", " ") for text in notes(c, c.solve(state), state)]
    memory = [] if made.fits[0] else [made.fits[1]]
    known = {text.strip(".").lower() for text in (*made.warnings, *made.not_modeled, *memory)}
    assert {text.strip(".").lower() for text in spoken} == known and any(part in text for text in spoken)

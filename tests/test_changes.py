"""Levers: shares that no order can change, a bound that nothing passes, and changes that say why they do not apply."""

import itertools
import math

import pytest

from rlecon import Run, bill, levers
from rlecon.calculators import CAPPED
from rlecon.changes import shapley

RUN = Run(**CAPPED)
FEW = ("lora", "fp8_rollouts", "speculation", "prefix_cache")


def test_shares_add_to_the_whole_and_know_no_order():
    subsets = [frozenset(c) for n in range(4) for c in itertools.combinations("abc", n)]
    worth = {c: len(c) ** 2 + (3.0 if "a" in c else 0.0) for c in subsets}
    shares = shapley("abc", worth.__getitem__)
    assert sum(shares.values()) == pytest.approx(worth[frozenset("abc")])
    assert shares["b"] == pytest.approx(shares["c"]) and shares["a"] == pytest.approx(shares["b"] + 3)


def test_together_is_the_bill_of_the_changed_run():
    found = levers(RUN, only=FEW)
    changed = RUN.replace({"model.lora_rank": 32, "rollout.weight_bits": 8, "rollout.speculative_acceptance": 0.7,
                           "rollout.speculative_drafts": 3})  # fmt: skip
    ratio = bill(changed)["usd_run"] / bill(RUN)["usd_run"]
    assert found["together"]["usd"]["mid"] == pytest.approx(float(ratio))
    shares = [found["changes"][n]["share"]["usd"] for n in found["used_together"]]
    assert math.fsum(shares) == pytest.approx(1)
    assert found["together"]["time"]["mid"] >= found["bound"]["time"]


def test_a_change_that_does_not_apply_says_why():
    found = levers(RUN, only=FEW)["changes"]
    assert found["prefix_cache"] == {"what": found["prefix_cache"]["what"], "applies": False,
                                     "why": "a single turn has no earlier turns to keep"}  # fmt: skip


def test_a_gpu_without_a_price_is_not_mixed_with_dollars():
    found = levers(RUN, only=("lora", "gpu_mi300x", "gpu_h200-sxm"))
    assert found["changes"]["gpu_mi300x"]["usd_ratio_alone"]["mid"] is None
    assert "left out" in found["changes"]["gpu_mi300x"]["together"]
    assert "gpu_mi300x" not in found["used_together"] and found["together"]["usd"]["mid"] is not None


def test_groups_of_two_show_both_budgets():
    row = levers(RUN, only=("group_size_2",))["changes"]["group_size_2"]
    assert row["signal_ratio"] == pytest.approx(1 / 7)  # the same prompts: 2 (1 - 1/2) over 8 (1 - 1/8)
    assert row["same_rollouts"]["signal_ratio"] == pytest.approx(4 / 7)
    assert row["same_rollouts"]["usd_ratio"] == pytest.approx(1, abs=0.05)


def test_the_moe_twin_of_a_dense_model():
    agent = RUN.replace({"model.name": "qwen3-32b"})
    row = levers(agent, only=("moe_twin",))["changes"]["moe_twin"]
    twin = bill(agent.replace({"model.name": "qwen3-30b-a3b"}))["usd_run"] / bill(agent)["usd_run"]
    assert row["usd_ratio_alone"]["mid"] == pytest.approx(float(twin)) and twin < 1
    assert "no mixture-of-experts" in levers(RUN, only=("moe_twin",))["changes"]["moe_twin"]["why"]

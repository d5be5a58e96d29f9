"""Levers: shares that no order can change, a bound that nothing passes, and changes that say why they do not apply."""

import itertools
import json
import math

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlecon import Run, bill, levers
from rlecon.calculators import CAPPED
from rlecon.changes import changes_of, shapley, text
from rlecon.cli import main
from rlecon.errors import RleconError

RUN = Run(**CAPPED)
FEW = ("lora", "fp8_rollouts", "speculation", "prefix_cache")
MIXED = ("lora", "async", "fp8_rollouts", "speculation", "bigger_batch", "gpu_b200")


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


def test_shares_are_the_mean_over_all_orders():
    """Each order in turn, with one full bill for every set on the way: no array, no formula of Shapley's."""
    names = ("lora", "fp8_rollouts", "speculation", "gpu_b200")
    keys = {c.name: c.keys(RUN) for c in changes_of(RUN) if c.name in names}

    def hours(pulled):
        run = RUN.replace({k: x for n in pulled for k, x in keys[n].items()}) if pulled else RUN
        return math.log(float(bill(run)["step_seconds"]))

    orders = list(itertools.permutations(names))
    gained = dict.fromkeys(names, 0.0)
    for order in orders:
        for i, name in enumerate(order):
            gained[name] += (hours(order[: i + 1]) - hours(order[:i])) / len(orders)
    whole = hours(names) - hours(())
    found = levers(RUN, only=names)
    for name in names:
        assert found["changes"][name]["share"]["time"] == pytest.approx(gained[name] / whole, abs=1e-9)


def test_each_lever_alone_is_the_bill_of_the_changed_run():
    found = levers(RUN)["changes"]
    for change in changes_of(RUN):
        row = found[change.name]
        if not row["applies"] or change.splits:
            continue
        keys = change.keys(RUN)
        new, steps = bill(RUN.replace(keys)), keys.get("run.steps", RUN["run.steps"]) / RUN["run.steps"]
        ratio = float(new["step_seconds"] / bill(RUN)["step_seconds"]) * steps
        assert row["time_ratio_alone"]["mid"] == pytest.approx(ratio, rel=1e-9), change.name


def test_overlap_takes_the_best_split():
    found = levers(RUN, only=("async",))["changes"]["async"]
    best = min(
        float(bill(RUN.replace({"hardware.rollout_gpus": pool, "update.overlap": "full",
                                "update.staleness_steps": 1}))["step_seconds"])
        for pool in range(4, 64, 4)
    )  # fmt: skip
    assert found["time_ratio_alone"]["mid"] == pytest.approx(best / float(bill(RUN)["step_seconds"]), rel=1e-9)


def test_a_change_that_does_not_apply_says_why():
    found = levers(RUN, only=FEW)["changes"]
    assert found["prefix_cache"] == {"what": found["prefix_cache"]["what"], "applies": False,
                                     "why": "a single turn has no earlier turns to keep"}  # fmt: skip
    done = RUN.replace({
        "model.lora_rank": 8, "rollout.weight_bits": 4, "rollout.group_size": 2, "rollout.speculative_acceptance": 0.5,
        "hardware.rollout_gpus": 48, "update.overlap": "full", "update.staleness_steps": 1, "update.tenants": 2,
    })  # fmt: skip
    rows = levers(done)["changes"]
    left = {n for n, r in rows.items() if r["applies"] and not n.startswith("gpu_")}
    assert left <= {"bigger_batch"}
    assert all(len(r["why"]) > 15 for r in rows.values() if not r["applies"])
    measured = RUN.replace({"rollout.measured_tokens_per_second_per_gpu": 900.0})
    assert "measurement" in levers(measured, only=("gpu_b200",))["changes"]["gpu_b200"]["why"]
    old = RUN.replace({"hardware.gpu": "a100-sxm-80"})
    assert "not available" in levers(old, only=("fp8_rollouts",))["changes"]["fp8_rollouts"]["why"] or not levers(
        old, only=("fp8_rollouts",))["changes"]["fp8_rollouts"]["applies"]  # fmt: skip


def test_a_gpu_without_a_price_is_not_mixed_with_dollars():
    found = levers(RUN, only=("lora", "gpu_mi300x", "gpu_h200-sxm"))
    assert found["changes"]["gpu_mi300x"]["usd_ratio_alone"]["mid"] is None
    assert "left out" in found["changes"]["gpu_mi300x"]["together"]
    assert "gpu_mi300x" not in found["used_together"] and found["together"]["usd"]["mid"] is not None


def test_a_run_without_a_price_is_compared_in_hours():
    found = levers(RUN.replace({"hardware.gpu": "mi300x", "hardware.usd_per_gpu_hour": None}), only=("lora", "async"))
    assert found["together"]["usd"] is None and found["together"]["time"]["mid"] < 1
    assert "hours" in text(found)


def test_another_gpu_is_priced_in_proportion_to_what_the_run_pays():
    full = levers(RUN, only=("gpu_b200",))["changes"]["gpu_b200"]
    half = levers(RUN.replace({"hardware.usd_per_gpu_hour": 1.25}), only=("gpu_b200",))["changes"]["gpu_b200"]
    assert half["usd_ratio_alone"]["mid"] == pytest.approx(full["usd_ratio_alone"]["mid"])


def test_groups_of_two_show_both_budgets():
    row = levers(RUN, only=("group_size_2",))["changes"]["group_size_2"]
    assert row["signal_ratio"] == pytest.approx(1 / 7)  # the same prompts: 2 (1 - 1/2) over 8 (1 - 1/8)
    assert row["same_rollouts"]["signal_ratio"] == pytest.approx(4 / 7)
    assert row["same_rollouts"]["usd_ratio"] == pytest.approx(1, abs=0.05)


def test_a_bigger_batch_keeps_the_rollouts_of_the_run():
    row = levers(RUN, only=("bigger_batch",))["changes"]["bigger_batch"]
    assert row["signal_ratio"] == pytest.approx(1)
    capped = RUN.replace({"rollout.max_sequences_per_engine": 8})
    keys = next(c for c in changes_of(capped) if c.name == "bigger_batch").keys(capped)
    assert keys == {"rollout.max_sequences_per_engine": 16}
    full = RUN.replace({"rollout.engine_memory_share": 0.3, "rollout.prompts_per_step": 2048})
    keys = next(c for c in changes_of(full) if c.name == "bigger_batch").keys(full)
    assert keys == {"rollout.engine_memory_share": 0.85}


def test_tenants_trade_hours_for_dollars():
    row = levers(RUN, only=("tenants",))["changes"]["tenants"]
    assert row["usd_ratio_alone"]["mid"] < 1 < row["time_ratio_alone"]["mid"]


def test_the_moe_twin_of_a_dense_model():
    agent = RUN.replace({"model.name": "qwen3-32b"})
    row = levers(agent, only=("moe_twin",))["changes"]["moe_twin"]
    twin = bill(agent.replace({"model.name": "qwen3-30b-a3b"}))["usd_run"] / bill(agent)["usd_run"]
    assert row["usd_ratio_alone"]["mid"] == pytest.approx(float(twin)) and twin < 1
    assert "no mixture-of-experts" in levers(RUN, only=("moe_twin",))["changes"]["moe_twin"]["why"]


def test_factors_are_those_of_physics():
    """Alone, a lever moves a phase by what it changes there, and leaves the others."""
    rows = levers(RUN, only=("lora", "fp8_rollouts"))["changes"]
    lora, bits = (rows[n]["phase_factors"]["time"] for n in ("lora", "fp8_rollouts"))
    assert 3 / 4 < lora["update"]["alone"] < 1  # three of four passes with recomputation, and attention
    assert lora["rollout"] == {"alone": 1, "least": 1} and bits["update"] == {"alone": 1, "least": 1}
    assert 1 / 2 < bits["rollout"]["alone"] < 1
    fast = levers(RUN, only=("gpu_b200",))["changes"]["gpu_b200"]["phase_factors"]["time"]
    peaks = 989.5 / 2250
    assert fast["update"]["alone"] >= peaks * 0.99 and fast["overhead"]["alone"] == 1
    drafts = levers(RUN, only=("speculation",))["changes"]["speculation"]["phase_factors"]["time"]
    assert drafts["rollout"]["alone"] >= (1 - 0.7) / (1 - 0.7**4)  # 1/n_tok


def test_untouched_phases_have_no_interval_of_their_own():
    """A lever that moves a tenth of the bill is not uncertain by half of the bill."""
    rows = levers(RUN, only=("lora", "gpu_b200"))["changes"]
    width = {n: math.log(r["time_ratio_alone"]["high"] / r["time_ratio_alone"]["low"]) for n, r in rows.items()}
    assert width["lora"] < 0.6 * width["gpu_b200"]


def test_a_growing_run_and_one_without_steps():
    growing = levers(RUN.replace({"run.response_growth_per_step": 0.002}), only=("lora",))
    assert "grow" in growing["notes"][0]
    unknown = levers(RUN.replace({"run.steps": None}), only=MIXED)
    known = levers(RUN, only=MIXED)
    assert unknown["together"]["usd"]["mid"] == pytest.approx(known["together"]["usd"]["mid"])


def test_bad_questions():
    with pytest.raises(RleconError, match="no such lever"):
        levers(RUN, only=("lorra",))
    with pytest.raises(RleconError, match="several values"):
        levers(RUN.replace({"reward.pass_rate": [0.1, 0.2]}))
    with pytest.raises(RleconError, match="rollout.group_size"):
        levers(RUN.replace({"rollout.group_size": 1}))


def test_the_command(tmp_path):
    ask = [
        "levers", "--set", "model.name=qwen3-8b", "--set", "hardware.gpu=h100-sxm", "--set", "hardware.gpus=8", "--set",
        "rollout.prompts_per_step=64", "--set", "rollout.group_size=8", "--set", "rollout.response_tokens=2000",
        "--only", "lora", "--only", "fp8_rollouts",
    ]  # fmt: skip
    ran = CliRunner().invoke(main, [*ask, "--json"])
    assert ran.exit_code == 0
    found = json.loads(ran.output)
    assert set(found) == {"changes", "used_together", "product_of_alone", "amdahl_of_alone", "together", "bound",
                          "notes"}  # fmt: skip
    shown = CliRunner().invoke(main, ask)
    assert shown.exit_code == 0 and "All together" in shown.output
    assert all(len(line) < 160 for line in shown.output.splitlines())
    wrong = CliRunner().invoke(main, [*ask[:-1], "lorra"])
    assert wrong.exit_code == 2 and "no such lever" in (wrong.output + str(getattr(wrong, "stderr", "")))


# --- any run ---------------------------------------------------------------------------------------------------------
MODELS = ("qwen3-0.6b", "qwen3-8b", "qwen3-32b", "qwen3-30b-a3b", "llama-3.1-70b")


@st.composite
def runs(draw):
    turns = draw(st.sampled_from([1, 1, 12]))
    given_share = draw(st.sampled_from([None, 0.5, 0.9]))
    run = Run(
        model={"name": draw(st.sampled_from(MODELS)), "lora_rank": draw(st.sampled_from([0, 0, 16]))},
        hardware={
            "gpu": draw(st.sampled_from(["a100-sxm-80", "h100-sxm", "h200-sxm", "h20"])),
            "gpus": draw(st.sampled_from([8, 32, 128])),
        },
        rollout={
            "prompts_per_step": draw(st.integers(4, 600)), "group_size": draw(st.integers(2, 16)),
            "response_tokens": draw(st.floats(100, 8000)), "response_tokens_cv": draw(st.floats(0.1, 1.5)),
            "max_response_tokens": 16384, "turns": turns, "tool_tokens_per_turn": 300.0 if turns > 1 else 0.0,
            "environment_seconds_per_turn": round(draw(st.floats(0, 20)), 3) if turns > 1 else 0.0,
            "prefix_cached": draw(st.booleans()),
        },
        update={"old_logprobs": draw(st.booleans()), "offload": draw(st.booleans())},
        reward={"pass_rate": draw(st.floats(0.05, 0.95))},
        run={"steps": 100},
    )  # fmt: skip
    return run.replace({"rollout.engine_memory_share": given_share})


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(runs())
def test_no_set_of_levers_passes_the_bound(run):
    try:
        bill(run)
    except RleconError:
        return
    found = levers(run, only=[c.name for c in changes_of(run) if not c.name.startswith("gpu_mi")])
    for kind in ("usd", "time"):
        if found["together"][kind] is None:
            continue
        whole, bound = found["together"][kind]["mid"], found["bound"][kind]
        assert bound <= whole * (1 + 1e-9)
        shares = [found["changes"][n]["share"][kind] for n in found["used_together"]]
        assert math.fsum(shares) == pytest.approx(1, abs=1e-6) or abs(math.log(whole)) < 1e-9
        for name in found["used_together"]:
            row = found["changes"][name][f"{kind}_ratio_alone"]
            assert row["low"] <= row["mid"] <= row["high"]
            assert bound <= row["mid"] * (1 + 1e-9)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(runs(), st.permutations(["lora", "async", "fp8_rollouts", "group_size_2", "speculation"]))
def test_the_order_of_asking_changes_nothing(run, order):
    try:
        first = levers(run, only=sorted(order))
    except RleconError:
        return
    again = levers(run, only=order)
    assert again == first

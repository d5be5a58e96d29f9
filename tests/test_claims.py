"""The ledger's rule: what agrees, and which labels may follow."""

import dataclasses
import math

import pytest

from rlecon import catalog, claims
from rlecon.errors import RleconError


def make(**changes):
    base = {"id": "X1", "chapter": "index", "claim": "c", "label": "holds", "settled_by": "facts", "kind": "published",
            "source": ("shannon1948",), "as_of": "2026", "claimed": 10.0, "tolerance_factor": 1.25, "why": "w"}
    return catalog.Claim(**{**base, **changes})


@pytest.mark.parametrize("claimed, value, factor, relation", [
    (10, 10, 1, "agree"), (10, 12.5, 1.25, "agree"), (10, 15.6, 1.25, "agree"), (10, 15.7, 1.25, "above"),
    (10, 6.41, 1.25, "agree"), (10, 6.39, 1.25, "below"), ([2, 4], [1.09, 1.47], 1.1, "below"),
    ([2, 4], [1.09, 1.83], 1.1, "agree"), (0, 0, 1, "agree"), ([0, 1e-4], 2.9e-5, 1, "agree"), (1e-6, 1, 3, "above"),
    (-10, -12, 1.25, "agree"), (-10, -20, 1.25, "below"), (10, None, 1, None), (None, 3, 1, None),
])
def test_compare(claimed, value, factor, relation):
    assert claims.compare(claimed, value, factor) == relation


def test_comparing_is_fair_to_both_sides():
    for factor in (1, 1.25, 3):
        for a, b in ((1, 1.4), (2, 20), ([1, 2], [3, 4]), (5, 5)):
            one, other = claims.compare(a, b, factor), claims.compare(b, a, factor)
            assert (one == "agree") == (other == "agree")
            assert {one, other} in ({"agree"}, {"above", "below"})


@pytest.mark.parametrize("label, value", [
    ("holds", 20), ("holds", 3), ("contradicted", 10), ("outdated", 11), ("does_not_follow", 9), ("upper_bound", 20),
    ("order_of_magnitude", 2000), ("order_of_magnitude", 0.05), ("unverified", 10),
])
def test_a_label_that_cannot_follow_is_refused(label, value):
    with pytest.raises(RleconError, match="label"):
        claims.verdict(make(label=label), value)


@pytest.mark.parametrize("label, value, relation", [
    ("holds", 11, "agree"), ("contradicted", 100, "above"), ("outdated", 1, "below"), ("does_not_follow", 2, "below"),
    ("upper_bound", 1, "below"), ("upper_bound", 10, "agree"), ("order_of_magnitude", 60, "above"),
    ("unverified", None, None),
])
def test_a_label_that_can_follow_stands(label, value, relation):
    assert claims.verdict(make(label=label), value) == relation


def test_a_conditional_label_needs_its_condition():
    with pytest.raises(RleconError, match="condition"):
        claims.verdict(make(label="holds_if"), 11)
    assert claims.verdict(make(label="holds_if", needs="n"), 30) == "above"


def test_a_label_needs_a_reason_and_must_exist():
    with pytest.raises(RleconError, match="reason"):
        claims.verdict(make(why=""), 10)
    with pytest.raises(RleconError, match="not a label"):
        claims.verdict(make(label="true"), 10)


def test_a_tolerance_below_one_is_refused():
    with pytest.raises(RleconError, match="tolerance"):
        claims.compare(1, 1, 0.9)


@pytest.mark.parametrize("value", [math.nan, [1, math.inf], "ten", []])
def test_a_value_must_be_a_finite_number(value):
    with pytest.raises(RleconError):
        claims.interval(value)


def test_a_computed_value_cannot_be_typed():
    typed = make(settled_by="computation", value=10.0)
    with pytest.raises(RleconError, match="typed"):
        claims.settle(typed)
    with pytest.raises(RleconError, match="typed"):
        claims.settle(make(settled_by="argument", value=10.0))
    with pytest.raises(RleconError, match="nothing is computed"):
        claims.settle(make(compute="math:log2"))


def test_a_missing_computation_leaves_the_claim_open():
    assert claims.settle(make(settled_by="computation")).status == "open"
    done = claims.settle(make(settled_by="computation", claimed=1.43, compute="rlecon.claims:gpu_ratio",
                              arguments={"pairs": [["h200", "h100"]], "field": "memory_bytes_per_second"}))
    assert (done.status, done.relation) == ("settled", "agree")


def test_a_function_that_does_not_exist_is_named():
    for path in ("rlecon.claims:nothing", "rlecon.nowhere:f", "nothing"):
        with pytest.raises(RleconError, match="cannot be computed"):
            claims.resolve(path)


def test_the_ledger_stands():
    settled = claims.ledger()
    assert len(settled) == 93 and len({s.claim.id for s in settled}) == 93
    for s in settled:
        c = s.claim
        assert c.claim and c.chapter and c.why, c.id
        assert s.status == "open" or s.relation or c.claimed is None or s.value is None, c.id
        if c.claimed is not None:
            assert c.unit, c.id
        if c.settled_by == "facts" and c.value is None:
            assert c.label == "unverified", f"{c.id}: settled by facts, and none is given"


def test_turning_any_settled_label_around_is_caught():
    """Every claim that has a number and a value refuses at least one of holds and contradicted."""
    tried = 0
    for s in claims.ledger():
        if s.relation is None:
            continue
        refused = 0
        for label in ("holds", "contradicted"):
            try:
                claims.verdict(dataclasses.replace(s.claim, label=label), s.value)
            except RleconError:
                refused += 1
        assert refused == 1, s.claim.id
        tried += 1
    assert tried >= 30


def test_values_read_off_the_catalogue():
    assert claims.measured([{"id": "two_grpo_rollouts", "path": "value", "scale": 0.01, "invert": True}]) == (8, 8)
    assert claims.gpu_ratio([["b200", "h100"]], "memory_bytes_per_second")[0] == pytest.approx(7.7 / 3.35)
    assert claims.entry_ratio(["qwen3-8b"], "heads", "kv_heads") == (4, 4)
    low, high = claims.model_ratio([["qwen3-8b", "llama-3.1-8b"]], ["kv_bytes_per_token"])
    assert low == high == 147456 / 131072
    with pytest.raises(RleconError, match="no such number"):
        claims.measured([{"id": "deepswe", "path": "config.nothing"}])
    with pytest.raises(RleconError, match="fewer than two"):
        claims.price_spread("api_tokens", "gpt-oss-20b", "output_usd_per_million")


def test_values_computed_from_equations():
    entropy = {"equations": ["rlecon.information:entropy_equation"], "inputs": {"pass_rate": 0.25}}
    assert claims.evaluated([entropy])[0] == pytest.approx(0.811278124)
    half = {**entropy, "inputs": {"pass_rate": 0.5}}
    assert claims.evaluated([{**entropy, "times": [2, 3], "over": half}])[0] == pytest.approx(6 * 0.811278124)
    assert claims.evaluated([{**half, "over": 1000, "invert": True}]) == pytest.approx((1000, 1000))
    named = {**entropy, "inputs": {"pass_rate": "@deepswe_pass_rates:value.0"}}
    assert claims.evaluated([named])[0] == pytest.approx(0.778011304)
    with pytest.raises(RleconError):
        claims.evaluated([{**entropy, "inputs": {"pass_rate": "@deepswe_pass_rates:value.9"}}])


def test_what_the_ledger_finds():
    """Numbers worked out by hand, apart from the package."""
    found = {s.claim.id: s for s in claims.ledger()}
    for id, low, high in (
        ("M09", 2.843, 0.25 / 0.0475), ("M10", 0, 0), ("M11", 40, 2**20), ("E25", 0.25, 0.5),
        ("M04", 1.009, 1.125), ("E08", math.log2(50257), math.log2(100277)),
        ("E15", 0.2, 0.36), ("E19", 2.86397e-5, 1e-4), ("E31", 0.5 * math.log2(17), 29.99),
        ("E16", 1.25, 6.54), ("E33", 0.1274, 0.1274), ("E34", 11.6, 18.55), ("M37", 1.64, 1.90),
        ("M40", 7.7 / 3.35, 8.0 / 3.35),
    ):
        assert found[id].value == (pytest.approx(low, rel=3e-3), pytest.approx(high, rel=3e-3)), id
    settled = "bits-per-token", "exploration-hardness", "two-grpo"
    assert not [s.claim.id for s in found.values() if s.claim.chapter in settled and s.status == "open"]

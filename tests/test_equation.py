"""The engine: order, evaluation, conditions, errors, elasticities, printing."""

import json
import subprocess

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rlecon import formulary, printing
from rlecon import vocabulary as v
from rlecon.equation import (
    EQUATIONS,
    Equation,
    Model,
    cases,
    choose,
    compare,
    exponential,
    largest,
    logarithm,
    root,
    smallest,
)
from rlecon.errors import RleconError
from rlecon.quantity import REGISTRY, quantity
from tests.javascript import NODE

formulary.load()
a = quantity("test_a", "a", "s", "a test duration", "[0,inf)")
b = quantity("test_b", "b", "s", "a test duration", "(0,10]")
c = quantity("test_c", "c", "s", "a test duration")
d = quantity("test_d", "d", "1", "a test ratio")
SUM = Equation(c, a + b, "sum", holds_when=[(a < 5 * b, "{test_a} s is too long for {test_b} s")], name="test_sum")
RATIO = Equation(d, sp.Max(a, b) / c, "ratio", name="test_ratio")
MODEL = Model([RATIO, SUM], "test model")


def test_orders_by_need_and_names_inputs():
    assert [e.name for e in MODEL.order] == ["test_sum", "test_ratio"]
    assert MODEL.inputs() == ["test_a", "test_b"]
    assert MODEL.inputs(["test_c"]) == ["test_a", "test_b"]


def test_scalars_and_broadcasting():
    assert MODEL.solve({"test_a": 1, "test_b": 3})["test_d"] == 0.75
    got = MODEL.solve({"test_a": np.array([[1.0], [2.0]]), "test_b": np.array([1.0, 2.0, 4.0])})["test_d"]
    assert got.shape == (2, 3)
    assert got[1, 0] == pytest.approx(2 / 3)


def test_circles_and_doubles_are_refused():
    with pytest.raises(RleconError, match="circle"):
        Model([RATIO, Equation(c, d * a, "loop", name="test_loop")])
    with pytest.raises(RleconError, match="two equations of one model"):
        Model([SUM, Equation(c, a, "again", name="test_again")])
    with pytest.raises(RleconError, match="have this name"):
        Equation(c, a * 2, "other", name="test_sum")


def test_missing_and_out_of_domain_inputs_are_named():
    with pytest.raises(RleconError, match="test_b.*not given"):
        MODEL.solve({"test_a": 1})
    with pytest.raises(RleconError, match="test_b = 11 s: out of range .allowed: above 0 to 10."):
        MODEL.solve({"test_a": 1, "test_b": 11})
    for bad in (float("nan"), float("inf"), -1.0):
        with pytest.raises(RleconError, match="test_a"):
            MODEL.solve({"test_a": bad, "test_b": 1})


def test_a_condition_speaks_with_values_and_masks_arrays():
    with pytest.raises(RleconError, match="6 s is too long for 1 s"):
        MODEL.solve({"test_a": 6, "test_b": 1})
    reasons = []
    got = MODEL.solve({"test_a": np.array([1.0, 6.0, -1.0]), "test_b": 1.0}, reasons=reasons)
    assert list(np.isnan(got["test_d"])) == [False, True, True]
    assert got["test_d"][0] == 0.5
    assert any("6 s is too long" in words for _, words in reasons)
    assert any("at least 0" in words for _, words in reasons)


def test_elasticities_show_both_sides_of_a_kink():
    sides = MODEL.elasticities({"test_a": 2.0, "test_b": 2.0}, "test_d")
    below, above = sides["test_a"]
    assert below == pytest.approx(-0.5, abs=1e-4)
    assert above == pytest.approx(0.5, abs=1e-4)


def chain_rule(model, values, output, name):
    """d log(output) / d log(input) by symbolic partial derivatives along the ordered list."""
    solved = model.solve(values)
    slope = {name: 1.0}
    constants = {q.symbol: q.value for q in REGISTRY.values() if q.value is not None}
    for e in model.order:
        total = 0.0
        for s in e.right.free_symbols:
            if s.name in slope:
                partial = sp.diff(e.right, s).subs(
                    {x: solved[x.name] for x in e.right.free_symbols if x.name in solved} | constants
                )
                total += float(partial.evalf()) * slope[s.name]
        slope[e.left.name] = total
    return slope[output] * solved[name] / solved[output]


@pytest.mark.parametrize("name", ["pass_rate"])
def test_differences_agree_with_the_chain_rule(name):
    model = Model([EQUATIONS["entropy_bits"]])
    values = {"pass_rate": 0.2}
    below, above = model.elasticities(values, "entropy_bits")[name]
    assert (below + above) / 2 == pytest.approx(chain_rule(model, values, "entropy_bits", name), rel=1e-7)


def test_differences_agree_with_the_chain_rule_over_several_equations():
    names = [
        "rollouts",
        "started_rollouts",
        "generated_tokens_per_step",
        "tool_tokens",
        "trajectory_tokens",
        "processed_tokens_per_step",
    ]
    model = Model([EQUATIONS[n] for n in names])
    values = {
        "prompts_per_step": 16,
        "group_size": 8,
        "oversampling": 1.3,
        "response_tokens": 2000.0,
        "prompt_tokens": 300.0,
        "turns": 4.0,
        "tool_tokens_per_turn": 120.0,
    }
    for name in ("oversampling", "response_tokens", "prompt_tokens", "turns"):
        table = model.elasticities(values, "processed_tokens_per_step")
        if name in table:
            expected = chain_rule(model, values, "processed_tokens_per_step", name)
            assert sum(table[name]) / 2 == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_what_is_kept_as_written_is_what_sympy_makes_of_it():
    plain = sp.Symbol("a", real=True), sp.Symbol("b", real=True), sp.Symbol("c", real=True)
    letters = v.prompt_tokens, v.response_tokens, v.turns
    back = dict(zip(letters, plain, strict=True))

    def as_written(a, b, c):
        tests = [compare(a * b, sign, c + 1) for sign in ("<", "<=", ">", ">=")] + [a < b, a <= 1, b > c, c >= a * b]
        return [*tests, (a < b) & (c >= 1), root(a * b + c), exponential(-a * root(b**2 + c**2)), logarithm(1 - a),
                largest(a, b), smallest(a, b * c), cases((a, compare(b, ">", 0)), (c, True))]  # fmt: skip

    def evaluated(a, b, c):
        tests = [a * b < c + 1, a * b <= c + 1, a * b > c + 1, a * b >= c + 1, a < b, a <= 1, b > c, c >= a * b]
        return [*tests, (a < b) & (c >= 1), sp.sqrt(a * b + c), sp.exp(-a * sp.sqrt(b**2 + c**2)), sp.log(1 - a),
                sp.Max(a, b), sp.Min(a, b * c), sp.Piecewise((a, b > 0), (c, True))]  # fmt: skip

    assert [e.xreplace(back) for e in as_written(*letters)] == evaluated(*plain)


def test_operations_outside_the_closed_set_are_refused():
    with pytest.raises(RleconError, match="not allowed"):
        printing.write(sp.gamma(a), printing.NUMPY)
    with pytest.raises(RleconError, match="always holds"):
        printing.write(sp.Piecewise((a, a > b)), printing.NUMPY)


def test_choose_is_plain_for_scalars():
    assert choose(True, 1, 2) == 1
    assert list(choose(np.array([True, False]), 1, 2)) == [1, 2]


def test_equations_hold_no_numbers_but_mathematical_ones():
    tiny = sp.Rational(10**9 + 1, 10**9)  # the rounding allowance of a mean at its cap
    for e in EQUATIONS.values():
        if e.topic not in formulary.TOPICS:
            continue
        for expr in (e.right, *(x.relation for x in e.holds_when)):
            for number in expr.atoms(sp.Number):
                assert not number.is_Float, (e.name, number)
                assert number in (sp.oo, sp.S.NegativeInfinity, tiny) or abs(number) <= 4, (e.name, number)


def test_javascript_agrees_on_a_plain_model():
    code = MODEL.javascript(["test_c", "test_d"])
    cases = [{"test_a": 1.5, "test_b": 2.5}, {"test_a": 6.0, "test_b": 1.0}, {"test_a": 1.0, "test_b": 11.0}]
    script = f"const f = {code};\nconst S = {{show: x => String(x)}};\n"
    script += f"console.log(JSON.stringify({json.dumps(cases)}.map(v => f(v, S))));"
    done = subprocess.run([NODE, "-e", script], capture_output=True, text=True, check=True)
    good, too_long, outside = json.loads(done.stdout)
    assert good["values"]["test_d"] == MODEL.solve(cases[0])["test_d"]
    assert good["reason"] is None
    assert too_long["reason"] == "6 s is too long for 1 s"
    with pytest.raises(RleconError) as error:
        MODEL.solve(cases[2])
    assert outside["reason"] == str(error.value)  # the same words in both languages


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.sampled_from([v.turns, v.epochs, v.minibatches, sp.Integer(2), sp.Rational(1, 2), sp.Rational(-3, 4)]),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda t: t[0] + t[1]),
            st.tuples(inner, inner).map(lambda t: t[0] * t[1]),
            st.tuples(inner, inner).map(lambda t: t[0] - t[1]),
            st.tuples(inner, inner).map(lambda t: sp.Max(t[0], t[1])),
            st.tuples(inner, inner).map(lambda t: sp.Min(t[0], t[1])),
            inner.map(lambda t: 1 / (1 + t**2)),
            inner.map(lambda t: sp.exp(-(t**2))),
            inner.map(lambda t: sp.log(2 + t**2)),
            inner.map(lambda t: sp.sqrt(1 + t**2)),
            st.tuples(inner, inner).map(lambda t: sp.Piecewise((t[0], t[1] > 1), (t[1], True))),
        ),
        max_leaves=8,
    )
)
def test_printed_numpy_equals_sympy(expr):
    point = {"turns": 3.0, "epochs": 2.0, "minibatches": 5.0}
    space = {
        **point,
        "exp": np.exp,
        "log": np.log,
        "sqrt": np.sqrt,
        "maximum": np.maximum,
        "minimum": np.minimum,
        "choose": choose,
        "inf": np.inf,
    }
    got = eval(
        printing.write(sp.sympify(expr), printing.NUMPY),
        {k: np.float64(x) if isinstance(x, float) else x for k, x in space.items()},
    )
    want = sp.sympify(expr).subs({v.turns: 3, v.epochs: 2, v.minibatches: 5}).evalf()
    assert float(got) == pytest.approx(float(want), rel=1e-12, abs=1e-12)

"""Every equation against a second computation, and every small slip in it against both units and values.

An equation must agree with ``tests/reference``, which computes the same quantity in plain Python from its meaning. Then
a person's slips are made on purpose (a sign, a factor, a dropped term, a swapped unit, a wrong bound): each must be
refused by the unit walker or give another number at one of the points. So a wrong equation cannot stand.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import numpy as np
import pytest
import sympy as sp

import rlecon
from rlecon import printing, units
from rlecon.equation import EQUATIONS, _namespace
from rlecon.errors import RleconError
from rlecon.quantity import REGISTRY
from rlecon.special import Special
from tests import mutants as slips
from tests.reference import REFERENCE
from tests.reference.points import points

MODULES = [m.name for m in pkgutil.iter_modules(rlecon.__path__) if not m.name.startswith("_")]
for _module in MODULES:
    importlib.import_module(f"rlecon.{_module}")
NAMES = sorted(e.name for e in EQUATIONS.values() if e.topic in MODULES)
AGREE, AGREE_QUADRATURE, NOTICED, SHARE = 1e-9, 1e-6, 1e-6, 0.95
ROUNDING = 1e-15  # of numbers near one that cancel


def evaluate(expression, values):
    """An expression at arrays of values, as the package prints it."""
    names = sorted(s.name for s in expression.free_symbols)
    write = printing.write if isinstance(expression, sp.Expr) else printing.condition_text
    code = f"lambda {', '.join(names)}: {write(expression, printing.NUMPY)}"
    with np.errstate(all="ignore"):
        return eval(code, _namespace())(*(values[n] for n in names))


class Compared:
    """One equation at its points: values of its inputs, the reference's numbers, and where that refuses."""

    def __init__(self, name):
        self.equation = EQUATIONS[name]
        self.points = points(self.equation)
        expected = [p.expected() for p in self.points]
        self.stands = np.array([e is not None for e in expected])
        self.expected = np.array([np.nan if e is None else e for e in expected])
        self.values = {s.name: self._column(s.name) for s in self.equation.inputs}
        # a condition may speak of the quantity itself: an equation's own number is what it then judges
        self.values[self.equation.left.name] = self.at(self.equation.right)

    def _column(self, name):
        fixed = REGISTRY[name].value
        return np.array([p[name] if fixed is None else fixed for p in self.points], float)

    def at(self, expression):
        return np.broadcast_to(evaluate(expression, self.values), len(self.points))

    def differs(self, expression, tolerance):
        """Whether an expression gives another number where the reference has one (NaN is another number)."""
        got, want = self.at(expression)[self.stands], self.expected[self.stands]
        with np.errstate(invalid="ignore"):
            same = (got == want) | (np.abs(got - want) <= tolerance * np.abs(want) + ROUNDING)
        return not same.all()

    def holds(self, relation):
        return np.broadcast_to(evaluate(relation, self.values), len(self.points)).astype(bool)

    def caught(self, mutant):
        """Whether units or values tell a mutant from the equation, or it is complex and has no printed form."""
        try:
            units.check(self.equation.left, mutant)
        except RleconError:
            return True
        return bool(mutant.has(sp.I)) or self.differs(mutant, NOTICED)


compared = cache(Compared)


@cache
def verdicts(name):
    """(words, caught) for every mutant of an equation."""
    one = compared(name)
    return [(words, one.caught(mutant)) for words, mutant in slips.mutants(one.equation.right)]


def test_every_equation_has_a_reference():
    assert set(NAMES) == set(REFERENCE)


@pytest.mark.parametrize("name", NAMES)
def test_equation_agrees_with_the_reference(name):
    one = compared(name)
    assert one.stands.any(), "the reference refuses every point"
    tolerance = AGREE_QUADRATURE if one.equation.right.has(Special) else AGREE
    differs = one.differs(one.equation.right, tolerance)
    assert not differs, (one.at(one.equation.right), one.expected)


@pytest.mark.parametrize("name", NAMES)
def test_each_branch_binds_somewhere(name):
    one = compared(name)
    for _, part in slips.parts(one.equation.right):
        if isinstance(part, sp.Max | sp.Min):
            whole = one.at(part)[one.stands]
            for arg in part.args:
                binds = bool((one.at(arg)[one.stands] == whole).any())
                assert binds, f"{arg} never binds in {part}"
        elif isinstance(part, sp.Piecewise):
            left = np.full(len(one.points), True)
            for _, condition in part.args:
                here = left & (one.holds(condition) if condition != sp.true else True)
                decides = bool(here.any())
                assert decides, f"no point where {condition} decides"
                left &= ~here


@pytest.mark.parametrize("name", [n for n in NAMES if EQUATIONS[n].holds_when])
def test_conditions_are_noticed(name):
    """An equation refuses what the reference refuses, and would not with a relation turned round."""
    one = compared(name)
    relations = [c.relation for c in one.equation.holds_when]
    held = np.logical_and.reduce([one.holds(r) for r in relations])
    differ = [p.given for p, h, s in zip(one.points, held, one.stands, strict=True) if h != s]
    assert not differ, "refused by one and not by the other"
    refusals = one.stands.size - one.stands.sum()
    assert refusals > 0, "no point is refused"
    for i, relation in enumerate(relations):
        for words, other in slips.flipped(relation):
            rest = [one.holds(r) for j, r in enumerate(relations) if j != i]
            noticed = bool((np.logical_and.reduce([one.holds(other), *rest]) != one.stands).any())
            assert noticed, words


@pytest.mark.parametrize("name", NAMES)
def test_some_mutant_of_each_equation_is_caught(name):
    assert any(caught for _, caught in verdicts(name))


def test_nearly_all_mutants_are_caught(capsys):
    found = [(name, words, caught) for name in NAMES for words, caught in verdicts(name)]
    survivors = [f"{name}: {words}" for name, words, caught in found if not caught]
    share = 1 - len(survivors) / len(found)
    with capsys.disabled():
        print(f"\n{len(found) - len(survivors)} of {len(found)} mutants of {len(NAMES)} equations caught ({share:.1%})")
        print("".join(f"  survives: {line}\n" for line in survivors), end="")
    assert share >= SHARE

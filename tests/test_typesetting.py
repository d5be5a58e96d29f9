"""LaTeX of equations: counts in front, no ones, differences begin with what is taken from, entropy by name."""

from __future__ import annotations

import re

import pytest
import sympy as sp

from rlecon import formulary, information, training
from rlecon import vocabulary as v
from rlecon.equation import EQUATIONS
from rlecon.typesetting import entropy_of, latex

formulary.load()


def test_counts_stand_in_front_and_ones_vanish():
    assert training.matmul_equation.latex() == r"f_{\mathrm{mat}} = 2\,N_{\mathrm{act}}"
    assert latex(v.information_bits, v.one_bit * v.pass_rate / v.one_token) == "I = p"


def test_a_difference_begins_with_what_is_taken_from():
    p, size = v.pass_rate, v.group_size
    assert latex(p, 1 - p**size - (1 - p) ** size).endswith(r"1 - p^{G} - \left(1 - p\right)^{G}")
    assert latex(p, v.rollouts - size).endswith("n - G")


def test_the_entropy_is_named_but_where_it_is_defined():
    assert r"H{\left(f_{+} \right)}" in information.verifier_equation.latex()
    assert r"\ln" in information.entropy_equation.latex()
    assert entropy_of(sp.Piecewise((0, v.pass_rate <= 0), (v.pass_rate, True))) is None


@pytest.mark.parametrize("name", EQUATIONS)
def test_no_factor_of_one_and_no_leading_minus_in_a_sum(name):
    text = EQUATIONS[name].latex()
    assert not re.search(r"(?<![\d._{(])1\\,|/1\b|\{1\}\{1\}", text), text
    assert not re.search(r"\\left\(- [^()]* \+ 1\\right\)", text), text

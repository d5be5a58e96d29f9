"""Quantities: declared once, with a domain that speaks."""

import re

import numpy as np
import pytest
import sympy as sp

from rlecon import quantity as qm
from rlecon import vocabulary as v
from rlecon.errors import RleconError
from rlecon.quantity import REGISTRY, lookup


def test_every_quantity_has_letter_unit_and_meaning():
    from rlecon import units

    for q in REGISTRY.values():
        assert q.latex and q.meaning
        units.parse(q.unit)


def test_symbols_print_their_letter():
    assert sp.latex(v.group_size) == "G"
    assert r"\tau_{\mathrm{step}}" in sp.latex(v.step_seconds / v.gpus)


def test_a_second_different_declaration_is_refused():
    with pytest.raises(RleconError, match="twice"):
        qm.quantity("group_size", "G", "1", "something else")


def test_domains():
    assert lookup("pass_rate").domain == "0 to 1"
    assert lookup("gpus").domain == "whole numbers at least 1"
    assert lookup("usd_per_gpu_hour").domain == "at least 0"
    q = lookup("max_response_tokens")
    assert list(q.admits(np.array([0.0, 1.0, np.inf, np.nan]))) == [False, True, True, False]
    assert not lookup("gpus").admits(np.inf)


def test_unknown_names_suggest_near_ones():
    with pytest.raises(RleconError, match="group_size"):
        lookup("group_sise")


def test_bad_domain_text():
    with pytest.raises(RleconError, match="interval"):
        qm.quantity("nonsense_quantity", "x", "1", "x", "0..1")


def test_one_letter_one_meaning():
    seen = {}
    for q in REGISTRY.values():
        if q.value is None and q.heading and not q.name.startswith("test_"):
            assert q.latex not in seen, (q.name, seen[q.latex])
            seen[q.latex] = q.name


def test_letters_are_letters():
    """A letter that is itself a sum or a product would be misread inside a formula."""
    for q in REGISTRY.values():
        bare = q.latex
        while "{" in bare:
            stripped = re.sub(r"\{[^{}]*\}", "", bare)
            if stripped == bare:
                break
            bare = stripped
        bare = re.sub(r"\[[^]]*\]|\([^)]*\)", "", bare)
        assert not re.search(r"[+*/ ]", re.sub(r"\\[a-zA-Z]+ ?", "", bare)), (q.name, q.latex)

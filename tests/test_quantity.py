"""Quantities: declared once, with a domain that speaks."""

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

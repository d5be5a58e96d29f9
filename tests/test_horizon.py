"""Trends carried forward: doublings, and where longer tasks and cheaper tokens balance."""

import numpy as np
import pytest

from rlecon import horizon as h
from rlecon.errors import RleconError


def test_doublings_and_halvings():
    assert h.horizon_equation(elapsed_days=262, doubling_days=131) == pytest.approx(4)
    assert h.price_equation(elapsed_days=300, price_halving_days=100) == pytest.approx(1 / 8)
    assert h.horizon_equation(elapsed_days=0, doubling_days=89) == 1


def test_the_balance_keeps_bits_per_dollar():
    even = h.even_equation(doubling_days=131, time_exponent=1.687)
    assert even == pytest.approx(77.7, abs=0.1)
    days = np.array([30.0, 365.0, 1000.0])
    kept = h.bits_equation(
        reward_bits_ratio=1,
        token_price_ratio=h.price_equation(elapsed_days=days, price_halving_days=even),
        horizon_ratio=h.horizon_equation(elapsed_days=days, doubling_days=131),
        time_exponent=1.687,
    )
    assert kept == pytest.approx(1)


def test_year_by_year():
    """A trajectory priced day by day, without the closed form."""
    tokens, price, bits = 1.0, 1.0, 1.0
    for _ in range(365):
        tokens *= (2 ** (1 / 131)) ** 1.5
        price *= 2 ** (-1 / 200)
    kept = h.bits_equation(
        reward_bits_ratio=bits,
        token_price_ratio=h.price_equation(elapsed_days=365, price_halving_days=200),
        horizon_ratio=h.horizon_equation(elapsed_days=365, doubling_days=131),
        time_exponent=1.5,
    )
    assert kept == pytest.approx(bits / (tokens * price))
    assert kept < 0.3


def test_tokens_that_do_not_grow_have_no_balance():
    with pytest.raises(RleconError, match="need no cheaper tokens"):
        h.even_equation(doubling_days=131, time_exponent=0)

"""Stronger models, parts and wholes: known values, limits, and order-free shares."""

import itertools
import math

import numpy as np
import pytest

from rlecon import capability as c
from rlecon import learning
from rlecon.errors import RleconError


def test_spread_makes_signal_dearer():
    variance = learning.pass_variance_equation(mean_pass_rate=0.3, pass_rate_spread=0.3)
    assert variance == pytest.approx(0.12)
    dear = c.signal_price_equation(usd_per_token=1e-6, response_tokens=1000, pass_variance=variance)
    cheap = c.signal_price_equation(usd_per_token=1e-6, response_tokens=1000, pass_variance=0.21)
    assert dear / cheap == pytest.approx(0.21 / 0.12)


def test_break_even():
    even = c.pass_equation(odds_ratio=21, price_ratio=4)
    assert even == pytest.approx(0.065, abs=0.0005)
    assert c.price_equation(odds_ratio=21, pass_rate=even) == pytest.approx(4)
    assert c.better_equation(odds_ratio=21, pass_rate=0.02) == pytest.approx(0.3, abs=0.001)
    for start, lifted, dearer in ((0.3, 0.5, 3.4), (0.3, 0.9, 9.3)):
        odds = lifted / (1 - lifted) / (start / (1 - start))
        assert 4 / c.price_equation(odds_ratio=odds, pass_rate=start) == pytest.approx(dearer, abs=0.05)
    with pytest.raises(RleconError, match="never pay"):
        c.pass_equation(odds_ratio=3, price_ratio=4)


def test_amdahl():
    assert [c.cap_equation(rollout_share=x) for x in (0.7, 0.8, 0.9)] == pytest.approx([3.33, 5, 10], abs=0.01)
    got = c.amdahl_equation(rollout_share=0.85, rollout_speedup=np.array([4.8, 9.6]), training_speedup=2.27)
    assert got == pytest.approx([4.1, 6.5], abs=0.05)
    endless = c.amdahl_equation(rollout_share=0.8, rollout_speedup=1e12, training_speedup=1)
    assert endless == pytest.approx(c.cap_equation(rollout_share=0.8))
    assert got[0] < 4.8 * 2.27  # a product of parts is not the speedup of the whole


# --- order-free shares -----------------------------------------------------------------------------------------------
def worth(levers):
    """Log saving of levers that overlap: two on rollout, one on the rest."""
    rollout = 0.8 / (1.5 if "async" in levers else 1) / (1.2 if "fp8" in levers else 1)
    rest = 0.2 / (2.0 if "lora" in levers else 1)
    return -math.log(rollout + rest)


def test_shares_are_the_average_over_orders():
    names = ["async", "fp8", "lora"]
    total = dict.fromkeys(names, 0.0)
    for order in itertools.permutations(names):
        for i, name in enumerate(order):
            total[name] += (worth(order[: i + 1]) - worth(order[:i])) / 6
    got = c.shapley(names, worth)
    assert got == pytest.approx(total)
    assert sum(got.values()) == pytest.approx(worth(names))
    assert c.shapley(names[::-1], worth) == pytest.approx(got)
    in_turn = {n: worth(names[: i + 1]) - worth(names[:i]) for i, n in enumerate(names)}
    assert in_turn != pytest.approx(got, rel=0.02)  # one order is not all orders


def test_shares_from_an_array_and_their_axioms():
    names = ["async", "fp8", "lora", "nothing"]
    values = [worth(s) for s in c.coalitions(names)]
    got = c.shapley(names, values)
    assert got == pytest.approx(c.shapley(names, worth))
    assert got["nothing"] == pytest.approx(0, abs=1e-12)
    alone = c.shapley(["a", "b"], lambda s: 2.0 * ("a" in s) + 5.0 * ("b" in s))
    assert alone == pytest.approx({"a": 2.0, "b": 5.0})
    assert c.shapley([], lambda s: 1.0) == {}
    with pytest.raises(RleconError, match="one worth"):
        c.shapley(names, values[:-1])
    with pytest.raises(RleconError, match="too many"):
        c.coalitions(["a", "a"])

"""What a cheaper fleet for rollouts saves."""

from __future__ import annotations

import pytest

from rlecon import money


def test_half_the_price_on_four_fifths_of_the_bill_saves_two_fifths():
    assert float(money.fleet_equation(rollout_share=0.8, fleet_price_ratio=0.5)) == pytest.approx(0.4)


def test_a_free_fleet_saves_the_share_and_an_equal_price_saves_nothing():
    assert float(money.fleet_equation(rollout_share=0.37, fleet_price_ratio=0)) == pytest.approx(0.37)
    assert float(money.fleet_equation(rollout_share=0.37, fleet_price_ratio=1)) == 0

"""Adapters and pools: capacity against supply, the exact quantile, and the approximation that is too small."""

import numpy as np
import pytest

from rlecon import sharing as s
from rlecon.errors import RleconError


def test_an_adapter_holds_what_rewards_supply():
    got = s.capacity_equation(adapter_parameters=3e6, bits_per_parameter=16, supplied_bits=3.2e5)
    assert got == pytest.approx(150)


def test_pools():
    assert s.pooled_gpus(20, 0.1) == 6
    assert 20 / s.pooled_gpus(20, 0.1) == pytest.approx(3.33, abs=0.01)
    assert s.pooled_gpus(20, 1.0) == 20  # nothing to share at full duty
    rng = np.random.default_rng(4)
    busy = rng.binomial(20, 0.1, 400_000)
    assert np.mean(busy > 6) < 0.01 < np.mean(busy > 5)  # five, as the normal approximation has it, is too few
    with pytest.raises(RleconError, match="duty_cycle"):
        s.pooled_gpus(20, 0.0)
    with pytest.raises(RleconError, match="tenants"):
        s.pooled_gpus(0, 0.5)


def test_units():
    s.capacity_equation.check_units()

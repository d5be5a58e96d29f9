"""Importance weights: known values, simulation, and the wrong law for the wrong weight."""

import numpy as np
import pytest

from rlecon import staleness as s


def ess(weights):
    return weights.sum() ** 2 / (weights**2).sum() / weights.size


@pytest.mark.parametrize("tokens, share", [(10_000, 0.37), (32_000, 0.04)])
def test_known_shares(tokens, share):
    assert s.sequence_equation(log_ratio_sd=0.01, ratio_tokens=tokens) == pytest.approx(share, abs=0.003)


@pytest.mark.parametrize("tokens, sd", [(100, 0.05), (400, 0.03)])
def test_three_kinds_of_weight_by_simulation(tokens, sd):
    rng = np.random.default_rng(tokens)
    logs = rng.normal(-(sd**2) / 2, sd, (20_000, tokens))
    whole = ess(np.exp(logs.sum(axis=1)))
    assert whole == pytest.approx(s.sequence_equation(log_ratio_sd=sd, ratio_tokens=tokens), rel=0.03)
    assert ess(np.exp(logs)) == pytest.approx(s.token_equation(log_ratio_sd=sd), rel=1e-3)
    mean = ess(np.exp(logs.mean(axis=1)))
    assert mean == pytest.approx(s.normalized_equation(log_ratio_sd=sd, ratio_tokens=tokens), rel=1e-4)
    assert whole != pytest.approx(s.token_equation(log_ratio_sd=sd), rel=0.1)


@pytest.mark.parametrize("sd, cap", [(0.5, 1.5), (1.0, 2.0), (0.2, 1.0), (1.0, 5.0)])
def test_bias_of_truncated_weights(sd, cap):
    rng = np.random.default_rng(3)
    lost = np.maximum(np.exp(rng.normal(-(sd**2) / 2, sd, 1_000_000)) - cap, 0)
    want = s.truncation_equation(weight_log_sd=sd, importance_cap=cap)
    assert abs(lost.mean() - want) < 4 * lost.std() / 1000
    assert s.truncation_equation(weight_log_sd=sd, importance_cap=1e9) == pytest.approx(0, abs=1e-12)
    assert s.truncation_equation(weight_log_sd=sd, importance_cap=1e-12) == pytest.approx(1)

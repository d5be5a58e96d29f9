"""Special functions against direct numerical integration and Monte Carlo."""

import numpy as np
import pytest
from scipy import integrate, stats

from rlecon import special as s


def alive(t, location, spread):
    return stats.lognorm.sf(t, s=spread, scale=np.exp(location))


@pytest.mark.parametrize("mean, spread, cap", [(2000, 0.703, 8192), (7800, 0.9, 8192), (50, 0.1, 1e4), (10, 2.0, 2000)])
def test_location_gives_back_the_cut_mean(mean, spread, cap):
    location = s._evaluate_length_location(float(mean), spread, float(cap))
    edges = np.concatenate([[0], np.geomspace(1e-3, cap, 400)])
    got = sum(
        integrate.quad(alive, lo, hi, args=(location, spread))[0] for lo, hi in zip(edges, edges[1:], strict=False)
    )
    assert got == pytest.approx(mean, rel=1e-7)


@pytest.mark.parametrize("n", [1, 2, 16, 256, 4096, 100_000])
@pytest.mark.parametrize("spread, cap", [(0.1, np.inf), (0.8, 4.0), (0.8, np.inf), (1.5, 20.0), (2.0, np.inf)])
@pytest.mark.parametrize("share", [1.0, 8 / 128, 0.5])
def test_reached_tokens_is_the_integral(n, spread, cap, share):
    location = 0.0
    top = min(cap, np.exp(spread * 11))
    edges = np.concatenate([[0], np.geomspace(np.exp(-9 * spread), top, 300)])
    f = lambda t: -np.expm1(n * np.log1p(-share * min(alive(t, location, spread), 1 - 1e-17)))  # noqa: E731
    with np.errstate(divide="ignore"):
        want = sum(
            integrate.quad(f, lo, hi, epsabs=0, epsrel=1e-10)[0] for lo, hi in zip(edges, edges[1:], strict=False)
        )
    got = s._evaluate_reached_tokens(float(n), share, location, spread, cap)
    assert got == pytest.approx(want, rel=2e-6)


def test_longest_against_simulation():
    rng = np.random.default_rng(1)
    location = s._evaluate_length_location(2000.0, 0.703, 8192.0)
    draws = np.minimum(rng.lognormal(location, 0.703, (4000, 64)), 8192).max(axis=1)
    want = s._evaluate_longest_tokens(64.0, location, 0.703, 8192.0)
    assert abs(draws.mean() - want) < 4 * draws.std() / np.sqrt(len(draws))


@pytest.mark.parametrize(
    "spread, n, ratio",
    [(0.8, 16, 3.30), (0.8, 128, 6.15), (0.8, 1024, 10.19), (1, 16, 4.17), (1, 128, 8.95), (1.2, 16, 5.14)],
)
def test_known_ratios_of_longest_to_mean(spread, n, ratio):
    assert s._evaluate_longest_tokens(float(n), -(spread**2) / 2, spread, np.inf) == pytest.approx(ratio, abs=0.006)


def test_capped_square_against_simulation_and_limits():
    rng = np.random.default_rng(2)
    draws = np.minimum(rng.lognormal(1.0, 0.8, 400_000), 6.0) ** 2
    got = s._evaluate_capped_square(1.0, 0.8, 6.0)
    assert abs(draws.mean() - got) < 4 * draws.std() / np.sqrt(len(draws))
    assert s._evaluate_capped_square(1.0, 0.0, np.inf) == pytest.approx(np.exp(2.0))


def test_no_spread_means_one_length():
    location = s._evaluate_length_location(500.0, 0.0, np.inf)
    assert s._evaluate_longest_tokens(1000.0, location, 0.0, np.inf) == pytest.approx(500.0)
    assert s._evaluate_reached_tokens(3.0, 0.25, location, 0.0, np.inf) == pytest.approx(500.0 * (1 - 0.75**3))


def test_broadcasting():
    got = s._evaluate_longest_tokens(np.array([1.0, 10.0, 100.0]), 0.0, 0.5, np.array([[2.0], [np.inf]]))
    assert got.shape == (2, 3)
    assert np.all(np.diff(got, axis=1) > 0)

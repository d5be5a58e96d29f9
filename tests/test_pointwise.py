"""The standard functions of few points against SciPy's, which take over where points are many."""

import numpy as np
import pytest
from scipy import special

from rlecon import pointwise

POINTS = {
    "ndtr": np.concatenate([np.linspace(-37, 9, 6001), [0.0, -np.inf, np.inf]]),
    "log_ndtr": np.concatenate([-np.geomspace(1e-6, 1e9, 5001), np.geomspace(1e-6, 37, 2001), [0.0, -np.inf, np.inf]]),
    "ndtri": np.concatenate([np.geomspace(1e-300, 0.5, 5001), 1 - np.geomspace(1e-16, 0.5, 2001), [0.0, 1.0]]),
    "digamma": np.concatenate([np.geomspace(1e-9, 1e12, 5001), [np.inf]]),
    "expit": np.linspace(-700, 800, 3001),
}


@pytest.mark.parametrize("name", POINTS)
def test_all_digits_are_those_of_scipy(name):
    x = POINTS[name]
    assert x.size < pointwise.FEW
    got, want = getattr(pointwise, name)(x), getattr(special, name)(x)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15 if name == "digamma" else 0)  # digamma has a root


@pytest.mark.parametrize("name", POINTS)
def test_a_point_alone_is_the_point_in_an_array(name):
    x, function = POINTS[name][::97], getattr(pointwise, name)
    assert [function(v) for v in x] == list(function(x)) == [function(float(v)) for v in x]
    assert np.ndim(function(np.asarray(0.3))) == 0
    assert function(x[:6].reshape(2, 3)).shape == (2, 3)
    assert function(np.empty(0)).shape == (0,)


@pytest.mark.parametrize("name", ["ndtr", "log_ndtr", "ndtri", "digamma"])
def test_many_points_are_left_to_scipy(name):
    x = np.resize(POINTS[name], (pointwise.FEW_SUMMED if name == "log_ndtr" else pointwise.FEW) + 1)
    assert np.array_equal(getattr(pointwise, name)(x), getattr(special, name)(x))


@pytest.mark.parametrize("name", POINTS)
def test_no_number_stays_none(name):
    assert np.isnan(getattr(pointwise, name)(float("nan")))


def test_outside_their_range():
    assert np.isnan(pointwise.ndtri(np.array([-0.1, 1.1]))).all()
    assert pointwise.digamma(-1.5) == special.digamma(-1.5)
    assert pointwise.ndtr(-40.0) == 0.0

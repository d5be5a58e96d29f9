"""The drawn readings of hardness: each within its error of the closed form, and wrong forms outside of it."""

import pytest

from rlecon import hardness
from rlecon import hardness_twin as twin
from rlecon.errors import RleconError


@pytest.mark.parametrize("hard, easy", [(0.05, 0.5), (0.02, 0.3)])
def test_every_reading_is_drawn_and_agrees(hard, easy):
    drawn = twin.simulated(hard, easy, seed=1, runs=1500)
    readings = hardness.readings(hard, easy)
    assert set(drawn) == {r.key for r in readings}
    for r in readings:
        ratio, error = drawn[r.key]
        assert 0 < error < 0.07 * ratio, r.key
        assert abs(ratio - r.ratio) < 4 * error, r.key


def test_the_draws_tell_readings_apart():
    """The wait 1/p, a signal without its baseline, and the tail's curvature are each far outside the errors."""
    drawn = twin.simulated(0.05, 0.5, seed=2, runs=1000)
    for key, wrong in (("both", 10.0), ("variance", 2.77), ("mixed_8", 5.26), ("gain_kl", 27.7), ("threshold", 5.26)):
        ratio, error = drawn[key]
        assert abs(ratio - wrong) > 8 * error, key


def test_same_seed_same_numbers_and_bad_rates_are_refused():
    assert twin.simulated(seed=3, runs=50) == twin.simulated(seed=3, runs=50)
    assert twin.simulated(seed=3, runs=50) != twin.simulated(seed=4, runs=50)
    for bad in (0.0, 1.0, float("nan")):
        with pytest.raises(RleconError, match="easy"):
            twin.simulated(0.05, bad)

"""Shares of a step's time, against values and limits that do not come from the equation."""

from __future__ import annotations

import numpy as np
import pytest

from rlecon import step

TRAINED = {"train_mfu": 0.4, "scoring_passes": 0, "backward_passes": 3}


@pytest.mark.parametrize(("decode_mfu", "percent"), [(0.10, 57), (0.05, 73), (0.02, 87)])
def test_share_of_rollouts_by_utilisation(decode_mfu, percent):
    share = step.utilisation_share_equation(decode_mfu=decode_mfu, **TRAINED)
    assert round(100 * float(share)) == percent


def test_share_equals_the_time_of_each_pass_added_up():
    rng = np.random.default_rng(7)
    for _ in range(50):
        decode, train = rng.uniform(0.005, 0.3), rng.uniform(0.02, 0.5)
        scoring, backward = rng.integers(0, 3), rng.integers(2, 4)
        write = 2.0 / decode  # FLOPs per parameter and token, over the utilisation
        learn = sum(2.0 / train for _ in range(scoring + backward))
        share = step.utilisation_share_equation(
            decode_mfu=decode, train_mfu=train, scoring_passes=scoring, backward_passes=backward
        )
        assert float(share) == pytest.approx(write / (write + learn), rel=1e-12)


def test_equal_utilisations_leave_a_quarter():
    assert float(step.utilisation_share_equation(decode_mfu=0.3, **TRAINED | {"train_mfu": 0.3})) == pytest.approx(0.25)


def test_a_wrong_count_of_passes_is_noticed():
    share = float(step.utilisation_share_equation(decode_mfu=0.02, **TRAINED | {"backward_passes": 2}))
    assert round(100 * share) != 87

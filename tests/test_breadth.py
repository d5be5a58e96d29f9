"""The breadth toy: what moves accuracy on unseen tasks, and what does not."""

import numpy as np
import pytest

from rlecon import breadth as b
from rlecon.errors import RleconError


def test_the_oracle_is_the_ceiling():
    rng = np.random.default_rng(1)
    assert b.oracle_accuracy(0.5, rng) == pytest.approx(0.449, abs=0.03)
    assert b.oracle_accuracy(0.8, rng) == pytest.approx(0.648, abs=0.03)
    assert b.oracle_accuracy(1.0, rng, worlds=2) == 1
    assert b.oracle_accuracy(0.0, rng, worlds=8) == pytest.approx(1 / 8, abs=0.03)


def test_tasks_move_breadth_and_bits_move_depth():
    """At equal bits sixteen tasks beat one on unseen tasks, and one beats sixteen on its own."""
    bits = (1000.0, 5000.0)
    one, many = ([b.train(k, "label", 0.5, np.random.default_rng(s), bits=bits) for s in range(3)] for k in (1, 16))
    mean = lambda runs, what: np.mean([getattr(r, what) for r in runs], axis=0)  # noqa: E731
    assert mean(many, "held_out")[1] > mean(one, "held_out")[1] + 0.05
    assert mean(one, "trained")[1] > mean(many, "trained")[1] + 0.1
    assert abs(mean(one, "held_out")[1] - mean(one, "held_out")[0]) < 0.05
    assert mean(many, "held_out")[1] < 0.5  # the oracle's .45, give or take its error


def test_a_reward_needs_more_samples_for_the_same_bits():
    label, reward = (b.train(16, c, 0.5, np.random.default_rng(4), bits=(1000.0,)) for c in ("label", "reward"))
    assert reward.samples[0] > 1.3 * label.samples[0]


def test_the_channel_is_counted_right():
    """Before any learning a label of eight equally likely answers is 3 bits, a reward H(1/8) per rollout."""
    label = b.train(4, "label", 0.5, np.random.default_rng(5), bits=(3 * 64 - 1.0,), max_steps=3)
    assert label.samples[0] == 64
    reward = b.train(4, "reward", 0.5, np.random.default_rng(5), bits=(4 * 64 * 0.5435,), max_steps=3)
    assert reward.samples[0] == 256


def test_what_is_refused():
    rng = np.random.default_rng(6)
    with pytest.raises(RleconError, match="label, reward"):
        b.train(4, "critic", 0.5, rng)
    with pytest.raises(RleconError, match="shared_share"):
        b.train(4, "label", 1.5, rng)
    with pytest.raises(RleconError, match="tasks"):
        b.train(0, "label", 0.5, rng)
    with pytest.raises(RleconError, match="raise max_steps"):
        b.train(4, "label", 0.5, rng, bits=(1e9,), max_steps=5)

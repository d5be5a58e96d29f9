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


def test_agreement_is_the_chance_that_the_best_agree():
    rng = np.random.default_rng(3)
    for r in (0.3, 0.7, 0.95):
        x, z = rng.standard_normal((2, 100_000, 8))
        y = r * x + np.sqrt(1 - r * r) * z
        same = x.argmax(axis=1) == y.argmax(axis=1)
        assert b.agreement(r) == pytest.approx(same.mean(), abs=4 * same.std() / 100_000**0.5)
        assert b.agreement(r, 2) == pytest.approx(0.5 + np.arcsin(r) / np.pi, abs=1e-4)  # two options: a sign
    assert b.agreement(0.0) == pytest.approx(1 / 8, abs=1e-9)
    assert b.agreement(0.999999) > 0.99


def test_many_bits_leave_what_the_mean_of_the_tasks_tells():
    """Shared and own weights that fit K tasks exactly, from zero with equal steps: the mean, shrunk by K/(K+1)."""
    rng, tasks, chi = np.random.default_rng(8), 4, 0.5
    found, new = [], []
    for _ in range(400):
        truth = b.world(rng, tasks, chi)
        target = (truth.shared + truth.own).reshape(tasks, -1)
        common, own = np.zeros(target.shape[1]), np.zeros_like(target)
        for _ in range(200):  # gradient steps on the squared distance to each task
            error = target - common - own
            common, own = common + 0.05 * error.sum(axis=0), own + 0.05 * error
        np.testing.assert_allclose(common, target.mean(axis=0) * tasks / (tasks + 1), atol=1e-3)
        found.append(common @ truth.shared.ravel() / np.sqrt(common @ common * (truth.shared**2).sum()))
        other = truth.shared + truth.unseen[0]
        new.append(common @ other.ravel() / np.sqrt(common @ common * (other**2).sum()))
    aligned = b.alignment_equation(shared_share=chi, tasks=tasks)
    assert np.mean(found) ** 2 == pytest.approx(aligned, rel=0.02)
    assert np.mean(new) == pytest.approx(b.transfer_equation(shared_share=chi, aligned_share=aligned), abs=0.015)
    assert b.tasks_equation(shared_share=chi, aligned_share=aligned) == pytest.approx(tasks)
    assert aligned == pytest.approx(0.8)


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
    with pytest.raises(RleconError, match="correlation"):
        b.agreement(1.1)
    with pytest.raises(RleconError, match="actions"):
        b.agreement(0.5, 1)
    with pytest.raises(RleconError, match="raise max_steps"):
        b.train(4, "label", 0.5, rng, bits=(1e9,), max_steps=5)

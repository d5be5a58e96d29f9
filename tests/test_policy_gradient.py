"""The prompt toy: group size matters while steps are limited by noise, and what it is made of."""

import numpy as np
import pytest

from rlecon import groups
from rlecon import policy_gradient as pg
from rlecon.errors import RleconError


def test_sampling_follows_the_policy():
    rng = np.random.default_rng(0)
    policy = np.array([[0.1, 0.2, 0.7], [1.0, 0.0, 0.0]])
    taken = pg.sample(policy, 50_000, rng)
    shares = np.array([[np.mean(row == k) for k in range(3)] for row in taken])
    assert np.all(np.abs(shares - policy) <= 4 * np.sqrt(policy * (1 - policy) / 50_000) + 1e-12)


def test_advantages():
    rng = np.random.default_rng(1)
    rewards = (rng.random((50, 8)) < 0.3).astype(float)
    plain = pg.advantages(rewards)
    others = (rewards.sum(axis=1, keepdims=True) - rewards) / 7
    assert plain == pytest.approx(rewards - others)
    divided = pg.advantages(np.array([[1.0, 0, 0, 0], [1, 1, 1, 1]]), divide_by_deviation=True)
    assert divided[0] == pytest.approx([np.sqrt(3), *[-1 / np.sqrt(3)] * 3])
    assert np.all(divided[1] == 0)
    with pytest.raises(RleconError, match="compare with"):
        pg.advantages(np.ones((3, 1)))


def test_the_gradient_of_a_step_is_unbiased():
    """Average of one step's change of weights against the exact gradient of the mean pass rate."""
    rng = np.random.default_rng(2)
    world = pg.prompt_world(rng, prompts=8, dimension=4, actions=3)
    exact = np.zeros((4, 3))
    for o, right in zip(world.features, world.right, strict=True):
        exact += np.outer(o, (np.eye(3)[right] - 1 / 3) / 3) / 8
    seen = []
    for _ in range(400):
        chosen = rng.integers(8, size=64)
        taken = pg.sample(np.full((64, 3), 1 / 3), 4, rng)
        advantage = pg.advantages((taken == world.right[chosen][:, None]).astype(float))
        push = np.einsum("bg,bga->ba", advantage, np.eye(3)[taken])
        seen.append(world.features[chosen].T @ push / 256)
    seen = np.array(seen)
    error = seen.std(axis=0) / np.sqrt(len(seen))
    assert np.all(np.abs(seen.mean(axis=0) - exact) < 5 * error)


def test_the_toy_starts_at_one_in_twenty_and_learns():
    rng = np.random.default_rng(3)
    curve, needed = pg.learning_curves(pg.prompt_world(rng), 4, 512, rng, rates=(64.0, 128.0))
    assert curve[0] == pytest.approx(0.05)
    assert np.isfinite(needed).any()
    with pytest.raises(RleconError, match="holds no group"):
        pg.learning_curves(pg.prompt_world(rng), 64, 32, rng)


def test_group_size_matters_while_steps_are_limited_by_noise():
    """Equal rollouts per step: pairs beat sixteen about twofold at 512, and about 1.3-fold at 4096."""
    cost = {}
    for per_step, rates in ((512, (64.0, 128.0, 256.0, 512.0)), (4096, (256.0, 512.0, 1024.0, 2048.0))):
        for size in (2, 4, 16):
            cost[per_step, size] = pg.rollouts_to_target(size, per_step, seeds=(0, 1), rates=rates)[0]
    assert cost[512, 2] == pytest.approx(6.5e3, rel=0.25)
    assert 1.5 < cost[512, 16] / cost[512, 2] < 2.6
    assert cost[4096, 16] / cost[4096, 2] < 1.7
    assert cost[4096, 16] / cost[4096, 2] < cost[512, 16] / cost[512, 2]


def test_small_groups_win_at_few_rollouts_per_step():
    """At 128 rollouts per step pairs and fours need about 6,500, sixteen about twice and thirty-two four times that."""
    sizes, rates = (2, 4, 16, 32), (64.0, 256.0)
    cost = {size: pg.rollouts_to_target(size, 128, seeds=(0, 1), rates=rates)[0] for size in sizes}
    assert min(cost, key=cost.get) in (2, 4)
    assert cost[2] == pytest.approx(6.5e3, rel=0.25)
    assert 1.5 < cost[16] / cost[2] < 2.9
    assert cost[32] > 1.4 * cost[16]


def test_predicted_group_size_of_the_toy():
    rng = np.random.default_rng(4)
    world = pg.prompt_world(rng)
    ratio = pg.toy_noise_ratio(world, np.zeros((24, 20)))
    best = groups.best_equation(noise_ratio=ratio, usd_per_prompt_visit=0, usd_per_rollout=1)
    assert 5.2 < best < 6.0


def test_shaping_shortens_the_effective_horizon():
    """With shaping one sample per action finds every lock; without, samples must grow as actions to the turns."""
    rng = np.random.default_rng(5)
    for turns in (4, 8, 12):
        chance, _, spent = pg.greedy_over_random(turns, 2, 1, rng, shaped=True)
        assert chance == 1
        assert spent == 2 * turns
    few, error, _ = pg.greedy_over_random(8, 2, 4, rng)
    # The first step needs the seven others by luck; later steps need fewer.
    want = np.prod([1 - 0.5 * (1 - 0.5**left) ** 4 for left in range(7, -1, -1)])
    assert abs(few - want) < 4 * error
    many, _, spent = pg.greedy_over_random(8, 2, 5 * 2**8, rng)
    assert many > 0.98
    assert spent > 2**8


def test_crossing_reads_between_steps():
    curve = np.array([[0.1, 0.7, 0.1], [0.5, 0.8, 0.2], [0.9, 0.9, 0.3]])
    assert pg.crossing(curve, 0.6, 100) == pytest.approx([125, 0, np.inf])
    whole = pg.rollouts_to_target(4, 512, seeds=(0, 1), rates=(512.0,))[0]
    between = pg.rollouts_to_target(4, 512, seeds=(0, 1), rates=(512.0,), between_steps=True)[0]
    assert whole - 512 < between <= whole


def test_group_ratio_falls_where_steps_stop_being_noisy():
    few, many = pg.group_ratio()
    assert 1.7 < few < 2.6
    assert 0.95 < many < 1.5


def test_dividing_pairs_by_their_deviation_changes_nothing():
    """A mixed pair has advantages of 1 and -1 either way."""
    rewards = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    plain, divided = (pg.advantages(rewards, divide_by_deviation=d) for d in (False, True))
    assert plain == pytest.approx(divided)

"""Small reinforcement-learning runs in NumPy: the same question as a formula's, answered by running it.

Every function takes a seed or a ``Generator``, and returns a value with its standard error. The prompt toy is a linear
softmax policy on random prompts; the chain and the lock are trajectories of decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from rlecon.errors import RleconError

RATES = tuple(2.0**k for k in range(3, 14))


@dataclass(frozen=True)
class PromptWorld:
    """Prompts with features, and the right action of each: the largest entry of features times hidden weights."""

    features: np.ndarray  # (prompts, dimension)
    right: np.ndarray  # (prompts,)
    actions: int


def prompt_world(rng, *, prompts: int = 256, dimension: int = 24, actions: int = 20) -> PromptWorld:
    """Draw a world: features N(0, I)/sqrt(dimension), hidden weights standard normal.

    >>> prompt_world(np.random.default_rng(0)).features.shape
    (256, 24)
    """
    features = rng.standard_normal((prompts, dimension)) / np.sqrt(dimension)
    right = (features @ rng.standard_normal((dimension, actions))).argmax(axis=1)
    return PromptWorld(features, right, actions)


def softmax(logits):
    """Probabilities along the last axis."""
    grown = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


def sample(probabilities, count, rng):
    """``count`` draws from each row of the last axis: an integer array of shape (..., count)."""
    edges = probabilities.cumsum(axis=-1)[..., None, :-1]
    return (rng.random((*probabilities.shape[:-1], count, 1)) > edges).sum(axis=-1)


def advantages(rewards, *, divide_by_deviation=False):
    """Group-relative advantages along the last axis: leave-one-out, or minus the mean over the group's deviation.

    >>> advantages(np.array([1.0, 0.0])).tolist()
    [1.0, -1.0]
    """
    size = rewards.shape[-1]
    if size < 2:
        raise RleconError(
            "a group needs something to compare with", field="group_size", value=size, allowed="2 or more"
        )
    centered = rewards - rewards.mean(axis=-1, keepdims=True)
    if not divide_by_deviation:
        return centered * size / (size - 1)
    deviation = rewards.std(axis=-1, keepdims=True)
    return np.divide(centered, deviation, out=np.zeros_like(centered), where=deviation > 0)


def learning_curves(
    world: PromptWorld,
    group_size: int,
    rollouts_per_step: int,
    rng,
    *,
    target: float = 0.6,
    rates=RATES,
    divide_by_deviation: bool = False,
    max_rollouts: int = 80_000,
):
    """Policy gradient from a uniform policy, all learning rates side by side.

    Prompts are drawn with replacement, ``rollouts_per_step / group_size`` a step; plain ascent on the mean over
    rollouts. Returns ``(curve, needed)``: mean pass rate after each step, shape (steps + 1, rates), and the rollouts
    spent when each rate first reached ``target`` (infinity where it did not within ``max_rollouts``).
    """
    batch = rollouts_per_step // group_size
    if batch < 1:
        raise RleconError("a step holds no group", field="rollouts_per_step", value=rollouts_per_step)
    features, right, actions = world.features, world.right, world.actions
    weights = np.zeros((len(rates), features.shape[1], actions))
    rates = np.asarray(rates, float)
    everyone, needed, curve = np.arange(len(right)), np.full(len(rates), np.inf), []
    lanes = np.arange(len(rates))[:, None, None] * batch
    for step in range(max_rollouts // (batch * group_size) + 1):
        passed = softmax(features @ weights)[:, everyone, right].mean(axis=1)
        curve.append(passed)
        needed = np.where(np.isinf(needed) & (passed >= target), step * batch * group_size, needed)
        if np.all(passed >= target) or (np.isfinite(needed).any() and step * batch * group_size > 2 * needed.min()):
            break
        chosen = rng.integers(len(right), size=batch)
        policy = softmax(features[chosen] @ weights)
        taken = sample(policy, group_size, rng)
        reward = (taken == right[chosen][None, :, None]).astype(float)
        advantage = advantages(reward, divide_by_deviation=divide_by_deviation)
        cell = (lanes + np.arange(batch)[None, :, None]) * actions + taken
        push = np.bincount(cell.ravel(), advantage.ravel(), minlength=policy.size).reshape(policy.shape)
        gradient = features[chosen].T @ push / (batch * group_size)  # advantages of a group sum to zero
        weights += rates[:, None, None] * gradient
    return np.array(curve), needed


def crossing(curve, target, rollouts_per_step):
    """Rollouts at which each column of a learning curve passes ``target``, read on the line between two steps.

    Infinity where it never does. Whole steps would hide differences where a target is reached in a few of them.

    >>> crossing(np.array([[0.0, 0.0], [0.5, 0.1], [1.0, 0.2]]), 0.6, 10).tolist()
    [12.0, inf]
    """
    curve = np.asarray(curve, float)
    step = np.argmax(curve >= target, axis=0)
    lane = np.arange(curve.shape[1])
    after, before = curve[step, lane], curve[np.maximum(step - 1, 0), lane]
    rise = np.where(after > before, after - before, 1.0)
    place = np.where(step > 0, step - 1 + (target - before) / rise, 0.0)
    return np.where(after >= target, place * rollouts_per_step, np.inf)


def rollouts_to_target(
    group_size: int, rollouts_per_step: int, seeds=(0, 1, 2, 3), *, between_steps: bool = False, **settings
):
    """Rollouts until the prompt toy reaches its target at the best learning rate: mean, standard error, rate.

    Parameters: as :func:`learning_curves`; one world per seed; ``between_steps`` reads the target off the line between
    two steps instead of counting whole ones. The rate is the best on average over the seeds.

    >>> mean, error, rate = rollouts_to_target(2, 512, seeds=(0,))
    >>> 3000 < mean < 12000
    True
    """
    rates = settings.get("rates", RATES)
    needed = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        curve, spent = learning_curves(prompt_world(rng), group_size, rollouts_per_step, rng, **settings)
        if between_steps:
            spent = crossing(curve, settings.get("target", 0.6), rollouts_per_step // group_size * group_size)
        needed.append(spent)
    needed = np.array(needed)
    best = int(np.argmin(needed.mean(axis=0)))
    column = needed[:, best]
    error = column.std(ddof=1) / np.sqrt(len(column)) if len(column) > 1 else np.nan
    return float(column.mean()), float(error), float(rates[best])


@cache
def group_ratio(
    small: int = 2,
    large: int = 16,
    per_step: tuple = (512, 8192),
    rates: tuple = ((512, 1024), (2048, 4096)),
    seeds: tuple = (0, 1, 2, 3, 4, 5, 6, 7),
) -> tuple:
    """Rollouts to target with large groups over those with small ones, for each number of rollouts per step.

    ``rates`` are the learning rates tried for each number of rollouts per step; each group size takes its own best.
    """
    ratios = []
    for rollouts, tried in zip(per_step, rates, strict=True):
        settings = {"rates": tried, "between_steps": True, "seeds": seeds}
        costs = [rollouts_to_target(size, rollouts, **settings)[0] for size in (large, small)]
        ratios.append(costs[0] / costs[1])
    return tuple(ratios)


def toy_noise(world: PromptWorld, weights) -> tuple[float, float]:
    """Standard deviations of the prompt toy's gradient at some weights, summed over its entries: within, between.

    Within: one rollout of a prompt, by the law of pairs. Between: mean gradients of prompts around their mean. Both
    exact, from the policy's probabilities.
    """
    policy = softmax(world.features @ weights)
    p = policy[np.arange(len(world.right)), world.right]
    length = (world.features**2).sum(axis=1)
    direction = -policy
    direction[np.arange(len(p)), world.right] += 1
    square = p**2 * (direction**2).sum(axis=1) * length
    mean = np.einsum("i,if,ia->fa", p, world.features, direction) / len(p)
    between = square.mean() - (mean**2).sum()
    within = (p * (1 - p) * length - square).mean()
    return float(np.sqrt(within)), float(np.sqrt(between))


def toy_noise_ratio(world: PromptWorld, weights) -> float:
    """Within over between sd of the prompt toy's gradient at some weights: see :func:`toy_noise`."""
    within, between = toy_noise(world, weights)
    return within / between


# --- chains of decisions ---------------------------------------------------------------------------------------------
def chain_signal(turns, step_success, credit, rng, *, ends=False, trajectories=200_000, shared=True):
    """Signal-to-noise of REINFORCE on a chain of ``turns`` decisions, per trajectory and dimension of noise.

    ``credit``: "own" (a step's reward to that step), "terminal" (success of all, given to all), "value" (the same minus
    a perfect value baseline), "summed" (the number of right steps, given to all). ``ends``: whether a trajectory stops
    at the first failure. ``shared``: one parameter for all steps, or one each (then the mean over steps).
    Returns the estimate and its standard error (from 20 blocks).
    """
    if credit not in ("own", "terminal", "value", "summed"):
        raise RleconError("not a credit", field="credit", value=credit, allowed="own, terminal, value, summed")
    rho, blocks = step_success, []
    for _ in range(20):
        right = rng.random((trajectories // 20, turns)) < rho
        alive = np.ones_like(right)
        if ends:
            alive[:, 1:] = np.logical_and.accumulate(right, axis=1)[:, :-1]
        success = right.all(axis=1, keepdims=True)
        chance = rho ** (turns - np.arange(turns))  # success from the state before each step, while all is right
        if credit == "own":
            advantage = right - rho
        elif credit == "terminal":
            advantage = success - rho**turns
        elif credit == "value":
            so_far = np.logical_and.accumulate(right, axis=1)
            before = np.concatenate([np.ones((len(right), 1), bool), so_far[:, :-1]], axis=1)
            advantage = success - before * chance
        else:
            advantage = right.sum(axis=1, keepdims=True) - turns * rho
        advantage = advantage * alive
        signal = (advantage * (right - rho)).mean(axis=0)
        noise = (advantage**2).mean(axis=0)
        blocks.append(signal.sum() ** 2 / noise.sum() if shared else signal**2 / noise)
    blocks = np.array(blocks)
    return blocks.mean(axis=0), blocks.std(axis=0, ddof=1) / np.sqrt(20)


def lock_tries(turns, step_success, rng, *, process=False, ends=False, repeats=2000):
    """Decision steps spent on a combination lock until every step has been found right: mean and standard error.

    With ``process`` each right step is confirmed and kept, and the search goes on from there. Without, a whole
    trajectory must be right at once; ``ends`` tells whether it stops at its first failure.
    """
    if process:
        spent = rng.geometric(step_success, (repeats, turns)).sum(axis=1)
    else:
        failures = rng.geometric(step_success**turns, repeats) - 1
        if ends:
            # a failed trajectory ends at step i with chance rho^(i-1) (1-rho), given that it fails
            weight = step_success ** np.arange(turns) * (1 - step_success)
            total, stop = failures.sum(), np.arange(1, turns + 1)
            lengths = rng.choice(stop, size=total, p=weight / weight.sum())
            owner = np.repeat(np.arange(repeats), failures)
            spent = np.bincount(owner, lengths, minlength=repeats) + turns
        else:
            spent = (failures + 1) * turns
    return float(spent.mean()), float(spent.std(ddof=1) / np.sqrt(repeats))


def greedy_over_random(turns, actions, samples, rng, *, shaped=False, repeats=400):
    """Greedy search over random play on a combination lock: chance of finding the way, and trajectories used.

    At every step each action is tried ``samples`` times, followed by random play; the best mean return is taken.
    ``shaped``: a return counts the steps done right in a row, so that one step of lookahead tells (effective horizon
    1); else only the open lock counts. Returns chance, its standard error, and trajectories.
    Source: Laidlaw et al. (2023).
    """
    found = np.ones(repeats, bool)
    for step in range(turns):
        left = turns - step - 1  # decisions of random play after this one; the right action is number 0 everywhere
        # Once the way is lost no play opens the lock; shaped returns no longer differ between actions either.
        ahead = rng.geometric(1 - 1 / actions, (repeats, samples)) - 1
        ahead = np.minimum(ahead, left)
        gain = (1 + ahead).mean(axis=1) if shaped else (ahead == left).mean(axis=1)
        alone = gain > 0
        lucky = rng.random(repeats) < 1 / actions  # no return differs: any action is taken
        found &= alone | lucky
    chance = found.mean()
    return float(chance), float(np.sqrt(chance * (1 - chance) / repeats)), turns * actions * samples

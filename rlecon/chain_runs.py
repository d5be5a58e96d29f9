"""Training on a chain of decisions: the same policy gradient under rewards of different density, run to a target.

A rollout is a chain of decisions with filler between them. The pass rate is known exactly at every step, so a run is
read without noise. Gains are ratios of rollouts to one target, each side at its own best learning rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, logit

from rlecon.errors import RleconError
from rlecon.policy_gradient import crossing

CREDITS = ("own", "terminal", "summed", "teacher")
VARIETY = 10.0  # how much further a context's own weight moves its logit than the shared weight does
TEACHER_AHEAD = 2.0  # of the untrained student, in the logit of a right decision


@dataclass(frozen=True)
class Chain:
    """A decision at a context is right with the sigmoid of ``start`` + a shared weight + VARIETY times its own one."""

    contexts: int
    turns: int
    start: float  # logit of a right decision before training


def chain(turns: int, *, pass_rate: float = 0.5, contexts: int = 500) -> Chain:
    """A chain of ``turns`` decisions that the untrained policy passes as a whole with chance ``pass_rate``.

    All decisions get better along one shared direction; ``contexts`` further directions mostly hold noise.

    >>> round(chain(10).start, 2)
    2.63
    """
    if not 0 < pass_rate < 1:
        raise RleconError("needs both outcomes", field="pass_rate", value=pass_rate, allowed="above 0 and below 1")
    if turns < 1:
        raise RleconError("a chain has decisions", field="turns", value=turns, allowed="1 or more")
    return Chain(contexts, turns, float(logit(pass_rate ** (1 / turns))))


def training_curve(
    world: Chain, credit: str, rates, rng, *, target=0.6, rollouts_per_step=64, filler=3.0, repeats=12, steps=2000
):
    """Pass rate of the chain after each step of plain policy gradient: learning rates and repeats side by side.

    ``credit``: "own" gives a decision its own outcome, "terminal" gives all of them the success of the chain, "summed"
    the number of right decisions, "teacher" the log-ratio of a teacher's probability (right with the student's start
    plus two as logit) to the student's for the decision taken. The mean over the step is the baseline. ``filler``:
    standard deviation of the score of the text between two decisions, which changes no reward. Stops at 1.25 of the
    steps after which all repeats of some rate have reached ``target``. Returns an array (steps + 1, rates, repeats).
    """
    if credit not in CREDITS:
        raise RleconError("not a credit", field="credit", value=credit, allowed=", ".join(CREDITS))
    rates = np.repeat(np.asarray(rates, float), repeats)
    n, turns, lanes = rollouts_per_step, world.turns, len(rates)
    contexts, curve, first = world.contexts, [], None
    shared, own = np.zeros((lanes, 1)), np.zeros((lanes, contexts))
    reached = np.zeros(lanes, bool)
    offset = np.arange(lanes)[:, None, None] * contexts
    for step in range(steps + 1):
        logits = world.start + shared + VARIETY * own
        rho = expit(logits)
        curve.append(rho.mean(axis=1) ** turns)  # decisions meet contexts independently
        reached |= curve[-1] >= target
        if first is None and reached.reshape(-1, repeats).all(axis=1).any():
            first = step
        if first is not None and step >= 1.25 * first:
            break
        met = rng.integers(contexts, size=(lanes, n, turns)) + offset
        chance = rho.ravel()[met]
        right = rng.random((lanes, n, turns)) < chance
        if credit == "own":
            reward = right.astype(float)
        elif credit == "teacher":
            student, teacher = logits.ravel()[met], world.start + TEACHER_AHEAD
            # log of the teacher's over the student's probability of what the student did
            reward = np.where(right, log_expit(teacher) - log_expit(student), log_expit(-teacher) - log_expit(-student))
        elif credit == "terminal":
            reward = np.broadcast_to(right.all(axis=2, keepdims=True), right.shape).astype(float)
        else:
            reward = np.broadcast_to(right.sum(axis=2, keepdims=True), right.shape).astype(float)
        advantage = reward - reward.mean(axis=(1, 2), keepdims=True)
        push = advantage * (right - chance)
        sums = np.bincount(met.ravel(), push.ravel(), minlength=lanes * contexts).reshape(lanes, contexts)
        # the filler's score is normal and knows no reward, so only the sum of squared advantages counts
        noise = filler * np.sqrt((advantage**2).sum(axis=(1, 2)))[:, None]
        pace = rates[:, None] / n
        shared += pace * (sums.sum(axis=1, keepdims=True) + noise * rng.standard_normal((lanes, 1)))
        own += pace * (VARIETY * sums + noise * rng.standard_normal((lanes, contexts)))
    return np.array(curve).reshape(len(curve), -1, repeats)


def rollouts_needed(turns, credit, rates, rng, *, pass_rate=0.5, target=0.6, rollouts_per_step=64, **more):
    """Rollouts to the target at the best learning rate: mean over repeats, its standard error, that rate.

    >>> mean, error, rate = rollouts_needed(5, "own", (0.02, 0.04), np.random.default_rng(0))
    >>> 0 < error < mean
    True
    """
    world = chain(turns, pass_rate=pass_rate)
    curve = training_curve(world, credit, rates, rng, target=target, rollouts_per_step=rollouts_per_step, **more)
    spent = crossing(curve.reshape(len(curve), -1), target, rollouts_per_step).reshape(curve.shape[1:])
    best = int(np.argmin(spent.mean(axis=1)))
    column = spent[best]
    return float(column.mean()), float(column.std(ddof=1) / np.sqrt(len(column))), float(np.asarray(rates)[best])

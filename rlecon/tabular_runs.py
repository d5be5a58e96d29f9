"""Training tables of decisions, a student with logits for every context, by a teacher's scores or by rewards.

An answer is a walk: a context leads to a decision, and the decision to the next context. Of the wordings of a decision
most are right and mean the same; one is wrong. The teacher writes like the student but is right more often. How far
the student still is from it is known exactly at every step: the divergence of whole answers, summed over the walk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlecon.errors import RleconError
from rlecon.policy_gradient import softmax

CREDITS = ("token", "summed", "pass")


@dataclass(frozen=True)
class Table:
    """Next context of each decision, and logits of the student and the teacher: arrays (turns, contexts, wordings).

    The last wording of every decision is the wrong one.
    """

    leads_to: np.ndarray
    start: np.ndarray
    teacher: np.ndarray


def table(turns: int, rng, *, pass_rate: float = 0.5, contexts: int = 24, right: int = 16, ahead: float = 1.0) -> Table:
    """A walk of ``turns`` decisions that the untrained student passes as a whole with chance ``pass_rate``.

    ``right`` wordings of a decision are right, and one is wrong; ``ahead`` is what the teacher adds to the logit of
    each right one. The first context is any, with equal chance.

    >>> world = table(4, np.random.default_rng(0))
    >>> world.start.shape, round(float(passing(world, world.start[None])[0]), 3)
    ((4, 24, 17), 0.5)
    """
    if not 0 < pass_rate < 1:
        raise RleconError("needs both outcomes", field="pass_rate", value=pass_rate, allowed="above 0 and below 1")
    for name, value in (("turns", turns), ("contexts", contexts), ("right", right)):
        if int(value) != value or value < 1:
            raise RleconError("not a count", field=name, value=value, allowed="1, 2, 3, ...")
    step = pass_rate ** (1 / turns)
    logits = np.log(np.append(np.full(right, step / right), 1 - step))
    start = np.broadcast_to(logits, (turns, contexts, right + 1)).copy()
    teacher = start + ahead * (np.arange(right + 1) < right)
    return Table(rng.integers(contexts, size=start.shape), start, teacher)


def _visits(world: Table, policy, counted):
    """Chance to be in each context at each turn, (students, turns, contexts), along ``counted`` wordings only."""
    students, turns, contexts, _ = policy.shape
    here, found = np.full((students, contexts), 1 / contexts), []
    offset = np.arange(students)[:, None, None] * contexts
    for turn in range(turns):
        found.append(here)
        flow = policy[:, turn] * counted * here[..., None]
        to = (offset + world.leads_to[turn]).ravel()
        here = np.bincount(to, flow.ravel(), minlength=students * contexts).reshape(students, contexts)
    return np.stack(found, axis=1), here


def divergence(world: Table, logits) -> np.ndarray:
    """Exact KL(student || teacher) of whole answers, in nats, of each student in ``logits`` (students, ...)."""
    policy, teacher = softmax(logits), softmax(world.teacher)
    each = (policy * (np.log(policy) - np.log(teacher))).sum(axis=-1)
    return (_visits(world, policy, 1.0)[0] * each).sum(axis=(1, 2))


def passing(world: Table, logits) -> np.ndarray:
    """Exact chance that all decisions of an answer are right, of each student in ``logits``."""
    good = np.arange(world.start.shape[-1]) < world.start.shape[-1] - 1
    return _visits(world, softmax(logits), good)[1].sum(axis=1)


def _answers(world: Table, policy, n, rng):
    """Contexts and wordings of ``n`` answers of each student: two arrays (turns, students, n)."""
    students, turns, contexts, wordings = policy.shape
    steps, lane = policy.cumsum(axis=-1), np.arange(students)[:, None]
    here, met, chosen = rng.integers(contexts, size=(students, n)), [], []
    for turn in range(turns):
        taken = (rng.random((students, n, 1)) > steps[lane, turn, here]).sum(axis=-1).clip(max=wordings - 1)
        met.append(here)
        chosen.append(taken)
        here = world.leads_to[turn][here, taken]
    return np.array(met), np.array(chosen)


def _advantages(world: Table, policy, met, chosen, credit):
    """One number for each decision (turns, students, n)."""
    if credit == "pass":
        passed = (chosen < policy.shape[-1] - 1).all(axis=0).astype(float)
        one = passed - passed.mean(axis=1, keepdims=True)
        return np.broadcast_to(one, met.shape)
    score = np.log(softmax(world.teacher)) - np.log(policy)  # (students, turns, contexts, wordings)
    turn, lane = np.arange(len(met))[:, None, None], np.arange(met.shape[1])[:, None]
    told = score[lane, turn, met, chosen]
    if credit == "token":  # less what the student expects of itself in that context
        return told - (policy * score).sum(axis=-1)[lane, turn, met]
    whole = told.sum(axis=0)
    return np.broadcast_to(whole - whole.mean(axis=1, keepdims=True), met.shape)


def rollouts_needed(world: Table, credit: str, rates, rng, *, left=0.7, rollouts_per_step=32, repeats=10, steps=2000):
    """Answers until the divergence from the teacher has fallen to the share ``left``, at the best learning rate.

    ``credit``: "token" rewards a decision by the log-ratio of the teacher's probability to the student's (on-policy
    distillation as practiced, without what a decision does to later ones); "summed" rewards all decisions of an answer
    with the sum of these, which is outcome RL toward the same goal, a reward with a KL penalty; "pass" with whether
    all were right. Plain policy gradient; learning rates and repeats run side by side. Returns the mean over repeats,
    its standard error, and the rate.

    >>> rng = np.random.default_rng(1)
    >>> world = table(3, rng)
    >>> few, many = (rollouts_needed(world, c, [3.0], rng)[0] for c in ("token", "summed"))
    >>> few < many
    True
    """
    if credit not in CREDITS:
        raise RleconError("not a credit", field="credit", value=credit, allowed=", ".join(CREDITS))
    pace = np.repeat(np.asarray(rates, float), repeats)
    n, lanes = rollouts_per_step, len(pace)
    turns, contexts, wordings = world.start.shape
    logits = np.broadcast_to(world.start, (lanes, *world.start.shape)).copy()
    cell = (np.arange(lanes)[:, None] * turns + np.arange(turns)[:, None, None]) * contexts
    first = divergence(world, logits)
    curve, reached = [np.ones(lanes)], np.zeros(lanes, bool)
    while len(curve) <= steps and not reached.reshape(-1, repeats).all(axis=1).any():
        policy = softmax(logits)
        met, chosen = _answers(world, policy, n, rng)
        advantage = _advantages(world, policy, met, chosen, credit)
        at = cell + met
        pushed = np.bincount((at * wordings + chosen).ravel(), advantage.ravel(), minlength=logits.size)
        total = np.bincount(at.ravel(), advantage.ravel(), minlength=logits.size // wordings)
        step = pushed.reshape(logits.shape) - total.reshape(*logits.shape[:-1], 1) * policy
        logits += (pace / n)[:, None, None, None] * step
        curve.append(divergence(world, logits) / first)
        reached |= curve[-1] <= left
    if not reached.reshape(-1, repeats).all(axis=1).any():
        raise RleconError("no learning rate reached the target", field="steps", value=steps, advice="allow more steps")
    spent = _crossed(np.array(curve), left) * n
    mean = spent.reshape(-1, repeats).mean(axis=1)
    best = int(np.argmin(mean))
    column = spent.reshape(-1, repeats)[best]
    return float(mean[best]), float(column.std(ddof=1) / np.sqrt(repeats)), float(np.asarray(rates)[best])


def _crossed(curve, left):
    """Steps until each falling column of ``curve`` is at ``left``, read on the line between two steps; or infinity."""
    below = curve <= left
    last = np.argmax(below, axis=0)
    lane = np.arange(curve.shape[1])
    before, after = curve[last - 1, lane], curve[last, lane]
    with np.errstate(divide="ignore", invalid="ignore"):
        place = last - 1 + (before - left) / (before - after)
    return np.where(below.any(axis=0), place, np.inf)

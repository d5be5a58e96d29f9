"""Breadth and depth: a toy world that separates total bits, their channel, and the number of tasks that share them.

Task i asks for the largest entry of o (sqrt(chi) M* + sqrt(1-chi) U_i*): a part that all tasks share and a part of its
own. The learner has the same two parts. Trained on K tasks, it is tested on tasks that it never saw, with what is
shared alone. Label and reward are compared at equal bits: surprisal of the label, binary entropy of the reward.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.errors import RleconError
from rlecon.information import binary_entropy
from rlecon.policy_gradient import advantages, sample, softmax

DIMENSION, ACTIONS, HELD_OUT, PROMPTS = 12, 8, 16, 400
RATES = {"label": (0.3, 1.0, 3.0, 10.0), "reward": (1.0, 3.0, 10.0, 30.0)}
GROUP = 4


# --- what many bits leave ---------------------------------------------------------------------------------------------
# Shared and own weights start at zero and take the same gradients, so the shared part ends as the sum of the own parts:
# K/(K+1) times the mean of the tasks. Its direction is the common part plus the mean of K own ones.
alignment_equation = Equation(
    v.aligned_share,
    v.shared_share / (v.shared_share + (1 - v.shared_share) / v.tasks),
    "mean of K tasks: the common part stays, own parts average out as 1/K, whatever the number of bits",
    source="kish1965",
)
transfer_equation = Equation(
    v.transfer_correlation,
    sp.sqrt(v.shared_share * v.aligned_share),
    "what was learned in common against a new task, of which only the common part can be known",
)
tasks_equation = Equation(
    v.tasks,
    v.aligned_share / (1 - v.aligned_share) * (1 - v.shared_share) / v.shared_share,
    "tasks until the common part is known to the given share",
    source="kish1965",
    name="tasks_to_align",
)


def agreement(correlation: float, actions: int = ACTIONS, nodes: int = 80) -> float:
    """Chance that two rankings of ``actions`` options agree on the best one, for normal scores of that correlation.

    ``correlation`` from 0 (chance: 1/actions) to 1 (always). With :func:`transfer_equation` it gives the accuracy on
    unseen tasks that many bits reach. By Gauss-Hermite quadrature over the best pair of scores, which beats every other
    pair in both; the joint distribution follows Owen (1956).

    >>> round(agreement(0.0), 4), round(agreement(0.5**0.5), 3), agreement(1.0)
    (0.125, 0.463, 1.0)
    """
    from scipy.special import ndtr, owens_t

    if not 0 <= correlation <= 1:
        raise RleconError("not a correlation", field="correlation", value=correlation, allowed="0 to 1")
    if int(actions) != actions or actions < 2:
        raise RleconError("too few actions", field="actions", value=actions, allowed="2, 3, 4, ...")
    if correlation == 1:
        return 1.0
    rest = np.sqrt((1 - correlation) * (1 + correlation))
    z, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / w.sum()
    x, y = z[:, None], correlation * z[:, None] + rest * z[None, :]
    y = np.where(np.abs(y) < 1e-12, 1e-12, y)
    below = (ndtr(x) + ndtr(y) - (x * y < 0)) / 2
    below = below - owens_t(x, (y / x - correlation) / rest) - owens_t(y, (x / y - correlation) / rest)
    return float(actions * (w[:, None] * w[None, :] * np.clip(below, 0, 1) ** (actions - 1)).sum())


@dataclass(frozen=True)
class World:
    """The weights that the answers follow: (dimension, actions) shared, (tasks, dimension, actions) own and unseen."""

    shared: np.ndarray
    own: np.ndarray
    unseen: np.ndarray

    def answers(self, features, own):
        """Right actions: the largest entry of features times (shared + own), task by task."""
        return np.einsum("...f,...fa->...a", features, self.shared + own).argmax(axis=-1)


def world(rng, tasks: int, shared_share: float) -> World:
    """Draw a world in which ``shared_share`` (chi) of the variance of the weights is common to all tasks."""
    if not 0 <= shared_share <= 1:
        raise RleconError("not a share", field="shared_share", value=shared_share, allowed="0 to 1")
    if int(tasks) != tasks or tasks < 1:
        raise RleconError("not a number of tasks", field="tasks", value=tasks, allowed="1, 2, 3, ...")
    size = (DIMENSION, ACTIONS)
    return World(
        np.sqrt(shared_share) * rng.standard_normal(size),
        np.sqrt(1 - shared_share) * rng.standard_normal((tasks, *size)),
        np.sqrt(1 - shared_share) * rng.standard_normal((HELD_OUT, *size)),
    )


def held_out_accuracy(truth: World, weights, rng) -> np.ndarray:
    """Greedy accuracy of shared weights, shape (..., dimension, actions), on tasks that no training saw."""
    features = rng.standard_normal((HELD_OUT, PROMPTS, DIMENSION))
    right = truth.answers(features, truth.unseen[:, None])
    guess = np.einsum("hpf,...fa->...hpa", features, weights).argmax(axis=-1)
    return (guess == right).mean(axis=(-1, -2))


def oracle_accuracy(shared_share: float, rng, worlds: int = 20) -> float:
    """Held-out accuracy of a learner that knows the shared weights exactly: what breadth can reach.

    >>> 0.4 < oracle_accuracy(0.5, np.random.default_rng(0)) < 0.5
    True
    """
    made = [world(rng, 1, shared_share) for _ in range(worlds)]
    return float(np.mean([held_out_accuracy(w, w.shared, rng) for w in made]))


@dataclass(frozen=True)
class Outcome:
    """Accuracy on trained and unseen tasks at each budget of bits, samples spent, at the learning rate chosen."""

    bits: tuple
    trained: tuple
    held_out: tuple
    samples: tuple
    rate: float


def train(tasks, channel, shared_share, rng, *, bits=(1000.0, 10_000.0), batch=64, max_steps=6000) -> Outcome:
    """Train on ``tasks`` tasks until the channel has carried each budget of bits; all learning rates side by side.

    ``channel``: "label" (cross-entropy; bits are the surprisal of each label) or "reward" (leave-one-out policy
    gradient in groups of four; bits are H(p) per rollout). The rate is the best on the trained tasks at the last
    budget; a rate that does not spend it within ``max_steps`` does not compete. Raises RleconError if none does.
    """
    if channel not in RATES:
        raise RleconError("not a channel", field="channel", value=channel, allowed=", ".join(RATES))
    truth, rates = world(rng, tasks, shared_share), np.array(RATES[channel])
    lanes, size = len(rates), (DIMENSION, ACTIONS)
    common, own = np.zeros((lanes, *size)), np.zeros((lanes, tasks, *size))
    spent, seen = np.zeros(lanes), np.full((len(bits), lanes), np.nan)
    trained, held, samples = (np.full((len(bits), lanes), np.nan) for _ in range(3))
    check = rng.standard_normal((tasks, PROMPTS, DIMENSION))
    check_right = truth.answers(check, truth.own[:, None])
    for step in range(1, max_steps + 1):
        task = rng.integers(tasks, size=batch)
        features = rng.standard_normal((batch, DIMENSION))
        right = truth.answers(features, truth.own[task])
        policy = softmax(np.einsum("bf,lbfa->lba", features, common[:, None] + own[:, task]))
        passed = np.clip(policy[:, np.arange(batch), right], 1e-300, 1.0)
        if channel == "label":
            push = -policy
            push[:, np.arange(batch), right] += 1
            spent += -np.log2(passed).sum(axis=1)
        else:
            taken = sample(policy, GROUP, rng)
            advantage = advantages((taken == right[None, :, None]).astype(float)) / GROUP
            push = np.zeros_like(policy)
            for j in range(GROUP):
                push += advantage[..., j, None] * (np.arange(ACTIONS) == taken[..., j, None])
            spent += GROUP * binary_entropy(np.minimum(passed, 1.0)).sum(axis=1)
        each = np.einsum("bf,lba->lbfa", features, push) * (rates / batch)[:, None, None, None]
        common += each.sum(axis=1)
        for lane in range(lanes):
            np.add.at(own[lane], task, each[lane])
        for i, budget in enumerate(bits):
            now = (spent >= budget) & np.isnan(seen[i])
            if now.any():
                seen[i, now] = step
                samples[i, now] = step * batch * (GROUP if channel == "reward" else 1)
                logits = np.einsum("kpf,lkfa->lkpa", check, common[now][:, None] + own[now])
                trained[i, now] = (logits.argmax(axis=-1) == check_right).mean(axis=(1, 2))
                held[i, now] = held_out_accuracy(truth, common[now], rng)
        if not np.isnan(seen).any():
            break
    last = trained[-1]
    if np.isnan(last).all():
        raise RleconError("not spent within the steps allowed", field="bits", value=bits[-1], advice="raise max_steps")
    best = int(np.nanargmax(last))
    return Outcome(
        tuple(bits), *(tuple(map(float, x[:, best])) for x in (trained, held, samples)), float(rates[best])
    )  # fmt: skip

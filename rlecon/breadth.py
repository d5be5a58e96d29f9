"""Breadth and depth: a toy world that separates total bits, their channel, and the number of tasks that share them.

Task i asks for the largest entry of o (sqrt(chi) M* + sqrt(1-chi) U_i*): a part that all tasks share and a part of its
own. The learner has the same two parts. Trained on K tasks, it is tested on tasks that it never saw, with what is
shared alone. Label and reward are compared at equal bits: surprisal of the label, binary entropy of the reward.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlecon.errors import RleconError
from rlecon.information import binary_entropy
from rlecon.policy_gradient import advantages, sample, softmax

DIMENSION, ACTIONS, HELD_OUT, PROMPTS = 12, 8, 16, 400
RATES = {"label": (0.3, 1.0, 3.0, 10.0), "reward": (1.0, 3.0, 10.0, 30.0)}
GROUP = 4


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

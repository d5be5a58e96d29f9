"""Verdicts with errors: tables of truth and verdict."""

from __future__ import annotations

import math

from tests.reference.core import entropy, refuse_unless
from tests.reference.information import told


def observed(pass_rate, false_positive_rate, false_negative_rate):
    return 1 - pass_rate * false_negative_rate - (1 - pass_rate) * (1 - false_positive_rate)


def gradient_factor_divided(youden_index, pass_rate, observed_pass_rate):
    """Advantages are divided by the deviation that is seen instead of the true one."""
    seen, true = (math.sqrt(p * (1 - p)) for p in (observed_pass_rate, pass_rate))
    refuse_unless(seen > 0)
    return youden_index / seen * true


def precision(pass_rate, false_negative_rate, observed_pass_rate):
    refuse_unless(observed_pass_rate > 0)
    return pass_rate * (1 - false_negative_rate) / observed_pass_rate


def rollouts_factor(pass_rate, observed_pass_rate, youden_index):
    """Signal-to-noise of a perfect verifier over that of this one: (pq)^2 / pq over (J pq)^2 / variance seen."""
    variance, seen = pass_rate * (1 - pass_rate), observed_pass_rate * (1 - observed_pass_rate)
    refuse_unless(youden_index > 0 and variance > 0)
    return (variance**2 / variance) / ((youden_index * variance) ** 2 / seen)


def majority_false_positive_rate(common_cause, false_positive_rate):
    """Copied verdicts err as one does; of those that err apart the majority is right where one is more often right."""
    refuse_unless(false_positive_rate < 0.5)
    return common_cause * false_positive_rate + (1 - common_cause) * 0.0


def voting_ceiling(common_cause, pass_rate, false_positive_rate, false_negative_rate):
    """Copied verdicts tell what one tells; very many that err apart tell the truth."""
    refuse_unless(1 - false_positive_rate - false_negative_rate > 0)
    one = told(pass_rate, false_positive_rate, false_negative_rate)
    return common_cause * one + (1 - common_cause) * entropy(pass_rate)


REFERENCE = {
    "observed_pass_rate_prompt": observed,
    "verifier_gradient_factor": lambda youden_index: youden_index,
    "verifier_gradient_factor_divided": gradient_factor_divided,
    "verifier_precision": precision,
    "verifier_rollouts_factor": rollouts_factor,
    "majority_false_positive_rate": majority_false_positive_rate,
    "voting_ceiling": voting_ceiling,
}

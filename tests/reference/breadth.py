"""What tasks teach in common: squared correlations by adding up variances."""

from __future__ import annotations

import math

from tests.reference.core import root


def aligned_share(shared_share, tasks):
    """Squared correlation of a common part with a mean of tasks, from covariance and variances."""
    covariance, mean_variance = shared_share, shared_share + (1 - shared_share) / tasks
    return covariance**2 / (shared_share * mean_variance)


def transfer_correlation(shared_share, aligned_share):
    """Correlations multiply along the chain: learned in common, common part, new task (of variance one)."""
    return math.sqrt(aligned_share) * math.sqrt(shared_share / 1.0)


def tasks_to_align(shared_share, aligned_share):
    return root(lambda k: shared_share / (shared_share + (1 - shared_share) / k) - aligned_share, 1e-6, 1e6)


REFERENCE = {
    "aligned_share": aligned_share,
    "transfer_correlation": transfer_correlation,
    "tasks_to_align": tasks_to_align,
}

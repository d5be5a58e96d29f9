"""Standard functions beneath the special ones: the normal distribution, digamma and the logistic function.

SciPy has them all, but loading it takes as long as a hundred bills. So the standard library computes a few points, to
the same digits, and SciPy is loaded for many. The number of points alone decides: the same call gives the same bytes.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

FEW = 30_000  # points; beyond it SciPy saves more than its loading costs
FAR = -37.0  # below it a normal's chance leaves the range of floats
SERIES_FROM = 10.0  # from here on the series of digamma has all digits
_HALF_ROOT = math.sqrt(0.5)


@cache
def scipy_special():
    """SciPy's special functions, loaded when first used."""
    import scipy.special

    return scipy.special


def _each(function, x):
    """``function`` of one float at every point of an array."""
    return np.fromiter(map(function, x.ravel().tolist()), float, x.size).reshape(x.shape)[()]


def ndtr(x):
    """Chance that a standard normal is below ``x``, to all digits in the lower tail too."""
    if isinstance(x, float):
        return np.float64(0.5 * math.erfc(-x * _HALF_ROOT))
    x = np.asarray(x, dtype=float)
    return scipy_special().ndtr(x) if x.size > FEW else 0.5 * _each(math.erfc, -x * _HALF_ROOT)


def log_ndtr(x):
    """Logarithm of :func:`ndtr`, also where that is below the smallest float."""
    x = np.asarray(x, dtype=float)
    if x.size > FEW:
        return scipy_special().log_ndtr(x)
    beyond = ndtr(-np.abs(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        y = 1.0 / (x * x)
        far = np.log1p(-y * (1 - 3 * y * (1 - 5 * y * (1 - 7 * y)))) - 0.5 * x * x - np.log(-x * math.sqrt(2 * math.pi))
        return np.where(x > 0, np.log1p(-beyond), np.where(x < FAR, far, np.log(beyond)))[()]


def _quantile(p):
    from statistics import NormalDist

    if 0.0 < p < 1.0:
        return NormalDist().inv_cdf(p)
    return math.inf if p == 1.0 else -math.inf if p == 0.0 else math.nan


def ndtri(p):
    """Quantile of a standard normal; infinite at 0 and 1."""
    p = np.asarray(p, dtype=float)
    return scipy_special().ndtri(p) if p.size > FEW else _each(_quantile, p)


def _digamma(x):
    shift = 0.0
    while x < SERIES_FROM:
        shift -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))))
    return math.log(x) - 0.5 / x - series + shift


def digamma(x):
    """Logarithmic derivative of the gamma function."""
    x = np.asarray(x, dtype=float)
    return scipy_special().digamma(x) if x.size > FEW or not np.all(x > 0) else _each(_digamma, x)


def expit(x):
    """The logistic function."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-np.asarray(x, dtype=float)))

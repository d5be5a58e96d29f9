"""Standard functions beneath the special ones: the normal distribution, digamma and the logistic function.

SciPy has them all, but loading it takes as long as a hundred bills. So the standard library computes a few points, to
the same digits, and SciPy is loaded for many. The number of points alone decides: the same call gives the same bytes.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np

FEW = 8_000  # points; for more SciPy is worth its loading
FEW_SUMMED = 50_000  # where one sum serves all points
SERIES_FROM = 12.0  # from here on the series in 1/x have all digits
TAIL_TERMS, SPREAD_OUT = 26, 4.0
_HALF_ROOT, _STANDARD = math.sqrt(0.5), NormalDist()


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


def _smooth_tail(a):
    """log of a normal's chance above ``a``, with a^2/2 + log(a + SPREAD_OUT) added: smooth from 0 to infinity."""
    if a < SERIES_FROM:
        return math.log(0.5 * math.erfc(a * _HALF_ROOT)) + 0.5 * a * a + math.log(a + SPREAD_OUT)
    term, total = 1.0, 0.0
    for k in range(1, TAIL_TERMS):
        total, term = total + term, -term * (2 * k - 1) / (a * a)
    return math.log(total) + math.log1p(SPREAD_OUT / a) - 0.5 * math.log(2 * math.pi)


@cache
def _tail_coefficients():
    """Chebyshev coefficients of the smooth tail in (a - SPREAD_OUT) / (a + SPREAD_OUT), highest first."""
    angles = np.pi * (np.arange(TAIL_TERMS) + 0.5) / TAIL_TERMS
    a = SPREAD_OUT * (1 + np.cos(angles)) / (1 - np.cos(angles))
    waves = np.cos(np.outer(np.arange(TAIL_TERMS), angles))
    return (2 / TAIL_TERMS * (waves * [_smooth_tail(x) for x in a.tolist()]).sum(axis=1))[::-1].tolist()


def log_ndtr(x):
    """Logarithm of :func:`ndtr`, also where that is below the smallest float: one sum for all points, to 12 digits."""
    a = np.abs(np.asarray(x, dtype=float))
    if a.size > FEW_SUMMED:
        return scipy_special().log_ndtr(x)
    *high, constant = _tail_coefficients()
    double, last, before = 2 - 4 * SPREAD_OUT / (a + SPREAD_OUT), 0.0, 0.0
    for coefficient in high:
        last, before = coefficient + double * last - before, last
    tail = 0.5 * (constant + double * last) - before - np.log(a + SPREAD_OUT) - 0.5 * a * a
    return np.where(x > 0, np.log1p(-np.exp(tail)), tail)[()]


def _quantile(p):
    if 0.0 < p < 1.0:
        return _STANDARD.inv_cdf(p)
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

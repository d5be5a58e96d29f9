"""Small tools that several topics need."""

from __future__ import annotations

import math
from itertools import product
from statistics import NormalDist

from scipy.integrate import quad
from scipy.optimize import brentq

BITS_PER_BYTE, SECONDS_PER_HOUR, FLOPS_PER_PARAMETER = 8, 3600, 2
normal = NormalDist()


class Refused(Exception):
    """There is no such number: the package must refuse too."""


def refuse_unless(holds):
    if not holds:
        raise Refused


def integral(function, *points, rel=1e-11):
    """Integral over consecutive intervals."""
    pieces = zip(points, points[1:], strict=False)
    return math.fsum(quad(function, a, b, epsabs=1e-14, epsrel=rel, limit=200)[0] for a, b in pieces)


def root(function, low, high):
    return brentq(function, low, high, xtol=1e-15, rtol=1e-14)


def entropy(p):
    """Binary entropy in bits."""
    return math.fsum(-x * math.log2(x) for x in (p, 1 - p) if x > 0)


def binomial(n, p):
    """Chances of 0 ... n successes."""
    return [math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]


def mixed(n, p):
    """Chance that n tries of one prompt hold both outcomes."""
    return math.fsum(binomial(n, p)[1:-1])


def over_beta(function, a, b):
    """Mean of a function of p over a Beta(a, b): an integral in the logit of p, where both ends are smooth."""
    log_norm = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    def weighted(x):
        right = math.exp(-abs(x)) / (1 + math.exp(-abs(x))) if x < 0 else 1 / (1 + math.exp(-x))
        log_right, log_wrong = min(x, 0) - math.log1p(math.exp(-abs(x))), min(-x, 0) - math.log1p(math.exp(-abs(x)))
        return function(right) * math.exp(a * log_right + b * log_wrong - log_norm)

    middle = math.log(a / b)
    return integral(weighted, middle - 5 - 40 / a, middle - 5, middle, middle + 5, middle + 5 + 40 / b)


def chains(turns, success):
    """(chance, steps) for every way in which a chain of independent steps can go."""
    for steps in product((0, 1), repeat=int(turns)):
        yield math.prod(success if s else 1 - success for s in steps), steps

"""The closed set of special functions that equations may use.

Each is a SymPy function with a unit rule, a LaTeX form and a NumPy evaluation (SciPy underneath, imported when first
used); the JavaScript twins of the same names are in ``book/assets/special.js``. Lengths are lognormal, cut at a cap;
integrals over them are Gauss-Legendre sums with fixed nodes, so that a page computes the same number.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
import sympy as sp

TINY_SPREAD = 1e-12  # stands for a spread of zero: every length alike
NEWTON_STEPS = 16  # to rounding for mean/cap up to 0.9999
LOW_NODES, HIGH_NODES = 24, 48


@lru_cache(maxsize=1)
def _scipy():
    import scipy.special as s

    return s


def _all_plain(args, dimension, same, plain):
    for arg in args:
        plain(arg, arg)
    return ()


def _like_last(args, dimension, same, plain):
    for arg in args[:-1]:
        plain(arg, arg)
    return dimension(args[-1])


def _square_of_last(args, dimension, same, plain):
    from rlecon.units import times

    return times((), _like_last(args, dimension, same, plain), 2)


def _location_rule(args, dimension, same, plain):
    mean, spread, cap = args
    same([mean, cap], mean)
    plain(spread, spread)
    return ()


class Special(sp.Function):
    """Base of the registered functions: real, never rewritten by SymPy, evaluated numerically only."""

    unit_rule = None
    letter = ""

    @classmethod
    def eval(cls, *args):
        return None

    def _eval_is_real(self):
        return True

    def _latex(self, printer, exp=None):
        text = self.letter + r"\left(" + r",\, ".join(map(printer._print, self.args)) + r"\right)"
        return rf"{text}^{{{exp}}}" if exp else text


def _declare(name, nargs, letter, rule):
    return type(name, (Special,), {"nargs": nargs, "letter": letter, "unit_rule": staticmethod(rule)})


normal_cdf = _declare("normal_cdf", 1, r"\Phi", _all_plain)
normal_quantile = _declare("normal_quantile", 1, r"\Phi^{-1}", _all_plain)
log_gamma = _declare("log_gamma", 1, r"\ln\Gamma", _all_plain)
digamma = _declare("digamma", 1, r"\psi", _all_plain)
length_location = _declare("length_location", 3, r"m_L", _location_rule)
capped_square = _declare("capped_square", 3, r"\mathrm{E}[L_i^2]", _square_of_last)
longest_tokens = _declare("longest_tokens", 4, r"\mathrm{E}[\max L_i]", _like_last)
reached_tokens = _declare("reached_tokens", 5, r"\mathrm{reach}", _like_last)


def _evaluate_length_location(mean, spread, cap):
    """Location of a lognormal whose mean, once cut at ``cap``, is ``mean``."""
    s = _scipy()
    spread = np.maximum(spread, TINY_SPREAD)
    log_cap, target = np.log(cap), np.log(mean)
    location = target - spread * spread / 2.0
    if np.all(np.isinf(cap)):
        return location
    for _ in range(NEWTON_STEPS):
        body = np.exp(location + spread * spread / 2.0) * s.ndtr((log_cap - location) / spread - spread)
        tail = np.where(np.isinf(cap), 0.0, cap * s.ndtr((location - log_cap) / spread))
        location = location - (np.log(body + tail) - target) * (body + tail) / body
    return location


def _evaluate_capped_square(location, spread, cap):
    s = _scipy()
    spread = np.maximum(spread, TINY_SPREAD)
    room = (np.log(cap) - location) / spread
    body = np.exp(2.0 * location + 2.0 * spread * spread) * s.ndtr(room - 2.0 * spread)
    with np.errstate(invalid="ignore"):
        tail = np.where(np.isinf(cap), 0.0, cap * cap * s.ndtr(-room))
    return body + tail


@cache
def _nodes(count):
    from numpy.polynomial.legendre import leggauss

    return leggauss(count)


def _integrate(n, share, location, spread, low, high, count):
    """Integral over the standard normal coordinate of [1 - (1 - share S)^n] dt, t = exp(location + spread z)."""
    x, w = _nodes(count)
    half = (high - low) / 2.0
    z = ((high + low) / 2.0)[..., None] + half[..., None] * x
    alive = _scipy().ndtr(-z)
    length = np.exp(location[..., None] + spread[..., None] * z)
    chance = -np.expm1(n[..., None] * np.log1p(-share[..., None] * alive))
    return spread * half * np.sum(w * chance * length, axis=-1)


def _evaluate_reached_tokens(n, share, location, spread, cap):
    """Steps during which at least one of ``n`` sequences, each counted with chance ``share``, is alive."""
    n, share, location, spread, cap = np.broadcast_arrays(
        *(np.asarray(v, float) for v in (n, share, location, spread, cap))
    )
    spread = np.maximum(spread, TINY_SPREAD)
    with np.errstate(all="ignore"):
        end = (np.log(cap) - location) / spread
        top = np.minimum(end, spread + np.sqrt(2.0 * np.log(np.maximum(n, 1.0)) + 60.0))
        bottom = np.minimum(-8.5, top)
        knee = np.clip(_scipy().ndtri(np.exp(-36.0 / n)), bottom, top)
        whole = -np.expm1(n * np.log1p(-share))
        head = np.exp(location + spread * bottom) * whole
        body = _integrate(n, share, location, spread, bottom, knee, LOW_NODES)
        tail = _integrate(n, share, location, spread, knee, top, HIGH_NODES)
    return (head + body + tail)[()]


def _evaluate_longest_tokens(n, location, spread, cap):
    return _evaluate_reached_tokens(n, 1.0, location, spread, cap)


def implementations() -> dict:
    """NumPy evaluation of every special function, by name, plus the elementary ones that printed code calls."""
    return {
        "normal_cdf": lambda x: _scipy().ndtr(x),
        "normal_quantile": lambda x: _scipy().ndtri(x),
        "log_gamma": lambda x: _scipy().gammaln(x),
        "digamma": lambda x: _scipy().digamma(x),
        "length_location": _evaluate_length_location,
        "capped_square": _evaluate_capped_square,
        "longest_tokens": _evaluate_longest_tokens,
        "reached_tokens": _evaluate_reached_tokens,
    }

"""The closed set of special functions that equations may use.

Each is a SymPy function with a unit rule, a LaTeX form and a NumPy evaluation (SciPy underneath, imported when first
used); the JavaScript twins of the same names are in ``book/assets/special.js``. Lengths are lognormal, cut at a cap;
integrals over them are Gauss-Legendre sums with fixed nodes, so that a page computes the same number.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp

from rlecon.pointwise import digamma as evaluate_digamma
from rlecon.pointwise import expit, log_ndtr, ndtr, ndtri, scipy_special

TINY_SPREAD = 1e-12  # stands for a spread of zero: every length alike
NEWTON_STEPS = 16  # to rounding for mean/cap up to 0.9999
LOW_NODES, HIGH_NODES, KNEE_BOTTOM = 24, 48, -3.0
SURE_NODES, CAPPED_NODES, END_NODES, AGE_NODES, LAST_CHUNK = 16, 32, 24, 9, 100
PEAK_BOTTOM, PEAK_TOP, PEAK_NODES = -8.5, 6.0, 96
BETA_NODES, CHANNEL_NODES = 80, 100  # on each side of the center
FLAT_FACTORS = 4096


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


def _peak_rule(args, dimension, same, plain):
    held, location, spread, cap = args
    same([held, cap], cap)
    plain(location, location)
    plain(spread, spread)
    return dimension(cap)


def _last_rule(args, dimension, same, plain):
    first, rest, wait, location, spread, cap = args
    same([wait, cap], cap)
    for arg in (first, rest, location, spread):
        plain(arg, arg)
    return dimension(cap)


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
group_weight = _declare("group_weight", 2, r"h_G", _all_plain)
mean_flat_share = _declare("mean_flat_share", 5, r"\mathrm{E}\,\mathrm{Pr}_{\mathrm{flat}}", _all_plain)
length_location = _declare("length_location", 3, r"\mathrm{location}", _location_rule)
mean_entropy = _declare("mean_entropy", 4, r"\mathrm{E}\,H", _all_plain)
gaussian_channel = _declare("gaussian_channel", 2, r"I_{\mathrm{G}}", _all_plain)
path_rollouts = _declare("path_rollouts", 2, r"n_{\mathrm{path}}", _all_plain)
capped_square = _declare("capped_square", 3, r"\mathrm{square}", _square_of_last)
longest_tokens = _declare("longest_tokens", 4, r"\mathrm{longest}", _like_last)
peak_tokens = _declare("peak_tokens", 4, r"x_{\mathrm{peak}}", _peak_rule)
last_tokens = _declare("last_tokens", 6, r"L_{\mathrm{last}}", _last_rule)
reached_tokens = _declare("reached_tokens", 5, r"\mathrm{reach}", _like_last)


def _evaluate_length_location(mean, spread, cap):
    """Location of a lognormal whose mean, once cut at ``cap``, is ``mean``."""
    spread = np.maximum(spread, TINY_SPREAD)
    log_cap, target = np.log(cap), np.log(mean)
    location = target - spread * spread / 2.0
    if np.all(np.isinf(cap)):
        return location
    for _ in range(NEWTON_STEPS):
        body = np.exp(location + spread * spread / 2.0) * ndtr((log_cap - location) / spread - spread)
        tail = np.where(np.isinf(cap), 0.0, cap * ndtr((location - log_cap) / spread))
        step = (np.log(body + tail) - target) * (body + tail) / body
        location = location - step
        if np.ndim(step) == 0 and abs(step) < 1e-15:
            break
    return location


def _evaluate_capped_square(location, spread, cap):
    spread = np.maximum(spread, TINY_SPREAD)
    room = (np.log(cap) - location) / spread
    body = np.exp(2.0 * location + 2.0 * spread * spread) * ndtr(room - 2.0 * spread)
    with np.errstate(invalid="ignore"):
        tail = np.where(np.isinf(cap), 0.0, cap * cap * ndtr(-room))
    return body + tail


@cache
def _nodes(count):
    from numpy.polynomial.legendre import leggauss

    return leggauss(count)


def _evaluate_reached_tokens(n, share, location, spread, cap):
    """Steps during which at least one of ``n`` sequences, each counted with chance ``share``, is alive.

    The integral of 1 - (1 - share S(t))^n over t = exp(location + spread z): few nodes up to the knee where the
    integrand leaves 1, more beyond it.
    """
    if np.ndim(n) or np.ndim(share) or np.ndim(location) or np.ndim(spread) or np.ndim(cap):
        n, share, location, spread, cap = np.broadcast_arrays(
            *(np.asarray(x, float)[..., None] for x in (n, share, location, spread, cap))
        )
    (x_low, w_low), (x_high, w_high) = _nodes(LOW_NODES), _nodes(HIGH_NODES)
    spread = np.maximum(spread, TINY_SPREAD)
    with np.errstate(all="ignore"):
        end = (np.log(cap) - location) / spread
        top = np.minimum(end, spread + np.sqrt(2.0 * np.log(np.maximum(n, 1.0)) + 60.0))
        bottom = np.minimum(-8.5, top)
        knee = -ndtri(np.minimum(1.0, -np.expm1(-36.0 / n) / share))
        knee = np.minimum(np.maximum(knee, KNEE_BOTTOM), top)
        low, high = (knee - bottom) / 2.0, (top - knee) / 2.0
        z = np.concatenate([(knee + bottom) / 2.0 + low * x_low, (top + knee) / 2.0 + high * x_high], axis=-1)
        w = np.concatenate([low * w_low, high * w_high], axis=-1)
        chance = np.expm1(n * np.log1p(-share * ndtr(-z)))
        found = -np.sum(w * chance * np.exp(location + spread * z), axis=-1)
        if np.ndim(n):
            n, share, location, spread, bottom = (x[..., 0] for x in (n, share, location, spread, bottom))
        head = -np.exp(location + spread * bottom) * np.expm1(n * np.log1p(-share))
        return head + spread * found


@cache
def _peak_grid():
    return np.linspace(0.0, 1.0, PEAK_NODES)


def _evaluate_peak_tokens(held, location, spread, cap):
    """Most tokens that a batch started together ever caches, per sequence: max over t of Pr(L > t) (held + t).

    The largest of evenly spaced nodes, and one Newton step from it.
    """
    if np.ndim(held) or np.ndim(location) or np.ndim(spread) or np.ndim(cap):
        arrays = np.broadcast_arrays(*(np.asarray(x, float)[..., None] for x in (held, location, spread, cap)))
        held, location, spread, cap = arrays
    spread = np.maximum(spread, TINY_SPREAD)
    with np.errstate(all="ignore"):
        end = np.maximum(np.minimum((np.log(cap) - location) / spread, PEAK_TOP), PEAK_BOTTOM)
        z = PEAK_BOTTOM + (end - PEAK_BOTTOM) * _peak_grid()
        value = ndtr(-z) * (held + np.exp(location + spread * z))
        if value.ndim == 1:
            best, z = value.max(), z[value.argmax()]
        else:
            best = value.max(axis=-1, keepdims=True)
            z = np.take_along_axis(z, value.argmax(axis=-1)[..., None], axis=-1)
        grown = np.exp(location + spread * z)
        share, hazard = grown / (held + grown), np.exp(-z * z / 2 - log_ndtr(-z)) / np.sqrt(2 * np.pi)
        slope, bend = spread * share - hazard, spread**2 * share * (1 - share) - hazard * (hazard - z)
        z = np.minimum(z - np.where(bend < 0, slope / bend, 0.0), end)
        best = np.fmax(best, ndtr(-z) * (held + np.exp(location + spread * z)))
    return best if value.ndim == 1 else best[..., 0]


def _evaluate_longest_tokens(n, location, spread, cap):
    return _evaluate_reached_tokens(n, 1.0, location, spread, cap)


def _entropy_bits(p):
    """Binary entropy in bits; 0 at both ends."""
    inner = (p > 0) & (p < 1)
    safe = np.where(inner, p, 0.5)
    return np.where(inner, -(safe * np.log(safe) + (1 - safe) * np.log1p(-safe)), 0.0) / np.log(2.0)


def _beta_nodes(a, b):
    """Nodes in the logit of p and their weights, for means over a Beta distribution."""
    width = np.sqrt(1 / a + 1 / b)
    reach = np.arcsinh(9.0 + 40.0 / (np.minimum(a, b) * width))
    t = reach[..., None] * np.linspace(-1.0, 1.0, 2 * BETA_NODES + 1)
    logit = np.log(a / b)[..., None] + width[..., None] * np.sinh(t)
    weight = a[..., None] * logit - (a + b)[..., None] * np.logaddexp(0.0, logit)
    weight = np.exp(weight - weight.max(axis=-1, keepdims=True)) * np.cosh(t)
    return logit, weight


def _evaluate_mean_entropy(successes, failures, plus, minus):
    """E[H(plus + (1 - plus - minus) p)] in bits for p from a Beta distribution: the entropy of a noisy verdict.

    Without errors it has a closed form. With them it is a trapezoid sum in the logit of p, centered and stretched so
    that the same nodes serve sharp and U-shaped Betas (relative error 1e-12 for parameters from 0.3 to 1e5, below 1e-7
    down to 0.05).
    """
    a, b, plus, minus = np.broadcast_arrays(*(np.asarray(x, float) for x in (successes, failures, plus, minus)))
    psi, mean = evaluate_digamma, a / (a + b)
    exact = (psi(a + b + 1) - mean * psi(a + 1) - (1 - mean) * psi(b + 1)) / np.log(2.0)
    if not np.any((plus > 0) | (minus > 0)):
        return exact[()]
    logit, weight = _beta_nodes(a, b)
    seen = plus[..., None] + (1 - plus - minus)[..., None] * expit(logit)
    noisy = np.sum(weight * _entropy_bits(seen), axis=-1) / np.sum(weight, axis=-1)
    return np.where((plus > 0) | (minus > 0), noisy, exact)[()]


def _evaluate_group_weight(p, group):
    """E sqrt(j/G (1 - j/G)) / (p q) for j ~ Binomial(G, p): a sum without singular ends."""
    p, group = np.broadcast_arrays(np.asarray(p, float), np.asarray(group, float))
    s, q, total = scipy_special(), 1.0 - p, np.zeros(p.shape)
    whole = s.gammaln(group + 1.0)
    for j in range(1, int(np.max(group, initial=1.0))):
        left = np.maximum(group - j, 0.0)
        chance = whole - s.gammaln(j + 1.0) - s.gammaln(left + 1.0)
        chance = np.exp(chance + s.xlogy(j - 1.0, p) + s.xlogy(np.maximum(left - 1.0, 0.0), q))
        total = total + np.where(left >= 1.0, chance * np.sqrt(j * left) / group, 0.0)
    return total[()]


def _evaluate_mean_flat_share(successes, failures, plus, minus, group):
    """E[t^G + (1-t)^G], t = plus + (1 - plus - minus) p the chance that a verdict is positive, p from a Beta.

    Without errors it has a closed form; with them the trapezoid sum of :func:`_evaluate_mean_entropy`.
    """
    arrays = np.broadcast_arrays(*(np.asarray(x, float) for x in (successes, failures, plus, minus, group)))
    a, b, plus, minus, group = arrays
    right, wrong = np.ones(a.shape), np.ones(a.shape)
    most = np.max(group, initial=1.0)
    for k in range(int(min(most, FLAT_FACTORS))):  # a product: log-gammas lose all digits for large a
        right = np.where(k < group, right * (a + k) / (a + b + k), right)
        wrong = np.where(k < group, wrong * (b + k) / (a + b + k), wrong)
    if most > FLAT_FACTORS:  # of what is left next to nothing
        ln, rest = scipy_special().gammaln, np.maximum(group, FLAT_FACTORS)
        both = ln(a + b + FLAT_FACTORS) - ln(a + b + rest)
        right = right * np.exp(ln(a + rest) - ln(a + FLAT_FACTORS) + both)
        wrong = wrong * np.exp(ln(b + rest) - ln(b + FLAT_FACTORS) + both)
    exact = right + wrong
    if not np.any((plus > 0) | (minus > 0)):
        return exact[()]
    logit, weight = _beta_nodes(a, b)
    seen = plus[..., None] + (1 - plus - minus)[..., None] * expit(logit)
    flat = seen ** group[..., None] + (1 - seen) ** group[..., None]
    noisy = np.sum(weight * flat, axis=-1) / np.sum(weight, axis=-1)
    return np.where((plus > 0) | (minus > 0), noisy, exact)[()]


def _evaluate_gaussian_channel(p, spacing):
    """Bits that spacing * r + z tells about r, 1 with chance p and else 0, z standard normal: a trapezoid sum in z."""
    p, spacing = (np.asarray(x, float)[..., None] for x in np.broadcast_arrays(p, spacing))
    z = np.arange(-CHANNEL_NODES, CHANNEL_NODES + 1) * (10.0 / CHANNEL_NODES)
    density = np.exp(-z * z / 2.0) / np.sqrt(2.0 * np.pi) * (10.0 / CHANNEL_NODES)
    with np.errstate(divide="ignore"):
        right, wrong = np.log(p), np.log1p(-p)
    shift = spacing * z
    one = np.where(p > 0, -p * np.logaddexp(right, wrong - shift - spacing**2 / 2), 0.0)
    zero = np.where(p < 1, -(1 - p) * np.logaddexp(wrong, right + shift - spacing**2 / 2), 0.0)
    return (np.sum(density * (one + zero), axis=-1) / np.log(2.0))[()]


def _evaluate_path_rollouts(start, target):
    """Integral of log2(p q_0 / (p_0 q)) / H(p) dp from start to target, by Gauss-Legendre in the logit of p."""
    start, target = np.broadcast_arrays(np.asarray(start, float), np.asarray(target, float))
    x, w = _nodes(HIGH_NODES)
    low, high = scipy_special().logit(start), scipy_special().logit(target)
    half = (high - low)[..., None] / 2.0
    logit = low[..., None] + half * (1.0 + x)
    p = expit(logit)
    rate = (logit - low[..., None]) / np.log(2.0) * p * expit(-logit) / _entropy_bits(p)
    return np.sum(w * half * rate, axis=-1)[()]


def _evaluate_last_tokens(first, rest, wait, location, spread, cap):
    """Decode steps from the last start to the last end: ``first`` sequences start together, ``rest`` more at even
    distances over the following ``wait`` steps.

    The chance that all have ended u steps after the last start is F(wait + u)^first times the product of F over the
    later starts, whose logarithm is ``rest`` times a mean over their ages.
    """
    if not (np.any(np.asarray(rest) > 0) and np.any(np.asarray(wait) > 0)):
        plain = _evaluate_reached_tokens(first, 1.0, location, spread, cap)
        return np.broadcast_to(plain, np.broadcast_shapes(np.shape(plain), np.shape(rest), np.shape(wait)))[()]
    arrays = np.broadcast_arrays(*(np.asarray(x, float) for x in (first, rest, wait, location, spread, cap)))
    shape, flat = arrays[0].shape, [x.reshape(-1) for x in arrays]
    out, waves = np.empty(flat[0].size), (flat[1] > 0) & (flat[2] > 0)
    late, early = np.flatnonzero(waves), np.flatnonzero(~waves)
    if early.size:
        out[early] = _evaluate_reached_tokens(flat[0][early], 1.0, *(x[early] for x in flat[3:]))
    for start in range(0, late.size, LAST_CHUNK):
        at = late[start : start + LAST_CHUNK]
        out[at] = _last_of_waves(*(x[at, None] for x in flat))
    return out.reshape(shape)[()]


@cache
def _age_nodes():
    y, w = _nodes(AGE_NODES)
    return ((1 + y) / 2) ** 2, w * (1 + y) / 2


def _last_of_waves(first, rest, wait, location, spread, cap):
    """The integral over steps u = exp(location + spread z), in three parts: few nodes where somebody is surely alive,
    then up to the step at which the cap has ended the first starters, then up to the cap, with nodes close to it."""
    total, spread = first + rest, np.maximum(spread, TINY_SPREAD)
    (x_sure, w_sure), (x, w), (x_end, w_end) = _nodes(SURE_NODES), _nodes(CAPPED_NODES), _nodes(END_NODES)
    share, weight = _age_nodes()
    with np.errstate(all="ignore"):
        end = (np.log(cap) - location) / spread
        top = np.minimum(end, spread + np.sqrt(2.0 * np.log(np.maximum(total, 1.0)) + 48.0))
        bottom = np.minimum(-8.5, top)
        young = rest * np.minimum(1.0, np.exp(location) / wait)  # those that started within a median length
        kink = np.clip((np.log(np.maximum(cap - wait, 0.0)) - location) / spread, bottom, top)
        alive = np.exp(location + spread * ndtri(np.exp(-30.0 / first))) - wait  # until then some of the first are
        alive = np.minimum((np.log(np.maximum(alive, 0.0)) - location) / spread, kink)
        knee = np.maximum(np.maximum(ndtri(np.exp(-30.0 / young)), alive), KNEE_BOTTOM)
        knee = np.maximum(np.minimum(knee, top - 1.0), bottom)
        sure, capped = np.minimum(knee, kink), np.maximum(knee, kink)
        low, middle, high, near = (sure - bottom) / 2.0, (capped - sure) / 2.0, top - capped, (1.0 - x_end) / 2.0
        z = [bottom + low * (1.0 + x_sure), sure + middle * (1.0 + x), top - high * near**2]
        w = np.concatenate([low * w_sure, middle * w, high * w_end * near], axis=-1)
        u = np.exp(location + spread * np.concatenate(z, axis=-1))
        oldest = log_ndtr((np.log(u + wait) - location) / spread) * (wait < cap - u)
        reach = np.minimum(wait, cap - u)  # of the ages: older ones have met the cap
        t = u[:, :, None] + reach[:, :, None] * share
        later = log_ndtr((np.log(t) - location[:, None]) / spread[:, None]) @ weight * reach / wait
        power = -np.expm1(first * oldest + rest * later)
        return np.exp(location[:, 0] + spread[:, 0] * bottom[:, 0]) + spread[:, 0] * np.sum(w * u * power, axis=-1)


def implementations() -> dict:
    """NumPy evaluation of every special function, by name, plus the elementary ones that printed code calls."""
    return {
        "normal_cdf": ndtr,
        "normal_quantile": ndtri,
        "log_gamma": lambda x: scipy_special().gammaln(x),
        "digamma": evaluate_digamma,
        "mean_entropy": _evaluate_mean_entropy,
        "group_weight": _evaluate_group_weight,
        "mean_flat_share": _evaluate_mean_flat_share,
        "gaussian_channel": _evaluate_gaussian_channel,
        "path_rollouts": _evaluate_path_rollouts,
        "length_location": _evaluate_length_location,
        "capped_square": _evaluate_capped_square,
        "longest_tokens": _evaluate_longest_tokens,
        "reached_tokens": _evaluate_reached_tokens,
        "peak_tokens": _evaluate_peak_tokens,
        "last_tokens": _evaluate_last_tokens,
    }

"""Capability: when a stronger, dearer starting model pays, and what levers on parts of a step do to the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.errors import RleconError

_p = v.pass_rate
_better = v.odds_ratio * _p / (1 - _p + v.odds_ratio * _p)

signal_price_equation = Equation(
    v.usd_per_signal,
    v.usd_per_token * v.response_tokens / v.pass_variance,
    "tokens of a rollout over its signal: E[pq], below pbar qbar where prompts differ",
    holds_when=[(v.pass_variance > 0, "no rollout differs from another")],
)
price_equation = Equation(
    v.break_even_price_ratio,
    v.odds_ratio / (1 - _p + v.odds_ratio * _p) ** 2,
    "p'q' over pq for a model with the given multiple of the odds: it pays below this price ratio",
)
pass_equation = Equation(
    v.break_even_pass_rate,
    (sp.sqrt(v.odds_ratio / v.price_ratio) - 1) / (v.odds_ratio - 1),
    "base pass rate at which p'q' = price ratio times pq: the stronger model pays below it",
    holds_when=[
        (v.odds_ratio > 1, "odds that are not better buy nothing"),
        (v.odds_ratio > v.price_ratio, "odds times {odds_ratio} at {price_ratio} times the price never pay"),
    ],
)
better_equation = Equation(
    v.target_pass_rate, _better, "odds of the base times the odds ratio", name="stronger_pass_rate"
)

# --- levers on parts of a step ---------------------------------------------------------------------------------------
amdahl_equation = Equation(
    v.speedup,
    1 / ((1 - v.rollout_share) / v.training_speedup + v.rollout_share / v.rollout_speedup),
    "the rest of a step does not shrink with the rollout",
    source="amdahl1967",
)
cap_equation = Equation(
    v.speedup_cap,
    1 / (1 - v.rollout_share),
    "a lever on the rollout alone cannot pass it",
    holds_when=[(v.rollout_share < 1, "a step of rollout alone has no cap")],
    source="amdahl1967",
)

dollar_gain_equation = Equation(
    v.dollar_gain, v.speedup / v.rent_ratio, "the same number of GPUs for less time, at another rent"
)

MOST_PLAYERS = 20


def coalitions(names: Sequence[str]) -> list[frozenset]:
    """Every set of names, in the order that :func:`shapley` takes their worth: name i is in where bit i is set.

    >>> [sorted(s) for s in coalitions(["a", "b"])]
    [[], ['a'], ['b'], ['a', 'b']]
    """
    names = list(names)
    if len(names) > MOST_PLAYERS or len(set(names)) != len(names):
        raise RleconError(
            "too many levers, or one twice", field="names", value=len(names), allowed=f"{MOST_PLAYERS} at most"
        )
    return [frozenset(n for i, n in enumerate(names) if mask >> i & 1) for mask in range(2 ** len(names))]


def shapley(names: Sequence[str], worth: Callable | Sequence[float]) -> dict[str, float]:
    """Order-free shares: what each lever adds, averaged over all orders in which they could be pulled.

    Parameters: ``names`` of the levers; ``worth`` a function of a frozenset of names, or its values for
    :func:`coalitions` in that order (an array lets all of them be priced in one call). Shares add up to the worth of
    all minus the worth of none. For savings that multiply, give logarithms. Source: Shapley (1953).

    >>> shapley(["fp8", "gpu"], lambda s: {0: 0.0, 1: 1.0, 2: 3.0}[len(s)])
    {'fp8': 1.5, 'gpu': 1.5}
    """
    sets = coalitions(names)
    values = np.array([worth(s) for s in sets] if callable(worth) else worth, float)
    if values.shape != (len(sets),):
        raise RleconError("one worth for every set", field="worth", value=values.shape, allowed=f"{len(sets)} values")
    count, masks = len(list(names)), np.arange(len(sets))
    size = np.array([len(s) for s in sets])
    order = np.ones(count)
    for k in range(1, count):  # k! (n-k-1)! / n! for coalitions of k others
        order[k] = order[k - 1] * k / (count - k)
    order /= count
    shares = {}
    for i, name in enumerate(names):
        without = masks[(masks >> i & 1) == 0]
        shares[name] = float(np.sum(order[size[without]] * (values[without | 1 << i] - values[without])))
    return shares

"""Filtering and curriculum: what dropping flat groups does, how to spread rollouts, and which prompts pay most."""

from __future__ import annotations

import numpy as np
import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.errors import RleconError

_p, _G = v.pass_rate, v.group_size
_q = 1 - _p
_pair = [(_G > 1, "a group of one has nothing to compare with")]

marginal_equation = Equation(
    v.marginal_value,
    _p * _q * (_p ** (_G - 1) + _q ** (_G - 1)),
    "gain in the chance of a mixed group from rollout G + 1; the first rollout alone gains nothing",
)
kept_equation = Equation(
    v.kept_pass_rate,
    (_p - _p**_G) / (1 - _p**_G - _q**_G),
    "success share inside mixed groups: above p where p is below one half",
    holds_when=[*_pair, (_p * _q > 0, "no group is mixed at a pass rate of {pass_rate}")],
    source="yang2026biased",
)
filtering_equation = Equation(
    v.filtering_gain,
    1 / v.mixed_group_share,
    "flat groups have no gradient: dropping and replacing them scales the same expected step",
    holds_when=[(v.mixed_group_share > 0, "no group is mixed")],
)


def optimal_difficulty(objective: str) -> sp.Expr:
    """Pass rate at which one rollout is worth most, derived: exact, as a SymPy number.

    ``objective``: "signal" (p q), "bits" (H), "success_bits" (p log 1/p: learning from successes alone), or
    "log_pass_rate" (p q^3: noise-limited steps on log p at equal curvature).

    >>> optimal_difficulty("log_pass_rate")
    1/4
    """
    p = sp.Symbol("p", positive=True)
    shapes = {
        "signal": p * (1 - p),
        "bits": -p * sp.log(p) - (1 - p) * sp.log(1 - p),
        "success_bits": -p * sp.log(p),
        "log_pass_rate": p * (1 - p) ** 3,
    }
    if objective not in shapes:
        raise RleconError("not an objective", field="objective", value=objective, allowed=", ".join(shapes))
    roots = [r for r in sp.solve(sp.diff(shapes[objective], p), p) if 0 < r < 1]
    return max(roots, key=lambda r: shapes[objective].subs(p, r))


def optimal_difficulties(objectives=("signal", "bits", "success_bits", "log_pass_rate")) -> list[float]:
    """The best pass rate by objective, as numbers: :func:`optimal_difficulty` of each.

    >>> [round(p, 3) for p in optimal_difficulties()]
    [0.5, 0.5, 0.368, 0.25]
    """
    return [float(optimal_difficulty(objective)) for objective in objectives]


def allocate(pass_rates, rollouts: int, *, weights=None):
    """Rollouts per prompt that make the expected number of mixed groups largest.

    Parameters: ``pass_rates`` of the prompts; ``rollouts`` to give out in all; optional ``weights`` of the prompts.
    A prompt pays an entry of two rollouts, worth p q each; every further one is worth less, so at a shadow price mu per
    rollout only prompts with p q >= mu enter. Exact, by dynamic programming: the work grows as prompts times rollouts
    squared. Returns an array of counts.

    >>> allocate([0.02, 0.1, 0.3, 0.5], 16).tolist()
    [0, 6, 5, 5]
    """
    p = np.asarray(pass_rates, float)
    if p.ndim != 1 or not p.size or np.any(~((p >= 0) & (p <= 1))):
        raise RleconError("not a list of pass rates", field="pass_rates", allowed="0 to 1 each, at least one")
    if int(rollouts) != rollouts or rollouts < 0:
        raise RleconError("not a count", field="rollouts", value=rollouts, allowed="whole numbers, at least 0")
    weight = np.ones_like(p) if weights is None else np.broadcast_to(np.asarray(weights, float), p.shape)
    size = np.arange(int(rollouts) + 1)
    worth = np.where(size > 0, 1 - p[:, None] ** size - (1 - p[:, None]) ** size, 0.0) * weight[:, None]
    best, choices = np.zeros(size.size), []
    for row in worth:
        grown, choice = best.copy(), np.zeros(size.size, int)
        for count in size[2:]:
            trial = best[: size.size - count] + row[count]
            better = trial > grown[count:] + 1e-15
            grown[count:][better], choice[count:][better] = trial[better], count
        best = grown
        choices.append(choice)
    counts, left = np.zeros(p.size, int), int(rollouts)
    for i in range(p.size - 1, -1, -1):
        counts[i] = choices[i][left]
        left -= counts[i]
    return counts

"""Groups: how many rollouts a prompt should get, and what a log tells of the difficulty of its prompts.

A step visits B prompts with G rollouts each. Two budgets are confused in the literature: prompts per step (a larger
group is then more data) and rollouts per step (it is then fewer prompts). Every equation here says which one it holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy as sp

from rlecon import learning
from rlecon import vocabulary as v
from rlecon.equation import Equation, Model
from rlecon.errors import RleconError
from rlecon.interval import Z80
from rlecon.special import group_weight

_p, _G = v.pass_rate, v.group_size
_q = 1 - _p
_pair = [(_G > 1, "a group of one has nothing to compare with")]

# --- variance of the gradient ----------------------------------------------------------------------------------------
group_variance_equation = Equation(
    v.group_variance,
    _p * _q / (_G - 1),
    "leave-one-out over G rollouts is the average over pairs of (r_i - r_j)(s_i - s_j)/2",
    holds_when=_pair,
    source="zhou2026ustatistic",
)
equal_prompts_equation = Equation(
    v.variance_ratio,
    1 / (_G - 1),
    "variance over that of pairs, prompts per step fixed: G/2 times the rollouts",
    holds_when=_pair,
    source="zhou2026ustatistic",
    name="variance_ratio_equal_prompts",
)
equal_rollouts_equation = Equation(
    v.variance_ratio,
    _G / (2 * (_G - 1)),
    "within-prompt variance over that of pairs, rollouts per step fixed",
    holds_when=_pair,
    source="zhou2026ustatistic",
    name="variance_ratio_equal_rollouts",
)
_between, _within = v.between_prompt_sd**2, v.within_prompt_sd**2
two_stage_equation = Equation(
    v.gradient_variance,
    (_between * _G + _within * _G / (_G - 1)) / v.rollouts,
    "two-stage sampling: prompts drawn afresh, then rollouts of each",
    holds_when=_pair,
    source="kish1965",
    name="two_stage_variance",
)
finite_equation = Equation(
    v.gradient_variance,
    _between * (1 / v.prompts_per_step - 1 / v.tasks) + _within / (v.prompts_per_step * (_G - 1)),
    "the same for prompts drawn without replacement from K",
    holds_when=[*_pair, (v.prompts_per_step <= v.tasks, "{prompts_per_step} prompts cannot be drawn from {tasks}")],
    source="kish1965",
    name="two_stage_variance_finite",
)
variance_usd_equation = Equation(
    v.variance_usd,
    (v.usd_per_prompt_visit + v.usd_per_rollout * _G) * (_between + _within / (_G - 1)),
    "dollars per prompt times variance per prompt: what the best group size makes least",
    holds_when=_pair,
    source="kish1965",
)
best_equation = Equation(
    v.best_group_size,
    1 + v.noise_ratio * sp.sqrt(1 + v.usd_per_prompt_visit / v.usd_per_rollout),
    "least variance per dollar: more rollouts where they are noisier than prompts are different, or a visit is dear",
    source="kish1965",
)
cost_equation = Equation(
    v.cost_over_least,
    (v.usd_per_prompt_visit + v.usd_per_rollout * _G)
    * (1 + v.noise_ratio**2 / (_G - 1))
    / (sp.sqrt(v.usd_per_prompt_visit + v.usd_per_rollout) + v.noise_ratio * sp.sqrt(v.usd_per_rollout)) ** 2,
    "dollars times variance at G over that at the best group size, which need not be whole",
    holds_when=_pair,
    source="kish1965",
)
ratio_equation = Equation(
    v.noise_ratio,
    v.even_noise_ratio * sp.sqrt(v.pass_variance / (4 * v.pass_variance_square)),
    "score model: within-prompt variance goes with E[pq], between-prompt variance with E[(pq)^2]; 4 at p = 1/2",
    holds_when=[(v.pass_variance_square > 0, "no prompt has both outcomes")],
)

# --- what dividing by the group's deviation optimizes ----------------------------------------------------------------
weight_equation = Equation(
    v.objective_weight,
    group_weight(_p, _G),
    "E sqrt(j/G (1 - j/G)) / (p q), j right rollouts: exact binomial sum",
    holds_when=_pair,
    source="davis2025objective",
    name="objective_weight",
)
sample_weight_equation = Equation(
    v.objective_weight,
    sp.sqrt((_G - 1) / _G) * group_weight(_p, _G),
    "the same where frameworks divide by the sample deviation (G - 1)",
    holds_when=_pair,
    source="davis2025objective",
    name="objective_weight_sample",
)
limit_weight_equation = Equation(
    v.objective_weight,
    1 / sp.sqrt(_p * _q),
    "limit of large groups: the objective is 2 arcsin sqrt(p)",
    holds_when=[(_p * _q > 0, "no rollout differs from another")],
    source="mroueh2025grpo",
    name="objective_weight_limit",
)
maxrl_equation = Equation(
    v.objective_weight,
    (1 - _q**_G) / _p,
    "gradient of the truncated expansion of log p",
    holds_when=[(_p > 0, "no rollout is right")],
    source="zanette2026maxrl",
    name="objective_weight_maxrl",
)

_a, _b = v.beta_successes, v.beta_failures
square_equation = Equation(
    v.pass_variance_square,
    _a * (_a + 1) * _b * (_b + 1) / ((_a + _b) * (_a + _b + 1) * (_a + _b + 2) * (_a + _b + 3)),
    "E[(pq)^2] over a Beta distribution of pass rates",
)
_m, _V = v.mean_pass_rate, v.pass_rate_spread**2
_w = v.pass_variance
square_spread_equation = Equation(
    v.pass_variance_square,
    _w * (_m * _w + _V) * ((1 - _m) * _w + _V) / ((_w + 2 * _V) * (_w + 3 * _V)),
    "the same from mean and spread; alike prompts are its limit (pbar qbar)^2",
    name="pass_variance_square_by_spread",
)


# --- from a log to a distribution of difficulty ----------------------------------------------------------------------
@dataclass(frozen=True)
class Difficulty:
    """Difficulty of a prompt set as a log shows it, and what follows for the group size.

    ``spread`` is the standard deviation of pass rates (``spread_low`` and ``spread_high`` bound 80 % where the number
    of groups was given); ``table`` holds, by group size, the share of mixed groups, rollouts per mixed group, signal
    per rollout relative to an unlimited group, and cost times variance relative to the best.
    """

    mean_pass_rate: float
    spread: float
    spread_low: float | None
    spread_high: float | None
    beta_successes: float
    beta_failures: float
    pass_variance: float
    noise_ratio: float
    best_group_size: float
    group_size: int
    table: list[dict]


SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
_TABLE = Model(
    [learning.pass_variance_equation, learning.successes_equation, learning.failures_equation, square_equation]
)


def mixed_share(mean_pass_rate, spread, group_size):
    """Share of mixed groups for a Beta distribution of pass rates; arrays broadcast.

    >>> round(float(mixed_share(0.3, 0.458257569495584 / 2**0.5, 16)), 3)
    0.619
    """
    values = {"mean_pass_rate": mean_pass_rate, "pass_rate_spread": spread, "group_size": group_size}
    none = {"false_positive_rate": 0.0, "false_negative_rate": 0.0}
    return learning.MIXED.solve({**values, **none}, ["mixed_group_share"])["mixed_group_share"]


def _spread_of(mean, flat, group):
    """Spread whose share of flat groups is ``flat``: the share grows with the spread, so halve."""
    low, high = 0.0, math.sqrt(mean * (1 - mean)) * (1 - 1e-9)
    if flat <= 1 - mixed_share(mean, 0.0, group):
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - mixed_share(mean, middle, group) < flat else (low, middle)
    return (low + high) / 2


def difficulty_from_log(
    mean_reward: float,
    zero_variance_share: float,
    group_size: int,
    *,
    groups: int | None = None,
    even_noise_ratio: float = 1.9,
    usd_per_prompt_visit: float = 0.0,
    usd_per_rollout: float = 1.0,
) -> Difficulty:
    """Recover the spread of difficulty from two logged numbers, and recommend a group size.

    Parameters: ``mean_reward`` over all rollouts before any filtering, rewards 0 or 1; ``zero_variance_share`` of the
    groups whose rewards are all equal, also before filtering; ``group_size`` of that log; ``groups`` behind the share,
    for an interval; ``even_noise_ratio`` the within over between sd of the gradient where every prompt is solved half
    of the time (1.9 in a linear toy of 256 prompts; no public run reports it; larger models may have more); the two
    costs of visiting a prompt and of a rollout, in the same money. Pass rates follow a Beta distribution.

    Returns a :class:`Difficulty`. Raises RleconError where the numbers contradict each other, or where they cannot
    tell: no mixed group, or (with ``groups``) sampling error as wide as the whole range of spreads.

    >>> found = difficulty_from_log(0.3, 0.381, 16)
    >>> round(found.spread, 2), found.group_size
    (0.32, 3)
    """
    for name, value in (("mean_reward", mean_reward), ("zero_variance_share", zero_variance_share)):
        if not 0 <= value <= 1:
            raise RleconError(
                "not a share", field=name, value=value, allowed="0 to 1", advice="map rewards of -1 and 1 to 0 and 1"
            )
    if int(group_size) != group_size or group_size < 2:
        raise RleconError("not a group", field="group_size", value=group_size, allowed="whole numbers, at least 2")
    if mean_reward in (0, 1) or zero_variance_share == 1:
        raise RleconError(
            "the log shows no mixed group, so it cannot tell how difficulty is spread",
            field="zero_variance_share",
            value=zero_variance_share,
            allowed="below 1",
            advice="log more groups or a larger group size",
        )
    alike = 1 - float(mixed_share(mean_reward, 0.0, group_size))
    error = 0.0 if groups is None else Z80 * math.sqrt(alike * (1 - alike) / groups)
    if groups is not None and 2 * error > 1 - alike:
        raise RleconError(
            f"{groups} groups cannot tell: alike prompts give {alike:.3f} flat groups, give or take {error:.3f}",
            field="groups",
            value=groups,
            allowed=f"at least {math.ceil(groups * (2 * error / (1 - alike)) ** 2)}",
        )
    if zero_variance_share < alike - max(3 * error, 0.02 if groups is None else 0.0):
        raise RleconError(
            f"fewer flat groups than prompts of equal difficulty would give ({alike:.3f}): rewards are not right or "
            "wrong, groups were filtered, or the mean belongs to other rollouts",
            field="zero_variance_share",
            value=zero_variance_share,
            allowed=f"{alike:.3f} to 1",
        )
    spread = _spread_of(mean_reward, zero_variance_share, group_size)
    low = high = None
    if groups is not None:
        flat = max(zero_variance_share, alike)
        error = Z80 * math.sqrt(flat * (1 - flat) / groups)
        low = _spread_of(mean_reward, zero_variance_share - error, group_size)
        high = _spread_of(mean_reward, min(zero_variance_share + error, 1.0), group_size)
    if spread > 0:
        found = _TABLE.solve({"mean_pass_rate": mean_reward, "pass_rate_spread": spread})
        a, b, variance = found["beta_successes"], found["beta_failures"], found["pass_variance"]
        square = found["pass_variance_square"]
    else:
        a = b = math.inf
        variance = mean_reward * (1 - mean_reward)
        square = variance**2
    ratio = ratio_equation(even_noise_ratio=even_noise_ratio, pass_variance=variance, pass_variance_square=square)
    costs = {"usd_per_prompt_visit": usd_per_prompt_visit, "usd_per_rollout": usd_per_rollout}
    best = float(best_equation(noise_ratio=ratio, **costs))
    sizes = np.arange(2, max(3, math.ceil(best)) + 1)
    law = {"between_prompt_sd": 1.0, "within_prompt_sd": ratio, **costs}
    chosen = int(sizes[np.argmin(variance_usd_equation(group_size=sizes, **law))])
    least = float(variance_usd_equation(group_size=chosen, **law))
    table = []
    for size in sorted({*SIZES, group_size, chosen}):
        mixed = float(mixed_share(mean_reward, spread, size))
        table.append(
            {
                "group_size": size,
                "mixed_group_share": mixed,
                "rollouts_per_mixed_group": size / mixed,
                "signal_per_rollout": (size - 1) / size,
                "cost_times_variance": float(variance_usd_equation(group_size=size, **law)) / least,
            }
        )
    return Difficulty(
        mean_reward, spread, low, high, float(a), float(b), float(variance), float(ratio), best, chosen, table
    )

"""Groups: sums over the number of right rollouts in a group, optima by search."""

from __future__ import annotations

import math

from tests.reference.core import binomial, mixed, over_beta, refuse_unless, root
from tests.reference.learning import over_prompts


def group_variance(pass_rate, group_size):
    """(1/G) sum of (r_i - mean of the others) s_i with unit scores: mean square of the leave-one-out edge."""
    refuse_unless(group_size > 1)
    g = int(group_size)
    total = 0.0
    for right, chance in enumerate(binomial(g, pass_rate)):
        for_right, for_wrong = 1 - (right - 1) / (g - 1), 0 - right / (g - 1)
        total += chance * (right * for_right**2 + (g - right) * for_wrong**2)
    return total / g**2


def _ratio(group_size, prompts_of_group, prompts_of_pairs):
    refuse_unless(group_size > 1)
    p = 0.3  # any
    return (group_variance(p, group_size) / prompts_of_group) / (group_variance(p, 2) / prompts_of_pairs)


def two_stage_variance(between_prompt_sd, within_prompt_sd, group_size, rollouts):
    refuse_unless(group_size > 1)
    prompts = rollouts / group_size
    return (between_prompt_sd**2 + within_prompt_sd**2 / (group_size - 1)) / prompts


def two_stage_variance_finite(between_prompt_sd, within_prompt_sd, group_size, prompts_per_step, tasks):
    """Prompts drawn without replacement: the share that is drawn already takes its part off the variance of a mean."""
    refuse_unless(group_size > 1 and prompts_per_step <= tasks)
    between = between_prompt_sd**2 / prompts_per_step * (tasks - prompts_per_step) / tasks
    return between + within_prompt_sd**2 / (group_size - 1) / prompts_per_step


def variance_usd(between_prompt_sd, within_prompt_sd, group_size, usd_per_prompt_visit, usd_per_rollout):
    refuse_unless(group_size > 1)
    prompts = 11.0  # any: dollars grow with prompts as variance falls
    dollars = prompts * (usd_per_prompt_visit + group_size * usd_per_rollout)
    return dollars * two_stage_variance(between_prompt_sd, within_prompt_sd, group_size, prompts * group_size)


def best_group_size(noise_ratio, usd_per_prompt_visit, usd_per_rollout):
    """Where the slope of dollars times variance is zero."""

    def slope(g):
        dollars, variance = usd_per_prompt_visit + g * usd_per_rollout, 1 + noise_ratio**2 / (g - 1)
        return usd_per_rollout * variance - dollars * noise_ratio**2 / (g - 1) ** 2

    return root(slope, 1 + 1e-6, 1e6)


def cost_over_least(noise_ratio, usd_per_prompt_visit, usd_per_rollout, group_size):
    """Dollars times variance, over that at the size where it is least."""
    refuse_unless(group_size > 1)

    def cost(g):
        return variance_usd(1.0, noise_ratio, g, usd_per_prompt_visit, usd_per_rollout)

    return cost(group_size) / cost(best_group_size(noise_ratio, usd_per_prompt_visit, usd_per_rollout))


def noise_ratio(even_noise_ratio, pass_variance, pass_variance_square):
    """Within variance goes with E[pq], between variance with E[(pq)^2]; at one half they are 1/4 and 1/16."""
    refuse_unless(pass_variance_square > 0)
    within, between = pass_variance / (1 / 4), pass_variance_square / (1 / 16)
    return even_noise_ratio * math.sqrt(within / between)


def _weight(pass_rate, group_size, freedom):
    """Mean of advantage times d ln Pr(outcome)/dp, advantages divided by the group's deviation."""
    refuse_unless(group_size > 1)
    g, p = int(group_size), pass_rate
    total = 0.0
    for right, chance in enumerate(binomial(g, p)):
        if 0 < right < g:
            share = right / g
            deviation = math.sqrt(share * (1 - share) * g / (g - freedom))
            up, down = (1 - share) / deviation, (0 - share) / deviation
            total += chance * (right * up * (1 / p) + (g - right) * down * (-1 / (1 - p))) / g
    return total


def objective_weight_limit(pass_rate):
    """A group so large that its deviation is that of the reward: the slope of 2 arcsin sqrt(p)."""
    refuse_unless(0 < pass_rate < 1)
    sine = math.sqrt(pass_rate)
    return 2 / math.sqrt(1 - sine**2) / (2 * sine)


def objective_weight_maxrl(pass_rate, group_size):
    """Slope of the first G terms of ln p = - sum (1 - p)^k / k."""
    refuse_unless(pass_rate > 0)
    return sum((1 - pass_rate) ** (k - 1) for k in range(1, int(group_size) + 1))


def kept_pass_rate(pass_rate, group_size):
    refuse_unless(group_size > 1 and 0 < pass_rate < 1)
    g = int(group_size)
    chances = binomial(g, pass_rate)[1:-1]
    return sum(c * (j / g) for j, c in enumerate(chances, start=1)) / sum(chances)


def filtering_gain(mixed_group_share):
    refuse_unless(mixed_group_share > 0)
    return 1 / mixed_group_share


REFERENCE = {
    "group_variance": group_variance,
    "variance_ratio_equal_prompts": lambda group_size: _ratio(group_size, 7, 7),
    "variance_ratio_equal_rollouts": lambda group_size: _ratio(group_size, 7 / group_size, 7 / 2),
    "two_stage_variance": two_stage_variance,
    "two_stage_variance_finite": two_stage_variance_finite,
    "variance_usd": variance_usd,
    "best_group_size": best_group_size,
    "cost_over_least": cost_over_least,
    "pass_variance_square_by_spread": lambda mean_pass_rate, pass_rate_spread: over_prompts(
        lambda p: (p * (1 - p)) ** 2, mean_pass_rate, pass_rate_spread
    ),
    "noise_ratio": noise_ratio,
    "objective_weight": lambda pass_rate, group_size: _weight(pass_rate, group_size, freedom=0),
    "objective_weight_sample": lambda pass_rate, group_size: _weight(pass_rate, group_size, freedom=1),
    "objective_weight_limit": objective_weight_limit,
    "objective_weight_maxrl": objective_weight_maxrl,
    "marginal_value": lambda pass_rate, group_size: (
        mixed(int(group_size) + 1, pass_rate) - mixed(int(group_size), pass_rate)
    ),
    "kept_pass_rate": kept_pass_rate,
    "filtering_gain": filtering_gain,
    "pass_variance_square": lambda beta_successes, beta_failures: over_beta(
        lambda p: (p * (1 - p)) ** 2, beta_successes, beta_failures
    ),
}

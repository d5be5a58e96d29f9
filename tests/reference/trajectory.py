"""Tokens, turns, and lognormal lengths cut at a cap."""

from __future__ import annotations

import math

from tests.reference.core import integral, normal, refuse_unless, root


def survival(length, location, spread, cap):
    """Chance that a response goes on beyond ``length`` tokens."""
    if length >= cap:
        return 0.0
    return 1.0 if length <= 0 else normal.cdf((location - math.log(length)) / spread)


def _stops(location, spread, cap, most=60.0):
    """Lengths between which the integrals are smooth."""
    top = min(cap, math.exp(location + spread * (10 + math.sqrt(2 * math.log(1 + most)))))
    inner = sorted(math.exp(location + spread * z) for z in (-8, -4, -2, 0, 2, 4))
    return [0.0, *(x for x in inner if x < top), top]


def alive_integral(chance, location, spread, cap, most=60.0):
    """Integral over token positions of a function of the chance to be still alive there."""
    stops = _stops(location, spread, cap, most)
    return integral(lambda t: chance(survival(t, location, spread, cap)), *stops)


def with_loops(chance, looping_share, location, spread, cap, most=60.0):
    """The same integral where a share never ends: beyond the last of the others it alone is alive, up to the cap."""
    if looping_share and math.isinf(cap):
        return math.inf
    alive = alive_integral(lambda s: chance(looping_share + (1 - looping_share) * s), location, spread, cap, most)
    rest = cap - _stops(location, spread, cap, most)[-1] if looping_share else 0.0
    return alive + rest * chance(looping_share)


def loop_tokens(looping_share, max_response_tokens):
    return max_response_tokens if looping_share else 0.0


def ended_response_tokens(response_tokens, looping_share, max_response_tokens):
    """The mean of the others, for which the mean of all is the observed one."""
    ended = response_tokens
    if looping_share:
        ended = (response_tokens - looping_share * max_response_tokens) / (1 - looping_share)
    refuse_unless(ended > 0)
    return ended


def mean(location, spread, cap):
    return alive_integral(lambda s: s, location, spread, cap)


def log_length_location(ended_response_tokens, log_length_sd, max_response_tokens):
    refuse_unless(ended_response_tokens < max_response_tokens)
    middle = math.log(ended_response_tokens)
    return root(
        lambda m: math.log(mean(m, log_length_sd, max_response_tokens) / ended_response_tokens), middle - 9, middle + 9
    )


def square_response_tokens(looping_share, log_length_location, log_length_sd, max_response_tokens):
    stops = _stops(log_length_location, log_length_sd, max_response_tokens)
    ended = integral(lambda t: 2 * t * survival(t, log_length_location, log_length_sd, max_response_tokens), *stops)
    return ended + (looping_share * (max_response_tokens**2 - ended) if looping_share else 0.0)


def longest(n, location, spread, cap):
    return alive_integral(lambda s: -math.expm1(n * math.log1p(-s)) if s < 1 else 1.0, location, spread, cap, n)


def longest_response_tokens(started_rollouts, log_length_location, log_length_sd, max_response_tokens):
    return longest(started_rollouts, log_length_location, log_length_sd, max_response_tokens)


def cached_peak(held, location, spread, cap):
    """Largest, over the positions t at which a batch can stand, of the survivors times what each then holds."""

    def total(t):
        return survival(t, location, spread, cap) * (held + t)

    end = min(cap * (1 - 1e-15), math.exp(location + 8 * spread))
    grid = [end * (i / 4000) for i in range(4001)]
    best = max(grid, key=total)
    low, high = max(best - end / 4000, 0.0), min(best + end / 4000, end)
    for _ in range(80):  # the peak is smooth: thirds
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if total(left) < total(right) else (low, right)
    return max(total(low), total(high))


def prefill_tokens(turns, prompt_tokens, response_tokens, tool_tokens_per_turn, prefix_cached):
    """Call by call: what an engine reads that keeps the earlier turns, and one that forgets them."""
    own = response_tokens / turns
    if prefix_cached:
        return prompt_tokens + (turns - 1) * tool_tokens_per_turn
    return sum(prompt_tokens + call * (own + tool_tokens_per_turn) for call in range(int(turns)))


def peak_context_tokens(
    context_tokens,
    continuous_generation,
    prompt_tokens,
    tool_tokens,
    looping_share,
    log_length_location,
    log_length_sd,
    max_response_tokens,
):
    """Room for every loop at its longest, beside the peak of the others."""
    if continuous_generation:
        return context_tokens
    held = prompt_tokens + tool_tokens
    peak = cached_peak(held, log_length_location, log_length_sd, max_response_tokens)
    return peak + (looping_share * (held + max_response_tokens - peak) if looping_share else 0.0)


def training_context_tokens(prompt_tokens, tool_tokens, response_tokens, square_response_tokens):
    """E[length^2] / E[length]: the length of the sequence in which a random token stands."""
    fixed = prompt_tokens + tool_tokens
    variance = square_response_tokens - response_tokens**2
    length = fixed + response_tokens
    return (length**2 + variance) / length


def prefill_ratio(turns, prompt_tokens, new_tokens_per_turn, tool_tokens):
    """Call by call: the context that each reads, over what is new to a cache."""
    again = sum(prompt_tokens + call * new_tokens_per_turn for call in range(int(turns)))
    return again / (prompt_tokens + tool_tokens)


def kept_response_tokens(oversampling, log_length_location, log_length_sd):
    """Mean length below the quantile at which the first n of omega n have ended."""
    end = race_tokens(oversampling, log_length_location, log_length_sd)

    def below(t):
        return t * normal.pdf((math.log(t) - log_length_location) / log_length_sd) / (t * log_length_sd) if t else 0.0

    return oversampling * integral(below, 0, end / 4, end)


def race_tokens(oversampling, log_length_location, log_length_sd):
    return root(
        lambda t: survival(t, log_length_location, log_length_sd, math.inf) - (1 - 1 / oversampling),
        1e-9,
        math.exp(log_length_location + 9 * log_length_sd),
    )


REFERENCE = {
    "race_tokens": race_tokens,
    "kept_response_tokens": kept_response_tokens,
    "blom_tokens": lambda rollouts, log_length_location, log_length_sd: math.exp(
        log_length_location + log_length_sd * normal.inv_cdf((rollouts - 0.375) / (rollouts + 0.25))
    ),
    "rollouts": lambda prompts_per_step, group_size: prompts_per_step * group_size,
    "started_rollouts": lambda rollouts, oversampling: rollouts * oversampling,
    "log_length_sd": lambda response_tokens_cv: math.sqrt(math.log1p(response_tokens_cv**2)),
    "cut_share": lambda looping_share, log_length_location, log_length_sd, max_response_tokens: 1 - (
        1 - looping_share
    ) * (1 - survival(max_response_tokens * (1 - 1e-15), log_length_location, log_length_sd, math.inf)),
    "loop_tokens": loop_tokens,
    "ended_response_tokens": ended_response_tokens,
    "log_length_location": log_length_location,
    "square_response_tokens": square_response_tokens,
    "longest_response_tokens": longest_response_tokens,
    "biased_response_tokens": lambda square_response_tokens, response_tokens: square_response_tokens / response_tokens,
    "tool_tokens": lambda turns, tool_tokens_per_turn: sum([tool_tokens_per_turn] * (int(turns) - 1)),
    "trajectory_tokens": lambda prompt_tokens, response_tokens, tool_tokens: (
        prompt_tokens + response_tokens + tool_tokens
    ),
    "new_tokens_per_turn": lambda response_tokens, turns, tool_tokens_per_turn: (
        (response_tokens + turns * tool_tokens_per_turn) / turns
    ),
    "prefill_tokens": prefill_tokens,
    "decoded_share": lambda response_tokens, trajectory_tokens: response_tokens / trajectory_tokens,
    "prefill_ratio": prefill_ratio,
    "context_tokens": lambda prompt_tokens, tool_tokens, biased_response_tokens: (
        prompt_tokens + (tool_tokens + biased_response_tokens) / 2
    ),
    "peak_context_tokens": peak_context_tokens,
    "training_context_tokens": training_context_tokens,
    "environment_seconds_per_rollout": lambda turns, environment_seconds_per_turn: turns * environment_seconds_per_turn,
    "generated_tokens_per_step": lambda started_rollouts, response_tokens: started_rollouts * response_tokens,
    "processed_tokens_per_step": lambda rollouts, trajectory_tokens: rollouts * trajectory_tokens,
}

"""Tokens, turns, lengths and their tail, environment seconds."""

from __future__ import annotations

import sympy as sp

from rlecon.equation import Equation, cases
from rlecon.special import (
    capped_square,
    length_location,
    longest_tokens,
    normal_cdf,
    normal_quantile,
    peak_tokens,
)
from rlecon.vocabulary import (
    biased_response_tokens,
    blom_tokens,
    context_tokens,
    continuous_generation,
    cut_share,
    decoded_share,
    ended_response_tokens,
    environment_seconds_per_rollout,
    environment_seconds_per_turn,
    generated_tokens_per_step,
    group_size,
    kept_response_tokens,
    log_length_location,
    log_length_sd,
    longest_response_tokens,
    loop_tokens,
    looping_share,
    max_response_tokens,
    new_tokens_per_turn,
    one_token,
    oversampling,
    peak_context_tokens,
    prefill_ratio,
    prefill_tokens,
    prefix_cached,
    processed_tokens_per_step,
    prompt_tokens,
    prompts_per_step,
    race_tokens,
    response_tokens,
    response_tokens_cv,
    rollouts,
    square_response_tokens,
    started_rollouts,
    tool_tokens,
    tool_tokens_per_turn,
    training_context_tokens,
    trajectory_tokens,
    turns,
)

rollouts_equation = Equation(rollouts, prompts_per_step * group_size, "every prompt is tried G times")
started_equation = Equation(
    started_rollouts, oversampling * rollouts, "dynamic sampling discards some of what it starts"
)

# Lengths: lognormal, cut at the cap. The mean is the observed one, after the cut. A share may loop until it is cut.
loop_equation = Equation(
    loop_tokens,
    cases((0, looping_share <= 0), (max_response_tokens, True)),
    "nothing but the cap ends a loop",
)
ended_equation = Equation(
    ended_response_tokens,
    (response_tokens - looping_share * loop_tokens) / (1 - looping_share),
    "the mean is over all responses: what loops take is not left for the others",
    holds_when=[
        (
            ended_response_tokens > 0,
            "a share of {looping_share} that loops up to {loop_tokens} tokens leaves nothing of a mean of "
            "{response_tokens}",
        )
    ],
)
spread_equation = Equation(
    log_length_sd, sp.sqrt(sp.log(1 + response_tokens_cv**2)), "a lognormal's log-sd from its coefficient of variation"
)
location_equation = Equation(
    log_length_location,
    length_location(ended_response_tokens, log_length_sd, max_response_tokens),
    "the location for which the mean, once cut at the cap, is the observed one",
    holds_when=[
        (
            ended_response_tokens < max_response_tokens * (1 + sp.Rational(1, 10**9)),
            "response_tokens: a mean of {ended_response_tokens} tokens cannot exceed the cap of {max_response_tokens} "
            "(max_response_tokens)",
        )
    ],
)
square_equation = Equation(
    square_response_tokens,
    (1 - looping_share) * capped_square(log_length_location, log_length_sd, max_response_tokens)
    + looping_share * loop_tokens**2,
    "second moment of the cut lognormal, and of what loops up to the cap",
)
longest_equation = Equation(
    longest_response_tokens,
    longest_tokens(started_rollouts, log_length_location, log_length_sd, max_response_tokens),
    "E[max] = integral of 1 - cdf^n up to the cap, loops aside",
)
# Beside the bill: what logs call the clip ratio, racing to the first n, and a formula for the back of an envelope.
cut_equation = Equation(
    cut_share,
    looping_share
    + (1 - looping_share)
    * normal_cdf((log_length_location - sp.log(max_response_tokens / one_token)) / log_length_sd),
    "loops, and the tail of the others beyond the cap",
)
race_equation = Equation(
    race_tokens,
    one_token * sp.exp(log_length_location + log_length_sd * normal_quantile(1 / oversampling)),
    "the round ends at a quantile of the lengths, not at their maximum (many rollouts, no cap)",
)
kept_equation = Equation(
    kept_response_tokens,
    one_token
    * oversampling
    * sp.exp(log_length_location + log_length_sd**2 / 2)
    * normal_cdf(normal_quantile(1 / oversampling) - log_length_sd),
    "racing keeps the short answers: the mean of a lognormal below that quantile",
)
blom_equation = Equation(
    blom_tokens,
    one_token
    * sp.exp(
        log_length_location
        + log_length_sd * normal_quantile((rollouts - sp.Rational(3, 8)) / (rollouts + sp.Rational(1, 4)))
    ),
    "the median rank of the largest normal score: 5 to 21 % low for lognormal lengths",
    source="blom1958",
)
biased_equation = Equation(
    biased_response_tokens,
    square_response_tokens / response_tokens,
    "a token drawn at random sits in a long response more often",
)

# One trajectory: T calls, the environment's answers between them, and what each call must prefill.
tool_equation = Equation(tool_tokens, (turns - 1) * tool_tokens_per_turn, "the environment answers between calls")
trajectory_equation = Equation(trajectory_tokens, prompt_tokens + response_tokens + tool_tokens, "all tokens once")
growth_equation = Equation(
    new_tokens_per_turn, response_tokens / turns + tool_tokens_per_turn, "each call adds its own tokens and the answer"
)
prefill_equation = Equation(
    prefill_tokens,
    prefix_cached * (prompt_tokens + tool_tokens)
    + (1 - prefix_cached) * (turns * prompt_tokens + new_tokens_per_turn * turns * (turns - 1) / 2),
    "with a prefix cache only new tokens are prefilled; without it every call reads all that came before",
)
decoded_equation = Equation(
    decoded_share, response_tokens / trajectory_tokens, "the rest is read: the prompt and the answers of tools"
)
cache_equation = Equation(
    prefill_ratio,
    (turns * prompt_tokens + new_tokens_per_turn * turns * (turns - 1) / 2) / (prompt_tokens + tool_tokens),
    "every call reads all that came before, against each token once",
    name="prefill_ratio",
)
context_equation = Equation(
    context_tokens,
    prompt_tokens + tool_tokens / 2 + biased_response_tokens / 2,
    "the length-biased mean: half of the response that a random token belongs to, and half of the answers",
)
peak_equation = Equation(
    peak_context_tokens,
    cases(
        (context_tokens, continuous_generation > 0),
        (
            (1 - looping_share)
            * peak_tokens(prompt_tokens + tool_tokens, log_length_location, log_length_sd, max_response_tokens)
            + looping_share * (prompt_tokens + tool_tokens + loop_tokens),
            True,
        ),
    ),
    "cache that each resident needs room for: a batch grows together while its short answers leave; residents of a "
    "continuous engine are at all stages at once",
)
training_context_equation = Equation(
    training_context_tokens,
    ((prompt_tokens + tool_tokens) ** 2 + 2 * (prompt_tokens + tool_tokens) * response_tokens + square_response_tokens)
    / trajectory_tokens,
    "token-weighted length: E[length^2] / E[length]",
)
environment_equation = Equation(
    environment_seconds_per_rollout, turns * environment_seconds_per_turn, "every turn waits for its environment"
)
generated_equation = Equation(
    generated_tokens_per_step, started_rollouts * response_tokens, "tokens decoded in one step"
)
processed_equation = Equation(processed_tokens_per_step, rollouts * trajectory_tokens, "tokens read by the update")

EQUATIONS = [
    rollouts_equation,
    started_equation,
    spread_equation,
    loop_equation,
    ended_equation,
    location_equation,
    square_equation,
    longest_equation,
    biased_equation,
    tool_equation,
    trajectory_equation,
    growth_equation,
    prefill_equation,
    context_equation,
    peak_equation,
    training_context_equation,
    environment_equation,
    generated_equation,
    processed_equation,
]

"""A stronger model, or a faster one: when it pays."""

from __future__ import annotations

from tests.reference.core import refuse_unless, root


def stronger(pass_rate, odds_ratio):
    odds = odds_ratio * pass_rate / (1 - pass_rate)
    return odds / (1 + odds)


def signal_ratio(pass_rate, odds_ratio):
    """p'q' of the stronger model over pq."""
    better = stronger(pass_rate, odds_ratio)
    return better * (1 - better) / (pass_rate * (1 - pass_rate))


def break_even_pass_rate(odds_ratio, price_ratio):
    refuse_unless(odds_ratio > 1 and odds_ratio > price_ratio)
    return root(lambda p: signal_ratio(p, odds_ratio) - price_ratio, 1e-12, 1 - 1e-12)


def usd_per_signal(response_tokens, usd_per_token, pass_variance):
    refuse_unless(pass_variance > 0)
    return response_tokens * usd_per_token / pass_variance


def speedup_cap(rollout_share):
    refuse_unless(rollout_share < 1)
    return 1 / (1 - rollout_share)


REFERENCE = {
    "stronger_pass_rate": stronger,
    "break_even_price_ratio": signal_ratio,
    "break_even_pass_rate": break_even_pass_rate,
    "usd_per_signal": usd_per_signal,
    "speedup": lambda rollout_share, rollout_speedup, training_speedup: (
        (rollout_share + (1 - rollout_share))
        / (rollout_share / rollout_speedup + (1 - rollout_share) / training_speedup)
    ),
    "speedup_cap": speedup_cap,
    "dollar_gain": lambda speedup, rent_ratio: 1 / (rent_ratio * (1 / speedup)),
}

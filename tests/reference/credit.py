"""Credit: every way in which a chain of decisions can go, weighted by its chance."""

from __future__ import annotations

import math

from tests.reference.core import FLOPS_PER_PARAMETER, chains, refuse_unless, root
from tests.reference.hardness import threshold_information


def chain_snr(turns, step_success, credit, *, ends=False):
    """Squared signal over noise, for one shared parameter and for each step's own, of REINFORCE on a chain.

    Step t has score r_t - rho; its advantage is ``credit(steps, t)``; a chain that ends counts only what it reached.
    """
    turns = int(turns)
    signal, noise = [0.0] * turns, [0.0] * turns
    for chance, steps in chains(turns, step_success):
        for t in range(turns):
            if ends and not all(steps[:t]):
                break
            advantage = credit(steps, t)
            signal[t] += chance * advantage * (steps[t] - step_success)
            noise[t] += chance * advantage**2
    each = [s**2 / n for s, n in zip(signal, noise, strict=True)]
    return sum(signal) ** 2 / sum(noise), each


def _gain(turns, step_success, credit, *, against="terminal", ends=False, shared=True):
    turns, rho = int(turns), step_success
    credits = {
        "own": lambda steps, t: steps[t] - rho,
        "terminal": lambda steps, t: all(steps) - rho**turns,
        "value": lambda steps, t: all(steps) - all(steps[:t]) * rho ** (turns - t),
        "summed": lambda steps, t: sum(steps) - turns * rho,
    }
    one, one_each = chain_snr(turns, rho, credits[credit], ends=ends)
    other, other_each = chain_snr(turns, rho, credits[against], ends=ends)
    if shared:
        return one / other
    return sum(a / b for a, b in zip(one_each, other_each, strict=True)) / turns


def going_on_limit(turns, pass_rate):
    """Many steps: rho q / (p (1 - rho)) with rho = p^(1/N), as N grows, is N times this."""
    refuse_unless(0 < pass_rate < 1)
    return turns * (1 / pass_rate - 1) / -math.log(pass_rate)


def time_exponent(long_tokens, short_tokens, long_seconds, short_seconds):
    refuse_unless(long_seconds != short_seconds)
    return (math.log(long_tokens) - math.log(short_tokens)) / (math.log(long_seconds) - math.log(short_seconds))


def tries_that_end(turns, step_success):
    """Decisions until T successes in a row, every failure starting afresh: sum of rho^-k."""
    return sum(step_success**-k for k in range(1, int(turns) + 1))


def break_even_teacher(credit_gain, rl_flops_per_token):
    refuse_unless(credit_gain >= 1)
    if credit_gain == 1:
        return 0.0
    return root(
        lambda n: _distillation(credit_gain, rl_flops_per_token, n) - 1, 0, 10 * credit_gain * rl_flops_per_token
    )


def _distillation(credit_gain, rl_flops_per_token, teacher_parameters):
    reading = FLOPS_PER_PARAMETER * teacher_parameters
    return (rl_flops_per_token + reading) / rl_flops_per_token / credit_gain


REFERENCE = {
    "dichotomisation_efficiency": threshold_information,
    "horizon_pass_rate": lambda step_success, turns: math.prod([step_success] * int(turns)),
    "horizon_step_success": lambda pass_rate, turns: root(lambda rho: rho**turns - pass_rate, 0, 1),
    "credit_gain_going_on": lambda turns, step_success: _gain(turns, step_success, "own"),
    "credit_gain_going_on_limit": going_on_limit,
    "credit_gain_stopping": lambda turns, step_success: _gain(turns, step_success, "own", ends=True),
    "credit_gain_stopping_value": lambda turns, step_success: _gain(
        turns, step_success, "own", against="value", ends=True
    ),
    "credit_gain_stopping_each": lambda turns, step_success: _gain(turns, step_success, "own", ends=True, shared=False),
    "credit_gain_summed": lambda turns, step_success: _gain(turns, step_success, "summed"),
    "credit_gain_stopping_value_each": lambda turns, step_success: _gain(
        turns, step_success, "own", against="value", ends=True, shared=False
    ),
    "lock_rollouts": lambda actions, turns: math.prod([actions] * int(turns)),
    "shaped_lock_rollouts": lambda actions, turns: sum([actions] * int(turns)),
    "effective_horizon_rollouts": lambda actions, turns, effective_horizon: (
        turns**2 * math.exp(effective_horizon * math.log(actions))
    ),
    "time_exponent": time_exponent,
    "decisions_outcome": lambda turns, step_success: turns * (1 / math.prod([step_success] * int(turns))),
    "decisions_outcome_stopping": tries_that_end,
    "decisions_process": lambda turns, step_success: turns * (1 / step_success),
    "decision_ratio": lambda turns, step_success: step_success / math.prod([step_success] * int(turns)),
    "decision_ratio_stopping": lambda turns, step_success: (
        tries_that_end(turns, step_success) / (turns * (1 / step_success))
    ),
    "distillation_flops_ratio": lambda credit_gain, rl_flops_per_token, teacher_parameters: _distillation(
        credit_gain, rl_flops_per_token, teacher_parameters
    ),
    "break_even_teacher_parameters": break_even_teacher,
}

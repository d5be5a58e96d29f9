"""How far a predicted step may be off: one residual per phase, combined over its share of the step.

The residuals are fitted elsewhere (their values are in the catalogue); here they become the ends of an 80 % interval,
as factors on the middle, in closed form.
"""

from __future__ import annotations

from functools import cache

from rlecon import vocabulary as v
from rlecon.equation import Equation, Model, cases, exponential, root
from rlecon.quantity import REGISTRY

Z80 = REGISTRY["interval_quantile"].value  # an 80 % interval of a normal
_parallel = v.concurrent_streams > 0
_waits_for_training = v.generation_stream_seconds < v.training_stream_seconds
_generating = cases((0, _parallel & _waits_for_training), (v.rollout_seconds, True))
_training = cases(
    (0, _parallel & (v.generation_stream_seconds >= v.training_stream_seconds)), (v.training_stream_seconds, True)
)
_moving = v.weight_sync_seconds + v.reward_seconds

spread_equation = Equation(
    v.step_log_sd,
    root(
        ((_generating * v.rollout_log_sd) ** 2 + (_training * v.update_log_sd) ** 2 + (_moving * v.moving_log_sd) ** 2)
        / v.step_seconds**2
        + v.framework_log_sd**2
        + v.length_log_sd**2
    ),
    "independent residuals of the phases that the step waits for, one that all share, and a guessed length",
)
_rented = v.gpu_usd_per_step / v.usd_per_step


def _money(price, sign):
    share = cases((price * _rented, v.usd_per_step > 0), (0, True))
    return exponential(sign * v.interval_quantile * root(v.step_log_sd**2 + share**2))


time_low_equation = Equation(
    v.time_low_factor, exponential(-v.interval_quantile * v.step_log_sd), "lower end, log-normal"
)
time_high_equation = Equation(
    v.time_high_factor, exponential(v.interval_quantile * v.step_log_sd), "upper end, log-normal"
)
usd_low_equation = Equation(
    v.usd_low_factor, _money(v.price_low_log_sd, -1), "the rent's spread joins where a list price was taken"
)
usd_high_equation = Equation(
    v.usd_high_factor, _money(v.price_high_log_sd, 1), "the rent's spread joins where a list price was taken"
)

EQUATIONS = [spread_equation, time_low_equation, time_high_equation, usd_low_equation, usd_high_equation]


@cache
def ends() -> Model:
    """The ends of the intervals, from the spread of a step and what it costs."""
    return Model([e for e in EQUATIONS if e is not spread_equation], "an interval")

"""The share of responses that loop, from the share that a log says was cut at the cap.

A cap also cuts answers that would have ended: only what is cut beyond that tail loops.
"""

from __future__ import annotations

from rlecon import trajectory as t
from rlecon.equation import Model
from rlecon.errors import RleconError

HALVINGS = 60


def _law() -> Model:
    return Model([t.spread_equation, t.loop_equation, t.ended_equation, t.location_equation, t.cut_equation], "lengths")


def looping_share(cut_share: float, response_tokens: float, max_response_tokens: float, response_tokens_cv: float):
    """The share of looping responses at which lengths with this mean and spread are cut as often as was seen.

    Parameters: ``cut_share`` of responses that ended at the cap; ``response_tokens`` their mean length over all, in
    tokens; ``max_response_tokens`` the cap; ``response_tokens_cv`` standard deviation over mean of the others. Returns
    0 where the tail of the others explains the cuts. Raises RleconError where the mean is too short for so many cuts.
    Source: :data:`rlecon.trajectory.cut_equation`, solved by bisection.

    >>> round(looping_share(0.01, 500, 28672, 0.95), 4)
    0.01
    """
    if not 0 <= cut_share < 1:
        raise RleconError("not a share", field="cut_share", value=cut_share, allowed="from 0 to below 1")
    if cut_share * max_response_tokens >= response_tokens:
        raise RleconError(
            f"a share of {cut_share:.3g} at the cap of {max_response_tokens:g} tokens is more than the mean",
            field="response_tokens", value=response_tokens, unit="token",
        )  # fmt: skip
    law = _law()

    def cut(looping):
        given = {"response_tokens": response_tokens, "max_response_tokens": max_response_tokens,
                 "response_tokens_cv": response_tokens_cv, "looping_share": looping}  # fmt: skip
        return float(law.solve(given, ["cut_share"])["cut_share"])

    if cut(0.0) >= cut_share:
        return 0.0
    low, high = 0.0, cut_share
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if cut(middle) < cut_share else (low, middle)
    return high

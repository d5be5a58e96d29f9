"""Old and wrong policies: what importance weights keep of the rollouts.

Rollouts of an older or a rounded policy are re-weighted by the ratio of two probabilities. The price depends on which
ratio: of a whole sequence (few rollouts are left, no bias), of a token (most are left, bias), or of a sequence
normalized by its length (nearly all are left, bias). Per-token log-ratios are normal and independent here.
"""

from __future__ import annotations

import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.special import normal_cdf

_sd, _L = v.log_ratio_sd, v.ratio_tokens
sequence_equation = Equation(
    v.ess_share,
    sp.exp(-_L * _sd**2),
    "weight of a whole sequence: log-ratios of all its tokens add up",
    name="ess_sequence",
)
token_equation = Equation(v.ess_share, sp.exp(-(_sd**2)), "weight of each token by itself: biased", name="ess_token")
normalized_equation = Equation(
    v.ess_share,
    sp.exp(-(_sd**2) / _L),
    "geometric mean of a sequence's token ratios: biased",
    source="zheng2025gspo",
    name="ess_normalized",
)
_w, _cap = v.weight_log_sd, v.importance_cap
truncation_equation = Equation(
    v.truncation_bias,
    normal_cdf(_w / 2 - sp.log(_cap) / _w) - _cap * normal_cdf(-_w / 2 - sp.log(_cap) / _w),
    "E[(iw - cap)+] of a lognormal weight with mean 1: what truncation takes away",
    source="ionides2008truncated",
)

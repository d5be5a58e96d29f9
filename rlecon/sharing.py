"""Sharing one base model: what an adapter holds, whose bytes are read once for all, and tenants who come and go.

A tenant is a LoRA job: its own adapter on the base model that all share. Active tenants decode together, so that the
base is read once for all of them, and train in turn. GPUs are paid for by all tenants, also while some are away.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.errors import RleconError
from rlecon.vocabulary import bits_per_byte

QUALITY = 0.99  # share of the time that no tenant has to wait for another

capacity_equation = Equation(
    v.capacity_ratio,
    v.adapter_parameters * v.bits_per_parameter / v.supplied_bits,
    "bits that the adapter can store over bits that the rewards of a run can supply",
    source="schulman2025lora",
)
flops_equation = Equation(
    v.lora_flops_ratio,
    (2 * v.matmul_flops_per_token + 3 * v.causal_attention_flops_per_token)
    / (3 * v.matmul_flops_per_token + 3 * v.causal_attention_flops_per_token),
    "frozen weights need no gradient of their own: two of three matrix passes; attention has no weights to freeze",
    source="schulman2025lora",
)

# --- active tenants on one engine ------------------------------------------------------------------------------------
one_adapter_equation = Equation(
    v.adapter_bytes, v.trainable_parameters * v.activation_bits / bits_per_byte, "adapters stay at 16 bits"
)
adapter_equation = Equation(
    v.held_adapter_bytes,
    sp.Piecewise((0, v.tenants <= 1), (v.active_tenants * v.adapter_bytes, True)),
    "a lone adapter is merged into the base; those of tenants cannot be",
    holds_when=[
        (
            (v.tenants <= 1) | (v.full_training <= 0),
            "update.tenants = {tenants}: jobs share a base model only where they train adapters on it "
            "(set model.lora_rank, or leave update.tenants at 1)",
        )
    ],
)
_caches = v.tenant_sequences * v.kv_bytes_per_sequence
gain_equation = Equation(
    v.sharing_gain,
    (v.base_weight_bytes + _caches) / (v.base_weight_bytes / v.active_tenants + v.adapter_bytes + _caches),
    "bytes of a decode step, a merged adapter alone over a shared base: read once for all; caches and adapters are not",
)
limit_equation = Equation(
    v.sharing_limit,
    1 + v.base_weight_bytes / _caches,
    "endlessly many tenants with adapters of no size: what is left is each tenant's own cache",
)
most_equation = Equation(
    v.most_tenants,
    v.tenant_room_bytes / (_caches + v.adapter_bytes),
    "every active tenant needs room for its adapter and its caches",
)
pooling_equation = Equation(
    v.pooling_gain,
    v.tenants / v.active_tenants,
    "a GPU for every tenant, over a GPU for every tenant that is active at once",
)

EQUATIONS = [one_adapter_equation, adapter_equation]


def pooled_gpus(tenants, duty_cycle, quality: float = QUALITY):
    """Tenants active at once that are not exceeded with the given chance: GPUs of a pool where each takes one.

    Parameters: ``tenants`` a whole number, ``duty_cycle`` the share of time that each is active, on its own; both may
    be arrays that broadcast. Returns the quantile of a binomial, exact, and at least 1; the normal approximation is out
    of its range below ten active tenants. Raises RleconError for what is no number of tenants or no share.

    >>> pooled_gpus(20, 0.1)
    6
    """
    count, share = np.asarray(tenants, float), np.asarray(duty_cycle, float)
    if not np.all((count >= 1) & (count == np.floor(count))):
        raise RleconError("not a number of tenants", field="update.tenants", value=tenants, allowed="1, 2, 3, ...")
    for name, value in (("update.duty_cycle", share), ("quality", np.asarray(quality, float))):
        if not np.all((value > 0) & (value <= 1)):
            raise RleconError("not a share", field=name, value=value.tolist(), allowed="above 0 to 1")
    if np.all(count == 1):  # of most runs, and loads nothing
        shape = np.broadcast_shapes(count.shape, share.shape, np.shape(quality))
        return np.ones(shape, int) if shape else 1
    from scipy.special import bdtr, bdtrik  # not scipy.stats: a second to import, and slow on scalars

    above = np.ceil(bdtrik(quality, count, share))
    below = np.maximum(above - 1, 0)
    # rounding can carry the quantile one too far
    enough = bdtr(below, np.asarray(count, int), share) >= quality * (1 - 1e-12)
    found = np.maximum(1, np.where(enough, below, above)).astype(int)
    return int(found) if found.ndim == 0 else found


def pooling_saved(tenants: int, duty_cycles: list[float], quality: float = QUALITY) -> tuple[float, float]:
    """Range of GPUs saved by pooling, over the duty cycles given: a GPU each, over a GPU for each that is active.

    Parameters: ``tenants`` a whole number, ``duty_cycles`` shares of time, ``quality`` the chance that nobody waits.

    >>> [round(x, 2) for x in pooling_saved(20, [0.1, 1.0])]
    [1.0, 3.33]
    """
    gains = [
        float(pooling_equation(tenants=tenants, active_tenants=pooled_gpus(tenants, y, quality))) for y in duty_cycles
    ]
    return min(gains), max(gains)

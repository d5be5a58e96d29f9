"""Sharing one base model: what an adapter can hold, and how many GPUs tenants who come and go need together."""

from __future__ import annotations

from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.errors import RleconError

capacity_equation = Equation(
    v.capacity_ratio,
    v.adapter_parameters * v.bits_per_parameter / v.supplied_bits,
    "bits that the adapter can store over bits that the rewards of a run can supply",
    source="schulman2025lora",
)


def pooled_gpus(tenants: int, duty_cycle: float, quality: float = 0.99) -> int:
    """GPUs that serve ``tenants``, each active a share of the time on one GPU, with the given chance of no queue.

    The quantile of a binomial, exact; the normal approximation is out of its range below ten active tenants.

    >>> pooled_gpus(20, 0.1)
    6
    """
    from scipy.stats import binom

    if int(tenants) != tenants or tenants < 1:
        raise RleconError("not a number of tenants", field="update.tenants", value=tenants, allowed="1, 2, 3, ...")
    for name, share in (("update.duty_cycle", duty_cycle), ("quality", quality)):
        if not 0 < share <= 1:
            raise RleconError("not a share", field=name, value=share, allowed="above 0 to 1")
    return max(1, int(binom.ppf(quality, tenants, duty_cycle)))

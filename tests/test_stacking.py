"""The evidence set: medians of published pairs, and what multiplying them promises."""

import math
import statistics

import pytest

from rlecon import catalog, claims, stacking
from rlecon.errors import RleconError


def test_medians_are_those_of_the_published_pairs():
    gains = stacking.measured_gains()
    assert gains["async"].ends("time") == pytest.approx((0.734, 1.516, 2.77), abs=1e-3)
    assert min(gains["async"].values) < 1  # pairs where it lost are in
    names = ("llama8b", "32b", "30b", "235b", "dsv3")
    ratios = [catalog.measurement(f"nemo_ratio_gb200_h100_{m}").value for m in names]
    assert gains["gpu"].ends("time")[1] == statistics.median(ratios)
    assert gains["gpu"].rent == pytest.approx((1.75, 1.857, 1.946), abs=2e-3)
    assert gains["group"].values[0] == pytest.approx(1 / 0.21)
    assert max(gains["lora"].values) < 1.67  # no lever on the rest alone passes 1 / rollout share


def test_dollars_are_time_over_rent():
    gain = stacking.measured_gains()["gpu"]
    assert gain.ends("usd")[1] == pytest.approx(gain.ends("time")[1] / gain.rent[1])
    assert gain.ends("usd")[0] < 1 < gain.ends("usd")[1]
    with pytest.raises(RleconError, match="kind"):
        gain.ends("hours")


def test_products():
    time, usd = (stacking.multiplied(stacking.FIRST, kind) for kind in ("time", "usd"))
    assert time[1] == pytest.approx(3.8, rel=0.03) and usd[1] == pytest.approx(2.0, rel=0.03)
    with_all = stacking.multiplied(stacking.ALL_BUT_GROUP, "time")[1]
    assert with_all / time[1] == pytest.approx(math.prod(stacking.measured_gains()[n].ends("time")[1]
                                                          for n in ("lora", "moe")))  # fmt: skip
    with pytest.raises(RleconError, match="lever"):
        stacking.multiplied(("asink",), "time")


def test_the_claim_is_not_reached():
    found = {s.claim.id: s for s in claims.ledger("stack")}
    low, high = found["M42"].value
    assert high < found["M42"].claim.claimed[0] and low < high
    assert found["M42"].relation == "below"
    assert found["M35"].value == pytest.approx((1 / 0.3, 10))

"""Responses that grow: exact sums over short runs, limits, arrays, and refusals."""

import numpy as np
import pytest

from rlecon import Run, bill
from rlecon.errors import RleconError
from rlecon.growth import CAP_SHARE, lengths
from tests.test_pricing import run


def totals(made):
    return np.array([made["gpu_hours_run"], made["usd_run"], made["environment_usd_run"]], float)


AGENT = {"rollout__turns": 10, "rollout__environment_seconds_per_turn": 5.0, "rollout__response_tokens": 3000.0}


def test_a_short_run_is_the_sum_of_its_steps():
    growing = run(**AGENT, run__steps=12.0, run__response_growth_per_step=0.03, run__attempts=2.0)
    one = run(**AGENT, run__steps=1.0, run__attempts=2.0)
    each = [totals(bill(one.replace({"rollout.response_tokens": 3000 * 1.03**t}))) for t in range(12)]
    assert totals(bill(growing)) == pytest.approx(sum(each), rel=1e-9)


def test_a_long_run_is_sampled_finely_enough():
    growing = run(run__steps=300.0, run__response_growth_per_step=0.001, rollout__response_tokens=3000.0)
    at = np.arange(300)
    exact = bill(run(rollout__response_tokens=lengths(growing, at), run__steps=1.0))["gpu_hours_per_step"].sum()
    assert bill(growing)["gpu_hours_run"] == pytest.approx(exact, rel=1e-3)


def test_no_growth_is_the_plain_bill_and_the_first_step_stays_as_it_is():
    plain, growing = bill(run()), bill(run(run__response_growth_per_step=0.002))
    assert growing["usd_per_step"] == plain["usd_per_step"] and growing["usd_run"] > plain["usd_run"]
    tiny = bill(run(run__response_growth_per_step=1e-9))
    assert tiny["usd_run"] == pytest.approx(plain["usd_run"], rel=1e-6)
    assert bill(run(run__response_growth_per_step=-0.002))["usd_run"] < plain["usd_run"]
    assert any("Responses grow" in w for w in growing.warnings)
    assert not any("growth" in w for w in growing.not_modeled)


def test_lengths_stop_below_the_cap():
    grown = lengths(run(run__response_growth_per_step=0.05), np.array([0, 1, 1000]))
    assert grown == pytest.approx([4000, 4200, CAP_SHARE * 8192])


def test_arrays_and_missing_steps():
    base = run(run__response_growth_per_step=0.002)
    many = bill(base.replace({"rollout.response_tokens": np.array([2000.0, 4000.0]), "hardware.gpus": [64, 64]}))
    alone = [bill(base.replace({"rollout.response_tokens": x}))["usd_run"] for x in (2000.0, 4000.0)]
    assert many["usd_run"] == pytest.approx(alone, rel=1e-9)
    slopes = bill(run(run__response_growth_per_step=np.array([0.0, 0.002])))["usd_run"]
    assert slopes[0] == pytest.approx(bill(run())["usd_run"]) and slopes[1] == pytest.approx(bill(base)["usd_run"])
    endless = bill(base.replace({"run.steps": None}))
    assert endless.usd_run.mid is None and any("only the first step" in w for w in endless.warnings)


def test_growth_beyond_memory_or_below_nothing_is_refused():
    uncapped = run(rollout__max_response_tokens=None, run__response_growth_per_step=0.05)
    with pytest.raises(RleconError, match="beyond what this run can hold"):
        bill(uncapped)
    with pytest.raises(RleconError, match="run.response_growth_per_step"):
        bill(run(run__response_growth_per_step=-1.0))
    assert isinstance(uncapped, Run)

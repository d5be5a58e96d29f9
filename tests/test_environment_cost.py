"""Environments: published sums, the optimum by search and by simulation, and when training pays."""

import numpy as np
import pytest

from rlecon import catalog
from rlecon import environment_cost as e
from rlecon.errors import RleconError


def test_published_figures():
    built = catalog.measurement("openswe_build")
    each = e.task_equation(
        pipeline_usd=built.value[0], attempted_tasks=built.parts["environments"], usd_per_attempted_task=0,
        valid_task_share=1, mixed_task_share=1,
    )  # fmt: skip
    assert each == pytest.approx(19.7, abs=0.05)
    rollout = 9216 * 2.5 / 102_400
    assert rollout == pytest.approx(0.225)
    rule = e.reuse_equation(noise_ratio=1.0, usd_per_usable_task=each, usd_per_rollout=rollout)
    assert rule == pytest.approx(9.35, abs=0.05)
    assert 102_400 / 4500 / rule == pytest.approx(2.4, abs=0.05)
    for runs, share in ((1, 0.79), (5, 0.43)):
        cost = e.share_equation(usd_per_usable_task=each, tasks=4500, runs=runs)
        assert e.build_share_equation(task_usd_per_run=cost, run_bill_usd=9216 * 2.5) == pytest.approx(share, abs=0.006)


def test_shares_raise_the_price_of_a_task():
    values = {"pipeline_usd": 1e5, "attempted_tasks": 1e4, "usd_per_attempted_task": 10}
    one = e.task_equation(**values, valid_task_share=1, mixed_task_share=1)
    assert one == pytest.approx(20)
    assert e.task_equation(**values, valid_task_share=0.317, mixed_task_share=0.5) == pytest.approx(20 / 0.317 / 0.5)


@pytest.mark.parametrize("ratio, task, rollout", [(2.4, 19.7, 0.225), (1.0, 1.0, 1.0), (4.0, 100.0, 0.05)])
def test_old_tasks_or_new_ones_by_search(ratio, task, rollout):
    budget = 1e5
    tasks = np.geomspace(1, budget / task * 0.999, 20_001)
    rollouts = (budget - task * tasks) / rollout
    variance = e.distribution_equation(between_prompt_sd=1, within_prompt_sd=ratio, tasks=tasks, rollouts=rollouts)
    best = np.argmin(variance)
    want = e.reuse_equation(noise_ratio=ratio, usd_per_usable_task=task, usd_per_rollout=rollout)
    assert rollouts[best] / tasks[best] == pytest.approx(want, rel=0.01)
    wrong = ratio * task / rollout  # without the root
    assert task == rollout or rollouts[best] / tasks[best] != pytest.approx(wrong, rel=0.3)


def test_variance_of_two_stages_by_simulation():
    rng = np.random.default_rng(1)
    tasks, each, repeats = 20, 6, 20_000
    means = 0.5 * rng.standard_normal((repeats, tasks))
    got = (means + rng.standard_normal((repeats, tasks, each)).mean(axis=2)).mean(axis=1).var()
    want = e.distribution_equation(between_prompt_sd=0.5, within_prompt_sd=1, tasks=tasks, rollouts=tasks * each)
    assert got == pytest.approx(want, rel=4 * np.sqrt(2 / repeats))
    floor = e.distribution_equation(between_prompt_sd=0.5, within_prompt_sd=1, tasks=tasks, rollouts=1e12)
    assert floor == pytest.approx(0.25 / tasks)


def test_training_against_sampling():
    assert e.samples_equation(start_pass_rate=0.23, target_pass_rate=0.42) == pytest.approx(2.08, abs=0.005)
    serving = e.serving_equation(usd_run=294_000, extra_tokens=11_000, served_token_usd=2.19e-6)
    assert serving == pytest.approx(1.2e7, rel=0.02)
    values = {"usd_run": 23_040, "response_tokens": 10_000, "served_token_usd": 2e-6, "equivalent_samples": 2.08}
    even = e.sampling_equation(**values, extra_tokens=0)
    assert even * 1.08 * 10_000 * 2e-6 == pytest.approx(23_040)
    with pytest.raises(RleconError, match="never pays"):
        e.sampling_equation(**values, extra_tokens=11_000)


def test_equivalent_samples_by_simulation():
    rng = np.random.default_rng(2)
    tries = rng.random((200_000, 2)) < 0.23
    got = tries.any(axis=1).mean()
    assert e.samples_equation(start_pass_rate=0.23, target_pass_rate=got) == pytest.approx(2, abs=0.03)

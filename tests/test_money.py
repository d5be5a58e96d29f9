"""What a cheaper fleet for rollouts saves."""

from __future__ import annotations

import pytest

from rlecon import money


def test_half_the_price_on_four_fifths_of_the_bill_saves_two_fifths():
    assert float(money.fleet_equation(rollout_share=0.8, fleet_price_ratio=0.5)) == pytest.approx(0.4)


def test_a_free_fleet_saves_the_share_and_an_equal_price_saves_nothing():
    assert float(money.fleet_equation(rollout_share=0.37, fleet_price_ratio=0)) == pytest.approx(0.37)
    assert float(money.fleet_equation(rollout_share=0.37, fleet_price_ratio=1)) == 0


# --- the identity: dollars of a lesson as a product of factors --------------------------------------------------------


@pytest.fixture(scope="module")
def run_bill():
    from rlecon import Run, bill

    run = Run(
        model={"name": "qwen3-8b"},
        hardware={"gpu": "h100-sxm", "gpus": 64, "usd_per_gpu_hour": 2.5},
        rollout={"prompts_per_step": 256, "group_size": 8, "response_tokens": 4000, "max_response_tokens": 8192},
        reward={"pass_rate": 0.3},
        run={"steps": 200},
    )
    return bill(run)


def check_lessons(found, whole):
    """Prices of a bit and of a unit of signal are those of the bill."""
    assert float(found["usd_per_bit"]) == pytest.approx(float(whole["usd_per_bit"]), rel=1e-12)
    signal = float(whole["usd_per_step"]) / float(whole["signal_per_step"])
    assert float(found["usd_per_signal"]) == pytest.approx(signal, rel=1e-12)


def test_the_factors_multiply_to_the_bill_of_a_run_without_sandboxes(run_bill):
    from rlecon.equation import Model

    inputs = {name: run_bill[name] for name in Model(money.LESSON).inputs()}
    found = Model(money.LESSON).solve(inputs)
    assert float(found["usd_per_token"]) == pytest.approx(float(run_bill["usd_per_token"]), rel=1e-12)
    check_lessons(found, run_bill)


SANDBOXES = {"rollout.turns": 4, "rollout.environment_seconds_per_turn": 30.0, "rollout.environment_cpus": 4.0}
SHARED = {"model.lora_rank": 32, "update.tenants": 4}


@pytest.mark.parametrize(("changes", "words"), [(SANDBOXES, "sandboxes cost"), (SHARED, "split the rent")])
def test_rent_times_time_is_no_price_where_others_are_paid_or_pay(run_bill, changes, words):
    """The equation refuses; from the token's whole price the other factors hold as before."""
    from rlecon import bill
    from rlecon.equation import Model
    from rlecon.errors import RleconError

    other = bill(run_bill.run.replace(changes))
    inputs = {name: other[name] for name in Model(money.LESSON).inputs()}
    seconds = other["gpus"] * other["step_seconds"] / other["generated_tokens_per_step"]
    rent = inputs["usd_per_gpu_hour"] / 3600 * seconds
    assert abs(float(rent / other["usd_per_token"]) - 1) > 0.01
    with pytest.raises(RleconError, match=words):
        Model(money.LESSON).solve(inputs)
    rest = Model([e for e in money.LESSON if e is not money.token_price_equation])
    check_lessons(rest.solve({name: other[name] for name in rest.inputs()}), other)


def test_the_factors_at_values_worked_out_by_hand():
    # 3.60 dollars an hour is a tenth of a cent a second; 2 ms per token, 1000 tokens: 2 s of GPU, 0.2 cents a rollout.
    alone = {"environment_usd_per_step": 0, "tenants": 1, "duty_cycle": 1}
    token = float(money.token_price_equation(usd_per_gpu_hour=3.6, gpu_seconds_per_token=0.002, **alone))
    assert token == pytest.approx(2e-6)
    rollout = float(money.rollout_price_equation(usd_per_token=token, response_tokens=1000))
    assert rollout == pytest.approx(0.002)
    wait = float(money.bit_wait_equation(started_rollouts=100, bits_per_step=50))
    assert wait == 2
    assert float(money.signal_wait_equation(started_rollouts=96, signal_per_step=12)) == 8
    assert float(money.bit_price_equation(usd_per_rollout=rollout, rollouts_per_bit=wait)) == pytest.approx(0.004)
    assert float(money.signal_price_equation(usd_per_rollout=rollout, rollouts_per_signal=8)) == pytest.approx(0.016)
    assert float(
        money.gpu_time_equation(gpus=64, step_seconds=100, generated_tokens_per_step=3.2e6)
    ) == pytest.approx(0.002)


def test_a_reward_that_is_known_beforehand_has_no_price_per_bit():
    from rlecon.errors import RleconError

    with pytest.raises(RleconError, match="no signal"):
        money.signal_wait_equation(started_rollouts=8, signal_per_step=0.0)
    with pytest.raises(RleconError, match="known beforehand"):
        money.bit_wait_equation(started_rollouts=8, bits_per_step=0.0)


def test_the_price_of_a_token_does_not_move_with_the_pass_rate(run_bill):
    from rlecon import bill

    other = bill(run_bill.run.replace({"reward.pass_rate": 0.01}))
    assert float(other["usd_per_token"]) == float(run_bill["usd_per_token"])
    assert float(other["usd_per_bit"]) > 5 * float(run_bill["usd_per_bit"])

"""Shares of a step's time, against values and limits that do not come from the equation."""

from __future__ import annotations

import numpy as np
import pytest

from rlecon import Run, bill, catalog, step

TRAINED = {"train_mfu": 0.4, "scoring_passes": 0, "backward_passes": 3}


@pytest.mark.parametrize(("decode_mfu", "percent"), [(0.10, 57), (0.05, 73), (0.02, 87)])
def test_share_of_rollouts_by_utilisation(decode_mfu, percent):
    share = step.utilisation_share_equation(decode_mfu=decode_mfu, **TRAINED)
    assert round(100 * float(share)) == percent


def test_share_equals_the_time_of_each_pass_added_up():
    rng = np.random.default_rng(7)
    for _ in range(50):
        decode, train = rng.uniform(0.005, 0.3), rng.uniform(0.02, 0.5)
        scoring, backward = rng.integers(0, 3), rng.integers(2, 4)
        write = 2.0 / decode  # FLOPs per parameter and token, over the utilisation
        learn = sum(2.0 / train for _ in range(scoring + backward))
        share = step.utilisation_share_equation(
            decode_mfu=decode, train_mfu=train, scoring_passes=scoring, backward_passes=backward
        )
        assert float(share) == pytest.approx(write / (write + learn), rel=1e-12)


def test_equal_utilisations_leave_a_quarter():
    assert float(step.utilisation_share_equation(decode_mfu=0.3, **TRAINED | {"train_mfu": 0.3})) == pytest.approx(0.25)


def test_a_wrong_count_of_passes_is_noticed():
    share = float(step.utilisation_share_equation(decode_mfu=0.02, **TRAINED | {"backward_passes": 2}))
    assert round(100 * share) != 87


# --- environments and containers --------------------------------------------------------------------------------------

AGENTS = {"model": {"name": "qwen3-8b"}, "reward": {"pass_rate": 0.3}, "run": {"steps": 1}}


def agents(gpus=16, **rollout):
    from rlecon import Run, bill

    rollout = {
        "prompts_per_step": 64, "group_size": 8, "prompt_tokens": 2000, "response_tokens": 8000,
        "response_tokens_cv": 0.8, "max_response_tokens": 65536, "turns": 30, "tool_tokens_per_turn": 100,
        "environment_seconds_per_turn": 4.0, **rollout,
    }  # fmt: skip
    hardware = {"gpu": "h100-sxm", "gpus": gpus, "usd_per_gpu_hour": 2.5}
    return bill(Run(hardware=hardware, rollout=rollout, **AGENTS))


@pytest.mark.parametrize(
    ("gpus", "turns", "seconds", "cv"), [(64, 30, 4.0, 0.8), (16, 30, 4.0, 0.8), (16, 30, 20.0, 0.5), (8, 10, 5.0, 0.5)]
)
def test_a_batch_of_agents_against_discrete_events(gpus, turns, seconds, cv):
    from rlecon import simulate

    b = agents(gpus, turns=turns, environment_seconds_per_turn=seconds, response_tokens_cv=cv)
    end, life = simulate.agent_batch(
        np.random.default_rng(5), round(float(b["sequences_per_engine"])), float(b["log_length_location"]),
        float(b["log_length_sd"]), 65536, turns=turns, environment_seconds=seconds,
        fixed_seconds=float(b["fixed_step_seconds"] + b["dense_read_seconds"]),
        slope_seconds=float(b["slope_seconds"]), resident_limit=int(b["resident_sequences"]), engines=gpus, repeats=12,
    )  # fmt: skip
    prefill = float(b["sequences_per_engine"] * b["prefill_seconds_per_sequence"])
    told = float(b["rollout_seconds"] + b["environment_seconds"]) - prefill
    assert told == pytest.approx(end[0], rel=0.1, abs=3 * end[1])
    lives = float(b["container_seconds_per_rollout"]) - float(
        b["prefill_seconds_per_sequence"] * b["decoding_sequences"]
    )
    assert lives == pytest.approx(life[0], rel=0.15, abs=3 * life[1])
    # What an equation with the mean number of turns says is far off where lengths vary.
    assert float(b["rollout_seconds"]) - prefill + turns * seconds < end[0] - 3 * end[1]


def test_one_turn_waits_once_and_equal_lengths_wait_for_their_turns():
    one = agents(64, turns=1, environment_seconds_per_turn=60.0)
    assert float(one["environment_seconds"]) == pytest.approx(60.0)
    even = agents(64, response_tokens_cv=0.0, turns=30, environment_seconds_per_turn=4.0)
    assert float(even["environment_seconds"]) == pytest.approx(120.0, rel=1e-6)
    assert float(agents(64, environment_seconds_per_turn=0.0)["environment_seconds"]) == 0


def test_containers_of_a_continuous_engine_obey_littles_law():
    from rlecon import Run, bill, step

    run = Run(
        hardware={"gpu": "h100-sxm", "gpus": 32, "rollout_gpus": 16, "usd_per_gpu_hour": 2.5},
        update={"overlap": "full", "staleness_steps": 2},
        rollout={"prompts_per_step": 64, "group_size": 8, "prompt_tokens": 2000, "response_tokens": 8000, "turns": 30,
                 "max_response_tokens": 65536, "environment_seconds_per_turn": 4.0, "environment_cpus": 2},
        **AGENTS,
    )  # fmt: skip
    b = bill(run)
    life = float(b["container_seconds_per_rollout"])
    assert life == pytest.approx(float(b["decode_seconds_per_sequence"]) + 120.0, rel=1e-9)
    alive = float(step.containers_equation(engines=b["engines"], resident_sequences=b["resident_sequences"]))
    assert alive == pytest.approx(life * float(b["started_rollouts"]) / float(b["rollout_seconds"]), rel=1e-9)
    assert float(b["environment_cpu_seconds"]) == pytest.approx(512 * 2 * life, rel=1e-12)
    usd = step.environment_rollout_usd_equation(
        environment_cpus=2, container_seconds_per_rollout=3600, usd_per_cpu_hour=0.06
    )
    assert float(usd) == pytest.approx(0.12)
    assert 0 < float(step.container_use_equation(
        environment_seconds_per_rollout=120.0, container_seconds_per_rollout=life)) < 1


# --- phases composed --------------------------------------------------------------------------------------------------
RUN = {
    "model": {"name": "qwen3-8b"},
    "rollout": {"prompts_per_step": 64, "group_size": 8, "prompt_tokens": 256, "response_tokens": 1500,
                "max_response_tokens": 4096},
}  # fmt: skip


def step_of(gpus=32, pool=0, **update):
    return bill(Run(**RUN, hardware={"gpu": "h100-sxm", "gpus": gpus, "rollout_gpus": pool}, update=update))


def parts(made):
    return made["weight_sync_seconds"] + made["overhead_seconds"]


def test_phases_in_turn_add_up():
    made = step_of()
    whole = made["rollout_seconds"] + made["training_stream_seconds"] + parts(made)
    assert made["step_seconds"] == pytest.approx(whole)
    assert made["idle_seconds"] == 0


def test_two_streams_take_the_longer():
    made = step_of(pool=16, overlap="one_step", staleness_steps=1)
    longer = max(made["rollout_seconds"], made["training_stream_seconds"])
    assert made["step_seconds"] == pytest.approx(longer + parts(made))
    shorter = min(made["rollout_seconds"], made["training_stream_seconds"])
    assert made["idle_seconds"] == pytest.approx((longer - shorter) / 2)


def test_transfers_move_two_bytes_per_parameter():
    """Two ways in one pool, one way into a pool of its own, half of it hidden where streams overlap."""
    rate = catalog.constant("weight_sync_bytes_per_second").value
    once = 2 * catalog.model("qwen3-8b").total_parameters / rate
    hidden = catalog.constant("overlapped_sync_share").value
    assert step_of()["weight_sync_seconds"] == pytest.approx(2 * once)
    assert step_of(pool=16)["weight_sync_seconds"] == pytest.approx(once)
    assert step_of(pool=16, overlap="one_step")["weight_sync_seconds"] == pytest.approx(hidden * once)


def test_overhead_that_stays_where_nothing_switches():
    whole, share = (catalog.constant(n).value for n in ("step_overhead_seconds", "overlapped_overhead_share"))
    assert step_of(pool=16)["overhead_seconds"] == pytest.approx(whole)
    assert step_of(pool=16, overlap="full")["overhead_seconds"] == pytest.approx(share * whole)


def test_trainers_of_one_pool_pay_for_it():
    factor = catalog.constant("colocation_factor").value
    one, own = step_of(16), step_of(32, 16)
    assert one["update_compute_seconds"] == pytest.approx(factor * own["update_compute_seconds"])


def test_the_error_of_a_step_weights_its_phases():
    made = step_of()
    sd = {n: catalog.constant(f"residual_log_sd_{n}").value for n in ("rollout", "update", "moving", "framework")}
    rollout, training = made["rollout_seconds"], made["training_stream_seconds"]
    squares = (rollout * sd["rollout"]) ** 2 + (training * sd["update"]) ** 2 + (parts(made) * sd["moving"]) ** 2
    want = np.sqrt(squares / made["step_seconds"] ** 2 + sd["framework"] ** 2)
    assert made.log_sd == pytest.approx(want)
    figure = made.step_seconds
    assert np.log(figure.high / figure.mid) == pytest.approx(1.2815515655 * want)
    assert np.log(figure.mid / figure.low) == pytest.approx(1.2815515655 * want)


def test_a_guessed_length_widens_the_interval_and_moves_nothing():
    run = Run(**RUN, hardware={"gpu": "h100-sxm", "gpus": 16})
    known, guessed = bill(run), bill(run.replace({"rollout.response_tokens_guessed": True}))
    added = catalog.constant("residual_log_sd_length_prior").value
    assert guessed.log_sd == pytest.approx(np.hypot(known.log_sd, added))
    assert guessed["step_seconds"] == known["step_seconds"]
    both = bill(run.replace({"rollout.response_tokens_guessed": np.array([False, True])}))
    assert both.log_sd == pytest.approx([known.log_sd, guessed.log_sd])


def test_only_the_longer_stream_errs():
    made = step_of(pool=30, overlap="one_step")
    assert made["training_stream_seconds"] > made["rollout_seconds"]
    sd = {n: catalog.constant(f"residual_log_sd_{n}").value for n in ("update", "moving", "framework")}
    squares = (made["training_stream_seconds"] * sd["update"]) ** 2 + (parts(made) * sd["moving"]) ** 2
    assert made.log_sd == pytest.approx(np.sqrt(squares / made["step_seconds"] ** 2 + sd["framework"] ** 2))


def test_figures_without_their_interval_when_only_some_outputs_are_asked_for():
    run = Run(**RUN, hardware={"gpu": "h100-sxm", "gpus": 32})
    figure = bill(run, outputs=["step_seconds"]).step_seconds
    assert figure.low is None
    assert figure.mid == step_of()["step_seconds"]


def test_one_agent_alone_takes_its_tokens_and_its_waits():
    from rlecon import simulate

    end, life = simulate.agent_batch(
        np.random.default_rng(1), 1, np.log(1000.0), 1e-9, turns=5, environment_seconds=lambda _: 7.0,
        fixed_seconds=0.01, slope_seconds=0.002, repeats=3,
    )  # fmt: skip
    assert end[0] == pytest.approx(1000 * 0.012 + 5 * 7.0, rel=1e-6)
    assert life[0] == pytest.approx(end[0], rel=1e-12)


def test_a_timeout_cuts_hanging_calls_and_places_limit_who_runs():
    from rlecon import simulate

    common = {"turns": 5, "environment_seconds": lambda _: np.inf, "fixed_seconds": 0.01, "repeats": 3}
    rng = np.random.default_rng(1)
    cut, _ = simulate.agent_batch(rng, 4, np.log(1000.0), 1e-9, timeout=30.0, **common)
    assert cut[0] == pytest.approx(1000 * 0.01 + 5 * 30.0, rel=1e-6)
    queued, life = simulate.agent_batch(rng, 4, np.log(1000.0), 1e-9, timeout=30.0, resident_limit=2, **common)
    assert queued[0] == pytest.approx(2 * cut[0], rel=1e-6)
    assert life[0] == pytest.approx(cut[0], rel=1e-6)

"""The update: exact counts, limits, and what each switch adds."""

from __future__ import annotations

import pytest

from rlecon import Run, bill, catalog, phases, training

RUN = {
    "model": {"name": "qwen3-8b"},
    "hardware": {"gpu": "h100-sxm", "gpus": 16},
    "rollout": {"prompts_per_step": 64, "group_size": 8, "prompt_tokens": 256, "response_tokens": 1000,
                "response_tokens_cv": 0.0, "max_response_tokens": 4096},
}  # fmt: skip


def solved(model="qwen3-8b", sequence=4096, **settings):
    return phases.trainer().solve(phases.train_quantities(model, "h100-sxm", 8, 1e6, sequence, **settings))


def test_two_flops_per_parameter_and_half_the_context():
    arch = catalog.model("qwen3-8b")
    v = solved()
    assert v["matmul_flops_per_token"] == 2 * arch.active_parameters_matmul
    assert v["causal_attention_flops_per_token"] == 4 * 36 * 32 * 128 * 4096 / 2
    assert v["model_flops"] == pytest.approx(3e6 * v["forward_flops_per_token"])


@pytest.mark.parametrize(("rank", "recompute", "passes"), [(0, False, 3), (0, True, 4), (16, False, 2), (16, True, 3)])
def test_passes(rank, recompute, passes):
    v = solved(lora_rank=rank, activation_recompute=recompute)
    assert v["backward_passes"] == passes
    assert v["attention_passes"] == 3 + recompute


def test_windows_bound_attention():
    long, longer = (solved("gpt-oss-20b", s)["causal_attention_flops_per_token"] for s in (8192, 16_384))
    assert longer < 2 * long


def test_attention_keeps_its_precision():
    """At eight bits matrix products get faster; attention does not."""
    sixteen, eight = (solved(sequence=65_536, train_bits=b)["update_compute_seconds"] for b in (16, 8))
    short16, short8 = (solved(sequence=16, train_bits=b)["update_compute_seconds"] for b in (16, 8))
    assert short16 / short8 == pytest.approx(2, rel=0.01)
    assert sixteen / eight < 1.4


def test_dispatch_moves_routed_activations():
    v = solved("qwen3-30b-a3b")
    routed = 1e6 * 48 * 8 * 2048
    want = routed * catalog.constant("moe_dispatch_bytes").value / (8 * 450e9)
    assert v["dispatch_seconds_per_pass"] == pytest.approx(want)
    assert solved()["dispatch_seconds_per_pass"] == 0


def test_measured_utilisation_replaces_the_model():
    made = bill(Run(**RUN, update={"measured_mfu": 0.25}))
    assert made["train_mfu"] == pytest.approx(0.25)


def test_scoring_passes_are_forward_passes():
    made = bill(Run(**RUN, update={"reference_model": True}))
    assert made["reference_seconds"] == made["old_logprobs_seconds"] == made["logprob_seconds"]
    # a dense model: the update is four forward passes (three and one recomputed) and the optimizer
    assert made["update_seconds"] - made["optimizer_seconds"] == pytest.approx(4 * made["logprob_seconds"])


def test_a_critic_doubles_the_update():
    one, two = (bill(Run(**RUN, update={"critic": c})) for c in (False, True))
    assert two["update_seconds"] == pytest.approx(2 * one["update_seconds"])


def test_epochs_and_minibatches():
    one = bill(Run(**RUN))
    two = bill(Run(**RUN, update={"epochs": 2, "minibatches": 4}))
    assert two["update_compute_seconds"] == pytest.approx(2 * one["update_compute_seconds"])
    assert two["optimizer_seconds"] == pytest.approx(8 * one["optimizer_seconds"])


def test_state_of_adam_is_sixteen_bytes_per_parameter():
    made = bill(Run(**RUN))
    assert made["update_state_bytes_per_gpu"] == pytest.approx(16 * made["total_parameters"] / 16)


def test_units():
    for equation in training.EQUATIONS:
        equation.check_units()


def test_a_critic_doubles_the_state_and_a_reference_adds_its_weights():
    made = {c: bill(Run(**RUN, update=dict.fromkeys(c, True))) for c in ((), ("critic",), ("reference_model",))}
    one, critic, reference = (x["update_state_bytes_per_gpu"] for x in made.values())
    assert critic == pytest.approx(2 * one)
    assert reference - one == pytest.approx(2 * made[()]["total_parameters"] / 16)
    lora = [bill(Run(**{**RUN, "model": {**RUN["model"], "lora_rank": 8}}, update={"reference_model": r}))
            for r in (False, True)]  # fmt: skip
    assert lora[0]["update_state_bytes_per_gpu"] == lora[1]["update_state_bytes_per_gpu"]

"""A judge or teacher: two FLOPs per parameter and token read, its own decoding, its own GPUs, refusals."""

import pytest

from rlecon import bill, catalog
from rlecon.errors import RleconError
from rlecon.phases import decode
from tests.test_pricing import run


def judged(**more):
    return bill(run(judge__name="qwen3-32b", **more))


def test_reading_is_two_flops_per_parameter_for_short_texts():
    arch, gpu = catalog.model("qwen3-32b"), catalog.gpu("h100-sxm")
    rate = catalog.constant("compute_efficiency").value * gpu.dense_bf16_flops_per_second * 64
    short = {"rollout__response_tokens": 90.0, "rollout__prompt_tokens": 10.0, "rollout__max_response_tokens": 200.0}
    plain = 2048 * 100 * 2 * arch.active_parameters_matmul / rate
    assert judged(**short)["judge_seconds"] == pytest.approx(plain, rel=0.01)
    # attention is the rest: half of the trajectory on average
    attention = 2048 * 4512**2 / 2 * arch.attention_flops_per_context_token_training / rate
    long = 2048 * 4512 * 2 * arch.active_parameters_matmul / rate + attention
    assert judged()["judge_seconds"] == pytest.approx(long, rel=1e-9)


def test_it_joins_the_step_and_the_reward_phase():
    plain, made = bill(run()), judged()
    assert made["step_seconds"] - plain["step_seconds"] == pytest.approx(made["judge_seconds"])
    assert made.phases["reward"] - plain.phases["reward"] == pytest.approx(made["judge_seconds"])
    assert sum(map(float, made.phases.values())) == pytest.approx(float(made["step_seconds"]))
    assert made.to_dict()["run"]["judge.name"] == {"value": "qwen3-32b", "from": "changed"}
    assert not any("judge" in line for line in made.not_modeled)


def test_the_screen_names_it():
    from rlecon import report

    assert "reward model, switching" in report.estimate(judged())
    assert "teacher model, switching" in report.estimate(judged(judge__role="teacher", model__algorithm="distillation"))
    assert "model, switching" not in report.estimate(bill(run()))


def test_writing_is_decoded_at_its_own_rate():
    read, made = judged(), judged(judge__response_tokens=500.0)
    rate = made["judge_tokens_per_second_per_gpu"]
    assert made["judge_seconds"] - read["judge_seconds"] == pytest.approx(2048 * 500 / (64 * rate))
    engine = decode("qwen3-32b", "h100-sxm", 64, 4512, 500, tensor_parallel=2, engine_memory_share=0.6)
    assert rate == pytest.approx(engine["resident_sequences"] / engine["inter_token_seconds"] / 2)


def test_gpus_of_its_own_are_part_of_all_and_work_at_the_same_time():
    own = judged(judge__gpus=16)
    assert own["rollout_pool_gpus"] == own["training_pool_gpus"] == 48
    assert own["generation_stream_seconds"] == max(own["rollout_seconds"], own["judge_seconds"])
    assert own["gpu_hours_per_step"] == pytest.approx(64 * float(own["step_seconds"]) / 3600)
    pools = judged(judge__gpus=8, hardware__rollout_gpus=40, update__overlap="full", update__staleness_steps=1)
    assert pools["training_pool_gpus"] == 16
    streams = pools["generation_stream_seconds"] * 40 + pools["training_stream_seconds"] * 16
    longest = max(pools["generation_stream_seconds"], pools["training_stream_seconds"])
    assert pools["idle_seconds"] == pytest.approx(longest - (streams + 8 * pools["judge_seconds"]) / 64)


def test_a_named_teacher_is_priced_and_an_unnamed_one_is_said():
    taught = bill(run(model__algorithm="distillation", judge__name="qwen3-32b", judge__role="teacher"))
    assert taught["judge_seconds"] > 0 and not any("teacher" in line for line in taught.not_modeled)
    assert any("teacher" in line for line in bill(run(model__algorithm="distillation")).not_modeled)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"judge__name": "deepseek-v3", "judge__gpus": 8}, "judge.name"),
        ({"judge__name": "deepseek-v3", "judge__gpus": 4, "judge__response_tokens": 100.0}, "fits on no engine"),
        ({"judge__gpus": 8}, "not named"),
        ({"judge__name": "qwen3-32b", "judge__gpus": 64}, "leaves no GPU"),
        ({"judge__name": "qwen3-320b"}, "qwen3-32b"),
    ],
)
def test_refusals(changes, words):
    with pytest.raises(RleconError, match=words):
        bill(run(**changes))

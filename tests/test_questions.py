"""What practitioners asked about their runs, answered through the public interface.

One test for each question with enough numbers to check. A question without them has a line in ``NOT_CHECKED`` that
says why; one whose cause no model of computing can know is tested for saying so.
"""

import pytest

from rlecon import RleconError, Run, bill, catalog, levers, read_log
from rlecon.capability import amdahl_equation, cap_equation
from rlecon.diagnosis import compare, diagnose
from rlecon.phases import decode
from rlecon.step import idle_equation, overlap_equation
from tests.log_lines import finding

approx = pytest.approx
THREADS = {  # public threads, and the test that answers each
    "jsboige/CoursIA#10603": "flat_curve_with_groups_of_two",
    "huggingface/trl#2971": "four_of_seven_minutes_generate",
    "huggingface/open-r1#161": "seventy_eight_hours",
    "rllm-org/rllm#29": "twenty_two_days_are_a_wrong_number_of_steps",
    "verl-project/verl#795": "rollout_steps_and_optimizer_steps",
    "OpenRLHF/OpenRLHF#420": "thirty_hours_for_forty_steps",
    "OpenRLHF/OpenRLHF#609": "ten_times_the_tokens_are_more_than_ten_times_the_time",
    "OpenRLHF/OpenRLHF#246": "weights_over_the_slowest_link",
    "OpenRLHF/OpenRLHF#712": "generation_and_training_side_by_side",
    "Tencent-Hunyuan/UniRL#94": "generation_and_training_side_by_side",
    "OpenRLHF/OpenRLHF#507": "all_prompts_at_once",
    "PeterGriffinJin/Search-R1#106": "ppo_of_a_32b_with_a_critic",
    "simplescaling/s1#25": "grpo_of_a_32b_fits_sixteen",
    "verl-project/verl#1803": "fp8_at_a_share_of_seventy_percent",
    "verl-project/verl#2809": "fp8_at_a_share_of_seventy_percent",
    "verl-project/verl#4415": "fp8_at_a_share_of_seventy_percent",
    "yaof20/Flash-RL#28": "no_eight_bits_on_ampere",
    "vllm-project/vime#358": "fully_asynchronous_on_the_same_cards",
    "verl-project/verl#4033": "lora_is_not_four_times_as_slow",
    "unslothai/unsloth#1631": "lora_is_not_four_times_as_slow",
    "THUDM/slime#1072": "ten_minutes_for_a_small_model_are_a_setting",
    "verl-project/verl#1885": "a_jump_that_no_model_explains",
    "verl-project/verl#4743": "decode_waits_for_memory_with_full_memory",
    "verl-project/verl#3114": "host_overhead_shows_as_a_gap",
    "verl-project/verl#7203": "generation_at_a_tenth_of_the_step",
    "verl-project/verl#7847": "a_token_budget_that_left_gpus_idle",
    "verl-project/verl#496": "long_prompts_and_short_answers_are_update_bound",
    "RUC-NLPIR/Tool-Star#15": "sixty_four_times_the_rollouts_on_four_times_the_gpus",
    "MCG-NJU/Video-o3#3": "four_times_the_gpus_at_twice_the_speed",
    "allenai/open-instruct#485": "hours_times_gpus",
    "hiyouga/EasyR1#39": "a_batch_too_small_for_eight_gpus",
    "BytedTsinghua-SIA/DAPO#22": "ten_batches_and_still_no_mixed_group",
    "huggingface/trl#3857": "no_gradient_though_a_reward_varies",
    "turningpoint-ai/VisualThinker-R1-Zero#11": "a_step_of_rl_beside_a_step_of_fine_tuning",
    "Xuekai-Zhu/FlowRL#6": "splitting_a_small_model_wastes_a_gpu",
}
OF_NO_THREAD = {"more_gpus_than_there_are_is_refused", "every_thread_has_its_test"}
NOT_CHECKED = {
    "verl-project/verl#516": "no lengths of answers and no batch are given, so nothing can be compared",
    "verl-project/verl#4264": "says slower, and gives no rate for either mode",
    "THUDM/slime#385": "two frameworks' times side by side, which its log shows; see the readers' tests",
    "rllm-org/rllm#292": "a fault of concurrency; no lengths are given, so no expectation can be formed",
    "modelscope/ms-swift#5107": "how a framework counts its batch, in completions; see the importer's tests",
    "zhangzef/COOPER#5": "no model size, length or batch is given",
}


def log(**values):
    return ["step:1 - " + " - ".join(f"{key}:{value}" for key, value in values.items())]


def verl(gen, update, step, **more):
    return log(**{"timing_s/gen": gen, "timing_s/update_actor": update, "timing_s/step": step}, **more)


def run(model="qwen3-8b", gpu="h100-sxm", gpus=8, prompts=64, group=8, response=1000.0, cap=None, prompt=300.0, **more):
    made = Run(
        model={"name": model},
        hardware={"gpu": gpu, "gpus": gpus, "usd_per_gpu_hour": 2.0},
        rollout={"prompts_per_step": prompts, "group_size": group, "prompt_tokens": prompt,
                 "response_tokens": response, "max_response_tokens": cap or 2 * response},
        reward={"pass_rate": 0.3},
    )  # fmt: skip
    return made.replace({key.replace("__", "."): value for key, value in more.items()})


def test_flat_curve_with_groups_of_two():
    """p = 0.1819: which groups teach, at fixed prompts and at fixed rollouts; both budgets are named."""
    shares = {g: float(bill(run(group=g, reward__pass_rate=0.1819))["mixed_group_share"]) for g in (2, 4, 8, 16)}
    assert list(shares.values()) == approx([0.298, 0.551, 0.799, 0.960], abs=0.0006)
    assert [s / g for g, s in shares.items()] == approx([0.149, 0.138, 0.100, 0.060], abs=0.0006)
    lines = log(**{"critic/score/mean": 0.1819, "critic/score/min": 0, "critic/score/max": 1, "timing_s/gen": 1})
    says = finding("flat_groups", read_log(lines, group_size=2)).says
    assert "at a fixed number of prompts" in says and "at a fixed number of rollouts" in says


def test_four_of_seven_minutes_generate():
    f = finding("faster_rollouts", read_log(verl(240, 180, 420), gpus=8))
    assert f.evidence["rollout_share"] == approx(0.571, abs=0.001)
    assert f.evidence["step_gain_by_rollout_gain"][2.0] == approx(1.40, abs=0.005)
    assert f.evidence["at_most"] == approx(2.33, abs=0.005)
    one_of_eight = {"rollout_pool_gpus": 1, "training_pool_gpus": 7, "gpus": 8, "step_seconds": 420,
                    "generation_stream_seconds": 240, "training_stream_seconds": 180, "active_tenants": 1}  # fmt: skip
    nothing_else = {s.name: 0 for s in idle_equation.inputs if s.name not in one_of_eight}
    given = {name: x for name, x in one_of_eight.items() if name in {s.name for s in idle_equation.inputs}}
    idle = idle_equation(**given, **nothing_else) / 420
    assert idle - 180 / 420 / 8 == approx(0.50)  # seven wait while one generates; then the one waits, too


def test_seventy_eight_hours():
    lines = ["{'loss': 0.0, 'completion_length': 828.0, 'rewards/accuracy_reward': 0.0257, 'reward': 0.037}",
             "  0%| | 1/1000 [04:41<78:02:42, 281.24s/it]"]  # fmt: skip
    report = read_log(lines, gpus=8, usd_per_gpu_hour=2.0, binary_reward=True)
    f = finding("step_count", report)
    assert f.evidence["hours"] == approx(78.1, rel=0.01) and f.evidence["gpu_hours"] == approx(625, rel=0.01)
    assert report.usd * 1000 == approx(1250, rel=0.01) and report.pass_rate == approx(0.0257)
    assert bill(run(reward__pass_rate=report.pass_rate))["mixed_group_share"] < 0.2  # most groups are dead


def test_twenty_two_days_are_a_wrong_number_of_steps():
    report = read_log(verl(200, 150, 396), gpus=8)
    wrong, right = (
        finding("step_count", report, planned_steps=n, tasks=20_000, run=run(prompts=128)) for n in (4800, 1000)
    )
    assert wrong.verdict == "found" and wrong.evidence["hours"] / 24 == approx(22, rel=0.01)
    assert "30" in wrong.says  # passes over the tasks
    assert right.evidence["hours"] == approx(110, rel=0.01) and right.evidence["gpu_hours"] == approx(880, rel=0.01)


def test_rollout_steps_and_optimizer_steps():
    seconds = 5 * 86400 / 230
    report = read_log(verl(1000, 800, seconds), gpus=128)
    f = finding("step_count", report, planned_steps=320, minibatch_prompts=32, run=run(prompts=512, group=16))
    assert seconds == approx(1878, rel=0.001)
    assert f.evidence["optimizer_steps_per_rollout_step"] == 16
    assert f.evidence["hours"] / 24 == approx(7.0, rel=0.01) and f.evidence["gpu_hours"] == approx(21_400, rel=0.01)


def test_thirty_hours_for_forty_steps():
    report = read_log(verl(1500, 1000, 30 * 3600 / 40), gpus=7)
    f = finding("step_count", report, planned_steps=80_000 / 128)
    assert report.step_seconds == 2700 and f.evidence["planned_steps"] == 625
    assert f.evidence["hours"] == approx(469, rel=0.01) and f.evidence["gpu_hours"] == approx(3281, rel=0.01)


def test_more_gpus_than_there_are_is_refused():
    with pytest.raises(RleconError, match="leaves no GPU of 8"):
        bill(run(gpus=8, hardware__rollout_gpus=160))


def test_ten_times_the_tokens_are_more_than_ten_times_the_time():
    short, long = (
        bill(run("llama-3.1-8b", "a100-sxm-80", 4, prompts=128, group=8, response=x, rollout__tensor_parallel=2))
        for x in (500.0, 5000.0)
    )
    assert long["rollout_seconds"] > 10 * short["rollout_seconds"]
    assert long["resident_sequences"] <= short["resident_sequences"]


def test_weights_over_the_slowest_link():
    """140 GB in 80 s are 1.75 GB/s: far from what a transfer over fast links takes."""
    made = bill(run("llama-3.1-70b", "a100-sxm-80", 32, response=500.0))
    size = 2 * made["total_parameters"]
    assert size == approx(141e9, rel=0.01) and size / 80 == approx(1.75e9, rel=0.02)
    assert made["weight_sync_seconds"] < 80 / 4
    f = finding("weight_transfer", read_log(verl(60, 50, 230, **{"timing_s/update_weights": 80})))
    assert f.verdict == "found" and f.seconds_saved_per_step == approx(80)


def test_generation_and_training_side_by_side():
    g, t = 2252, 1800
    assert overlap_equation(rollout_share=g / (g + t)) == approx(1.80, abs=0.005)
    # the published large gains need more than overlap: with rollouts four times as long, at most 1.25
    assert overlap_equation(rollout_share=0.8) == approx(1.25)


def test_all_prompts_at_once():
    few, many = decode("llama-3.1-8b", "h100-sxm", [16, 256], 500, 500)["tokens_per_second_per_gpu"]
    assert many > 2 * few


def _held(made):
    """Bytes on one GPU of a colocated run whose engine's weights stay while it trains."""
    return float(made["update_bytes_per_gpu"] + made["engine_weight_bytes"] / made["tensor_parallel"])


@pytest.mark.parametrize("gpus, fits", [(16, False), (32, True)])
def test_ppo_of_a_32b_with_a_critic(gpus, fits):
    made = bill(run("qwen2.5-32b", gpus=gpus, prompts=512, group=5, response=500.0, cap=4096,
                    model__algorithm="ppo", update__reference_model=True))  # fmt: skip
    state = float(made["update_state_bytes_per_gpu"]) * gpus
    assert state == approx(524e9 + 524e9 + 65e9, rel=0.01)
    assert (_held(made) < made.resolved.gpu.memory_bytes) is fits
    assert any("fit only in turn" in w for w in made.warnings) is not fits


def test_grpo_of_a_32b_fits_sixteen():
    made = bill(run("qwen2.5-32b", gpus=16, prompts=512, group=5, response=500.0, cap=4096,
                    update__reference_model=True))  # fmt: skip
    assert made.fits[0] and _held(made) < made.resolved.gpu.memory_bytes
    plain = bill(run("qwen2.5-32b", gpus=16, prompts=512, group=5, response=500.0, cap=4096))
    assert plain["update_state_bytes_per_gpu"] == approx(33e9, rel=0.01)  # sharded, not a copy on every GPU


def test_fp8_at_a_share_of_seventy_percent():
    gain = lambda x: amdahl_equation(rollout_share=0.7, rollout_speedup=x, training_speedup=1)  # noqa: E731
    assert [gain(x) for x in (1.5, 2, 3)] == approx([1.30, 1.54, 1.88], abs=0.006)
    assert cap_equation(rollout_share=0.7) == approx(3.33, abs=0.005)
    assert gain(1.12) == approx(1.08, abs=0.005)  # a dense 8B: published 12 to 18 % of the rollout
    found = levers(run(response=10_000.0, cap=20_480), only=("fp8_rollouts",))["changes"]["fp8_rollouts"]
    ratio = found["usd_ratio_alone"]
    assert ratio["low"] < 1 / gain(1.12) < ratio["high"]


def test_no_eight_bits_on_ampere():
    with pytest.raises(RleconError, match="no 8-bit floating-point units"):
        bill(run("qwen2.5-32b", "a100-sxm-80", rollout__weight_bits=8))


def test_fully_asynchronous_on_the_same_cards():
    lines = ["perf 1: {'perf/train_wait_time': 97.2, 'perf/train_time': 81.4, 'perf/step_time': 178.6}"]
    f = finding("trainer_waits", read_log(lines))
    assert f.evidence["overlap_at_most"] == approx(1.83, abs=0.01)
    assert f.evidence["overlap_at_most"] > 178.3 / 104.0  # what was reached


def test_lora_is_not_four_times_as_slow():
    full, lora = (
        bill(run("qwen2.5-7b", prompts=512, group=5, response=700.0, cap=1024, model__lora_rank=r)) for r in (0, 16)
    )
    assert lora["update_flops"] / full["update_flops"] == approx(0.75, abs=0.02)  # 2/3 without recomputation
    assert 0.7 < lora["step_seconds"] / full["step_seconds"] < 1.1 < 162.96 / 43.10


def test_ten_minutes_for_a_small_model_are_a_setting():
    made = bill(run("qwen3-1.7b", "h800", prompts=128, group=32, response=1000.0, cap=4096))
    assert made["generated_tokens_per_step"] == approx(4.1e6, rel=0.01)
    assert 10 < made["update_seconds"] < 60 and 30 < made["rollout_seconds"] < 120
    assert made.step_seconds.high < 600 / 3  # what was seen is outside the interval by far


def test_a_jump_that_no_model_explains():
    four, five = (
        float(bill(run("qwen2.5-7b", prompts=512, group=g, response=500.0, rollout__turns=3))["step_seconds"])
        for g in (4, 5)
    )
    assert five / four < 1.3  # a little more than linear at most
    before = read_log(verl(150, 40, 200), rollouts=2048, gpus=8)
    after = read_log(verl(1400, 50, 1500), rollouts=2560, gpus=8)
    assert compare(before, after).evidence["step_seconds_ratio"] == 7.5
    assert 1500 / (200 * five / four) > 5  # not explained by the model


def test_decode_waits_for_memory_with_full_memory():
    found = decode("qwen2.5-32b", "h100-sxm", 256, 1000, 8000, tensor_parallel=4)
    assert found["bound_by"] in ("memory", "kv") and found["mfu"] < 0.1 and found["resident_sequences"] < 256


def test_host_overhead_shows_as_a_gap():
    rate = decode("qwen2.5-7b", "a100-sxm-80", 128, 300, 300)["tokens_per_second_per_gpu"]
    assert 1024 * 300 / (8 * rate) < 130 / 5


VISION = ["| gen | ~29s |", "| old_log_prob | ~84s |", "| ref_log_prob | ~82s |", "| update_actor | ~91s |",
          "| update_weights | ~3.5s |", "| **Total** | **~290s** |", "- Throughput: ~143 tok/s",
          "- MFU (actor update): 2.3-2.7%"]  # fmt: skip


def test_generation_at_a_tenth_of_the_step():
    report = read_log(VISION, gpus=8, rollouts=160, usd_per_gpu_hour=2.0)
    f = finding("update_bound", report)
    assert f.verdict == "found" and f.evidence["faster_rollouts_at_most"] == approx(1.11, abs=0.005)
    assert report.mfu == approx(0.025) and report.all_tokens / 160 == approx(2073, rel=0.01)
    assert diagnose(report)[0].rule == "update_bound" and f.usd_saved_per_step > 0


def test_a_token_budget_that_left_gpus_idle():
    steps = [read_log(verl(40, seconds - 50, seconds), gpus=8, rollouts=160) for seconds in (151, 88, 83)]
    assert compare(*steps[:2]).evidence["rollouts_per_second_gain"] == approx(1.72, abs=0.005)
    assert [s.gpu_hours for s in (steps[0], steps[2])] == approx([0.336, 0.184], abs=0.001)


def test_long_prompts_and_short_answers_are_update_bound():
    made = bill(run(prompts=128, prompt=8000.0, response=1000.0, cap=1024))
    assert made["processed_tokens_per_step"] / made["generated_tokens_per_step"] == approx(9)
    assert made["rollout_share"] < 0.4 < made["update_seconds"] / made["step_seconds"]


def test_sixty_four_times_the_rollouts_on_four_times_the_gpus():
    small = read_log(verl(21, 1, 22), rollouts=16, gpus=2)
    large = read_log(verl(1200, 1, 1201), rollouts=1024, gpus=8)
    linear = 21 * (1024 / 16) * (2 / 8)
    assert linear == 336 and 1200 / linear == approx(3.6, abs=0.05)
    assert compare(small, large).evidence["gpu_seconds_per_rollout_ratio"] > 3  # batching should lower it, not raise


def test_four_times_the_gpus_at_twice_the_speed():
    few = read_log(verl(1000, 700, 1800), gpus=8, rollouts=256)  # two steps an hour
    many = read_log(verl(500, 350, 900), gpus=32, rollouts=256)  # four
    assert compare(few, many).evidence["gpu_seconds_per_rollout_ratio"] == approx(2)  # scaling efficiency 50 %
    hours = [finding("step_count", x, planned_steps=384).evidence["gpu_hours"] for x in (many, few)]
    assert hours == approx([3072, 1536])


@pytest.mark.parametrize("hours, gpus, gpu_hours", [(65, 8, 520), (60, 48, 2880)])
def test_hours_times_gpus(hours, gpus, gpu_hours):
    report = read_log(verl(1800, 1500, 3600), gpus=gpus)
    assert finding("step_count", report, planned_steps=hours).evidence["gpu_hours"] == gpu_hours


@pytest.mark.parametrize("hours, seconds, gpu_hours", [(26, 187, 208), (30, 216, 240)])
def test_a_batch_too_small_for_eight_gpus(hours, seconds, gpu_hours):
    report = read_log(verl(100, 60, hours * 3600 / 500), gpus=8, rollouts=128)
    f = finding("step_count", report, planned_steps=500, tasks=800, run=run(prompts=16))
    assert report.step_seconds == approx(seconds, abs=0.5) and f.evidence["gpu_hours"] == approx(gpu_hours)
    assert "10" in f.says  # passes over the tasks: 500 steps of 16 prompts
    assert finding("latency_bound", report).verdict == "found"


def test_ten_batches_and_still_no_mixed_group():
    """Batches to generate per batch of mixed groups: above ten at G = 16 where p < 0.0065 or > 0.9935."""

    def batches(p):
        return 1 / float(bill(run(group=16, reward__pass_rate=p))["mixed_group_share"])

    assert batches(0.0064) > 10 > batches(0.0067)
    assert batches(0.9936) > 10 > batches(0.9933)


def test_no_gradient_though_a_reward_varies():
    lines = ["{'loss': 0.0, 'rewards/one/mean': 4.0, 'rewards/one/std': 5.08, 'reward': 4.0, 'reward_std': 5.08, "
             "'frac_reward_zero_std': 1.0, 'completions/mean_length': 300.0}"]  # fmt: skip
    report = read_log(lines)
    assert report.mixed_group_share == 0 and report.bits_per_rollout == 0
    assert any("no group had mixed rewards" in flag for flag in report.flags)


def test_a_step_of_rl_beside_a_step_of_fine_tuning():
    made = bill(run("qwen3-1.7b", "h20", 4, prompts=8, group=8, response=300.0, cap=700))
    one_pass = float(made["update_seconds"]) / 64  # the same tokens of one sequence
    assert made["step_seconds"] / one_pass > 53


def test_splitting_a_small_model_wastes_a_gpu():
    one, two = (
        decode("qwen3-0.6b", "h100-sxm", 128 * t, 500, 2000, tensor_parallel=t)["tokens_per_second_per_gpu"]
        for t in (1, 2)
    )
    assert two < one
    weights = 2 * catalog.model("qwen3-0.6b").total_parameters
    assert weights < 0.05 * catalog.gpu("h100-sxm").memory_bytes
    split = run("qwen3-0.6b", rollout__tensor_parallel=2)
    f = finding("small_model_tensor_parallel", read_log(verl(60, 30, 100)), run=split)
    assert f.verdict == "found" and "tensor_parallel = 1" in f.says


def test_every_thread_has_its_test():
    tests = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert set(THREADS.values()) == tests - OF_NO_THREAD
    assert not THREADS.keys() & NOT_CHECKED.keys()

"""Launch configs of eight frameworks against what their runs are known to be; gaps; origins; refusals."""

import os
import shutil
import tomllib
from pathlib import Path

import pytest

from rlecon.errors import RleconError
from rlecon.readers.launch import Imported, import_config
from rlecon.run import Run

FIXTURES = Path(__file__).parent / "fixtures" / "launch"
CASES = os.environ.get("RLECON_LAUNCH_CASES")  # a folder of real configs, named as below
FILLED = {
    "rollout.response_tokens": 700, "rollout.prompt_tokens": 200, "reward.pass_rate": 0.4, "run.steps": 100,
    "model.name": "qwen3-8b", "rollout.group_size": 16, "rollout.oversampling": 1.2, "rollout.turns": 5,
    "rollout.tool_tokens_per_turn": 100, "rollout.environment_seconds_per_turn": 2.0, "hardware.gpus": 8,
    "rollout.prompts_per_step": 64, "model.algorithm": "grpo",
}

# (own fixture, real file, what the user adds, answers, keys that must be asked for)
ALWAYS = {"rollout.response_tokens", "rollout.prompt_tokens", "reward.pass_rate"}
ANSWERS = [
    ("verl_8b.sh", "verl-qwen3-8b-fsdp.sh.txt", {}, {
        "model.name": "qwen3-8b", "model.algorithm": "grpo", "hardware.gpus": 8, "hardware.rollout_gpus": 0,
        "rollout.prompts_per_step": 1024, "rollout.group_size": 5, "rollout.max_response_tokens": 2048,
        "rollout.tensor_parallel": 2, "rollout.engine_memory_share": 0.6, "update.minibatches": 4,
        "update.reference_model": True, "update.offload": False, "update.activation_recompute": True,
    }, {"run.steps"}),
    ("verl_671b.sh", "verl-deepseek-v3-671b-megatron.sh.txt", {"model.name": "deepseek-v3"}, {
        "hardware.gpus": 96, "rollout.prompts_per_step": 96, "rollout.group_size": 8, "update.minibatches": 3,
        "rollout.max_response_tokens": 8192, "rollout.tensor_parallel": 32, "rollout.engine": "eager",
        "update.tensor_parallel": 8, "update.pipeline_parallel": 12, "update.expert_parallel": 8,
        "update.offload": True, "update.activation_recompute": True, "model.name": "deepseek-v3",
    }, {"run.steps"}),
    ("verl_a.txt", "verl-c550-qwen3-8b-a.cli.txt", {}, {
        "hardware.gpus": 8, "rollout.prompts_per_step": 256, "rollout.group_size": 5, "update.minibatches": 4,
        "rollout.tensor_parallel": 4, "update.tensor_parallel": 4, "run.steps": 200, "update.offload": True,
        "rollout.max_response_tokens": 4096, "update.reference_model": True,
    }, set()),
    ("verl_b.txt", "verl-c550-qwen3-8b-b.cli.txt", {}, {
        "rollout.group_size": 4, "rollout.tensor_parallel": 2, "rollout.engine": "typical",
    }, {"run.steps", "model.name", "hardware.gpus", "rollout.prompts_per_step", "model.algorithm"}),
    ("verl_agent.txt", "verl-deepswe-30b.cli.txt", {}, {
        "hardware.gpus": 16, "rollout.prompts_per_step": 16, "rollout.group_size": 8, "model.algorithm": "rloo",
        "rollout.tensor_parallel": 4, "update.expert_parallel": 8, "update.overlap": "none",
        "rollout.engine_memory_share": 0.15, "update.reference_model": False, "update.minibatches": 4,
    }, {"run.steps", "model.name", "rollout.turns", "rollout.tool_tokens_per_turn",
        "rollout.environment_seconds_per_turn"}),
    ("trl_7b.yaml", "trl-open-r1-simple-rl-7b.yaml", {"hardware.gpus": 8}, {
        "model.name": "qwen2.5-7b", "hardware.gpus": 8, "hardware.rollout_gpus": 1, "rollout.prompts_per_step": 128,
        "rollout.group_size": 7, "rollout.max_response_tokens": 1024, "update.reference_model": True,
        "update.minibatches": 1, "rollout.engine_memory_share": 0.7,
    }, {"run.steps"}),
    ("trl_13b.yaml", "trl-13b-8xa800.yaml", {}, {
        "hardware.gpus": 8, "hardware.rollout_gpus": 1, "rollout.prompts_per_step": 4, "rollout.group_size": 7,
    }, {"run.steps", "model.name"}),
    ("nemo_30b.yaml", "nemo-rl-qwen3-30ba3b-4n8g.yaml", {}, {
        "model.name": "qwen3-30b-a3b", "hardware.gpus": 32, "hardware.rollout_gpus": 0,
        "rollout.prompts_per_step": 64, "rollout.group_size": 32, "rollout.max_response_tokens": 4096,
        "rollout.tensor_parallel": 2, "update.minibatches": 1, "update.expert_parallel": 8,
        "rollout.engine_memory_share": 0.6, "rollout.weight_bits": 16, "update.old_logprobs": False,
        "update.reference_model": True, "rollout.turns": 1,
    }, {"run.steps"}),
    ("nemo_base.yaml", "nemo-rl-base-grpo_math_1B.yaml", {}, {
        "model.name": "qwen2.5-1.5b", "hardware.gpus": 1, "rollout.prompts_per_step": 32, "rollout.group_size": 16,
        "update.old_logprobs": True, "model.lora_rank": 0, "rollout.max_response_tokens": 512,
    }, {"run.steps"}),
    ("prime_swe.toml", "prime-rl-qwen3-30b-a3b-swe.toml", {"rollout.group_size": 16}, {
        "model.name": "qwen3-30b-a3b", "hardware.gpus": 32, "hardware.rollout_gpus": 16,
        "rollout.prompts_per_step": 32, "update.overlap": "full", "update.staleness_steps": 16,
        "rollout.tensor_parallel": 8, "update.expert_parallel": 8, "update.activation_recompute": True,
        "rollout.max_response_tokens": 131072,
    }, {"run.steps", "rollout.turns", "rollout.tool_tokens_per_turn", "rollout.environment_seconds_per_turn"}),
    ("prime_reverse.toml", "prime-rl-reverse-text.toml", {}, {
        "model.name": "qwen3-0.6b", "hardware.gpus": 2, "hardware.rollout_gpus": 1, "rollout.prompts_per_step": 8,
        "rollout.group_size": 16, "rollout.max_response_tokens": 128, "run.steps": 20,
        "update.activation_recompute": False,
    }, set()),
    ("openrlhf_new.sh", "openrlhf-dapo-llama3-8b.cli.txt", {}, {
        "model.name": "llama-3.1-8b", "model.algorithm": "dapo", "hardware.gpus": 8, "hardware.rollout_gpus": 0,
        "rollout.prompts_per_step": 128, "rollout.group_size": 8, "rollout.max_response_tokens": 2048,
        "rollout.tensor_parallel": 2, "rollout.engine": "eager", "update.minibatches": 8,
        "update.reference_model": True, "update.critic": False,
    }, {"run.steps", "rollout.oversampling"}),
    ("openrlhf_old.txt", "openrlhf-old-ppo-llama2-7b.cli.txt", {}, {
        "model.algorithm": "ppo", "hardware.gpus": 7, "rollout.prompts_per_step": 1024, "rollout.group_size": 1,
        "rollout.max_response_tokens": 1024, "update.minibatches": 8, "update.critic": True,
        "update.reference_model": True, "update.offload": True, "rollout.engine": "eager",
    }, {"run.steps", "model.name"}),
    ("slime_30b.sh", "slime-qwen3-30b-a3b.cli.txt", {"model.name": "qwen3-30b-a3b"}, {
        "hardware.gpus": 8, "hardware.rollout_gpus": 0, "rollout.prompts_per_step": 32, "rollout.group_size": 8,
        "rollout.max_response_tokens": 8192, "rollout.tensor_parallel": 8, "update.minibatches": 1,
        "run.steps": 3000, "update.offload": True, "update.tensor_parallel": 4, "update.expert_parallel": 8,
        "update.reference_model": True, "update.overlap": "none",
    }, set()),
    ("roll_7b.yaml", "roll-qwen2.5-7b-rlvr.yaml", {}, {
        "model.name": "qwen2.5-7b", "hardware.gpus": 16, "hardware.rollout_gpus": 0, "rollout.prompts_per_step": 64,
        "rollout.group_size": 8, "rollout.max_response_tokens": 4096, "run.steps": 500, "update.minibatches": 1,
        "update.reference_model": True, "rollout.engine_memory_share": 0.8,
    }, set()),
    ("areal_1b.yaml", "areal-gsm8k-qwen2.5-1.5b.yaml", {}, {
        "model.name": "qwen2.5-1.5b", "hardware.gpus": 8, "hardware.rollout_gpus": 4,
        "rollout.prompts_per_step": 256, "rollout.group_size": 4, "rollout.max_response_tokens": 1024,
        "update.overlap": "full", "update.staleness_steps": 2, "update.minibatches": 1, "update.old_logprobs": True,
        "update.reference_model": False, "rollout.engine_memory_share": 0.8,
    }, {"run.steps"}),
]


def flat(run):
    return {f"{section}.{key}": value for section, table in run.items() for key, value in table.items()}


def meets(path, added, answers, asked):
    got = import_config(path, gpu="h100-sxm", overrides=added)
    values = flat(got.run)
    assert {key: values.get(key) for key in answers} == answers
    assert {item.key for item in got.missing} == ALWAYS | asked
    assert set(got.origins) == set(values) and all(got.origins.values())
    with pytest.raises(RleconError) as error:
        got.check()
    assert all(item.key in str(error.value) for item in got.missing)
    return got


@pytest.mark.parametrize("own, _, added, answers, asked", ANSWERS, ids=[case[0] for case in ANSWERS])
def test_answers(own, _, added, answers, asked):
    meets(FIXTURES / own, added, answers, asked)


@pytest.mark.skipif(not CASES, reason="RLECON_LAUNCH_CASES does not name a folder of real configs")
@pytest.mark.parametrize("_, real, added, answers, asked", ANSWERS, ids=[case[1] for case in ANSWERS])
def test_answers_on_the_real_files(_, real, added, answers, asked):
    meets(Path(CASES) / real, added, answers, asked)


@pytest.mark.parametrize("own", [case[0] for case in ANSWERS])
def test_the_text_is_a_run_file_that_loads(own):
    """The text reads back as the same run, and, once filled in, passes the run file's own validation."""
    bare = import_config(FIXTURES / own, gpu="h100-sxm")
    read = tomllib.loads(bare.to_toml())
    assert {section: table for section, table in read.items() if table} == bare.run
    for item in bare.missing:
        assert f"# {item.key.split('.')[1]} = ?" in bare.to_toml()
    whole = import_config(FIXTURES / own, gpu="h100-sxm", overrides={item.key: FILLED[item.key]
                                                                    for item in bare.missing})
    assert whole.check() is whole
    text = whole.to_toml()
    assert tomllib.loads(text) == whole.run
    run = Run.from_text(text)
    assert {key: run[key] for key in flat(whole.run)} == flat(whole.run)
    assert text == import_config(FIXTURES / own, gpu="h100-sxm", overrides={
        item.key: FILLED[item.key] for item in bare.missing}).to_toml()


def write(folder, text, name="launch.sh"):
    file = folder / name
    file.write_text(text)
    return file


GIVEN = {"hardware.gpu": "h100-sxm", "rollout.prompt_tokens": 200, "rollout.response_tokens": 800,
         "reward.pass_rate": 0.4, "run.steps": 100}  # fmt: skip


def test_what_the_file_leaves_to_its_surroundings_is_asked_for_and_never_a_default(tmp_path):
    """``nnodes=$NNODES`` is not the framework's default of one node."""
    text = ("python3 -m verl.trainer.main_ppo data.train_batch_size=64 actor_rollout_ref.rollout.n=8 "
            "actor_rollout_ref.model.path=Qwen/Qwen3-8B algorithm.adv_estimator=grpo trainer.n_gpus_per_node=8 "
            "trainer.nnodes=$NNODES actor_rollout_ref.model.lora_rank=$RANK actor_rollout_ref.actor.use_kl_loss=$KL "
            "actor_rollout_ref.rollout.tensor_model_parallel_size=$(nvidia-smi -L | wc -l)\n")  # fmt: skip
    file = write(tmp_path, text)
    missing = {m.key: m.why for m in import_config(file, overrides=GIVEN).missing}
    assert set(missing) == {"hardware.gpus", "model.lora_rank", "update.reference_model", "rollout.tensor_parallel"}
    assert missing["hardware.gpus"].startswith("trainer.nnodes is in the file and not settled: $NNODES")
    told = {"trainer.nnodes": 4, "model.lora_rank": 0, "update.reference_model": False, "rollout.tensor_parallel": 2}
    got = import_config(file, overrides=GIVEN | told).check()
    assert got.run["hardware"]["gpus"] == 32
    batch = write(tmp_path, text.replace("size=64", "size=$(nproc)", 1), "other.sh")
    why = {m.key: m.why for m in import_config(batch, overrides=GIVEN).missing}["rollout.prompts_per_step"]
    assert "is in the file and not settled" in why and "is not in the file" not in why


def test_the_words_of_an_absence_are_not_said_of_what_is_there(tmp_path):
    text = ("actor:\n  path: Qwen/Qwen2.5-1.5B-Instruct\n  use_lora: ${oc.env:LORA}\n  backend: fsdp:d4\n"
            "rollout:\n  backend: sglang:d4\ngconfig:\n  n_samples: 4\n  max_new_tokens: 1024\n"
            "train_dataset:\n  batch_size: 256\n")  # fmt: skip
    got = import_config(write(tmp_path, text, "a.yaml"), framework="areal", overrides=GIVEN)
    assert "model.lora_rank" in {m.key for m in got.missing} and "lora_rank" not in got.run["model"]


def test_origins_name_key_and_line():
    got = import_config(FIXTURES / "verl_a.txt")
    assert got.origins["rollout.prompts_per_step"] == "data.train_batch_size=256 (line 2)"
    assert got.origins["update.minibatches"].startswith("derived: 256 / 64: ")
    assert "default of verl" in import_config(FIXTURES / "verl_agent.txt").origins["hardware.gpus"]
    assert "nemo_base.yaml line" in import_config(FIXTURES / "nemo_30b.yaml").origins["rollout.engine"]
    assert isinstance(got, Imported)
    told = got.to_dict()
    assert told["run"] == got.run and {"key", "why", "how"} == set(told["missing"][0])


def test_the_cap_is_no_stand_in_for_the_mean():
    missing = {item.key: item for item in import_config(FIXTURES / "verl_a.txt").missing}
    why = missing["rollout.response_tokens"]
    assert "4096" in why.why and "no stand-in" in why.why and why.how == "--set rollout.response_tokens=N"
    assert "--gpu" in missing["hardware.gpu"].how


def test_several_files_are_read_in_order():
    got = import_config([FIXTURES / "verl_a.txt", FIXTURES / "verl_b.txt"])
    assert got.run["rollout"]["group_size"] == 4 and got.run["rollout"]["prompts_per_step"] == 256
    assert "verl_b.txt line 5" in got.origins["rollout.group_size"]


def test_an_excerpt_without_its_conditions_is_read_as_on_a_gpu_and_says_so():
    got = import_config(FIXTURES / "verl_8b_excerpt.txt")
    values = flat(got.run)
    assert values["rollout.prompts_per_step"] == 1024 and values["hardware.gpus"] == 8
    assert values["rollout.tensor_parallel"] == 2 and "rollout.engine" not in values
    assert any("conditions are not in the file" in note for note in got.notes)


def test_the_npu_probe_is_not_run_and_said():
    got = import_config(FIXTURES / "verl_8b.sh")
    assert any("NPU" in note for note in got.notes)


def test_trl_needs_the_number_of_processes():
    missing = {item.key for item in import_config(FIXTURES / "trl_7b.yaml").missing}
    assert {"hardware.gpus", "rollout.prompts_per_step"} <= missing
    given = import_config(FIXTURES / "trl_7b.yaml", overrides=["num_processes=7"])
    assert given.run["hardware"] == {"gpus": 8, "rollout_gpus": 1}
    assert given.run["rollout"]["prompts_per_step"] == 128
    with pytest.raises(RleconError, match="make 8"):
        import_config(FIXTURES / "trl_13b.yaml", overrides={"hardware.gpus": 16})
    with pytest.raises(RleconError, match="not whole"):
        import_config(FIXTURES / "trl_7b.yaml", overrides={"num_processes": 7, "num_generations": 6})


def test_trl_today_colocates_or_serves(tmp_path):
    file = write(tmp_path, "per_device_train_batch_size: 8\ngradient_accumulation_steps: 2\nuse_vllm: true\n"
                 "vllm_mode: colocate\nnum_generations: 8\nsteps_per_generation: 4\n", "grpo.yaml")
    got = import_config(file, overrides={"num_processes": 8})
    assert got.run["hardware"] == {"gpus": 8, "rollout_gpus": 0}
    assert got.run["rollout"]["prompts_per_step"] == 32 and got.run["update"]["minibatches"] == 2
    assert got.run["update"]["old_logprobs"] is True and got.run["update"]["reference_model"] is False
    file.write_text(file.read_text().replace("colocate", "server"))
    assert "hardware.rollout_gpus" in {item.key for item in import_config(file).missing}
    flags = write(tmp_path, "trl grpo --per_device_train_batch_size 8 --gradient_accumulation_steps 2 "
                  "--num_generations 8 --model_name_or_path Qwen/Qwen3-4B\n")
    assert import_config(flags, overrides={"num_processes": 4}).run["rollout"]["prompts_per_step"] == 8


def test_a_total_cap_leaves_the_response_what_the_prompt_does_not_take():
    got = import_config(FIXTURES / "openrlhf_new.sh", overrides={"rollout.prompt_tokens": 500})
    assert got.run["rollout"]["max_response_tokens"] == 1548


def test_roles_with_gpus_of_their_own_are_noted():
    assert any("critic 1" in note for note in import_config(FIXTURES / "openrlhf_old.txt").notes)
    notes = " ".join(import_config(FIXTURES / "roll_7b.yaml").notes)
    assert "12 of the 16" in notes and "llm_judge" in notes


def test_prime_rl_counts_rollouts_and_asks_for_the_group():
    missing = {item.key: item.why for item in import_config(FIXTURES / "prime_swe.toml").missing}
    assert "default of 1" in missing["rollout.group_size"]
    assert "counts rollouts" in missing["rollout.prompts_per_step"]
    with pytest.raises(RleconError, match="not whole"):
        import_config(FIXTURES / "prime_swe.toml", overrides={"rollout.group_size": 7})


def test_prime_rl_sources_and_older_keys(tmp_path):
    file = write(tmp_path, 'seq_len = 4096\nmax_async_level = 1\n[model]\nname = "Qwen/Qwen3-8B"\n[orchestrator]\n'
                 "batch_size = 64\nrollouts_per_example = 8\n[trainer.model.lora]\n[deployment]\nnum_train_gpus = 2\n"
                 "num_infer_gpus = 6\n[inference]\n", "rl.toml")
    got = import_config(file)
    assert got.run["hardware"] == {"gpus": 8, "rollout_gpus": 6} and got.run["model"]["lora_rank"] == 16
    assert got.run["update"]["overlap"] == "one_step" and got.run["rollout"]["prompts_per_step"] == 8
    file.write_text(file.read_text().replace("rollouts_per_example = 8\n", "")
                    + "[[orchestrator.train.source]]\ngroup_size = 4\n[[orchestrator.train.source]]\ngroup_size = 4\n")
    assert import_config(file).run["rollout"]["group_size"] == 4
    file.write_text('toml_files = ["base.toml"]\n' + file.read_text())
    with pytest.raises(RleconError, match="inherits from other"):
        import_config(file, framework="prime-rl")


def test_prime_rl_gpu_ids(tmp_path):
    file = write(tmp_path, "trainer_gpu_ids = [0, 1]\ninference_gpu_ids = [2, 3, 4, 5]\n[orchestrator]\n"
                 "batch_size = 8\n[trainer.optim]\nlr = 1\n", "rl.toml")
    assert import_config(file).run["hardware"] == {"gpus": 6, "rollout_gpus": 4}


def test_verl_as_yaml(tmp_path):
    file = write(tmp_path, "data: {train_batch_size: 64, max_response_length: 100}\nactor_rollout_ref:\n"
                 "  rollout: {n: 4}\n  model: {path: Qwen/Qwen3-4B}\ntrainer: {nnodes: 2, n_gpus_per_node: 8}\n",
                 "v.yaml")
    got = import_config(file)
    assert got.framework == "verl" and got.run["hardware"]["gpus"] == 16 and got.run["model"]["name"] == "qwen3-4b"


@pytest.mark.parametrize("model, name", [
    ("Qwen/Qwen3-8B", "qwen3-8b"), ("Qwen/Qwen3-8B-Base", "qwen3-8b"), ("/models/Qwen3-8B/", "qwen3-8b"),
    ("Qwen/Qwen3-4B-Instruct-2507", "qwen3-4b"), ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "qwen2.5-7b"),
    ("Qwen/Qwen3-8B-FP8", None), ("someone/Qwen3-8B-Draft", None), ("someone/qwen3-8b-pruned-4b", None),
    ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", None), ("Qwen/Qwen3-VL-8B-Instruct", None), ("$MODEL", None),
])
def test_model_names(model, name):
    from rlecon.readers.launch.models import catalogue_name
    assert catalogue_name(model)[0] == name


def test_nemo_base_beside_by_path_or_missing(tmp_path):
    shutil.copy(FIXTURES / "nemo_30b.yaml", tmp_path / "recipe.yaml")
    with pytest.raises(RleconError, match="--set defaults=PATH"):
        import_config(tmp_path / "recipe.yaml")
    base = import_config(tmp_path / "recipe.yaml", overrides={"defaults": str(FIXTURES / "nemo_base.yaml")})
    assert base.run["rollout"]["engine_memory_share"] == 0.6
    (tmp_path / "loop.yaml").write_text("defaults: other.yaml\ngrpo: {num_prompts_per_step: 1}\n")
    (tmp_path / "other.yaml").write_text("defaults: loop.yaml\npolicy: {model_name: x}\n")
    with pytest.raises(RleconError, match="inherits from itself"):
        import_config(tmp_path / "loop.yaml", framework="nemo-rl")
    (tmp_path / "a.yaml").symlink_to(tmp_path / "b.yaml")
    (tmp_path / "b.yaml").symlink_to(tmp_path / "a.yaml")
    with pytest.raises(RleconError):
        import_config(tmp_path / "a.yaml")
    (tmp_path / "loop.yaml").write_text("defaults: a.yaml\ngrpo: {num_prompts_per_step: 1}\n")
    with pytest.raises(RleconError):
        import_config(tmp_path / "loop.yaml", framework="nemo-rl")


def test_nemo_async_and_separate_pools(tmp_path):
    file = write(tmp_path, "grpo: {num_prompts_per_step: 8, num_generations_per_prompt: 4, async_grpo: "
                 "{enabled: true, max_trajectory_age_steps: 2}}\ncluster: {num_nodes: 4, gpus_per_node: 8}\n"
                 "policy: {train_global_batch_size: 32, generation: {colocated: {enabled: false, resources: "
                 "{num_nodes: 2, gpus_per_node: 8}}}}\n", "r.yaml")
    got = import_config(file)
    assert got.run["hardware"] == {"gpus": 32, "rollout_gpus": 16}
    assert got.run["update"]["overlap"] == "full" and got.run["update"]["staleness_steps"] == 2


def test_verl_pools_of_their_own(tmp_path):
    file = write(tmp_path, "python3 -m recipe.one_step_off_policy.main_ppo data.train_batch_size=64 "
                 "actor_rollout_ref.rollout.n=8 trainer.nnodes=1 trainer.n_gpus_per_node=6 "
                 "rollout.nnodes=1 rollout.n_gpus_per_node=2\n")
    got = import_config(file)
    assert got.run["hardware"] == {"gpus": 8, "rollout_gpus": 2} and got.run["update"]["overlap"] == "one_step"
    dapo = write(tmp_path, "python3 -m verl.main data.train_batch_size=64 actor_rollout_ref.rollout.n=8 "
                 "algorithm.adv_estimator=grpo algorithm.filter_groups.enable=True\n", "dapo.sh")
    got = import_config(dapo)
    assert got.run["model"]["algorithm"] == "dapo" and "rollout.oversampling" in {m.key for m in got.missing}


def test_slime_pools_and_async(tmp_path):
    file = write(tmp_path, "python3 train_async.py --actor-num-nodes 1 --actor-num-gpus-per-node 4 "
                 "--rollout-num-gpus 4 --rollout-batch-size 32 --n-samples-per-prompt 8 --num-steps-per-rollout 2\n")
    got = import_config(file)
    assert got.run["hardware"] == {"gpus": 8, "rollout_gpus": 4}
    assert got.run["update"]["overlap"] == "one_step" and got.run["update"]["minibatches"] == 2


@pytest.mark.parametrize("text, words", [
    ("data.train_batch_size=many\nactor_rollout_ref.rollout.n=8\n", "not a whole number"),
    ("data.train_batch_size=-4\nactor_rollout_ref.rollout.n=8\n", "not a whole number"),
    ("data.train_batch_size=4\nactor_rollout_ref.rollout.n=8\nactor_rollout_ref.actor.ppo_mini_batch_size=8\n",
     "larger than the batch"),
    ("hello world\n", "cannot tell which framework"),
    ("", "cannot tell which framework"),
    ("data.train_batch_size=${X\nactor_rollout_ref.rollout.n=8\n", "has no }"),
    ("python a.py data.train_batch_size=1 trainer.nnodes=1 actor_rollout_ref.rollout.n=2\n"
     "python a.py data.train_batch_size=2 trainer.nnodes=1 actor_rollout_ref.rollout.n=2\n", "launches 2 runs"),
    ("\0\0", "NUL"),
])
def test_refusals(tmp_path, text, words):
    with pytest.raises(RleconError, match=words):
        import_config(write(tmp_path, text))


def test_refused_files_and_requests(tmp_path):
    with pytest.raises(RleconError, match="cannot be read"):
        import_config(tmp_path / "absent.yaml")
    with pytest.raises(RleconError, match="regular file"):
        import_config(tmp_path)
    with pytest.raises(RleconError, match="too large"):
        import_config(write(tmp_path, "a" * 300_000))
    (tmp_path / "latin.yaml").write_bytes(b"caf\xe9: 1\n")
    with pytest.raises(RleconError, match="UTF-8"):
        import_config(tmp_path / "latin.yaml")
    with pytest.raises(RleconError, match="did you mean verl"):
        import_config(FIXTURES / "verl_a.txt", framework="verll")
    with pytest.raises(RleconError, match="rollout.group_size"):
        import_config(FIXTURES / "verl_a.txt", overrides=["rollout.grup_size=8"])
    with pytest.raises(RleconError, match="KEY=VALUE"):
        import_config(FIXTURES / "verl_a.txt", overrides=["rollout.group_size"])
    with pytest.raises(RleconError, match="from 0 to 1"):
        import_config(FIXTURES / "verl_a.txt", overrides={"reward.pass_rate": 1.5})


def test_yaml_bombs_and_circles_are_refused(tmp_path):
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(10))
    with pytest.raises(RleconError):
        import_config(write(tmp_path, bomb, "bomb.yaml"))
    with pytest.raises(RleconError):
        import_config(write(tmp_path, "x: " + "[" * 5000, "deep.yaml"))
    with pytest.raises(RleconError, match="circle"):
        import_config(write(tmp_path, "grpo: {num_prompts_per_step: '${grpo.b}', b: '${grpo.num_prompts_per_step}'}\n"
                            "policy: {model_name: x}\n", "circle.yaml"))
    with pytest.raises(RleconError, match="list of GPUs"):
        import_config(write(tmp_path, "actor_train: {device_mapping: '__import__(\"os\").getcwd()'}\n"
                            "actor_infer: {device_mapping: 'list(range(0,4))'}\nrollout_batch_size: 4\n", "evil.yaml"))
    with pytest.raises(RleconError, match="backend string"):
        import_config(write(tmp_path, "gconfig: {n_samples: 4}\nrollout: {backend: 'sglang:d0'}\n"
                            "actor: {backend: 'fsdp:d4'}\n", "zero.yaml"))


def test_a_tag_is_not_constructed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "grpo: {num_prompts_per_step: !!python/object/apply:os.system ['touch made'], a: 2}\ncluster: {}\n"
    with pytest.raises(RleconError, match="whole number"):
        import_config(write(tmp_path, text, "tag.yaml"))
    assert not (tmp_path / "made").exists()


def test_a_script_is_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "touch made\nX=$(touch made)\necho > made\n" + (FIXTURES / "verl_a.txt").read_text()
    assert import_config(write(tmp_path, text)).run["rollout"]["group_size"] == 5
    assert not (tmp_path / "made").exists()

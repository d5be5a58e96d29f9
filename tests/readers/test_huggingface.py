"""Configs of real models against the sizes of their checkpoints; refusals; mutated configs."""

import contextlib
import copy
import json
import random
from pathlib import Path

import pytest

from rlecon.errors import RleconError
from rlecon.readers.huggingface import describe, read_architecture

CASES = json.loads((Path(__file__).parent / "fixtures" / "configs.json").read_text())
READ = [case for case in CASES if "refused" not in case]
BY_NAME = {case["name"]: case["config"] for case in CASES}
LLAMA = BY_NAME["Meta-Llama-3.1-8B"]


def changed(name, **keys):
    config = copy.deepcopy(BY_NAME[name])
    (config.get("text_config", config)).update(keys)
    return config


def without(name, key):
    config = copy.deepcopy(BY_NAME[name])
    config.get("text_config", config).pop(key)
    return config


@pytest.mark.parametrize("case", READ, ids=lambda case: case["name"])
def test_counts_of_real_configs(case):
    arch = read_architecture(case["config"], case["name"])
    assert arch.total_parameters == pytest.approx(case["total"], rel=case["within"], abs=0)
    if "active" in case:
        assert arch.active_parameters == pytest.approx(case["active"], rel=case["active_within"], abs=0)
    elif not arch.moe_layers:
        assert arch.active_parameters == arch.total_parameters
    if "matmul" in case:
        assert arch.active_parameters_matmul == pytest.approx(case["matmul"], rel=case["matmul_within"], abs=0)
    if "kv_bytes_per_token" in case:
        assert arch.kv_bytes_per_token() == case["kv_bytes_per_token"]
    assert not [note for note in arch.notes if "not read" in note]


def test_cache_of_mixed_layers_as_a_function_of_context():
    gemma = read_architecture(BY_NAME["gemma-3-1b-it"])  # 4 of 26 layers see everything, the others 512 tokens
    per_layer = 2 * 1 * 256 * 2
    assert gemma.kv_bytes(32768) == per_layer * (4 * 32768 + 22 * 512)
    gemma2 = read_architecture(BY_NAME["gemma-2-9b"])  # every second layer
    assert gemma2.kv_bytes(8192) == 2 * 8 * 256 * 2 * 21 * (8192 + 4096)
    nemotron = read_architecture(BY_NAME["NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"])
    state = 23 * (64 * 64 * 128 * 4 + (64 * 64 + 2 * 8 * 128) * 3 * 2)
    assert nemotron.kv_bytes(1000) == 6 * 2 * 2 * 128 * 2 * 1000 + state
    scout = read_architecture(BY_NAME["Llama-4-Scout-17B-16E-Instruct"])  # 12 of 48 layers beyond chunks
    assert scout.kv_bytes(100_000) == 2 * 8 * 128 * 2 * (12 * 100_000 + 36 * 8192)
    mistral = read_architecture(BY_NAME["Mistral-7B-v0.1"])
    assert mistral.kv_bytes(32768) == 131072 * 4096
    qwen2 = read_architecture(BY_NAME["Qwen2-7B"])  # names a window but does not use it
    assert qwen2.kv_bytes(100_000) == 57344 * 100_000
    phi = read_architecture(BY_NAME["Phi-3.5-mini-instruct"])  # a window longer than the longest context
    assert phi.window_tokens == 0


def test_window_from_a_layer_on():
    arch = read_architecture(changed("Qwen2-7B", use_sliding_window=True, sliding_window=1000, max_window_layers=20))
    assert arch.kv_bytes(10_000) == 57344 / 28 * (20 * 10_000 + 8 * 1000)


def test_the_tower_of_qwen2_vl():
    """The total of the tensors of the published 7B checkpoint; the tower's hidden_size is the width of its output."""
    tower = {
        "depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "in_chans": 3, "hidden_size": 3584,
        "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2,
    }  # fmt: skip
    config = {
        "model_type": "qwen2_vl", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
        "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, "tie_word_embeddings": False,
        "hidden_act": "silu", "vision_config": tower,
    }  # fmt: skip
    arch = read_architecture(config)
    assert arch.total_parameters == 8_291_375_616 and arch.vision_parameters == 675_759_104
    with pytest.raises(RleconError, match="vision_config.hidden_size"):
        read_architecture(config | {"vision_config": tower | {"hidden_size": 1280}})


def test_sparse_attention_keeps_all_and_reads_some():
    glm = read_architecture(BY_NAME["GLM-5"])
    assert glm.kv_bytes(100_000) == 78 * 576 * 2 * 100_000
    assert glm.window_tokens == 2048
    assert glm.attention_flops_per_context_token == 78 * 2 * 32 * 128
    assert any("indexer" in note for note in glm.notes)


def test_quantized_configs_change_the_bytes_not_the_count():
    oss = read_architecture(BY_NAME["gpt-oss-20b"])
    assert oss.weight_bytes() == pytest.approx(13.76e9, rel=0.005)  # the published checkpoint
    assert describe(oss)["weight_bytes"] == round(float(oss.weight_bytes()))
    deep = read_architecture(BY_NAME["DeepSeek-V3"])
    assert 671e9 < deep.weight_bytes() < 675e9
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128}
    arch = read_architecture({**LLAMA, "quantization_config": awq})
    assert arch.total_parameters == 8_030_261_248
    assert arch.weight_bytes() == pytest.approx(5.73e9, rel=0.01)  # published 4-bit checkpoints: 5.7 GB
    odd = read_architecture({**LLAMA, "quantization_config": {"quant_method": "new"}})
    assert describe(odd)["weight_bytes"] is None
    assert describe(odd, weight_bits=8)["weight_bytes"] > 8e9
    with pytest.raises(RleconError, match="stored format"):
        odd.weight_bytes()


def test_prediction_layers_are_noted():
    assert any("multi-token" in note for note in read_architecture(BY_NAME["DeepSeek-V3"]).notes)


def test_description_prints_as_json_with_the_promised_keys():
    answer = json.loads(json.dumps(describe(read_architecture(BY_NAME["Qwen3-8B"], "Qwen3-8B"), contexts=(1, 4096))))
    assert answer["total_parameters"] == answer["active_parameters"] == 8_190_735_360
    assert answer["kv_bytes"] == {"1": 147456, "4096": 147456 * 4096}
    assert answer["weight_bytes"] == 2 * 8_190_735_360
    assert answer["attention"] == "gqa"
    assert answer["layers"] == 36
    assert set(answer) >= {"active_parameters_matmul", "kv_bytes_per_token", "notes"}


def test_path_folder_and_name(tmp_path):
    folder = tmp_path / "some-model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    for source in (folder, folder / "config.json", str(folder)):
        arch = read_architecture(source)
        assert (arch.name, arch.total_parameters) == ("some-model", 8_030_261_248)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not valid JSON"), ("[1, 2]", "must be a JSON object"), ("{" * 5, "not valid JSON"),
        ("[" * 100_000, "nested too deeply|not valid JSON"), ('{"hidden_size": 1, "hidden_size": 2}', "given twice"),
        ('{"hidden_size": ' + "9" * 5000 + "}", "not readable JSON"), ("{}", "model_type"),
        ("\x00\xff", "not valid JSON"),
    ],
)
def test_bad_files_get_one_clear_message(tmp_path, text, said):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(RleconError, match=said):
        read_architecture(path)


def test_missing_and_oversized_files(tmp_path):
    with pytest.raises(RleconError, match="no such file"):
        read_architecture(tmp_path / "nothing.json")
    with pytest.raises(RleconError, match="is a folder|no such file"):
        read_architecture(tmp_path)
    (tmp_path / "config.json").write_bytes(b" " * 11_000_000)
    with pytest.raises(RleconError, match="too large"):
        read_architecture(tmp_path)


REFUSED = [
    ("per-layer shapes", BY_NAME["Llama-3_3-Nemotron-Super-49B-v1"], "block_configs"),
    ("experts in a class without them", {**LLAMA, "num_experts": 8}, "num_experts"),
    ("latent attention in a class without it", {**LLAMA, "kv_lora_rank": 512}, "kv_lora_rank"),
    ("latent experts", changed("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", moe_latent_size=1024), "moe_latent_size"),
    ("shared experts in a class without them", changed("Qwen3-30B-A3B", shared_expert_intermediate_size=768), "shared"),
    ("unknown kind of layer", changed("Olmo-3-1025-7B", layer_types=["banana"] * 32), "banana"),
    ("too few layer types", changed("Olmo-3-1025-7B", layer_types=["full_attention"] * 31), "31 entries for 32"),
    ("short pattern", changed("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", hybrid_override_pattern="M*E"), "3 letters"),
    ("shared indexers", changed("GLM-5", index_topk_freq=4), "index_topk_freq"),
    ("no KV heads", without("Qwen3-8B", "num_key_value_heads"), "num_key_value_heads"),
    ("heads that do not divide", {**LLAMA, "num_key_value_heads": 7}, "kv_heads"),
    ("no class", without("Meta-Llama-3.1-8B", "model_type"), "model_type"),
    ("zero layers", {**LLAMA, "num_hidden_layers": 0}, "num_hidden_layers"),
    ("fractional width", {**LLAMA, "hidden_size": 4096.5}, "hidden_size"),
    ("a class of its own with its own keys", {**LLAMA, "model_type": "novel", "novel_ratio": 3}, "novel_ratio"),
    ("an unknown class with experts", {**BY_NAME["Mixtral-8x7B-v0.1"], "model_type": "novel"}, "num_local_experts"),
    ("an unknown class that hides its tie", {**without("Meta-Llama-3.1-8B", "tie_word_embeddings"),
                                             "model_type": "novel"}, "tie"),
    ("an ungated activation", {**LLAMA, "hidden_act": "relu"}, "hidden_act"),
    ("norms that the class lacks", {**LLAMA, "use_qk_norm": True}, "use_qk_norm"),
    ("sliding layers without a window", changed("gemma-3-1b-it", sliding_window=None), "sliding_window"),
    ("an encoder", {"model_type": "t5", "d_model": 512, "num_layers": 6, "vocab_size": 32128}, "t5"),
]


@pytest.mark.parametrize(("config", "said"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_cannot_be_read_right_is_refused_with_the_reason(config, said):
    with pytest.raises(RleconError, match=said):
        read_architecture(config)


def test_unknown_class_without_surprises_is_read_with_a_note():
    plain = {**LLAMA, "model_type": "novel", "hidden_act": "silu"}
    arch = read_architecture(plain)
    assert arch.total_parameters == 8_030_261_248
    assert "not known here" in arch.notes[0]


def test_code_named_in_a_config_is_never_run(tmp_path):
    marker = tmp_path / "ran"
    (tmp_path / "modeling.py").write_text(f"open({str(marker)!r}, 'w')")
    config = {**LLAMA, "auto_map": {"AutoConfig": "modeling.Config"}, "trust_remote_code": True}
    (tmp_path / "config.json").write_text(json.dumps(config))
    read_architecture(tmp_path)
    assert not marker.exists()


def test_disagreeing_ties_are_noted():
    config = changed("Qwen3-VL-8B-Instruct", tie_word_embeddings=True)
    assert any("tie_word_embeddings" in note for note in read_architecture(config).notes)


JUNK = [None, True, False, 0, -1, 1, 3, 7, 1.5, float("inf"), float("nan"), 10**9, 10**30, "", "x", "4096", [], [1], {},
        {"a": 1}, [[]], ["full_attention"], "M*E-", {"quant_method": "fp8", "weight_block_size": [0, 0]}]


def mutate(config, rng):
    """Delete, swap or replace some values, at the top or in a nested table."""
    config = copy.deepcopy(config)
    for _ in range(rng.choice((1, 1, 2, 5))):
        tables = [config] + [value for value in config.values() if isinstance(value, dict)]
        table = rng.choice(tables)
        if not table:
            continue
        key = rng.choice(sorted(table))
        action = rng.randrange(5)
        if action == 0:
            del table[key]
        elif action == 1:
            table[key] = rng.choice(JUNK)
        elif action == 2:
            other = rng.choice(sorted(rng.choice(CASES)["config"]))
            table[other] = rng.choice(JUNK)
        elif action == 3:
            table[key] = copy.deepcopy(table[rng.choice(sorted(table))])
        else:
            donor = rng.choice(CASES)["config"]
            table.update(copy.deepcopy({k: donor[k] for k in rng.sample(sorted(donor), min(3, len(donor)))}))
    return config


def fuzz(rounds, seed):
    """Read mutated configs; return how many were answered and how many refused."""
    rng, answered, refused = random.Random(seed), 0, 0
    for _ in range(rounds):
        config = mutate(rng.choice(CASES)["config"], rng)
        try:
            answer = describe(read_architecture(config))
        except RleconError as error:
            assert len(str(error)) < 2000
            refused += 1
        else:
            json.dumps(answer, allow_nan=False)
            assert answer["total_parameters"] > 0
            answered += 1
    return answered, refused


def test_mutated_configs_are_answered_or_refused():
    answered, refused = fuzz(1500, seed=20261130)
    assert answered > 100
    assert refused > 100


def test_mutated_bytes_are_answered_or_refused(tmp_path):
    rng, path = random.Random(7), tmp_path / "config.json"
    for _ in range(300):
        data = bytearray(json.dumps(rng.choice(CASES)["config"]).encode())
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(bytes(data[: rng.randrange(len(data))] if rng.random() < 0.2 else data))
        with contextlib.suppress(RleconError):
            read_architecture(path)


@pytest.mark.parametrize("case", READ, ids=lambda case: case["name"])
def test_a_key_left_out_never_changes_the_answer_unsaid(case):
    """Without any one key: the same sizes, or a note that names the key, or a refusal."""
    whole = read_architecture(case["config"])
    nested = "text_config" if "text_config" in case["config"] else None
    for key in case["config"][nested] if nested else case["config"]:
        config = copy.deepcopy(case["config"])
        (config[nested] if nested else config).pop(key)
        try:
            arch = read_architecture(config)
        except RleconError:
            continue
        same = arch.total_parameters == whole.total_parameters and arch.kv_bytes(1e5) == whole.kv_bytes(1e5)
        assert same or any(key in note for note in arch.notes if note not in whole.notes), key

"""Sizes of the catalogue's models against published ones, and exact small cases."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import rlecon.architecture
from rlecon.architecture import Architecture
from rlecon.errors import RleconError
from rlecon.layers import FeedForward, Layer, group
from rlecon.mixers import Attention

MODELS = tomllib.loads((Path(rlecon.architecture.__file__).parent / "data" / "models.toml").read_text())
TOLERANCE = {"exact": 1e-3, "rounded": 1e-2}
SMALL = {
    "layers": 2, "hidden": 8, "heads": 2, "kv_heads": 1, "head_dim": 4, "ffn": 16, "vocab": 32, "tied_embeddings": True,
}
# Bytes per token in bf16 over all layers, worked out by hand from the published configurations.
KV_BYTES = {
    "qwen3-0.6b": 114688, "qwen3-1.7b": 114688, "qwen3-4b": 147456, "qwen3-8b": 147456, "qwen3-14b": 163840,
    "qwen3-32b": 262144, "qwen3-30b-a3b": 98304, "qwen3-235b-a22b": 192512, "llama-3.1-8b": 131072,
    "llama-3.1-70b": 327680, "llama-3.1-405b": 516096, "deepseek-v3": 70272, "deepseek-r1": 70272, "kimi-k2": 70272,
    "gpt-oss-20b": 49152, "gpt-oss-120b": 73728, "qwen2.5-1.5b": 28672, "qwen2.5-7b": 57344, "qwen2.5-32b": 262144,
    "glm-4.5": 376832, "glm-4.5-air": 188416, "mimo-7b": 147456, "olmo-3-7b": 524288, "olmo-3-32b": 262144,
    "qwen3.5-35b-a3b": 20480, "qwen3.5-9b": 32768,
}


def model(name):
    return Architecture.from_entry(MODELS[name], name)


def test_the_catalogue_holds_the_promised_models():
    assert set(KV_BYTES) <= set(MODELS)
    assert len(KV_BYTES) == 26


@pytest.mark.parametrize("name", MODELS)
def test_total_meets_the_published_total(name):
    entry = MODELS[name]
    total = model(name).total_parameters + entry.get("mtp_parameters", 0)
    assert total == pytest.approx(entry["total_published"], rel=TOLERANCE[entry["published_status"]])


@pytest.mark.parametrize("name", MODELS)
def test_every_entry_says_where_it_comes_from(name):
    for key in ("source", "as_of", "kind", "published_source", "published_status", "title"):
        assert MODELS[name][key]


@pytest.mark.parametrize("name", MODELS)
def test_kv_bytes_per_token(name):
    assert model(name).kv_bytes_per_token() == KV_BYTES[name]


@pytest.mark.parametrize("name", MODELS)
def test_parts_add_up_and_shares_to_one(name):
    arch = model(name)
    assert sum(arch.parts().values()) == arch.total_parameters
    assert sum(share for _, _, share in arch.table()) == pytest.approx(1)
    unread = arch.norm_parameters + arch.other_parameters + arch.vision_parameters
    idle = arch.expert_parameters - arch.active_expert_parameters
    embeddings = arch.embedding_parameters * (1 if arch.tied_embeddings else 2)
    assert arch.active_parameters_matmul == arch.total_parameters - unread - idle - embeddings + arch.head_parameters


@pytest.mark.parametrize(
    ("name", "published"),
    [("qwen3-30b-a3b", 3.3e9), ("qwen3-235b-a22b", 22e9), ("deepseek-v3", 37e9), ("qwen3.5-35b-a3b", 3e9),
     ("kimi-k2", 32e9), ("glm-4.5", 32e9), ("glm-4.5-air", 12e9)],
)
def test_active_parameters_lie_where_cards_round_them(name, published):
    """Cards count the input embedding or not, so the published figure lies between or near both."""
    arch = model(name)
    assert MODELS[name]["active_published"] == published
    assert 0.93 * arch.active_parameters_matmul <= published <= 1.02 * arch.active_parameters


@pytest.mark.parametrize(("name", "published"), [("gpt-oss-20b", 3.61e9), ("gpt-oss-120b", 5.13e9)])
def test_active_parameters_of_gpt_oss_leave_the_input_embedding_out(name, published):
    assert model(name).active_parameters_matmul == pytest.approx(published, rel=2e-3)


def test_prediction_layer_of_qwen35_counted_by_hand():
    hidden, expert = 2048, 3 * 2048 * 512
    attention = hidden * (2 * 16 * 256 + 2 * 2 * 256) + 16 * 256 * hidden + 2 * 256
    layer = attention + 256 * expert + expert + hidden + 256 * hidden + 2 * hidden
    assert layer + 2 * hidden * hidden + 3 * hidden == MODELS["qwen3.5-35b-a3b"]["mtp_parameters"]


def test_dense_model_by_hand():
    arch = Architecture.from_entry(SMALL)
    attention = 8 * 8 + 2 * 8 * 4 + 8 * 8
    assert arch.total_parameters == 32 * 8 + 2 * (attention + 3 * 8 * 16 + 2 * 8) + 8
    assert arch.active_parameters == arch.total_parameters
    assert arch.trunk_parameters == 2 * (attention + 3 * 8 * 16)
    assert arch.active_parameters_matmul == arch.trunk_parameters + 32 * 8
    assert (arch.experts, arch.experts_per_token, arch.moe_layers, arch.expert_parameters) == (0, 0, 0, 0)
    assert arch.lora_parameters_per_rank == 2 * ((8 + 8) + 2 * (8 + 4) + (8 + 8) + 3 * (8 + 16))
    assert arch.attention == "mqa"


def test_untying_adds_one_head():
    untied = Architecture.from_entry({**SMALL, "tied_embeddings": False})
    assert untied.total_parameters - Architecture.from_entry(SMALL).total_parameters == untied.head_parameters == 256


def test_biases_and_norms_count_to_the_parameter():
    plain = Architecture.from_entry(SMALL).total_parameters

    def added(**keys):
        return Architecture.from_entry({**SMALL, **keys}).total_parameters - plain

    assert added(qkv_bias=True) == 2 * (8 + 4 + 4)
    assert added(attention_output_bias=True) == 2 * 8
    assert added(mlp_bias=True) == 2 * (16 + 16 + 8)
    assert added(qk_norm="head") == 2 * 2 * 4
    assert added(qk_norm="full") == 2 * (8 + 4)
    assert added(sinks=True) == 2 * 2
    assert added(attention_gate=True) == 2 * 8 * 8
    assert added(norms_per_layer=4) == 2 * 2 * 8


def test_moe_interleaved_by_hand():
    moe = {"experts": 4, "experts_per_token": 2, "expert_ffn": 6, "shared_experts": 1, "shared_ffn": 10, "every": 2}
    arch = Architecture.from_entry({**SMALL, "moe": moe})
    assert (arch.moe_layers, arch.experts, arch.experts_per_token) == (1, 4, 2)
    assert arch.expert_parameters == 4 * 3 * 8 * 6
    assert arch.active_expert_parameters == 2 * 3 * 8 * 6
    assert arch.shared_expert_parameters == 3 * 8 * 10
    assert arch.router_parameters == 8 * 4
    assert arch.total_parameters - arch.active_parameters == 2 * 3 * 8 * 6


def test_published_adapter_sizes():
    """Rank-16 adapters on all linear layers, as PEFT prints them."""
    assert 16 * model("llama-3.1-8b").lora_parameters_per_rank == 41_943_040
    assert 16 * model("qwen2.5-7b").lora_parameters_per_rank == 40_370_176


def test_attention_work():
    qwen, deep = model("qwen3-8b"), model("deepseek-v3")
    assert qwen.attention_flops_per_context_token == 4 * 32 * 128 * 36
    assert qwen.attention_flops_per_context_token_training == 4 * 32 * 128 * 36
    assert deep.attention_flops_per_context_token == 2 * 128 * (512 + 64 + 512) * 61
    assert deep.attention_flops_per_context_token_training == 2 * 128 * (192 + 128) * 61
    assert (qwen.kv_shards_max, deep.kv_shards_max, deep.heads) == (8, 1, 128)
    oss = model("gpt-oss-20b")
    assert oss.attention_flops_per_context_token == oss.window_attention_flops_per_context_token == 4 * 64 * 64 * 12
    assert oss.window_attention_flops_per_context_token_training == 4 * 64 * 64 * 12


def test_cache_of_a_window_stops_growing():
    arch = model("gpt-oss-20b")
    per_layer = 2 * 8 * 64 * 2
    assert (arch.window_tokens, arch.kv_elements_per_token, arch.window_kv_elements_per_token) == (128, 12288, 12288)
    assert arch.kv_bytes(100) == 24 * per_layer * 100
    assert arch.kv_bytes(10_000) == 12 * per_layer * (10_000 + 128)
    assert arch.kv_bytes(10_000, kv_bits=8) == arch.kv_bytes(10_000) / 2


def test_cache_of_linear_attention_is_a_state():
    arch = model("qwen3.5-9b")
    state = 24 * (32 * 128 * 128 * 4 + (2 * 16 * 128 + 32 * 128) * 3 * 2)
    assert arch.state_bytes == state == 51_511_296
    assert arch.kv_bytes(0) == state
    assert arch.kv_bytes(1000) == state + 32768 * 1000
    assert arch.attention == "gqa + linear"


def test_cache_broadcasts_and_refuses_negative_context():
    arch = model("olmo-3-7b")
    context = np.array([[10.0], [1e5]])
    both = arch.kv_bytes(context, np.array([16, 8]))
    assert both.shape == (2, 2)
    assert both[1, 1] == arch.kv_bytes(1e5, 8)
    for wrong in (-1, float("nan")):
        with pytest.raises(RleconError, match="context"):
            arch.kv_bytes(wrong)


def test_weight_bytes_keep_head_and_embedding_wide():
    arch = model("qwen3-8b")
    assert arch.weight_bytes(16) == 2 * arch.total_parameters
    assert arch.weight_bytes(8) == arch.trunk_parameters + 2 * (arch.total_parameters - arch.trunk_parameters)
    oss = model("gpt-oss-120b")
    assert oss.weight_bytes(16, expert_bits=4.25) == pytest.approx(65.3e9, rel=0.01)  # the published checkpoint


def test_layers_with_different_windows_are_refused():
    feed, layers = FeedForward(16), []
    for window in (4, 8):
        layers.append(Layer(Attention(2, 1, 4, window=window), feed, 16))
    with pytest.raises(RleconError, match="4, 8.*different sliding windows"):
        Architecture("two windows", 8, 32, True, group(layers), 8)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"heads": 0}, "heads = 0"), ({"kv_heads": 3}, "kv_heads"), ({"layers": 1.5}, "layers"),
        ({"hidden": True}, "hidden"), ({"vocab": None}, "vocab"), ({"tied_embeddings": 1}, "tied_embeddings"),
        ({"hiden": 8}, "did you mean hidden"), ({"qk_norm": "maybe"}, "qk_norm"), ({"layers": 10**6}, "layers"),
        ({"moe": {"experts": 2, "experts_per_token": 3, "expert_ffn": 4}}, "experts_per_token"),
        ({"moe": {"expert": 2}}, "did you mean experts"), ({"moe": 4}, "moe"),
        ({"sliding_window": {"tokens": -1}}, "tokens"), ({"ffn": float("nan")}, "ffn"),
    ],
)
def test_bad_entries_name_the_field(change, said):
    with pytest.raises(RleconError, match=said):
        Architecture.from_entry({**SMALL, **change})


def test_missing_dimension_is_named():
    entry = dict(SMALL)
    del entry["ffn"]
    with pytest.raises(RleconError, match="ffn: is missing"):
        Architecture.from_entry(entry)

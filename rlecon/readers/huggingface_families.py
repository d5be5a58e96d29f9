"""Model classes of Hugging Face configs: what each implies that its config does not say."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Family:
    """What a model class implies beyond its config.

    Fields that hold a switch may be True, False or the name of the config key that decides (absent = False; a
    leading "+" means absent = True, a leading "!" that its absence is worth a note). ``gated``: three matrices in
    an MLP, not two. ``windows``: which layers have a sliding window. ``experts``: how routed layers are laid out.
    ``defaults``: values that the class fills in where a config leaves keys out.
    """

    tied: bool = False
    qkv_bias: bool | str = False
    output_bias: bool | str = False
    mlp_bias: bool | str = False
    head_bias: bool = False
    qk_norm: str = ""
    qk_norm_key: str = ""
    norms: int = 2
    norm_bias: bool = False
    norm_weight: bool = True
    gated: bool = True
    gate: bool | str = False
    sinks: bool = False
    windows: str = ""
    experts: str = ""
    mixers: str = "attention"
    positions: bool = False
    kv_heads_default: bool = False
    multi_head: bool = False  # the class has no other attention, so its configs need not say so
    many_queries: bool = False
    defaults: tuple[tuple[str, object], ...] = ()


LLAMA = Family(qkv_bias="attention_bias", output_bias="attention_bias", mlp_bias="mlp_bias", kv_heads_default=True)
_QWEN2 = Family(qkv_bias=True, windows="qwen")
_QWEN3 = Family(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="head", windows="qwen",
                defaults=(("head_dim", 128),))
_DEEPSEEK = Family(mixers="latent", experts="deepseek", qkv_bias="attention_bias", output_bias="attention_bias")
_QWEN3_NEXT = Family(
    qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="head", gate="+attn_output_gate", mixers="linear",
    defaults=(("linear_conv_kernel_dim", 4), ("full_attention_interval", 4), ("head_dim", 256)),
)
_GEMMA3 = Family(
    tied=True, qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="head", norms=4, windows="gemma3",
    defaults=(("num_attention_heads", 8), ("num_key_value_heads", 4), ("head_dim", 256), ("vocab_size", 262208),
              ("sliding_window", 4096), ("sliding_window_pattern", 6)),
)

FAMILIES = {
    "llama": LLAMA,
    "mistral": Family(windows="all", kv_heads_default=False, defaults=(("sliding_window", 4096),)),
    "mixtral": Family(windows="all", experts="mixtral"),
    "qwen2": _QWEN2,
    "qwen2_vl": _QWEN2,
    "qwen2_5_vl": _QWEN2,
    "mimo": replace(_QWEN2, qkv_bias="+attention_bias"),
    "qwen2_moe": replace(_QWEN2, experts="qwen_shared"),
    "qwen3": _QWEN3,
    "qwen3_vl": _QWEN3,
    "qwen3_moe": replace(_QWEN3, experts="qwen"),
    "qwen3_vl_moe": replace(_QWEN3, experts="qwen"),
    "qwen3_next": replace(_QWEN3_NEXT, experts="qwen_shared"),
    "qwen3_5": _QWEN3_NEXT,
    "qwen3_5_moe": replace(_QWEN3_NEXT, experts="qwen_shared"),
    "phi3": Family(windows="all", kv_heads_default=True),
    "phi": Family(qkv_bias=True, output_bias=True, mlp_bias=True, head_bias=True, norms=1, norm_bias=True, gated=False,
                  kv_heads_default=True),
    "gemma": Family(tied=True, qkv_bias="attention_bias", output_bias="attention_bias", defaults=(("head_dim", 256),)),
    "gemma2": Family(tied=True, qkv_bias="attention_bias", output_bias="attention_bias", norms=4, windows="alternate",
                     defaults=(("sliding_window", 4096), ("head_dim", 256))),
    "gemma3": _GEMMA3,
    "gpt_oss": Family(qkv_bias="+attention_bias", output_bias="+attention_bias", sinks=True, windows="alternate",
                      experts="gpt_oss", defaults=(("sliding_window", 128), ("head_dim", 64))),
    "olmo2": Family(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="full", kv_heads_default=True),
    "olmo3": Family(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="full", windows="olmo3",
                    kv_heads_default=True, defaults=(("sliding_window", 4096),)),
    "olmoe": Family(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="full", experts="olmoe",
                    kv_heads_default=True),
    "smollm3": replace(LLAMA, tied=True, windows="layer_types"),
    "granite": LLAMA,
    "glm4_moe": Family(qkv_bias="!attention_bias", qk_norm="head", qk_norm_key="!use_qk_norm", experts="deepseek",
                       defaults=(("head_dim", 128),)),
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": _DEEPSEEK,
    "deepseek_v32": _DEEPSEEK,
    "kimi_k2": _DEEPSEEK,
    "glm_moe_dsa": _DEEPSEEK,
    "llama4": Family(qkv_bias="attention_bias", output_bias="attention_bias", windows="llama4", experts="llama4",
                     defaults=(("head_dim", 128), ("attention_chunk_size", 8192), ("interleave_moe_layer_step", 1))),
    "nemotron_h": Family(qkv_bias="attention_bias", output_bias="attention_bias", mlp_bias="mlp_bias", norms=1,
                         mixers="pattern", defaults=(("head_dim", 128),)),
    "gpt2": Family(tied=True, qkv_bias=True, output_bias=True, mlp_bias=True, norm_bias=True, gated=False,
                   positions=True, kv_heads_default=True, multi_head=True),
    "gpt_bigcode": Family(tied=True, qkv_bias=True, output_bias=True, mlp_bias=True, norm_bias=True, gated=False,
                          positions=True, kv_heads_default=True, multi_head=True, many_queries=True),
    "gpt_neox": Family(qkv_bias="+attention_bias", output_bias="+attention_bias", mlp_bias=True, norm_bias=True,
                       gated=False, kv_heads_default=True, multi_head=True),
}
ALIASES = {
    "phi_msft": "phi", "mixformer_sequential": "phi", "phi4": "phi3", "gemma3_text": "gemma3", "qwen2_5": "qwen2",
    "qwen3_next_moe": "qwen3_next",
}
OLD_NAMES = {
    "n_embd": "hidden_size", "n_layer": "num_hidden_layers", "n_head": "num_attention_heads",
    "n_head_kv": "num_key_value_heads", "n_inner": "intermediate_size", "n_positions": "max_position_embeddings",
    "activation_function": "hidden_act", "hidden_activation": "hidden_act",
    "num_experts_per_token": "num_experts_per_tok",
    "mlp_hidden_act": "hidden_act", "sliding_window_size": "sliding_window", "n_ctx": "context_length",
}

# Keys of one kind of model. In a config of a class that does not read them they would change the count unseen.
STRUCTURAL = {
    "block_configs", "moe_latent_size", "q_lora_rank", "kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim",
    "v_head_dim", "o_lora_rank", "index_n_heads", "index_head_dim", "index_topk", "index_topk_freq", "indexer_types",
    "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "n_shared_experts", "num_shared_experts",
    "num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size", "first_k_dense_replace",
    "shared_intermediate_size", "layer_types", "layers_block_type", "hybrid_override_pattern", "hybrid_layer_pattern",
    "full_attention_interval", "linear_num_value_heads", "linear_num_key_heads", "linear_key_head_dim",
    "linear_value_head_dim", "linear_attn_config", "mamba_num_heads", "mamba_head_dim", "ssm_state_size",
    "mamba_d_state",
    "mamba_expand", "mamba_n_heads", "state_size", "attn_layer_period", "attn_layer_indices", "num_kv_shared_layers",
    "altup_num_inputs", "laurel_rank", "hidden_size_per_layer_input", "compress_ratios", "cross_attention_layers",
    "encoder_layers", "decoder_layers", "num_decoder_layers", "ffn_dim_multiplier", "num_attention_groups",
    "multi_query", "new_decoder_architecture", "attention_chunk_size", "word_embed_proj_dim", "embedding_size",
    "global_head_dim", "num_global_key_value_heads", "attention_k_eq_v", "enable_moe_block", "top_k_experts",
    "swa_num_key_value_heads", "swa_head_dim", "swa_v_head_dim", "use_qk_norm", "qk_layernorm", "num_nextn_layers",
    "hc_mult", "engram_layers", "n_hash_layers", "attention_sink_bias", "add_swa_attention_sink_bias",
    "add_full_attention_sink_bias", "num_loops", "vocab_size_per_layer_input", "mlp_layer_types", "moe_layers_enum",
    "moe_layer_freq", "moe_layers", "interleave_moe_layer_step", "mlp_only_layers", "decoder_sparse_step",
    "num_heads_per_layer", "intermediate_sizes", "num_key_value_heads_per_layer", "share_kv", "tie_layers",
}
HARMLESS = re.compile(
    r"^_|token|dropout|pdrop|dtype|rope|rotary|_eps(ilon)?$|initializer|init_|^use_cache$|version|^architectures$|"
    r"max_position|^output_|pretraining_tp|^auto_map$|cache|logit|loss|router_|scal|^is_|^id2label$|label|"
    r"^problem_type$|^return_|^torchscript$|^task_|^summary_|^attn_implementation|gradient_checkpointing|"
    r"^max_length$|^min_length$|temperature|top_p|^num_beams|^do_sample|flash|^context_window_size$|softcap|"
    r"^prefill_chunk_size$|^attention_sink_size$|^reorder|^scoring_func$|^topk|^n_group$|^norm_topk_prob$|"
    r"transformers\.js|^name_or_path$|^unsloth|^seq_length$|^hidden_act$|^swiglu_limit$|^query_pre_attn_scalar$|"
    r"^ep_size$|kernels$"
)
COMMON = {
    "model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
    "intermediate_size", "vocab_size", "tie_word_embeddings", "sliding_window", "use_sliding_window",
    "max_window_layers", "attention_bias", "mlp_bias", "quantization_config", "hidden_act", "max_position_embeddings",
    "num_nextn_predict_layers", "mtp_num_hidden_layers", "vision_config", "text_config", "context_length",
}

"""The layers that a Hugging Face config describes, read key by key."""

from __future__ import annotations

from dataclasses import replace

from rlecon.errors import RleconError
from rlecon.layers import Experts, FeedForward, Layer
from rlecon.matrices import LARGEST, MOST_LAYERS, whole_number
from rlecon.mixers import Attention, DeltaNet, LatentAttention, Mamba2
from rlecon.readers.huggingface_families import OLD_NAMES


class Config:
    """A config with its old-style names translated, that records which keys were read."""

    def __init__(self, table, defaults=(), prefix=""):
        self.prefix, self.read, self.notes = prefix, set(), []
        self.table = dict(table)
        for old, new in OLD_NAMES.items():
            if old in self.table:
                value = self.table.pop(old)
                if self.table.get(new) is None:
                    self.table[new] = value
        self.assumed = {key: value for key, value in defaults if key not in self.table}

    def get(self, key, default=None):
        """Value of ``key``, or ``default`` when absent or null; the key counts as read."""
        self.read.add(key)
        if key in self.assumed:
            self.table[key] = self.assumed.pop(key)
            self.notes.append(f"{key} is absent: {self.table[key]} by the default of its class")
        value = self.table.get(key)
        return default if value is None else value

    def whole(self, key, default=None, least=1, most=LARGEST):
        """Whole number within bounds."""
        value = self.get(key, default)
        if value is None:
            raise RleconError("is missing or null", field=self.prefix + key, advice="the count depends on it")
        return whole_number(value, self.prefix + key, least, most)

    def switch(self, key, default=False):
        """True or false."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            raise RleconError("must be true or false", field=self.prefix + key, value=repr(value)[:60])
        return value

    def decide(self, rule):
        """A switch of a family: a constant, or the key that decides ("+key": true when absent; "!key": said)."""
        if isinstance(rule, bool):
            return rule
        key = rule.lstrip("+!")
        if rule.startswith("!") and key not in self.table:
            self.notes.append(f"{key} is absent: taken as false")
        return self.switch(key, rule.startswith("+"))

    def names(self, key, length, allowed):
        """A list of ``length`` words out of ``allowed``, or None when absent."""
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or any(not isinstance(word, str) for word in value):
            raise RleconError("must be a list of words", field=self.prefix + key)
        unknown = sorted(set(value) - set(allowed))
        if unknown:
            raise RleconError("names a kind of layer that is not counted here", field=self.prefix + key,
                              value=unknown[0][:60], allowed=", ".join(allowed))
        if len(value) != length:
            raise RleconError(f"has {len(value)} entries for {length} layers", field=self.prefix + key)
        return value

    def indices(self, key):
        """A list of layer numbers, empty when absent."""
        value = self.get(key, [])
        if not isinstance(value, list) or any(isinstance(i, bool) or not isinstance(i, int) for i in value):
            raise RleconError("must be a list of layer numbers", field=self.prefix + key)
        return set(value)


def decoder_layers(c, family, family_name, hidden, count):
    if family.mixers == "pattern":
        return _pattern_layers(c, family, hidden, count)
    full = _latent(c, family, family_name) if family.mixers == "latent" else _attention(c, family, hidden)
    mixers = [full] * count
    if family.mixers == "linear":
        mixers = _linear_mixers(c, full, count)
    elif family.windows and isinstance(full, Attention):
        mixers = _windowed(c, family, full, count)
    elif c.table.get("layer_types") == ["full_attention"] * count:
        c.read.add("layer_types")
    feeds = _feeds(c, family, family_name, hidden, count)
    norms = family.norms * hidden * (0 if not family.norm_weight else 2 if family.norm_bias else 1)
    return [Layer(mixer, feed, norms) for mixer, feed in zip(mixers, feeds, strict=True)]


def _attention(c, family, hidden):
    heads = c.whole("num_attention_heads")
    kv_heads = c.whole("num_key_value_heads", heads if family.kv_heads_default else None)
    if c.table.get("num_key_value_heads") is None and not family.multi_head:
        c.notes.append(f"num_key_value_heads is absent or null: {heads}, one per query head")
    if family.many_queries and c.switch("multi_query", True):
        kv_heads = 1
    head_dim = c.get("head_dim")
    if head_dim is None:
        if hidden % heads:
            raise RleconError("is missing, and hidden_size is no multiple of the heads", field=c.prefix + "head_dim")
        head_dim = hidden // heads
        if not family.multi_head:
            c.notes.append(f"head_dim is absent: {head_dim}, hidden_size over heads")
    else:
        head_dim = c.whole("head_dim")
    qk_norm = family.qk_norm
    if family.qk_norm_key and not c.decide(family.qk_norm_key):
        qk_norm = ""
    if c.table.get("use_qk_norm") is not None and not family.qk_norm_key:
        said = c.switch("use_qk_norm")  # Llama 4 norms without weights
        if said and not qk_norm and family.windows != "llama4":
            raise RleconError("norms of queries and keys are not known for this class", field=c.prefix + "use_qk_norm")
        if qk_norm and not said:
            raise RleconError("this class always norms queries and keys", field=c.prefix + "use_qk_norm")
    if c.table.get("qkv_bias") is not None and c.switch("qkv_bias") and not c.decide(family.qkv_bias):
        raise RleconError("this class has no biases of queries, keys and values", field=c.prefix + "qkv_bias")
    return Attention(
        heads, kv_heads, head_dim, qkv_bias=c.decide(family.qkv_bias), output_bias=c.decide(family.output_bias),
        qk_norm=qk_norm, gate=c.decide(family.gate), sinks=family.sinks,
    )


def _latent(c, family, family_name):
    for key in ("head_dim", "num_key_value_heads", "qk_head_dim"):
        c.read.add(key)  # not the sizes of latent attention
    heads = c.whole("num_attention_heads")
    index_heads = c.whole("index_n_heads", 0, least=0)
    if index_heads:
        c.notes.append(
            "sparse attention: an indexer keeps its own keys beside the cache, not in kv_bytes; attention itself reads "
            f"at most {c.whole('index_topk')} tokens"
        )
    return LatentAttention(
        heads, c.whole("kv_lora_rank"), c.whole("qk_nope_head_dim"), c.whole("qk_rope_head_dim"), c.whole("v_head_dim"),
        q_lora_rank=_query_rank(c, family_name), bias=c.decide(family.qkv_bias), index_heads=index_heads,
        index_head_dim=c.whole("index_head_dim") if index_heads else 0,
        index_tokens=c.whole("index_topk") if index_heads else 0,
    )


def _query_rank(c, family_name):
    """Rank of compressed queries, 0 = not compressed. DeepSeek-V2-Lite leaves the key out; later classes state it."""
    if "q_lora_rank" not in c.table:
        if family_name != "deepseek_v2":
            raise RleconError("is missing", field=c.prefix + "q_lora_rank", advice="null means uncompressed queries")
        c.notes.append("q_lora_rank is absent: queries are taken as uncompressed")
    return c.whole("q_lora_rank", 0, least=0)


def _linear_mixers(c, full, count):
    linear = DeltaNet(
        c.whole("linear_num_key_heads"), c.whole("linear_num_value_heads"), c.whole("linear_key_head_dim"),
        c.whole("linear_value_head_dim"), c.whole("linear_conv_kernel_dim"),
    )
    kinds = c.names("layer_types", count, ("linear_attention", "full_attention"))
    every = c.whole("full_attention_interval", most=MOST_LAYERS)
    if kinds is None:
        kinds = ["linear_attention" if (i + 1) % every else "full_attention" for i in range(count)]
    return [linear if kind == "linear_attention" else full for kind in kinds]


def _windowed(c, family, full, count):
    kinds = c.names("layer_types", count, ("full_attention", "sliding_attention", "chunked_attention"))
    if family.windows == "llama4":
        window = c.get("attention_chunk_size")
        rope = c.get("no_rope_layers")
        every = c.whole("no_rope_layer_interval", 4, most=MOST_LAYERS)
        if kinds is None and rope:
            if not isinstance(rope, list) or len(rope) != count:
                raise RleconError(f"must list {count} layers", field=c.prefix + "no_rope_layers")
            kinds = ["sliding_attention" if rotary else "full_attention" for rotary in rope]
        if kinds is None:
            kinds = ["sliding_attention" if (i + 1) % every else "full_attention" for i in range(count)]
        if window is not None:
            window = c.whole("attention_chunk_size")
            c.notes.append(f"attention within chunks of {window} tokens on most layers: the cache of a chunk is "
                           "counted as a window, its largest size")
    else:
        window = c.get("sliding_window")
        if window is not None and window is not False and window != 0:
            window = c.whole("sliding_window")
        if family.windows == "qwen":
            first = c.whole("max_window_layers", count, least=0)
            if not c.switch("use_sliding_window"):
                window = None
            if kinds is None:
                kinds = ["sliding_attention" if i >= first else "full_attention" for i in range(count)]
        elif kinds is None:
            every = {"alternate": 2, "olmo3": 4}.get(family.windows)
            if family.windows == "gemma3":
                every = c.whole("sliding_window_pattern", most=MOST_LAYERS)
            if family.windows == "layer_types":
                window = None
            full_layers = set() if every is None else set(range(every - 1, count, every))
            kinds = ["full_attention" if i in full_layers else "sliding_attention" for i in range(count)]
        c.read.add("sliding_window_pattern")
    if not window and family.windows in ("alternate", "gemma3", "olmo3") and set(kinds) != {"full_attention"}:
        raise RleconError("is null, yet layers of this class slide", field=c.prefix + "sliding_window")
    longest = c.get("max_position_embeddings")
    binds = window and not (isinstance(longest, int) and window >= longest and family.windows in ("all", "qwen"))
    if not binds:
        return [full] * count
    local = replace(full, window=window)
    return [full if kind == "full_attention" else local for kind in kinds]


def _feeds(c, family, family_name, hidden, count):
    layout = family.experts
    bias = c.decide(family.mlp_bias)

    def dense(key="intermediate_size", default=None):
        return FeedForward(c.whole(key, default), gated=_gated(c, family), bias=bias)

    if not layout:
        default = 4 * hidden if family_name in ("gpt2", "gpt_bigcode", "phi") else None
        return [dense(default=default)] * count
    if layout in ("mixtral", "gpt_oss", "olmoe"):
        experts = c.whole("num_experts" if layout == "olmoe" else "num_local_experts")
        biased = layout == "gpt_oss"
        per_token = c.whole("num_experts_per_tok")
        if c.table.get("experts_per_token") is not None and c.whole("experts_per_token") != per_token:
            raise RleconError("differs from num_experts_per_tok", field=c.prefix + "experts_per_token")
        return [Experts(experts, per_token, c.whole("intermediate_size"), bias=biased, router_bias=biased)] * count
    if layout.startswith("qwen"):
        return _qwen_feeds(c, layout, dense, count)
    if layout == "llama4":
        return _llama4_feeds(c, dense, count)
    return _deepseek_feeds(c, family_name, dense, count)


_GATED = ("silu", "swish", "swiglu", "gelu_pytorch_tanh", "gelu", "gelu_new")


def _gated(c, family):
    act = c.get("hidden_act")
    if family.gated and act is not None and act not in _GATED:
        raise RleconError("not known for a gated MLP", field=c.prefix + "hidden_act", value=str(act)[:60])
    return family.gated


def _qwen_feeds(c, layout, dense, count):
    experts = c.whole("num_experts", least=0)
    shared = c.whole("shared_expert_intermediate_size", 0, least=0)
    if shared and layout == "qwen":
        raise RleconError("this class has no shared experts", field=c.prefix + "shared_expert_intermediate_size")
    if layout == "qwen_shared" and not shared:
        raise RleconError("is missing", field=c.prefix + "shared_expert_intermediate_size")
    step, excluded = c.whole("decoder_sparse_step", 1, most=MOST_LAYERS), c.indices("mlp_only_layers")
    per_token = c.whole("num_experts_per_tok", least=0)
    width = c.whole("moe_intermediate_size")
    if not experts:
        return [dense()] * count
    routed = Experts(experts, per_token, width, shared_ffn=shared, shared_gate=bool(shared))
    sparse = [(i + 1) % step == 0 and i not in excluded for i in range(count)]
    return [routed if is_sparse else dense() for is_sparse in sparse]


def _llama4_feeds(c, dense, count):
    width = c.whole("intermediate_size")
    experts = Experts(c.whole("num_local_experts"), c.whole("num_experts_per_tok"), width, shared_ffn=width)
    step = c.whole("interleave_moe_layer_step", most=MOST_LAYERS)
    c.read.add("intermediate_size_mlp")  # of dense layers, of which there may be none
    routed = c.indices("moe_layers") or set(range(step - 1, count, step))
    return [experts if i in routed else dense("intermediate_size_mlp") for i in range(count)]


def _deepseek_feeds(c, family_name, dense, count):
    if c.get("n_routed_experts") is None:
        return [dense()] * count
    width = c.whole("moe_intermediate_size")
    kinds = c.names("mlp_layer_types", count, ("dense", "sparse"))
    if "n_shared_experts" not in c.table:
        raise RleconError("is missing", field=c.prefix + "n_shared_experts", advice="null or 0 means none")
    first = c.whole("first_k_dense_replace", None if kinds is None else 0, least=0)
    step = c.whole("moe_layer_freq", 1, most=MOST_LAYERS)
    offsets = family_name != "deepseek_v2" or c.get("topk_method") == "noaux_tc"
    experts = Experts(
        c.whole("n_routed_experts"), c.whole("num_experts_per_tok"), width,
        shared_ffn=width * c.whole("n_shared_experts", 0, least=0), score_bias=offsets,
    )
    if kinds is None:
        kinds = ["sparse" if i >= first and i % step == 0 else "dense" for i in range(count)]
    return [experts if kind == "sparse" else dense() for kind in kinds]


_PATTERN_WORDS = {"mamba": "M", "moe": "E", "attention": "*", "mlp": "-", "full_attention": "*"}


def _pattern_layers(c, family, hidden, count):
    """Nemotron-H: one part per layer, by a letter: M Mamba-2, * attention, E experts, - dense MLP."""
    pattern = c.get("hybrid_override_pattern")
    words = c.names("layers_block_type", count, tuple(_PATTERN_WORDS))
    if pattern is None and words is not None:
        pattern = "".join(_PATTERN_WORDS[word] for word in words)
    if not isinstance(pattern, str) or set(pattern) - set("M*E-"):
        raise RleconError("must be a string of the letters M, *, E and -", field=c.prefix + "hybrid_override_pattern",
                          value=repr(pattern)[:60])
    if len(pattern) != count:
        raise RleconError(f"has {len(pattern)} letters for {count} layers", field=c.prefix + "hybrid_override_pattern")
    if c.get("moe_latent_size"):
        raise RleconError("experts behind a latent projection are not counted here", field=c.prefix + "moe_latent_size")
    act = c.get("hidden_act", "relu2")
    if act != "relu2":
        raise RleconError("only the two-matrix MLP with relu2 is known for this class",
                          field=c.prefix + "mlp_hidden_act", value=str(act)[:60])
    bias, parts = c.decide(family.mlp_bias), {}
    inner_bias = c.switch("use_bias")
    for key in ("num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size", "mamba_num_heads",
                "mamba_head_dim", "ssm_state_size", "n_groups", "n_routed_experts", "n_shared_experts",
                "num_experts_per_tok", "moe_intermediate_size", "moe_shared_expert_intermediate_size", "expand",
                "mamba_proj_bias", "chunk_size", "conv_kernel", "use_conv_bias", "attention_bias", "sliding_window",
                "time_step_limit", "mamba_hidden_act", "attention_head_dim", "mtp_hybrid_override_pattern",
                "mtp_layers_block_type", "mamba_expand", "mamba_ssm_cache_dtype"):
        c.read.add(key)
    if c.get("sliding_window"):
        raise RleconError("not known for this class", field=c.prefix + "sliding_window")
    if "M" in pattern:
        parts["M"] = Layer(Mamba2(
            c.whole("mamba_num_heads"), c.whole("mamba_head_dim"), c.whole("n_groups"), c.whole("ssm_state_size"),
            c.whole("conv_kernel", 4), conv_bias=c.switch("use_conv_bias", True),
            bias=c.switch("mamba_proj_bias", inner_bias) or inner_bias,
        ), None, hidden)
    if "*" in pattern:
        parts["*"] = Layer(_attention(c, family, hidden), None, hidden)
    if "E" in pattern:
        if "n_shared_experts" not in c.table:
            raise RleconError("is missing", field=c.prefix + "n_shared_experts", advice="null or 0 means none")
        shared = c.whole("n_shared_experts", 0, least=0)
        parts["E"] = Layer(None, Experts(
            c.whole("n_routed_experts"), c.whole("num_experts_per_tok"), c.whole("moe_intermediate_size"), gated=False,
            shared_ffn=c.whole("moe_shared_expert_intermediate_size") * shared if shared else 0, bias=bias,
            score_bias=True,
        ), hidden)
    if "-" in pattern:
        parts["-"] = Layer(None, FeedForward(c.whole("intermediate_size"), gated=False, bias=bias), hidden)
    return [parts[letter] for letter in pattern]

"""A catalogue entry of a model, read with care: unknown keys, missing sizes and wrong kinds are refused by name."""

from __future__ import annotations

from dataclasses import replace

from rlecon.errors import RleconError, nearest
from rlecon.layers import Experts, FeedForward, Layer, group
from rlecon.matrices import LARGEST, MOST_LAYERS, whole_number
from rlecon.mixers import Attention, DeltaNet, LatentAttention
from rlecon.vision import VisionTower

_SHAPE_KEYS = {
    "layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab", "tied_embeddings", "norms_per_layer",
    "qk_norm", "qkv_bias", "attention_output_bias", "mlp_bias", "sinks", "attention_gate", "moe", "mla",
    "sliding_window", "linear_attention", "vision", "mtp_layers", "linear_bits", "expert_bits",
}
_TABLE_KEYS = {
    "moe": {
        "experts", "experts_per_token", "expert_ffn", "shared_experts", "shared_ffn", "shared_gate", "bias",
        "router_bias", "score_bias", "first_dense_layers", "every",
    },
    "mla": {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"},
    "sliding_window": {"tokens", "full_every"},
    "linear_attention": {"key_heads", "value_heads", "key_head_dim", "value_head_dim", "conv_kernel", "full_every"},
    "vision": set(VisionTower.__annotations__),
}
_RECORD_KEYS = {
    "moe_twin",
    "id", "name", "source", "as_of", "kind", "notes", "total_published", "active_published", "published_status",
    "published_source", "title", "aliases", "mtp_parameters",
}


def fields_of(entry: dict, name: str | None = None) -> dict:
    """The fields of an ``Architecture`` that an entry stands for; ``Architecture.from_entry`` says what it holds."""
    known = _SHAPE_KEYS | _RECORD_KEYS
    for key in entry:
        if key not in known:
            raise RleconError("unknown key of a model", field=key, advice=nearest(key, known))
    get = _Getter(entry)
    hidden, count = get.whole("hidden"), get.whole("layers", most=MOST_LAYERS)
    heads = get.whole("heads")
    full = _mixer(get, heads)
    window, linear, moe = get.table("sliding_window"), get.table("linear_attention"), get.table("moe")
    local = recurrent = routed = dense = None
    if window:
        if not isinstance(full, Attention):
            raise RleconError("a sliding window needs kv_heads and head_dim", field="sliding_window")
        local = replace(full, window=window.whole("tokens"))
    if linear:
        sizes = ("key_heads", "value_heads", "key_head_dim", "value_head_dim")
        recurrent = DeltaNet(*map(linear.whole, sizes), conv_kernel=linear.whole("conv_kernel", 4))
    if moe:
        routed = Experts(
            moe.whole("experts"), moe.whole("experts_per_token"), moe.whole("expert_ffn"),
            shared_ffn=moe.whole("shared_experts", 0, least=0) * moe.whole("shared_ffn", 0, least=0),
            bias=moe.switch("bias"), router_bias=moe.switch("router_bias"), score_bias=moe.switch("score_bias"),
            shared_gate=moe.switch("shared_gate"),
        )
        first, every = moe.whole("first_dense_layers", 0, least=0), moe.whole("every", 1)
    if not moe or first or every > 1:
        dense = FeedForward(get.whole("ffn"), bias=get.switch("mlp_bias"))
    layers = []
    for i in range(count):
        mixer = full
        if local and (i + 1) % window.whole("full_every", MOST_LAYERS + 1):
            mixer = local
        if recurrent and (i + 1) % linear.whole("full_every", MOST_LAYERS + 1):
            mixer = recurrent
        is_routed = bool(moe) and i >= first and (i + 1) % every == 0
        layers.append(Layer(mixer, routed if is_routed else dense, get.whole("norms_per_layer", 2) * hidden))
    notes = list(entry.get("notes", ()))
    if get.whole("mtp_layers", 0, least=0):
        notes.append(f"{entry['mtp_layers']} multi-token-prediction layer(s) not counted")
    vision, vision_parameters = get.table("vision"), 0
    if vision:
        vision_parameters = VisionTower(**{key: vision.whole(key, None if key != "deepstack" else 0,
                                                             least=0 if key == "deepstack" else 1)
                                           for key in VisionTower.__annotations__}).parameters
    return {
        "name": str(name or entry.get("name", "")),
        "hidden": hidden,
        "vocab": get.whole("vocab"),
        "tied_embeddings": get.switch("tied_embeddings", required=True),
        "stack": group(layers),
        "final_norm_parameters": hidden,
        "vision_parameters": vision_parameters,
        "linear_bits": entry.get("linear_bits", 16),
        "expert_bits": entry.get("expert_bits", 16),
        "notes": tuple(notes),
    }


def _mixer(get, heads):
    mla = get.table("mla")
    if mla:
        return LatentAttention(
            heads, *(mla.whole(k) for k in ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")),
            q_lora_rank=mla.whole("q_lora_rank", 0, least=0),
        )
    return Attention(
        heads, get.whole("kv_heads"), get.whole("head_dim"), qkv_bias=get.switch("qkv_bias"),
        output_bias=get.switch("attention_output_bias"), qk_norm=get.entry.get("qk_norm", ""),
        gate=get.switch("attention_gate"), sinks=get.switch("sinks"),
    )


class _Getter:
    """Typed access to a table of an entry, with errors that name the field."""

    def __init__(self, entry, prefix=""):
        if not isinstance(entry, dict):
            raise RleconError("must be a table", field=prefix.rstrip(".") or "model")
        self.entry, self.prefix = entry, prefix

    def whole(self, key, default=None, least=1, most=LARGEST):
        value = self.entry.get(key, default)
        if value is None:
            raise RleconError("is missing", field=self.prefix + key, advice="give the dimension of the model")
        if key not in self.entry:
            return value
        return whole_number(value, self.prefix + key, least, most)

    def switch(self, key, required=False):
        value = self.entry.get(key, None if required else False)
        if not isinstance(value, bool):
            raise RleconError("must be true or false", field=self.prefix + key, value=repr(value)[:40])
        return value

    def table(self, key):
        if key not in self.entry:
            return None
        inner = _Getter(self.entry[key], f"{self.prefix}{key}.")
        for name in inner.entry:
            if name not in _TABLE_KEYS[key]:
                advice = nearest(str(name), _TABLE_KEYS[key])
                raise RleconError("unknown key of a model", field=inner.prefix + str(name), advice=advice)
        return inner

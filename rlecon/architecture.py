"""Parameters, KV cache and attention work counted from the shape of a decoder.

A model is a pile of layers. Each layer has a mixer (attention, or a recurrent replacement of it) and a feed-forward
part (dense or routed experts). Everything below is a sum over those parts: no total is stored anywhere.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rlecon.errors import RleconError

LARGEST = 10**9  # of any dimension
MOST_LAYERS = 10_000


def _whole(value, field, least=1, most=LARGEST):
    """Return ``value`` as an int between ``least`` and ``most``, or raise."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        shown = value if isinstance(value, (int, float, str)) or value is None else type(value).__name__
        raise RleconError(
            "must be a whole number", field=field, value=repr(shown)[:40], allowed=f"{least} to {most}",
        )
    return int(value)


def _check_fields(part, least_zero=()):
    """Check every field of ``part`` annotated as an int."""
    for name, kind in type(part).__annotations__.items():
        if kind == "int":
            _whole(getattr(part, name), name, 0 if name in least_zero else 1)


@dataclass(frozen=True)
class Linear:
    """One weight matrix (``inputs`` x ``outputs``), ``copies`` times, with or without a bias of ``outputs``."""

    inputs: int
    outputs: int
    bias: bool = False
    copies: int = 1
    adapted: bool = True  # does LoRA "on all linear layers" reach it (routers and gates: no)

    @property
    def parameters(self):
        """Weights and biases of all copies."""
        return self.copies * (self.inputs * self.outputs + (self.outputs if self.bias else 0))

    @property
    def parameters_per_rank(self):
        """Parameters that LoRA adds for each unit of rank: one column of A and one row of B."""
        return self.copies * (self.inputs + self.outputs) if self.adapted else 0


@dataclass(frozen=True)
class Attention:
    """Softmax attention: MHA, GQA or MQA by its number of KV heads; over a sliding window if ``window`` > 0.

    ``qk_norm`` is "" (none), "head" (a weight per head dimension, shared by the heads) or "full" (a weight per
    query and key channel). ``gate`` doubles the query projection (an output gate); ``sinks`` adds one learned
    logit per head.
    """

    heads: int
    kv_heads: int
    head_dim: int
    window: int = 0
    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: str = ""
    gate: bool = False
    sinks: bool = False

    label = "attention"
    state_bytes = 0

    def __post_init__(self):
        _check_fields(self, ("window",))
        if self.heads % self.kv_heads:
            raise RleconError(
                "query heads must share KV heads evenly", field="kv_heads", value=self.kv_heads,
                allowed=f"divisors of heads = {self.heads}",
            )
        if self.qk_norm not in ("", "head", "full"):
            raise RleconError("unknown kind of norm", field="qk_norm", value=str(self.qk_norm), allowed="head, full")

    @property
    def kind(self):
        """ "mha", "gqa" or "mqa"."""
        if self.kv_heads == self.heads:
            return "mha"
        return "mqa" if self.kv_heads == 1 else "gqa"

    def linears(self, hidden):
        """Query (with the gate), key, value and output projections."""
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return (
            Linear(hidden, queries * (2 if self.gate else 1), self.qkv_bias),
            Linear(hidden, keys, self.qkv_bias, copies=2),
            Linear(queries, hidden, self.output_bias),
        )

    @property
    def norm_parameters(self):
        """Weights of the query and key norms."""
        if self.qk_norm == "full":
            return (self.heads + self.kv_heads) * self.head_dim
        return 2 * self.head_dim if self.qk_norm else 0

    @property
    def other_parameters(self):
        """Learned sink logits."""
        return self.heads if self.sinks else 0

    @property
    def kv_elements(self):
        """Keys and values cached per token."""
        return 2 * self.kv_heads * self.head_dim

    @property
    def decode_flops(self):
        """FLOP per generated token and token of context: QK^T and AV, 2 FLOP per multiply and add."""
        return 4 * self.heads * self.head_dim

    training_flops = decode_flops


@dataclass(frozen=True)
class LatentAttention:
    """Multi-head latent attention: keys and values pass through a cached latent of ``kv_lora_rank`` + rope.

    ``q_lora_rank`` = 0 means that queries are not compressed. ``index_heads`` > 0 adds the indexer of DeepSeek
    sparse attention: it scores all tokens and keeps ``index_tokens`` of them for the attention itself.
    """

    heads: int
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    q_lora_rank: int = 0
    bias: bool = False
    index_heads: int = 0
    index_head_dim: int = 0
    index_tokens: int = 0

    label = "attention"
    kind = "mla"
    kv_heads = 1
    state_bytes = 0

    def __post_init__(self):
        _check_fields(self, ("q_lora_rank", "index_heads", "index_head_dim", "index_tokens"))
        if self.index_heads and not (self.index_head_dim and self.index_tokens and self.q_lora_rank):
            raise RleconError("an indexer needs index_head_dim, index_tokens and q_lora_rank", field="index_heads",
                              value=self.index_heads)

    @property
    def head_dim(self):
        """Query and key dimensions per head, rope included."""
        return self.qk_nope_head_dim + self.qk_rope_head_dim

    @property
    def window(self):
        """Tokens that the attention itself reads when an indexer chooses them; 0 = all. Storage is never limited."""
        return self.index_tokens

    def linears(self, hidden):
        """Down and up projections of queries and of the KV latent, the output projection, the indexer."""
        queries = self.heads * self.head_dim
        if self.q_lora_rank:
            down = (Linear(hidden, self.q_lora_rank, self.bias), Linear(self.q_lora_rank, queries))
        else:
            down = (Linear(hidden, queries),)
        kept = down + (
            Linear(hidden, self.kv_lora_rank + self.qk_rope_head_dim, self.bias),
            Linear(self.kv_lora_rank, self.heads * (self.qk_nope_head_dim + self.v_head_dim)),
            Linear(self.heads * self.v_head_dim, hidden, self.bias),
        )
        if self.index_heads:
            kept += (
                Linear(self.q_lora_rank, self.index_heads * self.index_head_dim),
                Linear(hidden, self.index_head_dim),
                Linear(hidden, self.index_heads, adapted=False),
            )
        return kept

    @property
    def norm_parameters(self):
        """Norms of the latents (and, with bias, of the indexer's key)."""
        return self.q_lora_rank + self.kv_lora_rank + (2 * self.index_head_dim if self.index_heads else 0)

    other_parameters = 0

    @property
    def kv_elements(self):
        """Latent and rope key cached per token."""
        return self.kv_lora_rank + self.qk_rope_head_dim

    @property
    def decode_flops(self):
        """FLOP per generated token and token of context in absorbed form: scores and values over the latent."""
        return 2 * self.heads * (2 * self.kv_lora_rank + self.qk_rope_head_dim)

    @property
    def training_flops(self):
        """FLOP per token and token of context with keys and values expanded, as prefill and training do."""
        return 2 * self.heads * (self.qk_nope_head_dim + self.qk_rope_head_dim + self.v_head_dim)

    @property
    def index_flops(self):
        """FLOP per token and token of context of the indexer's scores."""
        return 2 * self.index_heads * self.index_head_dim


@dataclass(frozen=True)
class DeltaNet:
    """Gated DeltaNet: linear attention with a fixed state per sequence.

    Engines keep the recurrent state in fp32 and the tail of the short convolution in bf16.
    """

    key_heads: int
    value_heads: int
    key_head_dim: int
    value_head_dim: int
    conv_kernel: int = 4

    label = "linear attention"
    kind = "linear"
    kv_elements = 0
    window = 0

    def __post_init__(self):
        _check_fields(self)

    @property
    def channels(self):
        """Channels of the short convolution: queries, keys and values."""
        return 2 * self.key_heads * self.key_head_dim + self.value_heads * self.value_head_dim

    def linears(self, hidden):
        """Queries, keys, values and gate; the two scalars per head; the output projection."""
        values = self.value_heads * self.value_head_dim
        return (
            Linear(hidden, self.channels + values),
            Linear(hidden, 2 * self.value_heads),
            Linear(values, hidden),
        )

    @property
    def norm_parameters(self):
        """Weights of the gated output norm, one per value dimension."""
        return self.value_head_dim

    @property
    def other_parameters(self):
        """Convolution weights, decay and step bias."""
        return self.channels * self.conv_kernel + 2 * self.value_heads

    @property
    def state_bytes(self):
        """Bytes per sequence: fp32 state and the bf16 tail of the convolution."""
        state = 4 * self.value_heads * self.key_head_dim * self.value_head_dim
        return state + 2 * self.channels * (self.conv_kernel - 1)


@dataclass(frozen=True)
class Mamba2:
    """Mamba-2 mixer; the state is kept in fp32, the tail of the convolution in bf16."""

    heads: int
    head_dim: int
    groups: int
    state: int
    conv_kernel: int = 4
    conv_bias: bool = True
    bias: bool = False

    label = "mamba"
    kind = "mamba2"
    kv_elements = 0
    window = 0

    def __post_init__(self):
        _check_fields(self)

    @property
    def channels(self):
        """Channels of the convolution: input, B and C."""
        return self.heads * self.head_dim + 2 * self.groups * self.state

    def linears(self, hidden):
        """Input projection (gate, convolved channels, one step per head) and output projection."""
        inner = self.heads * self.head_dim
        return (Linear(hidden, inner + self.channels + self.heads, self.bias), Linear(inner, hidden, self.bias))

    @property
    def norm_parameters(self):
        """Weights of the gated norm."""
        return self.heads * self.head_dim

    @property
    def other_parameters(self):
        """Convolution, step bias, decay and skip."""
        return self.channels * (self.conv_kernel + (1 if self.conv_bias else 0)) + 3 * self.heads

    @property
    def state_bytes(self):
        """Bytes per sequence: fp32 state and the bf16 tail of the convolution."""
        return 4 * self.heads * self.head_dim * self.state + 2 * self.channels * (self.conv_kernel - 1)


@dataclass(frozen=True)
class FeedForward:
    """Dense MLP: three matrices when gated (SwiGLU), else two."""

    ffn: int
    gated: bool = True
    bias: bool = False

    def __post_init__(self):
        _check_fields(self)

    def linears(self, hidden):
        """Up (and gate) and down projections."""
        return (
            Linear(hidden, self.ffn, self.bias, copies=2 if self.gated else 1),
            Linear(self.ffn, hidden, self.bias),
        )


@dataclass(frozen=True)
class Experts:
    """Routed experts, of which a token visits ``experts_per_token``, with ``shared_ffn`` channels that all tokens use.

    ``score_bias``: one load-balancing offset per expert, added to the router's scores; ``router_bias``: a bias of the
    router's matrix; ``bias``: biases inside the experts; ``shared_gate``: a learned scalar gate on the shared part.
    """

    experts: int
    experts_per_token: int
    expert_ffn: int
    shared_ffn: int = 0
    gated: bool = True
    bias: bool = False
    router_bias: bool = False
    score_bias: bool = False
    shared_gate: bool = False

    def __post_init__(self):
        _check_fields(self, ("shared_ffn",))
        if self.experts_per_token > self.experts:
            raise RleconError(
                "a token cannot visit more experts than there are", field="experts_per_token",
                value=self.experts_per_token, allowed=f"1 to experts = {self.experts}",
            )

    def linears(self, hidden):
        """Matrices of one expert."""
        return FeedForward(self.expert_ffn, self.gated, self.bias).linears(hidden)

    def shared_linears(self, hidden):
        """Matrices of the shared experts and of their gate."""
        if not self.shared_ffn:
            return ()
        gate = (Linear(hidden, 1, adapted=False),) if self.shared_gate else ()
        return FeedForward(self.shared_ffn, self.gated, self.bias).linears(hidden) + gate

    def router(self, hidden):
        """The matrix that scores the experts."""
        return Linear(hidden, self.experts, self.router_bias, adapted=False)


@dataclass(frozen=True)
class Layer:
    """A mixer and a feed-forward part, either of which may be missing, with their norms."""

    mixer: Attention | LatentAttention | DeltaNet | Mamba2 | None
    feed: FeedForward | Experts | None
    norm_parameters: int


@dataclass(frozen=True)
class VisionTower:
    """A vision transformer of the Qwen3-VL kind: patches, learned positions, blocks with biases, mergers.

    ``merged`` is the side of the square of patches that becomes one token; ``deepstack`` the number of extra
    mergers that feed early layers of the decoder.
    """

    layers: int
    hidden: int
    ffn: int
    patch_elements: int
    positions: int
    merged: int
    output: int
    deepstack: int = 0

    def __post_init__(self):
        _check_fields(self, ("deepstack",))

    @property
    def parameters(self):
        """All weights, biases and norms."""
        width, wide = self.hidden, self.hidden * self.merged**2
        block = (
            Linear(width, 3 * width, True).parameters + Linear(width, width, True).parameters
            + Linear(width, self.ffn, True).parameters + Linear(self.ffn, width, True).parameters + 4 * width
        )
        joint = Linear(wide, wide, True).parameters + Linear(wide, self.output, True).parameters
        patches = Linear(self.patch_elements, width, True).parameters
        return (
            patches + self.positions * width + self.layers * block
            + joint + 2 * width + self.deepstack * (joint + 2 * wide)
        )


def group(layers: Iterable[Layer]):
    """Return ``((count, layer), ...)``: equal layers counted together, in order of first appearance."""
    counts: dict[Layer, int] = {}
    for layer in layers:
        counts[layer] = counts.get(layer, 0) + 1
    return tuple((count, layer) for layer, count in counts.items())


@dataclass(frozen=True)
class Architecture:
    """The shape of a language model, from which its sizes follow.

    Arguments: ``name``; ``hidden`` (channels of the residual stream); ``vocab`` (rows of the embedding);
    ``tied_embeddings`` (the head reuses them); ``stack`` as ``group`` returns it; ``final_norm_parameters``;
    ``position_parameters`` (learned positions); ``head_bias``; ``vision_parameters``; ``linear_bits`` and
    ``expert_bits`` (bits per parameter as stored, 16 unless quantized); ``notes`` (what a reader should know).

    All counts are exact integers, biases and norms included. Multi-token-prediction layers are never counted.

    >>> a = Architecture.from_entry(dict(layers=36, hidden=4096, heads=32, kv_heads=8, head_dim=128, ffn=12288,
    ...                                  vocab=151936, tied_embeddings=False, qk_norm="head"))
    >>> a.total_parameters, int(a.kv_bytes_per_token())
    (8190735360, 147456)
    """

    name: str
    hidden: int
    vocab: int
    tied_embeddings: bool
    stack: tuple[tuple[int, Layer], ...]
    final_norm_parameters: int
    position_parameters: int = 0
    head_bias: bool = False
    vision_parameters: int = 0
    linear_bits: float = 16
    expert_bits: float = 16
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        _whole(self.hidden, "hidden")
        _whole(self.vocab, "vocab")
        _whole(self.layers, "layers", 1, MOST_LAYERS)
        windows = {layer.mixer.window for _, layer in self.stack if layer.mixer is not None and layer.mixer.window}
        if len(windows) > 1:
            raise RleconError(
                "layers with different sliding windows cannot be counted", field="window",
                value=", ".join(map(str, sorted(windows))), unit="tokens", allowed="one window size",
            )

    # What the layers hold

    def _sum(self, measure):
        return sum(count * measure(layer) for count, layer in self.stack)

    def _sum_mixers(self, measure, kinds=(Attention, LatentAttention, DeltaNet, Mamba2)):
        return sum(count * measure(layer.mixer) for count, layer in self.stack if isinstance(layer.mixer, kinds))

    def _sum_experts(self, measure):
        return sum(count * measure(layer.feed) for count, layer in self.stack if isinstance(layer.feed, Experts))

    @cached_property
    def layers(self) -> int:
        """Layers of the decoder, of any kind."""
        return self._sum(lambda layer: 1)

    @cached_property
    def moe_layers(self) -> int:
        """Layers with routed experts."""
        return self._sum_experts(lambda feed: 1)

    @cached_property
    def attention_layers(self) -> int:
        """Layers with softmax attention, which cache keys and values."""
        return self._sum_mixers(lambda mixer: 1, (Attention, LatentAttention))

    def _first(self, kinds, of="mixer"):
        return next((getattr(layer, of) for _, layer in self.stack if isinstance(getattr(layer, of), kinds)), None)

    @cached_property
    def heads(self) -> int:
        """Query heads of an attention layer; 0 without attention."""
        mixer = self._first((Attention, LatentAttention))
        return mixer.heads if mixer else 0

    @cached_property
    def kv_heads(self) -> int:
        """KV heads of an attention layer (1 for MLA, whose latent all heads share); 0 without attention."""
        mixer = self._first((Attention, LatentAttention))
        return mixer.kv_heads if mixer else 0

    @cached_property
    def kv_shards_max(self) -> int:
        """GPUs of a tensor-parallel group among which the KV cache can be split: KV heads, 1 for MLA."""
        mixers = [layer.mixer for _, layer in self.stack]
        return min((m.kv_heads for m in mixers if isinstance(m, (Attention, LatentAttention))), default=1)

    @cached_property
    def experts(self) -> int:
        """Routed experts of a MoE layer; 0 for a dense model."""
        feed = self._first(Experts, "feed")
        return feed.experts if feed else 0

    @cached_property
    def experts_per_token(self) -> int:
        """Routed experts that one token visits in a MoE layer; 0 for a dense model."""
        feed = self._first(Experts, "feed")
        return feed.experts_per_token if feed else 0

    # Parameters

    @cached_property
    def embedding_parameters(self) -> int:
        """Parameters of the input embedding (once, also when the head reuses it)."""
        return self.vocab * self.hidden

    @cached_property
    def head_parameters(self) -> int:
        """Parameters of the output head as a matrix: vocab x hidden, tied or not."""
        return self.vocab * self.hidden

    @cached_property
    def mixer_parameters(self) -> int:
        """Parameters of the linear layers of attention and of its recurrent replacements."""
        return self._sum_mixers(lambda mixer: sum(part.parameters for part in mixer.linears(self.hidden)))

    @cached_property
    def dense_mlp_parameters(self) -> int:
        """Parameters of the dense MLPs."""
        return sum(
            count * part.parameters
            for count, layer in self.stack if isinstance(layer.feed, FeedForward)
            for part in layer.feed.linears(self.hidden)
        )

    @cached_property
    def shared_expert_parameters(self) -> int:
        """Parameters of shared experts and their gates."""
        return self._sum_experts(lambda feed: sum(part.parameters for part in feed.shared_linears(self.hidden)))

    @cached_property
    def router_parameters(self) -> int:
        """Parameters of the matrices that score experts."""
        return self._sum_experts(lambda feed: feed.router(self.hidden).parameters)

    @cached_property
    def expert_parameters(self) -> int:
        """Parameters of all routed experts of all MoE layers."""
        return self._sum_experts(lambda feed: feed.experts * sum(part.parameters for part in feed.linears(self.hidden)))

    @cached_property
    def active_expert_parameters(self) -> int:
        """Parameters of the routed experts that one token visits, over all MoE layers."""
        return self._sum_experts(
            lambda feed: feed.experts_per_token * sum(part.parameters for part in feed.linears(self.hidden))
        )

    @cached_property
    def norm_parameters(self) -> int:
        """Weights (and biases) of all norms, those inside attention included."""
        return (
            self._sum(lambda layer: layer.norm_parameters)
            + self._sum_mixers(lambda mixer: mixer.norm_parameters)
            + self.final_norm_parameters
        )

    @cached_property
    def other_parameters(self) -> int:
        """The rest: sinks, short convolutions, decays, load-balancing offsets, learned positions, bias of the head."""
        return (
            self._sum_mixers(lambda mixer: mixer.other_parameters)
            + self._sum_experts(lambda feed: feed.experts if feed.score_bias else 0)
            + self.position_parameters
            + (self.vocab if self.head_bias else 0)
        )

    @cached_property
    def trunk_parameters(self) -> int:
        """Parameters of the linear layers that every token passes, outside routed experts and head.

        Attention, dense MLPs, shared experts and routers; biases of these layers included, norms not.
        """
        return (
            self.mixer_parameters + self.dense_mlp_parameters + self.shared_expert_parameters + self.router_parameters
        )

    def parts(self) -> dict[str, int]:
        """Parameters by part; the parts add up to ``total_parameters``. Parts that a model lacks are left out.

        >>> a = Architecture.from_entry(dict(layers=2, hidden=8, heads=2, kv_heads=1, head_dim=4, ffn=16, vocab=32,
        ...                                  tied_embeddings=True))
        >>> sum(a.parts().values()) == a.total_parameters
        True
        """
        attention = self._sum_mixers(
            lambda mixer: sum(part.parameters for part in mixer.linears(self.hidden)), (Attention, LatentAttention)
        )
        rows = {
            "embedding": self.embedding_parameters,
            "attention": attention,
            "recurrent mixers": self.mixer_parameters - attention,
            "MLP": self.dense_mlp_parameters,
            "experts": self.expert_parameters,
            "shared experts": self.shared_expert_parameters,
            "router": self.router_parameters,
            "norms": self.norm_parameters,
            "other": self.other_parameters,
            "head": 0 if self.tied_embeddings else self.head_parameters,
            "vision": self.vision_parameters,
        }
        return {part: count for part, count in rows.items() if count}

    def table(self) -> list[tuple[str, int, float]]:
        """Rows ``(part, parameters, share of the total)`` for printing, in the order of ``parts``."""
        return [(part, count, count / self.total_parameters) for part, count in self.parts().items()]

    @cached_property
    def total_parameters(self) -> int:
        """All parameters: a tied embedding once, a vision tower where known, multi-token prediction never."""
        return sum(self.parts().values())

    @cached_property
    def active_parameters(self) -> int:
        """Parameters that serve one text token; the input embedding, a look-up, counts in full, as in model names.

        In a dense model this is the total. In a sparse one the experts that a token does not visit are left out,
        and so is a vision tower, which text does not pass.
        """
        if not self.moe_layers:
            return self.total_parameters
        return self.total_parameters - self.expert_parameters + self.active_expert_parameters - self.vision_parameters

    @cached_property
    def active_parameters_matmul(self) -> int:
        """Parameters that multiply each token: trunk, visited experts and the head once; no input embedding."""
        return self.trunk_parameters + self.active_expert_parameters + self.head_parameters

    @cached_property
    def lora_parameters_per_rank(self) -> int:
        """Trainable parameters per unit of LoRA rank on all linear layers but routed experts, routers and head."""
        mixers = self._sum_mixers(lambda mixer: sum(part.parameters_per_rank for part in mixer.linears(self.hidden)))
        dense = sum(
            count * part.parameters_per_rank
            for count, layer in self.stack if isinstance(layer.feed, FeedForward)
            for part in layer.feed.linears(self.hidden)
        )
        shared = self._sum_experts(
            lambda feed: sum(part.parameters_per_rank for part in feed.shared_linears(self.hidden))
        )
        return mixers + dense + shared

    @cached_property
    def lora_expert_parameters_per_rank(self) -> int:
        """Trainable parameters per unit of LoRA rank if every routed expert gets its own adapter."""
        return self._sum_experts(
            lambda feed: feed.experts * sum(part.parameters_per_rank for part in feed.linears(self.hidden))
        )

    # Memory

    def weight_bytes(self, weight_bits=None, head_bits=16, expert_bits=None):
        """Bytes of the weights.

        ``weight_bits``: bits per parameter of the decoder's linear layers and routed experts, None = as stored;
        ``expert_bits``: of the routed experts, if they differ; ``head_bits``: of all else (embedding, head, routers,
        norms, vision), which stays in 16 bits when the rest is quantized. Broadcasts.

        >>> a = Architecture.from_entry(dict(layers=2, hidden=8, heads=2, kv_heads=1, head_dim=4, ffn=16, vocab=32,
        ...                                  tied_embeddings=True))
        >>> float(a.weight_bytes(16)) == 2 * a.total_parameters
        True
        """
        if expert_bits is None:
            expert_bits = self.expert_bits if weight_bits is None else weight_bits
        linear_bits = np.asarray(self.linear_bits if weight_bits is None else weight_bits, dtype=float)
        linear = self.trunk_parameters - self.router_parameters
        rest = self.total_parameters - linear - self.expert_parameters
        return (linear * linear_bits + self.expert_parameters * np.asarray(expert_bits, dtype=float)
                + rest * np.asarray(head_bits, dtype=float)) / 8

    @cached_property
    def kv_elements_per_token(self) -> int:
        """Cached elements per token of context over the layers whose cache grows without bound.

        2 x kv_heads x head_dim for each layer of full attention, kv_lora_rank + rope for MLA.
        """
        return self._sum_mixers(
            lambda mixer: 0 if mixer.window and isinstance(mixer, Attention) else mixer.kv_elements
        )

    @cached_property
    def window_kv_elements_per_token(self) -> int:
        """Cached elements per token over the sliding-window layers, up to ``window_tokens`` tokens."""
        return self._sum_mixers(lambda mixer: mixer.kv_elements if mixer.window else 0, Attention)

    @cached_property
    def window_tokens(self) -> int:
        """Tokens in the window (or chosen by a sparse-attention indexer); 0 where there is none."""
        return max((layer.mixer.window for _, layer in self.stack if layer.mixer is not None), default=0)

    @cached_property
    def state_bytes(self) -> int:
        """Fixed bytes per sequence of linear-attention and Mamba layers: fp32 states, bf16 convolution tails."""
        return self._sum_mixers(lambda mixer: mixer.state_bytes)

    def kv_bytes_per_token(self, bits=16):
        """Bytes that one more token of context adds, before any window is full; ``bits`` per element. Broadcasts."""
        elements = self.kv_elements_per_token + self.window_kv_elements_per_token
        return elements * np.asarray(bits, dtype=float) / 8

    def kv_bytes(self, context, kv_bits=16):
        """Bytes of one sequence of ``context`` tokens: growing layers, full windows and fixed states. Broadcasts."""
        context = np.asarray(context, dtype=float)
        if np.any(~(context >= 0)):
            raise RleconError("must not be negative", field="context", value=float(np.min(context)), unit="tokens",
                              allowed="0 or more")
        kept = self.kv_elements_per_token * context
        if self.window_kv_elements_per_token:
            kept = kept + self.window_kv_elements_per_token * np.minimum(context, self.window_tokens)
        return kept * np.asarray(kv_bits, dtype=float) / 8 + self.state_bytes

    # Attention work

    @cached_property
    def attention_flops_per_context_token(self) -> int:
        """Decode FLOP per generated token and token of context over layers that read all of it."""
        return self._attention_flops("decode_flops", windowed=False)

    @cached_property
    def window_attention_flops_per_context_token(self) -> int:
        """Decode FLOP per generated token and token of context within the window."""
        return self._attention_flops("decode_flops", windowed=True)

    @cached_property
    def attention_flops_per_context_token_training(self) -> int:
        """Forward FLOP per token and token of context in training and prefill, before the causal half."""
        return self._attention_flops("training_flops", windowed=False)

    @cached_property
    def window_attention_flops_per_context_token_training(self) -> int:
        """The same over sliding-window layers, per token of context within the window."""
        return self._attention_flops("training_flops", windowed=True)

    def _attention_flops(self, which, windowed):
        def work(mixer):
            own = getattr(mixer, which) if bool(mixer.window) is windowed else 0
            index = mixer.index_flops if isinstance(mixer, LatentAttention) and not windowed else 0
            return own + index

        return self._sum_mixers(work, (Attention, LatentAttention))

    # Words

    @cached_property
    def attention(self) -> str:
        """Words: "mha", "gqa", "mqa" or "mla", with "sliding window", "linear" or "mamba2" where layers differ."""
        kinds: list[str] = []
        for _, layer in self.stack:
            if layer.mixer is not None and layer.mixer.kind not in kinds:
                kinds.append(layer.mixer.kind)
        kinds.sort(key=lambda kind: kind in ("linear", "mamba2"))
        if self.window_kv_elements_per_token:
            kinds.append("sliding window")
        return " + ".join(kinds) or "none"

    def with_notes(self, *notes):
        """Return the same architecture with ``notes`` added."""
        return replace(self, notes=self.notes + notes)

    # From the catalogue

    @classmethod
    def from_entry(cls, entry: dict, name: str | None = None) -> Architecture:
        """Build from a catalogue entry.

        ``entry`` holds ``layers, hidden, heads, vocab, tied_embeddings``; ``kv_heads`` and ``head_dim`` unless there
        is an ``mla`` table; ``ffn`` unless every layer is routed; optional tables ``moe, mla, sliding_window,
        linear_attention, vision``; optional ``qk_norm`` ("head" or "full"), ``qkv_bias, attention_output_bias,
        mlp_bias, sinks, attention_gate`` (switches) and ``mtp_layers`` (counted nowhere, noted). Keys that only
        describe the entry (source, as_of, kind, notes, *_published ...) pass through. Raises RleconError.
        """
        known = _SHAPE_KEYS | _RECORD_KEYS
        for key in entry:
            if key not in known:
                close = difflib.get_close_matches(key, known, 1)
                advice = f"did you mean {close[0]}?" if close else None
                raise RleconError("unknown key of a model", field=key, advice=advice)
        get = _Getter(entry)
        hidden, count = get.whole("hidden"), get.whole("layers", most=MOST_LAYERS)
        heads = get.whole("heads")
        full = cls._entry_mixer(get, heads)
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
        return cls(
            name=str(name or entry.get("name", "")), hidden=hidden, vocab=get.whole("vocab"),
            tied_embeddings=get.switch("tied_embeddings", required=True), stack=group(layers),
            final_norm_parameters=hidden, vision_parameters=vision_parameters,
            linear_bits=entry.get("linear_bits", 16), expert_bits=entry.get("expert_bits", 16), notes=tuple(notes),
        )

    @staticmethod
    def _entry_mixer(get, heads):
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


_SHAPE_KEYS = {
    "layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab", "tied_embeddings", "norms_per_layer",
    "qk_norm", "qkv_bias", "attention_output_bias", "mlp_bias", "sinks", "attention_gate", "moe", "mla", "sliding_window",
    "linear_attention", "vision", "mtp_layers", "linear_bits", "expert_bits",
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
    "id", "name", "source", "as_of", "kind", "notes", "total_published", "active_published", "published_status",
    "published_source", "title", "aliases", "mtp_parameters",
}


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
        return _whole(value, self.prefix + key, least, most)

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
                close = difflib.get_close_matches(str(name), _TABLE_KEYS[key], 1)
                advice = f"did you mean {close[0]}?" if close else None
                raise RleconError("unknown key of a model", field=inner.prefix + str(name), advice=advice)
        return inner

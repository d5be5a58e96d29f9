"""The parts of a decoder layer: mixers, feed-forward parts, and a vision tower, each counted by its dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rlecon.errors import RleconError

LARGEST = 10**9  # of any dimension
MOST_LAYERS = 10_000


def whole_number(value, field, least=1, most=LARGEST):
    """Return ``value`` as an int between ``least`` and ``most``, or raise an error that names ``field``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        shown = value if isinstance(value, (int, float)) and abs(value) < 1e18 else repr(value)[:40]
        raise RleconError("must be a whole number", field=field, value=shown, allowed=f"{least} to {most}")
    return int(value)


def _check_fields(part, least_zero=()):
    """Check every field of ``part`` annotated as an int."""
    for name, kind in type(part).__annotations__.items():
        if kind == "int":
            whole_number(getattr(part, name), name, 0 if name in least_zero else 1)


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

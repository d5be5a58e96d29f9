"""What mixes tokens in a decoder layer: attention and its recurrent replacements, each counted by its dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from rlecon.errors import RleconError
from rlecon.matrices import Linear, check_fields


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
        check_fields(self, ("window",))
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
        check_fields(self, ("q_lora_rank", "index_heads", "index_head_dim", "index_tokens"))
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
        check_fields(self)

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
        check_fields(self)

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

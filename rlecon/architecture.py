"""Parameters, KV cache and attention work counted from the shape of a decoder.

A model is a pile of layers. Each layer has a mixer (attention, or a recurrent replacement of it) and a feed-forward
part (dense or routed experts). Everything below is a sum over those parts: no total is stored anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rlecon.architecture_entry import fields_of
from rlecon.errors import RleconError
from rlecon.layers import Experts, FeedForward, Layer
from rlecon.matrices import MOST_LAYERS, whole_number
from rlecon.mixers import Attention, DeltaNet, LatentAttention, Mamba2


@dataclass(frozen=True)
class Architecture:
    """The shape of a language model, from which its sizes follow.

    Arguments: ``name``; ``hidden`` (channels of the residual stream); ``vocab`` (rows of the embedding);
    ``tied_embeddings`` (the head reuses them); ``stack`` as ``group`` returns it; ``final_norm_parameters``;
    ``position_parameters`` (learned positions); ``head_bias``; ``vision_parameters``; ``linear_bits`` and
    ``expert_bits`` (bits per parameter as stored: 16 unless quantized, None where unknown); ``notes`` (what a reader
    should know).

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
    linear_bits: float | None = 16
    expert_bits: float | None = 16
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        whole_number(self.hidden, "hidden")
        whole_number(self.vocab, "vocab")
        whole_number(self.layers, "layers", 1, MOST_LAYERS)
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

    def _in_linears(self, mixer):
        return sum(part.parameters for part in mixer.linears(self.hidden))

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
        return self._sum_mixers(self._in_linears)

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
        attention = self._sum_mixers(self._in_linears, (Attention, LatentAttention))
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
        if weight_bits is None and None in (self.linear_bits, self.expert_bits):
            raise RleconError("the stored format of the weights is not known", field="weight_bits",
                              allowed="16, 8 or 4", advice="say the bits you load them in")
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
        return cls(**fields_of(entry, name))

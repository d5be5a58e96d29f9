"""A decoder layer: a mixer and a feed-forward part, dense or of experts, counted by its dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rlecon.errors import RleconError
from rlecon.matrices import Linear, check_fields
from rlecon.mixers import Attention, DeltaNet, LatentAttention, Mamba2


@dataclass(frozen=True)
class FeedForward:
    """Dense MLP: three matrices when gated (SwiGLU), else two."""

    ffn: int
    gated: bool = True
    bias: bool = False

    def __post_init__(self):
        check_fields(self)

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
        check_fields(self, ("shared_ffn",))
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


def group(layers: Iterable[Layer]):
    """Return ``((count, layer), ...)``: equal layers counted together, in order of first appearance."""
    counts: dict[Layer, int] = {}
    for layer in layers:
        counts[layer] = counts.get(layer, 0) + 1
    return tuple((count, layer) for layer, count in counts.items())

"""A vision tower, counted by its dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from rlecon.matrices import Linear, check_fields


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
        check_fields(self, ("deepstack",))

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

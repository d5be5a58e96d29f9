"""A weight matrix counted by its dimensions, and the checks that every part of a model shares."""

from __future__ import annotations

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


def check_fields(part, least_zero=()):
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

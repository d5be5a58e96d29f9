"""What the catalogue holds: records of a GPU, a price, a constant, a published measurement and a claim."""

from __future__ import annotations

from dataclasses import dataclass, field

from rlecon.errors import RleconError


@dataclass(frozen=True)
class GPU:
    """One accelerator; peaks are dense, rates per second, links in one direction. None means that it has none."""

    name: str
    label: str
    dense_bf16_flops_per_second: float
    memory_bytes: float
    memory_bytes_per_second: float
    link_bytes_per_second: float
    network_bytes_per_second: float
    gpus_per_node: int
    dense_fp8_flops_per_second: float | None = None
    dense_fp4_flops_per_second: float | None = None
    vendor_memory_bytes: float | None = None
    power_watts: float | None = None
    kind: str = "vendor_peak"
    source: tuple[str, ...] = ()
    as_of: str = ""
    note: str = ""
    aliases: tuple[str, ...] = ()

    def flops_per_second(self, bits: int, field: str = "bits") -> float:
        """Dense peak at 16, 8 or 4 bits. Raises RleconError, about ``field``, where the GPU has no such unit.

        >>> from rlecon.catalog import gpu
        >>> gpu("h200-sxm").flops_per_second(8)
        1979000000000000.0
        """
        names = {16: "dense_bf16_flops_per_second", 8: "dense_fp8_flops_per_second", 4: "dense_fp4_flops_per_second"}
        if bits not in names:
            raise RleconError("no such precision", field=field, value=bits, unit="bit", allowed="16, 8, 4")
        peak = getattr(self, names[bits])
        if peak is None:
            has = ", ".join(str(b) for b, n in names.items() if getattr(self, n) is not None)
            raise RleconError(f"{self.label} has no {bits}-bit floating-point units", field=field, value=bits,
                              unit="bit", allowed=has)
        return peak


@dataclass(frozen=True)
class Price:
    """Median of dated list prices with their quartiles; low and high are None where one row gives no spread."""

    low: float | None
    mid: float
    high: float | None
    unit: str
    as_of: str
    sources: tuple[str, ...]
    n: int


@dataclass(frozen=True)
class Constant:
    """A calibrated constant: value, the range to show, unit, meaning and where it comes from."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    meaning: str
    kind: str
    source: tuple[str, ...]
    as_of: str
    note: str = ""


@dataclass(frozen=True)
class Measurement:
    """A published measurement. Exactly one of ``value`` and ``series`` may be empty.

    ``config`` holds run-file keys where they are known; ``parts`` other numbers of the same row; ``derived`` what was
    computed here from printed numbers; ``usable`` whether the configuration is known well enough to test a model on.
    """

    id: str
    topic: str
    quantity: str
    unit: str
    what: str
    kind: str
    source: tuple[str, ...]
    as_of: str
    value: object = None
    series: tuple = ()
    config: dict = field(default_factory=dict)
    parts: dict = field(default_factory=dict)
    derived: dict = field(default_factory=dict)
    baseline: dict = field(default_factory=dict)
    locator: str = ""
    family: str = ""
    confidence: str = "read"
    usable: bool = False
    tags: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A claim of the literature or of the trade, with what it says, how it is read and what settles it."""

    id: str
    chapter: str
    claim: str
    label: str
    settled_by: str
    kind: str
    source: tuple[str, ...]
    as_of: str
    claimed: object = None
    unit: str = ""
    tolerance_factor: float = 1.0
    value: object = None
    compute: str = ""
    arguments: dict = field(default_factory=dict)
    formula: str = ""
    reading: str = ""
    needs: str = ""
    why: str = ""
    stated_in: tuple[str, ...] = ()

"""What the levers gained where they were measured: one set of published pairs, its medians and ranges.

A gain is old over new, of a whole step, on the same number of GPUs. LoRA was measured on trainers alone and enters
through the share of the step that training has.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from rlecon import catalog
from rlecon.capability import amdahl_equation
from rlecon.errors import RleconError

ROLLOUT_SHARE = 0.6  # median of published synchronous, colocated steps
ASYNC = (
    ("nemo_ratio_async_llama8b", "value"), ("nemo_ratio_async_30b", "value"),
    ("nemo_ratio_async_30b_gb200_slower", "value"), ("nemo_ratio_async_30b_v04_slower", "value"),
    ("verl_7b_async_32", "derived.speedup_total_vs_colocate_same_gpus"),
    ("verl_7b_async_128", "derived.speedup_total_vs_colocate_same_gpus"),
    ("verl_30b_async_96_32", "derived.speedup_total_vs_colocate"),
    ("verl_onestepoff_fsdp2", "derived.speedup_total"), ("verl_onestepoff_megatron", "derived.speedup_total"),
    ("verl_retool_async_16_16", "derived.speedup_total"),
    ("areal_1p5b", "derived.speedup"), ("areal_7b", "derived.speedup"),
)  # fmt: skip
FP8 = (
    ("nemo_ratio_fp8_llama8b", "value"), ("nemo_ratio_fp8_dsv3", "value"), ("jetrl", "value.end_to_end"),
)  # fmt: skip
NEWER = tuple((f"nemo_ratio_gb200_h100_{model}", "value") for model in ("llama8b", "32b", "30b", "235b", "dsv3"))
MOE = (("nemo_ratio_moe_dense_h100", "value"), ("nemo_ratio_moe_dense_gb200", "value"))
LORA = (
    ("megatron_lora_vs_sft_70b", "derived.tokens_ratio_h100"), ("primerl_4b_16k_h100", "derived.tokens_ratio"),
    ("primerl_4b_64k_h100", "derived.tokens_ratio"), ("primerl_4b_16k_h200", "derived.tokens_ratio"),
    ("primerl_30b_64k_h200", "derived.tokens_ratio"), ("primerl_0p6b_16k_h100", "derived.tokens_ratio"),
)  # fmt: skip


@dataclass(frozen=True)
class Gain:
    """Published gains of one lever on a whole step, in time (old over new), with what it does to the rent."""

    words: str
    values: tuple[float, ...]
    sources: tuple[str, ...]
    rent: tuple[float, float, float] = (1.0, 1.0, 1.0)  # low, middle, high of new over old

    def ends(self, kind: str) -> tuple[float, float, float]:
        """Low, median and high of the gain in ``"time"`` or ``"usd"`` (the low gain at the high rent)."""
        low, mid, high = min(self.values), statistics.median(self.values), max(self.values)
        if kind == "time":
            return low, mid, high
        if kind == "usd":
            return low / self.rent[2], mid / self.rent[1], high / self.rent[0]
        raise RleconError("not a kind of gain", field="kind", value=kind, allowed="time, usd")


def _numbers(pairs) -> tuple[float, ...]:
    out = []
    for id, path in pairs:
        here = catalog.measurement(id)
        for key in path.split("."):
            here = here[key] if isinstance(here, dict) else getattr(here, key)
        out.append(float(here))
    return tuple(out)


def _sources(pairs) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s for id, _ in pairs for s in catalog.measurement(id).source))


def _rent() -> tuple[float, float, float]:
    """List prices of B200 over H100, provider by provider (low, median, high): GB200 has no list price."""
    rows = catalog.prices("gpu_rental")
    of = lambda gpu: {r["provider"]: r["usd_per_gpu_hour"] for r in rows if r["gpu"] == gpu and r["counts"]}  # noqa: E731
    old, new = of("h100-sxm"), of("b200")
    both = [new[p] / old[p] for p in new if p in old]
    if not both:
        raise RleconError("no provider rents both", field="gpu_rental", value="b200, h100-sxm")
    return min(both), statistics.median(both), max(both)


def measured_gains() -> dict[str, Gain]:
    """The evidence set: by lever, its published gains.

    >>> [round(x, 2) for x in measured_gains()["gpu"].ends("time")]
    [1.73, 2.12, 2.77]
    """
    on_step = tuple(
        float(amdahl_equation(rollout_share=ROLLOUT_SHARE, rollout_speedup=1, training_speedup=x))
        for x in _numbers(LORA)
    )
    return {
        "async": Gain("generation beside training", _numbers(ASYNC), _sources(ASYNC)),
        "fp8": Gain("8-bit rollouts, whole step", _numbers(FP8), _sources(FP8)),
        "gpu": Gain("GB200 for H100", _numbers(NEWER), _sources(NEWER), _rent()),
        "lora": Gain("adapters, on the step", on_step, _sources(LORA)),
        "moe": Gain("30B-A3B for 32B", _numbers(MOE), _sources(MOE)),
        "group": Gain("groups of two for sixteen", (100 / catalog.measurement("two_grpo_time").value,),
                      catalog.measurement("two_grpo_time").source),
    }  # fmt: skip


FIRST = ("async", "fp8", "gpu")
ALL_BUT_GROUP = (*FIRST, "lora", "moe")


def multiplied(names, kind: str) -> tuple[float, float, float]:
    """Products of the lows, of the medians and of the highs of the named gains: what "they multiply" would promise.

    >>> [round(x, 1) for x in multiplied(FIRST, "time")]
    [1.4, 3.7, 9.4]
    """
    gains = measured_gains()
    unknown = [n for n in names if n not in gains]
    if unknown:
        raise RleconError("no such lever", field="names", value=", ".join(unknown), allowed=", ".join(gains))
    return tuple(math.prod(gains[n].ends(kind)[i] for n in names) for i in range(3))


def dollars_without_groups() -> tuple[float, float]:
    """Products of the median gains in dollars: of three levers on one model, and with LoRA and a sparse model too."""
    return multiplied(FIRST, "usd")[1], multiplied(ALL_BUT_GROUP, "usd")[1]

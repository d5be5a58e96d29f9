"""What a reader should beware of beside a bill: every sentence once, with what calls for it.

The command line, Python and the pages say these sentences and no others: a page tests the same relations on its own
numbers. In a text ``{name|unit|digits}`` is a quantity and ``{=key}`` the label of a setting.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from rlecon import printing
from rlecon import vocabulary as v
from rlecon.formatting import fill_in


@dataclass(frozen=True, eq=False)
class Remark:
    """A sentence, and when it is said.

    Every key of ``when`` has the value given there (None: it is not given), no key of ``unless`` has its value, the
    quantity ``lacks`` is known to nobody, and ``holds``, a relation between quantities, is true.
    """

    text: str
    holds: object = True
    when: Mapping = field(default_factory=dict)
    unless: Mapping = field(default_factory=dict)
    lacks: str = ""

    @property
    def keys(self) -> set[str]:
        """The keys of the run file on which it depends."""
        return {*self.when, *self.unless}

    @cached_property
    def tested(self) -> tuple[str, ...]:
        """The quantities of its relation."""
        return tuple(sorted(s.name for s in getattr(self.holds, "free_symbols", ())))

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The quantities of its text."""
        return tuple(dict.fromkeys(re.findall(r"\{(\w+)[|}]", self.text)))

    def concerns(self, values: Mapping) -> bool:
        """Whether settings, values by key, call for it; of lists, all must for ``when`` and one for ``unless``."""
        return all(_same(values[k], x) for k, x in self.when.items()) and not any(
            _same(values[k], x) for k, x in self.unless.items()
        )

    def true(self, quantities: Mapping) -> bool:
        """Whether its relation holds at all points; not where a quantity is unknown."""
        if self.lacks and quantities.get(self.lacks) is not None:
            return False
        if self.holds is True:
            return True
        known = [quantities.get(name) for name in self.tested]
        if any(x is None for x in known):
            return False
        held = _relation(self)(*known)
        return bool(held.all() if isinstance(held, np.ndarray) else held)  # np.all is slow on scalars


def _same(value, other) -> bool:
    if isinstance(value, np.ndarray):
        return other is not None and bool(np.all(value == other))
    return value == other


@cache
def _relation(remark: Remark):
    text = printing.condition_text(remark.holds, printing.NUMPY)
    return eval(f"lambda {', '.join(remark.tested)}: {text}")  # our own relations, compiled once


def said(remarks, settings: Mapping, quantities: Mapping, labels: Mapping) -> list[str]:
    """The sentences that stand beside a bill, in order.

    Parameters: ``settings`` values by key of the run file; ``quantities`` numbers or arrays by name, None where
    unknown; ``labels`` by key. A sentence with figures is about one run: with arrays it is left out.
    """
    found = [r for r in remarks if r.concerns(settings) and r.true(quantities)]
    return [
        fill_in(r.text, quantities, labels)
        for r in found
        if all(quantities.get(n) is not None and np.ndim(quantities[n]) == 0 for n in r.named)
    ]


_engine_and_update = v.update_bytes_per_gpu + v.engine_weight_bytes / v.tensor_parallel
_waits = (v.resident_sequences < v.sequences_per_engine) & (v.resident_limit < v.max_sequences_per_engine)

WARNINGS = (
    Remark(
        "{=hardware.gpu} has no 4-bit units: weights are read at 4 bits and multiplied at 16.",
        (v.weight_bits <= 4) & (v.rollout_flops_per_second <= v.bf16_flops_per_second),
    ),
    Remark(
        "No price of {=hardware.gpu} is known: give hardware.usd_per_gpu_hour to see dollars.",
        lacks="usd_per_gpu_hour",
    ),
    Remark(
        "No cap on response length is given: the longest response is taken from the length spread alone.",
        v.response_tokens_cv > 0,
        when={"rollout.max_response_tokens": None},
    ),
    Remark(
        "Responses grow, but without run.steps only the first step is priced.",
        when={"run.steps": None},
        unless={"run.response_growth_per_step": 0.0},
    ),
    Remark(
        "Responses grow over the run: figures of a step are those of the first one, totals follow the growth.",
        unless={"run.steps": None, "run.response_growth_per_step": 0.0},
    ),
    Remark(
        "No number of steps is given (run.steps): totals of the run are unknown; rlecon target estimates the steps "
        "to a pass rate.",
        lacks="steps",
    ),
    Remark("No pass rate is given (reward.pass_rate): learning is unknown.", lacks="mean_pass_rate"),
    Remark(
        "An engine without CUDA graphs is priced by a multiple of the latency per layer that spreads widely.",
        when={"rollout.engine": "eager"},
    ),
    Remark(
        "Memory holds {resident_limit|whole} of {sequences_per_engine|whole} sequences per engine: rollouts run in "
        "waves.",
        _waits,
    ),
    Remark(
        "Update and engine fit only in turn: the engine must leave the memory while the update runs.",
        (v.shared_pool > 0) & (_engine_and_update > v.memory_bytes),
    ),
    Remark("There are more engines than rollouts in a step: some engines stay idle.", v.sequences_per_engine < 1),
    Remark(
        "LoRA is priced on attention and shared layers; adapters on experts are not counted.",
        (v.lora_rank > 0) & (v.experts > 1),
    ),
    Remark(
        "{tenants|whole} tenants share the GPUs, at most {active_tenants|whole} of them at once (99 % of the time): a "
        "step is one of each of these, tokens, GPU-hours and dollars are those of one tenant.",
        unless={"update.tenants": 1},
    ),
    Remark(
        "The job is active {duty_cycle|%|0} of the time and pays for the GPUs all of it.",
        when={"update.tenants": 1},
        unless={"update.duty_cycle": 1.0},
    ),
    Remark(
        "Offloaded trainers have been measured several times slower than any model of transfer time says.",
        when={"update.offload": True},
    ),
)
# Where the command line prints memory, the pages warn.
TOO_LARGE = Remark(
    "The update is estimated at {update_bytes_per_gpu|GB} on a GPU of {memory_bytes|GB}: more training GPUs, model "
    "parallelism, recomputation or offload.",
    v.update_bytes_per_gpu > v.memory_bytes,
)
_NO_TEACHER = "model.algorithm: the teacher of a distillation is not priced."
NOT_MODELED = (
    Remark("reward.levels: bits are those of a right-or-wrong reward.", unless={"reward.levels": 2}),
    Remark(_NO_TEACHER, when={"model.algorithm": "distillation", "judge.name": None}),
    Remark(_NO_TEACHER, when={"model.algorithm": "distillation", "judge.role": "reward"}, unless={"judge.name": None}),
    *(
        Remark(
            f"{key}: its communication is inside the trainer's measured efficiency; memory follows it.",
            unless={key: 1},
        )
        for key in ("update.pipeline_parallel", "update.expert_parallel", "update.tensor_parallel")
    ),
)

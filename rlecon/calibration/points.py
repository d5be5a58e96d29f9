"""One measured number with what the equations need to predict it, and many of them predicted at once.

An error is a factor: exp(|log(predicted / measured)|); a bias is the mean log of predicted over measured time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rlecon import phases, supply
from rlecon.errors import RleconError
from rlecon.resolve import run_model

# what a point measures: the quantities it needs, how to combine them, and whether larger means slower
OUTPUTS = {
    "load_test_tokens_per_second_per_gpu": (
        ("load_test_tokens_per_second_per_gpu",),
        lambda v: v["load_test_tokens_per_second_per_gpu"],
        -1,
    ),
    "inter_token_seconds": (("inter_token_seconds",), lambda v: v["inter_token_seconds"], 1),
    "seconds_per_output_token": (
        ("decode_seconds_per_sequence",),
        lambda v: v["decode_seconds_per_sequence"] / v["response_tokens"],
        1,
    ),
    "decode_tokens_per_second_per_gpu": (
        ("inter_token_seconds", "resident_sequences"),
        lambda v: v["resident_sequences"] / (v["inter_token_seconds"] * v["tensor_parallel"]),
        -1,
    ),
    "train_tokens_per_second_per_gpu": (
        ("update_seconds",),
        lambda v: v["update_tokens"] / (v["update_seconds"] * v["training_pool_gpus"]),
        -1,
    ),
    "model_flops_per_second_per_gpu": (
        ("update_seconds", "model_flops"),
        lambda v: v["model_flops"] / (v["update_seconds"] * v["training_pool_gpus"]),
        -1,
    ),
    "train_mfu": (("train_mfu",), lambda v: v["train_mfu"], -1),
    "update_compute_seconds": (("update_compute_seconds",), lambda v: v["update_compute_seconds"], 1),
    "step_seconds": (("step_seconds",), lambda v: v["step_seconds"], 1),
    "rollout_seconds": (("rollout_seconds",), lambda v: v["rollout_seconds"], 1),
    "update_seconds": (("update_seconds",), lambda v: v["update_seconds"], 1),
    "old_logprobs_seconds": (("old_logprobs_seconds",), lambda v: v["old_logprobs_seconds"], 1),
    "reference_seconds": (("reference_seconds",), lambda v: v["reference_seconds"], 1),
}
ALWAYS = {"decode": (), "training": (), "step": ("step_log_sd",)}


@dataclass(frozen=True)
class Point:
    """One measured number.

    ``id`` of the measurement, ``label`` of the row within it, ``family`` of the model, ``regime`` in words, ``kind``
    which equations ("decode", "training", "step"), ``output`` what they predict (a key of ``OUTPUTS``), ``measured``
    in ``unit``, ``fitted`` whether the published constants have seen it, ``note`` what is assumed or wrong with it.
    """

    id: str
    label: str
    family: str
    regime: str
    kind: str
    output: str
    measured: float
    unit: str
    quantities: dict = field(repr=False)
    engine: str = "typical"
    framework: str = ""
    fitted: bool = False
    note: str = ""


def _model(kind):
    return {"decode": phases.load_test, "training": phases.trainer, "step": run_model}[kind]()


class Points:
    """Points of one kind, stacked: ``predict(overrides)`` evaluates all of them in one call."""

    def __init__(self, points):
        self.points = tuple(points)
        kinds = {p.kind for p in self.points}
        if len(kinds) != 1:
            raise RleconError("points of one kind are needed", field="points", value=sorted(kinds))
        self.kind = kinds.pop()
        self._model = _model(self.kind)
        self.measured = np.array([p.measured for p in self.points])
        self._wanted = sorted({p.output for p in self.points})
        self._outputs = sorted({n for w in self._wanted for n in OUTPUTS[w][0]} | set(ALWAYS[self.kind]))
        self._which = np.array([self._wanted.index(p.output) for p in self.points])
        self._sign = np.array([OUTPUTS[p.output][2] for p in self.points])
        names = self._model.inputs(self._outputs)
        self._base = {n: np.array([float(p.quantities[n]) for p in self.points]) for n in names}
        self._engines = np.array([supply.ENGINES.index(p.engine) for p in self.points])
        self._train_bits = np.array([float(p.quantities.get("train_bits", 16)) for p in self.points])

    def __len__(self):
        return len(self.points)

    def solve(self, overrides=None, outputs=None) -> dict:
        """Quantities of the model, arrays over the points, with calibrated constants replaced by ``overrides``."""
        values = dict(self._base)
        tables = [supply.of_engine(e, overrides) for e in supply.ENGINES]
        for name in tables[0]:
            if name in values and name not in ("head_bits", "activation_bits"):
                values[name] = np.array([t[name] for t in tables])[self._engines]
        if self.kind == "step":
            shared = values["shared_pool"]
            values["colocation_factor"] = np.where(shared == 1, supply.value("colocation_factor", overrides), 1.0)
            gain = supply.value("rl_fp8_train_gain", overrides)
            values["train_flops_per_second"] = np.where(
                self._train_bits == 8, gain * values["bf16_flops_per_second"], values["train_flops_per_second"]
            )
        return self._model.solve(values, outputs or self._outputs, check=False)

    def predict(self, overrides=None) -> np.ndarray:
        """Predictions in the units of the measurements."""
        solved = self.solve(overrides)
        table = [np.broadcast_to(OUTPUTS[w][1](solved), len(self)) for w in self._wanted]
        return np.stack(table)[self._which, np.arange(len(self))]

    def log_time_ratio(self, overrides=None) -> np.ndarray:
        """log of predicted over measured time: positive where the model is too slow."""
        return self._sign * np.log(self.predict(overrides) / self.measured)

    def only(self, keep) -> Points:
        """The points for which ``keep(point)`` is true."""
        return Points([p for p in self.points if keep(p)])

"""Fitting and scoring: which published measurements, what the model says of each, and how the constants were chosen.

Pure functions that return tables. A :class:`Point` is one measured number with the quantities that the equations need
to predict it; :class:`Points` predicts many at once, so that a least-squares fit of calibrated constants takes
seconds. An error is a factor: exp(|log(predicted / measured)|); a bias is the mean log of predicted over measured time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from rlecon import catalog, phases, supply
from rlecon.errors import RleconError
from rlecon.interval import Z80
from rlecon.resolve import resolve, run_model
from rlecon.run import Run

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


# --- measurements of decoding -----------------------------------------------------------------------------------------
SWEEPS = {  # load tests of one engine: published memory share, no scheduler cap in force
    "silybench_8b_bf16_128_1024": "dense, one GPU",
    "silybench_8b_fp8_128_1024": "dense, one GPU, FP8",
    "silybench_8b_bf16_2048_2048": "dense, one GPU",
    "silybench_8b_fp8_2048_2048": "dense, one GPU, FP8",
    "silybench_8b_fp8_128_128": "dense, one GPU, FP8",
}
MAX_LOAD = (
    "trtllm_qwen3235ba22b",
    "trtllm_qwen330ba3b",
    "trtllm_gptoss120b",
    "trtllm_gptoss20b",
    "trtllm_deepseekr1",
    "trtllm_llama3370b",
)


def _decode_point(m, label, regime, output, measured, unit, *, batch, settings, model=None, gpu=None, lengths=None,
                  engine="typical", fitted=False, note=""):
    prompt, response = lengths or (m.config["prompt_tokens"], m.config["response_tokens"])
    q = phases.decode_quantities(model or m.config["model"], gpu or m.config["gpu"], batch, prompt, response,
                                 engine=engine, **settings)
    return Point(m.id, label, m.family, regime, "decode", output, measured, unit, q, engine=engine,
                 framework=m.config.get("framework", ""), fitted=fitted, note=note)


def _sweep_points():
    for key, regime in SWEEPS.items():
        m = catalog.measurement(key)
        settings = {
            "engine_memory_share": m.config["engine_memory_share"],
            "max_sequences_per_engine": math.inf,
            "weight_bits": m.config["weight_bits"],
        }
        for row in m.series:
            n = row["concurrent_requests"]
            yield _decode_point(m, f"{n} requests", regime, "load_test_tokens_per_second_per_gpu",
                                row["output_tokens_per_second"], "token/(s GPU)", batch=n, settings=settings,
                                fitted=True)
    m = catalog.measurement("silybench_8b_longctx")
    for row in m.series:
        for column, bits in (("bf16", 16), ("fp8", 8)):
            if column in row:
                n = row["concurrent_requests"]
                yield _decode_point(m, f"{column}, {n} requests", "dense, one GPU, prefill-heavy",
                                    "load_test_tokens_per_second_per_gpu", row[column], "token/(s GPU)", batch=n,
                                    settings={"engine_memory_share": m.config["engine_memory_share"],
                                              "max_sequences_per_engine": math.inf, "weight_bits": bits}, fitted=True)
    m = catalog.measurement("silybench_8b_prefill")
    yield _decode_point(m, "256 requests", "dense, one GPU, prefill-heavy", "load_test_tokens_per_second_per_gpu",
                        m.parts["output_tokens_per_second"], "token/(s GPU)", batch=m.config["concurrent_requests"],
                        settings={"engine_memory_share": m.config["engine_memory_share"],
                                  "max_sequences_per_engine": math.inf}, fitted=True)


def _engine_points():
    m = catalog.measurement("inferencex_r1_fp8_tp8_h200")
    for row in m.series:
        n = row["concurrent_requests"]
        yield _decode_point(m, f"{n} requests", "experts, TP8, tuned engine", "seconds_per_output_token",
                            row["inter_token_ms_mean"] / 1e3, "s", batch=n, engine="tuned",
                            settings={"tensor_parallel": 8, "weight_bits": 8}, fitted=True)
    m = catalog.measurement("infersim_8b_fp8_h20")
    yield _decode_point(m, "decode pool", "dense, one GPU, FP8, H20", "decode_tokens_per_second_per_gpu", m.value,
                        m.unit, batch=m.config["sequences_per_gpu"],
                        settings={"weight_bits": 8, "max_sequences_per_engine": math.inf}, engine="tuned", fitted=True,
                        note="lengths are defaults of the source's example")
    m = catalog.measurement("infersim_30b_bf16_h20")
    yield _decode_point(m, "decode pool", "experts, 4 GPUs, H20", "decode_tokens_per_second_per_gpu", m.value, m.unit,
                        batch=m.config["sequences_per_gpu"] * 4, engine="tuned",
                        settings={"tensor_parallel": 4, "max_sequences_per_engine": math.inf},
                        note="layout over the four GPUs not stated: taken as tensor parallel")
    for key in MAX_LOAD:
        m = catalog.measurement(key)
        for row in m.series:
            bits = row["bits"]
            lengths = (row["prompt_tokens"], row["response_tokens"])
            label = f"{row['gpu']} x{row['gpus_per_instance']} {row['precision']} {lengths[0]}/{lengths[1]}"
            yield _decode_point(m, label, "highest load, concurrency not printed",
                                "load_test_tokens_per_second_per_gpu", row["output_tokens_per_second_per_gpu"],
                                "token/(s GPU)", batch=100_000, engine="tuned", gpu=row["gpu"], lengths=lengths,
                                settings={"tensor_parallel": row["gpus_per_instance"], "weight_bits": bits,
                                          "kv_bits": 8, "engine_memory_share": 0.9, "max_sequences_per_engine": 1024},
                                note="concurrency taken as the smaller of the KV room and 1,024; cache at 8 bits")


@cache
def decode_points() -> Points:
    """Published decode measurements whose configuration an engine of this model can express."""
    return Points([*_sweep_points(), *_engine_points()])


# --- measurements of training -----------------------------------------------------------------------------------------
def _train_point(m, label, regime, output, measured, unit, *, gpus, tokens, sequence, model=None, gpu=None,
                 fitted=False, note="", family=None, **settings):
    q = phases.train_quantities(model or m.config["model"], gpu or m.config["gpu"], gpus, tokens, sequence, **settings)
    return Point(m.id, label, family or m.family, regime, "training", output, measured, unit, q, engine="tuned",
                 framework=m.config.get("framework", ""), fitted=fitted, note=note)


TINY = "the model is too small for its GPU: launching kernels takes longer than computing"
SLOW_OPTIMIZER = "its optimizer takes 10 ns per parameter and GPU, some 50 times that of other trainers"
PRETRAIN_TOKENS = 4_194_304  # per optimizer step where it is not stated: the optimizer's share is then small
MEGATRON = {
    "megatron_llama3_8b": "dense, FP8 pre-training",
    "megatron_llama3_70b": "dense, FP8 pre-training",
    "megatron_llama31_405b": "dense, FP8 pre-training",
    "megatron_qwen3_30b": "experts, pre-training",
    "megatron_qwen3_235b": "experts, pre-training",
    "megatron_dsv3": "experts, pre-training",
    "megatron_gptoss_120b": "experts, pre-training",
}
PRIME = ("primerl_4b_16k_h100", "primerl_4b_64k_h100", "primerl_4b_16k_h200", "primerl_30b_16k_h100",
         "primerl_30b_64k_h200", "primerl_0p6b_16k_h100")


def _pretraining():
    for key, regime in MEGATRON.items():
        m = catalog.measurement(key)
        for row in m.series:
            four = row["bits"] == 4
            yield _train_point(m, f"{row['gpu']} {row['precision']}", regime + (", 4 bits" if four else ""),
                               "train_tokens_per_second_per_gpu", row["tokens_per_second_per_gpu"], "token/(s GPU)",
                               gpus=row["gpus"],
                               tokens=row.get("sequences_per_optimizer_step", 1024) * m.config["sequence_tokens"],
                               sequence=m.config["sequence_tokens"], gpu=row["gpu"], train_bits=row["bits"],
                               fitted=not four)
    m = catalog.measurement("olmo3_pretrain_mfu")
    for size in ("7b", "32b"):
        gpus = m.config["gpus_as_published"][size]
        yield _train_point(m, size, "dense, 16-bit pre-training", "train_tokens_per_second_per_gpu", m.value[size],
                           m.unit, gpus=gpus, tokens=PRETRAIN_TOKENS, sequence=m.config["sequence_tokens"],
                           model=f"olmo-3-{size}", family=f"olmo-3-{size}", fitted=True)
    m = catalog.measurement("llama3_405b_mfu")
    for i, gpus in enumerate(m.config["gpus_as_published"]):
        yield _train_point(m, f"{gpus} GPUs, {m.config['sequence_tokens'][i]} tokens", "dense, 16-bit pre-training",
                           "model_flops_per_second_per_gpu", m.value[i] * 1e12, "FLOP/(s GPU)", gpus=gpus,
                           tokens=16_777_216, sequence=m.config["sequence_tokens"][i], fitted=True)
    m = catalog.measurement("dsv3_pretrain")
    yield _train_point(m, "pre-training", "experts, pre-training", "train_tokens_per_second_per_gpu",
                       1e12 / (m.value * 3600), "token/(s GPU)", gpus=m.config["gpus"], tokens=62_914_560,
                       sequence=4096, train_bits=8, fitted=True)


def _tuning():
    m = catalog.measurement("megatron_lora_vs_sft_70b")
    tokens = m.config["sequences_per_optimizer_step"] * m.config["sequence_tokens"]
    blackwell = {k: m.parts[f"gb200_{k}_tokens"] for k in ("lora", "sft")}
    for gpu, parts in (("h100-sxm", m.value), ("gb200", blackwell)):
        for kind, rank in (("lora", 16), ("sft", 0)):
            yield _train_point(m, f"{gpu} {kind}", "dense, FP8 fine-tuning", "train_tokens_per_second_per_gpu",
                               parts[kind], "token/(s GPU)", gpus=m.config["gpus_as_published"][kind], tokens=tokens,
                               sequence=m.config["sequence_tokens"], gpu=gpu, train_bits=8, lora_rank=rank,
                               fitted=gpu == "h100-sxm",
                               note="" if gpu == "h100-sxm" else "number of GPUs taken from the H100 row")
    for key in PRIME:
        m = catalog.measurement(key)
        c = m.config
        tiny = "0p6b" in key
        tokens = c["micro_batches"] * c["gpus"] * c["sequence_tokens"]
        for kind, rank in (("full", 0), ("lora", c["lora_rank"])):
            regime = "RL trainer, experts" if "30b" in key else "RL trainer, dense"
            yield _train_point(m, kind, regime, "train_tokens_per_second_per_gpu", m.value[kind] / c["gpus"],
                               "token/(s GPU)", gpus=c["gpus"], tokens=tokens,
                               sequence=c["sequence_tokens"], lora_rank=rank, activation_recompute=True,
                               fitted=rank > 0 and not tiny, note=(TINY if tiny else "") if rank else SLOW_OPTIMIZER)
            if f"forward_backward_seconds_{kind}" in m.parts:
                yield _train_point(m, f"{kind}, forward and backward", regime, "update_compute_seconds",
                                   m.parts[f"forward_backward_seconds_{kind}"], "s", gpus=c["gpus"], tokens=tokens,
                                   sequence=c["sequence_tokens"], lora_rank=rank, activation_recompute=True,
                                   fitted=rank == 0 and not tiny, note=TINY if tiny else "")
    m = catalog.measurement("primerl_sft_4b")
    for gpu in ("H100", "H200", "B200"):
        yield _train_point(m, gpu, "RL trainer, dense", "train_tokens_per_second_per_gpu", m.value[gpu] / 8,
                           "token/(s GPU)", gpus=8, tokens=8 * m.config["sequence_tokens"],
                           sequence=m.config["sequence_tokens"], gpu=f"{gpu.lower()}-sxm" if gpu != "B200" else "b200",
                           note="an attention kernel of the generation before; recomputation and batch not stated")
    for key in ("hermes4_sft_14b", "hermes4_sft_70b", "hermes4_sft_405b"):
        m = catalog.measurement(key)
        yield _train_point(m, "run", "dense, 16-bit fine-tuning, B200", "train_tokens_per_second_per_gpu",
                           m.config["training_tokens_billions"] * 1e9 / (m.value * 3600), "token/(s GPU)", gpus=192,
                           tokens=PRETRAIN_TOKENS, sequence=16_384, note="sequence length and number of GPUs assumed")
    m = catalog.measurement("verl_30b_mfu")
    for gpus in (8, 16, 32):
        yield _train_point(m, f"{gpus} GPUs", "RL trainer, experts, H20", "train_mfu", m.value[f"{gpus}_gpu"], "1",
                           gpus=gpus, tokens=gpus * 131_072, sequence=4096, activation_recompute=True,
                           note="lengths and batch not stated; optimizer offloaded")


@cache
def training_points() -> Points:
    """Published training throughput whose model and GPU are in the catalogue."""
    return Points([*_pretraining(), *_tuning()])


# --- what stays off, and why ------------------------------------------------------------------------------------------
LOOPS = "a few answers that loop up to the cap of 28,672 tokens set the rollout; such loops are not in the model"
REASONS = {
    "nemo_v06_gb200_bf16_qwen330ba3b_async1_16g": "2.2 times the step of the same run on twice the GPUs: unhealthy",
    "nemo_v06_gb200_bf16_qwen3235ba22b_sync_128g": "slower than the same run on half the GPUs, which took 286 s",
    "nemo_v04_h100_bf16_qwen330ba3b_async1_32g": "an early release: the next ran the same layout in 63 % of the time",
    "nemo_v04_h100_bf16_qwen330ba3b_sync_32g": "an early release",
    "nemo_v04_h100_bf16_qwen3235ba22b_async1_256g": "found after the terms were chosen. Its engines stay within a node "
    "and read experts as fast as tuned ones; the typical efficiency is that of engines across nodes and on new GPUs",
    "megatron_qwen3_30b": "kernels of later releases: the same recipe was measured at 0.6 of this speed a year before",
    "megatron_qwen3_235b": "expert kernels differ by generation of GPU and release more than one constant can say",
    "megatron_gptoss_120b": "expert kernels differ by generation of GPU and release more than one constant can say",
    "megatron_llama3_70b": "GB300 gains more over GB200 than its peak; 4 bits gain less than theirs",
    "megatron_llama31_405b": "GB300 gains more over GB200 than its peak; 4 bits gain less than theirs",
    "primerl_4b_16k_h100": "small work per step: a fixed time of nearly a second per step is not in the model",
    "primerl_4b_16k_h200": "small work per step: a fixed time of nearly a second per step is not in the model",
    "verl_7b_async_128": "length from a prior",
    "verl_7b_colocate_32": LOOPS,
    "verl_7b_colocate_64": LOOPS,
    "verl_7b_colocate_128": LOOPS,
    "primerl_30b_16k_h100": "with full training its optimizer is offloaded to the CPU",
    "trtllm_deepseekr1": "attention is data-parallel there: the latent cache is split, here it is replicated",
    "trtllm_gptoss120b": "on H100 and H200 4-bit weights are unpacked while computing",
    "trtllm_gptoss20b": "on H100 and H200 4-bit weights are unpacked while computing",
    "areal_7b": "split of the GPUs and length assumed",
    "simplerl_32b": "length from a prior that is too short for it",
    "verl_7b_async_32": "length from a prior; 1.3 with the length that its update implies",
    "olmo3_learner_wait": "typical times, not tied to one model; an engine without CUDA graphs assumed",
}


def reason(point) -> str:
    """Why a prediction may be off: what is known of the measurement beside the note of its row."""
    return "; ".join(dict.fromkeys(t for t in (point.note, REASONS.get(point.id, "")) if t))


# --- measurements of whole steps --------------------------------------------------------------------------------------
def nemo_run(m) -> Run:
    """The run file of a published NeMo-RL row: recorded configuration, and the framework's defaults for the rest.

    Its asynchronous rows are one step off: one batch in flight, waited for, which is ``one_step`` here and not a
    continuous engine.
    """
    c = m.config
    pool = c["rollout_gpus"] if "rollout_gpus" in c else (c["gpus"] // 2 if c["overlap"] == "full" else 0)
    prompt = m.derived["prompt_tokens"]
    return Run(
        model={"name": c["model"]},
        hardware={"gpu": c["gpu"], "gpus": c["gpus"], "rollout_gpus": pool},
        rollout={
            "prompts_per_step": c["prompts_per_step"],
            "group_size": c["group_size"],
            "prompt_tokens": prompt,
            "response_tokens": c["response_tokens"],
            "max_response_tokens": c["max_sequence_tokens"] - prompt,
            "tensor_parallel": c["tensor_parallel"],
            "weight_bits": c.get("weight_bits", 16),
        },
        update={
            "overlap": "one_step" if c["overlap"] == "full" else c["overlap"],
            "staleness_steps": c.get("staleness_steps", 0),
            "minibatches": c["minibatches"],
            "old_logprobs": True,
            "reference_model": True,
            "train_bits": c["train_bits"],
            "activation_recompute": c.get("activation_recompute", False),
            "tensor_parallel": c.get("update_tensor_parallel", 1),
            "pipeline_parallel": c.get("update_pipeline_parallel", 1),
            "expert_parallel": c.get("update_expert_parallel", 1),
        },
    )


def _step_point(m, run, output, measured, regime, *, label="step", fitted=False, note=""):
    q = dict(resolve(run).quantities)
    q = {k: x for k, x in q.items() if x is not None}
    q.setdefault("usd_per_gpu_hour", 0.0)
    return Point(m.id, label, m.family, regime, "step", output, measured, "s", q, engine=run["rollout.engine"],
                 framework=m.config.get("framework", ""), fitted=fitted, note=note)


def step_point(m, run) -> Point:
    """The step time of a run file as a point beside the measurement ``m``."""
    return _step_point(m, run, "step_seconds", m.value, "")


@cache
def step_points() -> Points:
    """The published NeMo-RL steps whose mean response length is printed."""
    rows = []
    for m in catalog.measurements("step", tag="known_length"):
        regime = "asynchronous" if m.config["overlap"] == "full" else "synchronous"
        rows.append(_step_point(m, nemo_run(m), "step_seconds", m.value, regime, fitted=True))
    return Points(rows)


# where the mean length is not printed: (length, what it is) by measurement
_PRIORS = {"base": "length_prior_base_tokens", "reasoning": "length_prior_reasoning_tokens"}
UNKNOWN_LENGTH = {
    "verl_7b_colocate_32": "base",
    "verl_7b_colocate_64": "base",
    "verl_7b_colocate_128": "base",
    "verl_7b_async_32": "base",
    "verl_7b_async_128": "base",
    "verl_30b_colocate_128": "base",
    "verl_30b_async_96_32": "base",
    "areal_7b": "reasoning",
    "simplerl_32b": "base",
}
PHASES = {
    "rollout_seconds": "rollout_seconds",
    "old_logprobs_seconds": "old_logprobs_seconds",
    "reference_seconds": "reference_seconds",
    "update_seconds": "update_seconds",
}


def prior_length(kind: str, cap: float) -> float:
    """Mean response length assumed where none is known: a prior by kind of model, at most a share of the cap."""
    share = catalog.constant("length_prior_cap_share").value
    return min(catalog.constant(_PRIORS[kind]).value, share * cap)


def _open_run(m, response_tokens) -> Run:
    """The run of a published row whose lengths are not printed; what is not stated keeps its default."""
    c = m.config
    overlap = c.get("overlap", "none")
    pool = c.get("rollout_gpus", 0)
    if overlap == "full" and not pool:
        pool = int(0.75 * c["gpus"])
    return Run(
        model={"name": c["model"]},
        hardware={"gpu": c["gpu"], "gpus": c["gpus"], "rollout_gpus": pool},
        rollout={
            "prompts_per_step": c["prompts_per_step"],
            "group_size": c["group_size"],
            "prompt_tokens": 200,
            "response_tokens": response_tokens,
            "max_response_tokens": c["max_response_tokens"],
        },
        update={
            "overlap": overlap,
            "staleness_steps": 1 if overlap == "full" else 0,
            "minibatches": c.get("minibatches", 1),
            "reference_model": c.get("reference_model", False),
            "old_logprobs": True,
        },
    )


def _published_step_seconds(m):
    if "async_step_seconds" in m.derived:
        return m.derived["async_step_seconds"]
    return m.derived.get("step_seconds", m.value)


@cache
def unknown_length_points() -> Points:
    """Published steps of other frameworks whose mean length is not printed: a prior stands for it; never fitted."""
    rows = []
    for key, kind in UNKNOWN_LENGTH.items():
        m = catalog.measurement(key)
        run = _open_run(m, prior_length(kind, m.config["max_response_tokens"]))
        rows.append(_step_point(m, run, "step_seconds", _published_step_seconds(m), "length from a prior",
                                note="mean length, prompt and engine size assumed"))
    return Points(rows)


def inferred_length(m) -> float:
    """Mean response length at which the model's update takes as long as the published one, in tokens."""
    return _inferred_length(m.id)


@cache
def _inferred_length(id: str) -> float:
    m = catalog.measurement(id)
    low, high = 16.0, 0.98 * m.config["max_response_tokens"]
    for _ in range(26):
        middle = math.sqrt(low * high)
        point = _step_point(m, _open_run(m, middle), "update_seconds", m.parts["update_seconds"], "")
        low, high = (middle, high) if Points([point]).log_time_ratio()[0] < 0 else (low, middle)
    return math.sqrt(low * high)


@cache
def phase_points() -> Points:
    """Phases of published steps, the mean length inferred from the update: they show errors that totals hide."""
    rows = []
    for key in ("verl_7b_colocate_32", "verl_7b_colocate_64", "verl_7b_colocate_128", "verl_30b_colocate_128"):
        m = catalog.measurement(key)
        length = inferred_length(m)
        run = _open_run(m, length)
        for phase, output in PHASES.items():
            if phase in m.parts and phase != "update_seconds":
                rows.append(_step_point(m, run, output, m.parts[phase], "phase, length inferred from the update",
                                        label=phase, note=f"mean length of {length:.0f} tokens inferred"))
    return Points(rows)


@cache
def other_framework_points() -> Points:
    """Phases of the one published run outside the fitted framework whose mean length is printed."""
    m = catalog.measurement("olmo3_learner_wait")
    c = m.config
    run = Run(
        model={"name": c["model"]},
        hardware={"gpu": c["gpu"], "gpus": c["gpus"], "rollout_gpus": c["rollout_gpus"]},
        rollout={
            "prompts_per_step": c["prompts_per_step"],
            "group_size": c["group_size"],
            "response_tokens": c["response_tokens"],
            "max_response_tokens": c["max_response_tokens"],
            "tensor_parallel": c["tensor_parallel"],
            "engine": "eager",
        },
        update={"overlap": "full", "staleness_steps": c["staleness_steps"], "old_logprobs": False},
    )
    note = "prompt length assumed"
    return Points([
        _step_point(m, run, "rollout_seconds", m.parts["rollout_seconds_typical"], "other framework, length known",
                    label="rollout", note=note),
        _step_point(m, run, "update_seconds", m.parts["train_seconds_typical"], "other framework, length known",
                    label="update", note=note),
    ])


@cache
def held_out_points() -> Points:
    """Published steps that no fit and no choice of terms has seen."""
    rows = [
        _step_point(m, nemo_run(m), "step_seconds", m.value, "held out",
                    note="found after the terms were chosen; split of the GPUs assumed")
        for m in catalog.measurements("step", tag="held_out")
    ]
    return Points(rows)


# --- fitting ----------------------------------------------------------------------------------------------------------
# constants that a fit may move, with bounds: physical, and below 1 for efficiencies
BOUNDS = {
    "weight_read_efficiency": (0.5, 0.95),
    "kv_read_efficiency": (0.5, 0.95),
    "compute_efficiency": (0.3, 0.9),
    "latency_per_layer_seconds": (5e-6, 200e-6),
    "host_seconds_per_sequence": (1e-6, 60e-6),
    "request_seconds": (1e-5, 1e-2),
    "expert_efficiency_tuned": (0.2, 1.0),
    "expert_efficiency_typical": (0.1, 1.0),
    "collective_seconds": (2e-6, 60e-6),
    "cross_node_factor": (1.0, 10.0),
    "train_efficiency": (0.2, 0.7),
    "train_attention_efficiency": (0.3, 0.8),
    "moe_dispatch_bytes": (0.5, 60.0),
    "optimizer_gpu_seconds_per_parameter": (1e-11, 2e-8),
    "step_overhead_seconds": (1.0, 60.0),
    "colocation_factor": (1.0, 2.5),
    "rl_fp8_train_gain": (1.0, 2.0),
    "weight_sync_bytes_per_second": (5e9, 100e9),
}
STARTS = 4


@dataclass(frozen=True)
class Fit:
    """What a fit found: constants by name, the root mean square log error, and how far its starts agree."""

    constants: dict
    rms: float
    spread: dict


def fit(sets, names, *, weights=None, priors=None, starts=STARTS, base=None, seed=0) -> Fit:
    """Fit calibrated constants to measurements by least squares of log errors.

    Parameters: ``sets`` of :class:`Points`; ``names`` of the constants to move, within ``BOUNDS``; ``weights`` one
    array per set, or None for equal weight of every point; ``priors`` maps a name to ``(value, log_sd)``, a pull that
    counts like one measurement with that error over a residual of 0.1; ``base`` other constants to hold.
    Several starts, the best wins; ``spread`` is the range of the constants over starts whose error is within 1 % of it.
    """
    from scipy.optimize import least_squares

    names = list(names)
    low = np.log([BOUNDS[n][0] for n in names])
    high = np.log([BOUNDS[n][1] for n in names])
    weights = weights or [np.ones(len(s)) for s in sets]
    priors = priors or {}

    def constants(x):
        return {**(base or {}), **dict(zip(names, np.exp(x), strict=True))}

    def residuals(x):
        overrides = constants(x)
        parts = [w * s.log_time_ratio(overrides) for s, w in zip(sets, weights, strict=True)]
        pulls = [0.1 * (x[names.index(n)] - math.log(v)) / sd for n, (v, sd) in priors.items() if n in names]
        return np.concatenate([*parts, pulls])

    generator = np.random.default_rng(seed)
    first = np.clip(np.log([(base or {}).get(n, catalog.constant(n).value) for n in names]), low + 1e-6, high - 1e-6)
    tried = []
    for start in range(starts):
        x0 = first if start == 0 else low + (high - low) * generator.uniform(0.1, 0.9, len(names))
        tried.append(least_squares(residuals, x0, bounds=(low, high), x_scale=0.1))
    tried.sort(key=lambda t: t.cost)
    best = tried[0]
    close = [t.x for t in tried if t.cost <= best.cost * 1.01 + 1e-12]
    spread = {n: (float(np.exp(min(c[i] for c in close))), float(np.exp(max(c[i] for c in close))))
              for i, n in enumerate(names)}
    found = constants(best.x)
    count = sum(len(s) for s in sets)
    error = sum(float(np.sum(s.log_time_ratio(found) ** 2)) for s in sets)
    return Fit({n: float(found[n]) for n in names}, math.sqrt(error / count), spread)


def summary(log_ratios) -> dict:
    """Median factor, worst factor, shares within 1.25, 1.5 and 2, and the bias of log(predicted / measured) times."""
    r = np.abs(np.asarray(log_ratios, float))
    return {
        "n": len(r),
        "median": float(np.exp(np.median(r))),
        "worst": float(np.exp(np.max(r))),
        "within_1.25": float(np.mean(r <= math.log(1.25))),
        "within_1.5": float(np.mean(r <= math.log(1.5))),
        "within_2": float(np.mean(r <= math.log(2.0))),
        "bias": float(np.mean(log_ratios)),
        "rms": float(np.sqrt(np.mean(r**2))),
    }


# --- the documented fit -----------------------------------------------------------------------------------------------
DECODE_CONSTANTS = (
    "weight_read_efficiency",
    "kv_read_efficiency",
    "compute_efficiency",
    "latency_per_layer_seconds",
    "host_seconds_per_sequence",
    "request_seconds",
    "expert_efficiency_tuned",
    "collective_seconds",
)
TRAINING_CONSTANTS = (
    "train_efficiency",
    "train_attention_efficiency",
    "moe_dispatch_bytes",
    "optimizer_gpu_seconds_per_parameter",
)
STEP_CONSTANTS = ("expert_efficiency_typical", "colocation_factor", "step_overhead_seconds")
# what is believed before any fit, and how strongly (log sd): it decides only where no measurement does
PRIORS = {
    "expert_efficiency_tuned": (0.6, 0.5),
    "collective_seconds": (10e-6, 0.5),
    "train_attention_efficiency": (0.5, 0.3),
    "moe_dispatch_bytes": (8.0, 1.0),
    "optimizer_gpu_seconds_per_parameter": (2e-10, 1.0),
    "colocation_factor": (1.38, 0.15),
    "step_overhead_seconds": (12.0, 0.5),
    "expert_efficiency_typical": (0.38, 0.5),
}
PHASE_SDS = ("residual_log_sd_rollout", "residual_log_sd_update")
SD_BOUNDS = (0.03, 0.8)


@cache
def calibrate(without: str | None = None, *, starts: int = 2) -> Fit:
    """Fit the calibrated constants to the documented set: decode, then training, then whole steps.

    Each stage holds what the earlier ones found, so that steps cannot bend what phases measured directly. ``without``
    names a family of models, one measurement or a source; every stage leaves it out. Without a source, what the rest
    cannot tell is drawn to the middle of its physical bounds (:func:`blind_priors`), since the beliefs of ``PRIORS``
    were formed with all sources in view.
    """
    keep = lambda p: p.fitted and without not in (p.family, p.id, source_of(p))  # noqa: E731
    blind = without in sources()
    found: dict = {}
    spread: dict = {}
    last = None
    for points, names in (
        (decode_points(), DECODE_CONSTANTS),
        (training_points(), TRAINING_CONSTANTS),
        (step_points(), STEP_CONSTANTS),
    ):
        priors = blind_priors(names) if blind else {n: PRIORS[n] for n in names if n in PRIORS}
        if not any(keep(p) for p in points.points):
            found |= {n: priors[n][0] for n in names}
            continue
        begin = {n: priors[n][0] for n in names} if blind else {}
        last = fit([points.only(keep)], names, priors=priors, base={**found, **begin}, starts=starts)
        found = {**found, **last.constants}
        spread |= last.spread
    return Fit(found, last.rms, spread)


def source_of(point) -> str:
    """Key of the work that published a point first."""
    return catalog.measurement(point.id).source[0]


@cache
def sources() -> tuple:
    """Keys of the works whose measurements the fit has seen."""
    points = (*decode_points().points, *training_points().points, *step_points().points)
    return tuple(sorted({source_of(p) for p in points if p.fitted}))


def blind_priors(names) -> dict:
    """The middle of each constant's physical bounds, in logarithms, and a quarter of their width as its log sd."""
    return {n: (math.sqrt(BOUNDS[n][0] * BOUNDS[n][1]), math.log(BOUNDS[n][1] / BOUNDS[n][0]) / 4) for n in names}


def leave_out(points: Points, by: str = "family") -> np.ndarray:
    """log(predicted / measured) time of every point, with its like left out of every fit.

    ``by`` says what is left out: the "family" of the model, the measurement ("id": a whole sweep), or the "source".
    """
    out = np.empty(len(points))
    keys = [source_of(p) if by == "source" else getattr(p, by) for p in points.points]
    for key in sorted(set(keys)):
        mask = np.array([k == key for k in keys])
        chosen = Points([p for p, m in zip(points.points, mask, strict=True) if m])
        out[mask] = chosen.log_time_ratio(calibrate(key).constants)
    return out


def residual_sds(points: Points, log_ratios) -> dict:
    """Most likely residual per phase, from the errors of whole steps.

    The residual that all phases share is :func:`release_spread`, since steps of one framework cannot tell it apart;
    ``residual_log_sd_moving`` stays as it is: transfers are too small a share of these steps to tell it.
    """
    from scipy.optimize import minimize

    shared = {"residual_log_sd_framework": release_spread()[0]}

    def cost(x):
        sd = points.solve({**shared, **dict(zip(PHASE_SDS, np.exp(x), strict=True))}, ["step_log_sd"])["step_log_sd"]
        return float(np.sum(np.log(sd) + 0.5 * (log_ratios / sd) ** 2))

    bounds = [tuple(np.log(SD_BOUNDS))] * len(PHASE_SDS)
    best = minimize(cost, np.log([0.2, 0.15]), bounds=bounds, method="L-BFGS-B")
    return {**shared, **{n: float(v) for n, v in zip(PHASE_SDS, np.exp(best.x), strict=True)}}


def coverage(log_ratios, log_sds) -> tuple[int, int]:
    """How many of how many measurements lie in the 80 % interval of their prediction."""
    inside = np.abs(np.asarray(log_ratios)) <= Z80 * np.asarray(log_sds)
    return int(np.sum(inside)), int(np.size(inside))


def release_spread() -> tuple[float, int]:
    """Log sd of one release of a framework about its mean: the same configuration measured in consecutive releases.

    Step times are divided by the mean response length; returns the sd and the number of pairs. No model that is blind
    to the release can do better.
    """
    rows: dict = {}
    for m in catalog.measurements("step", tag="known_length"):
        c = m.config
        key = (c["model"], c["gpu"], c["gpus"], c["overlap"], c["tensor_parallel"], c["train_bits"])
        rows.setdefault(key, []).append((m.id, math.log(m.value / c["response_tokens"])))
    steps = []
    for found in rows.values():
        found.sort()
        steps += [b[1] - a[1] for a, b in zip(found, found[1:], strict=False)]
    return float(np.sqrt(np.mean(np.square(steps)) / 2)), len(steps)


# --- tables for the validation chapter --------------------------------------------------------------------------------
def _row(point, predicted, ratio, left_out):
    return {
        "id": point.id,
        "label": point.label,
        "kind": point.kind,
        "family": point.family,
        "framework": point.framework,
        "regime": point.regime,
        "unit": point.unit,
        "measured": point.measured,
        "predicted": float(predicted),
        "time_ratio": float(np.exp(ratio)),
        "factor": float(np.exp(abs(ratio))),
        "fitted": point.fitted,
        "left_out_factor": None if left_out is None else float(np.exp(abs(left_out))),
        "note": reason(point),
        "source": catalog.measurement(point.id).source,
    }


def report(overrides=None) -> list[dict]:
    """Every usable published measurement beside what the model says of it.

    One dict per measurement: ``measured`` and ``predicted`` in ``unit``, ``time_ratio`` (predicted over measured time),
    ``factor``, ``regime``, ``fitted``, and for fitted rows ``left_out_factor``, with their family (decode: their
    sweep) left out of every fit. ``overrides`` replaces constants; left-out factors are then not computed.
    """
    rows = []
    for points, by in (
        (decode_points(), "id"),
        (training_points(), "family"),
        (step_points(), "family"),
        (held_out_points(), None),
        (unknown_length_points(), None),
        (other_framework_points(), None),
        (phase_points(), None),
    ):
        predicted, ratio = points.predict(overrides), points.log_time_ratio(overrides)
        left = leave_out(points, by) if by and overrides is None else [None] * len(points)
        rows += [
            _row(p, predicted[i], ratio[i], left[i] if p.fitted else None) for i, p in enumerate(points.points)
        ]
    return rows


def ratios(overrides=None) -> list[dict]:
    """Published ratios of two steps that differ in one thing, beside the ratio of their predictions."""
    points = step_points()
    predicted = dict(zip((p.id for p in points.points), points.predict(overrides), strict=True))
    rows = []
    for m in catalog.measurements("ratio"):
        top, bottom = m.config.get("numerator"), m.config.get("denominator")
        if top not in predicted or bottom not in predicted or m.quantity not in RATIO_OF:
            continue
        measured = RATIO_OF[m.quantity](m)
        ratio = predicted[top] / predicted[bottom]
        rows.append({
            "id": m.id,
            "what": m.what,
            "numerator": top,
            "denominator": bottom,
            "measured": measured,
            "predicted": float(ratio),
            "factor": float(np.exp(abs(math.log(ratio / measured)))),
            "right_sign": bool((ratio > 1) == (measured > 1)),
            "source": m.source,
        })
    return rows


def _ratio_of_steps(m):
    top, bottom = (catalog.measurement(m.config[k]) for k in ("numerator", "denominator"))
    return top.value / bottom.value


RATIO_OF = {"ratio_of_step_times": _ratio_of_steps, "ratio_of_throughputs": _ratio_of_steps}


def peers(overrides=None) -> list[dict]:
    """What other public models say of the same measurements, where they can answer; times, so that less is faster."""
    rows = []
    points = decode_points()
    ours = points.log_time_ratio(overrides)
    for i, p in enumerate(points.points):
        m = catalog.measurement(p.id)
        others = {}
        if p.id == "inferencex_r1_fp8_tp8_h200":
            at = [row["concurrent_requests"] for row in m.series].index(int(p.label.split()[0]))
            others = {k.removesuffix("_ms"): v[at] / 1e3 / p.measured for k, v in m.baseline.items()}
        elif "simulator_decode" in m.baseline:
            others = {"infersim": p.measured / m.baseline["simulator_decode"]}
        for name, ratio in {"rlecon": float(np.exp(ours[i])), **others}.items() if others else ():
            rows.append({"id": p.id, "label": p.label, "tool": name, "time_ratio": ratio,
                         "factor": float(np.exp(abs(math.log(ratio)))), "fitted": name == "rlecon" and p.fitted})
    return rows


def decode_errors() -> dict:
    """The two published 16-bit sweeps of a dense 8B: errors in sample and with the scored sweep left out of the fit."""
    out = {}
    for key in ("silybench_8b_bf16_128_1024", "silybench_8b_bf16_2048_2048"):
        points = decode_points().only(lambda p, key=key: p.id == key)
        out[key] = {
            "in sample": summary(points.log_time_ratio()),
            "left out": summary(points.log_time_ratio(calibrate(key).constants)),
        }
    return out

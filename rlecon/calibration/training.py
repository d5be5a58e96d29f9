"""Published measurements of training, as points."""

from __future__ import annotations

from functools import cache

from rlecon import catalog, phases
from rlecon.calibration.points import Point, Points


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

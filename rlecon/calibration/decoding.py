"""Published measurements of decoding, as points."""

from __future__ import annotations

import math
from functools import cache

from rlecon import catalog, phases
from rlecon.calibration.points import Point, Points

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

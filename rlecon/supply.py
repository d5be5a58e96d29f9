"""Values that the catalogue supplies to the equations: one dict of quantities per model, GPU and engine."""

from __future__ import annotations

import math
from functools import cache

from rlecon import catalog
from rlecon.errors import RleconError

QUARTILE = 0.6744897501960817  # quartiles of a normal lie so many standard deviations from its middle
ENGINES = ("tuned", "typical", "eager")
ACTIVATION_BITS = 16.0
# calibrated constants whose data name is also the name of their quantity
SAME_NAME = (
    "weight_read_efficiency",
    "kv_read_efficiency",
    "compute_efficiency",
    "host_seconds_per_sequence",
    "request_seconds",
    "collective_seconds",
    "cross_node_factor",
    "link_efficiency",
    "train_efficiency",
    "train_attention_efficiency",
    "train_expert_efficiency",
    "moe_dispatch_bytes",
    "weight_sync_bytes_per_second",
    "step_overhead_seconds",
    "overlapped_overhead_share",
    "overlapped_sync_share",
    "draft_cost_share",
    "host_link_bytes_per_second",
    "optimizer_state_bytes_per_parameter",
    "activation_bytes_per_token",
)


def value(name: str, overrides=None) -> float:
    """A calibrated constant, or its replacement in ``overrides`` (what a fit tries)."""
    if overrides and name in overrides:
        return overrides[name]
    return catalog.constant(name).value


def activation_bytes(recompute: bool, overrides=None) -> float:
    """Bytes of activations kept per token, layer and unit of width: the constant if recomputed, else its upper end."""
    if recompute:
        return value("activation_bytes_per_token", overrides)
    return catalog.constant("activation_bytes_per_token").high


def of_model(arch) -> dict:
    """Quantities of an architecture."""
    return {
        "total_parameters": arch.total_parameters,
        "trunk_parameters": arch.trunk_parameters,
        "head_parameters": arch.head_parameters,
        "expert_parameters": arch.expert_parameters,
        "active_parameters_matmul": arch.active_parameters_matmul,
        "layers": arch.layers,
        "moe_layers": arch.moe_layers,
        "hidden": arch.hidden,
        "experts": max(arch.experts, 1),
        "experts_per_token": max(arch.experts_per_token, 1),
        "kv_elements_per_token": arch.kv_elements_per_token,
        "window_kv_elements_per_token": arch.window_kv_elements_per_token,
        "window_tokens": arch.window_tokens or float("inf"),
        "state_bytes": arch.state_bytes,
        "attention_flops_per_context_token": arch.attention_flops_per_context_token,
        "window_attention_flops_per_context_token": arch.window_attention_flops_per_context_token,
        "attention_flops_per_context_token_training": arch.attention_flops_per_context_token_training,
        "window_attention_flops_per_context_token_training": arch.window_attention_flops_per_context_token_training,
        "kv_shards_max": arch.kv_shards_max,
    }


def of_gpu(gpu, *, weight_bits=16, train_bits=16, overrides=None, rl=True) -> dict:
    """Quantities of a GPU at the precisions asked for.

    Four-bit weights on a GPU without four-bit units are read at four bits and multiplied at sixteen. In RL, eight-bit
    training gains what was measured there (``rl_fp8_train_gain``), not the ratio of peaks.
    """
    bf16 = gpu.dense_bf16_flops_per_second
    weight_only = weight_bits == 4 and gpu.dense_fp4_flops_per_second is None
    rollout = bf16 if weight_only else gpu.flops_per_second(weight_bits, "weight_bits")
    train = gpu.flops_per_second(train_bits, "train_bits")
    if rl and train_bits == 8:
        train = min(train, bf16 * value("rl_fp8_train_gain", overrides))
    return {
        "memory_bytes": gpu.memory_bytes,
        "memory_bytes_per_second": gpu.memory_bytes_per_second,
        "link_bytes_per_second": gpu.link_bytes_per_second,
        "gpus_per_node": gpu.gpus_per_node,
        "bf16_flops_per_second": bf16,
        "rollout_flops_per_second": rollout,
        "train_flops_per_second": train,
    }


def of_engine(engine: str = "typical", overrides=None) -> dict:
    """Calibrated constants for an engine of the given maturity."""
    if engine not in ENGINES:
        raise RleconError("no such engine maturity", field="rollout.engine", value=engine, allowed=", ".join(ENGINES))
    got = {name: value(name, overrides) for name in SAME_NAME}
    latency = value("latency_per_layer_seconds", overrides)
    if engine == "eager":
        latency *= value("eager_latency_multiplier", overrides)
    got["latency_per_layer_seconds"] = latency
    got["expert_efficiency"] = value(f"expert_efficiency_{engine}", overrides)
    got["reserved_bytes"] = value("reserved_bytes_per_gpu", overrides)
    got["optimizer_seconds_per_parameter"] = value("optimizer_gpu_seconds_per_parameter", overrides)
    for phase in ("rollout", "update", "moving", "framework"):
        got[f"{phase}_log_sd"] = value(f"residual_log_sd_{phase}", overrides)
    got["activation_bits"] = got["head_bits"] = ACTIVATION_BITS
    return got


def price_log_sds(price) -> dict:
    """Log-sd of a list price below and above its median, from its quartiles; 0 where there is no spread to tell."""
    if price is None or not price.low or not price.high:
        return {"price_low_log_sd": 0.0, "price_high_log_sd": 0.0}
    return {
        "price_low_log_sd": math.log(price.mid / price.low) / QUARTILE,
        "price_high_log_sd": math.log(price.high / price.mid) / QUARTILE,
    }


@cache
def powers_of_two(limit: int) -> tuple[int, ...]:
    """1, 2, 4, ... up to ``limit``."""
    out = [1]
    while out[-1] * 2 <= limit:
        out.append(out[-1] * 2)
    return tuple(out)

"""One phase alone: what `rlecon decode` and `rlecon train` answer.

A load test of one inference engine, and an update of a given number of tokens. Each figure stands beside the limit of
the bare roofline: peaks only, no latency, no host, no communication.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from rlecon import catalog, generation, supply, training
from rlecon.equation import Model
from rlecon.errors import RleconError
from rlecon.run import LARGEST


@cache
def load_test() -> Model:
    """The equations of an inference engine under a load test."""
    return Model(generation.LOAD_TEST, "a load test")


@cache
def trainer() -> Model:
    """The equations of an update."""
    return Model(training.TRAIN, "an update")


def _positive(field, value, unit, *, at_least=None):
    ok = np.asarray(value, float) > 0 if at_least is None else np.asarray(value, float) >= at_least
    if not np.all(ok) or not np.all(np.asarray(value, float) <= LARGEST):
        allowed = f"{'above 0' if at_least is None else f'{at_least:g} or more'}, up to {LARGEST:g}"
        raise RleconError("out of range", field=field, value=value, unit=unit, allowed=allowed)


def _found(model, gpu):
    if isinstance(model, str) and model.endswith(".json"):
        from rlecon.readers.huggingface import read_architecture

        model = read_architecture(model)
    elif isinstance(model, str):
        model = catalog.model(model)
    return model, catalog.gpu(gpu) if isinstance(gpu, str) else gpu


def decode_quantities(
    model,
    gpu,
    batch,
    prompt_tokens,
    response_tokens,
    *,
    tensor_parallel=1,
    weight_bits=16,
    kv_bits=16,
    engine="typical",
    engine_memory_share=None,
    max_sequences_per_engine=None,
    overrides=None,
) -> dict:
    """Quantities that :func:`decode` hands to the equations; arguments as there."""
    arch, card = _found(model, gpu)
    _positive("batch", batch, "sequence", at_least=1)
    _positive("prompt_tokens", prompt_tokens, "token", at_least=0)
    _positive("response_tokens", response_tokens, "token")
    _positive("tensor_parallel", tensor_parallel, "GPU", at_least=1)
    if not np.all(np.isin(kv_bits, (4, 8, 16))):
        raise RleconError("no such precision", field="kv_bits", value=kv_bits, unit="bit", allowed="16, 8, 4")
    q = supply.of_model(arch)
    q |= supply.of_gpu(card, weight_bits=weight_bits, overrides=overrides)
    q |= supply.of_engine(engine, overrides)
    if max_sequences_per_engine is None:
        max_sequences_per_engine = supply.value("default_max_sequences_per_engine", overrides)
    q |= {
        "concurrent_requests": batch,
        "prompt_tokens": prompt_tokens,
        "prefill_tokens": prompt_tokens,
        "response_tokens": response_tokens,
        "context_tokens": prompt_tokens + np.asarray(response_tokens) / 2,
        "peak_context_tokens": prompt_tokens + np.asarray(response_tokens),
        "tensor_parallel": tensor_parallel,
        "weight_bits": weight_bits,
        "head_bits": max(weight_bits, q["head_bits"]),
        "kv_bits": kv_bits,
        "engine_memory_share": supply.value("engine_memory_share_separate", overrides)
        if engine_memory_share is None
        else engine_memory_share,
        "max_sequences_per_engine": max_sequences_per_engine,
        "turns": 1,
        "environment_seconds_per_rollout": 0.0,
        "speculative_acceptance": 0.0,
        "speculative_drafts": 0,
        "held_adapter_bytes": 0.0,
    }
    return q


def decode(model, gpu, batch, prompt_tokens, response_tokens, **settings) -> dict:
    """A load test: ``batch`` requests in flight on one inference engine, each of the same lengths.

    Parameters: ``model`` and ``gpu`` catalogue names or records; ``batch`` sequences; ``prompt_tokens`` and
    ``response_tokens`` in tokens; ``tensor_parallel`` GPUs per engine; ``weight_bits``, ``kv_bits``; ``engine``
    "tuned", "typical" or "eager"; ``engine_memory_share`` of GPU memory (by default that of a pool of its own);
    ``max_sequences_per_engine`` the scheduler's cap (the usual one when not given; ``inf`` for none); ``overrides``
    replaces calibrated constants.
    Numbers may be arrays that broadcast. Returns a dict: ``inter_token_seconds`` (one decode step, no prefill),
    ``tokens_per_second_per_gpu`` (as a load test reports it, prefill included), ``mfu``, ``bandwidth_utilisation``,
    ``resident_sequences``, ``bound_by``, ``parts`` (seconds of one decode step) and ``limit`` (the same figures at the
    roofline). Raises RleconError for what is unknown, impossible or does not fit. Source: the equations of
    `rlecon.generation`.

    >>> found = decode("qwen3-8b", "h100-sxm", 64, 512, 2048)
    >>> bool(0.010 < found["inter_token_seconds"] < 0.014)
    True
    """
    q = decode_quantities(model, gpu, batch, prompt_tokens, response_tokens, **settings)
    return _answer_decode(load_test().solve(q))


def _answer_decode(v) -> dict:
    residents = v["resident_sequences"]
    compute = np.maximum(0.0, v["dense_seconds"] - v["dense_read_seconds"]) > 0
    expert_read = v["expert_read_seconds"] * v["experts_touched_share"]
    expert_computes = v["expert_seconds"] > expert_read
    kv = v["kv_bytes_per_sequence"] / (v["kv_shards"] * v["kv_read_efficiency"] * v["memory_bytes_per_second"])
    attention_computes = v["attention_seconds_per_sequence"] > kv * (1 + 1e-12)
    attention = residents * v["attention_seconds_per_sequence"]
    parts = {
        "weights": np.where(compute, 0.0, v["dense_seconds"]) + np.where(expert_computes, 0.0, v["expert_seconds"]),
        "kv": np.where(attention_computes, 0.0, attention),
        "compute": np.where(compute, v["dense_seconds"], 0.0)
        + np.where(expert_computes, v["expert_seconds"], 0.0)
        + np.where(attention_computes, attention, 0.0),
        "latency": v["fixed_step_seconds"]
        + residents * (v["host_seconds_per_sequence"] + v["link_seconds_per_sequence"]),
    }
    names = np.array([*parts, "memory"])
    largest = np.argmax(np.stack(np.broadcast_arrays(*parts.values())), axis=0)
    # requests that wait for room: the cache, not the step, sets the throughput
    waits = (residents < v["concurrent_requests"]) & (v["resident_limit"] < v["max_sequences_per_engine"])
    bound_by = names[np.where(waits, len(parts), largest)]
    roofline = v["roofline_seconds"]
    return {
        "inter_token_seconds": v["inter_token_seconds"],
        "tokens_per_second_per_gpu": v["load_test_tokens_per_second_per_gpu"],
        "mfu": v["decode_mfu"],
        "bandwidth_utilisation": v["decode_bandwidth_utilisation"],
        "resident_sequences": residents,
        "bound_by": str(bound_by) if np.ndim(bound_by) == 0 else bound_by,
        "parts": {k: x[()] for k, x in parts.items()},
        "limit": {
            "inter_token_seconds": roofline,
            "tokens_per_second_per_gpu": residents / (roofline * v["tensor_parallel"]),
            "mfu": v["decode_mfu"]
            * residents
            / (roofline * v["tensor_parallel"])
            / v["load_test_tokens_per_second_per_gpu"],
            "bandwidth_utilisation": np.minimum(
                1.0, v["decode_bandwidth_utilisation"] * v["inter_token_seconds"] / roofline
            ),
            "resident_sequences": v["resident_limit"],
        },
    }


def train_quantities(
    model,
    gpu,
    gpus,
    tokens,
    sequence_tokens,
    *,
    lora_rank=0,
    train_bits=16,
    activation_recompute=False,
    optimizer_steps=1,
    overrides=None,
) -> dict:
    """Quantities that :func:`train` hands to the equations; arguments as there."""
    arch, card = _found(model, gpu)
    _positive("gpus", gpus, "GPU", at_least=1)
    _positive("tokens", tokens, "token")
    _positive("sequence_tokens", sequence_tokens, "token")
    _positive("lora_rank", lora_rank, "", at_least=0)
    _positive("optimizer_steps", optimizer_steps, "", at_least=0)
    q = supply.of_model(arch)
    q |= supply.of_gpu(card, train_bits=train_bits, overrides=overrides, rl=False)
    q |= supply.of_engine("tuned", overrides)
    full = np.asarray(lora_rank) == 0
    q |= {
        "active_tenants": 1,
        "processed_tokens_per_step": tokens,
        "training_context_tokens": sequence_tokens,
        "training_pool_gpus": gpus,
        "epochs": 1,
        "minibatches": optimizer_steps,
        "full_training": np.where(full, 1.0, 0.0)[()],
        "trainable_parameters": np.where(
            full, arch.total_parameters, np.asarray(lora_rank) * float(arch.lora_parameters_per_rank)
        )[()],
        "activation_recompute": np.asarray(activation_recompute, float)[()],
        "train_bits": train_bits,
        "colocation_factor": 1.0,
        "critic": 0.0,
        "offload": 0.0,
        "measured_mfu": 0.0,
    }
    return q


def train(model, gpu, gpus, tokens, sequence_tokens, **settings) -> dict:
    """An update of ``tokens`` tokens in sequences of ``sequence_tokens`` on ``gpus`` GPUs.

    Parameters: ``model`` and ``gpu`` catalogue names or records; ``lora_rank`` (0 trains all parameters);
    ``train_bits`` 16, 8 or 4; ``activation_recompute`` (no by default); ``optimizer_steps`` in those tokens (1);
    ``overrides`` replaces calibrated constants. Numbers may be arrays that broadcast. Returns a dict: ``seconds``,
    ``tokens_per_second_per_gpu``, ``mfu`` (model FLOPs over the 16-bit peak), and ``limit``, the same figures at the
    peak of the precision. Raises RleconError for what is unknown or impossible. Source: the equations of
    `rlecon.training`.

    >>> found = train("llama-3.1-70b", "h100-sxm", 64, 524288, 8192)
    >>> bool(0.3 < found["mfu"] < 0.5)
    True
    """
    q = train_quantities(model, gpu, gpus, tokens, sequence_tokens, **settings)
    return _answer_train(trainer().solve(q))


def _answer_train(v) -> dict:
    seconds = v["update_seconds"]
    limit = v["model_flops"] / (v["training_pool_gpus"] * v["train_flops_per_second"])
    rate = v["update_tokens"] / v["training_pool_gpus"]
    return {
        "seconds": seconds,
        "tokens_per_second_per_gpu": rate / seconds,
        "mfu": v["train_mfu"],
        "limit": {
            "seconds": limit,
            "tokens_per_second_per_gpu": rate / limit,
            "mfu": v["train_flops_per_second"] / v["bf16_flops_per_second"],
        },
    }


# --- one screen of text ---------------------------------------------------------------------------------------------
BOUND_WORDS = {
    "weights": "reading weights",
    "kv": "reading the KV cache",
    "compute": "arithmetic",
    "latency": "launches, host and links",
    "memory": "room for the KV cache: requests wait",
}


def _beside(answer, rows):
    from rlecon.report import value

    lines = [f"  {'':<26}{'here':>12}{'roofline':>12}"]
    for name, unit, words in rows:
        lines.append(f"  {words:<26}{value(answer[name], unit):>12}{value(answer['limit'][name], unit):>12}")
    return lines


def decode_text(answer) -> str:
    """One screen for what :func:`decode` answered (scalars)."""
    from rlecon.report import bars, value

    words = {"weights": "weights", "kv": "KV cache", "compute": "arithmetic", "latency": "launches, host, links"}
    return "\n".join([
        f"{value(answer['tokens_per_second_per_gpu'])} tokens a second and GPU, "
        f"{value(answer['inter_token_seconds'], 'seconds')} between tokens; "
        f"bound by {BOUND_WORDS[answer['bound_by']]}.",
        "",
        "Where a decode step goes",
        *bars([(words[k], float(x)) for k, x in answer["parts"].items()]),
        "",
        *_beside(answer, [
            ("tokens_per_second_per_gpu", "", "tokens/s and GPU"),
            ("inter_token_seconds", "seconds", "time between tokens"),
            ("mfu", "%", "MFU"),
            ("bandwidth_utilisation", "%", "bandwidth"),
            ("resident_sequences", "", "sequences (and room)"),
        ]),
    ])  # fmt: skip


def train_text(answer) -> str:
    """One screen for what :func:`train` answered (scalars)."""
    from rlecon.report import value

    return "\n".join([
        f"{value(answer['seconds'], 'seconds')}, "
        f"{value(answer['tokens_per_second_per_gpu'])} tokens a second and GPU, "
        f"MFU {value(answer['mfu'], '%')} of the 16-bit peak.",
        "",
        *_beside(answer, [
            ("seconds", "seconds", "time"),
            ("tokens_per_second_per_gpu", "", "tokens/s and GPU"),
            ("mfu", "%", "MFU"),
        ]),
    ])  # fmt: skip

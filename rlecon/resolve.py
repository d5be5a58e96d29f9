"""A run turned into quantities: what the equations take, with defaults, refusals and what is said on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from rlecon import catalog, supply
from rlecon.equation import Model
from rlecon.errors import RleconError
from rlecon.run import NEEDED, Run

DIRECT = {  # run-file keys that are quantities as they stand
    "hardware.gpus": "gpus",
    "rollout.prompts_per_step": "prompts_per_step",
    "rollout.group_size": "group_size",
    "rollout.oversampling": "oversampling",
    "rollout.prompt_tokens": "prompt_tokens",
    "rollout.response_tokens": "response_tokens",
    "rollout.weight_bits": "weight_bits",
    "rollout.kv_bits": "kv_bits",
    "rollout.turns": "turns",
    "rollout.tool_tokens_per_turn": "tool_tokens_per_turn",
    "rollout.prefix_cached": "prefix_cached",
    "rollout.environment_seconds_per_turn": "environment_seconds_per_turn",
    "rollout.environment_cpus": "environment_cpus",
    "rollout.speculative_acceptance": "speculative_acceptance",
    "update.staleness_steps": "staleness_steps",
    "update.epochs": "epochs",
    "update.minibatches": "minibatches",
    "update.old_logprobs": "old_logprobs",
    "update.reference_model": "reference_model",
    "update.critic": "critic",
    "update.train_bits": "train_bits",
    "update.activation_recompute": "activation_recompute",
    "update.offload": "offload",
    "reward.pass_rate": "mean_pass_rate",
    "reward.pass_rate_spread": "pass_rate_spread",
    "reward.false_positive_rate": "false_positive_rate",
    "reward.false_negative_rate": "false_negative_rate",
    "run.evaluation_seconds_per_step": "evaluation_seconds_per_step",
    "run.attempts": "attempts",
    "run.steps": "steps",
    "environment.runs": "runs",
}


@cache
def run_model() -> Model:
    """The ordered equations of a run."""
    from rlecon import generation, information, interval, learning, money, step, training, trajectory

    rooms = (trajectory, generation, training, step, money, learning, information)
    return Model([*(e for room in rooms for e in room.EQUATIONS), interval.spread_equation], "the model of a run")


@dataclass(frozen=True)
class Resolved:
    """A run as quantities: what the equations take, plus what was said on the way."""

    quantities: dict
    origins: dict
    warnings: list
    not_modeled: list
    architecture: object
    gpu: object
    price: object


@cache
def _config(path):
    from rlecon.readers.huggingface import read_architecture

    return read_architecture(path)


def architecture_of(run: Run):
    """The architecture that the run names, from the catalogue or from a config."""
    name, config = run["model.name"], run["model.config"]
    if name is None and config is None:
        raise RleconError("not given", field="model.name", allowed="a model of the catalogue, or model.config")
    if name is not None and config is not None:
        raise RleconError("give one of model.name and model.config", field="model.name", value=name)
    return catalog.model(name) if name is not None else _config(config)


def gpu_of(run: Run):
    """The GPU that the run names, from the catalogue or built from the custom keys."""
    name = run["hardware.gpu"]
    if name != "custom":
        return catalog.gpu(name)
    needed = ("dense_bf16_flops_per_second", "memory_bytes", "memory_bytes_per_second")
    missing = [f"hardware.{k}" for k in needed if run[f"hardware.{k}"] is None]
    if missing:
        raise RleconError("a custom GPU needs it", field=", ".join(missing))
    return catalog.GPU(
        name="custom",
        label="custom GPU",
        dense_bf16_flops_per_second=run["hardware.dense_bf16_flops_per_second"],
        dense_fp8_flops_per_second=run["hardware.dense_fp8_flops_per_second"] or None,
        dense_fp4_flops_per_second=run["hardware.dense_fp4_flops_per_second"] or None,
        memory_bytes=run["hardware.memory_bytes"],
        memory_bytes_per_second=run["hardware.memory_bytes_per_second"],
        link_bytes_per_second=run["hardware.link_bytes_per_second"] or float("inf"),
        network_bytes_per_second=float("inf"),
        gpus_per_node=run["hardware.gpus_per_node"] or 8,
        kind="assumed",
        source=("run file",),
    )


def engine_gpus(arch, gpu, weight_bits, kv_bits, share, reserved, sequence_tokens, at_most) -> int:
    """Smallest power of two of GPUs whose memory holds the weights and eight sequences of the mean length."""
    weights = arch.weight_bytes(weight_bits) if weight_bits != 16 else arch.total_parameters * 2.0
    kv = float(arch.kv_bytes(sequence_tokens, kv_bits))
    for size in supply.powers_of_two(max(at_most, 1)):
        room = share * gpu.memory_bytes - reserved - weights / size
        if room > 0 and min(size, arch.kv_shards_max) * room >= 8 * kv:
            return size
    largest = supply.powers_of_two(max(at_most, 1))[-1]
    raise RleconError(
        f"{arch.name} at {weight_bits} bits needs {weights / 1e9:.0f} GB for weights alone and {kv / 1e9:.2g} GB for the "
        f"cache of each sequence; an engine of {largest} {gpu.label} at a memory share of {share:g} cannot hold eight",
        field="hardware.gpus",
        value=at_most,
        unit="GPU",
        advice="use more GPUs, fewer bits, shorter sequences or a larger memory share",
    )


def resolve(run: Run, *, overrides=None) -> Resolved:
    """Turn a run into quantities; raises RleconError for what is missing, impossible or cannot fit."""
    for name, meaning in NEEDED.items():
        if run[name] is None:
            raise RleconError(f"not given ({meaning})", field=name, advice="add it to the run file or use --set")
    arch, gpu = architecture_of(run), gpu_of(run)
    warnings, not_modeled, origins = [], [], {}
    gpus, pool = run["hardware.gpus"], run["hardware.rollout_gpus"]
    overlap = run["update.overlap"]
    if np.any(np.asarray(pool) >= np.asarray(gpus)):
        raise RleconError(
            f"leaves no GPU of {_say(gpus)} to train on",
            field="hardware.rollout_gpus",
            value=_say(pool),
            unit="GPU",
            allowed=f"0 (one shared pool) to {int(np.min(gpus)) - 1}",
        )
    shared = np.where(np.asarray(pool) == 0, 1.0, 0.0)[()]
    if overlap == "one_step" and np.any(shared == 1):
        raise RleconError(
            "one pool cannot generate the next step while it trains this one",
            field="update.overlap",
            value=overlap,
            allowed="none or full in one pool; one_step with hardware.rollout_gpus above 0",
        )
    if run["model.algorithm"] in ("grpo", "rloo", "dapo") and np.any(np.asarray(run["rollout.group_size"]) < 2):
        raise RleconError(
            "a group-relative algorithm needs something to compare with",
            field="rollout.group_size",
            value=1,
            allowed="2 or more, or another model.algorithm",
        )
    weight_bits, train_bits = run["rollout.weight_bits"], run["update.train_bits"]
    if isinstance(weight_bits, np.ndarray) or isinstance(train_bits, np.ndarray):
        raise RleconError(
            "one value per call",
            field="rollout.weight_bits or update.train_bits",
            advice="call once for each precision",
        )
    try:
        q = supply.of_gpu(gpu, weight_bits=weight_bits, train_bits=train_bits, overrides=overrides)
    except RleconError as error:
        which, bits = ("rollout.weight_bits", weight_bits)
        if weight_bits == 16 or (weight_bits == 8 and gpu.dense_fp8_flops_per_second is not None):
            which, bits = "update.train_bits", train_bits
        raise RleconError(error.message, field=which, value=bits, unit="bit", allowed=error.allowed or "16") from None
    if weight_bits == 4 and gpu.dense_fp4_flops_per_second is None:
        warnings.append(f"{gpu.label} has no 4-bit units: weights are read at 4 bits and multiplied at 16.")
    q |= supply.of_engine(run["rollout.engine"], overrides)
    q |= supply.of_model(arch)
    if weight_bits > q["head_bits"]:
        q["head_bits"] = weight_bits
    for key, name in DIRECT.items():
        value = run[key]
        if value is not None:
            q[name] = float(value) if isinstance(value, bool) else value
    q["shared_pool"] = shared
    q["rollout_pool_gpus"] = np.where(shared == 1, gpus, pool)[()]
    q["training_pool_gpus"] = np.where(shared == 1, gpus, np.asarray(gpus) - pool)[()]
    q["concurrent_streams"] = (1 - shared) * (overlap != "none")
    q["continuous_generation"] = float(overlap == "full" or run["rollout.partial_rollouts"])
    q["colocation_factor"] = np.where(shared == 1, supply.value("colocation_factor", overrides), 1.0)[()]
    q["dynamic_sampling"] = float(run["model.algorithm"] == "dapo")
    share = run["rollout.engine_memory_share"]
    if share is None:
        pair = [supply.value(f"engine_memory_share_{k}", overrides) for k in ("colocated", "separate")]
        share = np.where(shared == 1, *pair)[()]
        origins["rollout.engine_memory_share"] = "default: 0.6 in one pool, 0.85 in a pool of its own"
    q["engine_memory_share"] = share
    cv = run["rollout.response_tokens_cv"]
    if cv is None:
        cv = math.sqrt(math.expm1(supply.value("log_length_sd", overrides) ** 2))
        origins["rollout.response_tokens_cv"] = "catalogue: typical spread"
    q["response_tokens_cv"] = cv
    cap = run["rollout.max_response_tokens"]
    if cap is None:
        cap = float("inf")
        origins["rollout.max_response_tokens"] = "not given: no cap"
    q["max_response_tokens"] = cap
    scheduler = run["rollout.max_sequences_per_engine"]
    if scheduler is None:
        scheduler = supply.value("default_max_sequences_per_engine", overrides)
        origins["rollout.max_sequences_per_engine"] = "catalogue: usual scheduler cap"
    q["max_sequences_per_engine"] = scheduler
    drafts = np.where(np.asarray(run["rollout.speculative_acceptance"]) > 0, run["rollout.speculative_drafts"], 0)
    q["speculative_drafts"] = drafts[()]
    parallel = run["rollout.tensor_parallel"]
    if parallel is None:
        parallel = engine_gpus(
            arch,
            gpu,
            weight_bits,
            int(np.max(run["rollout.kv_bits"])),
            float(np.min(share)),
            float(q["reserved_bytes"]),
            float(np.max(run["rollout.prompt_tokens"]) + np.max(run["rollout.response_tokens"])),
            int(np.min(q["rollout_pool_gpus"])),
        )
        origins["rollout.tensor_parallel"] = "smallest power of two that holds the weights and eight sequences"
    q["tensor_parallel"] = parallel
    rank = run["model.lora_rank"]
    adapter = np.asarray(rank) * float(arch.lora_parameters_per_rank)
    q["full_training"] = np.where(np.asarray(rank) == 0, 1.0, 0.0)[()]
    q["trainable_parameters"] = np.where(np.asarray(rank) == 0, arch.total_parameters, adapter)[()]
    q["measured_tokens_per_second_per_gpu"] = _or_zero(run["rollout.measured_tokens_per_second_per_gpu"])
    q["measured_mfu"] = _or_zero(run["update.measured_mfu"])
    q["microbatch_tokens"] = (
        np.minimum(cap, 1e12 if np.all(np.isinf(cap)) else cap)
        if not np.any(np.isinf(cap))
        else np.asarray(run["rollout.response_tokens"]) * 2.0
    )
    q["model_parallel"] = np.asarray(run["update.tensor_parallel"]) * run["update.pipeline_parallel"]
    if not run["update.activation_recompute"]:
        q["activation_bytes_per_token"] = catalog.constant("activation_bytes_per_token").high
    q["build_usd"] = _or_zero(run["environment.build_usd"])
    price = None
    if run["hardware.usd_per_gpu_hour"] is not None:
        q["usd_per_gpu_hour"] = run["hardware.usd_per_gpu_hour"]
    else:
        price = catalog.gpu_price(gpu.name) if gpu.name != "custom" else None
        if price is None:
            warnings.append(f"No price of {gpu.label} is known: give hardware.usd_per_gpu_hour to see dollars.")
            q["usd_per_gpu_hour"] = None
        else:
            q["usd_per_gpu_hour"] = price.mid
            origins["hardware.usd_per_gpu_hour"] = f"catalogue: median of {price.n} list prices, {price.as_of}"
    cpu = run["rollout.usd_per_cpu_hour"]
    if cpu is None:
        cpu = catalog.cpu_price().mid
        origins["rollout.usd_per_cpu_hour"] = "catalogue: median sandbox price"
    q["usd_per_cpu_hour"] = cpu
    _unpriced(run, not_modeled)
    if run["rollout.max_response_tokens"] is None and np.all(np.asarray(cv) > 0):
        warnings.append(
            "No cap on response length is given: the longest response is taken from the length spread alone."
        )
    return Resolved(q, origins, warnings, not_modeled, arch, gpu, price)


def _unpriced(run, not_modeled):
    def given(name):
        return run.origins[name] not in ("default", "not given")

    if given("judge.name"):
        not_modeled.append("judge: a model that scores or teaches is not priced.")
    if np.any(np.asarray(run["update.tenants"]) > 1) or np.any(np.asarray(run["update.duty_cycle"]) < 1):
        not_modeled.append("update.tenants, update.duty_cycle: sharing one base model is not priced.")
    if np.any(np.asarray(run["run.response_growth_per_step"]) != 0):
        not_modeled.append("run.response_growth_per_step: the bill is that of a step at the given length.")
    if np.any(np.asarray(run["reward.levels"]) != 2):
        not_modeled.append("reward.levels: bits are those of a right-or-wrong reward.")
    if run["model.algorithm"] == "distillation":
        not_modeled.append("model.algorithm: the teacher of a distillation is not priced.")
    for name in ("update.pipeline_parallel", "update.expert_parallel", "update.tensor_parallel"):
        if np.any(np.asarray(run[name]) > 1):
            not_modeled.append(
                f"{name}: its communication is inside the trainer's measured efficiency; memory follows it."
            )


def _or_zero(value):
    return 0.0 if value is None else value


def _say(value):
    return value if np.ndim(value) == 0 else f"{np.min(value):g} to {np.max(value):g}"

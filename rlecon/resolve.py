"""A run turned into quantities: what the equations take, with defaults and refusals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from rlecon import catalog, settings, supply
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
    "rollout.looping_share": "looping_share",
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
    from rlecon import generation, information, interval, learning, money, sharing, step, training, trajectory

    rooms = (sharing, trajectory, generation, training, step, money, learning, information)
    return Model([*(e for room in rooms for e in room.EQUATIONS), interval.spread_equation], "the model of a run")


@dataclass(frozen=True)
class Resolved:
    """A run as quantities: what the equations take, and where the values come from."""

    quantities: dict
    origins: dict
    architecture: object
    gpu: object
    price: object
    reasons: list  # where points of an array break a rule: (mask, words)


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


CUSTOM = tuple(f"hardware.dense_{kind}_flops_per_second" for kind in ("bf16", "fp8", "fp4")) + tuple(
    f"hardware.{key}" for key in ("memory_bytes", "memory_bytes_per_second", "link_bytes_per_second")
)


def gpu_of(run: Run):
    """The GPU that the run names, from the catalogue or built from the custom keys."""
    name = run["hardware.gpu"]
    if name != "custom":
        for key in CUSTOM:
            if run[key] is not None:
                raise RleconError(
                    f"belongs to a custom GPU, and hardware.gpu is {name!r}",
                    field=key,
                    value=run[key],
                    advice='leave it out, or give hardware.gpu = "custom" with all that it needs',
                )
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


GROUP_RELATIVE = ("grpo", "rloo", "dapo")
SETTINGS = {  # run-file keys that the rules of `settings` read; what was not given is 0
    "model.lora_rank": "lora_rank",
    "hardware.rollout_gpus": "rollout_gpus",
    "judge.gpus": "judge_gpus",
    "rollout.engine_memory_share": "requested_memory_share",
    "rollout.tensor_parallel": "requested_tensor_parallel",
    "rollout.speculative_drafts": "requested_drafts",
    "rollout.partial_rollouts": "partial_rollouts",
    "update.tensor_parallel": "training_tensor_parallel",
    "update.pipeline_parallel": "training_pipeline_parallel",
}


def settings_of(run: Run, arch, overrides=None) -> dict:
    """What the rules of :mod:`rlecon.settings` take from a run, an architecture and the catalogue's usual values."""
    q = {}
    for key, name in SETTINGS.items():
        value = _or_zero(run[key])
        q[name] = float(value) if isinstance(value, bool) else value
    overlap = run["update.overlap"]
    return q | {
        "one_step_overlap": float(overlap == "one_step"),
        "full_overlap": float(overlap == "full"),
        "group_relative": float(run["model.algorithm"] in GROUP_RELATIVE),
        "colocated_memory_share": supply.value("engine_memory_share_colocated", overrides),
        "separate_memory_share": supply.value("engine_memory_share_separate", overrides),
        "shared_pool_factor": supply.value("colocation_factor", overrides),
        "router_parameters": arch.router_parameters,
        "lora_parameters_per_rank": arch.lora_parameters_per_rank,
    }


def resolve(run: Run, *, overrides=None) -> Resolved:
    """Turn a run into quantities; raises RleconError for what is missing, impossible or cannot fit."""
    for name, meaning in NEEDED.items():
        if run[name] is None:
            raise RleconError(f"not given ({meaning})", field=name, advice="add it to the run file or use --set")
    _broadcast(run)
    arch, gpu = architecture_of(run), gpu_of(run)
    origins: dict = {}
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
        key = {"weight_bits": "rollout.weight_bits", "train_bits": "update.train_bits"}.get(error.field, error.field)
        raise RleconError(error.message, field=key, value=error.value, unit="bit", allowed=error.allowed) from None
    for key in run.values:
        if key.startswith("hardware.") and run.origins[key] == "not given" and key.split(".")[1] in q:
            origins[key] = f"catalogue: {gpu.name}" if gpu.name != "custom" else "default of a custom GPU"
    q |= supply.of_engine(run["rollout.engine"], overrides)
    q |= supply.of_model(arch)
    if weight_bits > q["head_bits"]:
        q["head_bits"] = weight_bits
    for key, name in DIRECT.items():
        value = run[key]
        if value is not None:
            q[name] = float(value) if isinstance(value, bool) else value
    q["dynamic_sampling"] = float(run["model.algorithm"] == "dapo")
    if run["rollout.engine_memory_share"] is None:
        one, own = (supply.value(f"engine_memory_share_{k}", overrides) for k in ("colocated", "separate"))
        origins["rollout.engine_memory_share"] = f"default: {one:g} in one pool, {own:g} in a pool of its own"
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
    guessed = np.asarray(run["rollout.response_tokens_guessed"], float)[()]
    q["length_log_sd"] = guessed * supply.value("residual_log_sd_length_prior", overrides)
    scheduler = run["rollout.max_sequences_per_engine"]
    if scheduler is None:
        scheduler = supply.value("default_max_sequences_per_engine", overrides)
        origins["rollout.max_sequences_per_engine"] = "catalogue: usual scheduler cap"
    q["max_sequences_per_engine"] = scheduler
    if run["rollout.tensor_parallel"] is None:
        origins["rollout.tensor_parallel"] = "smallest power of two that holds the weights and eight sequences"
    q["measured_tokens_per_second_per_gpu"] = _or_zero(run["rollout.measured_tokens_per_second_per_gpu"])
    q["measured_mfu"] = _or_zero(run["update.measured_mfu"])
    q["activation_bytes_per_token"] = supply.activation_bytes(run["update.activation_recompute"], overrides)
    q["build_usd"] = _or_zero(run["environment.build_usd"])
    q["hours_growth"] = q["environment_growth"] = 1.0  # rlecon.growth replaces them where responses grow
    price = None
    if run["hardware.usd_per_gpu_hour"] is not None:
        q["usd_per_gpu_hour"] = run["hardware.usd_per_gpu_hour"]
    else:
        price = catalog.gpu_price(gpu.name) if gpu.name != "custom" else None
        if price is None:
            q["usd_per_gpu_hour"] = None
        else:
            q["usd_per_gpu_hour"] = price.mid
            origins["hardware.usd_per_gpu_hour"] = f"catalogue: median of {price.n} list prices, {price.as_of}"
    cpu = run["rollout.usd_per_cpu_hour"]
    if cpu is None:
        cpu = catalog.cpu_price().mid
        origins["rollout.usd_per_cpu_hour"] = "catalogue: median sandbox price"
    q["usd_per_cpu_hour"] = cpu
    q |= supply.price_log_sds(price)
    reasons: list = []
    q |= settings_of(run, arch, overrides)
    ruled = settings.rules().solve(q, reasons=reasons)
    q |= {e.left.name: ruled[e.left.name] for e in settings.EQUATIONS}
    if np.ndim(q["tensor_parallel"]) == 0:
        q["tensor_parallel"] = int(q["tensor_parallel"])
    q |= _tenancy(run)
    q |= _judge(run, gpu, q, overrides)
    return Resolved(q, origins, arch, gpu, price, reasons)


def _tenancy(run) -> dict:
    """Tenants, their duty cycle, and how many are active at once: an exact binomial quantile."""
    from rlecon.sharing import pooled_gpus

    tenants, duty = run["update.tenants"], run["update.duty_cycle"]
    return {"tenants": tenants, "duty_cycle": duty, "active_tenants": pooled_gpus(tenants, duty)}


NO_JUDGE = {
    "judge_active_parameters": 0.0,
    "judge_attention_flops": 0.0,
    "judge_weight_bytes": 0.0,
    "judge_tokens_per_second_per_gpu": 1.0,  # of nothing written
}


def _judge(run, gpu, q, overrides) -> dict:
    """Quantities of the judge or teacher: its size, and the rate at which its own engines write, if it writes."""
    found = {"judge_response_tokens": run["judge.response_tokens"]}
    if run["judge.name"] is None:
        return found | NO_JUDGE
    arch = catalog.model(run["judge.name"])
    found |= {
        "judge_active_parameters": arch.active_parameters_matmul,
        "judge_attention_flops": arch.attention_flops_per_context_token_training,
        "judge_weight_bytes": arch.total_parameters * q["activation_bits"] / 8,
        "judge_tokens_per_second_per_gpu": 1.0,
    }
    if np.any(np.asarray(run["judge.response_tokens"]) > 0):
        found["judge_tokens_per_second_per_gpu"] = _judge_rate(run, arch, gpu, q, overrides)
    return found


def _judge_rate(run, arch, gpu, q, overrides):
    """Tokens per second and GPU that the judge's engines write; reading is priced apart, so no prefill is in it."""
    from rlecon.phases import decode

    pool = np.where(np.asarray(run["judge.gpus"]) > 0, run["judge.gpus"], q["rollout_pool_gpus"])
    write = run["judge.response_tokens"]
    read = run["rollout.prompt_tokens"] + np.asarray(run["rollout.response_tokens"])
    read = read + (np.asarray(run["rollout.turns"]) - 1) * run["rollout.tool_tokens_per_turn"]
    share = float(np.min(q["engine_memory_share"]))
    longest, reserved = float(np.max(read) + np.max(write)), float(q["reserved_bytes"])
    size = _engine_of(arch, gpu, share, reserved, longest, int(np.min(pool)))
    each = np.asarray(run["rollout.prompts_per_step"]) * run["rollout.group_size"] * run["rollout.oversampling"]
    engine = decode(
        arch, gpu, np.maximum(1.0, each * size / pool), read, write, tensor_parallel=size,
        engine=run["rollout.engine"], engine_memory_share=share, overrides=overrides,
    )  # fmt: skip
    return (engine["resident_sequences"] / (engine["inter_token_seconds"] * size))[()]


def _engine_of(arch, gpu, share, reserved, tokens, at_most) -> int:
    """The smallest engine of a judge: a power of two of GPUs that holds its weights and eight sequences."""
    cache = settings.SEQUENCES_PER_ENGINE * float(arch.kv_bytes(tokens, 16))
    for size in supply.powers_of_two(max(at_most, 1)):
        room = share * gpu.memory_bytes - reserved - 2.0 * arch.total_parameters / size
        if room > 0 and min(size, arch.kv_shards_max) * room >= cache:
            return size
    raise RleconError(
        f"{arch.name} fits on no engine of {at_most} GPUs",
        field="judge.name",
        value=arch.name,
        advice="use more GPUs (judge.gpus), a smaller judge or shorter answers",
    )


def _broadcast(run) -> None:
    """Raise RleconError where lists of values do not fit each other."""
    shapes = {key: value.shape for key, value in run.values.items() if isinstance(value, np.ndarray)}
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        words = ", ".join(f"{key} {shape}" for key, shape in shapes.items())
        raise RleconError(f"lists do not broadcast: {words}", allowed="equal lengths, or shapes with 1") from None


def _or_zero(value):
    return 0.0 if value is None else value

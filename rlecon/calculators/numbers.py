"""How each number of a run file is turned: its label, the places of its slider, what stands while it is not given."""

from __future__ import annotations

import math

from rlecon import catalog, supply
from rlecon.calculators.parts import Dial, stops
from rlecon.pricing import LEARNING, MONEY
from rlecon.remarks import WARNINGS
from rlecon.resolve import DIRECT, SETTINGS
from rlecon.run import KEYS, Run

# Run-file keys and the quantity that their number is, before the rules of `settings`.
KEY_QUANTITY = (
    DIRECT
    | SETTINGS
    | {
        "hardware.usd_per_gpu_hour": "usd_per_gpu_hour",
        "rollout.response_tokens_cv": "response_tokens_cv",
        "rollout.max_response_tokens": "max_response_tokens",
        "rollout.measured_tokens_per_second_per_gpu": "measured_tokens_per_second_per_gpu",
        "rollout.max_sequences_per_engine": "max_sequences_per_engine",
        "rollout.usd_per_cpu_hour": "usd_per_cpu_hour",
        "update.measured_mfu": "measured_mfu",
        "environment.build_usd": "build_usd",
    }
)
DIALS = {  # how a run-file number is turned: label, low, high, logarithmic, unit of the field
    "hardware.gpus": ("GPUs", 8, 4096, True, "GPUs"),
    "hardware.rollout_gpus": ("of them for rollouts only", 8, 2048, True, "GPUs"),
    "hardware.usd_per_gpu_hour": ("Rent of a GPU", 0.5, 20, True, "$/h"),
    "rollout.prompts_per_step": ("Prompts per step", 8, 4096, True, "prompts"),
    "rollout.group_size": ("Group size", 2, 64, True, "rollouts"),
    "rollout.oversampling": ("Oversampling", 1, 4, True, "×"),
    "rollout.prompt_tokens": ("Prompt length", 64, 65536, True, "tokens"),
    "rollout.response_tokens": ("Response length, mean", 100, 200000, True, "tokens"),
    "rollout.response_tokens_cv": ("Spread of length (sd / mean)", 0.1, 2, False, ""),
    "rollout.max_response_tokens": ("Cap on length", 256, 1048576, True, "tokens"),
    "rollout.looping_share": ("Answers that loop to the cap", 0, 0.1, False, "%"),
    "rollout.tensor_parallel": ("GPUs per engine", 1, 64, True, "GPUs"),
    "rollout.engine_memory_share": ("Memory share of the engine", 0.2, 0.95, False, "%"),
    "rollout.max_sequences_per_engine": ("Scheduler cap", 8, 4096, True, "sequences"),
    "rollout.measured_tokens_per_second_per_gpu": ("Measured rate", 50, 20000, True, "tokens/s per GPU"),
    "rollout.speculative_acceptance": ("Drafts accepted", 0, 0.95, False, "%"),
    "rollout.speculative_drafts": ("Tokens drafted", 1, 12, False, "tokens"),
    "rollout.turns": ("Turns", 1, 500, True, "turns"),
    "rollout.tool_tokens_per_turn": ("Tool tokens per turn", 0, 20000, False, "tokens"),
    "rollout.environment_seconds_per_turn": ("Environment time per turn", 0, 120, False, "s"),
    "rollout.environment_cpus": ("CPUs per trajectory", 0, 32, False, "vCPU"),
    "rollout.usd_per_cpu_hour": ("Rent of a CPU", 0.01, 0.5, True, "$/h"),
    "model.lora_rank": ("LoRA rank (0: all parameters)", 0, 256, False, ""),
    "update.staleness_steps": ("Staleness bound", 0, 8, False, "steps"),
    "update.epochs": ("Epochs", 1, 8, False, ""),
    "update.minibatches": ("Minibatches", 1, 32, True, ""),
    "update.tensor_parallel": ("GPUs that split a layer", 1, 64, True, "GPUs"),
    "update.pipeline_parallel": ("Pipeline stages", 1, 64, True, ""),
    "update.measured_mfu": ("Measured MFU", 0.02, 0.6, False, "%"),
    "reward.pass_rate": ("Pass rate", 0.001, 0.999, False, "%"),
    "reward.pass_rate_spread": ("Spread over prompts (sd)", 0, 0.5, False, "%"),
    "reward.false_positive_rate": ("Wrong answers that pass", 0, 0.4, False, "%"),
    "reward.false_negative_rate": ("Right answers that fail", 0, 0.5, False, "%"),
    "judge.gpus": ("GPUs of the judge's own", 8, 1024, True, "GPUs"),
    "environment.build_usd": ("Building the tasks", 1000, 10000000, True, "$"),
    "environment.runs": ("Runs that share them", 1, 50, True, "runs"),
    "run.steps": ("Steps", 10, 10000, True, "steps"),
    "run.evaluation_seconds_per_step": ("Evaluation per step", 0, 600, False, "s"),
    "run.attempts": ("Launches per success", 1, 10, False, "×"),
}
EMPTY = {  # what a setting is where it is not given, and how the field says so
    "rollout.max_response_tokens": (math.inf, "no cap"),
    "rollout.tensor_parallel": (0.0, "chosen"),
    "rollout.engine_memory_share": (0.0, "usual"),
    "rollout.measured_tokens_per_second_per_gpu": (0.0, "modeled"),
    "update.measured_mfu": (0.0, "modeled"),
    "environment.build_usd": (0.0, "none"),
    "hardware.usd_per_gpu_hour": (None, "list price"),
}
# A pass rate is most interesting at both ends.
PASS_RATES = (
    0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18,
    *(x / 100 for x in range(20, 81, 2)), 0.25, 0.35, 0.45, 0.55, 0.65, 0.75,
    0.82, 0.85, 0.88, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.997, 0.999,
)  # fmt: skip
# What nobody knows while a setting is not given, and what the model takes meanwhile.
UNKNOWN = {
    "hardware.usd_per_gpu_hour": (
        tuple(n for n in (*MONEY, "usd_per_mixed_group", "usd_per_bit") if n != "environment_build_usd"), None,
    ),
    "run.steps": (("usd_run", "gpu_hours_run", "environment_usd_run"), 1.0),
    "reward.pass_rate": (LEARNING, 0.5),
}  # fmt: skip
PROXIES = {"rollout.engine_memory_share": ("colocated_memory_share", "separate_memory_share")}


def run_dial(key: str, base: Run, extra, loose=()) -> Dial:
    label, low, high, log, unit = DIALS[key]
    default = base[key]
    musts = [x for x in (default, *extra) if x is not None]
    whole = KEYS[key].kind is int
    positive = [m for m in musts if m > 0]
    high, least = max([high, *musts]), min([x for x in (low, *positive) if x > 0], default=0)
    if key == "reward.pass_rate":
        places = tuple(sorted({*PASS_RATES, *musts}))
    elif log or (low == 0 and high > 30):
        least = least if low > 0 else 1 if whole else high / 1000
        places = stops(min([least, *positive]), high, *positive, whole=whole)
        places = (0, *places) if low == 0 or 0 in musts else places
    else:
        places = stops(low, high, *musts, log=False, whole=whole)
    empty, says = EMPTY.get(key, (None, ""))
    optional = key in EMPTY or default is None or key in loose
    if key == "rollout.response_tokens_cv" and default is None:
        empty, says = math.sqrt(math.expm1(supply.value("log_length_sd") ** 2)), "usual"
    elif key == "rollout.max_sequences_per_engine" and default is None:
        empty, says = supply.value("default_max_sequences_per_engine"), "usual"
    elif key == "rollout.usd_per_cpu_hour" and default is None:
        empty, says = catalog.cpu_price().mid, "list price"
    also = {"price_low_log_sd": 0.0, "price_high_log_sd": 0.0} if key == "hardware.usd_per_gpu_hour" else {}
    places = (None, *places) if optional and key != "rollout.max_response_tokens" else places
    places = (*places, None) if key == "rollout.max_response_tokens" else places
    unknown, stand_in = UNKNOWN.get(key, ((), None)) if optional else ((), None)
    missing = next((r.text for r in WARNINGS if unknown and r.lacks == KEY_QUANTITY[key]), "")
    return Dial(
        key, KEY_QUANTITY[key], label, default, places, unit, log, stand_in if unknown else empty, says, also, missing,
        unknown, PROXIES.get(key, ()),
    )  # fmt: skip

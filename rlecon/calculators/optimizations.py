"""Calculators of the part "Optimizations"."""

from __future__ import annotations

from dataclasses import replace

from rlecon import capability, catalog, gains, groups, hardness, learning, sharing
from rlecon.calculators.on_run import of_run
from rlecon.calculators.parts import MONEY, TIME, Output, Preset, dial, q, stops
from rlecon.calculators.runs import CAPPED, LONG
from rlecon.calculators.shelf import Calculator, calculator
from rlecon.equation import Model
from rlecon.run import Run


@calculator("inference-stack")
def inference_stack():
    """Dollars of a step against the acceptance of drafted tokens, and what the cache lets an engine hold."""
    return of_run(
        Run(**{**LONG, "rollout": {**LONG["rollout"], "speculative_acceptance": 0.7, "speculative_drafts": 4}}),
        title="What drafted tokens and a small cache are worth",
        choices=("model.name", "hardware.gpu", "rollout.kv_bits"),
        dials=("rollout.speculative_acceptance", "rollout.speculative_drafts", "rollout.response_tokens",
               "rollout.max_response_tokens", "rollout.prompts_per_step", "hardware.gpus",
               "hardware.usd_per_gpu_hour"),
        outputs=(
            Output("usd_per_step", "One step", "usd", 2, spread=MONEY),
            Output("rollout_seconds", "Generating", "seconds", 2),
            Output("tokens_per_verification", "Tokens per decode step and sequence", "", 2, log=False),
            Output("inter_token_seconds", "One decode step, full engine", "seconds", 2),
            Output("kv_bytes_per_token", "Cache per token, full layers", "bytes", 3),
            Output("resident_limit", "Sequences that an engine can hold", "", 2),
            Output("resident_sequences", "Sequences that it decodes together", "", 2),
        ),
        over="rollout.speculative_acceptance",
        presets=(
            Preset("no drafts", {"rollout.speculative_acceptance": 0}),
            Preset("a good draft", {"rollout.speculative_acceptance": 0.7}),
            Preset("a draft that has fallen behind", {"rollout.speculative_acceptance": 0.4}),
            Preset("slow arithmetic", {"hardware.gpu": "h20", "rollout.speculative_acceptance": 0.5}),
        ),
        formula=("tokens_per_verification", "kv_bytes_per_token"),
        words=(
            (q("speculative_acceptance") <= 0,
             "Without drafts each decode step writes one token per sequence; an engine can hold "
             "{resident_limit|sequences|2}."),
            (True, "Each decode step writes {tokens_per_verification||2} tokens per sequence and checks "
                   "{verified_tokens||2}; a step costs {usd_per_step|usd|2}."),
        ),
    )  # fmt: skip


@calculator("lora-multi-tenancy")
def lora_multi_tenancy():
    """What active tenants save by reading the base model once, and how many of them fit."""
    return Calculator(
        title="What does sharing the base save?",
        model=Model([sharing.gain_equation, sharing.limit_equation, sharing.most_equation], "tenants of one base"),
        outputs=(
            Output("sharing_gain", "Bytes per tenant, alone over shared", "x", 3),
            Output("sharing_limit", "The same for endlessly many tenants", "x", 3),
            Output("most_tenants", "Tenants that the memory holds at once", "", 2),
        ),
        dials=(
            dial("active_tenants", "Tenants active at once", 4.0, (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0)),
            dial("tenant_sequences", "Sequences that each decodes at once", 16.0, stops(1, 256, 16.0), log=True),
            dial("kv_bytes_per_sequence", "Cache of one sequence, bytes", 295e6, stops(2e7, 2e9, 295e6), log=True),
            dial("base_weight_bytes", "Weights of the base, bytes", 15.14e9, stops(1e9, 2e11, 15.14e9), log=True),
            dial("adapter_bytes", "Weights of one adapter, bytes", 175e6, stops(5e6, 2e9, 175e6), log=True),
            dial("tenant_room_bytes", "Memory for caches and adapters, bytes", 55.6e9,
                 stops(5e9, 4e11, 55.6e9), log=True),
        ),
        over="active_tenants",
        presets=(
            Preset("small batches", {"tenant_sequences": 4.0}),
            Preset("large batches", {"tenant_sequences": 64.0}),
            Preset("a large base on eight GPUs", {"base_weight_bytes": 1.4e11, "tenant_room_bytes": 3.5e11,
                                                  "kv_bytes_per_sequence": 6.5e8, "adapter_bytes": 8e8}),
        ),
        formula=("sharing_gain", "most_tenants"),
        words=(
            (q("most_tenants") < q("active_tenants"),
             "{active_tenants||2} tenants do not fit: the memory holds the caches and adapters of "
             "{most_tenants||2}. The others wait, and what they read is not shared."),
            (True, "Each of {active_tenants||2} tenants pays for a {sharing_gain|x|3} smaller reading of bytes than "
                   "alone; with endlessly many it would be {sharing_limit|x|3}."),
        ),
    )  # fmt: skip


@calculator("mixture-of-experts")
def mixture_of_experts():
    """What a token costs with all experts in memory and some of them read."""
    return of_run(
        Run(**{**CAPPED, "model": {"name": "qwen3-30b-a3b"}}),
        title="What a mixture of experts costs",
        choices=("model.name", "hardware.gpu", "rollout.engine"),
        dials=("rollout.prompts_per_step", "rollout.response_tokens", "rollout.max_response_tokens", "hardware.gpus",
               "hardware.usd_per_gpu_hour"),
        outputs=(
            Output("usd_per_step", "One step", "usd", 3, spread=MONEY),
            Output("usd_per_token", "One generated token, all included", "usd", 3, spread=MONEY),
            Output("rollout_seconds", "Generating", "seconds", 3),
            Output("update_seconds", "Updating", "seconds", 3),
            Output("experts_touched_share", "Experts that a decode step reads", "%", 2, log=False),
            Output("inter_token_seconds", "One decode step, full engine", "seconds", 3),
            Output("resident_sequences", "Sequences that an engine decodes together", "", 2),
        ),
        over="rollout.prompts_per_step",
        presets=(
            Preset("a mixture", {"model.name": "qwen3-30b-a3b"}),
            Preset("its dense sibling", {"model.name": "qwen3-32b"}),
            Preset("a mixture, eight times the prompts", {"model.name": "qwen3-30b-a3b",
                                                          "rollout.prompts_per_step": 2048}),
            Preset("a mixture, tuned engine", {"model.name": "qwen3-30b-a3b", "rollout.engine": "tuned"}),
        ),
        formula=("experts_touched_share", "inter_token_seconds"),
        words=(
            (q("experts") <= 1,
             "A dense model: every decode step reads all weights; a step costs {usd_per_step|usd|3}."),
            (True, "Each token uses {experts_per_token||2} of {experts||3} experts, a decode step of "
                   "{resident_sequences|sequences|2} reads {experts_touched_share|%|2} of them; a step costs "
                   "{usd_per_step|usd|3}."),
        ),
    )  # fmt: skip


@calculator("async-rl")
def async_rl():
    """Dollars of a step against the split of the GPUs into two pools."""
    made = of_run(
        Run(**{**LONG, "hardware": {**LONG["hardware"], "rollout_gpus": 42},
               "update": {"overlap": "full", "staleness_steps": 1}}),
        title="How should the GPUs be split?",
        choices=("update.overlap", "model.name", "hardware.gpu"),
        dials=("hardware.rollout_gpus", "rollout.response_tokens", "rollout.max_response_tokens",
               "rollout.prompts_per_step", "hardware.usd_per_gpu_hour"),
        outputs=(
            Output("usd_per_step", "One step", "usd", 3, spread=MONEY),
            Output("step_seconds", "Time of a step", "seconds", 3, spread=TIME),
            Output("generation_stream_seconds", "Generating", "seconds", 3),
            Output("training_stream_seconds", "Learning", "seconds", 3),
            Output("idle_seconds", "Idle, over all GPUs alike", "seconds", 2),
            Output("longest_response_tokens", "Longest answer of a step", "tokens", 3),
        ),
        over="hardware.rollout_gpus",
        presets=(
            Preset("in turn, one pool", {"update.overlap": "none", "hardware.rollout_gpus": 0}),
            Preset("one step ahead", {"update.overlap": "one_step", "hardware.rollout_gpus": 52}),
            Preset("engines never wait", {"update.overlap": "full", "hardware.rollout_gpus": 42}),
            Preset("a wrong split", {"update.overlap": "full", "hardware.rollout_gpus": 56}),
        ),
        formula=("step_seconds",),
        words=(
            (q("concurrent_streams") <= 0,
             "In turn, a step takes {step_seconds|seconds|3} and costs {usd_per_step|usd|3}."),
            (q("generation_stream_seconds") > q("training_stream_seconds"),
             "The trainer waits for rollouts: GPUs are idle for {idle_seconds|seconds|2} of a step of "
             "{step_seconds|seconds|3}."),
            (True, "The engines are ahead and wait for the trainer: GPUs are idle for {idle_seconds|seconds|2} of a "
                   "step of {step_seconds|seconds|3}."),
        ),
    )  # fmt: skip
    gpus = LONG["hardware"]["gpus"]  # fixed, so that the plot shows the split
    split = replace(made.dial("hardware.rollout_gpus"), label=f"GPUs that only generate, of {gpus}",
                    stops=tuple(range(gpus - 1)), log=False)
    return replace(made, dials=(split, *made.dials[1:]))


@calculator("quantized-rollouts")
def quantized_rollouts():
    """What fewer bits in the engine do to the price of a token, against the size of the batch."""
    return of_run(
        Run(**{**CAPPED, "rollout": {**CAPPED["rollout"], "weight_bits": 8}}),
        title="What fewer bits in the engine save",
        choices=("rollout.weight_bits", "rollout.kv_bits", "model.name", "hardware.gpu"),
        dials=("rollout.prompts_per_step", "rollout.response_tokens", "rollout.max_response_tokens",
               "hardware.gpus", "hardware.usd_per_gpu_hour"),
        outputs=(
            Output("usd_per_step", "One step", "usd", 3, spread=MONEY),
            Output("usd_per_token", "One generated token, all included", "usd", 3, spread=MONEY),
            Output("rollout_seconds", "Generating", "seconds", 3),
            Output("rollout_share", "Share of rollout in the step", "%", 2, log=False),
            Output("inter_token_seconds", "One decode step, full engine", "seconds", 3),
            Output("dense_read_seconds", "of it: reading the dense weights", "seconds", 2),
            Output("resident_sequences", "Sequences that it decodes together", "", 2),
        ),
        over="rollout.prompts_per_step",
        presets=(
            Preset("16 bits", {"rollout.weight_bits": "16", "rollout.kv_bits": "16"}),
            Preset("8-bit weights", {"rollout.weight_bits": "8", "rollout.kv_bits": "16"}),
            Preset("8-bit weights and cache", {"rollout.weight_bits": "8", "rollout.kv_bits": "8"}),
            Preset("4-bit weights", {"rollout.weight_bits": "4", "rollout.kv_bits": "16"}),
        ),
        formula=("dense_read_seconds", "inter_token_seconds"),
        words=(
            (True, "With {weight_bits|bits|2} per weight and {kv_bits|bits|2} per cached number, an engine decodes "
                   "{resident_sequences|sequences|2} together, {inter_token_seconds|seconds|2} a token; a step costs "
                   "{usd_per_step|usd|3}."),
        ),
    )  # fmt: skip


@calculator("hardware-generations")
def hardware_generations():
    """Dollars of the same work on a newer GPU."""
    old, new, middle = (catalog.gpu(name) for name in ("h100-sxm", "b200", "h200-sxm"))
    fields = {"bandwidth_ratio": "memory_bytes_per_second", "flops_ratio": "dense_bf16_flops_per_second"}

    def ratios(gpu):
        found = {name: getattr(gpu, field) / getattr(old, field) for name, field in fields.items()}
        found["rent_ratio"] = catalog.gpu_price(gpu.name).mid / catalog.gpu_price(old.name).mid
        return {name: float(f"{x:.3g}") for name, x in found.items()}

    at = ratios(new)

    def over(name, words, high):
        return dial(name, words, at[name], stops(0.5, high, 1.0, at[name], ratios(middle)[name]), log=True, unit="×")

    return Calculator(
        title="Does a newer GPU save dollars?",
        model=Model([gains.hardware_equation]),
        outputs=(Output("usd_ratio", "Dollars of the same work, new over old", "x", 3),),
        dials=(
            dial("bandwidth_time_share", "Share of time that waits for memory", 0.6,
                 stops(0, 0.7, 0.5, 0.6, 0.7, log=False), unit="%"),
            dial("flops_time_share", "Share that waits for arithmetic", 0.2,
                 stops(0, 0.3, 0.1, 0.2, log=False), unit="%"),
            over("bandwidth_ratio", "Bandwidth, new over old", 8),
            over("flops_ratio", "Arithmetic, new over old", 8),
            over("rent_ratio", "Rent, new over old", 4),
        ),
        over="bandwidth_time_share",
        presets=(
            Preset("B200 over H100, full engines", {"bandwidth_time_share": 0.7, "flops_time_share": 0.1, **at}),
            Preset("the same, small batches", {"bandwidth_time_share": 0.5, "flops_time_share": 0.0, **at}),
            Preset("H200 over H100: memory only", {"bandwidth_time_share": 0.6, "flops_time_share": 0.2,
                                                   **ratios(middle)}),
        ),
        formula=("usd_ratio",),
        words=(
            (q("usd_ratio") < 1, "The same work costs {usd_ratio|x|3} of what it did: the newer GPU is cheaper."),
            (True, "The same work costs {usd_ratio|x|3} of what it did: too much of the time waits for nothing that "
                   "has improved."),
        ),
    )  # fmt: skip


@calculator("two-grpo")
def two_grpo():
    """How many rollouts a prompt should get, at equal dollars."""
    sizes = tuple(float(g) for g in (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64))
    return Calculator(
        title="How many rollouts per prompt?",
        model=Model(
            [*learning.MIXED.order, groups.square_spread_equation, groups.ratio_equation, groups.best_equation,
             groups.cost_equation, hardness.mixed_wait],
            "groups at equal dollars",
        ),
        outputs=(
            Output("cost_over_least", "Dollars for equal variance, over the least", "x", 3),
            Output("best_group_size", "Best group size", "", 2),
            Output("noise_ratio", "Noise within a prompt over difference between prompts", "x", 2),
            Output("mixed_group_share", "Groups that teach", "%", 2, log=False),
            Output("rollouts_per_mixed_group", "Rollouts per group that teaches", "rollouts", 2),
        ),
        dials=(
            dial("group_size", "Rollouts per prompt", 16.0, sizes),
            dial("mean_pass_rate", "Mean pass rate", 0.3, stops(0.02, 0.98, 0.05, 0.3, log=False), unit="%"),
            dial("pass_rate_spread", "Spread of pass rates over prompts", 0.1, stops(0.0, 0.4, 0.1, log=False)),
            dial("usd_per_prompt_visit", "Price of visiting a prompt, in rollouts", 0.0,
                 (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)),
            dial("even_noise_ratio", "Noise ratio where half is solved", 1.9, stops(0.5, 20, 1.9), log=True),
        ),
        fixed={"usd_per_rollout": 1.0, "false_positive_rate": 0.0, "false_negative_rate": 0.0},
        sources={"usd_per_rollout": "the unit of price", "false_positive_rate": "a perfect verifier",
                 "false_negative_rate": "a perfect verifier"},
        over="group_size",
        presets=(
            Preset("pairs", {"group_size": 2.0}),
            Preset("groups of sixteen", {"group_size": 16.0}),
            Preset("a hard task", {"mean_pass_rate": 0.05, "pass_rate_spread": 0.0}),
            Preset("a dear container per prompt", {"usd_per_prompt_visit": 20.0}),
        ),
        formula=("best_group_size", "cost_over_least"),
        words=(
            (q("best_group_size") < 2, "Prompts differ more than their rollouts do: take pairs, the smallest group."),
            (q("group_size") > q("best_group_size"),
             "Groups of {group_size||2} pay {cost_over_least|x|3} the dollars of the best size for equal variance; "
             "the best is {best_group_size||2}: more prompts, fewer rollouts of each."),
            (True, "Groups of {group_size||2} pay {cost_over_least|x|3} the dollars of the best size for equal "
                   "variance; the best is {best_group_size||2}."),
        ),
    )  # fmt: skip


@calculator("stack")
def stack():
    """What levers on the rollout and on the rest of a step do to the whole."""
    return Calculator(
        title="Do the savings multiply?",
        model=Model([capability.amdahl_equation, capability.cap_equation, capability.dollar_gain_equation],
                    "levers on parts of a step"),
        outputs=(
            Output("dollar_gain", "Dollars, old over new", "x", 3),
            Output("speedup", "Time, old over new", "x", 3),
            Output("speedup_cap", "Most in time from the rollout alone", "x", 3),
        ),
        dials=(
            dial("rollout_share", "Share of rollout in the step", 0.7, stops(0.05, 0.99, 0.7, log=False), unit="%"),
            dial("rollout_speedup", "All levers on the rollout, multiplied", 4.0, stops(1, 40, 4.0), log=True),
            dial("training_speedup", "All levers on the rest, multiplied", 2.0, stops(1, 10, 2.0), log=True),
            dial("rent_ratio", "Rent of the new GPUs over the old", 1.85, stops(0.5, 4, 1.85), log=True),
        ),
        over="rollout_speedup",
        presets=(
            Preset("nine tenths rollout", {"rollout_share": 0.9}),
            Preset("half rollout", {"rollout_share": 0.5}),
            Preset("rollout levers only", {"training_speedup": 1.0, "rent_ratio": 1.0, "rollout_speedup": 10.0}),
        ),
        formula=("speedup", "dollar_gain"),
        words=(
            (q("dollar_gain") < 1, "The step is {speedup|x|3} as fast and costs more: the rent grew faster."),
            (True, "Levers worth {rollout_speedup|x|2} on the rollout make the step {speedup|x|3} as fast and save "
                   "{dollar_gain|x|3} in dollars."),
        ),
    )  # fmt: skip

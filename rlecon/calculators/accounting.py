"""Calculators of the first page and of the part "Accounting"."""

from __future__ import annotations

from rlecon import information, money
from rlecon.calculators.on_run import of_run
from rlecon.calculators.parts import MONEY, TIME, Output, Preset, q
from rlecon.calculators.runs import AGENT_32B, CAPPED, CAPPED_PRESETS, FRONTIER, MATH_8B, SPINE
from rlecon.calculators.shelf import calculator
from rlecon.run import Run


@calculator("index")
def index():
    """The identity of the first page: what a group that teaches costs, and what its bits cost."""
    return of_run(
        Run(**CAPPED),
        title="What a lesson costs",
        choices=("model.name", "hardware.gpu"),
        dials=("reward.pass_rate", "rollout.response_tokens", "rollout.max_response_tokens",
               "rollout.group_size", "rollout.prompts_per_step", "hardware.gpus", "hardware.usd_per_gpu_hour"),
        outputs=(
            Output("usd_per_mixed_group", "One group that teaches", "usd", 2, spread=MONEY),
            Output("usd_per_bit", "One bit of reward", "usd", 2, spread=MONEY),
            Output("usd_per_step", "One step", "usd", 2, spread=MONEY),
            Output("mixed_group_share", "Groups that teach", "%", 2, log=False),
            Output("step_seconds", "Time of a step", "seconds", 2, spread=TIME),
        ),
        over="reward.pass_rate",
        presets=CAPPED_PRESETS,
        formula=("usd_per_mixed_group", "gpu_hours_per_step"),
        words=(
            (q("mixed_group_share") <= 0, "At this pass rate no group holds both outcomes: the step teaches nothing."),
            (q("mixed_group_share") < 0.5,
             "At a pass rate of {mean_pass_rate|%|2}, only {mixed_group_share|%|2} of the groups of {group_size} hold "
             "both outcomes; the rest are paid for and teach nothing."),
            (True, "At a pass rate of {mean_pass_rate|%|2}, {mixed_group_share|%|2} of the groups of {group_size} hold "
                   "both outcomes; each costs {usd_per_mixed_group|usd|2}."),
        ),
    )  # fmt: skip


@calculator("tokenomics")
def tokenomics():
    """The identity of the book: four factors, two meters."""
    return of_run(
        Run(**CAPPED),
        title="What a token costs, and what a lesson costs",
        choices=("model.name", "hardware.gpu"),
        dials=("reward.pass_rate", "rollout.response_tokens", "rollout.max_response_tokens", "rollout.group_size",
               "hardware.gpus", "hardware.usd_per_gpu_hour"),
        outputs=(
            Output("usd_per_bit", "One bit of reward", "usd", 2, spread=MONEY),
            Output("usd_per_signal", "One unit of signal", "usd", 2, spread=MONEY),
            Output("usd_per_token", "One generated token, all included", "usd", 2, spread=MONEY),
            Output("gpu_seconds_per_token", "GPU time per token", "seconds", 2, spread=TIME),
            Output("rollouts_per_bit", "Rollouts per bit", "rollouts", 2),
            Output("rollouts_per_signal", "Rollouts per unit of signal", "rollouts", 2),
        ),
        more=(money.gpu_time_equation, money.rollout_price_equation, money.bit_wait_equation,
              money.signal_wait_equation, money.signal_price_equation),
        over="reward.pass_rate",
        presets=(
            Preset("a task half solved", {"reward.pass_rate": 0.5}),
            Preset("a hard task", {"reward.pass_rate": 0.05}),
            Preset("a nearly hopeless task", {"reward.pass_rate": 0.005}),
        ),
        formula=("usd_per_token", "rollouts_per_bit"),
        words=(
            (q("signal_per_step") <= 0,
             "No rollout differs from another: tokens are paid for and nothing is for sale."),
            (True, "A token costs the same at every pass rate. At {mean_pass_rate|%|2} a bit takes "
                   "{rollouts_per_bit|rollouts|2} and costs {usd_per_bit|usd|2}."),
        ),
    )  # fmt: skip


@calculator("gpu-hours")
def gpu_hours():
    """Where the time of a step goes."""
    return of_run(
        Run(**CAPPED),
        title="Where the time of a step goes",
        choices=("model.name", "hardware.gpu", "rollout.weight_bits"),
        dials=("rollout.response_tokens", "rollout.max_response_tokens", "rollout.response_tokens_cv",
               "rollout.group_size", "rollout.prompts_per_step", "rollout.prompt_tokens", "hardware.gpus"),
        outputs=(
            Output("rollout_share", "Share of rollout in the step", "%", 2, log=False),
            Output("gpu_hours_per_step", "GPU-hours of a step", "", 2, spread=TIME),
            Output("step_seconds", "Time of a step", "seconds", 2, spread=TIME),
            Output("rollout_seconds", "Generating", "seconds", 2),
            Output("update_seconds", "Updating", "seconds", 2),
            Output("resident_sequences", "Sequences together on an engine", "", 2),
            Output("inter_token_seconds", "One decode step, full engine", "seconds", 2),
            Output("decode_mfu", "MFU while generating", "%", 2),
            Output("train_mfu", "MFU while updating", "%", 2),
        ),
        over="rollout.response_tokens",
        presets=CAPPED_PRESETS,
        formula=("inter_token_seconds", "step_seconds"),
        words=(
            (q("resident_sequences") < q("sequences_per_engine"),
             "An engine of width {tensor_parallel||2} holds {resident_sequences||2} of its {sequences_per_engine||2} "
             "sequences at a time: rollouts run in waves, and take {rollout_share|%|2} of the step."),
            (q("rollout_share") < 0.5,
             "Rollout is {rollout_share|%|2} of the step: training and the fixed work of a step weigh more."),
            (True, "Rollout is {rollout_share|%|2} of the step; while it generates, a GPU computes at "
                   "{decode_mfu|%|2} of its peak."),
        ),
    )  # fmt: skip


@calculator("bits-per-token")
def bits_per_token():
    """What a rollout can teach, per token, GPU-hour and dollar."""
    return of_run(
        Run(**SPINE),
        title="How many bits a token can teach",
        choices=("model.name", "hardware.gpu"),
        dials=("rollout.response_tokens", "reward.pass_rate", "reward.pass_rate_spread", "rollout.group_size",
               "rollout.prompts_per_step", "hardware.gpus", "hardware.usd_per_gpu_hour"),
        outputs=(
            Output("bits_per_token", "Bits per token, at most", "bits", 2),
            Output("bits_per_rollout", "Bits per rollout, at most", "bits", 2, log=False),
            Output("bits_per_step", "Bits per step, at most", "bits", 2),
            Output("usd_per_bit", "One bit", "usd", 2, spread=MONEY),
            Output("usd_per_token", "One generated token, all included", "usd", 2, spread=MONEY),
        ),
        more=(information.tokens_per_bit_equation,),
        over="rollout.response_tokens",
        presets=(
            MATH_8B,
            AGENT_32B,
            FRONTIER,
        ),
        formula=("bits_per_token",),
        words=(
            (q("bits_per_rollout") <= 0, "A reward that is known beforehand tells nothing."),
            (True, "One rollout of {response_tokens|tokens|2} tells at most {bits_per_rollout|bits|2}: one bit takes "
                   "at least {tokens_per_bit|tokens|2}."),
        ),
    )  # fmt: skip

"""What each live calculator of the book shows: a model, what it answers, what a reader may turn, and how far.

Nothing is computed here. A :class:`Calculator` names equations of the package; ``book/_ext/calculator.py`` compiles
them to JavaScript and draws the first picture, ``book/assets/calculator.js`` turns the dials.

To add one, write a function under ``@calculator`` and put ```` ```{calculator} its-name ```` into a chapter::

    @calculator("its-name")
    def its_name():
        return Calculator(
            title="What one bit costs",
            model=Model([information.entropy_equation, information.token_equation_of_mine]),
            outputs=(Output("bits_per_token", "Bits per token", "bits"),),       # the first one is shown large
            dials=(dial("pass_rate", "Pass rate", 0.3, stops(0.01, 0.99, 0.3), unit="%"),),
            fixed={"response_tokens": 4000.0}, sources={"response_tokens": "assumed"},
            over="pass_rate", words=((True, "A token teaches {bits_per_token|bits|2}."),),
        )

For a calculator on a whole run, :func:`of_run` takes run-file keys instead of quantities and fills the rest from the
catalogue and the defaults.
"""

from __future__ import annotations

from dataclasses import replace

from rlecon import (
    breadth,
    capability,
    catalog,
    clocks,
    credit,
    environment_cost,
    gains,
    groups,
    hardness,
    horizon,
    information,
    learning,
    money,
    sharing,
    step,
    trajectory,
    verifier,
)
from rlecon.dials import CALCULATORS, Calculator, Choice, Dial, Output, Preset, Table, calculator, dial, stops
from rlecon.equation import Model
from rlecon.quantity import REGISTRY
from rlecon.run import Run
from rlecon.run_dials import is_choice, levers_of, of_run, remarks_of

__all__ = ["CALCULATORS", "Calculator", "Choice", "Dial", "Output", "Preset", "Table", "calculator", "dial", "of_run",
           "stops"]  # fmt: skip

# --- the calculators -------------------------------------------------------------------------------------------------

_TIME = ("time_low_factor", "time_high_factor")
_MONEY = ("usd_low_factor", "usd_high_factor")


def _q(name):
    return REGISTRY[name].symbol


MATH_8B = Preset(
    "8B math",
    {"model.name": "qwen3-8b", "hardware.gpus": 64, "rollout.prompts_per_step": 256, "rollout.group_size": 8,
     "rollout.response_tokens": 4000, "reward.pass_rate": 0.3},
)  # fmt: skip
AGENT_32B = Preset(
    "32B agent",
    {"model.name": "qwen3-32b", "hardware.gpus": 128, "rollout.prompts_per_step": 64, "rollout.group_size": 8,
     "rollout.response_tokens": 20000, "reward.pass_rate": 0.2},
)  # fmt: skip
FRONTIER = Preset(
    "frontier, long horizon",
    {"model.name": "deepseek-v3", "hardware.gpu": "b200", "hardware.gpus": 1024, "hardware.usd_per_gpu_hour": None,
     "rollout.prompts_per_step": 256, "rollout.group_size": 16, "rollout.response_tokens": 65000,
     "rollout.weight_bits": "8", "rollout.kv_bits": "8", "reward.pass_rate": 0.05},
)  # fmt: skip
SPINE = {
    "model": {"name": "qwen3-8b"},
    "hardware": {"gpu": "h100-sxm", "gpus": 64, "usd_per_gpu_hour": 2.5},
    "rollout": {"prompts_per_step": 256, "group_size": 8, "prompt_tokens": 512, "response_tokens": 4000,
                "response_tokens_cv": 0.8},
    "reward": {"pass_rate": 0.3},
    "run": {"steps": 200},
}  # fmt: skip
PRESETS = (MATH_8B, AGENT_32B, FRONTIER)
# The same run with a cap on length, for pages whose subject is time: without a cap the tail sets the step.
CAPPED = {**SPINE, "rollout": {**SPINE["rollout"], "max_response_tokens": 8192}}
CAPPED_PRESETS = tuple(
    Preset(preset.words, {**preset.values, "rollout.max_response_tokens": cap})
    for preset, cap in zip(PRESETS, (8192, 65536, 262144), strict=True)
)


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
            Output("usd_per_mixed_group", "One group that teaches", "usd", 2, spread=_MONEY),
            Output("usd_per_bit", "One bit of reward", "usd", 2, spread=_MONEY),
            Output("usd_per_step", "One step", "usd", 2, spread=_MONEY),
            Output("mixed_group_share", "Groups that teach", "%", 2, log=False),
            Output("step_seconds", "Time of a step", "seconds", 2, spread=_TIME),
        ),
        over="reward.pass_rate",
        presets=CAPPED_PRESETS,
        formula=("usd_per_mixed_group", "gpu_hours_per_step"),
        words=(
            (_q("mixed_group_share") <= 0, "At this pass rate no group holds both outcomes: the step teaches nothing."),
            (_q("mixed_group_share") < 0.5,
             "At a pass rate of {mean_pass_rate|%|2}, only {mixed_group_share|%|2} of the groups of {group_size} hold "
             "both outcomes; the rest are paid for and teach nothing."),
            (True, "At a pass rate of {mean_pass_rate|%|2}, {mixed_group_share|%|2} of the groups of {group_size} hold "
                   "both outcomes; each costs {usd_per_mixed_group|usd|2}."),
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
            Output("gpu_hours_per_step", "GPU-hours of a step", "", 2, spread=_TIME),
            Output("step_seconds", "Time of a step", "seconds", 2, spread=_TIME),
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
            (_q("resident_sequences") < _q("sequences_per_engine"),
             "An engine of {tensor_parallel|GPUs|2} holds {resident_sequences||2} of its {sequences_per_engine||2} "
             "sequences at a time: rollouts run in waves, and take {rollout_share|%|2} of the step."),
            (_q("rollout_share") < 0.5,
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
            Output("usd_per_bit", "One bit", "usd", 2, spread=_MONEY),
            Output("usd_per_token", "One generated token, all included", "usd", 2, spread=_MONEY),
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
            (_q("bits_per_rollout") <= 0, "A reward that is known beforehand tells nothing."),
            (True, "One rollout of {response_tokens|tokens|2} tells at most {bits_per_rollout|bits|2}: one bit takes "
                   "at least {tokens_per_bit|tokens|2}."),
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
            Output("usd_per_bit", "One bit of reward", "usd", 2, spread=_MONEY),
            Output("usd_per_signal", "One unit of signal", "usd", 2, spread=_MONEY),
            Output("usd_per_token", "One generated token, all included", "usd", 2, spread=_MONEY),
            Output("gpu_seconds_per_token", "GPU time per token", "seconds", 2, spread=_TIME),
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
            (_q("signal_per_step") <= 0,
             "No rollout differs from another: tokens are paid for and nothing is for sale."),
            (True, "A token costs the same at every pass rate. At {mean_pass_rate|%|2} a bit takes "
                   "{rollouts_per_bit|rollouts|2} and costs {usd_per_bit|usd|2}."),
        ),
    )  # fmt: skip


# --- cost drivers -----------------------------------------------------------------------------------------------------


@calculator("exploration-hardness")
def exploration_hardness():
    """What a hard task costs, in the senses that dollars can be put on."""
    return of_run(
        Run(**{**CAPPED, "reward": {"pass_rate": 0.05}}),
        title="What a hard task costs",
        choices=("model.name", "hardware.gpu"),
        dials=("reward.pass_rate", "reward.pass_rate_spread", "rollout.group_size", "rollout.response_tokens",
               "rollout.max_response_tokens", "hardware.gpus", "hardware.usd_per_gpu_hour"),
        outputs=(
            Output("usd_per_mixed_group", "One group that teaches", "usd", 2, spread=_MONEY),
            Output("mixed_group_share", "Groups that teach", "%", 2, log=False),
            Output("rollouts_per_mixed_group", "Rollouts per group that teaches", "rollouts", 2),
            Output("rollouts_per_signal", "Rollouts per unit of signal", "rollouts", 2),
            Output("usd_per_signal", "One unit of signal", "usd", 2, spread=_MONEY),
            Output("rollouts_per_bit", "Rollouts per bit of reward", "rollouts", 2),
            Output("usd_per_bit", "One bit of reward", "usd", 2, spread=_MONEY),
        ),
        more=(hardness.mixed_wait, money.gpu_time_equation, money.rollout_price_equation, money.bit_wait_equation,
              money.signal_wait_equation, money.signal_price_equation),
        over="reward.pass_rate",
        presets=(
            Preset("half solved", {"reward.pass_rate": 0.5}),
            Preset("one in twenty", {"reward.pass_rate": 0.05}),
            Preset("one in fifty", {"reward.pass_rate": 0.02}),
            Preset("one in twenty, prompts unlike", {"reward.pass_rate": 0.05, "reward.pass_rate_spread": 0.12}),
        ),
        formula=("rollouts_per_mixed_group", "usd_per_mixed_group"),
        words=(
            (_q("mixed_group_share") <= 0, "At this pass rate no group holds both outcomes: rollouts buy nothing."),
            (True, "At a pass rate of {mean_pass_rate|%|2}, a group that teaches takes "
                   "{rollouts_per_mixed_group|rollouts|2} and costs {usd_per_mixed_group|usd|2}."),
        ),
    )  # fmt: skip


@calculator("reward-density")
def reward_density():
    """What rewards for single steps, and a teacher, are worth against one reward at the end."""
    return Calculator(
        title="What a denser reward is worth",
        model=Model(
            [credit.step_equation, credit.own_equation, credit.dichotomisation_equation, information.rl_flops_equation,
             credit.distillation_equation, credit.teacher_equation],
            "density of reward",
        ),
        outputs=(
            Output("credit_gain", "Rollouts saved by a reward for each step", "x", 3),
            Output("dichotomisation_efficiency", "What pass or fail keeps of a graded score", "%", 2, log=False),
            Output("step_success", "Chance that one step is right", "%", 3, log=False),
            Output("distillation_flops_ratio", "FLOPs with a teacher, over those without", "", 2),
            Output("break_even_teacher_parameters", "Teacher whose reading eats the saving", "parameters", 2),
        ),
        dials=(
            dial("turns", "Steps that get credit", 10.0, (2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 100), log=True),
            dial("pass_rate", "Pass rate of the whole chain", 0.5, stops(0.01, 0.95, 0.5, 0.05), unit="%"),
            dial("teacher_parameters", "Parameters of the teacher, active", 32e9,
                 (4e9, 8e9, 14e9, 32e9, 70e9, 235e9, 405e9, 671e9), log=True),
            dial("active_parameters_matmul", "Parameters of the student, active", 8e9,
                 (1.7e9, 4e9, 8e9, 14e9, 32e9, 70e9), log=True),
        ),
        fixed={"scoring_passes": 0.0, "backward_passes": 3.0},
        sources={"scoring_passes": "nothing is scored again", "backward_passes": "counted: forward, twice for back"},
        over="turns",
        presets=(
            Preset("ten steps, half solved", {"turns": 10.0, "pass_rate": 0.5}),
            Preset("a hard chain of fifty", {"turns": 50.0, "pass_rate": 0.05}),
            Preset("four steps that can be judged", {"turns": 4.0, "pass_rate": 0.5}),
            Preset("nearly solved", {"turns": 10.0, "pass_rate": 0.9}),
        ),
        formula=("credit_gain", "distillation_flops_ratio"),
        words=(
            (True, "With its own reward for each of {turns||2} steps, a chain that passes {pass_rate|%|2} of the time "
                   "needs {credit_gain|x|2} fewer rollouts; a finer score at the end saves at most the inverse of "
                   "{dichotomisation_efficiency|%|2}."),
        ),
    )  # fmt: skip


@calculator("model-capability")
def model_capability():
    """Up to which price a stronger starting model pays, by what it does to the odds."""
    return Calculator(
        title="When does a stronger start pay?",
        model=Model([capability.better_equation, capability.price_equation, capability.pass_equation],
                    "a stronger start"),
        outputs=(
            Output("break_even_price_ratio", "Signal of a rollout, and so the highest price that pays", "x", 3),
            Output("target_pass_rate", "Pass rate of the stronger model", "%", 2, log=False),
            Output("break_even_pass_rate", "It pays where the weaker model passes less than", "%", 2),
        ),
        dials=(
            dial("pass_rate", "Pass rate of the weaker model", 0.02, stops(0.002, 0.9, 0.02, 0.05, 0.3), unit="%"),
            dial("odds_ratio", "The stronger one multiplies the odds by", 21.0, stops(1.5, 100, 21, 5), log=True),
            dial("price_ratio", "A token of it costs, times that of the weaker", 2.9, stops(1, 20, 2.9, 4), log=True),
        ),
        over="pass_rate",
        presets=(
            Preset("a hard set", {"pass_rate": 0.02, "odds_ratio": 21.0}),
            Preset("an easy set", {"pass_rate": 0.3, "odds_ratio": 21.0}),
            Preset("a little better, much dearer", {"pass_rate": 0.02, "odds_ratio": 3.0, "price_ratio": 2.9}),
        ),
        formula=("break_even_price_ratio", "break_even_pass_rate"),
        words=(
            (_q("price_ratio") <= _q("break_even_price_ratio"),
             "It pays: at {price_ratio|x|2} the price, a rollout of the stronger model carries "
             "{break_even_price_ratio|x|2} the signal."),
            (True, "It does not pay: at {price_ratio|x|2} the price, a rollout of the stronger model carries "
                   "{break_even_price_ratio|x|2} the signal."),
        ),
    )  # fmt: skip


@calculator("environments")
def environments():
    """What false verdicts cost: rollouts, bits, and where training may end."""
    return Calculator(
        title="What an unreliable verifier costs",
        model=Model(
            [verifier.observed_equation, information.youden_equation, verifier.rollouts_equation,
             verifier.divided_equation, verifier.precision_equation, information.verifier_equation],
            "an unreliable verifier",
        ),
        outputs=(
            Output("verifier_rollouts_factor", "Rollouts for the same signal", "x", 3),
            Output("verifier_precision", "Share of what passes that is right", "%", 2, log=False),
            Output("information_bits", "Bits of a verdict about the truth", "bits", 2, log=False),
            Output("verifier_gradient_factor", "Gradient kept, advantages divided", "%", 2, log=False),
            Output("observed_pass_rate", "Pass rate that the log shows", "%", 2, log=False),
        ),
        dials=(
            dial("pass_rate", "Pass rate in truth", 0.05, stops(0.005, 0.95, 0.05, 0.5), unit="%"),
            dial("false_positive_rate", "Wrong answers that pass", 0.05, stops(0.0, 0.4, 0.05, 0.2, log=False),
                 unit="%"),
            dial("false_negative_rate", "Right answers that fail", 0.05, stops(0.0, 0.5, 0.05, 0.3, log=False),
                 unit="%"),
        ),
        over="pass_rate",
        presets=(
            Preset("five in a hundred, rare success", {"pass_rate": 0.05, "false_positive_rate": 0.05,
                                                       "false_negative_rate": 0.05}),
            Preset("the same, even odds", {"pass_rate": 0.5, "false_positive_rate": 0.05,
                                           "false_negative_rate": 0.05}),
            Preset("strict rules", {"pass_rate": 0.3, "false_positive_rate": 0.005, "false_negative_rate": 0.14}),
            Preset("a weak judge", {"pass_rate": 0.05, "false_positive_rate": 0.2, "false_negative_rate": 0.3}),
        ),
        formula=("verifier_rollouts_factor", "verifier_precision"),
        words=(
            (_q("verifier_precision") < 0.5,
             "Most of what passes is wrong: only {verifier_precision|%|2} is right, and the same signal takes "
             "{verifier_rollouts_factor|x|2} the rollouts."),
            (True, "The same signal takes {verifier_rollouts_factor|x|2} the rollouts; of what passes, "
                   "{verifier_precision|%|2} is right."),
        ),
    )  # fmt: skip


# --- optimizations ----------------------------------------------------------------------------------------------------

LONG = {**CAPPED, "rollout": {**CAPPED["rollout"], "response_tokens": 8000, "max_response_tokens": 32768}}


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
            Output("usd_per_step", "One step", "usd", 2, spread=_MONEY),
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
            (_q("speculative_acceptance") <= 0,
             "Without drafts each decode step writes one token per sequence; an engine can hold "
             "{resident_limit|sequences|2}."),
            (True, "Each decode step writes {tokens_per_verification||2} tokens per sequence and checks "
                   "{verified_tokens||2}; a step costs {usd_per_step|usd|2}."),
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
            Output("usd_per_step", "One step", "usd", 3, spread=_MONEY),
            Output("usd_per_token", "One generated token, all included", "usd", 3, spread=_MONEY),
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
            (_q("experts") <= 1,
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
            Output("usd_per_step", "One step", "usd", 3, spread=_MONEY),
            Output("step_seconds", "Time of a step", "seconds", 3, spread=_TIME),
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
            (_q("concurrent_streams") <= 0,
             "In turn, a step takes {step_seconds|seconds|3} and costs {usd_per_step|usd|3}."),
            (_q("generation_stream_seconds") > _q("training_stream_seconds"),
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
            Output("usd_per_step", "One step", "usd", 3, spread=_MONEY),
            Output("usd_per_token", "One generated token, all included", "usd", 3, spread=_MONEY),
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
            (_q("usd_ratio") < 1, "The same work costs {usd_ratio|x|3} of what it did: the newer GPU is cheaper."),
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
            (_q("best_group_size") < 2, "Prompts differ more than their rollouts do: take pairs, the smallest group."),
            (_q("group_size") > _q("best_group_size"),
             "Groups of {group_size||2} pay {cost_over_least|x|3} the dollars of the best size for equal variance; "
             "the best is {best_group_size||2}: more prompts, fewer rollouts of each."),
            (True, "Groups of {group_size||2} pay {cost_over_least|x|3} the dollars of the best size for equal "
                   "variance; the best is {best_group_size||2}."),
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
            (_q("most_tenants") < _q("active_tenants"),
             "{active_tenants||2} tenants do not fit: the memory holds the caches and adapters of "
             "{most_tenants||2}. The others wait, and what they read is not shared."),
            (True, "Each of {active_tenants||2} tenants pays for a {sharing_gain|x|3} smaller reading of bytes than "
                   "alone; with endlessly many it would be {sharing_limit|x|3}."),
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
            (_q("dollar_gain") < 1, "The step is {speedup|x|3} as fast and costs more: the rent grew faster."),
            (True, "Levers worth {rollout_speedup|x|2} on the rollout make the step {speedup|x|3} as fast and save "
                   "{dollar_gain|x|3} in dollars."),
        ),
    )  # fmt: skip


# --- outlook ---------------------------------------------------------------------------------------------------------


@calculator("breadth")
def breadth_of_tasks():
    """How much of what is common to all tasks a number of tasks teaches, and what the tasks cost."""
    tasks = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0)
    return Calculator(
        title="What different tasks teach in common",
        model=Model([breadth.alignment_equation, breadth.transfer_equation, environment_cost.share_equation]),
        outputs=(
            Output("aligned_share", "Common part that is learned", "%", 3, log=False),
            Output("transfer_correlation", "Correlation with a new task", "", 3, log=False),
            Output("task_usd_per_run", "Tasks, per run that uses them", "usd", 3),
        ),
        dials=(
            dial("tasks", "Different tasks", 16.0, tasks),
            dial("shared_share", "Share that all tasks have in common", 0.5, stops(0.01, 0.99, 0.05, 0.5, log=False),
                 unit="%"),
            dial("usd_per_usable_task", "Price of a task", 20.0, stops(0.1, 1000, 20), unit="$", log=True),
            dial("runs", "Runs that share the tasks", 1.0, (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)),
        ),
        over="tasks",
        presets=(
            Preset("one task", {"tasks": 1.0}),
            Preset("sixteen tasks", {"tasks": 16.0}),
            Preset("tasks with little in common", {"tasks": 16.0, "shared_share": 0.05}),
            Preset("little in common, many tasks", {"tasks": 1024.0, "shared_share": 0.05}),
        ),
        formula=("aligned_share", "transfer_correlation"),
        words=(
            (_q("aligned_share") < 0.5,
             "{tasks||4} tasks teach {aligned_share|%|2} of what is common: most of what is learned belongs to them "
             "alone. More bits on the same tasks do not change that."),
            (True, "{tasks||4} tasks teach {aligned_share|%|2} of what is common to all; a new task still correlates "
                   "with it by {transfer_correlation||2} only, since the rest of it is its own."),
        ),
    )  # fmt: skip


@calculator("what-comes-next")
def what_comes_next():
    """Bits per dollar, later over now, as tasks grow longer and tokens cheaper."""
    return Calculator(
        title="Bits per dollar, carried forward",
        model=Model([horizon.horizon_equation, horizon.price_equation, horizon.bits_equation, horizon.even_equation]),
        outputs=(
            Output("bits_per_usd_ratio", "Bits per dollar, over today's", "x", 3),
            Output("horizon_ratio", "Length of task, over today's", "x", 3),
            Output("token_price_ratio", "Price of a token, over today's", "x", 3),
            Output("even_halving_days", "Token price must halve every (days)", "", 3),
        ),
        dials=(
            dial("elapsed_days", "Days from now", 365.0, (0.0, 30.0, 60.0, 91.0, 182.0, 273.0, 365.0, 547.0, 730.0,
                                                         1095.0, 1460.0)),
            dial("doubling_days", "Doubling of task length (days)", 131.0, (60.0, 89.0, 110.0, 131.0, 160.0, 196.0,
                                                                            212.0, 300.0, 500.0, 1000.0)),
            dial("time_exponent", "Tokens follow task length to the power", 1.69, stops(0.0, 2.5, 1.69, log=False)),
            dial("price_halving_days", "Halving of the price of a token (days)", 365.0,
                 (40.0, 60.0, 78.0, 110.0, 150.0, 200.0, 300.0, 365.0, 550.0, 730.0, 1500.0)),
            dial("reward_bits_ratio", "Bits of reward per trajectory, over today's", 1.0,
                 (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0), unit="×", log=True),
        ),
        over="elapsed_days",
        presets=(
            Preset("all years", {"doubling_days": 196.0}),
            Preset("since 2024", {"doubling_days": 89.0}),
            Preset("tokens fall as at equal quality", {"price_halving_days": 110.0}),
            Preset("twenty milestones per trajectory", {"reward_bits_ratio": 20.0}),
        ),
        formula=("bits_per_usd_ratio", "even_halving_days"),
        words=(
            (_q("bits_per_usd_ratio") > 1,
             "In {elapsed_days||4} days a dollar buys {bits_per_usd_ratio|x|3} the bits: tokens become cheaper, or "
             "rewards denser, faster than tasks grow."),
            (_q("elapsed_days") <= 0, "Today: nothing has changed yet."),
            (True, "In {elapsed_days||4} days a dollar buys {bits_per_usd_ratio|x|2} the bits, unless the price of a "
                   "token halves every {even_halving_days||2} days."),
        ),
    )  # fmt: skip


# --- your run ---------------------------------------------------------------------------------------------------------


@calculator("validation")
def validation():
    """What one unknown setting does to a predicted step."""
    return of_run(
        Run(**CAPPED),
        title="How far does one unknown move a step?",
        choices=("update.overlap", "model.name", "hardware.gpu"),
        dials=("rollout.response_tokens", "rollout.max_response_tokens", "rollout.response_tokens_cv",
               "rollout.prompts_per_step", "hardware.gpus", "hardware.rollout_gpus", "rollout.tensor_parallel"),
        outputs=(
            Output("step_seconds", "Time of a step", "seconds", 2, spread=_TIME),
            Output("rollout_seconds", "Generating", "seconds", 2),
            Output("update_seconds", "Updating", "seconds", 2),
            Output("old_logprobs_seconds", "Old log-probabilities", "seconds", 2),
        ),
        over="rollout.response_tokens",
        presets=CAPPED_PRESETS,
        formula=("step_seconds",),
        words=(
            (True, "A step takes {step_seconds|seconds|2}, if the mean answer has {response_tokens|tokens|2}: turn the "
                   "length by what you do not know of it."),
        ),
    )  # fmt: skip


@calculator("cost-to-target")
def cost_to_target():
    """Steps and dollars from a start, a target and a drift, by four clocks."""
    return Calculator(
        title="How many steps to the target?",
        model=Model(list(clocks.HULL), "steps to a target"),
        outputs=(
            Output("most_target_steps", "Steps, by the slowest clock", "", 2),
            Output("fewest_target_steps", "Steps, by the fastest clock", "", 2),
            Output("target_usd_high", "Dollars, slowest clock", "usd", 2),
            Output("target_usd_low", "Dollars, fastest clock", "usd", 2),
            Output("steps_if_mean", "Steps, mean success", "", 2),
            Output("steps_if_grpo", "Steps, group advantages", "", 2),
            Output("steps_if_log", "Steps, log of the pass rate", "", 2),
            Output("steps_if_even", "Steps, even logit drift", "", 2),
        ),
        dials=(
            dial("target_pass_rate", "Target pass rate", 0.6, stops(0.05, 0.98, 0.42, 0.6, 0.779, log=False), unit="%"),
            dial("start_pass_rate", "Pass rate at the start", 0.2, stops(0.01, 0.9, 0.156, 0.2, 0.23), unit="%"),
            dial("logit_per_step", "Logit drift per step at the start", 0.004, stops(1e-4, 0.1, 2.8e-4, 4.4e-3, 4e-3)),
            dial("usd_per_step", "Price of a step", 10.0, stops(0.1, 10000, 10), unit="$"),
        ),
        over="target_pass_rate",
        presets=(
            Preset("drift of R1-Zero", {"start_pass_rate": 0.156, "target_pass_rate": 0.779,
                                        "logit_per_step": 2.8e-4}),
            Preset("drift of DeepSWE", {"start_pass_rate": 0.23, "target_pass_rate": 0.42,
                                        "logit_per_step": 4.4e-3}),
            Preset("the last points", {"start_pass_rate": 0.2, "target_pass_rate": 0.9, "logit_per_step": 4e-3}),
        ),
        formula=("most_target_steps", "steps_if_grpo"),
        words=(
            (_q("most_target_steps") > 3 * _q("fewest_target_steps"),
             "From {start_pass_rate|%|2} to {target_pass_rate|%|2}, four clocks ask for {fewest_target_steps||2} to "
             "{most_target_steps||2} steps: so far ahead, a drift at the start says little."),
            (True, "From {start_pass_rate|%|2} to {target_pass_rate|%|2} takes {fewest_target_steps||2} to "
                   "{most_target_steps||2} steps, {target_usd_low|usd|2} to {target_usd_high|usd|2}."),
        ),
    )  # fmt: skip


@calculator("read-your-bill")
def read_your_bill():
    """What a faster phase is worth on a logged step."""
    return Calculator(
        title="What a faster phase is worth",
        model=Model([capability.amdahl_equation, capability.cap_equation]),
        outputs=(
            Output("speedup", "Old over new time of the step", "x", 3, log=False),
            Output("speedup_cap", "With rollouts that take no time", "x", 3),
        ),
        dials=(
            dial("rollout_share", "Share of rollouts in the logged step", 0.1, stops(0.01, 0.99, 0.1, 0.55, log=False),
                 unit="%"),
            dial("rollout_speedup", "Rollouts become faster", 2.0, stops(1, 20, 2, 1.44), log=True, unit="×"),
            dial("training_speedup", "Everything else becomes faster", 1.0, stops(1, 20, 1), log=True, unit="×"),
        ),
        over="rollout_share",
        presets=(
            Preset("a padded update, faster rollouts", {"rollout_share": 0.1, "rollout_speedup": 2.0,
                                                        "training_speedup": 1.0}),
            Preset("the same, padding removed", {"rollout_share": 0.1, "rollout_speedup": 1.0,
                                                 "training_speedup": 5.0}),
            Preset("long answers, faster rollouts", {"rollout_share": 0.55, "rollout_speedup": 2.0,
                                                     "training_speedup": 1.0}),
        ),
        formula=("speedup",),
        words=(
            (_q("rollout_share") < 0.3,
             "Rollouts are {rollout_share|%|2} of the step: no engine makes it more than {speedup_cap|x|3} faster."),
            (True, "The step becomes {speedup|x|3} faster; faster rollouts alone end at {speedup_cap|x|3}."),
        ),
    )  # fmt: skip


# --- the whole bill --------------------------------------------------------------------------------------------------

AGENT = {
    "model": {"name": "qwen3-32b"},
    "hardware": {"gpu": "h100-sxm", "gpus": 64, "usd_per_gpu_hour": 2.5},
    "rollout": {"prompts_per_step": 64, "group_size": 8, "prompt_tokens": 2000, "response_tokens": 15000,
                "response_tokens_cv": 0.6, "max_response_tokens": 32768, "turns": 30, "tool_tokens_per_turn": 500,
                "environment_seconds_per_turn": 4, "environment_cpus": 2},
    "reward": {"pass_rate": 0.3},
    "run": {"steps": 200},
}  # fmt: skip


@calculator("tool-use")
def tool_use():
    """What tools, turns and sandboxes add to a step."""
    return of_run(
        Run(**AGENT),
        title="What tools and turns cost",
        choices=("model.name", "rollout.prefix_cached", "rollout.partial_rollouts"),
        dials=("rollout.turns", "rollout.environment_seconds_per_turn", "rollout.tool_tokens_per_turn",
               "rollout.response_tokens", "rollout.environment_cpus", "rollout.usd_per_cpu_hour", "hardware.gpus"),
        outputs=(
            Output("step_seconds", "Time of a step", "seconds", 2, spread=_TIME),
            Output("usd_per_step", "One step", "usd", 2, spread=_MONEY),
            Output("environment_usd_per_step", "Sandboxes of a step", "usd", 2),
            Output("environment_seconds", "Waiting for environments", "seconds", 2),
            Output("containers", "Containers at the same time", "", 2),
            Output("container_seconds_per_rollout", "Life of a container", "seconds", 2),
            Output("container_use", "Share of it in which the container works", "%", 2, log=False),
            Output("decoded_share", "Tokens that the model writes", "%", 2, log=False),
            Output("prefill_ratio", "Prefill without a prefix cache", "x", 2),
        ),
        more=(step.containers_equation, step.container_use_equation, trajectory.decoded_equation,
              trajectory.cache_equation),
        over="rollout.environment_seconds_per_turn",
        presets=(
            Preset("a software agent", {"rollout.turns": 30, "rollout.environment_seconds_per_turn": 4,
                                        "rollout.tool_tokens_per_turn": 500, "rollout.environment_cpus": 2}),
            Preset("a calculator tool", {"rollout.turns": 5, "rollout.environment_seconds_per_turn": 0.3,
                                         "rollout.tool_tokens_per_turn": 50, "rollout.environment_cpus": 1}),
            Preset("slow tests", {"rollout.turns": 30, "rollout.environment_seconds_per_turn": 30,
                                  "rollout.tool_tokens_per_turn": 500, "rollout.environment_cpus": 4}),
        ),
        formula=("environment_seconds", "container_use"),
        words=(
            (_q("environment_seconds_per_rollout") <= 0, "Tools answer at once: only their tokens cost."),
            (_q("continuous_generation") > 0,
             "Engines serve others while a trajectory waits; each container lives "
             "{container_seconds_per_rollout|seconds|2} and works {container_use|%|2} of it."),
            (True, "A step waits {environment_seconds|seconds|2} for the environments of its longest trajectories; "
                   "each container works {container_use|%|2} of its life."),
        ),
    )  # fmt: skip


PHASE_BARS = (
    ("Rollout", "rollout_seconds", "rollout"),
    ("Environment", "environment_seconds", "environment"),
    ("Judge or teacher", "judge_seconds", "environment"),
    ("Old log-probabilities", "old_logprobs_seconds", "training"),
    ("Reference and critic", "reference_seconds", "training"),
    ("Update", "update_seconds", "training"),
    ("New weights to engines", "weight_sync_seconds", "idle"),
    ("Switching, data, rewards", "overhead_seconds", "idle"),
    ("Evaluation", "evaluation_seconds_per_step", "idle"),
    ("Idle", "idle_seconds", "idle"),
)
BILL_PRESETS = (
    Preset("8B math", {**MATH_8B.values, "rollout.max_response_tokens": 8192, "run.steps": 200}),
    Preset(
        "32B agent",
        {**AGENT_32B.values, "rollout.max_response_tokens": 65536, "rollout.turns": 40,
         "rollout.tool_tokens_per_turn": 400, "rollout.environment_seconds_per_turn": 3,
         "rollout.environment_cpus": 2, "update.tensor_parallel": 4, "run.steps": 300},
    ),
    Preset(
        "frontier, long horizon",
        {**FRONTIER.values, "rollout.max_response_tokens": 262144, "hardware.rollout_gpus": 512,
         "update.overlap": "full", "update.staleness_steps": 4, "rollout.turns": 100,
         "rollout.tool_tokens_per_turn": 500, "rollout.environment_seconds_per_turn": 5,
         "rollout.environment_cpus": 4, "update.tensor_parallel": 8, "update.pipeline_parallel": 4, "run.steps": 1000},
    ),
)  # fmt: skip
SECTIONS = (
    ("Model and GPUs", ("model.name", "model.lora_rank", "model.algorithm", "hardware.gpu", "hardware.gpus",
                        "hardware.rollout_gpus", "hardware.usd_per_gpu_hour")),
    ("What is generated", ("rollout.prompts_per_step", "rollout.group_size", "rollout.prompt_tokens",
                           "rollout.response_tokens", "rollout.max_response_tokens", "rollout.response_tokens_cv",
                           "rollout.looping_share", "rollout.oversampling")),
    ("Reward and length of the run", ("reward.pass_rate", "reward.pass_rate_spread", "reward.false_positive_rate",
                                      "reward.false_negative_rate", "run.steps", "run.attempts",
                                      "run.evaluation_seconds_per_step")),
    ("Agent and environment", ("rollout.turns", "rollout.tool_tokens_per_turn", "rollout.environment_seconds_per_turn",
                               "rollout.environment_cpus", "rollout.usd_per_cpu_hour", "rollout.prefix_cached",
                               "environment.build_usd", "environment.runs")),
    ("Judge or teacher", ("judge.name", "judge.role", "judge.gpus")),
    ("Inference engine", ("rollout.engine", "rollout.tensor_parallel", "rollout.weight_bits", "rollout.kv_bits",
                          "rollout.engine_memory_share", "rollout.max_sequences_per_engine",
                          "rollout.speculative_acceptance", "rollout.speculative_drafts", "rollout.partial_rollouts",
                          "rollout.measured_tokens_per_second_per_gpu")),
    ("Update and overlap", ("update.overlap", "update.staleness_steps", "update.epochs", "update.minibatches",
                            "update.old_logprobs", "update.reference_model", "update.critic", "update.train_bits",
                            "update.activation_recompute", "update.offload", "update.tensor_parallel",
                            "update.pipeline_parallel", "update.measured_mfu")),
)  # fmt: skip
# Keys of the run file that the page leaves to the command line, each with what it is about.
_OWN_GPU, _TARGET = "a GPU of your own", "a target"
ABSENT = {
    "model.config": "a model from its config file",
    **{f"hardware.{k}": _OWN_GPU for k in (
        "dense_bf16_flops_per_second", "dense_fp8_flops_per_second", "dense_fp4_flops_per_second", "memory_bytes",
        "memory_bytes_per_second", "link_bytes_per_second", "gpus_per_node")},
    "judge.response_tokens": "a judge that writes",
    "update.tenants": "tenants", "update.duty_cycle": "tenants",
    "run.response_growth_per_step": "answers that grow over the run",
    **{f"target.{k}": _TARGET for k in ("pass_rate", "objective", "ceiling", "logit_per_step", "pilot_log")},
}  # fmt: skip
UNPRICED = ("update.expert_parallel", "reward.levels", "environment.tasks")  # accepted, and no bill follows them
TURNS = ("hardware.gpus", "rollout.group_size", "rollout.prompts_per_step", "rollout.tensor_parallel", "update.epochs",
         "update.minibatches", "update.old_logprobs", "update.reference_model", "update.activation_recompute",
         "rollout.partial_rollouts", "rollout.weight_bits")  # fmt: skip
BILL_WORDS = (
    (_q("mixed_group_share") <= 0,
     "At this pass rate no group holds both outcomes: the run is paid for and teaches nothing."),
    ((_q("rollout_share") > 0.5) & (_q("mixed_group_share") > 0),
     "A step takes {step_seconds|seconds|2}, {rollout_share|%|2} of it rollout; {mixed_group_share|%|2} of its groups "
     "teach."),
    (_q("mixed_group_share") > 0,
     "A step takes {step_seconds|seconds|2}; rollout is only {rollout_share|%|2} of it. {mixed_group_share|%|2} of its "
     "groups teach."),
    (True, "A step takes {step_seconds|seconds|2}, {rollout_share|%|2} of it rollout."),
)  # fmt: skip
BILL_OUTPUTS = (
    Output("usd_run", "The run", "usd", 2, spread=_MONEY, apart="environment_build_usd"),
    Output("gpu_hours_run", "GPU-hours of the run", "", 2, spread=_TIME),
    Output("step_seconds", "Time of a step", "seconds", 2, spread=_TIME),
    Output("usd_per_step", "One step", "usd", 2, spread=_MONEY),
    Output("environment_usd_run", "Sandboxes of the run", "usd", 2),
    Output("rollout_share", "Share of rollout in the step", "%", 2, log=False),
    Output("mixed_group_share", "Groups that teach", "%", 2, log=False),
    Output("usd_per_mixed_group", "One group that teaches", "usd", 2, spread=_MONEY),
    Output("bits_per_rollout", "Bits per rollout, at most", "bits", 2, log=False),
    Output("usd_per_bit", "One bit", "usd", 2, spread=_MONEY),
    Output("decode_mfu", "MFU while generating", "%", 2),
    Output("train_mfu", "MFU while updating", "%", 2),
    Output("rollout_bytes_per_gpu", "Memory of the engine, per GPU", "bytes", 2),
    Output("update_bytes_per_gpu", "Memory of the update, per GPU", "bytes", 2),
)


def _bill(title, sections, outputs, presets, base=CAPPED, **more):
    keys = [k for _, keys in sections for k in keys]
    choices = tuple(k for k in keys if is_choice(k))
    return of_run(
        Run(**base), title=title, choices=choices, dials=tuple(k for k in keys if k not in choices), outputs=outputs,
        over="rollout.response_tokens", presets=presets, words=BILL_WORDS, sections=sections,
        bars=tuple(b for b in PHASE_BARS if b[1] != "judge_seconds" or "judge.name" in keys),
        notes=remarks_of(Run(**base), set(keys)),
        turns=tuple(k for k in TURNS if k in keys), signal="signal_per_step", loose=("run.steps", "reward.pass_rate"),
        **more,
    )  # fmt: skip


@calculator("bill")
def bill():
    """The whole bill: every input of the run file that moves it."""
    made = _bill("What will my run cost?", SECTIONS, BILL_OUTPUTS, BILL_PRESETS)
    *first, last = dict.fromkeys(ABSENT.values())
    absent = (
        f"Not on this page: {', '.join(first)} and {last}. They take a file, a search, or many runs priced at once; "
        "use the command line: rlecon estimate."
    )
    return replace(made, levers=levers_of(made), absent=absent)


@calculator("bill-short")
def bill_short():
    """The bill on the front page: the inputs that matter most."""
    keys = ("model.name", "hardware.gpu", "hardware.gpus", "rollout.prompts_per_step", "rollout.group_size",
            "rollout.response_tokens", "rollout.max_response_tokens", "reward.pass_rate", "run.steps",
            "hardware.usd_per_gpu_hour")  # fmt: skip
    base = {**CAPPED, "update": {"tensor_parallel": 8}}  # memory only: large presets must fit
    return _bill("What will my run cost?", (("The run", keys),), BILL_OUTPUTS[:8], BILL_PRESETS, base, short=True)

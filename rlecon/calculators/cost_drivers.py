"""Calculators of the part "Cost drivers"."""

from __future__ import annotations

from rlecon import capability, credit, hardness, information, money, step, trajectory, verifier
from rlecon.calculators.on_run import of_run
from rlecon.calculators.parts import MONEY, TIME, Output, Preset, dial, q, stops
from rlecon.calculators.runs import AGENT, CAPPED
from rlecon.calculators.shelf import Calculator, calculator
from rlecon.equation import Model
from rlecon.run import Run


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
            Output("usd_per_mixed_group", "One group that teaches", "usd", 2, spread=MONEY),
            Output("mixed_group_share", "Groups that teach", "%", 2, log=False),
            Output("rollouts_per_mixed_group", "Rollouts per group that teaches", "rollouts", 2),
            Output("rollouts_per_signal", "Rollouts per unit of signal", "rollouts", 2),
            Output("usd_per_signal", "One unit of signal", "usd", 2, spread=MONEY),
            Output("rollouts_per_bit", "Rollouts per bit of reward", "rollouts", 2),
            Output("usd_per_bit", "One bit of reward", "usd", 2, spread=MONEY),
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
            (q("mixed_group_share") <= 0, "At this pass rate no group holds both outcomes: rollouts buy nothing."),
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
            (q("price_ratio") <= q("break_even_price_ratio"),
             "It pays: at {price_ratio|x|2} the price, a rollout of the stronger model carries "
             "{break_even_price_ratio|x|2} the signal."),
            (True, "It does not pay: at {price_ratio|x|2} the price, a rollout of the stronger model carries "
                   "{break_even_price_ratio|x|2} the signal."),
        ),
    )  # fmt: skip


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
            Output("step_seconds", "Time of a step", "seconds", 2, spread=TIME),
            Output("usd_per_step", "One step", "usd", 2, spread=MONEY),
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
            (q("environment_seconds_per_rollout") <= 0, "Tools answer at once: only their tokens cost."),
            (q("continuous_generation") > 0,
             "Engines serve others while a trajectory waits; each container lives "
             "{container_seconds_per_rollout|seconds|2} and works {container_use|%|2} of it."),
            (True, "A step waits {environment_seconds|seconds|2} for the environments of its longest trajectories; "
                   "each container works {container_use|%|2} of its life."),
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
            (q("verifier_precision") < 0.5,
             "Most of what passes is wrong: only {verifier_precision|%|2} is right, and the same signal takes "
             "{verifier_rollouts_factor|x|2} the rollouts."),
            (True, "The same signal takes {verifier_rollouts_factor|x|2} the rollouts; of what passes, "
                   "{verifier_precision|%|2} is right."),
        ),
    )  # fmt: skip

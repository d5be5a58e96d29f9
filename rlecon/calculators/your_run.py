"""Calculators of the part "Your run", but for the whole bill."""

from __future__ import annotations

from rlecon import capability, catalog, clocks, forecast
from rlecon.calculators.on_run import of_run
from rlecon.calculators.parts import TIME, Output, Preset, dial, q, stops
from rlecon.calculators.runs import CAPPED, CAPPED_PRESETS
from rlecon.calculators.shelf import Calculator, calculator
from rlecon.equation import Model
from rlecon.run import Run


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
            (q("rollout_share") < 0.3,
             "Rollouts are {rollout_share|%|2} of the step: no engine makes it more than {speedup_cap|x|3} faster."),
            (True, "The step becomes {speedup|x|3} faster; faster rollouts alone end at {speedup_cap|x|3}."),
        ),
    )  # fmt: skip


@calculator("cost-to-target")
def cost_to_target():
    """Steps and dollars from a start, a target and a drift, by four clocks."""
    zero = catalog.measurement("r1_zero_recipe").parts
    zero_start, zero_end = zero["aime24_start"], zero["aime24_end"]
    swe_start, swe_end = catalog.measurement("deepswe_pass_rates").value
    zero_drift, swe_drift = (float(f"{x:.2g}") for x in forecast.published_drives()["constant"])
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
            dial("target_pass_rate", "Target pass rate", 0.6,
                 stops(0.05, 0.98, swe_end, 0.6, zero_end, log=False), unit="%"),
            dial("start_pass_rate", "Pass rate at the start", 0.2,
                 stops(0.01, 0.9, zero_start, 0.2, swe_start), unit="%"),
            dial("logit_per_step", "Logit drift per step at the start", 0.004,
                 stops(1e-4, 0.1, zero_drift, swe_drift, 4e-3)),
            dial("usd_per_step", "Price of a step", 10.0, stops(0.1, 10000, 10), unit="$"),
        ),
        over="target_pass_rate",
        presets=(
            Preset("drift of R1-Zero", {"start_pass_rate": zero_start, "target_pass_rate": zero_end,
                                        "logit_per_step": zero_drift}),
            Preset("drift of DeepSWE", {"start_pass_rate": swe_start, "target_pass_rate": swe_end,
                                        "logit_per_step": swe_drift}),
            Preset("the last points", {"start_pass_rate": 0.2, "target_pass_rate": 0.9, "logit_per_step": 4e-3}),
        ),
        formula=("most_target_steps", "steps_if_grpo"),
        words=(
            (q("most_target_steps") > 3 * q("fewest_target_steps"),
             "From {start_pass_rate|%|2} to {target_pass_rate|%|2}, four clocks ask for {fewest_target_steps||2} to "
             "{most_target_steps||2} steps: so far ahead, a drift at the start says little."),
            (True, "From {start_pass_rate|%|2} to {target_pass_rate|%|2} takes {fewest_target_steps||2} to "
                   "{most_target_steps||2} steps, {target_usd_low|usd|2} to {target_usd_high|usd|2}."),
        ),
    )  # fmt: skip


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
            Output("step_seconds", "Time of a step", "seconds", 2, spread=TIME),
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

"""The whole bill, of the chapter "What will my run cost?" and short on the first page."""

from __future__ import annotations

from dataclasses import replace

from rlecon.calculators.choices import is_choice
from rlecon.calculators.on_run import of_run, remarks_of
from rlecon.calculators.parts import MONEY, TIME, Output, Preset, q
from rlecon.calculators.runs import CAPPED, CAPPED_PRESETS
from rlecon.calculators.shelf import calculator
from rlecon.calculators.switches import levers_of
from rlecon.run import Run

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
_math, _agent, _frontier = CAPPED_PRESETS
BILL_PRESETS = (
    Preset("8B math", {**_math.values, "run.steps": 200}),
    Preset(
        "32B agent",
        {**_agent.values, "rollout.turns": 40,
         "rollout.tool_tokens_per_turn": 400, "rollout.environment_seconds_per_turn": 3,
         "rollout.environment_cpus": 2, "update.tensor_parallel": 4, "run.steps": 300},
    ),
    Preset(
        "frontier, long horizon",
        {**_frontier.values, "hardware.rollout_gpus": 512,
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
                           "rollout.response_tokens_guessed", "rollout.looping_share", "rollout.oversampling")),
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
    (q("mixed_group_share") <= 0,
     "At this pass rate no group holds both outcomes: the run is paid for and teaches nothing."),
    ((q("rollout_share") > 0.5) & (q("mixed_group_share") > 0),
     "A step takes {step_seconds|seconds|2}, {rollout_share|%|2} of it rollout; {mixed_group_share|%|2} of its groups "
     "teach."),
    (q("mixed_group_share") > 0,
     "A step takes {step_seconds|seconds|2}; rollout is only {rollout_share|%|2} of it. {mixed_group_share|%|2} of its "
     "groups teach."),
    (True, "A step takes {step_seconds|seconds|2}, {rollout_share|%|2} of it rollout."),
)  # fmt: skip
BILL_OUTPUTS = (
    Output("usd_run", "The run", "usd", 2, spread=MONEY, apart="environment_build_usd"),
    Output("gpu_hours_run", "GPU-hours of the run", "", 2, spread=TIME),
    Output("step_seconds", "Time of a step", "seconds", 2, spread=TIME),
    Output("usd_per_step", "One step", "usd", 2, spread=MONEY),
    Output("environment_usd_run", "Sandboxes of the run", "usd", 2),
    Output("rollout_share", "Share of rollout in the step", "%", 2, log=False),
    Output("mixed_group_share", "Groups that teach", "%", 2, log=False),
    Output("usd_per_mixed_group", "One group that teaches", "usd", 2, spread=MONEY),
    Output("bits_per_rollout", "Bits per rollout, at most", "bits", 2, log=False),
    Output("usd_per_bit", "One bit", "usd", 2, spread=MONEY),
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

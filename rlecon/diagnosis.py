"""What to change first: rules that read a training log and say what each waste costs, or why they cannot tell.

Every rule takes a ``LogReport`` and a ``Context`` (what else is known of the run) and returns one ``Finding``. A rule
never fills in a missing figure: it names it and answers "cannot tell". Savings are per step, from the log's own times;
where only a bound follows, the finding says "at most".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field

from rlecon import catalog
from rlecon.errors import RleconError
from rlecon.readers.record import LogReport, LogStep, mixed_bound

# When a rule speaks up: shares of the step below these are not worth a change, and are called clear.
_SHARE = {"update": 0.5, "truncated": 0.2, "flat": 0.2, "idle": 0.15, "tail": 0.25, "sync": 0.05, "evaluation": 0.05}
# Sequences in flight per GPU below which a decode step reads weights for too few tokens: a tenth of the ridge of
# today's GPUs (about 300 sequences at 16 bits), so that more of them cost almost nothing.
_FEW_SEQUENCES = 32
# Round limits that people set on a trajectory or a phase, and how near a logged time must come to be suspect.
_ROUND_SECONDS = (300, 600, 900, 1200, 1800, 2400, 2700, 3600, 5400, 7200, 10800, 14400)
_NEAR = 0.005
_MANY_PASSES = 10.0
_TRAINING = ("update", "old_logprobs", "reference", "critic")


@dataclass(frozen=True)
class Finding:
    """One rule's answer: verdict is "found", "clear" or "cannot tell"; savings are per step, None with a reason."""

    rule: str
    verdict: str
    says: str
    evidence: dict = field(default_factory=dict)
    seconds_saved_per_step: float | None = None
    usd_saved_per_step: float | None = None
    money_reason: str | None = None
    confidence: str = ""

    def to_dict(self) -> dict:
        """A plain dictionary, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Context:
    """What the log does not say: the run file, the model's expectation (phase -> s), limits and plans."""

    run: object = None
    expectation: Mapping[str, float] | None = None
    trajectory_timeout_seconds: float | None = None
    planned_steps: float | None = None
    tasks: float | None = None
    minibatch_prompts: float | None = None

    def expected(self, *phases: str) -> float | None:
        """Seconds that the model expects for these phases together, or None if it says nothing of one of them."""
        if self.expectation is None or any(phase not in self.expectation for phase in phases):
            return None
        return sum(float(self.expectation[phase]) for phase in phases)

    def of_run(self, key: str):
        """A value of the run file by its dotted key, or None."""
        try:
            return self.run[key] if self.run is not None else None
        except KeyError:
            return None


def _cannot(rule: str, because: str) -> Finding:
    return Finding(rule, "cannot tell", f"Cannot tell, because {because}.")


def _clear(rule: str, says: str, **evidence) -> Finding:
    return Finding(rule, "clear", says, evidence)


def _found(rule, report, says, seconds, confidence, why_no_money=None, **evidence) -> Finding:
    usd = None
    if seconds is None:
        reason = why_no_money
    elif report.usd_per_gpu_hour is None:
        reason = "no price: give usd_per_gpu_hour"
    elif not report.gpu_hours or not report.step_seconds:
        reason = "GPU-hours of a step are unknown: give gpus"
    else:
        usd, reason = seconds * report.gpu_hours / report.step_seconds * report.usd_per_gpu_hour, None
    return Finding(rule, "found", says, evidence, seconds, usd, reason, confidence)


def _training_seconds(report) -> float:
    return sum(report.phase_seconds.get(phase, 0.0) for phase in _TRAINING)


# ------------------------------------------------------------------------------------------------------- the rules


def update_bound(report: LogReport, context: Context) -> Finding:
    """Training passes fill the step at a low MFU: padding, or micro-batches too small to feed the GPU."""
    rule = "update_bound"
    share = report.phase_share.get("update")
    if share is None:
        return _cannot(rule, "the log has no update timer together with the step's time")
    passes = sum(report.phase_share.get(phase, 0.0) for phase in _TRAINING)
    update = report.phase_seconds["update"]
    bound = 1 / max(1 - report.phase_share.get("rollout", 0.0), 1e-9)
    evidence = {"training_share": passes, "update_share": share, "mfu": report.mfu, "faster_rollouts_at_most": bound}
    expected = context.expected("update")
    if expected is not None:
        if update <= 1.25 * expected:
            return _clear(
                rule, f"The update takes {update:.3g} s, {update / expected:.2f} times the model's time.", **evidence
            )
        return _found(
            rule,
            report,
            f"The update takes {update:.3g} s; the model expects {expected:.3g} s. Remove padding "
            "(packing, remove_padding) and raise the tokens per micro-batch.",
            update - expected,
            "against the model",
            **evidence,
            expected_seconds=expected,
        )
    if passes < _SHARE["update"]:
        return _clear(rule, f"Training passes take {passes:.0%} of the step: it is not update-bound.", **evidence)
    if report.mfu is None:
        return _cannot(
            rule,
            f"training passes take {passes:.0%} of the step, but the log has no usable MFU to say whether "
            "that is slow; give a run file",
        )
    # Model FLOPs leave recomputation out: three of the four passes that the calibrated share counts.
    usual = 0.75 * catalog.constant("train_efficiency").value
    evidence["usual_mfu"] = usual
    if report.mfu >= 0.6 * usual:
        return _clear(
            rule,
            f"Training passes take {passes:.0%} of the step, at an MFU of {report.mfu:.1%}: that is the "
            "work itself, not padding.",
            **evidence,
        )
    saved = update * (1 - report.mfu / usual)
    evidence["seconds_if_other_passes_follow"] = _training_seconds(report) * (1 - report.mfu / usual)
    return _found(
        rule,
        report,
        f"Training passes take {passes:.0%} of the step at an MFU of {report.mfu:.1%}; a usual one "
        f"is {usual:.0%}. Remove padding and raise the tokens per micro-batch first: faster rollouts are worth "
        f"at most {bound:.2f} times.",
        saved,
        "likely: at the usual MFU",
        **evidence,
    )


def small_model_tensor_parallel(report: LogReport, context: Context) -> Finding:
    """A model that fits on one GPU many times over is decoded on several, which then wait for each other."""
    rule = "small_model_tensor_parallel"
    split = context.of_run("rollout.tensor_parallel")
    name, gpu = context.of_run("model.name"), context.of_run("hardware.gpu")
    if not (split and name and gpu):
        return _cannot(
            rule, "a log names neither the model nor the GPUs per engine; give a run file with rollout.tensor_parallel"
        )
    if split == 1:
        return _clear(rule, "Every engine runs on one GPU.", tensor_parallel=1)
    bits = context.of_run("rollout.weight_bits") or 16
    weights = catalog.model(name).total_parameters * bits / 8
    share = weights / catalog.gpu(gpu).memory_bytes
    evidence = {"tensor_parallel": split, "weight_share_of_one_gpu": share}
    if share > 0.25:
        return _clear(
            rule, f"The weights fill {share:.0%} of one GPU: splitting them leaves room for the KV cache.", **evidence
        )
    expected, alone = context.expected("rollout"), _rollout_on_one_gpu(context.run)
    saved = expected - alone if expected is not None and alone is not None and expected > alone else None
    return _found(
        rule,
        report,
        f"The weights fill {share:.0%} of one GPU, yet each engine takes {split}. Use "
        "tensor_parallel = 1: as many GPUs then hold more engines, without the exchange between layers.",
        saved,
        "against the model" if saved else "likely",
        "what it saves needs the model's expectation at tensor_parallel = 1",
        **evidence,
    )


def _rollout_on_one_gpu(run) -> float | None:
    """The model's seconds of rollout with one GPU per engine, or None where no run is given or it does not fit."""
    from rlecon.pricing import bill
    from rlecon.run import Run

    if not isinstance(run, Run):
        return None
    try:
        return float(bill(run.replace({"rollout.tensor_parallel": 1}))["rollout_seconds"])
    except RleconError:
        return None


def truncated(report: LogReport, context: Context) -> Finding:
    """Responses that end at the cap are paid in full and seldom pass."""
    rule = "truncated"
    share = report.truncated_share
    if share is None:
        return _cannot(rule, "the log has no share of responses that ended at the cap")
    longest, mean = report.max_response_tokens, report.mean_response_tokens
    tokens = min(1.0, share * longest / mean) if longest and mean else share
    evidence = {"truncated_share": share, "truncated_share_of_response_tokens": tokens, "pass_rate": report.pass_rate}
    if share < _SHARE["truncated"]:
        return _clear(rule, f"{share:.1%} of responses end at the cap.", **evidence)
    spent = sum(report.phase_seconds.get(phase, 0.0) for phase in ("rollout", *_TRAINING))
    seconds = spent * tokens if spent else None
    least = "" if longest and mean else "at least "
    return _found(
        rule,
        report,
        f"{share:.0%} of responses end at the cap and hold {least}{tokens:.0%} of the generated tokens: that buys "
        "unfinished answers. Raise the cap, shorten the answers (length penalty, another start), or drop prompts that "
        "never fit; what is saved depends on how many then finish.",
        seconds,
        "at most: if none of them taught anything",
        "no phase is timed",
        **evidence,
    )


def flat_groups(report: LogReport, context: Context) -> Finding:
    """Groups whose rewards are all equal have no advantage, so their rollouts teach nothing."""
    rule = "flat_groups"
    mixed = report.mixed_group_share
    if mixed is None:
        return _cannot(rule, "the share of mixed groups is not logged, and its bound needs pass rate and group size")
    logged = str(report.mixed_group_from).startswith("logged")
    flat = 1 - mixed
    evidence = {
        "mixed_group_share": mixed,
        "from": report.mixed_group_from,
        "pass_rate": report.pass_rate,
        "group_size": report.group_size,
    }
    words = "" if logged else "at least "
    if flat < _SHARE["flat"]:
        return _clear(rule, f"{words}{flat:.0%} of the groups are flat.".capitalize(), **evidence)
    advice = "Filter or choose prompts by pass rate; skipping flat groups in the update saves what is counted here."
    if report.pass_rate is not None and 0 < report.pass_rate < 1:
        sizes = {size: mixed_bound(report.pass_rate, size) for size in (2, 4, 8, 16)}
        evidence["mixed_share_by_group_size"] = sizes
        evidence["mixed_groups_per_rollout"] = {size: share / size for size, share in sizes.items()}
        advice += (
            " A larger group makes more of the prompts' groups mixed at a fixed number of prompts; at a fixed number "
            "of rollouts a smaller one gives more mixed groups."
        )
    seconds = _training_seconds(report) * flat or None
    if report.step_seconds:
        evidence["seconds_spent_on_flat_groups"] = report.step_seconds * flat
    return _found(
        rule,
        report,
        f"{words}{flat:.0%} of the groups are flat: their rollouts are paid and teach nothing. ".capitalize() + advice,
        seconds,
        "measured" if logged else "at least: prompts differ in pass rate",
        "no training pass is timed",
        **evidence,
    )


def trainer_waits(report: LogReport, context: Context) -> Finding:
    """The trainer waits for rollouts; overlapping the two is worth at most (a + b) / max(a, b)."""
    rule = "trainer_waits"
    idle = report.phase_seconds.get("idle")
    if idle is None or not report.step_seconds:
        if report.phase_share.get("rollout") and not any(step.overlapping for step in report.steps):
            return _clear(
                rule,
                "Rollouts and training take turns in this log, on GPUs that do both: nobody waits, and "
                "overlap needs a pool of its own.",
            )
        return _cannot(rule, "the log has no timer of the trainer's wait")
    share, work = idle / report.step_seconds, max(report.step_seconds - idle, 0.0)
    evidence = {"idle_seconds": idle, "idle_share": share, "busy_seconds": work}
    if share < _SHARE["idle"]:
        return _clear(rule, f"The trainer waits {share:.1%} of the step.", **evidence)
    bound = (idle + work) / max(idle, work)
    evidence["overlap_at_most"] = bound
    return _found(
        rule,
        report,
        f"The trainer waits {share:.0%} of the step for rollouts. Overlap them with training (one "
        f"step off policy): at most {bound:.2f} times faster; beyond that move GPUs to the rollouts.",
        min(idle, work),
        "at most: perfect overlap on the same GPUs",
        **evidence,
    )


def engines_wait(report: LogReport, context: Context) -> Finding:
    """Engines empty out while the longest trajectory finishes."""
    rule = "engines_wait"
    mean, longest, rollout = (
        report.mean_trajectory_seconds,
        report.max_trajectory_seconds,
        report.phase_seconds.get("rollout"),
    )
    if not mean or not longest:
        return _cannot(rule, "the log has no mean and longest time of a trajectory")
    tail = 1 - mean / longest
    evidence = {"mean_trajectory_seconds": mean, "max_trajectory_seconds": longest, "mean_over_max": mean / longest}
    if report.tool_share is not None:
        evidence["tool_share"] = report.tool_share
    if tail < _SHARE["tail"]:
        return _clear(rule, f"The mean trajectory takes {mean / longest:.0%} of the longest one's time.", **evidence)
    return _found(
        rule,
        report,
        f"The mean trajectory takes {mean / longest:.0%} of the longest one's time, so "
        f"{tail:.0%} of the slots' time goes by empty. Let unfinished trajectories continue in the next step "
        "(partial rollouts), oversample and drop stragglers, or overlap.",
        rollout * tail if rollout else None,
        "at most: engines that never drain",
        "the rollout is not timed",
        **evidence,
    )


def weight_transfer(report: LogReport, context: Context) -> Finding:
    """Weights on their way from trainer to engines, with the engines' sleep and wake-up."""
    rule = "weight_transfer"
    parts = {name: value for name, value in report.outside_step_seconds.items() if value and name != "eval"}
    if "weight_sync" in report.phase_seconds:
        parts["weight_sync"] = report.phase_seconds["weight_sync"]
    if not parts or not report.step_seconds:
        return _cannot(rule, "the log does not time the transfer of weights together with the step")
    seconds = sum(parts.values())
    share = seconds / (report.step_seconds + sum(v for k, v in parts.items() if k != "weight_sync"))
    expected = context.expected("weight_sync")
    evidence = {"parts_seconds": parts, "share": share, "expected_seconds": expected}
    if share < _SHARE["sync"]:
        return _clear(rule, f"Moving weights takes {share:.1%} of the time.", **evidence)
    saved = max(seconds - (expected or 0.0), 0.0)
    return _found(
        rule,
        report,
        f"Moving weights (and putting engines to sleep) takes {seconds:.3g} s, {share:.0%} of the "
        "time. Transfer over the fast links in large buckets, or overlap it with the next rollouts.",
        saved,
        "against the model" if expected is not None else "at most: a transfer of no time",
        **evidence,
    )


def timeout(report: LogReport, context: Context) -> Finding:
    """A stage as long as a round limit is set by that limit, not by computing."""
    rule = "timeout"
    times = [t for t in (_stage_seconds(step) for step in report.steps) if t]
    if not times:
        return _cannot(rule, "no rollout is timed")
    given = context.trajectory_timeout_seconds
    limits = (given,) if given else _ROUND_SECONDS
    near = {limit: sum(abs(t / limit - 1) <= _NEAR for t in times) / len(times) for limit in limits}
    limit, share = max(near.items(), key=lambda item: item[1])
    evidence = {"rollout_seconds": sum(times) / len(times), "steps": len(times)}
    if share == 0 or (len(times) >= 3 and share < 0.5):
        return _clear(rule, "The rollouts' times lie at no round limit.", **evidence)
    evidence |= {"limit_seconds": limit, "share_of_steps_at_the_limit": share}
    mean = report.mean_trajectory_seconds
    seconds = sum(times) / len(times) - mean if mean else None
    sure = "measured" if given else "likely" if len(times) >= 3 else "possible: one step can land there by chance"
    return _found(
        rule,
        report,
        f"Rollouts take {sum(times) / len(times):.4g} s, next to a limit of {limit:g} s: the stage "
        "is probably set by a timeout of its slowest trajectories, not by computing. Look at the environment and "
        "the longest trajectories before buying faster GPUs.",
        seconds,
        sure,
        "what remains without the stragglers needs the mean time of a trajectory",
        **evidence,
    )


def _stage_seconds(step: LogStep) -> float | None:
    return step.phase_seconds.get("rollout") or step.max_trajectory_seconds


def latency_bound(report: LogReport, context: Context) -> Finding:
    """Too few sequences per GPU: decode waits for weights and launches, and more rollouts are almost free."""
    rule = "latency_bound"
    if not report.rollouts or not report.gpus:
        return _cannot(rule, "it needs the rollouts of a step and the GPUs")
    flight = report.rollouts / report.gpus
    mean, longest, rollout = (
        report.mean_response_tokens,
        report.max_response_tokens,
        report.phase_seconds.get("rollout"),
    )
    evidence: dict = {"rollouts_per_gpu": flight}
    if mean and longest and longest >= mean:
        flight *= mean / longest
    evidence["mean_sequences_in_flight_per_gpu"] = flight
    if longest and rollout:
        evidence["seconds_per_token_of_the_longest"] = rollout / longest
    if flight >= _FEW_SEQUENCES:
        return _clear(rule, f"About {flight:.0f} sequences per GPU are in flight on average.", **evidence)
    expected = context.expected("rollout")
    saved = rollout - expected if rollout and expected is not None and rollout > expected else None
    return _found(
        rule,
        report,
        f"On average at most {flight:.1f} sequences per GPU are in flight: the slowest sequence "
        "sets the phase, and a decode step reads the weights for few tokens. More rollouts per step, fewer GPUs "
        "for rollouts, or fewer GPUs per engine lower the price of a rollout.",
        saved,
        "against the model" if saved else "likely",
        "the step stays as long; what falls is the price per rollout, by an amount that needs the model",
        **evidence,
    )


def faster_rollouts(report: LogReport, context: Context) -> Finding:
    """What faster generation can be worth (Amdahl): 1 / (1 - share) at most."""
    rule = "faster_rollouts"
    share = report.phase_share.get("rollout")
    if share is None or any(step.overlapping for step in report.steps):
        return _cannot(rule, "it needs the rollout's share of a step without overlap")
    gains = {factor: 1 / (1 - share + share / factor) for factor in (1.5, 2.0)}
    limit = 1 / (1 - share) if share < 1 else None
    evidence = {"rollout_share": share, "step_gain_by_rollout_gain": gains, "at_most": limit}
    says = f"Rollouts take {share:.0%} of the step: twice as fast makes the step {gains[2.0]:.2f} times as fast"
    says += f", infinitely fast {limit:.2f} times." if limit else "."
    if share < 0.5:
        return _clear(rule, says + " Look elsewhere first.", **evidence)
    return _found(
        rule, report, says, report.phase_seconds["rollout"] / 2, "if rollouts become twice as fast", **evidence
    )


def evaluation_inside(report: LogReport, context: Context) -> Finding:
    """Validation and checkpoints that the step's time contains."""
    rule = "evaluation_inside"
    if not report.phase_share:
        return _cannot(rule, "no phase is timed together with the step")
    parts = {name: report.phase_seconds[name] for name in ("evaluation", "checkpoint") if name in report.phase_seconds}
    share = sum(report.phase_share.get(name, 0.0) for name in parts)
    if share < _SHARE["evaluation"]:
        return _clear(
            rule, f"Validation and checkpoints take {share:.1%} of the logged time.", parts_seconds=parts, share=share
        )
    return _found(
        rule,
        report,
        f"Validation and checkpoints take {share:.0%} of the logged time. Do both half as often, or "
        "validate on fewer prompts.",
        sum(parts.values()) / 2,
        "if done half as often",
        parts_seconds=parts,
        share=share,
    )


def more_gpus_for_less(report: LogReport, context: Context) -> Finding:
    """The same job on more GPUs: faster, but each step costs more GPU-hours."""
    rule = "more_gpus_for_less"
    groups: dict[str, list[LogStep]] = {}
    for step in report.steps:
        if report.separate_runs and step.gpus and step.gpu_hours and step.label:
            words = [word for word in step.label.split() if word != f"{step.gpus:g}"]
            groups.setdefault(" ".join(words), []).append(step)
    worst = None
    for name, steps in groups.items():
        few, many = min(steps, key=lambda s: s.gpus), max(steps, key=lambda s: s.gpus)
        if many.gpus > few.gpus:
            efficiency = few.gpu_hours / many.gpu_hours
            if worst is None or efficiency < worst[0]:
                worst = (efficiency, name, few, many)
    if worst is None:
        return _cannot(rule, "the log holds no two runs of one job on different numbers of GPUs; compare two logs")
    efficiency, name, few, many = worst
    evidence = {
        "gpus": [few.gpus, many.gpus],
        "step_seconds": [few.step_seconds, many.step_seconds],
        "gpu_hours": [few.gpu_hours, many.gpu_hours],
        "scaling_efficiency": efficiency,
    }
    says = (
        f"{name}: {many.gpus:g} GPUs instead of {few.gpus:g} make a step {few.step_seconds / many.step_seconds:.2f} "
        f"times as fast at {many.gpu_hours / few.gpu_hours:.2f} times the GPU-hours (scaling efficiency "
        f"{efficiency:.0%})."
    )
    if efficiency > 0.9:
        return _clear(rule, says, **evidence)
    usd = None
    if report.usd_per_gpu_hour is not None:
        usd = (many.gpu_hours - few.gpu_hours) * report.usd_per_gpu_hour
    return Finding(
        rule,
        "found",
        says,
        evidence,
        few.step_seconds and many.step_seconds - few.step_seconds,
        usd,
        None if usd is not None else "no price: give usd_per_gpu_hour",
        "measured: slower, but cheaper",
    )


def step_count(report: LogReport, context: Context) -> Finding:
    """Whether the planned steps are what the plan means: passes over the tasks, and optimizer against rollout steps."""
    rule = "step_count"
    planned = context.planned_steps or report.planned_steps or context.of_run("run.steps")
    if not planned or not report.step_seconds:
        return _cannot(rule, "the number of planned steps or the step's time is unknown; give planned_steps")
    hours = planned * report.step_seconds / 3600
    gpu_hours = hours * report.gpus if report.gpus else None
    evidence: dict = {"planned_steps": planned, "hours": hours, "gpu_hours": gpu_hours}
    says = f"{planned:g} steps of {report.step_seconds:.4g} s take {hours:.4g} h"
    says += f", {gpu_hours:.4g} GPU-hours." if gpu_hours else "."
    group = report.group_size or context.of_run("rollout.group_size")
    prompts = context.of_run("rollout.prompts_per_step") or (
        report.rollouts / group if report.rollouts and group else None
    )
    tasks = context.tasks or context.of_run("environment.tasks")
    if prompts and context.minibatch_prompts:
        evidence["optimizer_steps_per_rollout_step"] = prompts / context.minibatch_prompts
        says += (
            f" Each takes {prompts / context.minibatch_prompts:g} optimizer steps: a plan of {planned:g} optimizer "
            f"steps is {planned * context.minibatch_prompts / prompts:.4g} of these."
        )
    if not (prompts and tasks):
        return _clear(
            rule, says + " Passes over the tasks are unknown: give tasks and the prompts per step.", **evidence
        )
    evidence["passes_over_the_tasks"] = passes = planned * prompts / tasks
    says += f" That is {passes:.3g} passes over {tasks:g} tasks."
    if passes <= _MANY_PASSES:
        return _clear(rule, says, **evidence)
    return Finding(
        rule,
        "found",
        says + " Check whether the plan counts prompts, rollouts or optimizer steps.",
        evidence,
        money_reason="it changes the number of steps, not the price of one",
        confidence="likely",
    )


RULES: tuple[Callable[[LogReport, Context], Finding], ...] = (
    update_bound, small_model_tensor_parallel, truncated, flat_groups, trainer_waits, engines_wait, weight_transfer,
    timeout, latency_bound, faster_rollouts, evaluation_inside, more_gpus_for_less, step_count,
)  # fmt: skip


def diagnose(report: LogReport, **known) -> tuple[Finding, ...]:
    """Run every rule on a log; found ones first, by what they save.

    Args:
        report: what ``read_log`` returned.
        known: fields of ``Context``: run (a Run), expectation (phase -> s per step), trajectory_timeout_seconds,
            planned_steps, tasks, minibatch_prompts.

    Returns:
        One ``Finding`` per rule.

    Raises:
        RleconError: a name is not a field of ``Context``.

    Source: the rules answer questions of practitioners; each names its evidence.

    >>> from rlecon.readers.logs import read_log
    >>> line = "step:1 - response_length/clip_ratio:0.9 - timing_s/gen:60 - timing_s/step:100"
    >>> diagnose(read_log([line]))[0].rule
    'truncated'
    """
    unknown = known.keys() - Context.__dataclass_fields__.keys()
    if unknown:
        raise RleconError("unknown context", field=min(unknown), allowed=", ".join(Context.__dataclass_fields__))
    context = Context(**known)
    findings = []
    for rule in RULES:
        if report.separate_runs and rule is not more_gpus_for_less:
            findings.append(_cannot(rule.__name__, "the rows are separate runs"))
        else:
            findings.append(rule(report, context))
    order = {"found": 0, "clear": 1, "cannot tell": 2}
    return tuple(sorted(findings, key=lambda f: (order[f.verdict], -(f.seconds_saved_per_step or 0.0))))


def compare(before: LogReport, after: LogReport) -> Finding:
    """Two logs of one job: the gain per rollout and in GPU-hours, which a step's time alone can fake.

    Returns a ``Finding``; "cannot tell" where a step's time or its rollouts are unknown in either log.
    """
    rule = "compare"
    if not (before.step_seconds and after.step_seconds and before.rollouts and after.rollouts):
        return _cannot(rule, "both logs need the step's time and its rollouts")
    old, new = before.step_seconds / before.rollouts, after.step_seconds / after.rollouts
    evidence = {
        "step_seconds_ratio": after.step_seconds / before.step_seconds,
        "rollouts_ratio": after.rollouts / before.rollouts,
        "seconds_per_rollout": [old, new],
        "rollouts_per_second_gain": old / new,
    }
    says = (
        f"The step takes {after.step_seconds / before.step_seconds - 1:+.1%} time with "
        f"{after.rollouts / before.rollouts - 1:+.1%} rollouts: {new / old - 1:+.1%} seconds per rollout."
    )
    if before.gpus and after.gpus:
        cost = new * after.gpus / (old * before.gpus)
        evidence["gpu_seconds_per_rollout_ratio"] = cost
        says += f" A rollout takes {cost - 1:+.1%} GPU time."
    return _found(rule, after, says, max(old - new, 0.0) * after.rollouts, "measured", **evidence)

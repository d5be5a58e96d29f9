"""Rules about how fast an engine decodes: GPUs per engine, sequences in flight, what faster rollouts are worth."""

from __future__ import annotations

from rlecon import catalog
from rlecon.errors import RleconError
from rlecon.readers.record import LogReport
from rlecon.rules.finding import Context, Finding, cannot, clear, found

# Sequences in flight per GPU below which a decode step reads weights for too few tokens: a tenth of the ridge of
# today's GPUs (about 300 sequences at 16 bits), so that more of them cost almost nothing.
FEW_SEQUENCES = 32


def small_model_tensor_parallel(report: LogReport, context: Context) -> Finding:
    """A model that fits on one GPU many times over is decoded on several, which then wait for each other."""
    rule = "small_model_tensor_parallel"
    split = context.of_run("rollout.tensor_parallel")
    name, gpu = context.of_run("model.name"), context.of_run("hardware.gpu")
    if not (split and name and gpu):
        return cannot(
            rule, "a log names neither the model nor the GPUs per engine; give a run file with rollout.tensor_parallel"
        )
    if split == 1:
        return clear(rule, "Every engine runs on one GPU.", tensor_parallel=1)
    bits = context.of_run("rollout.weight_bits") or 16
    weights = catalog.model(name).total_parameters * bits / 8
    share = weights / catalog.gpu(gpu).memory_bytes
    evidence = {"tensor_parallel": split, "weight_share_of_one_gpu": share}
    if share > 0.25:
        return clear(
            rule, f"The weights fill {share:.0%} of one GPU: splitting them leaves room for the KV cache.", **evidence
        )
    expected, alone = context.expected("rollout"), _rollout_on_one_gpu(context.run)
    saved = expected - alone if expected is not None and alone is not None and expected > alone else None
    return found(
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


def latency_bound(report: LogReport, context: Context) -> Finding:
    """Too few sequences per GPU: decode waits for weights and launches, and more rollouts are almost free."""
    rule = "latency_bound"
    if not report.rollouts or not report.gpus:
        return cannot(rule, "it needs the rollouts of a step and the GPUs")
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
    if flight >= FEW_SEQUENCES:
        return clear(rule, f"About {flight:.0f} sequences per GPU are in flight on average.", **evidence)
    expected = context.expected("rollout")
    saved = rollout - expected if rollout and expected is not None and rollout > expected else None
    return found(
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
        return cannot(rule, "it needs the rollout's share of a step without overlap")
    gains = {factor: 1 / (1 - share + share / factor) for factor in (1.5, 2.0)}
    limit = 1 / (1 - share) if share < 1 else None
    evidence = {"rollout_share": share, "step_gain_by_rollout_gain": gains, "at_most": limit}
    says = f"Rollouts take {share:.0%} of the step: twice as fast makes the step {gains[2.0]:.2f} times as fast"
    says += f", infinitely fast {limit:.2f} times." if limit else "."
    if share < 0.5:
        return clear(rule, says + " Look elsewhere first.", **evidence)
    return found(
        rule, report, says, report.phase_seconds["rollout"] / 2, "if rollouts become twice as fast", **evidence
    )

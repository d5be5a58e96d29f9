"""The command line: ``rlecon estimate``, ``decode``, ``train``, ``model``, ``formulas`` and their kin.

Every command takes ``--json`` (one object on standard output, nothing else there), exits 0 on success, and 2 on bad
input with one clear message on standard error.
"""

from __future__ import annotations

import atexit
import errno
import functools
import gc
import json
import sys

import click

from rlecon.errors import RleconError


def say_errors(command):
    """Turn an RleconError, or a file that cannot be read or written, into one line on stderr and exit status 2."""

    @functools.wraps(command)
    def wrapped(*args, **kwargs):
        try:
            return command(*args, **kwargs)
        except RleconError as error:
            words = error
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader has seen enough: click ends quietly
                raise
            words = f"{error.filename or 'output'}: {error.strerror}"
        click.echo(f"rlecon: {words}", err=True)
        sys.exit(2)

    return wrapped


def as_json(thing) -> None:
    click.echo(json.dumps(thing, indent=2, allow_nan=False))


def one_run(path, settings):
    """A run from a file and overrides, or from overrides alone."""
    from rlecon.run import Run, parse_override

    if path is not None:
        return Run.from_file(path, overrides=settings)
    if not settings:
        raise RleconError("nothing to price", field="RUN.toml", allowed="a run file, or every key with --set")
    return Run().replace(dict(map(parse_override, settings)), origin="flag")


json_option = click.option("--json", "json_output", is_flag=True, help="One JSON object instead of text.")
set_option = click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Override one key, e.g. hardware.gpus=128."
)
bits = click.IntRange(1, 64)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rlecon")
def main():
    """What will my RL run cost, where does the money go, and what does it teach?"""
    # What a command loads stays to its end: to look for garbage in it, and to take it apart at the end, costs a third.
    gc.set_threshold(1_000_000)
    atexit.register(gc.freeze)


@main.command()
@click.argument("run_file", required=False, type=click.Path(dir_okay=False))
@set_option
@json_option
@say_errors
def estimate(run_file, settings, json_output):
    """Price a run: time, tokens, memory, dollars, learning."""
    from rlecon import pricing

    bill = pricing.bill(one_run(run_file, settings))
    if json_output:
        as_json(bill.to_dict())
        return
    from rlecon import report

    click.echo(report.estimate(bill))


@main.command()
@click.option("--model", required=True)
@click.option("--gpu", required=True)
@click.option("--batch", required=True, type=click.FloatRange(min=0, min_open=True), help="Concurrent requests.")
@click.option("--prompt-tokens", required=True, type=click.FloatRange(min=0))
@click.option("--response-tokens", required=True, type=click.FloatRange(min=0, min_open=True))
@click.option("--tensor-parallel", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--weight-bits", type=bits, default=16, show_default=True)
@click.option("--kv-bits", type=bits, default=16, show_default=True)
@click.option("--engine", default="typical", show_default=True, help="tuned, typical or eager.")
@click.option(
    "--engine-memory-share",
    type=click.FloatRange(0, 1, min_open=True),
    help="Of GPU memory; default: that of an engine in a pool of its own.",
)
@click.option("--max-sequences-per-engine", type=click.FloatRange(min=1))
@json_option
@say_errors
def decode(json_output, **options):
    """What one inference engine does under a load of concurrent requests."""
    from rlecon import phases

    answer = phases.decode(**options)
    as_json(answer) if json_output else click.echo(phases.decode_text(answer))


@main.command()
@click.option("--model", required=True)
@click.option("--gpu", required=True)
@click.option("--gpus", required=True, type=click.IntRange(min=1))
@click.option("--tokens", required=True, type=click.FloatRange(min=0, min_open=True))
@click.option("--sequence-tokens", required=True, type=click.FloatRange(min=0, min_open=True))
@click.option("--lora-rank", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--train-bits", type=bits, default=16, show_default=True)
@click.option("--activation-recompute/--no-activation-recompute", default=False, show_default=True)
@click.option("--optimizer-steps", type=click.IntRange(min=1), default=1, show_default=True)
@json_option
@say_errors
def train(json_output, **options):
    """How long training on a number of tokens takes."""
    from rlecon import phases

    answer = phases.train(**options)
    as_json(answer) if json_output else click.echo(phases.train_text(answer))


@main.command("levers")
@click.argument("run_file", required=False, type=click.Path(dir_okay=False))
@set_option
@click.option("--only", multiple=True, metavar="NAME", help="Limit to these levers; may be given several times.")
@json_option
@say_errors
def levers_command(run_file, settings, only, json_output):
    """What each change of a run would save, alone and together: do they multiply?"""
    from rlecon import changes

    found = changes.levers(one_run(run_file, settings), only=only or None)
    as_json(found) if json_output else click.echo(changes.text(found))


@main.command("model")
@click.argument("which")
@json_option
@say_errors
def model_command(which, json_output):
    """Count a model: a catalogue name, or the path of a config.json."""
    from rlecon import catalog
    from rlecon.readers import huggingface

    path = which.endswith(".json") or "/" in which and not any(which == m.name for m in catalog.models())
    arch = huggingface.read_architecture(which) if path else catalog.model(which)
    answer = huggingface.describe(arch)
    if json_output:
        as_json(answer)
        return
    from rlecon import report

    known = answer["weight_bytes"] is not None
    rows = [
        ("parameters", report.value(answer["total_parameters"], "parameters", 4)),
        ("active per token", report.value(answer["active_parameters"], "parameters", 4)),
        ("in matrix products", report.value(answer["active_parameters_matmul"], "parameters", 4)),
        ("layers, attention", f"{answer['layers']}, {answer['attention']}"),
        ("KV cache per token", f"{answer['kv_bytes_per_token']:,.0f} bytes at 16 bits"),
        *(
            (f"KV cache at {int(context):,}", report.value(float(size), "bytes"))
            for context, size in answer["kv_bytes"].items()
        ),
        ("weights", report.value(float(answer["weight_bytes"]), "bytes", 4) if known else "stored format not known"),
    ]
    click.echo(f"{answer['name']}\n{report.table(rows)}")
    for note in answer["notes"]:
        click.echo(f"  note: {note}")


@main.command()
@click.argument("log", type=click.Path(dir_okay=False))
@click.option("--run", "run_file", type=click.Path(dir_okay=False), help="The run file of this log: compare with it.")
@set_option
@click.option("--framework", help="verl, trl, prime-rl, nemo-rl, skyrl, slime or openrlhf; else detected.")
@click.option("--gpu", help="A GPU of the catalogue, for its list price.")
@click.option("--gpus", type=click.IntRange(min=1), help="GPUs of the whole run.")
@click.option("--usd-per-gpu-hour", type=click.FloatRange(min=0))
@click.option("--group-size", type=click.IntRange(min=1))
@click.option("--rollouts", type=click.IntRange(min=1), help="Rollouts of one step, where the log does not say.")
@click.option("--binary-reward", is_flag=True, help="The reward is 0 or 1, though the log shows only its mean.")
@json_option
@say_errors
def read(log, run_file, settings, json_output, **hints):
    """Read a training log: where time and money went, and what to change first."""
    from rlecon import reading

    if settings and run_file is None:
        raise RleconError("changes a run file, and none is given", field="--set", advice="add --run RUN.toml")
    answer = reading.read(
        log, run=one_run(run_file, settings) if run_file else None, progress=reading.progress_bar(json_output), **hints
    )
    if json_output:
        as_json(answer)
        return
    click.echo(reading.text(answer))


@main.command()
@click.argument("run_file", required=False, type=click.Path(dir_okay=False))
@click.option("--pilot", type=click.Path(dir_okay=False), help="Training log of the run's first steps.")
@set_option
@json_option
@say_errors
def target(run_file, pilot, settings, json_output):
    """Steps, GPU-hours and dollars to target.pass_rate: from a pilot's log, else from published runs."""
    from rlecon import forecast

    answer = forecast.target(one_run(run_file, settings), pilot)
    if json_output:
        as_json(answer.to_dict())
        return
    from rlecon import report

    click.echo(report.target(answer))


@main.command("import")
@click.argument("config", nargs=-1, required=True, type=click.Path())
@click.option("--framework", help="verl, trl, nemo-rl, prime-rl, openrlhf, slime, roll or areal; else detected.")
@click.option("--gpu", help="A GPU of the catalogue.")
@set_option
@json_option
@say_errors
def import_command(config, framework, gpu, settings, json_output):
    """Turn a framework's launch config into a run file, each value with its origin."""
    from rlecon.readers.launch import import_config

    paths = list(config) if len(config) > 1 else config[0]
    got = import_config(paths, framework=framework, gpu=gpu, overrides=list(settings)).check()
    as_json(got.to_dict()) if json_output else click.echo(got.to_toml(), nl=False)


@main.command()
@click.argument("name", required=False)
@json_option
@say_errors
def formulas(name, json_output):
    """Every equation, or one: LaTeX, quantities with units, source, when it holds."""
    from rlecon import formulary

    rows = formulary.rows(name)
    if json_output:
        as_json({"formulas": rows})
    else:
        click.echo(formulary.text(rows, full=name is not None))


@main.command()
@json_option
@say_errors
def schema(json_output):
    """The JSON schema of the run file, for editors."""
    from rlecon.run import schema as make

    as_json(make())


if __name__ == "__main__":
    main()

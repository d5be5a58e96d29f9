"""Calculators on a whole run: any keys of the run file become dials and choices, the rest stays as it is.

What choices mean (a model, a GPU at a precision, an engine, an algorithm) is found by resolving a run for each of
them, so that a page knows the same rules and speaks the same refusals as the package.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from rlecon import catalog, interval, settings, supply
from rlecon.changes import changes_of
from rlecon.dials import Calculator, Choice, Dial, Lever, Preset, Table, stops
from rlecon.equation import Model
from rlecon.errors import RleconError
from rlecon.pricing import LEARNING, MONEY
from rlecon.remarks import NOT_MODELED, TOO_LARGE, WARNINGS, Remark
from rlecon.resolve import DIRECT, SETTINGS, resolve
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
CHOSEN_TOGETHER = (
    ("model.name",),
    ("hardware.gpu", "rollout.weight_bits", "update.train_bits"),
    ("rollout.engine",),
    ("model.algorithm", "update.critic"),
    ("update.overlap",),
    ("update.activation_recompute",),
)
CHOICE_WORDS = {
    "rollout.engine": {
        "tuned": "tuned (serving)", "typical": "typical (inside RL)", "eager": "eager (no CUDA graphs)",
    },
    "update.overlap": {"none": "none: in turn", "one_step": "one step ahead", "full": "full: never waits"},
    "judge.role": {"reward": "it scores", "teacher": "it teaches"},
}  # fmt: skip


@cache
def run_model() -> Model:
    """Rules of a run file, equations of a bill, and the interval of a step."""
    ends = [e for e in interval.EQUATIONS if e is not interval.spread_equation]
    return Model([*settings.model().order, *ends], "a run")


def run_quantities(run: Run) -> dict:
    """Everything that :func:`run_model` takes, from a run: its settings and the catalogue's values."""
    q = {k: x for k, x in resolve(run).quantities.items() if x is not None}
    return {k: float(x) for k, x in q.items()}


def is_choice(key: str) -> bool:
    """Whether a key of the run file takes one of a few values."""
    return key in ("model.name", "hardware.gpu", "judge.name") or bool(KEYS[key].choices) or KEYS[key].kind is bool


def _options(key: str) -> tuple[tuple[str, str], ...]:
    """What a choice offers, in the run file's words, with a label."""
    if key == "model.name":
        return tuple((m.name, m.name) for m in catalog.models())
    if key == "judge.name":
        return (("default", "none"), *_options("model.name"))
    if key == "hardware.gpu":
        return tuple((g.name, g.label) for g in catalog.gpus())
    if key == "update.critic":
        return (("default", "as the algorithm needs"), ("true", "yes"), ("false", "no"))
    if KEYS[key].kind is bool:
        return (("true", "yes"), ("false", "no"))
    words = CHOICE_WORDS.get(key, {})
    options = tuple((str(c), words.get(c, f"{c}-bit" if key.endswith("_bits") else str(c))) for c in KEYS[key].choices)
    return tuple(sorted(options, key=lambda o: -int(o[0]))) if key.endswith("_bits") else options


def _typed(key: str, text: str):
    """The value of a choice as a run file has it; None where the default stands."""
    if text == "default":
        return None
    kind = KEYS[key].kind
    return text == "true" if kind is bool else int(text) if kind is int else text


def _plain(key: str, value) -> str:
    if value is None:
        return "default"
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _wide(seed: tuple) -> Run:
    """A run so large that no model fails to fit, in two pools, so that every choice can be tried on it."""
    return Run(
        model={"name": "qwen3-8b"},
        hardware={"gpu": "h100-sxm", "gpus": 2**15, "rollout_gpus": 2**14},
        rollout={"prompts_per_step": 2**14, "group_size": 8, "response_tokens": 1000},
        reward={"pass_rate": 0.5},
        run={"steps": 100},
    )


@cache
def _rows(keys: tuple[str, ...]) -> dict[str, Mapping | str]:
    """What every combination of these choices sets, found by resolving each: the same rules, the same refusals."""
    needed = set(run_model().inputs())
    runs: dict[str, object] = {}
    for combination in itertools.product(*(_options(k) for k in keys)):
        values = [value for value, _ in combination]
        changes = {k: _typed(k, x) for k, x in zip(keys, values, strict=True)}
        try:
            found = run_quantities(_wide(()).replace({k: x for k, x in changes.items() if x is not None}))
            runs["|".join(values)] = {k: x for k, x in found.items() if k in needed}
        except RleconError as error:
            runs["|".join(values)] = str(error)
    good = [r for r in runs.values() if not isinstance(r, str)]
    names = {n for r in good for n in r}
    differ = {n for n in names if len({r.get(n) for r in good}) > 1}
    return {k: r if isinstance(r, str) else {n: r[n] for n in sorted(differ) if n in r} for k, r in runs.items()}


def _tables(keys, base: Run) -> tuple[Table, ...]:
    """Tables for the choices shown, each cut down to the combinations that the reader can reach."""
    tables, grouped = [], {k for group in CHOSEN_TOGETHER for k in group}
    for group in (*CHOSEN_TOGETHER, *((k,) for k in keys if k not in grouped)):
        shown = tuple(k for k in group if k in keys)
        if not shown:
            continue
        rows = {}
        for combination in itertools.product(*(_options(k) if k in shown else ((None, ""),) for k in group)):
            full = [
                x
                if x is not None
                else _plain(k, base[k] if base.origins[k] not in ("default", "not given") else _base(k))
                for k, (x, _) in zip(group, combination, strict=True)
            ]
            short = "|".join(x for k, x in zip(group, full, strict=True) if k in shown)
            rows[short] = _rows(group)["|".join(full)]
        tables.append(Table(shown, rows))
    return tuple(tables)


def _base(key: str):
    return None if key == "update.critic" else KEYS[key].default


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


def _run_dial(key: str, base: Run, extra, loose=()) -> Dial:
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


def of_run(
    base: Run,
    *,
    dials=(),
    choices=(),
    outputs,
    over,
    title,
    presets=(),
    words=(),
    formula=(),
    bars=(),
    more=(),
    run_file=True,
    loose=(),
    **whole,
) -> Calculator:
    """A calculator on a whole run: ``dials`` and ``choices`` are run-file keys, all else stays as in ``base``.

    Everything that neither the reader nor ``base`` sets comes from the catalogue or the documented defaults, as in
    :func:`rlecon.bill`. What presets name and is not shown is left out. ``loose`` keys may be left out by the
    reader. Raises RleconError for a key that cannot be turned.
    """
    model = Model([*run_model().order, *more], "a run") if more else run_model()
    shown = {*dials, *choices}
    presets = tuple(Preset(p.words, {k: x for k, x in p.values.items() if k in shown}) for p in presets)
    made = tuple(_run_dial(k, base, [p.values[k] for p in presets if k in p.values], loose) for k in dials)
    picked = tuple(
        Choice(
            k,
            CHOICE_LABELS.get(k, k),
            _plain(k, base[k] if k != "update.critic" or base.origins[k] != "default" else None),
            _options(k),
        )
        for k in choices
    )
    fixed = run_quantities(base.replace({d.key: None for d in made if None in d.stops}))
    tables = _tables(choices, base)
    covered = {n for t in tables for row in t.rows.values() if not isinstance(row, str) for n in row}
    guards = tuple(e.left.name for e in model.order if e.holds_when)
    shell = Calculator(
        title=title, model=model, outputs=tuple(outputs), dials=made, over=over, choices=picked, tables=tables,
        words=tuple(words), presets=tuple(presets), formula=tuple(formula), run_file=run_file, bars=tuple(bars),
        guards=guards, base=base, **whole,
    )  # fmt: skip
    turned = {d.quantity for d in made if None not in d.stops}
    needed = model.inputs(shell.wanted)
    kept = {n: fixed[n] for n in needed if n in fixed and n not in covered | turned}
    return replace(shell, fixed=kept, sources=_sources(kept, base))


CHOICE_LABELS = {
    "model.name": "Model",
    "hardware.gpu": "GPU",
    "rollout.weight_bits": "Rollout weights",
    "update.train_bits": "Training",
    "rollout.engine": "Inference engine",
    "model.algorithm": "Algorithm",
    "update.critic": "Critic",
    "update.overlap": "Overlap",
    "update.activation_recompute": "Recompute activations",
    "rollout.kv_bits": "KV cache",
    "rollout.partial_rollouts": "Partial rollouts",
    "rollout.prefix_cached": "Prefix cache",
    "update.old_logprobs": "Old log-probabilities",
    "update.reference_model": "Reference model",
    "update.offload": "Offload optimizer",
    "judge.name": "Judge or teacher",
    "judge.role": "What it does",
}
# What nobody knows while a setting is not given, and what the model takes meanwhile.
UNKNOWN = {
    "hardware.usd_per_gpu_hour": (
        tuple(n for n in (*MONEY, "usd_per_mixed_group", "usd_per_bit") if n != "environment_build_usd"), None,
    ),
    "run.steps": (("usd_run", "gpu_hours_run", "environment_usd_run"), 1.0),
    "reward.pass_rate": (LEARNING, 0.5),
}  # fmt: skip
PROXIES = {"rollout.engine_memory_share": ("colocated_memory_share", "separate_memory_share")}


def _sources(names, base: Run) -> dict:
    """Where each fixed value comes from, in a few words."""
    by_quantity = {q: k for k, q in KEY_QUANTITY.items()}
    found = {}
    for name in names:
        key = by_quantity.get(name)
        if key is not None and base.origins[key] not in ("default", "not given"):
            found[name] = "this calculator"
        elif key is not None:
            found[name] = "default of the run file"
        else:
            found[name] = "catalogue"
    return found


_MEASURED = ("rollout.measured_tokens_per_second_per_gpu", "above", 0, 1000.0)
# Changes of :mod:`rlecon.changes` as levers of a page: label, settings at which they refuse (key, test, limit, and a
# value at which to ask for the words), settings that only rise, and settings that are half of another.
LEVERS = {
    "lora": ("LoRA", (("model.lora_rank", "above", 0, 1),), (), {}),
    "async": (
        "Side by side, half the GPUs each",
        (("update.overlap", "is", "one_step", "one_step"), ("update.overlap", "is", "full", "full"),
         ("hardware.gpus - judge.gpus", "at most", 1, 1)),
        ("update.staleness_steps",), {"hardware.rollout_gpus": "hardware.gpus - judge.gpus"},
    ),
    "fp8_rollouts": (
        "8-bit rollouts",
        (("rollout.weight_bits", "is", "8", 8), ("rollout.weight_bits", "is", "4", 4), _MEASURED), (), {},
    ),
    "fp4_rollouts": ("4-bit rollouts", (("rollout.weight_bits", "is", "4", 4), _MEASURED), (), {}),
    "group_size_2": ("Groups of two", (("rollout.group_size", "at most", 2, 2),), (), {}),
    "speculation": ("Drafts", (("rollout.speculative_acceptance", "above", 0, 0.5), _MEASURED), (), {}),
    "prefix_cache": (
        "Prefix cache", (("rollout.turns", "at most", 1, 1), ("rollout.prefix_cached", "is", "true", True)), (), {},
    ),
}  # fmt: skip
PARTIAL = Lever(
    "partial_rollouts", "Partial rollouts", "unfinished trajectories continue in the next step",
    {"rollout.partial_rollouts": "true"},
    (("rollout.partial_rollouts", "is", "true", "unfinished trajectories already continue"),
     ("update.overlap", "is", "full", "generation that never waits already keeps unfinished trajectories")),
)  # fmt: skip


def _asked(change, at: Run) -> str:
    """What a change answers where it does not apply."""
    try:
        change.keys(at)
    except RleconError as error:
        return str(error)
    raise RleconError("applies where it was declared not to", field=change.name)


def levers_of(c: Calculator) -> tuple[Lever, ...]:
    """The levers of a page that shows all settings they need: values and refusals are those of the changes."""
    base = _wide(()).replace({"hardware.rollout_gpus": 0, "rollout.turns": 2, "rollout.prefix_cached": False})
    changes = {x.name: x for x in changes_of(base)}
    choices, settings_shown, made = {x.key for x in c.choices}, set(c.defaults), []
    for name, (label, refusals, least, halves) in LEVERS.items():
        change = changes[name]
        values = {
            key: _plain(key, x) if key in choices else x
            for key, x in change.keys(base).items()
            if key in settings_shown or x != c.base[key]
        }
        answers = tuple(
            (key, test, limit, _asked(change, base.replace({key.split(" - ")[0]: probe})))
            for key, test, limit, probe in refusals
        )
        words = change.words if not halves else "generation and training side by side, each on half of the GPUs"
        made.append(Lever(name, label, words, values, answers, least, halves, change.family))
    made.append(PARTIAL)
    for lever in made:
        read = [k for key in (*lever.halves.values(), *(r[0] for r in lever.refusals)) for k in key.split(" - ")]
        for key in (*lever.values, *lever.halves, *read):
            if key not in settings_shown:
                raise RleconError(f"is needed by the lever {lever.name}", field=key)
    return tuple(made)


def remarks_of(base: Run, shown) -> tuple[Remark, ...]:
    """The package's remarks as a page says them: settings that it does not show are as in ``base``, once and for all.

    What is said where a number is not given stands with its dial.
    """
    def split(settings):
        here = {k: _plain(k, x) if is_choice(k) else x for k, x in settings.items() if k in shown}
        return here, {k: x for k, x in settings.items() if k not in shown}

    made = []
    for remark in (*WARNINGS, TOO_LARGE, *NOT_MODELED):
        (when, fixed_when), (unless, fixed_unless) = split(remark.when), split(remark.unless)
        if not remark.lacks and replace(remark, when=fixed_when, unless=fixed_unless).concerns(base.values):
            made.append(replace(remark, when=when, unless=unless))
    return tuple(made)


def run_of(c: Calculator, state: Mapping) -> Run:
    """The run that a calculator's state stands for."""
    changes = {x.key: _typed(x.key, state[x.key]) for x in c.choices}
    for d in c.dials:
        value = state[d.key]
        changes[d.key] = value if value is None or not d.bounds["whole"] else int(value)
    return c.base.replace(changes)

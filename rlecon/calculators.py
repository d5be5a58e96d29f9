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

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from rlecon import catalog, information, interval, money, settings, supply
from rlecon.equation import Model
from rlecon.errors import RleconError
from rlecon.quantity import REGISTRY, lookup
from rlecon.resolve import DIRECT, resolve
from rlecon.run import KEYS, Run


@dataclass(frozen=True)
class Output:
    """A figure to show: quantity, label, how numbers are written, and what spreads it (names of two factors)."""

    name: str
    label: str
    unit: str = ""
    digits: int = 3
    log: bool = True
    spread: tuple[str, str] | None = None
    apart: str | None = None  # a part of the figure that the factors do not touch


@dataclass(frozen=True)
class Dial:
    """A number that a reader turns: the key of its state, the quantity it feeds, and the places where the slider stops.

    ``None`` among the stops stands for "not given"; the quantity then takes ``empty``, or the tables' value.
    """

    key: str
    quantity: str
    label: str
    default: float | None
    stops: tuple
    unit: str = ""
    log: bool = False
    empty: float | None = None
    empty_says: str = ""
    also: Mapping = field(default_factory=dict)
    missing: str = ""  # said where it is not given and no table knows it

    @property
    def scale(self) -> float:
        """What the field shows over what the equations take."""
        return 100.0 if self.unit == "%" else 1.0

    @property
    def bounds(self) -> dict:
        """Domain of the field, from the run file's key or from the quantity."""
        if self.key in KEYS:
            k = KEYS[self.key]
            low, high = (-math.inf if k.low is None else k.low), (math.inf if k.high is None else k.high)
            return {"low": low, "high": high, "lowOpen": k.low_open, "highOpen": k.high_open or k.high is None,
                    "whole": k.kind is int}  # fmt: skip
        q = lookup(self.quantity)
        return {"low": q.low, "high": q.high, "lowOpen": q.low_open, "highOpen": q.high_open, "whole": q.integer}

    @property
    def allowed(self) -> str:
        """The domain in words, in the unit of the field."""
        b, s = self.bounds, self.scale
        kind = "a whole number" if b["whole"] else "a number"
        unit = "\N{NO-BREAK SPACE}%" if self.unit == "%" else ""
        low = f"{b['low'] * s:g}{unit}"
        if math.isinf(b["high"]):
            return f"{kind} {'above' if b['lowOpen'] else 'of at least'} {low}"
        high = f"{b['high'] * s:g}{unit}"
        return f"{kind} {'above' if b['lowOpen'] else 'from'} {low} {'to below' if b['highOpen'] else 'to'} {high}"

    def admits(self, value) -> bool:
        b = self.bounds
        low = value > b["low"] if b["lowOpen"] else value >= b["low"]
        high = value < b["high"] if b["highOpen"] else value <= b["high"]
        return bool(low and high and math.isfinite(value) and (not b["whole"] or value == math.floor(value)))


@dataclass(frozen=True)
class Choice:
    """A setting that takes one of a few values; :class:`Table` says what each means."""

    key: str
    label: str
    default: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """Quantities that one or several choices set together; a row may be words instead: why there is no answer."""

    keys: tuple[str, ...]
    rows: Mapping[str, Mapping | str]


@dataclass(frozen=True)
class Preset:
    """Settings under a name that a reader knows."""

    words: str
    values: Mapping


@dataclass(frozen=True)
class Calculator:
    """A live calculator; see the module's docstring."""

    title: str
    model: Model
    outputs: tuple[Output, ...]
    dials: tuple[Dial, ...]
    over: str
    choices: tuple[Choice, ...] = ()
    tables: tuple[Table, ...] = ()
    fixed: Mapping = field(default_factory=dict)
    sources: Mapping = field(default_factory=dict)
    words: tuple = ()
    presets: tuple[Preset, ...] = ()
    formula: tuple[str, ...] = ()
    name: str = ""
    run_file: bool = False
    bars: tuple[tuple[str, str, str], ...] = ()
    base: object = None
    guards: tuple[str, ...] = ()  # computed only for the conditions that they carry

    @property
    def wanted(self) -> list[str]:
        """Every quantity that the page needs computed."""
        import re

        names = [*self.guards, *(o.name for o in self.outputs)]
        for o in self.outputs:
            names += [*(o.spread or ()), *([o.apart] if o.apart else [])]
        names += [name for name, _, _ in self.bars]
        for relation, text in self.words:
            names += [s.name for s in getattr(relation, "free_symbols", ())]
            names += re.findall(r"\{(\w+)[|}]", text)
        return [n for n in dict.fromkeys(names) if n in self.model.by_left]

    @property
    def defaults(self) -> dict:
        return {c.key: c.default for c in (*self.choices, *self.dials)}

    def state(self, values: Mapping | None = None) -> dict:
        """The default state with some settings changed; refuses what a page would refuse."""
        out = self.defaults
        for key, value in (values or {}).items():
            if key not in out:
                raise RleconError("not a setting of this calculator", field=key, allowed=", ".join(out))
            out[key] = value
        for d in self.dials:
            value = out[d.key]
            if value is None:
                if d.default is not None and d.empty is None and None not in d.stops:
                    raise RleconError("is needed", field=d.key)
            elif not d.admits(value):
                raise RleconError(f"must be {d.allowed}", field=d.key, value=value)
        for c in self.choices:
            if out[c.key] not in dict(c.options):
                raise RleconError("not a choice", field=c.key, value=out[c.key])
        return out

    def quantities(self, state: Mapping) -> dict:
        """What the model takes at ``state``; raises RleconError where a table has words instead of numbers."""
        q = dict(self.fixed)
        for table in self.tables:
            row = table.rows["|".join(str(state[k]) for k in table.keys)]
            if isinstance(row, str):
                raise RleconError(row)
            q.update(row)
        for d in self.dials:
            value = state[d.key]
            if value is not None:
                q[d.quantity] = float(value)
                q.update(d.also)
            elif d.empty is not None:
                q[d.quantity] = d.empty
            elif d.quantity not in q:
                raise RleconError(d.missing or f"{d.label}: a number is needed")
        return q

    def solve(self, values: Mapping | None = None, **arrays) -> dict:
        """Every quantity at a state; ``arrays`` replaces quantities, for curves."""
        q = self.quantities(self.state(values)) | arrays
        return self.model.solve(q, self.wanted)

    def dial(self, key: str) -> Dial:
        return next(d for d in self.dials if d.key == key)

    def curve(self, output: str, values: Mapping | None = None) -> tuple[list, list]:
        """The output over the plotted dial, at the slider's stops; None where there is no answer."""
        d = self.dial(self.over)
        xs = [s for s in d.stops if s is not None]
        q = self.quantities(self.state(values))
        solved = self.model.solve(q | {d.quantity: np.array(xs, float)} | dict(d.also), self.wanted, reasons=[])
        ys = np.broadcast_to(solved[output], len(xs))
        return xs, [float(y) if math.isfinite(y) else None for y in ys]


# --- making them -----------------------------------------------------------------------------------------------------


def stops(low, high, *musts, log=True, count=60, whole=False, last=None):
    """About ``count`` round values from ``low`` to ``high`` for a slider, ``musts`` among them exactly.

    >>> stops(1, 8, 3, whole=True, count=4)
    (1, 2, 3, 4, 8)
    """
    steps = np.arange(count) / (count - 1)
    raw = low * (high / low) ** steps if log else low + (high - low) * steps
    for digits in (1, 2, 3):
        rounded = {float(f"{x:.{digits - 1}e}") for x in raw}
        if len(rounded) > 0.7 * count:
            break
    if whole:
        rounded = {float(round(x)) for x in rounded}
    kept = {x for x in rounded if low <= x <= high} | {float(low), float(high)}
    musts = [float(m) for m in musts if m is not None]
    gap = lambda a, b: abs(math.log(a / b)) / math.log(high / low) if log else abs(a - b) / (high - low)  # noqa: E731
    kept = {x for x in kept if x in (low, high) or all(gap(x, m) > 0.35 / count for m in musts)} | set(musts)
    found = sorted(int(x) if whole or x == int(x) else x for x in kept)
    return (*found, None) if last == "none" else tuple(found)


def dial(quantity, label, default, stops, **options) -> Dial:
    """A dial whose key is the quantity's name."""
    return Dial(quantity, quantity, label, default, stops, **options)


class Shelf(Mapping):
    """Calculators by name, each made when first asked for."""

    def __init__(self):
        self.makers: dict[str, Callable] = {}

    def __getitem__(self, name) -> Calculator:
        if name not in self.makers:
            raise RleconError("no such calculator", field="calculator", value=name, allowed=", ".join(self.makers))
        return self.makers[name]()

    def __iter__(self):
        return iter(self.makers)

    def __len__(self):
        return len(self.makers)


CALCULATORS = Shelf()


def calculator(name: str):
    """Register a function that makes the calculator called ``name``."""

    def register(make):
        CALCULATORS.makers[name] = cache(lambda: replace(make(), name=name))
        return make

    return register


# --- calculators on a whole run --------------------------------------------------------------------------------------

# Run-file keys and the quantity that their number is, before the rules of `settings`.
KEY_QUANTITY = DIRECT | {
    "model.lora_rank": "lora_rank",
    "hardware.rollout_gpus": "rollout_gpus",
    "hardware.usd_per_gpu_hour": "usd_per_gpu_hour",
    "rollout.response_tokens_cv": "response_tokens_cv",
    "rollout.max_response_tokens": "max_response_tokens",
    "rollout.tensor_parallel": "requested_tensor_parallel",
    "rollout.engine_memory_share": "requested_memory_share",
    "rollout.measured_tokens_per_second_per_gpu": "measured_tokens_per_second_per_gpu",
    "rollout.max_sequences_per_engine": "max_sequences_per_engine",
    "rollout.speculative_drafts": "requested_drafts",
    "rollout.partial_rollouts": "partial_rollouts",
    "rollout.usd_per_cpu_hour": "usd_per_cpu_hour",
    "update.tensor_parallel": "training_tensor_parallel",
    "update.pipeline_parallel": "training_pipeline_parallel",
    "update.measured_mfu": "measured_mfu",
    "environment.build_usd": "build_usd",
}
GROUP_RELATIVE = ("grpo", "rloo", "dapo")
CHOSEN_TOGETHER = (
    ("model.name",),
    ("hardware.gpu", "rollout.weight_bits", "update.train_bits"),
    ("rollout.engine",),
    ("model.algorithm", "update.critic"),
    ("update.overlap",),
    ("update.activation_recompute",),
)
ENGINE_WORDS = {"tuned": "tuned (serving)", "typical": "typical (inside RL)", "eager": "eager (no CUDA graphs)"}
OVERLAP_WORDS = {"none": "none: in turn", "one_step": "one step ahead", "full": "full: never waits"}
Z_QUARTILE = 0.6744897501960817  # quartiles of a normal are so many standard deviations from its middle


@cache
def run_model() -> Model:
    """Rules of a run file, equations of a bill, and the interval of a step."""
    ends = [e for e in interval.EQUATIONS if e is not interval.spread_equation]
    return Model([*settings.model().order, *ends], "a run")


def run_quantities(run: Run) -> dict:
    """Everything that :func:`run_model` takes, from a run: its settings and the catalogue's values."""
    found = resolve(run)
    arch, price = found.architecture, found.price
    q = {k: x for k, x in found.quantities.items() if x is not None}
    for key, quantity in KEY_QUANTITY.items():
        if run[key] is not None:
            q[quantity] = float(run[key])
    overlap, algorithm = run["update.overlap"], run["model.algorithm"]
    q |= {
        "requested_tensor_parallel": float(run["rollout.tensor_parallel"] or 0),
        "requested_memory_share": float(run["rollout.engine_memory_share"] or 0.0),
        "one_step_overlap": float(overlap == "one_step"),
        "full_overlap": float(overlap == "full"),
        "group_relative": float(algorithm in GROUP_RELATIVE),
        "colocated_memory_share": supply.value("engine_memory_share_colocated"),
        "separate_memory_share": supply.value("engine_memory_share_separate"),
        "shared_pool_factor": supply.value("colocation_factor"),
        "router_parameters": arch.router_parameters,
        "lora_parameters_per_rank": arch.lora_parameters_per_rank,
        "price_low_log_sd": 0.0,
        "price_high_log_sd": 0.0,
    }
    for phase in ("rollout", "update", "moving", "framework"):
        q[f"{phase}_log_sd"] = supply.value(f"residual_log_sd_{phase}")
    if price is not None and price.low and price.high:
        q["price_low_log_sd"] = math.log(price.mid / price.low) / Z_QUARTILE
        q["price_high_log_sd"] = math.log(price.high / price.mid) / Z_QUARTILE
    return {k: float(x) for k, x in q.items()}


def _options(key: str) -> tuple[tuple[str, str], ...]:
    """What a choice offers, in the run file's words, with a label."""
    if key == "model.name":
        return tuple((m.name, m.name) for m in catalog.models())
    if key == "hardware.gpu":
        return tuple((g.name, g.label) for g in catalog.gpus())
    if key == "update.critic":
        return (("default", "as the algorithm needs"), ("true", "yes"), ("false", "no"))
    if KEYS[key].kind is bool:
        return (("true", "yes"), ("false", "no"))
    words = {"rollout.engine": ENGINE_WORDS, "update.overlap": OVERLAP_WORDS}.get(key, {})
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


def _tables(keys: set[str], base: Run) -> tuple[tuple[Table, ...], dict]:
    """Tables for the choices shown, each cut down to the combinations that the reader can reach."""
    tables, fixed = [], {}
    for group in CHOSEN_TOGETHER:
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
    return tuple(tables), fixed


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
    "rollout.tensor_parallel": ("GPUs per engine", 1, 64, True, "GPUs"),
    "rollout.engine_memory_share": ("Memory share of the engine", 0.2, 0.95, False, "%"),
    "rollout.max_sequences_per_engine": ("Scheduler cap", 8, 4096, True, "sequences"),
    "rollout.measured_tokens_per_second_per_gpu": ("Measured rate", 50, 20000, True, "tokens/s per GPU"),
    "rollout.speculative_acceptance": ("Drafts accepted", 0, 0.95, False, "%"),
    "rollout.turns": ("Turns", 1, 500, True, "turns"),
    "rollout.tool_tokens_per_turn": ("Tool tokens per turn", 0, 20000, False, "tokens"),
    "rollout.environment_seconds_per_turn": ("Environment time per turn", 0, 120, False, "s"),
    "rollout.environment_cpus": ("CPUs per trajectory", 0, 32, False, "vCPU"),
    "rollout.usd_per_cpu_hour": ("Rent of a CPU", 0.01, 0.5, True, "$/h"),
    "model.lora_rank": ("LoRA rank (0: all parameters)", 0, 256, False, ""),
    "update.staleness_steps": ("Staleness bound", 0, 8, False, "steps"),
    "update.epochs": ("Epochs", 1, 8, False, ""),
    "update.minibatches": ("Minibatches", 1, 32, True, ""),
    "update.measured_mfu": ("Measured MFU", 0.02, 0.6, False, "%"),
    "reward.pass_rate": ("Pass rate", 0.001, 0.999, False, "%"),
    "reward.pass_rate_spread": ("Spread over prompts (sd)", 0, 0.5, False, "%"),
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


def _run_dial(key: str, base: Run, extra) -> Dial:
    label, low, high, log, unit = DIALS[key]
    default = base[key]
    musts = [x for x in (default, *extra) if x is not None]
    whole = KEYS[key].kind is int
    low, high = min([low, *[m for m in musts if m > 0 or not log]]), max([high, *musts])
    if key == "reward.pass_rate":
        places = tuple(sorted({*PASS_RATES, *musts}))
    elif low == 0 and log is False and high > 30:
        places = (0, *stops(high / 1000 if not whole else 1, high, *[m for m in musts if m > 0], whole=whole))
    else:
        places = stops(low, high, *musts, log=log, whole=whole, count=60)
    empty, says = EMPTY.get(key, (None, ""))
    optional = key in EMPTY or default is None
    if key == "rollout.response_tokens_cv" and default is None:
        empty, says = math.sqrt(math.expm1(supply.value("log_length_sd") ** 2)), "usual"
    elif key == "rollout.max_sequences_per_engine" and default is None:
        empty, says = supply.value("default_max_sequences_per_engine"), "usual"
    elif key == "rollout.usd_per_cpu_hour" and default is None:
        empty, says = catalog.cpu_price().mid, "list price"
    also = {"price_low_log_sd": 0.0, "price_high_log_sd": 0.0} if key == "hardware.usd_per_gpu_hour" else {}
    places = (None, *places) if optional and key != "rollout.max_response_tokens" else places
    places = (*places, None) if key == "rollout.max_response_tokens" else places
    missing = "No price of this GPU is known: give its rent to see dollars." if also else ""
    return Dial(key, KEY_QUANTITY[key], label, default, places, unit, log, empty, says, also, missing)


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
) -> Calculator:
    """A calculator on a whole run: ``dials`` and ``choices`` are run-file keys, all else stays as in ``base``.

    Everything that neither the reader nor ``base`` sets comes from the catalogue or the documented defaults, as in
    :func:`rlecon.bill`. Raises RleconError for a key that cannot be turned.
    """
    model = Model([*run_model().order, *more], "a run") if more else run_model()
    made = tuple(_run_dial(k, base, [p.values[k] for p in presets if k in p.values]) for k in dials)
    picked = tuple(
        Choice(
            k,
            CHOICE_LABELS.get(k, k),
            _plain(k, base[k] if k != "update.critic" or base.origins[k] != "default" else None),
            _options(k),
        )
        for k in choices
    )
    fixed = run_quantities(base)
    tables, _ = _tables(set(choices), base)
    covered = {n for t in tables for row in t.rows.values() if not isinstance(row, str) for n in row}
    guards = tuple(e.left.name for e in model.order if e.holds_when)
    shell = Calculator(
        title=title, model=model, outputs=tuple(outputs), dials=made, over=over, choices=picked, tables=tables,
        words=tuple(words), presets=tuple(presets), formula=tuple(formula), run_file=run_file, bars=tuple(bars),
        guards=guards, base=base,
    )  # fmt: skip
    turned = {d.quantity for d in made if d.default is not None and None not in d.stops}
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
}


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
    {"model.name": "deepseek-v3", "hardware.gpus": 1024, "rollout.prompts_per_step": 256, "rollout.group_size": 16,
     "rollout.response_tokens": 65000, "reward.pass_rate": 0.05},
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
        presets=tuple(
            Preset(p.words, {k: x for k, x in p.values.items() if k != "reward.pass_rate"}) for p in CAPPED_PRESETS
        ),
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
            (_q("signal_per_step") <= 0, "No rollout differs from another: tokens are paid for and nothing is for sale."),
            (True, "A token costs {usd_per_token|usd|2} whatever the pass rate. At {mean_pass_rate|%|2} a bit takes "
                   "{rollouts_per_bit|rollouts|2} and costs {usd_per_bit|usd|2}."),
        ),
    )  # fmt: skip

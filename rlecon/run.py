"""A run: every input that moves its cost, validated, each value with where it came from.

The keys are the run file's; their units are in their names. Numbers may be arrays: they broadcast against each other,
and one call prices them all.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

from rlecon.errors import RleconError

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
AtLeastZero = Annotated[float, msgspec.Meta(ge=0)]
AtLeastOne = Annotated[float, msgspec.Meta(ge=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
CountOrZero = Annotated[int, msgspec.Meta(ge=0)]
Bits = Literal[4, 8, 16]
LARGEST, LARGEST_COUNT = 1e24, 1e15  # beyond these a number is a slip, and products of several overflow


def says(kind, meaning, unit="1"):
    """A field's type with its meaning and unit, for the schema and for messages."""
    return Annotated[kind, msgspec.Meta(description=meaning, extra={"unit": unit})]


class Section(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Base of the run file's tables; a field that is None was not given and has no default."""


class Model(Section):
    """The policy that is trained."""

    name: says(str | None, "a model of the catalogue") = None
    config: says(str | None, "path of a Hugging Face config.json") = None
    lora_rank: says(CountOrZero, "LoRA rank; 0 trains all parameters") = 0
    algorithm: says(Literal["grpo", "rloo", "dapo", "ppo", "distillation"], "how advantages are made") = "grpo"


class Hardware(Section):
    """GPUs, their number and their price."""

    gpu: says(str | None, "a GPU of the catalogue, or custom") = None
    gpus: says(Count | None, "all GPUs of the run", "GPU") = None
    rollout_gpus: says(CountOrZero, "GPUs of a separate generating pool; 0 shares all", "GPU") = 0
    usd_per_gpu_hour: says(AtLeastZero | None, "rent of one GPU", "USD/(GPU h)") = None
    dense_bf16_flops_per_second: says(Positive | None, "custom GPU: dense 16-bit peak", "FLOP/s") = None
    dense_fp8_flops_per_second: says(AtLeastZero | None, "custom GPU: dense 8-bit peak; 0 for none", "FLOP/s") = None
    dense_fp4_flops_per_second: says(AtLeastZero | None, "custom GPU: dense 4-bit peak; 0 for none", "FLOP/s") = None
    memory_bytes: says(Positive | None, "custom GPU: memory", "byte") = None
    memory_bytes_per_second: says(Positive | None, "custom GPU: memory bandwidth", "byte/s") = None
    link_bytes_per_second: says(Positive | None, "custom GPU: link within a node, one direction", "byte/s") = None
    gpus_per_node: says(Count | None, "GPUs that share the fast link", "GPU") = None


class Rollout(Section):
    """What is generated in one step, and by what engine."""

    prompts_per_step: says(Count | None, "prompts in one step", "prompt") = None
    group_size: says(Count | None, "rollouts per prompt", "rollout") = None
    oversampling: says(AtLeastOne, "rollouts generated per rollout trained on") = 1.0
    prompt_tokens: says(AtLeastZero, "mean prompt tokens", "token") = 512
    response_tokens: says(AtLeastOne | None, "mean tokens generated in one trajectory, after any cap", "token") = None
    response_tokens_cv: says(AtLeastZero | None, "standard deviation over mean of the response length") = None
    max_response_tokens: says(AtLeastOne | None, "cap on generated tokens", "token") = None
    tensor_parallel: says(Count | None, "GPUs per inference engine", "GPU") = None
    engine: says(Literal["tuned", "typical", "eager"], "maturity of the inference engine") = "typical"
    engine_memory_share: says(Share | None, "share of GPU memory that the engine may use") = None
    measured_tokens_per_second_per_gpu: says(
        Positive | None, "measured generation rate; replaces the model of decoding", "token/(s GPU)"
    ) = None
    weight_bits: says(Bits, "precision of weights in rollout", "bit") = 16
    kv_bits: says(Bits, "precision of the KV cache", "bit") = 16
    max_sequences_per_engine: says(Positive | None, "scheduler cap", "sequence") = None
    speculative_acceptance: says(
        Annotated[float, msgspec.Meta(ge=0, lt=1)], "chance that a drafted token is accepted"
    ) = 0.0
    speculative_drafts: says(CountOrZero, "drafted tokens per verification", "token") = 3
    partial_rollouts: says(bool, "unfinished trajectories continue in the next step") = False
    turns: says(AtLeastOne, "model calls in one trajectory", "turn") = 1
    tool_tokens_per_turn: says(AtLeastZero, "tokens the environment returns per turn", "token") = 0
    prefix_cached: says(bool, "earlier turns are kept in the KV cache") = True
    environment_seconds_per_turn: says(AtLeastZero, "time of one environment turn", "s") = 0.0
    environment_cpus: says(AtLeastZero, "processors per trajectory", "vCPU") = 1.0
    usd_per_cpu_hour: says(AtLeastZero | None, "rent of one sandbox processor", "USD/(vCPU h)") = None


class Update(Section):
    """How the policy is trained on what was generated."""

    overlap: says(Literal["none", "one_step", "full"], "how generation and training overlap") = "none"
    staleness_steps: says(CountOrZero, "bound on the age of a rollout's policy", "step") = 0
    epochs: says(Count, "passes over a step's rollouts") = 1
    minibatches: says(Count, "optimizer steps per pass") = 1
    old_logprobs: says(bool, "a forward pass recomputes old log-probabilities") = True
    reference_model: says(bool, "a reference model scores every rollout") = False
    critic: says(bool, "a critic of the model's size is trained") = False
    train_bits: says(Bits, "precision of training", "bit") = 16
    activation_recompute: says(bool, "activations are recomputed in the backward pass") = True
    offload: says(bool, "optimizer state lives on the CPU") = False
    tensor_parallel: says(Count, "GPUs that split a layer in training", "GPU") = 1
    pipeline_parallel: says(Count, "pipeline stages in training", "GPU") = 1
    expert_parallel: says(Count, "GPUs that split the experts in training", "GPU") = 1
    measured_mfu: says(
        Annotated[float, msgspec.Meta(gt=0, le=1)] | None,
        "measured model-FLOPs utilisation; replaces the model of training",
    ) = None
    tenants: says(Count, "LoRA jobs sharing the base model") = 1
    duty_cycle: says(Annotated[float, msgspec.Meta(gt=0, le=1)], "share of time each tenant is active") = 1.0


class Judge(Section):
    """A model that scores or teaches."""

    name: says(str | None, "a model of the catalogue") = None
    role: says(Literal["reward", "teacher"], "what it does") = "reward"
    gpus: says(CountOrZero, "GPUs of its own, of all GPUs; 0 scores on those of rollouts", "GPU") = 0
    response_tokens: says(AtLeastZero, "tokens that it writes about one rollout; 0 where it only scores", "token") = 0


class Reward(Section):
    """How often rollouts are right, and how well that is measured."""

    pass_rate: says(Share | None, "mean pass rate over prompts") = None
    pass_rate_spread: says(Annotated[float, msgspec.Meta(ge=0, le=0.5)], "its standard deviation over prompts") = 0.0
    levels: says(Annotated[int, msgspec.Meta(ge=2)], "levels of the reward") = 2
    false_positive_rate: says(Share, "chance that a wrong answer passes the verifier") = 0.0
    false_negative_rate: says(Share, "chance that a right answer fails the verifier") = 0.0


class Environment(Section):
    """What building the tasks costs."""

    build_usd: says(AtLeastZero | None, "bill of building the tasks", "USD") = None
    tasks: says(Count | None, "tasks in the set", "task") = None
    runs: says(AtLeastOne, "runs that share them", "run") = 1


class Length(Section):
    """How long the run is."""

    steps: says(Positive | None, "training steps", "step") = None
    evaluation_seconds_per_step: says(AtLeastZero, "evaluation, per step", "s") = 0.0
    response_growth_per_step: says(float, "relative growth of length per step", "1/step") = 0.0
    attempts: says(AtLeastOne, "launches per successful run") = 1.0


class Target(Section):
    """A pass rate to reach."""

    pass_rate: says(Share | None, "pass rate to reach") = None
    objective: says(Literal["mean_success", "grpo", "log"] | None, "clock of the learning curve") = None
    ceiling: says(Share | None, "pass rate at which the curve saturates, if believed") = None
    logit_per_step: says(Positive | None, "logit drift per step, from a pilot", "1/step") = None
    pilot_log: says(str | None, "path of a pilot's training log") = None


class RunFile(Section):
    """The run file."""

    model: Model = msgspec.field(default_factory=Model)
    hardware: Hardware = msgspec.field(default_factory=Hardware)
    rollout: Rollout = msgspec.field(default_factory=Rollout)
    update: Update = msgspec.field(default_factory=Update)
    judge: Judge = msgspec.field(default_factory=Judge)
    reward: Reward = msgspec.field(default_factory=Reward)
    environment: Environment = msgspec.field(default_factory=Environment)
    run: Length = msgspec.field(default_factory=Length)
    target: Target = msgspec.field(default_factory=Target)


class Key:
    """One key of the run file: its type, bounds, unit, meaning and default."""

    def __init__(self, name, hint, default):
        self.name, self.default = name, default
        self.annotation = hint
        self.unit, self.meaning = "1", ""
        low = high = None
        low_open = high_open = False
        choices, kinds = (), set()
        todo = [hint]
        while todo:
            part = todo.pop()
            if get_origin(part) is Annotated:
                inner, *metas = get_args(part)
                for meta in metas:
                    self.meaning = meta.description or self.meaning
                    self.unit = (meta.extra or {}).get("unit", self.unit)
                    low, low_open = (meta.ge, False) if meta.ge is not None else (low, low_open)
                    low, low_open = (meta.gt, True) if meta.gt is not None else (low, low_open)
                    high, high_open = (meta.le, False) if meta.le is not None else (high, high_open)
                    high, high_open = (meta.lt, True) if meta.lt is not None else (high, high_open)
                todo.append(inner)
            elif get_origin(part) is Literal:
                choices = get_args(part)
                kinds.add(type(choices[0]))
            elif get_args(part):
                todo.extend(get_args(part))
            elif part is not type(None):
                kinds.add(part)
        self.low, self.high, self.low_open, self.high_open = low, high, low_open, high_open
        self.choices, self.kind = choices, kinds.pop()

    @property
    def allowed(self) -> str:
        if self.choices:
            return ", ".join(map(str, self.choices))
        if self.kind is bool:
            return "true, false"
        if self.kind is str:
            return "text"
        whole = "a whole number " if self.kind is int else "a number "
        if self.high is None:
            return whole + (
                "of any sign" if self.low is None else f"{'above' if self.low_open else 'of at least'} {self.low:g}"
            )
        left = f"{'above' if self.low_open else 'from'} {self.low:g}"
        return f"{whole}{left} {'below' if self.high_open else 'to'} {self.high:g}"

    def read(self, value):
        """The value in its type; raises RleconError outside type, bounds or choices."""
        fail = RleconError("not allowed", field=self.name, value=_short(value), unit=self.unit, allowed=self.allowed)
        if self.kind is str:
            if not isinstance(value, str):
                raise fail
            if self.choices and value not in self.choices:
                near = difflib.get_close_matches(value, self.choices, 1)
                raise RleconError(
                    "not a choice",
                    field=self.name,
                    value=value,
                    allowed=self.allowed,
                    advice=f"did you mean {near[0]}?" if near else None,
                )
            return value
        if self.kind is bool:
            if isinstance(value, bool | np.bool_):
                return bool(value)
            if isinstance(value, np.ndarray) and value.dtype == bool:
                return value.astype(float)
            raise fail
        if isinstance(value, list | tuple | np.ndarray):
            try:
                array = np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                raise fail from None
            if not array.size or not np.all(np.isfinite(array)):
                raise fail
            least = np.abs(array[array != 0]).min(initial=self.low or 1.0)
            for item in np.unique(array) if self.choices else (array.min(), array.max(), least):
                self._check(item, fail)
            if self.kind is int and np.any(array != np.floor(array)):
                raise fail
            return array
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise fail
        if not math.isfinite(value):
            raise fail
        if self.kind is int and float(value) != math.floor(float(value)):
            raise fail
        self._check(value, fail)
        return int(value) if self.kind is int and not self.choices or self.choices else float(value)

    def _check(self, value, fail):
        if self.choices:
            if value not in self.choices:
                raise fail
            return
        below = self.low is not None and (value <= self.low if self.low_open else value < self.low)
        above = self.high is not None and (value >= self.high if self.high_open else value > self.high)
        if below or above or value != value:
            raise fail
        most = LARGEST_COUNT if self.kind is int else LARGEST
        if self.high is None and value and not 1 / LARGEST <= abs(value) <= most:
            size = f"0, or {1 / LARGEST:g} to {most:g} in size"
            raise RleconError(
                "too large or too small to be meant", field=self.name, value=value, unit=self.unit, allowed=size
            )


def _short(value):
    if isinstance(value, np.ndarray):
        return f"array of {value.shape}"
    return value if isinstance(value, str | int | float) else repr(value)


def _keys() -> dict[str, Key]:
    out = {}
    for section in RunFile.__struct_fields__:
        struct = get_type_hints(RunFile)[section]
        hints = get_type_hints(struct, include_extras=True)
        for name, default in zip(struct.__struct_fields__, struct.__struct_defaults__, strict=True):
            out[f"{section}.{name}"] = Key(f"{section}.{name}", hints[name], default)
    return out


KEYS = _keys()
SECTIONS = tuple(RunFile.__struct_fields__)
NEEDED = {
    "hardware.gpu": "a GPU of the catalogue, such as h100-sxm",
    "hardware.gpus": "how many GPUs the run rents",
    "rollout.prompts_per_step": "prompts in one step",
    "rollout.group_size": "rollouts per prompt",
    "rollout.response_tokens": "mean tokens of a response (the cap is no proxy for it)",
}


def schema() -> dict:
    """JSON schema of the run file, for editors: meanings, units, bounds, choices, and the catalogue's names.

    A copy is shipped as ``rlecon/data/run.schema.json``. TOML has no null: a key without a default is left out.

    >>> schema()["$defs"]["Hardware"]["properties"]["gpus"]
    {'description': 'all GPUs of the run [GPU]', 'type': 'integer', 'minimum': 1}
    """
    from rlecon import catalog

    made = msgspec.json.schema(RunFile)
    sections = get_type_hints(RunFile)
    for section, struct in sections.items():
        for name, field in made["$defs"][struct.__name__]["properties"].items():
            for alternative in field.pop("anyOf", ()):
                field |= alternative if alternative != {"type": "null"} else {}
            if field.get("default", 0) is None:
                del field["default"]
            unit = KEYS[f"{section}.{name}"].unit
            if unit != "1":
                field["description"] += f" [{unit}]"
    names = {"Model": [m.name for m in catalog.models()], "Hardware": [*(g.name for g in catalog.gpus()), "custom"]}
    made["$defs"]["Model"]["properties"]["name"]["enum"] = names["Model"]
    made["$defs"]["Judge"]["properties"]["name"]["enum"] = names["Model"]
    made["$defs"]["Hardware"]["properties"]["gpu"]["enum"] = names["Hardware"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "rlecon run file"} | made


class Run:
    """A validated run: ``values`` by dotted key, ``origins`` saying where each came from.

    Give sections as dicts, in the run file's words:

    >>> run = Run(model={"name": "qwen3-8b"}, hardware={"gpu": "h100-sxm", "gpus": 8},
    ...           rollout={"prompts_per_step": 64, "group_size": 8, "response_tokens": 2000})
    >>> run["rollout.group_size"]
    8
    """

    def __init__(self, *, origin="given", lines=None, **sections):
        self.values: dict[str, object] = {}
        self.origins: dict[str, str] = {}
        for section, table in sections.items():
            if section not in SECTIONS:
                raise _unknown(section, SECTIONS, lines)
            if not isinstance(table, Mapping):
                raise RleconError(
                    "is a table", field=section, value=_short(table), allowed=f"[{section}] with its keys"
                )
            for key, value in table.items():
                self._put(f"{section}.{key}", value, origin, lines)
        self._fill()

    def _put(self, name, value, origin, lines=None):
        if name not in KEYS:
            raise _unknown(name, KEYS, lines)
        self.values[name] = KEYS[name].read(value)
        self.origins[name] = origin

    def _fill(self):
        for name, key in KEYS.items():
            if name not in self.values:
                self.values[name] = key.default
                self.origins[name] = "default" if key.default is not None else "not given"
        if self.values["model.algorithm"] == "ppo" and self.origins["update.critic"] == "default":
            self.values["update.critic"], self.origins["update.critic"] = True, "default of ppo"

    def __getitem__(self, name):
        return self.values[name]

    def __repr__(self):
        given = {k: v for k, v in self.values.items() if self.origins[k] not in ("default", "not given")}
        return f"Run({given})"

    def given(self) -> dict:
        """The run as nested tables, only what was given."""
        out: dict = {}
        for name, value in self.values.items():
            if self.origins[name] not in ("default", "not given", "default of ppo"):
                section, key = name.split(".")
                out.setdefault(section, {})[key] = value
        return out

    def replace(self, changes: Mapping | None = None, *, origin="changed", **sections) -> Run:
        """A new run with some keys changed (dotted keys, or sections as dicts).

        >>> Run(hardware={"gpus": 8}).replace({"hardware.gpus": 16})["hardware.gpus"]
        16
        """
        new = object.__new__(Run)
        new.values, new.origins = {}, {}
        for name, value in self.values.items():
            if self.origins[name] not in ("default", "not given", "default of ppo"):
                new.values[name], new.origins[name] = value, self.origins[name]
        changes = dict(changes or {})
        for section, table in sections.items():
            changes.update({f"{section}.{k}": v for k, v in table.items()})
        for name, value in changes.items():
            if value is None and name in KEYS:
                new.values.pop(name, None)
                new.origins.pop(name, None)
            else:
                new._put(name, value, origin)
        new._fill()
        return new

    @classmethod
    def from_text(cls, text: str, *, origin="file", title="run file", overrides=()) -> Run:
        """A run from the text of a run file.

        Parameters: ``origin`` where values then come from; ``title`` what messages call the text; ``overrides`` are
        ``"section.key=value"`` strings.
        """
        try:
            tables = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, ValueError) as error:  # an integer of thousands of digits
            raise RleconError(f"not valid TOML: {error}", field=title) from None
        except RecursionError:
            raise RleconError("nested too deeply", field=title) from None
        run = cls(origin=origin, lines=text.splitlines(), **_sections_of(tables, text))
        return run.replace(dict(map(parse_override, overrides)), origin="flag") if overrides else run

    @classmethod
    def from_file(cls, path, *, overrides=()) -> Run:
        """A run from a run file. Raises RleconError for a missing file, a typo (with line and key) or a bad value."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")  # some editors write a mark of the byte order
        except OSError as error:
            raise RleconError(f"cannot read the run file: {error.strerror}", field=str(path)) from None
        except UnicodeDecodeError:
            raise RleconError("the run file is not UTF-8 text", field=str(path)) from None
        run = cls.from_text(text, title=str(path), overrides=overrides)
        config = run["model.config"]
        if config is not None and not Path(config).is_absolute() and run.origins["model.config"] == "file":
            run.values["model.config"] = str(path.parent / config)
        return run


def _sections_of(tables, text):
    for name, table in tables.items():
        if name in SECTIONS and not isinstance(table, dict):
            raise RleconError("is a table", field=name, value=_short(table), allowed=f"[{name}] with its keys below")
        if name not in SECTIONS:
            raise _unknown(name, SECTIONS, text.splitlines())
    return tables


def parse_override(text: str):
    """``"hardware.gpus=128"`` as a key and a TOML value (bare words are text).

    >>> parse_override("rollout.engine=tuned")
    ('rollout.engine', 'tuned')
    """
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals:
        raise RleconError("an override has the form section.key=value", field="--set", value=text)
    if name not in KEYS:
        raise _unknown(name, KEYS, None)
    try:
        return name, tomllib.loads(f"v = {value}")["v"]
    except ValueError:  # also an integer of thousands of digits
        return name, value.strip()
    except RecursionError:
        raise RleconError("nested too deeply", field=name) from None


def _unknown(name, known, lines) -> RleconError:
    where = ""
    leaf = name.rsplit(".", 1)[-1]
    for number, line in enumerate(lines or (), 1):
        if re.match(rf"\s*\[?\s*[\"']?{re.escape(leaf)}[\"']?\s*[=\]]", line):
            where = f" (line {number})"
            break
    by_leaf = {k.rsplit(".", 1)[-1]: k for k in known}
    near = difflib.get_close_matches(name, known, 1) or [
        by_leaf[m] for m in difflib.get_close_matches(leaf, by_leaf, 1)
    ]
    return RleconError(
        f"no such key{where}",
        field=name,
        advice=f"did you mean {near[0]}?" if near else "see the run file's documentation for the keys",
    )

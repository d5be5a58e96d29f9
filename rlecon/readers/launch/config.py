"""A framework's launch config to a run file: ``rlecon import CONFIG``.

Each value keeps its origin: a key and line of the file, a framework's documented default, or the arithmetic between
them. What cost depends on and the file does not say is listed, never guessed; in particular the cap on a response is no
stand-in for its mean length.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path

from rlecon import catalog
from rlecon.errors import RleconError, nearest
from rlecon.readers.launch.draft import Draft, Missing
from rlecon.readers.launch.flags import flag_entries, hydra_entries
from rlecon.readers.launch.formats import read_text, toml_entries, yaml_entries
from rlecon.readers.launch.settings import Settings
from rlecon.readers.launch.shell import read_script
from rlecon.readers.launch.values import Entry, Fact, scalar, shorten
from rlecon.run import KEYS, SECTIONS

FRAMEWORKS = ("verl", "trl", "nemo-rl", "prime-rl", "openrlhf", "slime", "roll", "areal")

# Keys as the framework spells them; a name that ends with a dot stands for everything below it.
SIGNS = {
    "verl": "actor_rollout_ref. data.train_batch_size data.max_prompt_length data.max_response_length"
    " trainer.n_gpus_per_node trainer.nnodes algorithm.adv_estimator actor.ppo_mini_batch_size rollout.n",
    "trl": "per_device_train_batch_size num_generations max_completion_length gradient_accumulation_steps use_vllm"
    " steps_per_generation generation_batch_size vllm_mode num_iterations --per_device_train_batch_size"
    " --num_generations --max_completion_length --gradient_accumulation_steps --use_vllm",
    "nemo-rl": "grpo. policy. cluster. loss_fn.",
    "prime-rl": "orchestrator. trainer. inference. deployment. weight_broadcast. seq_len",
    "openrlhf": "--actor.num_nodes --actor.num_gpus_per_node --rollout.batch_size --vllm.num_engines"
    " --rollout.n_samples_per_prompt --train.batch_size --actor.model_name_or_path --data.max_len --ds.zero_stage"
    " --actor_num_nodes --actor_num_gpus_per_node --rollout_batch_size --vllm_num_engines --pretrain --zero_stage"
    " --generate_max_len --micro_train_batch_size",
    "slime": "--rollout-batch-size --n-samples-per-prompt --num-rollout --rollout-max-response-len --hf-checkpoint"
    " --actor-num-nodes --actor-num-gpus-per-node --rollout-num-gpus-per-engine --global-batch-size --rollout-num-gpus"
    " --sglang-mem-fraction-static --advantage-estimator",
    "roll": "actor_train. actor_infer. num_return_sequences_in_group rollout_batch_size response_length rewards."
    " reward_pretrain",
    "areal": "gconfig. train_dataset. rollout.backend actor.backend actor.path allocation_mode sglang."
    " rollout.max_head_offpolicyness rollout.consumer_batch_size",
}

WHY = {
    "model.name": ("every FLOP and byte scales with the model", "--set model.name=NAME or --set model.config=PATH"),
    "hardware.gpu": ("launch configs do not name the GPU", "--gpu NAME, e.g. --gpu h100-sxm"),
    "hardware.gpus": ("the number of GPUs is not in the file", "--set hardware.gpus=N"),
    "rollout.prompts_per_step": ("prompts per step are not in the file", "--set rollout.prompts_per_step=N"),
    "rollout.group_size": ("rollouts per prompt are not in the file", "--set rollout.group_size=N"),
    "rollout.prompt_tokens": ("the mean prompt length is not in the file", "--set rollout.prompt_tokens=N"),
    "rollout.response_tokens": (
        "the mean response length is not in the file (read it in a log of the same run)",
        "--set rollout.response_tokens=N",
    ),
    "reward.pass_rate": ("how often a rollout succeeds is not in the file", "--set reward.pass_rate=P"),
    "run.steps": (
        "the number of steps is not settled by the file",
        "--set run.steps=N, or a target: --set target.pass_rate=P",
    ),
}


@dataclass(frozen=True)
class Imported:
    """A launch config as a run.

    ``run`` is a nested dict with the sections and keys of the run file; ``origins`` maps dotted keys to words;
    ``missing`` lists what cost depends on and the file does not say (with why it matters and how to give it);
    ``notes`` holds what a run file cannot express.
    """

    framework: str
    source: str
    run: dict
    origins: dict
    missing: tuple
    notes: tuple

    def check(self):
        """Return self when nothing is missing; raises ``RleconError`` that lists everything missing otherwise."""
        if self.missing:
            count = len(self.missing)
            listed = "".join(f"\n  {item}" for item in self.missing)
            raise RleconError(
                f"this {self.framework} config does not say {count} thing{'s' * (count > 1)} that cost depends on:"
                + listed, field=self.source,
            )
        return self

    def to_dict(self):
        """All of it as plain values, for ``--json``."""
        return {
            "framework": self.framework, "source": self.source, "run": self.run, "origins": self.origins,
            "missing": [asdict(item) for item in self.missing], "notes": list(self.notes),
        }

    def to_toml(self):
        """The run file as text, each value with its origin as a comment; what is missing stands as a comment."""
        out = [f"# Imported from {shorten(self.source, 200)} ({self.framework})."]
        out += [f"# Note: {shorten(note, 600)}" for note in self.notes]
        gaps = {}
        for item in self.missing:
            gaps.setdefault(item.key.split(".")[0], []).append(item)
        for section in SECTIONS:
            values = self.run.get(section, {})
            if not values and section not in gaps:
                continue
            out += ["", f"[{section}]"]
            for key, value in values.items():
                origin = shorten(self.origins.get(f"{section}.{key}", ""), 600)
                out.append(f"{key} = {_toml(value)}" + (f"  # {origin}" if origin else ""))
            out += [f"# {item.key.split('.')[1]} = ?  # {shorten(item.why, 600)}" for item in gaps.get(section, ())]
        return "\n".join(out) + "\n"


def _toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in text) + '"'


def _overrides(overrides):
    """Overrides as {key: value}: a dict, or an iterable of ``KEY=VALUE``."""
    if overrides is None:
        return {}
    if isinstance(overrides, str):
        overrides = [overrides]
    if not isinstance(overrides, dict):
        pairs = {}
        for item in overrides:
            key, equals, value = str(item).partition("=")
            if not equals or not key.strip():
                raise RleconError("not KEY=VALUE", field="--set", value=str(item))
            pairs[key.strip()] = value
        overrides = pairs
    return {key: _value(value) if isinstance(value, str) else value for key, value in overrides.items()}


def _value(text):
    try:
        value = tomllib.loads(f"v = {text}")["v"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError, KeyError):
        return text.strip()
    return value if isinstance(value, bool | int | float | str) else text.strip()


def load(path, text, framework=None, source=""):
    """Settings of one file as entries, and remarks; ``source`` names the file in origins when there are several."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if ".toml" in suffixes:
        return toml_entries(text, source, str(path)), []
    if {".yaml", ".yml", ".json"} & set(suffixes):
        return yaml_entries(text, source, str(path)), []
    script = read_script(text)
    hydra, flags = hydra_entries(script), flag_entries(script)
    if framework is not None:
        entries = hydra if framework in {"verl", "nemo-rl", "areal", "roll"} else flags
    else:
        entries = max((hydra, flags), key=lambda found: max(score(found).values()))
    if max(score(entries).values()) < 2 and framework is None:
        for reader in (toml_entries, yaml_entries):
            try:
                return reader(text, source, str(path)), []
            except RleconError:
                continue
    if source:
        entries = {key: replace(entry, source=source) for key, entry in entries.items()}
    return entries, script.notes


def score(entries):
    """How many keys of each framework stand among ``entries``, by the spelling of the file."""
    names = [entry.key for entry in entries.values()]
    found = {}
    for framework, signs in SIGNS.items():
        exact = {sign for sign in signs.split() if not sign.endswith(".")}
        stems = tuple(sign for sign in signs.split() if sign.endswith("."))
        found[framework] = sum(name in exact or (bool(stems) and name.startswith(stems)) for name in names)
    return found


def detect(entries, source="config"):
    """The framework whose keys the entries are.

    Raises ``RleconError`` when no framework or more than one fits.
    """
    ranked = sorted(score(entries).items(), key=lambda item: -item[1])
    if ranked[0][1] < 2 or ranked[0][1] == ranked[1][1]:
        raise RleconError(
            "cannot tell which framework's launch config this is", field="config", value=str(source),
            allowed=", ".join(FRAMEWORKS), advice="name it with --framework",
        )
    return ranked[0][0]


def import_config(path, *, framework=None, gpu=None, overrides=None):
    """Read a framework's launch config as a run.

    Args:
        path: the file, or several in order, later ones winning (a base and its overrides).
        framework: one of ``FRAMEWORKS``; detected when None.
        gpu: the GPU's catalogue name, which no launch config holds.
        overrides: what the user adds: ``{"rollout.response_tokens": 2000}`` or ``["rollout.response_tokens=2000"]``.
            A key of the run file sets the run; any other is taken as a setting of the framework
            (``num_processes=7``).

    Returns:
        ``Imported``; call ``.check()`` to insist that nothing is missing.

    Raises:
        RleconError: a file that cannot be read, is of no known framework, or contradicts itself.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "launch.txt"
        >>> _ = file.write_text("data.train_batch_size=64\\nactor_rollout_ref.rollout.n=8\\n")
        >>> got = import_config(file, gpu="h100-sxm")
        >>> got.framework, got.run["rollout"]["group_size"], got.origins["rollout.group_size"]
        ('verl', 8, 'actor_rollout_ref.rollout.n=8 (line 2)')
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    if not paths:
        raise RleconError("no file given", field="config")
    if framework is not None:
        framework = framework.lower().replace("_", "-")
        framework = {"nemorl": "nemo-rl", "nemo": "nemo-rl", "primerl": "prime-rl", "prime": "prime-rl"}.get(
            framework, framework)
        if framework not in FRAMEWORKS:
            raise RleconError(
                "not a framework this can read", field="framework", value=framework, allowed=", ".join(FRAMEWORKS),
                advice=nearest(framework, FRAMEWORKS),
            )
    given = _overrides(overrides)
    if gpu is not None:
        given["hardware.gpu"] = gpu
    if isinstance(given.get("hardware.gpu"), str) and given["hardware.gpu"] != "custom":
        given["hardware.gpu"] = catalog.gpu(given["hardware.gpu"]).name
    if isinstance(given.get("model.name"), str):
        given["model.name"] = catalog.model(given["model.name"]).name
    entries, notes = {}, []
    for item in paths:
        more, remarks = load(item, read_text(item), framework, Path(item).name if len(paths) > 1 else "")
        entries.update(more)
        notes += remarks
    framework = framework or detect(entries, paths[-1])
    reader = import_module("rlecon.readers.launch." + framework.replace("-", "_"))
    clean = getattr(reader, "clean", str)
    settings = Settings({clean(key): entry for key, entry in entries.items()})
    draft = Draft(framework, settings, notes=list(notes))
    beside = {}
    for key, value in given.items():
        if key in KEYS:
            if isinstance(value, float) and not math.isfinite(value):
                raise RleconError("not a finite number", field=key, value=value)
            draft.put(key, Fact(value, "given"))
        else:
            beside[clean(key)] = key
            settings.given(clean(key), value)
    if hasattr(reader, "prepare"):
        reader.prepare(draft, Path(paths[-1]), beside)
    reader.read(draft)
    for key, spelled in beside.items():
        if key not in settings.used:
            raise RleconError(
                f"neither a key of the run file nor a setting that is read from {framework}", field="--set",
                value=spelled, advice=nearest(spelled, [*KEYS, *settings.used]),
            )
    return finish(draft, ", ".join(str(item) for item in paths))


def doubt(draft):
    """Take back what rests on a default whose key the file sets to something unsettled, such as ``$NNODES``.

    The framework's default is then what the run does not use, so it is no guess to make.
    """
    for name, why in draft.settings.undecided.items():
        said = f"{name} is in the file and not settled: {why}"
        for key, words in list(draft.origins.items()):
            keys = [found.split()[-1] for found in re.findall(r"default of ([^=;]+)=", words)]
            if any(name == other or name.endswith("." + other) for other in keys):
                del draft.run[key], draft.origins[key]
                draft.ask(key, said)
        for key, reason in draft.reasons.items():
            draft.reasons[key] = reason.replace(f"{name} is not in the file", said)


def finish(draft, source):
    """List what is missing and nest the draft."""
    doubt(draft)
    if "model.config" in draft.run:
        draft.run.pop("model.name", None)
        draft.origins.pop("model.name", None)
    if cap := draft.get("rollout.max_response_tokens"):
        draft.ask(
            "rollout.response_tokens",
            WHY["rollout.response_tokens"][0] + f"; the cap, {cap.value}, is no stand-in for the mean",
        )
    wanted = list(WHY)
    if "target.pass_rate" in draft.run:
        wanted.remove("run.steps")
    if "model.config" in draft.run:
        wanted.remove("model.name")
    wanted += [key for key in draft.reasons if key not in wanted and key not in {"model.name", "run.steps"}]
    missing = []
    for key in wanted:
        if key in draft.run:
            continue
        why, how = WHY.get(key, ("", f"--set {key}=VALUE"))
        missing.append(Missing(key, draft.reasons.get(key, why), how))
    undecided = [f"{name} is not settled: {why}" for name, why in draft.settings.undecided.items()]
    run = {}
    for key in KEYS:
        if key in draft.run:
            section, name = key.split(".")
            run.setdefault(section, {})[name] = draft.run[key]
    origins = {key: draft.origins[key] for key in KEYS if key in draft.run}
    return Imported(draft.framework, source, run, origins, tuple(missing), tuple(draft.notes + undecided[:30]))


__all__ = ["FRAMEWORKS", "Entry", "Imported", "Missing", "detect", "import_config", "scalar"]

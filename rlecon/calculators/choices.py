"""What the choices of a run file mean: a model, a GPU at a precision, an engine, an algorithm.

It is found by resolving a run for each of them, so that a page knows the same rules and speaks the same refusals as the
package.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache

from rlecon import catalog
from rlecon.calculators.parts import Choice, Table
from rlecon.calculators.whole_run import run_model, run_quantities
from rlecon.errors import RleconError
from rlecon.run import KEYS, Run

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
CHOICE_LABELS = {
    "model.name": "Model",
    "hardware.gpu": "GPU",
    "rollout.weight_bits": "Rollout weights",
    "update.train_bits": "Training",
    "rollout.engine": "Inference engine",
    "model.algorithm": "Algorithm",
    "update.critic": "Critic",
    "rollout.response_tokens_guessed": "Mean length is a guess",
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


def is_choice(key: str) -> bool:
    """Whether a key of the run file takes one of a few values."""
    return key in ("model.name", "hardware.gpu", "judge.name") or bool(KEYS[key].choices) or KEYS[key].kind is bool


def options(key: str) -> tuple[tuple[str, str], ...]:
    """What a choice offers, in the run file's words, with a label."""
    if key == "model.name":
        return tuple((m.name, m.name) for m in catalog.models())
    if key == "judge.name":
        return (("default", "none"), *options("model.name"))
    if key == "hardware.gpu":
        return tuple((g.name, g.label) for g in catalog.gpus())
    if key == "update.critic":
        return (("default", "as the algorithm needs"), ("true", "yes"), ("false", "no"))
    if KEYS[key].kind is bool:
        return (("true", "yes"), ("false", "no"))
    words = CHOICE_WORDS.get(key, {})
    offered = tuple((str(c), words.get(c, f"{c}-bit" if key.endswith("_bits") else str(c))) for c in KEYS[key].choices)
    return tuple(sorted(offered, key=lambda o: -int(o[0]))) if key.endswith("_bits") else offered


def choice_of(key: str, base: Run) -> Choice:
    """A key of the run file as a choice that stands where ``base`` has it."""
    open_default = key == "update.critic" and base.origins[key] == "default"
    return Choice(key, CHOICE_LABELS.get(key, key), plain(key, None if open_default else base[key]), options(key))


def typed(key: str, text: str):
    """The value of a choice as a run file has it; None where the default stands."""
    if text == "default":
        return None
    kind = KEYS[key].kind
    return text == "true" if kind is bool else int(text) if kind is int else text


def plain(key: str, value) -> str:
    if value is None:
        return "default"
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def wide() -> Run:
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
    for combination in itertools.product(*(options(k) for k in keys)):
        values = [value for value, _ in combination]
        changes = {k: typed(k, x) for k, x in zip(keys, values, strict=True)}
        try:
            found = run_quantities(wide().replace({k: x for k, x in changes.items() if x is not None}))
            runs["|".join(values)] = {k: x for k, x in found.items() if k in needed}
        except RleconError as error:
            runs["|".join(values)] = str(error)
    good = [r for r in runs.values() if not isinstance(r, str)]
    names = {n for r in good for n in r}
    differ = {n for n in names if len({r.get(n) for r in good}) > 1}
    return {k: r if isinstance(r, str) else {n: r[n] for n in sorted(differ) if n in r} for k, r in runs.items()}


def tables_of(keys, base: Run) -> tuple[Table, ...]:
    """Tables for the choices shown, each cut down to the combinations that the reader can reach."""
    tables, grouped = [], {k for group in CHOSEN_TOGETHER for k in group}
    for group in (*CHOSEN_TOGETHER, *((k,) for k in keys if k not in grouped)):
        shown = tuple(k for k in group if k in keys)
        if not shown:
            continue
        rows = {}
        for combination in itertools.product(*(options(k) if k in shown else ((None, ""),) for k in group)):
            full = [
                x
                if x is not None
                else plain(k, base[k] if base.origins[k] not in ("default", "not given") else _base(k))
                for k, (x, _) in zip(group, combination, strict=True)
            ]
            short = "|".join(x for k, x in zip(group, full, strict=True) if k in shown)
            rows[short] = _rows(group)["|".join(full)]
        tables.append(Table(shown, rows))
    return tuple(tables)


def _base(key: str):
    return None if key == "update.critic" else KEYS[key].default

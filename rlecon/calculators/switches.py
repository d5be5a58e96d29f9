"""Levers of a page: changes of the package that a reader switches on and off, with the same settings and refusals."""

from __future__ import annotations

from rlecon.calculators.choices import plain, wide
from rlecon.calculators.parts import Lever
from rlecon.calculators.shelf import Calculator
from rlecon.changes import changes_of
from rlecon.errors import RleconError
from rlecon.run import Run

_MEASURED = ("rollout.measured_tokens_per_second_per_gpu", "above", 0, 1000.0)
# Changes of :mod:`rlecon.changes` as levers of a page: label, settings at which they refuse (key, test, limit, and a
# value at which to ask for the words), settings that only rise, and settings that are half of another.
LEVERS = {
    "lora": ("LoRA", (("model.lora_rank", "above", 0, 1),), (), {}),
    "async": (
        "Side by side, half each",
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
    base = wide().replace({"hardware.rollout_gpus": 0, "rollout.turns": 2, "rollout.prefix_cached": False})
    changes = {x.name: x for x in changes_of(base)}
    choices, settings_shown, made = {x.key for x in c.choices}, set(c.defaults), []
    for name, (label, refusals, least, halves) in LEVERS.items():
        change = changes[name]
        values = {
            key: plain(key, x) if key in choices else x
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

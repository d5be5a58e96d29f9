"""Levers: what each change of a run would save, alone and together, with shares that no order can change.

A lever turns a run into another run, or says why it does not apply. Every set of levers is priced by the same
equations, all sets in one array. The share of a lever in the saving of all together is its Shapley value on the
logarithm of the bill, so shares add to the whole. No set can save more than the bound: Amdahl's law phase by phase,
each lever with the least factor that it has on a phase in any company.
"""

from __future__ import annotations

import math

import numpy as np

from rlecon.capability import shapley
from rlecon.changes.alone import applicable, row
from rlecon.changes.kinds import Change, changes_of
from rlecon.changes.prices import Prices, Rents, pulled
from rlecon.changes.together import one_of_each_family, together
from rlecon.changes.words import text
from rlecon.errors import RleconError
from rlecon.pricing import bill
from rlecon.run import Run

__all__ = ["Change", "changes_of", "levers", "shapley", "text"]

UNKNOWN_STEPS = 2.0  # stands for a number of steps that is not given: ratios do not depend on it


def _scalar(run: Run) -> None:
    for key, value in run.values.items():
        if np.ndim(value):
            raise RleconError(
                "several values", field=key, advice="levers compare one run with its changes: give one value"
            )


def levers(run: Run, *, only=None) -> dict:
    """What each lever would save, alone and together: the JSON object of ``rlecon levers``.

    Parameters: ``run`` a :class:`Run` of scalars; ``only`` limits the levers by name. Ratios are new over old: dollars
    and wall-clock hours of the run (for the same rollouts of a step where ``run.steps`` is not given), with an 80 %
    interval. Returns a dict: ``changes`` (by name: ``usd_ratio_alone``, ``time_ratio_alone``, ``signal_ratio``,
    ``share`` of the saving of all together, ``phase_factors``; or ``why`` one does not apply), ``used_together``,
    ``product_of_alone``, ``amdahl_of_alone`` (the factors that each has alone, phase by phase), ``together`` and
    ``bound``. Raises RleconError where the run itself cannot be priced, or for an unknown lever.
    Source: Amdahl (1967), Shapley (1953).

    >>> from rlecon import Run
    >>> run = Run(model={"name": "qwen3-8b"}, hardware={"gpu": "h100-sxm", "gpus": 8}, reward={"pass_rate": 0.3},
    ...           rollout={"prompts_per_step": 64, "group_size": 8, "response_tokens": 2000})
    >>> found = levers(run, only=("lora", "fp8_rollouts"))
    >>> round(sum(c["share"]["time"] for c in found["changes"].values()), 9)
    1.0
    """
    _scalar(run)
    notes = []
    if run["run.response_growth_per_step"]:
        notes.append("Responses grow: ratios are those of the first step.")
        run = run.replace({"run.response_growth_per_step": 0.0})
    bill(run)  # what is wrong with the run itself is said first, and in words
    if run["run.steps"] is None:
        run = run.replace({"run.steps": UNKNOWN_STEPS})
    elif run["environment.build_usd"]:
        notes.append("What building the tasks costs is in no ratio: no lever changes it.")
    rents, changes = Rents(run), changes_of(run)
    names = [c.name for c in changes]
    unknown = [n for n in only or () if n not in names]
    if unknown:
        raise RleconError("no such lever", field="only", value=", ".join(unknown), allowed=", ".join(names))
    changes = [c for c in changes if only is None or c.name in only]
    rows: dict = {}
    keys = applicable(run, changes, rows)
    alone = [c for c in changes if c.name in keys]
    runs = [run, *(pulled(run, [c], keys) for c in alone)]
    priced = Prices(runs, [rents.of(r) for r in runs])
    taught = run["reward.pass_rate"] is not None and priced.signal[0] > 0
    for i, change in enumerate(alone, start=1):
        rows[change.name] = row(run, change, priced, i, taught)
    applies = [c for c in alone if rows[c.name]["applies"]]
    if math.isfinite(priced.totals["usd"][0]):
        for change in [c for c in applies if rows[c.name]["usd_ratio_alone"]["mid"] is None]:
            rows[change.name]["together"] = "left out: without a price its hours would be compared with dollars"
            applies.remove(change)
    chosen = one_of_each_family(applies, rows)
    out = {"changes": {n: rows[n] for n in names if n in rows}}
    out |= together(run, chosen, keys, rents, rows, taught)
    return out | {"notes": notes}

"""The model of a whole run, as a page solves it: from the settings of a run file to the bill and its interval."""

from __future__ import annotations

from functools import cache

from rlecon import interval, settings
from rlecon.equation import Model
from rlecon.resolve import resolve
from rlecon.run import Run


@cache
def run_model() -> Model:
    """Rules of a run file, equations of a bill, and the interval of a step."""
    ends = [e for e in interval.EQUATIONS if e is not interval.spread_equation]
    return Model([*settings.model().order, *ends], "a run")


def run_quantities(run: Run) -> dict:
    """Everything that :func:`run_model` takes, from a run: its settings and the catalogue's values."""
    q = {k: x for k, x in resolve(run).quantities.items() if x is not None}
    return {k: float(x) for k, x in q.items()}

"""Calculators on a whole run: any keys of the run file become dials and choices, the rest stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rlecon.calculators.choices import choice_of, is_choice, plain, tables_of, typed
from rlecon.calculators.numbers import KEY_QUANTITY, run_dial
from rlecon.calculators.parts import Preset
from rlecon.calculators.shelf import Calculator
from rlecon.calculators.whole_run import run_model, run_quantities
from rlecon.equation import Model
from rlecon.remarks import NOT_MODELED, TOO_LARGE, WARNINGS, Remark
from rlecon.run import Run


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
    made = tuple(run_dial(k, base, [p.values[k] for p in presets if k in p.values], loose) for k in dials)
    picked = tuple(choice_of(k, base) for k in choices)
    fixed = run_quantities(base.replace({d.key: None for d in made if None in d.stops}))
    tables = tables_of(choices, base)
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


def remarks_of(base: Run, shown) -> tuple[Remark, ...]:
    """The package's remarks as a page says them: settings that it does not show are as in ``base``, once and for all.

    What is said where a number is not given stands with its dial.
    """
    def split(settings):
        here = {k: plain(k, x) if is_choice(k) else x for k, x in settings.items() if k in shown}
        return here, {k: x for k, x in settings.items() if k not in shown}

    made = []
    for remark in (*WARNINGS, TOO_LARGE, *NOT_MODELED):
        (when, fixed_when), (unless, fixed_unless) = split(remark.when), split(remark.unless)
        if not remark.lacks and replace(remark, when=fixed_when, unless=fixed_unless).concerns(base.values):
            made.append(replace(remark, when=when, unless=unless))
    return tuple(made)


def run_of(c: Calculator, state: Mapping) -> Run:
    """The run that a calculator's state stands for."""
    changes = {x.key: typed(x.key, state[x.key]) for x in c.choices}
    for d in c.dials:
        value = state[d.key]
        changes[d.key] = value if value is None or not d.bounds["whole"] else int(value)
    return c.base.replace(changes)

"""Units: parsing them, and a walker that checks every equation for them.

Dimensions are ``s``, ``h``, ``day``, ``byte``, ``bit``, ``FLOP``, ``token`` and ``USD``. Counted nouns (sequence,
rollout, prompt, GPU, layer, step, ...) are labels: they help a reader and are dropped by the walker. ``h`` meets ``s``
only through the counting constant of 3600 s/h.
"""

from __future__ import annotations

import re
from functools import cache

import sympy as sp

from rlecon.errors import RleconError

DIMENSIONS = ("s", "h", "day", "byte", "bit", "FLOP", "token", "USD")
LABELS = {
    "1",
    "-",
    "sequence",
    "rollout",
    "prompt",
    "GPU",
    "vCPU",
    "layer",
    "step",
    "parameter",
    "task",
    "run",
    "query",
    "expert",
    "tenant",
    "engine",
    "turn",
    "nat",
    "batch",
    "node",
    "model",
    "reward",
    "verifier",
    "answer",
    "group",
    "sd",
    "person",
}
Dimension = tuple  # ((name, exponent), ...) sorted; () is dimensionless


@cache
def parse(unit: str) -> Dimension:
    """Dimension of a unit string such as ``"byte/(s GPU)"``; labels vanish.

    >>> parse("USD/(GPU h)")
    (('USD', 1), ('h', -1))
    """
    powers: dict[str, sp.Rational] = {}
    top, _, bottom = unit.partition("/")
    for part, sign in ((top, 1), (bottom, -1)):
        for word in re.findall(r"[A-Za-z0-9^-]+", part):
            base, _, power = word.partition("^")
            if base in DIMENSIONS:
                powers[base] = powers.get(base, 0) + sign * int(power or 1)
            elif base not in LABELS:
                raise RleconError("unknown unit", field=unit, value=base)
    return _clean(powers)


def _clean(powers) -> Dimension:
    return tuple(sorted((k, v) for k, v in powers.items() if v != 0))


def times(a: Dimension, b: Dimension, power=1) -> Dimension:
    out = dict(a)
    for name, exponent in b:
        out[name] = out.get(name, 0) + exponent * power
    return _clean(out)


def show(dimension: Dimension) -> str:
    return " ".join(f"{n}^{e}" if e != 1 else n for n, e in dimension) or "1"


ANY = object()  # zero and infinity fit every unit


def dimension(expr) -> Dimension:
    """Dimension of an expression; raises RleconError where two units are added, compared or exponentiated wrongly."""
    if expr in (sp.S.Zero, sp.S.Infinity, sp.S.NegativeInfinity):
        return ANY
    if isinstance(expr, sp.Symbol):
        from rlecon.quantity import REGISTRY

        if expr.name not in REGISTRY:
            raise RleconError("not a declared quantity", field=expr.name)
        return parse(REGISTRY[expr.name].unit)
    if expr.is_number:
        return ()
    if isinstance(expr, sp.Mul):
        out: Dimension = ()
        for arg in expr.args:
            d = dimension(arg)
            out = times(out, () if d is ANY else d)
        return out
    if isinstance(expr, sp.Pow):
        base, exponent = expr.args
        _plain(exponent, expr)
        d = dimension(base)
        if d is ANY or d == ():
            return ()
        if not exponent.is_number:
            raise RleconError(f"a quantity in {show(d)} has a variable exponent", field=str(expr))
        return times((), d, exponent)
    if isinstance(expr, sp.Add | sp.Max | sp.Min):
        return _same(expr.args, expr)
    if isinstance(expr, sp.Piecewise):
        for _, condition in expr.args:
            relation(condition)
        return _same([value for value, _ in expr.args], expr)
    rule = getattr(expr, "unit_rule", None)
    if rule is not None:
        return rule(expr.args, dimension, _same, _plain)
    if isinstance(expr, sp.exp | sp.log):
        _plain(expr.args[0], expr)
        return ()
    raise RleconError(f"{type(expr).__name__} is not allowed in an equation", field=str(expr))


def relation(condition) -> None:
    """Check both sides of a relation (or of relations joined by and/or) for one unit."""
    if condition in (sp.true, sp.false):
        return
    if isinstance(condition, sp.And | sp.Or | sp.Not):
        for arg in condition.args:
            relation(arg)
        return
    _same([condition.lhs, condition.rhs], condition)


def _same(args, where) -> Dimension:
    seen = [d for d in map(dimension, args) if d is not ANY]
    for d in seen[1:]:
        if d != seen[0]:
            raise RleconError(f"units {show(seen[0])} and {show(d)} meet", field=str(where))
    return seen[0] if seen else ANY


def _plain(expr, where) -> None:
    d = dimension(expr)
    if d is not ANY and d != ():
        raise RleconError(f"needs a plain number, got {show(d)}", field=str(where))


def check(left, right) -> None:
    """Raise RleconError unless both sides of an equation have the same unit."""
    _same([left, right], sp.Eq(left, right, evaluate=False))

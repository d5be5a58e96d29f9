"""Mutants of an equation: the slips that a person makes. Each must be caught by units or by a known value."""

from __future__ import annotations

import sympy as sp

from rlecon import vocabulary as v

FACTOR = sp.Rational(11, 10)
UNIT_SYMBOLS = {"one_token", "one_bit", "one_second", "one_turn"}


def _rebuild(expr, path, new):
    """``expr`` with the part at ``path`` (indices of arguments) replaced by ``new``."""
    if not path:
        return new
    args = list(expr.args)
    args[path[0]] = _rebuild(args[path[0]], path[1:], new)
    if isinstance(expr, sp.Max | sp.Min):  # SymPy would compare the arguments, which takes seconds
        return expr.func(*args, evaluate=False)
    return expr.func(*args)


def parts(expr, path=()):
    """Every part of an expression with its path; conditions of branches are left out."""
    yield path, expr
    for i, arg in enumerate(expr.args):
        if isinstance(expr, sp.Piecewise):
            yield from parts(arg.args[0], (*path, i, 0))
        else:
            yield from parts(arg, (*path, i))


def _slips(part):
    """(words, replacement) for one part of an expression."""
    if isinstance(part, sp.Add | sp.Mul):
        for i, arg in enumerate(part.args):
            rest = part.func(*part.args[:i], *part.args[i + 1 :])
            if isinstance(part, sp.Add):
                yield f"sign of {arg} flipped", rest - arg
                yield f"term {arg} dropped", rest
                yield f"term {arg} scaled by 1.1", rest + arg * FACTOR
            else:
                yield f"factor {arg} dropped", rest
    elif isinstance(part, sp.Max | sp.Min):
        other = sp.Min if isinstance(part, sp.Max) else sp.Max
        yield "maximum and minimum swapped", other(*part.args, evaluate=False)
    elif isinstance(part, sp.Pow):
        yield f"exponent of {part.base} raised", part.base ** (part.exp + 1)
    elif isinstance(part, sp.Piecewise):
        for i, (value, condition) in enumerate(part.args[:-1]):
            flipped = (value, sp.to_nnf(sp.Not(condition), simplify=False))
            yield f"condition {condition} flipped", part.func(*part.args[:i], flipped, *part.args[i + 1 :])
    elif isinstance(part, sp.Symbol) and part.name not in UNIT_SYMBOLS:
        yield f"{part} scaled by 1.1", part * FACTOR
        if part in (v.bits_per_byte, v.seconds_per_hour, v.flops_per_parameter):
            yield f"{part} dropped", sp.S.One


def mutants(right):
    """(words, mutated right side) for every small slip: sign, factor, dropped term, wrong bound, swapped unit."""
    whole = [
        ("scaled by 1.1", right * FACTOR),
        ("sign flipped", -right),
        ("hours for seconds", right * v.seconds_per_hour),
        ("bits for bytes", right * v.bits_per_byte),
    ]
    made = [((), words, new) for words, new in whole]
    made += [(path, words, new) for path, part in parts(right) for words, new in _slips(part)]
    seen, found = {right}, []
    for path, words, new in made:
        mutant = _rebuild(right, path, new)
        if mutant not in seen and not mutant.has(sp.zoo, sp.nan):
            seen.add(mutant)
            found.append((words, mutant))
    return found


def flipped(relation):
    """(words, relation) for every way to turn a relation round: its opposite, and the sides exchanged."""
    if isinstance(relation, sp.And | sp.Or):
        for i, arg in enumerate(relation.args):
            for words, new in flipped(arg):
                yield words, relation.func(*relation.args[:i], new, *relation.args[i + 1 :])
        return
    yield f"{relation} negated", relation.negated
    if not isinstance(relation, sp.Eq | sp.Ne):
        yield f"sides of {relation} exchanged", relation.func(relation.rhs, relation.lhs)

"""Mutants of an equation: the slips that a person makes. Each must be caught by units or by a known value."""

from __future__ import annotations

import sympy as sp

from rlecon import vocabulary as v

FACTOR = sp.Rational(11, 10)


def _rebuild(expr, path, new):
    """``expr`` with the part at ``path`` (indices of arguments) replaced by ``new``."""
    if not path:
        return new
    args = list(expr.args)
    args[path[0]] = _rebuild(args[path[0]], path[1:], new)
    return expr.func(*args)


def _parts(expr, path=()):
    yield path, expr
    if isinstance(expr, sp.Piecewise):
        for i, (value, condition) in enumerate(expr.args):
            del condition
            for sub_path, part in _parts(value):
                yield (*path, i, 0, *sub_path), part
        return
    for i, arg in enumerate(expr.args):
        yield from _parts(arg, (*path, i))


def mutants(right):
    """(words, mutated right side) for every small slip: sign, factor, dropped term, wrong bound, swapped unit."""
    seen = {right}

    def offer(words, path, new):
        try:
            made = _rebuild(right, path, new)
        except (TypeError, ValueError):
            return None
        if made in seen or made.has(sp.zoo, sp.nan):
            return None
        seen.add(made)
        return words, made

    found = [offer("scaled by 1.1", (), right * FACTOR), offer("sign flipped", (), -right)]
    for path, part in _parts(right):
        if isinstance(part, sp.Add):
            for i, arg in enumerate(part.args):
                rest = [a for j, a in enumerate(part.args) if j != i]
                found.append(offer(f"sign of {arg} flipped", path, sp.Add(*rest, -arg)))
                found.append(offer(f"term {arg} dropped", path, sp.Add(*rest)))
                found.append(offer(f"term {arg} scaled by 1.1", path, sp.Add(*rest, arg * FACTOR)))
        elif isinstance(part, sp.Mul):
            for i, arg in enumerate(part.args):
                rest = [a for j, a in enumerate(part.args) if j != i]
                found.append(offer(f"factor {arg} dropped", path, sp.Mul(*rest)))
        elif isinstance(part, sp.Max):
            found.append(offer("max became min", path, sp.Min(*part.args)))
        elif isinstance(part, sp.Min):
            found.append(offer("min became max", path, sp.Max(*part.args)))
        elif isinstance(part, sp.Pow) and part.exp.is_number:
            found.append(offer(f"exponent of {part.base} raised", path, part.base ** (part.exp + 1)))
        elif isinstance(part, sp.Symbol) and part.name not in ("one_token", "one_bit", "one_second"):
            found.append(offer(f"{part} scaled by 1.1", path, part * FACTOR))
            if part is v.bits_per_byte or part is v.seconds_per_hour:
                found.append(offer(f"{part} dropped", path, sp.S.One))
    found.append(offer("hours for seconds", (), right * v.seconds_per_hour))
    found.append(offer("bits for bytes", (), right * v.bits_per_byte))
    return [m for m in found if m is not None]

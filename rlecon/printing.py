"""Print an expression as NumPy or as JavaScript. One visitor, two dialects, a closed set of operations."""

from __future__ import annotations

import sympy as sp

from rlecon.errors import RleconError


class Dialect:
    """How one language writes numbers, powers, choices and functions."""

    def __init__(self, *, power, sqrt, exp, log, maximum, minimum, choose, both, either, function, infinity):
        self.power, self.sqrt, self.exp, self.log = power, sqrt, exp, log
        self.maximum, self.minimum, self.choose = maximum, minimum, choose
        self.both, self.either, self.function, self.infinity = both, either, function, infinity


NUMPY = Dialect(
    power="({0})**({1})".format,
    sqrt="sqrt({})".format,
    exp="exp({})".format,
    log="log({})".format,
    maximum="maximum({}, {})".format,
    minimum="minimum({}, {})".format,
    choose="choose({}, {}, {})".format,
    both="({0}) & ({1})".format,
    either="({0}) | ({1})".format,
    function=lambda name, args: f"{name}({', '.join(args)})",
    infinity="inf",
)

JAVASCRIPT = Dialect(
    power="Math.pow({0}, {1})".format,
    sqrt="Math.sqrt({})".format,
    exp="Math.exp({})".format,
    log="Math.log({})".format,
    maximum="Math.max({}, {})".format,
    minimum="Math.min({}, {})".format,
    choose="(({}) ? ({}) : ({}))".format,
    both="({0}) && ({1})".format,
    either="({0}) || ({1})".format,
    function=lambda name, args: f"S.{name}({', '.join(args)})",
    infinity="Infinity",
)

_RELATIONS = {
    sp.StrictLessThan: "<",
    sp.LessThan: "<=",
    sp.StrictGreaterThan: ">",
    sp.GreaterThan: ">=",
    sp.Equality: "==",
    sp.Unequality: "!=",
}


def write(expr, dialect: Dialect) -> str:
    """Source text of ``expr`` in ``dialect``; raises RleconError for an operation outside the closed set."""
    w = lambda e: write(e, dialect)  # noqa: E731
    if isinstance(expr, sp.Symbol):
        return expr.name
    if expr is sp.S.Infinity:
        return dialect.infinity
    if isinstance(expr, sp.Integer):
        return f"{int(expr)}.0" if dialect is NUMPY else str(int(expr))
    if isinstance(expr, sp.Rational):
        return f"({int(expr.p)}/{int(expr.q)})"
    if isinstance(expr, sp.Float) or (expr.is_number and not expr.args):
        return repr(float(expr))
    if isinstance(expr, sp.Add):
        text = ""
        for i, arg in enumerate(expr.args):
            if arg.could_extract_minus_sign():
                text += f" - {_factor(-arg, dialect)}" if i else f"-{_factor(-arg, dialect)}"
            else:
                text += (" + " if i else "") + w(arg)
        return text
    if isinstance(expr, sp.Mul):
        top, bottom = [], []
        for arg in expr.args:
            if isinstance(arg, sp.Pow) and arg.exp.could_extract_minus_sign():
                bottom.append(_factor(sp.Pow(arg.base, -arg.exp), dialect))
            elif isinstance(arg, sp.Rational) and arg.q != 1:
                top += [] if arg.p == 1 else [str(int(arg.p)) + ".0"]
                bottom.append(str(int(arg.q)) + ".0")
            else:
                top.append(_factor(arg, dialect))
        text = "*".join(top) or "1.0"
        return text if not bottom else f"{text}/({'*'.join(bottom)})"
    if isinstance(expr, sp.Pow):
        base, exponent = expr.args
        if exponent == sp.S.Half:
            return dialect.sqrt(w(base))
        if exponent == -1:
            return f"1.0/({w(base)})"
        if exponent == 2 and isinstance(base, sp.Symbol):
            return f"{base.name}*{base.name}"
        return dialect.power(w(base), w(exponent))
    if isinstance(expr, sp.Max | sp.Min):
        join = dialect.maximum if isinstance(expr, sp.Max) else dialect.minimum
        args = sorted(map(w, expr.args))
        text = args[0]
        for arg in args[1:]:
            text = join(text, arg)
        return text
    if isinstance(expr, sp.Piecewise):
        *rest, (last, condition) = expr.args
        if condition != sp.true:
            raise RleconError("a Piecewise needs a last branch that always holds", field=str(expr))
        text = w(last)
        for value, condition in reversed(rest):
            text = dialect.choose(condition_text(condition, dialect), w(value), text)
        return text
    if isinstance(expr, sp.exp):
        return dialect.exp(w(expr.args[0]))
    if isinstance(expr, sp.log):
        return dialect.log(w(expr.args[0]))
    if getattr(expr, "unit_rule", None) is not None:
        return dialect.function(type(expr).__name__, [w(a) for a in expr.args])
    if expr.is_number:
        return repr(float(expr))
    raise RleconError(f"{type(expr).__name__} is not allowed in an equation", field=str(expr))


def _factor(expr, dialect) -> str:
    text = write(expr, dialect)
    return f"({text})" if isinstance(expr, sp.Add) or text.startswith("-") or " " in text else text


def condition_text(condition, dialect: Dialect) -> str:
    """Source text of a relation, or of relations joined by and/or."""
    if condition == sp.true:
        return "True" if dialect is NUMPY else "true"
    if condition == sp.false:
        return "False" if dialect is NUMPY else "false"
    if isinstance(condition, sp.And | sp.Or):
        join = dialect.both if isinstance(condition, sp.And) else dialect.either
        parts = sorted(condition_text(a, dialect) for a in condition.args)
        text = parts[0]
        for part in parts[1:]:
            text = join(text, part)
        return text
    sign = _RELATIONS.get(type(condition))
    if sign is None:
        raise RleconError(f"{type(condition).__name__} is not allowed as a condition", field=str(condition))
    if dialect is JAVASCRIPT and sign in ("==", "!="):
        sign += "="
    return f"{write(condition.lhs, dialect)} {sign} {write(condition.rhs, dialect)}"

"""Equations and models: the only place that evaluates.

An :class:`Equation` says ``left = right`` in SymPy, with a source and the conditions under which it holds. A
:class:`Model` puts equations in order and evaluates them one after the other with NumPy broadcasting, prints them as
LaTeX or JavaScript, and differentiates them by one-sided relative differences.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp

from rlecon import printing
from rlecon.errors import RleconError
from rlecon.quantity import REGISTRY, lookup
from rlecon.special import implementations

EQUATIONS: dict[str, Equation] = {}
RELATIVE_STEP = 1e-6


# What follows keeps expressions as they are written. SymPy would compare, order and simplify them first, up to 30 ms
# each, and find nothing: no letter has a known sign. The expressions are the same ones.
def largest(*args):
    """Max of expressions, as it is written."""
    return sp.Max(*args, evaluate=False)


def smallest(*args):
    """Min of expressions, as it is written."""
    return sp.Min(*args, evaluate=False)


def cases(*branches):
    """Branches ``(value, condition)``, the first that holds, as they are written; the last condition is True."""
    return sp.Piecewise(*branches, evaluate=False)


def root(expr):
    """Square root of an expression, as it is written."""
    return sp.Pow(expr, sp.S.Half, evaluate=False)


def exponential(expr):
    """The exponential of an expression, as it is written."""
    return sp.exp(expr, evaluate=False)


def logarithm(expr):
    """Natural logarithm of an expression, as it is written."""
    return sp.log(expr, evaluate=False)


_RELATIONS = {
    "<": sp.StrictLessThan,
    "<=": sp.LessThan,
    ">": sp.StrictGreaterThan,
    ">=": sp.GreaterThan,
}


def compare(left, sign: str, right):
    """``left < right`` and its like, as it is written; a letter on the left needs no such care."""
    return _RELATIONS[sign](left, right, evaluate=False)


@dataclass(frozen=True)
class Condition:
    """A relation that must hold, and the words shown where it does not (``{name}`` becomes the value)."""

    relation: object
    words: str


class Equation:
    """``left = right``, with the conditions under which it holds and where it comes from.

    Parameters: ``left`` a quantity's symbol; ``right`` a SymPy expression of quantities; ``why`` one sentence;
    ``holds_when`` a list of ``(relation, words)``; ``source`` a bibliography key or words; ``name`` only where several
    equations define the same quantity. Registering is automatic; the topic is the defining module.
    """

    def __init__(self, left, right, why, *, holds_when=(), source="counting", name=None):
        self.left, self.right, self.why, self.source = left, sp.sympify(right), why, source
        self.name = name or left.name
        self.holds_when = tuple(Condition(r, w) for r, w in holds_when)
        self.topic = sys._getframe(1).f_globals.get("__name__", "").rsplit(".", 1)[-1]
        if self.name in EQUATIONS and (EQUATIONS[self.name].right, EQUATIONS[self.name].left) != (self.right, left):
            raise RleconError("two equations have this name", field=self.name)
        EQUATIONS[self.name] = self

    @cached_property
    def inputs(self):
        """Symbols that the right side and the conditions need, in order of name."""
        found = set(self.right.free_symbols)
        for condition in self.holds_when:
            found |= getattr(condition.relation, "free_symbols", set())
        return sorted(found - {self.left}, key=lambda s: s.name)

    def latex(self) -> str:
        """The equation as LaTeX."""
        from rlecon import typesetting

        return typesetting.latex(self.left, self.right)

    def check_units(self) -> None:
        """Raise RleconError where units do not agree, conditions included."""
        from rlecon import units

        try:
            units.check(self.left, self.right)
            for condition in self.holds_when:
                units.relation(condition.relation)
        except RleconError as error:
            raise RleconError(f"units: {error}", field=self.name) from None

    def __call__(self, **values):
        """Evaluate this equation alone; arrays broadcast.

        >>> from rlecon.learning import fail_rate_equation
        >>> float(fail_rate_equation(pass_rate=0.3))
        0.7
        """
        return self._alone.solve(values)[self.left.name]

    @cached_property
    def _alone(self):
        return Model([self])

    def __repr__(self):
        return f"Equation({self.name}: {self.left} = {self.right})"


def choose(condition, yes, no):
    """``yes`` where the condition holds, else ``no``; plain for scalars, elementwise for arrays."""
    if isinstance(condition, bool | np.bool_):
        result = yes if condition else no
        return np.float64(result) if type(result) is float else result  # so that 1/0 is inf, as in arrays
    return np.where(condition, yes, no)


def _namespace():
    return {
        "float64": np.float64,
        "sqrt": np.sqrt,
        "exp": np.exp,
        "log": np.log,
        "maximum": np.maximum,
        "minimum": np.minimum,
        "inf": np.inf,
        "choose": choose,
        **implementations(),
    }


class Model:
    """Equations in order of need.

    ``solve`` evaluates them; ``inputs`` are the quantities that no equation defines (constants of counting are known).
    """

    def __init__(self, equations, name="model"):
        self.name = name
        self.by_left: dict[str, Equation] = {}
        for equation in equations:
            if equation.left.name in self.by_left:
                raise RleconError("two equations of one model define it", field=equation.left.name)
            self.by_left[equation.left.name] = equation
        self.order = self._sorted()
        self._compiled: dict = {}
        self._inputs: dict = {}

    def _sorted(self, outputs=None):
        """Equations in an order in which each finds what it needs; ``outputs`` keeps only those that matter."""
        done, path, order = set(), [], []

        def visit(name):
            if name in done or name not in self.by_left:
                return
            if name in path:
                raise RleconError("equations go in a circle: " + " -> ".join([*path[path.index(name) :], name]))
            path.append(name)
            for symbol in self.by_left[name].inputs:
                visit(symbol.name)
            path.pop()
            done.add(name)
            order.append(self.by_left[name])

        for name in outputs if outputs is not None else self.by_left:
            if outputs is not None and name not in self.by_left and name not in REGISTRY:
                raise RleconError("this model does not compute it", field=name)
            visit(name)
        return order

    def inputs(self, outputs=None) -> list[str]:
        """Names of the quantities to supply, for all outputs or for those given."""
        key = None if outputs is None else tuple(outputs)
        if key not in self._inputs:
            self._inputs[key] = self._needed(outputs)
        return list(self._inputs[key])

    def _needed(self, outputs):
        order = self.order if outputs is None else self._sorted(outputs)
        names = {s.name for e in order for s in e.inputs} - {e.left.name for e in order}
        return sorted(n for n in names if lookup(n).value is None)

    def _function(self, outputs):
        key = None if outputs is None else tuple(sorted(outputs))
        if key in self._compiled:
            return self._compiled[key]
        order = self.order if outputs is None else self._sorted(outputs)
        inputs = self.inputs(outputs)
        constants = {s.name for e in order for s in e.inputs if REGISTRY[s.name].value is not None}
        lines = [f"def solve({', '.join(inputs)}):"]
        lines += [f"    {name} = float64({REGISTRY[name].value!r})" for name in sorted(constants)]
        conditions = []
        for e in order:
            lines.append(f"    {e.left.name} = {printing.write(e.right, printing.NUMPY)}")
            for condition in e.holds_when:
                lines.append(f"    _c{len(conditions)} = {printing.condition_text(condition.relation, printing.NUMPY)}")
                conditions.append((e, condition))
        results = ", ".join(f"{e.left.name!r}: {e.left.name}" for e in order)
        checks = ", ".join(f"_c{i}" for i in range(len(conditions)))
        lines.append(f"    return {{{results}}}, [{checks}]")
        space = _namespace()
        exec(compile("\n".join(lines), f"<{self.name}>", "exec"), space)
        made = (space["solve"], inputs, conditions)
        self._compiled[key] = made
        return made

    def solve(self, values, outputs=None, *, check=True, reasons=None):
        """Evaluate the model.

        Parameters: ``values`` maps names to numbers or arrays that broadcast; ``outputs`` limits the work to what those
        names need; ``reasons``, a list, receives ``(mask, words)`` for arrays. Returns a dict with the inputs and every
        computed quantity, as NumPy floats or arrays. Raises RleconError for a missing input, a value outside its
        domain, or (scalars) a condition that does not hold; in arrays such points become NaN.
        """
        function, inputs, conditions = self._function(outputs)
        given, bad = {}, None
        for name in inputs:
            if name not in values:
                raise RleconError(f"needed for {self.name} and not given ({REGISTRY[name].meaning})", field=name)
            value = values[name]
            value = np.float64(value) if isinstance(value, float | int) else np.asarray(value, dtype=float)[()]
            if check:
                inside = REGISTRY[name].admits(value)
                if isinstance(value, np.float64):  # scalars are the common case, and np.all is slow on them
                    if not inside:
                        raise domain_error(name, value)
                elif not inside.all():
                    bad = _worse(bad, ~inside)
                    if reasons is not None:
                        reasons.append((~inside, str(domain_error(name, value[~inside].flat[0]))))
            given[name] = value
        with np.errstate(all="ignore"):
            results, held = function(**given)
        for (_, condition), ok in zip(conditions, held, strict=True):
            scalar = not isinstance(ok, np.ndarray)
            if check and not (ok if scalar else ok.all()):
                everything = {**given, **results}
                if scalar:
                    raise RleconError(_say(condition, everything))
                bad = _worse(bad, ~ok)
                if reasons is not None:
                    index = np.argmax(~ok)
                    reasons.append((~ok, _say(condition, everything, ok.shape, index)))
        if bad is not None:
            results = {k: np.where(bad, np.nan, v) for k, v in results.items()}
        return {**given, **results}

    def elasticities(self, values, output, inputs=None, *, step=RELATIVE_STEP):
        """Both one-sided elasticities d log(output) / d log(input), for scalar ``values``, in one array call.

        Returns ``{name: (from below, from above)}``; zero inputs and whole-number inputs are left out.
        """
        needed = self.inputs([output])
        chosen = [n for n in (inputs or needed) if n in needed and not REGISTRY[n].integer and values[n] != 0]
        table = {n: np.full(2 * len(chosen) + 1, float(values[n])) for n in needed}
        for i, name in enumerate(chosen):
            table[name][2 * i + 1] *= 1 - step
            table[name][2 * i + 2] *= 1 + step
        result = np.broadcast_to(self.solve(table, [output], check=False)[output], 2 * len(chosen) + 1)
        logs = np.log(result / result[0])
        return {
            name: (float(logs[2 * i + 1] / np.log1p(-step)), float(logs[2 * i + 2] / np.log1p(step)))
            for i, name in enumerate(chosen)
        }

    def latex(self, outputs=None) -> list[str]:
        """LaTeX of the equations, in order."""
        return [e.latex() for e in (self.order if outputs is None else self._sorted(outputs))]

    def javascript(self, outputs) -> str:
        """A JavaScript function ``(v, S) => ({values, reason})``: ``v`` the inputs, ``S`` the special functions.

        ``reason`` is null, or the words of the first condition that fails or input outside its domain.
        """
        order = self._sorted(outputs)
        inputs = self.inputs(outputs)
        used = {s.name for e in order for s in e.inputs}
        lines = ["(v, S) => {", "let reason = null;"]
        for name in inputs:
            q = REGISTRY[name]
            tests = [f"{name} {'>' if q.low_open else '>='} {q.low!r}"] if np.isfinite(q.low) else []
            tests += [f"{name} {'<' if q.high_open else '<='} {q.high!r}"] if np.isfinite(q.high) else []
            if not (np.isinf(q.high) and not q.high_open):
                tests.append(f"Number.isFinite({name})")
            lines.append(f"const {name} = v.{name};")
            lines.append(
                f"if (reason === null && !({' && '.join(tests) or 'true'})) "
                f"reason = {_js_out_of_range(name)};"
            )
        lines += [f"const {n} = {REGISTRY[n].value!r};" for n in sorted(used) if REGISTRY[n].value is not None]
        for e in order:
            lines.append(f"const {e.left.name} = {printing.write(e.right, printing.JAVASCRIPT)};")
            for condition in e.holds_when:
                test = printing.condition_text(condition.relation, printing.JAVASCRIPT)
                lines.append(f"if (reason === null && !({test})) reason = {_js_words(condition.words)};")
        lines.append(f"return {{values: {{{', '.join(sorted(outputs))}}}, reason}};")
        return "\n".join([*lines, "}"])


def domain_error(name, value) -> RleconError:
    """The error for a value outside its quantity's domain."""
    q = REGISTRY[name]
    shown = f"{value:.6g}"
    value = int(shown) if shown.lstrip("-").isdigit() else float(shown)
    return RleconError("out of range", field=name, value=value, unit=q.unit, allowed=q.domain)


def _worse(bad, more):
    return more if bad is None else bad | more


class _Shown(float):
    """A number in a message: four digits, or gigabytes with ``{name:GB}``."""

    def __format__(self, spec):
        return f"{float(self) / 1e9:.3g} GB" if spec == "GB" else f"{float(self):.4g}"


def _say(condition, values, shape=(), index=0) -> str:
    shown = {}
    for name, value in values.items():
        if f"{{{name}" in condition.words:
            shown[name] = _Shown(np.broadcast_to(value, shape).flat[index])
    return condition.words.format(**shown)


def _js_string(text: str) -> str:
    import json

    return json.dumps(text)


def _js_out_of_range(name: str) -> str:
    """The words of :func:`domain_error` in JavaScript."""
    q = REGISTRY[name]
    unit = "" if q.unit == "1" else f" {q.unit}"
    end = f"{unit}: out of range (allowed: {q.domain})"
    return f"{_js_string(f'{name} = ')} + S.show({name}, 6) + {_js_string(end)}"


def _js_words(words: str) -> str:
    import re

    parts = re.split(r"\{(\w+)(?::(GB))?\}", words)
    out = [_js_string(parts[0])]
    for name, scale, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        out += [f'S.show({name} / 1e9, 3) + " GB"' if scale else f"S.show({name})", _js_string(text)]
    return " + ".join(out)

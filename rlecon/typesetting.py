"""Equations as LaTeX that reads as a person would write it.

SymPy's own printer puts constants of counting where their names sort, prints units of one as factors of 1, and begins
differences with a minus sign. Here counts stand in front, ones vanish, a difference begins with what is taken from, and
the binary entropy is printed as the function that it is.
"""

from __future__ import annotations

import sympy as sp
from sympy.printing.latex import LatexPrinter

from rlecon.quantity import REGISTRY, Letter


class Count(Letter):
    """A number that is printed as such; its class sorts before ``Letter``, so it stands in front of a product."""

    def _latex(self, printer):
        return self.name


class _Printer(LatexPrinter):
    def _print_Add(self, expr, order=None):
        terms = self._as_ordered_terms(expr, order=order)
        if any(term.could_extract_minus_sign() for term in terms):
            terms.sort(key=lambda term: (term.could_extract_minus_sign(), bool(term.free_symbols)))
        text = ""
        for i, term in enumerate(terms):
            minus = term.could_extract_minus_sign()
            shown = self._print(-term if minus else term)
            if self._needs_add_brackets(-term if minus else term):
                shown = rf"\left({shown}\right)"
            text += (" - " if i else "- ") + shown if minus else (" + " if i else "") + shown
        return text


def entropy_of(expr):
    """The probability whose binary entropy, in bits, a ``Piecewise`` is; ``None`` for any other expression."""
    if len(expr.args) != 2 or expr.args[0][0] != 0 or not isinstance(expr.args[0][1], sp.Or):
        return None
    p = expr.args[0][1].args[0].lhs
    bits = -(p * sp.log(p) + (1 - p) * sp.log(1 - p)) / sp.log(2)
    return p if sp.expand(expr.args[1][0] - bits) == 0 else None


def latex(left, right) -> str:
    """``left = right`` as LaTeX; both are SymPy expressions in declared quantities.

    >>> from rlecon import vocabulary as v
    >>> latex(v.mixed_group_share, 1 - v.pass_rate**v.group_size)
    '\\\\mathrm{Pr}_{\\\\mathrm{mixed}} = 1 - p^{G}'
    """
    for symbol in right.free_symbols:
        known = REGISTRY.get(symbol.name)
        if known is not None and known.latex.isdigit():
            right = right.subs(symbol, 1 if known.latex == "1" else Count(known.latex, real=True))
    if not (isinstance(right, sp.Piecewise) and entropy_of(right) is not None):  # the definition itself stays
        is_entropy = lambda e: isinstance(e, sp.Piecewise) and entropy_of(e) is not None  # noqa: E731
        right = right.replace(is_entropy, lambda e: sp.Function("H")(entropy_of(e)))
    printer = _Printer({"ln_notation": True, "mul_symbol": r"\,"})
    return f"{sp.latex(left)} = {printer.doprint(right)}"

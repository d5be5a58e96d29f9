"""Whole-number arithmetic as ``$((...))`` writes it, parsed by hand: nothing is evaluated as code."""

from __future__ import annotations

import re

MAX_NEST = 30


def arithmetic(text, names):
    """The value of a shell expression over whole numbers, or None when it is not one; nothing is evaluated as code.

    >>> arithmetic("(1024 + a) * 2", {"a": 6})
    2060
    """
    if len(text) > 500:
        return None
    tokens = re.findall(r"\s*(\d{1,18}|[A-Za-z_]\w*|\*\*|[-+*/%()])", text)
    if "".join(tokens) != re.sub(r"\s+", "", text):
        return None
    tokens.append("")
    at = 0

    def take():
        nonlocal at
        at += 1
        return tokens[at - 1]

    def atom(depth):
        token = take()
        if depth > MAX_NEST:
            raise ValueError
        if token == "(":
            value = total(depth + 1)
            if take() != ")":
                raise ValueError
            return value
        if token in {"-", "+"}:
            return -atom(depth + 1) if token == "-" else atom(depth + 1)
        if token in names:
            return names[token]
        return int(token)

    def power(depth):
        base = atom(depth)
        if tokens[at] == "**":
            take()
            exponent = power(depth + 1)
            if not 0 <= exponent <= 64:
                raise ValueError
            return bounded(base**exponent)
        return base

    def product(depth):
        value = power(depth)
        while tokens[at] in {"*", "/", "%"}:
            op, right = take(), power(depth)
            if op == "*":
                value = bounded(value * right)
            else:
                quotient = abs(value) // abs(right) * (1 if (value < 0) == (right < 0) else -1)
                value = quotient if op == "/" else value - quotient * right
        return value

    def total(depth):
        value = product(depth)
        while tokens[at] in {"+", "-"}:
            op, right = take(), product(depth)
            value = bounded(value + right if op == "+" else value - right)
        return value

    def bounded(value):
        if abs(value) > 10**18:
            raise ValueError
        return value

    try:
        value = total(0)
    except (ValueError, ZeroDivisionError, IndexError):
        return None
    return value if tokens[at] == "" else None

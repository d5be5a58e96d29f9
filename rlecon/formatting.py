"""Numbers as a reader would write them, for sentences, tables and the command line: rounded once, with a unit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from rlecon.errors import RleconError

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MAX_DIGITS = 6  # more would differ between processors
THIN = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
TIMES = "\N{MULTIPLICATION SIGN}"
COUNT_PREFIXES = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
SI_PREFIXES = (
    (1e24, "Y"),
    (1e21, "Z"),
    (1e18, "E"),
    (1e15, "P"),
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "\N{GREEK SMALL LETTER MU}"),
    (1e-9, "n"),
)
DURATIONS = ((86400.0 * 3, 86400.0, "days"), (3600.0 * 2, 3600.0, "h"), (180.0, 60.0, "min"))
SI_UNITS = {"bytes": "B", "bytes/s": "B/s", "flop": "FLOP", "flop/s": "FLOP/s"}
MONEY = ("usd", "$")


def _number(value, digits: int, places: int | None = None) -> str:
    """``value`` to ``digits`` significant digits, in plain or scientific notation as a reader would write it."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    size = abs(rounded)
    if not 1e-4 <= size < 1e9:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        power = str(int(exponent)).translate(RAISED)
        text = f"{mantissa}{THIN}{TIMES}{THIN}10{power}"
    else:
        decimals = max(0, digits - 1 - math.floor(math.log10(size))) if places is None else places
        text = f"{rounded:,.{decimals}f}"
    return text.replace("-", MINUS)


def _scaled(value: float, prefixes, digits: int) -> tuple[float, str]:
    """``value`` divided by the prefix that leaves one to three digits before the point."""
    rounded = abs(float(f"{value:.{digits - 1}e}"))
    for factor, prefix in prefixes:
        if rounded >= factor:
            return value / factor, prefix
    return value, ""


def plain(value, field: str = "value"):
    """A Python ``int``, ``float`` or ``str`` for ``value``; refuses all but a finite number or a text."""
    if isinstance(value, str):
        if not value.strip():
            raise RleconError("an empty text cannot stand in a sentence", field=field)
        return value
    item = getattr(value, "item", None)
    if item is not None and getattr(value, "size", 1) == 1:
        value = item()
    elif hasattr(value, "is_number") and value.is_number:
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise RleconError("a number or a text is needed", field=field, value=type(value).__name__)
    if not math.isfinite(value):
        raise RleconError("not a finite number", field=field, value=value, advice="say in words why there is none")
    return value


def format_number(value, unit: str = "", digits: int = 3) -> str:
    """One number as a reader would write it, with its unit.

    ``unit`` may be ``"usd"``, ``"tokens"``, ``"bits"`` and other counted nouns (thousands are written out; M, B and T
    are used), ``"seconds"`` (minutes, hours or days where they read better), ``"bytes"``, ``"flop"``, ``"%"``
    (``value`` is a share, 0.37 for 37 %), ``"x"`` (a ratio), or any other text, which is appended. ``digits`` counts
    significant digits, 1 to 6; a Python ``int`` below a million is written whole.

    >>> format_number(1234567, "usd", 2), format_number(4.1e6, "tokens", 2), format_number(0.372, "%", 2)
    ('$1.2\\xa0M', '4.1\\xa0M\\xa0tokens', '37\\xa0%')
    >>> format_number(9000, "seconds"), format_number(147456, "bytes"), format_number(5.2631, "x")
    ('2.50\\xa0h', '147\\xa0kB', '5.26×')
    """
    if not 1 <= digits <= MAX_DIGITS:
        raise RleconError("too many or too few digits", field="digits", value=digits, allowed=f"1 to {MAX_DIGITS}")
    value = plain(value)
    if isinstance(value, str):
        return value
    kind = unit.lower()
    whole = isinstance(value, int) and abs(value) < 1e6
    if kind in MONEY:
        scaled, prefix = _scaled(value, COUNT_PREFIXES, digits)
        size = abs(float(f"{scaled:.{digits - 1}e}"))
        cents = 2 if not prefix and 1 <= size < 100 and digits >= 3 else None
        text = f"{abs(value):,}" if whole and not prefix else _number(abs(scaled), digits, cents)
        return (MINUS if value < 0 else "") + "$" + text + (THIN + prefix if prefix else "")
    if kind == "%":
        return _number(100 * value, digits) + THIN + "%"
    if kind == "x":
        return _number(value, digits) + TIMES
    if kind == "seconds":
        for least, size, name in DURATIONS:
            if abs(value) >= least:
                return _number(value / size, digits) + THIN + name
        if abs(value) >= 1 or value == 0:
            return _number(value, digits) + THIN + "s"
        scaled, prefix = _scaled(value, SI_PREFIXES, digits)
        return _number(scaled, digits) + THIN + prefix + "s"
    if kind in SI_UNITS:
        scaled, prefix = _scaled(value, SI_PREFIXES, digits)
        return _number(scaled, digits) + THIN + prefix + SI_UNITS[kind]
    if whole:
        text = f"{value:,}".replace("-", MINUS)
    else:
        scaled, prefix = _scaled(value, COUNT_PREFIXES, digits) if unit else (value, "")
        text = _number(scaled, digits) + (THIN + prefix if prefix else "")
    return text + (THIN + unit if unit else "")


def format_value(value, unit: str = "", digits: int = 3) -> str:
    """A number, a text, or an interval: ``(low, high)``, ``(low, mid, high)`` or an object with these attributes.

    >>> format_value((0.31, 0.37, 0.45), "%", 2)
    '37\\xa0% (31\\xa0% to 45\\xa0%)'
    """
    if all(hasattr(value, name) for name in ("low", "mid", "high")):
        value = (value.low, value.mid, value.high) if value.low is not None else value.mid
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = [format_number(v, unit, digits) for v in value]
        if len(parts) == 2:
            return f"{parts[0]} to {parts[1]}"
        if len(parts) == 3:
            return f"{parts[1]} ({parts[0]} to {parts[2]})"
        raise RleconError("an interval has two or three numbers", field="value", value=len(parts), allowed="2 or 3")
    return format_number(value, unit, digits)


def format_figure(value, unit: str = "", digits: int = 3) -> str:
    """A figure, or the words that stand for one that is no finite number.

    Units beyond those of :func:`format_number`: ``"whole"`` for a count without a fraction, ``"GB"`` for whole
    gigabytes, and ``"%"`` without digits (``digits=0``) for a share as it was typed.

    >>> format_figure(None), format_figure(float("inf")), format_figure(1023.6, "whole"), format_figure(8e10, "GB")
    ('unknown', 'without bound', '1,024', '80\\xa0GB')
    >>> format_figure(0.125, "%", 0), format_figure(0.125, "%", 2)
    ('12.5\\xa0%', '12\\xa0%')
    """
    if value is None:
        return "unknown"
    value = float(value)
    if not math.isfinite(value):
        return "without bound" if value == math.inf else "undefined"
    if unit == "whole":
        return f"{value:,.0f}"
    if unit == "GB":
        return f"{value / 1e9:,.0f}{THIN}GB"
    if unit == "%" and not digits:
        return f"{100 * value:.4g}{THIN}%"
    whole = value == int(value) and abs(value) < 1e6
    return format_number(int(value) if whole else value, unit, digits)


def spell(value: float) -> str:
    """A tick's number in words of at most a few letters: 0.05, 400, 32 k, 1.5 M, 10¹⁸.

    >>> [spell(v) for v in (0.05, -400, 32000, 1.5e6, 1e18)]
    ['0.05', '−400', '32\\xa0k', '1.5\\xa0M', '10¹⁸']
    """
    size, sign = abs(value), MINUS if value < 0 else ""
    if size == 0:
        return "0"
    if size >= 1e15 or size < 1e-4:
        exponent = math.floor(math.log10(size) + 1e-9)
        mantissa = size / 10.0**exponent
        power = "10" + str(exponent).translate(RAISED)
        return sign + (power if abs(mantissa - 1) < 1e-6 else f"{mantissa:.3g}×{power}")
    for factor, prefix in (*COUNT_PREFIXES, (1e3, "k")):
        if size >= factor * (10 if factor == 1e3 else 1):
            return f"{sign}{size / factor:.4g}{THIN}{prefix}"
    return sign + (f"{size:.4g}" if size < 1000 else f"{size:,.0f}")


def plain_spaces(text: str) -> str:
    """No-break spaces are for pages.

    >>> plain_spaces(format_number(0.25, "%", 2))
    '25 %'
    """
    return text.replace(THIN, " ")


def fill_in(text: str, values: Mapping, labels: Mapping = {}) -> str:  # noqa: B006 (never written to)
    """A sentence with its figures ``{name|unit|digits}`` and labels of settings ``{=key}`` filled in.

    >>> fill_in("{=hardware.gpu} holds {memory_bytes|GB}.", {"memory_bytes": 80e9}, {"hardware.gpu": "H100"})
    'H100 holds 80\\xa0GB.'
    """
    text = re.sub(r"\{=([\w.]+)\}", lambda m: labels[m[1]], text)
    return re.sub(
        r"\{(\w+)(?:\|([^|}]*))?(?:\|(\d))?\}",
        lambda m: format_figure(values[m[1]], m[2] or "", int(m[3] or 3)),
        text,
    )

"""Text of logs: lines streamed from files of any size and any bytes, and the numbers and pairs in them."""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from rlecon.errors import RleconError

_CHUNK, _LONGEST_LINE, _LARGEST = 1 << 20, 1 << 18, 1e18
CUT = "…"
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_WRAPPED = re.compile(r"^(?:np\.\w+|numpy\.\w+|tensor|torch\.tensor)\((.*?)(?:,[^)]*)?\)")
_LEADING = re.compile(
    r"^[~≈]?\s*([-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:\s*[-–]\s*(\d+\.?\d*))?\s*(%?)(.*)$"
)
_COLUMN = re.compile(r"[\w][\w ./@()-]{0,200}$")
# A key and a number in the shapes that frameworks print: `'key': 'value'`, `"key": value`, `key:value`, `key = value`.
_PAIR = re.compile(
    r"""(?<![\w./@-])([A-Za-z_][\w./@-]{0,119})['"]?\s{0,4}[:=]\s{0,4}['"]?(?:np\.float\d\d\(|tensor\()?"""
    r"""([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.…])"""
)


def number(text: str) -> float | None:
    """The number at the start of ``text``, or None: percent divides, a range gives its middle, a cut value nothing.

    >>> number("1.63%"), number("3597s (60 min)"), number("2.3-2.7%"), number("np.float64(0.19)"), number("0.12…")
    (0.0163, 3597.0, 0.025, 0.19, None)
    """
    try:
        value = float(text)
    except ValueError:
        value = quantity(text)[0]
    return value if value is not None and abs(value) <= _LARGEST else None


def logged(metrics: dict[str, str], key: str) -> float | None:
    """The number under a key of what a line logs, or None where it has no such key."""
    return number(metrics[key]) if key in metrics else None


def quantity(text: str) -> tuple[float | None, str]:
    """The number at the start of ``text`` and the words after it (its unit, if the log prints one)."""
    text = text[:200].strip().strip("'\"*`, ")
    if wrapped := _WRAPPED.match(text):
        text = wrapped[1]
    found = _LEADING.match(text)
    if not found or found[4].startswith((CUT, "...", "?")):
        return None, ""
    value = float(found[1].replace(",", ""))
    if found[2]:
        value = (value + float(found[2])) / 2
    if found[3]:
        value /= 100
    return (value if abs(value) <= _LARGEST else None), found[4].strip()


def ratio(over: float | None, under: float | None) -> float | None:
    """``over / under``, or None where either is unknown or the divisor is not positive."""
    return over / under if over is not None and under is not None and under > 0 else None


def product(*factors: float | None) -> float | None:
    """The product of the factors, or None where one is unknown."""
    out = 1
    for factor in factors:
        if factor is None:
            return None
        out *= factor
    return out


def whole(value: float | None, tolerance: float = 0.02) -> int | None:
    """The integer next to ``value`` when it is that near (relative), else None."""
    if value is None or not 0.5 < value < _LARGEST:
        return None
    near = round(value)
    return near if abs(value - near) <= tolerance * value and abs(value - near) < 0.25 else None


def pairs(line: str) -> dict[str, float]:
    """Every ``key: number`` of a line, whatever the quotes; of a key given twice the last counts.

    >>> pairs("{'timing/step': '286.05', \\"reward\\": 0.5, 'cut': 0.1…")
    {'timing/step': 286.05, 'reward': 0.5}
    """
    return {key: value for key, text in _PAIR.findall(line) if -_LARGEST <= (value := float(text)) <= _LARGEST}


def decimals(text: str) -> int:
    """Digits printed after the decimal point: what a rounded number can still tell.

    >>> decimals("1.789 "), decimals("8")
    (3, 0)
    """
    found = re.search(r"\.(\d+)", text[:60])
    return len(found[1]) if found else 0


def smallest_batch(*means: float | None, limit: int = 65536) -> int | None:
    """The smallest batch whose means can be exactly the printed ones: printed binary fractions reveal it.

    >>> smallest_batch(2773.71484375, 0.46484375)
    256
    """
    batch = 1
    for mean in means:
        if mean is None or abs(mean) > 1e9:
            continue
        denominator = mean.as_integer_ratio()[1]
        if denominator > limit:
            return None
        batch = max(batch, denominator)
    return batch if batch > 1 else None


def read_lines(source, progress: Callable[[int, int], None] | None = None) -> Iterator[str]:
    """The lines of a path, of bytes-like or text lines: streamed, decoded whatever the bytes, colors and bars undone.

    A last line without its line end may have been cut in the middle of a number, so it ends in an ellipsis.
    """
    if isinstance(source, str | os.PathLike):
        return _file_lines(source, progress)
    return (_clean(line.decode("utf-8", "replace") if isinstance(line, bytes) else str(line)) for line in source)


def _clean(line: str) -> str:
    if len(line) > _LONGEST_LINE:
        line = line[:_LONGEST_LINE] + CUT
    return _ANSI.sub("", line) if "\x1b" in line else line


def _file_lines(path, progress):
    try:
        handle = open(path, "rb")  # noqa: SIM115  the generator below closes it
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RleconError(f"the log cannot be opened: {reason}", field="log", value=str(path)[:200]) from error
    with handle:
        total, done, rest = os.fstat(handle.fileno()).st_size, 0, ""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := handle.read(_CHUNK):
            done += len(data)
            text = decoder.decode(data)
            if "\r" in text:
                text = text.replace("\r", "\n")
            lines = text.split("\n")
            if len(rest) <= _LONGEST_LINE:
                lines[0] = rest + lines[0]
            elif len(lines) > 1:
                lines[0] = rest
            else:
                lines[0] = rest[: _LONGEST_LINE + 1]
            rest = lines.pop()
            for line in lines:
                if line:
                    yield _clean(line)
            if progress:
                progress(done, total)
        if rest:
            yield _clean(rest) + CUT


def table_rows(*parts: Iterable[str]) -> Iterator[dict[str, str]]:
    """Rows of a comma-separated table with a header line, as dictionaries of text; the parts are read in turn."""
    rows = csv.reader(line.replace("\0", "") for line in chain(*parts))
    header: list[str] | None = None
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:
            continue
        if header is None:
            header = [cell.strip() for cell in row]
        elif len(row) == len(header):
            yield dict(zip(header, row, strict=True))


def records(lines: Iterable[str]) -> Iterator[str]:
    """Lines as they are, but for an exported table of metrics: its rows become ``{"key": value, ...}`` lines.

    A header is a first line of comma-separated cells with slashes in the framework's own key names; W&B puts the run's
    name and " - " before each key.

    >>> list(records(["Step,run - timing_s/gen,timing_s/step", "1,5.0,"]))
    ['{"step": 1, "timing_s/gen": 5.0}']
    """
    lines = iter(lines)
    first, second = next(lines, ""), next(lines, "")
    cells = [cell.strip(' "') for cell in first[:100_000].split(",")]
    header = len(cells) > 2 and first.count("/") > 1 and second.count(",") == first.count(",")
    if not header or not all(_COLUMN.match(cell) for cell in cells):
        yield from chain([first, second], lines)
        return
    keys = [cell.rpartition(" - ")[2] for cell in cells]
    keys = ["step" if key.lower() in ("step", "_step") else key for key in keys]
    for row in table_rows([",".join(f"c{i}" for i in range(len(keys)))], [second], lines):
        known = {key: text for key, text in zip(keys, row.values(), strict=True) if text.strip()}
        shown = [f'"{key}": {text}' for key, text in known.items() if not key.endswith(("__MIN", "__MAX"))]
        yield "{" + ", ".join(shown) + "}"

"""The one error type of the package, and the advice that names a near word."""

from __future__ import annotations

LONGEST = 200  # characters of a name or a value that a message repeats


def _clipped(text: str) -> str:
    """Text on one line, without control characters and not longer than a message can bear."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 20]}... ({len(text)} characters)"


class RleconError(ValueError):
    """A request that cannot be answered, said in one sentence that names what to change.

    ``field`` is the dotted name of the input at fault (``"reward.pass_rate"``), ``value`` what was given, ``unit`` its
    unit, ``allowed`` the range or the choices in words, ``advice`` what to do. All but the message are optional.

    >>> str(RleconError("out of range", field="reward.pass_rate", value=1.2, allowed="0 to 1"))
    'reward.pass_rate = 1.2: out of range (allowed: 0 to 1)'
    """

    def __init__(self, message, *, field=None, value=None, unit=None, allowed=None, advice=None):
        self.message, self.field, self.value = message, field, value
        self.unit, self.allowed, self.advice = unit, allowed, advice
        head = ""
        if field is not None:
            head = _clipped(str(field)) or "(empty)"
            if value is not None:
                head += f" = {_clipped(repr(value) if isinstance(value, str) else str(value))}"
                if unit and unit != "1":
                    head += f" {unit}"
            head += ": "
        text = head + message
        if allowed is not None:
            text += f" (allowed: {allowed})"
        if advice:
            text += f"; {advice}"
        super().__init__(text)


def nearest(word: str, words) -> str | None:
    """Advice that names the closest of ``words``, or None where none is close.

    >>> nearest("gpuss", ["gpus", "steps"])
    'did you mean gpus?'
    """
    import difflib  # only where something is wrong

    close = difflib.get_close_matches(word, list(words), 1)
    return f"did you mean {close[0]}?" if close else None

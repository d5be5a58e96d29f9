"""The one error type of the package."""

from __future__ import annotations


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
            head = str(field)
            if value is not None:
                head += f" = {value!r}" if isinstance(value, str) else f" = {value}"
                if unit and unit != "1":
                    head += f" {unit}"
            head += ": "
        text = head + message
        if allowed is not None:
            text += f" (allowed: {allowed})"
        if advice:
            text += f"; {advice}"
        super().__init__(text)

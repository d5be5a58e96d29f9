"""The keys of the run file: each reads a value in its type and bounds, or says what is allowed."""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import numpy as np

from rlecon.errors import RleconError, nearest
from rlecon.run_file import RunFile

LARGEST, LARGEST_COUNT = 1e24, 1e15  # beyond these a number is a slip, and products of several overflow


class Key:
    """One key of the run file: its type, bounds, unit, meaning and default."""

    def __init__(self, name, hint, default):
        self.name, self.default = name, default
        self.unit, self.meaning = "1", ""
        low = high = None
        low_open = high_open = False
        choices, kinds = (), set()
        todo = [hint]
        while todo:
            part = todo.pop()
            if get_origin(part) is Annotated:
                inner, *metas = get_args(part)
                for meta in metas:
                    self.meaning = meta.description or self.meaning
                    self.unit = (meta.extra or {}).get("unit", self.unit)
                    low, low_open = (meta.ge, False) if meta.ge is not None else (low, low_open)
                    low, low_open = (meta.gt, True) if meta.gt is not None else (low, low_open)
                    high, high_open = (meta.le, False) if meta.le is not None else (high, high_open)
                    high, high_open = (meta.lt, True) if meta.lt is not None else (high, high_open)
                todo.append(inner)
            elif get_origin(part) is Literal:
                choices = get_args(part)
                kinds.add(type(choices[0]))
            elif get_args(part):
                todo.extend(get_args(part))
            elif part is not type(None):
                kinds.add(part)
        self.low, self.high, self.low_open, self.high_open = low, high, low_open, high_open
        self.choices, self.kind = choices, kinds.pop()

    @property
    def allowed(self) -> str:
        if self.choices:
            return ", ".join(map(str, self.choices))
        if self.kind is bool:
            return "true, false"
        if self.kind is str:
            return "text"
        whole = "a whole number " if self.kind is int else "a number "
        if self.high is None:
            return whole + (
                "of any sign" if self.low is None else f"{'above' if self.low_open else 'of at least'} {self.low:g}"
            )
        left = f"{'above' if self.low_open else 'from'} {self.low:g}"
        return f"{whole}{left} {'below' if self.high_open else 'to'} {self.high:g}"

    def read(self, value):
        """The value in its type; raises RleconError outside type, bounds or choices."""
        fail = RleconError("not allowed", field=self.name, value=shown(value), unit=self.unit, allowed=self.allowed)
        if self.kind is str:
            if not isinstance(value, str):
                raise fail
            if self.choices and value not in self.choices:
                raise RleconError(
                    "not a choice",
                    field=self.name,
                    value=value,
                    allowed=self.allowed,
                    advice=nearest(value, self.choices),
                )
            return value
        if self.kind is bool:
            if isinstance(value, bool | np.bool_):
                return bool(value)
            if isinstance(value, np.ndarray) and value.dtype == bool:
                return value.astype(float)
            raise fail
        if isinstance(value, list | tuple | np.ndarray):
            try:
                array = np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                raise fail from None
            if not array.size or not np.all(np.isfinite(array)):
                raise fail
            least = np.abs(array[array != 0]).min(initial=self.low or 1.0)
            for item in np.unique(array) if self.choices else (array.min(), array.max(), least):
                self._check(item, fail)
            if self.kind is int and np.any(array != np.floor(array)):
                raise fail
            return array
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise fail
        if not math.isfinite(value):
            raise fail
        if self.kind is int and float(value) != math.floor(float(value)):
            raise fail
        self._check(value, fail)
        return int(value) if self.kind is int and not self.choices or self.choices else float(value)

    def _check(self, value, fail):
        if self.choices:
            if value not in self.choices:
                raise fail
            return
        below = self.low is not None and (value <= self.low if self.low_open else value < self.low)
        above = self.high is not None and (value >= self.high if self.high_open else value > self.high)
        if below or above or value != value:
            raise fail
        most = LARGEST_COUNT if self.kind is int else LARGEST
        if self.high is None and value and not 1 / LARGEST <= abs(value) <= most:
            size = f"0, or {1 / LARGEST:g} to {most:g} in size"
            raise RleconError(
                "too large or too small to be meant", field=self.name, value=value, unit=self.unit, allowed=size
            )


def shown(value):
    """A value as messages show it."""
    if isinstance(value, np.ndarray):
        return f"array of {value.shape}"
    return value if isinstance(value, str | int | float) else repr(value)


def _keys() -> dict[str, Key]:
    out = {}
    for section in RunFile.__struct_fields__:
        struct = get_type_hints(RunFile)[section]
        hints = get_type_hints(struct, include_extras=True)
        for name, default in zip(struct.__struct_fields__, struct.__struct_defaults__, strict=True):
            out[f"{section}.{name}"] = Key(f"{section}.{name}", hints[name], default)
    return out


KEYS = _keys()
SECTIONS = tuple(RunFile.__struct_fields__)
NEEDED = {
    "hardware.gpu": "a GPU of the catalogue, such as h100-sxm",
    "hardware.gpus": "how many GPUs the run rents",
    "rollout.prompts_per_step": "prompts in one step",
    "rollout.group_size": "rollouts per prompt",
    "rollout.response_tokens": "mean tokens of a response (the cap is no proxy for it)",
}

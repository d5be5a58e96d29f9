"""Numbers as JSON has them: what is unknown or infinite is null."""

from __future__ import annotations

import math

import numpy as np


def json_number(value):
    """A JSON value: a float for a scalar, a list for an array, None for what is unknown or infinite.

    >>> json_number(np.array([1.0, np.inf])), json_number(None)
    ([1.0, None], None)
    """
    if value is None:
        return None
    if np.ndim(value):
        return [json_number(v) for v in np.asarray(value).tolist()]
    value = float(value)
    return value if math.isfinite(value) else None


def json_ready(thing):
    """Dicts, lists and tuples with their floats as :func:`json_number` has them; all else as it is."""
    if isinstance(thing, dict):
        return {k: json_ready(x) for k, x in thing.items()}
    if isinstance(thing, list | tuple):
        return [json_ready(x) for x in thing]
    return json_number(thing) if isinstance(thing, float | np.floating) else thing

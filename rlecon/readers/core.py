"""What every reader shares: files of bounded size, parsed without executing anything."""

from __future__ import annotations

import json
from pathlib import Path

from rlecon.errors import RleconError


def read_text(path, limit_bytes=10_000_000):
    """Return the text of a file of at most ``limit_bytes``; undecodable bytes become replacement characters.

    Raises RleconError if the file is missing, is not a file, cannot be read, or is too large.
    """
    path = Path(path)
    try:
        if not path.is_file():
            message = "is a folder, not a file" if path.is_dir() else "no such file"
            raise RleconError(message, field=str(path))
        with path.open("rb") as stream:
            data = stream.read(limit_bytes + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, RleconError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise RleconError(f"cannot be read: {reason}", field=str(path)[:200]) from None
    if len(data) > limit_bytes:
        raise RleconError("is too large", field=str(path), allowed=f"up to {limit_bytes / 1e6:g} MB")
    return data.decode("utf-8-sig", errors="replace")


def parse_json(text, name="file"):
    """Return the JSON value in ``text``. A key given twice with different values is an error, not a choice."""

    def pairs(items):
        table = {}
        for key, value in items:
            if key in table and table[key] != value:
                raise RleconError("given twice with different values", field=f"{name}: {key[:80]}")
            table[key] = value
        return table

    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise RleconError(f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}",
                          field=name) from None
    except RecursionError:
        raise RleconError("nested too deeply", field=name) from None
    except RleconError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise RleconError(f"not readable JSON: {str(error)[:80]}", field=name) from None

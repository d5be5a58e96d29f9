"""A run: every input that moves its cost, validated, each value with where it came from.

The keys are the run file's; their units are in their names. Numbers may be arrays: they broadcast against each other,
and one call prices them all.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from rlecon.errors import RleconError
from rlecon.run_keys import KEYS, LARGEST, NEEDED, SECTIONS, shown
from rlecon.run_schema import schema

__all__ = ["KEYS", "LARGEST", "NEEDED", "SECTIONS", "Run", "parse_override", "schema"]


class Run:
    """A validated run: ``values`` by dotted key, ``origins`` saying where each came from.

    Give sections as dicts, in the run file's words:

    >>> run = Run(model={"name": "qwen3-8b"}, hardware={"gpu": "h100-sxm", "gpus": 8},
    ...           rollout={"prompts_per_step": 64, "group_size": 8, "response_tokens": 2000})
    >>> run["rollout.group_size"]
    8
    """

    def __init__(self, *, origin="given", lines=None, **sections):
        self.values: dict[str, object] = {}
        self.origins: dict[str, str] = {}
        for section, table in sections.items():
            if section not in SECTIONS:
                raise _unknown(section, SECTIONS, lines)
            if not isinstance(table, Mapping):
                raise RleconError(
                    "is a table", field=section, value=shown(table), allowed=f"[{section}] with its keys"
                )
            for key, value in table.items():
                self._put(f"{section}.{key}", value, origin, lines)
        self._fill()

    def _put(self, name, value, origin, lines=None):
        if name not in KEYS:
            raise _unknown(name, KEYS, lines)
        self.values[name] = KEYS[name].read(value)
        self.origins[name] = origin

    def _fill(self):
        for name, key in KEYS.items():
            if name not in self.values:
                self.values[name] = key.default
                self.origins[name] = "default" if key.default is not None else "not given"
        if self.values["model.algorithm"] == "ppo" and self.origins["update.critic"] == "default":
            self.values["update.critic"], self.origins["update.critic"] = True, "default of ppo"

    def __getitem__(self, name):
        return self.values[name]

    def __repr__(self):
        given = {k: v for k, v in self.values.items() if self.origins[k] not in ("default", "not given")}
        return f"Run({given})"

    def given(self) -> dict:
        """The run as nested tables, only what was given."""
        out: dict = {}
        for name, value in self.values.items():
            if self.origins[name] not in ("default", "not given", "default of ppo"):
                section, key = name.split(".")
                out.setdefault(section, {})[key] = value
        return out

    def replace(self, changes: Mapping | None = None, *, origin="changed", **sections) -> Run:
        """A new run with some keys changed (dotted keys, or sections as dicts).

        >>> Run(hardware={"gpus": 8}).replace({"hardware.gpus": 16})["hardware.gpus"]
        16
        """
        new = object.__new__(Run)
        new.values, new.origins = {}, {}
        for name, value in self.values.items():
            if self.origins[name] not in ("default", "not given", "default of ppo"):
                new.values[name], new.origins[name] = value, self.origins[name]
        changes = dict(changes or {})
        for section, table in sections.items():
            changes.update({f"{section}.{k}": v for k, v in table.items()})
        for name, value in changes.items():
            if value is None and name in KEYS:
                new.values.pop(name, None)
                new.origins.pop(name, None)
            else:
                new._put(name, value, origin)
        new._fill()
        return new

    @classmethod
    def from_text(cls, text: str, *, origin="file", title="run file", overrides=()) -> Run:
        """A run from the text of a run file.

        Parameters: ``origin`` where values then come from; ``title`` what messages call the text; ``overrides`` are
        ``"section.key=value"`` strings.
        """
        try:
            tables = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, ValueError) as error:  # an integer of thousands of digits
            raise RleconError(f"not valid TOML: {error}", field=title) from None
        except RecursionError:
            raise RleconError("nested too deeply", field=title) from None
        run = cls(origin=origin, lines=text.splitlines(), **_sections_of(tables, text))
        return run.replace(dict(map(parse_override, overrides)), origin="flag") if overrides else run

    @classmethod
    def from_file(cls, path, *, overrides=()) -> Run:
        """A run from a run file. Raises RleconError for a missing file, a typo (with line and key) or a bad value."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")  # some editors write a mark of the byte order
        except OSError as error:
            raise RleconError(f"cannot read the run file: {error.strerror}", field=str(path)) from None
        except UnicodeDecodeError:
            raise RleconError("the run file is not UTF-8 text", field=str(path)) from None
        run = cls.from_text(text, title=str(path), overrides=overrides)
        config = run["model.config"]
        if config is not None and not Path(config).is_absolute() and run.origins["model.config"] == "file":
            run.values["model.config"] = str(path.parent / config)
        return run


def _sections_of(tables, text):
    for name, table in tables.items():
        if name in SECTIONS and not isinstance(table, dict):
            raise RleconError("is a table", field=name, value=shown(table), allowed=f"[{name}] with its keys below")
        if name not in SECTIONS:
            raise _unknown(name, SECTIONS, text.splitlines())
    return tables


def parse_override(text: str):
    """``"hardware.gpus=128"`` as a key and a TOML value (bare words are text).

    >>> parse_override("rollout.engine=tuned")
    ('rollout.engine', 'tuned')
    """
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals:
        raise RleconError("an override has the form section.key=value", field="--set", value=text)
    if name not in KEYS:
        raise _unknown(name, KEYS, None)
    try:
        return name, tomllib.loads(f"v = {value}")["v"]
    except ValueError:  # also an integer of thousands of digits
        return name, value.strip()
    except RecursionError:
        raise RleconError("nested too deeply", field=name) from None


def _unknown(name, known, lines) -> RleconError:
    where = ""
    leaf = name.rsplit(".", 1)[-1]
    for number, line in enumerate(lines or (), 1):
        if re.match(rf"\s*\[?\s*[\"']?{re.escape(leaf)}[\"']?\s*[=\]]", line):
            where = f" (line {number})"
            break
    by_leaf = {k.rsplit(".", 1)[-1]: k for k in known}
    near = difflib.get_close_matches(name, known, 1) or [
        by_leaf[m] for m in difflib.get_close_matches(leaf, by_leaf, 1)
    ]
    return RleconError(
        f"no such key{where}",
        field=name,
        advice=f"did you mean {near[0]}?" if near else "see the run file's documentation for the keys",
    )

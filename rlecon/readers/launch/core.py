"""What the readers of launch configs share: settings with origins, safe parsing, interpolation, and the draft of a run.

A setting keeps the place it came from, so that every value of the run file can say why it is what it is. Nothing here
runs code from a file: shells are read, YAML is composed without constructors, and interpolation is a closed list.
"""

from __future__ import annotations

import difflib
import math
import re
import stat
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from rlecon.errors import RleconError
from rlecon.run import KEYS

MAX_BYTES = 256 * 1024
MAX_NODES = 20_000
MAX_DEPTH = 40
MAX_TEXT = 10_000
LARGEST_COUNT = 10**12


@dataclass(frozen=True)
class Unknown:
    """A value that the file gives but does not settle; ``why`` says what it depends on."""

    why: str


@dataclass(frozen=True)
class Fact:
    """A value and the words that say where it came from."""

    value: object
    words: str


@dataclass(frozen=True)
class Entry:
    """One setting as written: its key, its raw value, its line, and the file when it is not the one asked for."""

    key: str
    value: object
    line: int = 0
    source: str = ""
    given: bool = False

    @property
    def words(self):
        """Origin in words: ``data.train_batch_size=1024 (line 12)``."""
        shown = shorten(plain(self.value))
        if self.given:
            return f"given: {self.key}={shown}"
        where = " ".join(part for part in (self.source, f"line {self.line}" if self.line else "") if part)
        return f"{self.key}={shown}" + (f" ({where})" if where else "")


def shorten(text, limit=80):
    """Text on one line, printable, and at most ``limit`` characters long."""
    text = "".join(c if c.isprintable() else " " for c in str(text))
    return text if len(text) <= limit else text[: limit - 3] + "..."


def plain(value):
    """A value as configs write it: null, true, 5, text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def read_text(path):
    """The text of a config file: a regular file of at most 256 KiB, in UTF-8, without NUL bytes."""
    path = Path(path)
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            raise RleconError("not a regular file", field="config", value=str(path))
        if info.st_size > MAX_BYTES:
            raise RleconError(
                f"{info.st_size} bytes is too large for a launch config", field="config", value=str(path),
                allowed=f"at most {MAX_BYTES} bytes",
            )
        data = path.read_bytes()[: MAX_BYTES + 1]
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, RleconError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise RleconError(f"cannot be read: {reason}", field="config", value=str(path)) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RleconError(f"not UTF-8 text (byte {error.start})", field="config", value=str(path)) from None
    if "\0" in text:
        raise RleconError("holds NUL bytes: not a launch config", field="config", value=str(path))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def scalar(text):
    """The value that a command line or a plain YAML scalar means: null, true, a number, or the text itself."""
    if not isinstance(text, str):
        return text
    word = text.strip()
    if word.lower() in {"", "null", "none", "~"}:
        return None
    if word.lower() in {"true", "false"}:
        return word.lower() == "true"
    if re.fullmatch(r"[+-]?[0-9][0-9_]{0,17}", word):
        return int(word.replace("_", ""))
    if re.fullmatch(r"[+-]?([0-9]{1,18}\.?[0-9]{0,18}|\.[0-9]{1,18})([eE][+-]?[0-9]{1,3})?", word):
        return float(word)
    return word


def yaml_entries(text, source="", name=""):
    """Entries of a YAML mapping by dotted key, each with its line. No tags, no construction, no alias bombs."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = aliases = documents = 0
        for events, event in enumerate(yaml.parse(text, Loader=loader)):
            documents += isinstance(event, yaml.DocumentStartEvent)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            aliases += isinstance(event, yaml.AliasEvent)
            if depth > MAX_DEPTH or aliases > 200 or events > 4 * MAX_NODES or documents > 1:
                raise RleconError(
                    "the YAML nests, repeats itself or runs on further than a launch config does", field="config",
                    allowed=f"one document, {MAX_DEPTH} levels, 200 aliases",
                )
        root = yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, RleconError):
            raise
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or type(error).__name__
        shown = name or source or None
        raise RleconError(f"{where}not YAML ({shorten(problem)})", field="config", value=shown) from None
    if not isinstance(root, yaml.MappingNode):
        shown = name or source or None
        raise RleconError("a launch config is a mapping of keys to values", field="config", value=shown)
    entries, budget, parents = {}, [MAX_NODES], set()

    def value(node, depth):
        budget[0] -= 1
        if budget[0] < 0 or depth > MAX_DEPTH:
            raise RleconError("its aliases unfold to more than a launch config holds", field="config")
        if isinstance(node, yaml.ScalarNode):
            return node.value if node.style else scalar(node.value)
        if isinstance(node, yaml.SequenceNode):
            return [value(item, depth + 1) for item in node.value]
        return {str(getattr(k, "value", "")): value(v, depth + 1) for k, v in node.value}

    def walk(node, prefix, depth):
        budget[0] -= 1
        if budget[0] < 0 or depth > MAX_DEPTH:
            raise RleconError("its aliases unfold to more than a launch config holds", field="config")
        for name, item in node.value:
            if not isinstance(name, yaml.ScalarNode):
                continue
            if name.tag == "tag:yaml.org,2002:merge" or name.value == "<<":
                for merged in item.value if isinstance(item, yaml.SequenceNode) else [item]:
                    if isinstance(merged, yaml.MappingNode):
                        walk(merged, prefix, depth + 1)
                continue
            key = prefix + name.value
            if key in parents:
                drop(entries, key)
                parents.discard(key)
            entries.pop(key, None)
            if isinstance(item, yaml.MappingNode) and item.value:
                parents.add(key)
                walk(item, key + ".", depth + 1)
            else:
                entries[key] = Entry(key, value(item, depth), name.start_mark.line + 1, source)

    # A merge key gives defaults, so it is walked before the keys that stand beside it.
    def ordered(node):
        node.value.sort(key=lambda pair: getattr(pair[0], "value", "") != "<<")

    for node in _mappings(root):
        ordered(node)
    walk(root, "", 0)
    return entries


def _mappings(root):
    seen, todo = set(), [root]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield node
            todo.extend(item for _, item in node.value)
        elif isinstance(node, yaml.SequenceNode):
            todo.extend(node.value)


def drop(entries, key):
    """Remove ``key`` and everything below it."""
    if entries.pop(key, None) is None:
        for name in [name for name in entries if name.startswith(key + ".")]:
            del entries[name]


def toml_entries(text, source="", name=""):
    """Entries of a TOML file by dotted key; arrays of tables stay lists."""
    if any(len(line) > MAX_TEXT or line.partition("=")[0].count(".") > 100 for line in text.split("\n")):
        raise RleconError(f"has a line of more than {MAX_TEXT} characters or a key of more than 100 parts",
                          field="config", value=name or source or None)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise RleconError(f"not TOML ({shorten(error)})", field="config", value=name or source or None) from None
    lines, prefix = {}, ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := re.match(r"\s*\[{1,2}([\w.\"' -]{1,200})\]{1,2}\s*(#|$)", line):
            prefix = header[1].replace('"', "").replace("'", "").replace(" ", "") + "."
            lines.setdefault(prefix[:-1], number)
        elif key := re.match(r"\s*([\w.\"'-]{1,200})\s*=", line):
            lines.setdefault(prefix + key[1].replace('"', "").replace("'", ""), number)
    entries = {}

    def walk(table, prefix, depth):
        if depth > MAX_DEPTH or len(entries) > MAX_NODES:
            raise RleconError("nests or runs on further than a launch config does", field="config")
        for name, item in table.items():
            key = prefix + name
            if isinstance(item, dict) and item:
                entries[key] = Entry(key, "", lines.get(key, 0), source)
                walk(item, key + ".", depth + 1)
            else:
                entries[key] = Entry(key, "" if item == {} else item, lines.get(key, 0), source)

    walk(data, "", 0)
    return entries


class Settings:
    """Settings of one launch config by dotted key, asked for by type; remembers what was asked.

    ``entries`` maps a dotted key to its ``Entry``. ``OmegaConf`` references (``${a.b}``, ``${.c}``, ``${mul:a,b}``,
    ``${oc.env:X,default}``) are resolved on demand, within limits.
    """

    def __init__(self, entries):
        self.entries = dict(entries)
        self.used = set()
        self.undecided = {}

    def __contains__(self, name):
        return any(key == name or key.startswith(name + ".") for key in self.entries)

    def given(self, key, value):
        """Add a setting that the user gives beside the file; it wins."""
        drop(self.entries, key)
        self.entries[key] = Entry(key, value, given=True)

    def find(self, *names):
        """The first of ``names`` that is set and settled, as a ``Fact``, else None."""
        for name in names:
            self.used.add(name)
            entry = self.entries.get(name)
            if entry is None:
                continue
            value = entry.value
            if isinstance(value, str) and "${" in value:
                value = self._resolve(value, name, set(), [200])
            if isinstance(value, Unknown):
                self.undecided[name] = value.why
                continue
            if value is None:
                continue
            shown = entry.words
            if value is not entry.value and not isinstance(entry.value, list | dict):
                shown += f" = {shorten(plain(value))}"
            return Fact(value, shown)
        return None

    def _resolve(self, text, at, seen, budget):
        for _ in range(50):
            spot = text.rfind("${")
            if spot < 0:
                return scalar(text)
            end = text.find("}", spot)
            budget[0] -= 1
            if end < 0 or budget[0] < 0 or len(text) > MAX_TEXT:
                raise RleconError(f"the reference in {shorten(text)!r} cannot be resolved", field=at)
            value = self._refer(text[spot + 2 : end].strip(), at, seen, budget)
            if isinstance(value, Unknown) or (spot == 0 and end == len(text) - 1):
                return value
            text = text[:spot] + plain(value) + text[end + 1 :]
        return Unknown(f"{at}: too many references")

    def _refer(self, inner, at, seen, budget):
        resolver, colon, rest = inner.partition(":")
        if colon:
            parts = [part.strip() for part in rest.split(",")]
            if resolver in {"oc.env", "oc.select", "env"}:
                found = self._refer(parts[0], at, seen, budget) if resolver == "oc.select" else None
                if found is not None and not isinstance(found, Unknown):
                    return found
                default = parts[1] if len(parts) > 1 else None
                return scalar(default) if default is not None else Unknown(f"{at} is taken from {parts[0]}")
            numbers = [scalar(part) for part in parts]
            if resolver not in {"mul", "add", "sub", "div", "max", "min"} or not all(
                isinstance(number, int | float) and not isinstance(number, bool) for number in numbers
            ):
                return Unknown(f"{at} uses the resolver {shorten(inner, 40)}")
            total = numbers[0]
            for number in numbers[1:]:
                if resolver == "div" and number == 0:
                    return Unknown(f"{at} divides by zero")
                total = {
                    "mul": lambda a, b: a * b, "add": lambda a, b: a + b, "sub": lambda a, b: a - b,
                    "div": lambda a, b: a / b, "max": max, "min": min,
                }[resolver](total, number)
            return total
        name = inner
        if inner.startswith("."):
            ups = len(inner) - len(inner.lstrip("."))
            base = at.split(".")[:-ups]
            name = ".".join([*base, inner.lstrip(".")])
        if name in seen or len(seen) > MAX_DEPTH:
            raise RleconError("the references run in a circle", field=name)
        entry = self.entries.get(name)
        if entry is None:
            return Unknown(f"{at} refers to {shorten(name)}, which the file does not set")
        value = entry.value
        if isinstance(value, str) and "${" in value:
            value = self._resolve(value, name, seen | {name}, budget)
        return value

    def _typed(self, names, kind, test, convert):
        fact = self.find(*names)
        if fact is None:
            return None
        value = scalar(fact.value)
        if not test(value):
            raise RleconError(f"not {kind}", field=fact.words, allowed=kind)
        return Fact(convert(value), fact.words)

    def count(self, *names, low=1):
        """A whole number of at least ``low``, as a ``Fact``; None when no name is set."""
        return self._typed(
            names, f"a whole number from {low} to 1e12",
            lambda v: isinstance(v, int | float) and not isinstance(v, bool) and v == v
            and low <= v <= LARGEST_COUNT and v == int(v), int,
        )

    def number(self, *names, low=-1e18, high=1e18):
        """A finite number within the bounds."""
        return self._typed(
            names, f"a number from {low:g} to {high:g}",
            lambda v: isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) and low <= v <= high,
            float,
        )

    def flag(self, *names):
        """True or false; 1 and 0 count."""
        return self._typed(names, "true or false", lambda v: isinstance(v, bool) or v in (0, 1), bool)

    def text(self, *names):
        """A non-empty text."""
        fact = self.find(*names)
        if fact is None or isinstance(fact.value, list | dict | bool):
            return None
        value = str(fact.value).strip().strip("\"'")
        return Fact(value, fact.words) if value and len(value) <= 500 else None

    def on(self, *names):
        """Whether a switch is set and true."""
        fact = self.flag(*names)
        return bool(fact and fact.value)


def default(value, words):
    """A framework's documented default as a ``Fact``; ``words`` names framework, version and key."""
    return Fact(value, f"default of {words}={plain(value)}")


@dataclass(frozen=True)
class Missing:
    """One value that cost depends on and the file does not say."""

    key: str
    why: str
    how: str

    def __str__(self):
        return f"{self.key}: {self.why} -> {self.how}"


@dataclass
class Draft:
    """The run file in the making: values by dotted key with origins, notes, and reasons for what is missing."""

    framework: str
    settings: Settings
    run: dict = field(default_factory=dict)
    origins: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    reasons: dict = field(default_factory=dict)

    def put(self, key, fact, words=None):
        """Set ``key`` unless it is known already; a ``Fact`` of None or None itself sets nothing."""
        value = fact.value if isinstance(fact, Fact) else fact
        if value is None or key in self.run:
            return
        KEYS[key].read(value)
        self.run[key] = value
        self.origins[key] = words or (fact.words if isinstance(fact, Fact) else "")

    def derive(self, key, value, *facts, how=""):
        """Set a value computed from facts; the origin names them all."""
        parts = "; ".join(dict.fromkeys(fact.words for fact in facts if isinstance(fact, Fact)))
        self.put(key, value, "derived: " + (f"{how}: {parts}" if how and parts else how or parts))

    def get(self, key):
        """What is known of a run key so far, as a ``Fact``, else None."""
        return Fact(self.run[key], f"{key}: {self.origins[key]}") if key in self.run else None

    def ask(self, key, why):
        """Say why ``key`` must be given, should nobody have given it."""
        self.reasons.setdefault(key, why)

    def note(self, text):
        """Add a remark that the run file cannot hold."""
        if text not in self.notes:
            self.notes.append(text)

    def whole(self, numerator, denominator, what):
        """``numerator / denominator`` where it must come out whole."""
        if denominator <= 0 or numerator % denominator:
            raise RleconError(f"{numerator} / {denominator} is not whole", field=what, allowed="a whole number")
        return numerator // denominator

    def model(self, fact, field_name="model.name"):
        """Map a model's name to the catalogue, or ask for its config."""
        from rlecon.readers.launch.models import catalogue_name

        if fact is None:
            self.ask(field_name, "the file does not name the model")
            return
        name, how = catalogue_name(fact.value)
        if name:
            self.put(field_name, name, fact.words + how)
        else:
            self.ask(field_name, f"{shorten(fact.value)!r} ({fact.words}) is not in the catalogue")


def nearest(word, words):
    """Advice naming the closest of ``words``, or nothing."""
    close = difflib.get_close_matches(word, list(words), 1)
    return f"did you mean {close[0]}?" if close else None

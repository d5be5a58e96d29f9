"""Config files as entries by dotted key: text, YAML and TOML, read within limits. Nothing runs code from a file."""

from __future__ import annotations

import re
import stat
import tomllib
from pathlib import Path

import yaml

from rlecon.errors import RleconError
from rlecon.readers.launch.values import MAX_DEPTH, MAX_TEXT, Entry, drop, scalar, shorten

MAX_BYTES = 256 * 1024
MAX_NODES = 20_000


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

"""From the commands of a script to settings: Hydra overrides (``a.b=1``) and flags (``--a-b 1``)."""

from __future__ import annotations

import re
from dataclasses import replace

from rlecon.errors import RleconError
from rlecon.readers.launch.shell import HOLE
from rlecon.readers.launch.values import Entry, Unknown, drop, scalar, shorten

MAX_SETTINGS = 5000
KEY = r"[A-Za-z_][\w-]*(?:[./@][\w-]+)*"
OVERRIDE = re.compile(rf"(\+{{1,2}}|~)?({KEY})=(.*)", re.S)
REMOVAL = re.compile(rf"(~)({KEY})()")
FLAG = re.compile(r"--([A-Za-z][\w.-]*)(?:=(.*))?", re.S)
PROGRAM = re.compile(r"(^|/)(python[\d.]*|torchrun|accelerate|deepspeed|uv|ray|srun|bash|trl)$|\.py$")
MARKS = frozenset({
    "rollout_batch_size", "rollout.batch_size", "num_rollout", "vllm_num_engines", "vllm.num_engines",
    "actor_num_nodes", "actor.num_nodes", "rollout_num_gpus_per_engine", "num_generations",
    "per_device_train_batch_size",
})


def flag_key(key):
    """A flag as its configuration spells it.

    >>> flag_key("--max-prompt-length")
    'max_prompt_length'
    """
    return key.lstrip("-").replace("-", "_")


def _override(text):
    return OVERRIDE.fullmatch(text) or REMOVAL.fullmatch(text)


def _program(args):
    return any(PROGRAM.search(arg.text) for arg in args[:12]) or any(arg.text == "-m" for arg in args)


def _store(entries, key, raw, arg, name):
    value = Unknown(arg.why or arg.maybe) if HOLE in str(raw) else raw
    old = entries.get(key)
    if len(entries) > MAX_SETTINGS:
        raise RleconError("more settings than a launch config holds", field="config", allowed=f"{MAX_SETTINGS}")
    if arg.maybe and not isinstance(value, Unknown):
        if old is not None and old.value == value:
            return
        before = "unset" if old is None else str(old.value)[:40]
        value = Unknown(f"{before} or {raw} (line {arg.line}), by {arg.maybe}")
    entries[key] = Entry(name, value, arg.line)


def hydra_entries(script):
    """Settings from the Hydra overrides of the one launch in ``script``; later ones win.

    Raises ``RleconError`` when two commands launch, since only one of them is the run to price.
    """
    launches, loose, programs = [], [], []
    for command in script.commands:
        found = [(match, arg) for arg in command.args if (match := _override(arg.text))]
        program = _program(command.args) or not _override(command.args[0].text)
        found = [(m, arg) for m, arg in found if program or "." in m[2] or "/" in m[2] or len(found) > 1]
        if program and found:
            for arg, after in zip(command.args, [*command.args[1:], None], strict=True):
                if arg.text in {"--config", "-c"} and after is not None:
                    script.notes.append(f"line {arg.line}: settings from {shorten(after.text)} are not read; give that"
                                        " file too: rlecon import BASE THIS")
        if program:
            programs.extend(arg for arg in command.args if arg.text.endswith(".py") or ".main" in arg.text)
        if found:
            (launches if program and len(found) >= 3 else loose).append((command, found))
    sure = [command for command, _ in launches if not any(arg.maybe for arg in command.args)]
    if len(sure) > 1:
        raise RleconError(
            f"launches {len(sure)} runs (lines {', '.join(str(c.line) for c in sure[:5])})", field="config",
            advice="keep the one to price in a file of its own",
        )
    if launches and loose:
        lines = ", ".join(str(command.line) for command, _ in loose[:5])
        script.notes.append(f"overrides outside the launch command are not read (lines {lines})")
    entries, removed = {}, set()
    for _, found in launches or loose:
        for match, arg in found:
            if match[1] == "~":
                if match[2] not in removed and len(removed) < 200:
                    drop(entries, match[2])
                    removed.add(match[2])
                entries.pop(match[2], None)
            else:
                _store(entries, match[2].split("@")[0], match[3], arg, match[2])
    for arg in programs:
        entries["program"] = Entry("program", arg.text, arg.line)
    return entries


def flag_entries(script):
    """Settings from the flags of ``script``, keyed with underscores; a flag without a value is true."""
    entries, sure = {}, []
    for command in script.commands:
        name, values, holder, marks = None, [], None, set()

        def close(name, values, holder):
            if name is None:
                return
            value = True if not values else scalar(values[0]) if len(values) == 1 else [scalar(v) for v in values]
            if any(HOLE in v for v in values):
                value = Unknown(holder.why or holder.maybe)
            if isinstance(value, str) and value.startswith("--"):
                value = True
            _store(entries, name.replace("-", "_"), value, holder, "--" + name)

        for arg in command.args:
            match = FLAG.fullmatch(arg.text)
            if match or arg.text == "--":
                close(name, values, holder)
                name, values, holder = (match[1], [match[2]] if match[2] is not None else [], arg) if match else (
                    None, [], None)
                marks.add((name or "").replace("-", "_"))
                if match and match[2] is not None:
                    close(name, values, holder)
                    name, values = None, []
            elif name is not None:
                values.append(arg.text)
                if arg.why or arg.maybe:
                    holder = replace(holder, why=holder.why or arg.why, maybe=holder.maybe or arg.maybe)
            elif arg.text.endswith(".py") or ".cli." in arg.text:
                entries["program"] = Entry("program", arg.text, arg.line)
        close(name, values, holder)
        if len(marks & MARKS) >= 2 and _program(command.args) and not any(arg.maybe for arg in command.args):
            sure.append(command.line)
    if len(sure) > 1:
        raise RleconError(
            f"launches {len(sure)} runs (lines {', '.join(map(str, sure[:5]))})", field="config",
            advice="keep the one to price in a file of its own",
        )
    return entries

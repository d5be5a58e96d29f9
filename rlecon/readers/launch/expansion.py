"""Words of a shell script after expansion: what is known of variables, arrays and arithmetic, and why the rest is not.

Variables of the environment count as unset: the file is read as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rlecon.readers.launch.arithmetic import arithmetic
from rlecon.readers.launch.lexer import MAX_NEST, MAX_STEPS, fail, inside
from rlecon.readers.launch.values import MAX_TEXT, shorten

HOLE = "\0"


@dataclass(frozen=True)
class Arg:
    """One word of a command: text (with ``HOLE`` where it is not known), line, why not known, set only perhaps."""

    text: str
    line: int
    why: str = ""
    maybe: str = ""


@dataclass
class Command:
    """One command found: its words after expansion."""

    args: list
    line: int


@dataclass
class Script:
    """What a script launches: commands in order, and remarks."""

    commands: list = field(default_factory=list)
    notes: list = field(default_factory=list)


class Expansion:
    """Expands words with the values that variables have so far; counts the work."""

    def __init__(self):
        self.env, self.script = {}, Script()
        self.steps, self.calls = 0, 0

    def spend(self, line, amount=1):
        self.steps += amount
        if self.steps > MAX_STEPS:
            fail(line, "branches and calls unfold to more than a launch script does")

    def expand(self, parts, line, depth=0):
        """Parts to (text, why): text has a ``HOLE`` for what is not known."""
        if depth > MAX_NEST:
            fail(line, "expansions nest too deeply")
        self.spend(line, len(parts) // 50)
        out, why = [], ""
        for kind, body in parts:
            if kind == "lit":
                out.append(body)
                continue
            if kind == "arith":
                text, reason = self.arithmetic(body, line, depth)
            elif kind == "cmd":
                text, reason = self.substitution(body, line)
            else:
                text, reason = self.variable(body, line, depth)
            out.append(text)
            why = why or reason
        text = "".join(out)
        if len(text) > MAX_TEXT:
            return HOLE, f"line {line}: too long a value"
        return text, why

    def substitution(self, body, line):
        outputs = re.findall(r"\becho\s+[\"']?(\w+)", body)
        if {"gpu", "npu"} <= set(outputs):
            self.remark(f"line {line}: the probe for an NPU is not run; the script is read as on a GPU")
            return "gpu", ""
        return HOLE, f"the output of $({shorten(body, 60)}) on line {line}"

    def remark(self, text):
        if text not in self.script.notes and len(self.script.notes) < 50:
            self.script.notes.append(text)

    def lookup(self, name):
        """(text or None when unset, why) of a variable."""
        value = self.env.get(name)
        if value is None:
            return None, ""
        if isinstance(value, tuple):
            first = value[0] if value else Arg("", 0)
            return first.text, first.why
        return value.text, value.why or (value.maybe if HOLE in value.text else "")

    def variable(self, body, line, depth):
        match = re.match(r"(!?)([A-Za-z_]\w*|[0-9@*#?$!-])(\[[^\]]{0,100}\])?(.*)$", body, re.S)
        if not match or match[1]:
            return HOLE, f"${{{shorten(body, 60)}}} on line {line}"
        name, index, rest = match[2], match[3], match[4]
        if index and isinstance(self.env.get(name), tuple):
            array = self.env[name]
            if index in {"[@]", "[*]"}:
                text, why = " ".join(a.text for a in array)[: MAX_TEXT + 1], next((a.why for a in array if a.why), "")
            elif re.fullmatch(r"\[-?\d{1,6}\]", index) and -len(array) <= int(index[1:-1]) < len(array):
                text, why = array[int(index[1:-1])].text, array[int(index[1:-1])].why
            else:
                text, why = None, ""
        else:
            text, why = self.lookup(name)
        if name in "@*#?$!-" or (name.isdigit() and not self.calls):
            text, why = (None, "") if name.isdigit() or name in "@*" else (HOLE, f"${name} on line {line}")
        operator = re.match(r"(:?[-=?+])(.*)$", rest, re.S)
        if operator:
            op, word = operator[1], operator[2]
            empty = text is None or (op.startswith(":") and text == "")
            if op.endswith("+"):
                return ("", "") if empty else self.expand(inside(word, line), line, depth + 1)
            if not empty:
                return text, why
            if op.endswith("?"):
                return HOLE, f"${name}, which the file leaves to the environment (line {line})"
            text, why = self.expand(inside(word, line), line, depth + 1)
            if op.endswith("="):
                self.env[name] = Arg(text, line, why)
            return text, why
        if text is None:
            if name in {"HOME", "PWD", "USER"}:
                return f"${name}", ""
            return HOLE, f"${name}, which the file does not set (line {line})"
        if not rest:
            return text, why
        if HOLE in text:
            return HOLE, why
        if rest in {"^^", ",,"}:
            return (text.upper() if rest == "^^" else text.lower()), ""
        if trim := re.fullmatch(r"(##\*|%%?)(/|-|\.|_)(\*?)", rest):
            cut = trim[2]
            if trim[1] == "##*" and not trim[3]:
                return text.rsplit(cut, 1)[-1], ""
            if trim[1] != "##*" and trim[3]:
                return (text.split(cut, 1)[0] if trim[1] == "%%" else text.rsplit(cut, 1)[0]), ""
        return HOLE, f"${{{shorten(body, 60)}}} on line {line}"

    def arithmetic(self, body, line, depth):
        text, why = self.expand(inside(body, line), line, depth + 1)
        if HOLE in text:
            return HOLE, why
        names = {}
        for name in set(re.findall(r"[A-Za-z_]\w*", text)):
            value, reason = self.lookup(name)
            if value is None or not re.fullmatch(r"\s*-?\d{1,18}\s*", value):
                return HOLE, reason or f"$(({shorten(body, 60)})) on line {line}, where {name} is not a known number"
            names[name] = int(value)
        value = arithmetic(text, names)
        return (HOLE, f"$(({shorten(body, 60)})) on line {line}") if value is None else (str(value), "")

    def words(self, token):
        """The arguments one word becomes: an array expands to many, an unquoted variable splits at spaces."""
        if len(token.parts) == 1 and token.parts[0][0] == "var":
            body = token.parts[0][1]
            match = re.fullmatch(r"([A-Za-z_]\w*)\[[@*]\](?::?[-+].*)?", body, re.S)
            if match:
                value = self.env.get(match[1])
                if isinstance(value, tuple):
                    return list(value)
                return [] if value is None else [value]
            if body in {"@", "*"}:
                return []
            text, why = self.expand(token.parts, token.line)
            if not token.quoted and HOLE not in text:
                value = self.env.get(body)
                line = value.line if isinstance(value, Arg) else token.line
                return [Arg(piece, line, why) for piece in text.split()[:2000]]
            return [Arg(text, token.line, why)]
        text, why = self.expand(token.parts, token.line)
        return [Arg(text, token.line, why)]

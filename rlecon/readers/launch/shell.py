"""Reads a shell script for the arguments it would launch with, without ever running it.

Understood: assignments, ``export``, arrays and ``+=``, ``${X:-default}`` and its kin, ``$((1 + 2))``, quotes, line
continuations, comments, here-documents, ``if``/``case``/loops/functions. A condition that the file does not decide
makes what depends on it an ``Unknown``. Variables of the environment count as unset: the file is read as it stands.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatchcase

from rlecon.readers.launch.excerpt import uncut
from rlecon.readers.launch.expansion import HOLE, Arg, Command, Expansion
from rlecon.readers.launch.lexer import Parser, fail, lex
from rlecon.readers.launch.values import MAX_TEXT, shorten


class Shell(Expansion):
    """Walks the statements of a script with the values its variables would have."""

    def __init__(self):
        super().__init__()
        self.functions, self.perhaps, self.dead = {}, "", False

    # -- conditions --------------------------------------------------------------------------------------------------
    def test(self, args, line):
        """True, False or None (not decided by the file) for what stands between ``[`` and ``]``."""
        texts = [a.text for a in args]
        if len(args) > 100:
            return None
        for op in ("||", "-o", "&&", "-a"):
            if op in texts:
                spot = texts.index(op)
                left, right = self.test(args[:spot], line), self.test(args[spot + 1 :], line)
                if op in {"||", "-o"}:
                    return True if True in (left, right) else None if None in (left, right) else False
                return False if False in (left, right) else None if None in (left, right) else True
        if texts and texts[0] == "!":
            inner = self.test(args[1:], line)
            return None if inner is None else not inner
        if any(HOLE in text for text in texts):
            return None
        if len(texts) == 2 and texts[0] in {"-z", "-n"}:
            return (texts[1] == "") == (texts[0] == "-z")
        if len(texts) == 1:
            return texts[0] != ""
        if len(texts) == 3:
            left, op, right = texts
            if op in {"=", "=="}:
                return fnmatchcase(left[:200], right[:200])
            if op == "!=":
                return not fnmatchcase(left[:200], right[:200])
            if re.fullmatch(r"-?\d{1,18}", left) and re.fullmatch(r"-?\d{1,18}", right):
                a, b = int(left), int(right)
                table = {"-eq": a == b, "-ne": a != b, "-lt": a < b, "-le": a <= b, "-gt": a > b, "-ge": a >= b}
                return table.get(op)
        return None

    # -- execution ---------------------------------------------------------------------------------------------------
    def run(self, statements):
        """Run statements; returns the status of the last: True, False, None (not decided) or 'ran'."""
        status = True
        for statement in statements:
            if self.dead:
                break
            status = self.one(statement)
        return status

    def one(self, node):
        kind, line = node[0], node[-1] if isinstance(node[-1], int) else 0
        self.spend(line)
        if kind == "run":
            return self.simple(node[1], line)
        if kind == "not":
            status = self.one(node[1])
            return (not status) if isinstance(status, bool) else None
        if kind == "group":
            return self.run(node[1])
        if kind == "def":
            self.functions[node[1]] = node[2]
            return True
        if kind == "chain":
            return self.chained(node[1])
        if kind == "loop":
            why = f"the loop on line {line}"
            if node[1]:
                self.env[node[1]] = Arg(HOLE, line, why)
            self.perhaps_all([node[2]], why, leave=True)
            return True
        if kind == "case":
            return self.cases(node, line)
        arms = []
        for condition, body in node[1]:
            status = self.run(condition)
            if status is True:
                if not arms:
                    return self.run(body)
                arms.append(body)
                break
            if status is False:
                continue
            arms.append(body)
        else:
            if not arms:
                return self.run(node[2])
            arms.append(node[2])
        self.perhaps_all(arms, f"the condition on line {line}")
        return True

    def chained(self, links):
        status = self.one(links[0][1])
        for op, body in links[1:]:
            if self.dead:
                break
            if op in {"|", "|&"}:
                status = self.one(body)
            elif status is None:
                line = body[-1] if isinstance(body[-1], int) else 0
                self.perhaps_all([[body], []], f"the condition on line {line}")
            elif bool(status) == (op == "&&"):
                status = self.one(body)
        return status

    def cases(self, node, line):
        subject, why = self.expand(node[1].parts, line) if node[1] is not None else (HOLE, "")
        if HOLE not in subject:
            for patterns, body in node[2]:
                for pattern in patterns:
                    text, _ = self.expand(pattern.parts, line)
                    if HOLE in text or fnmatchcase(subject[:200], text[:200]):
                        return self.run(body)
            return True
        bodies = [body for _, body in node[2]]
        if not any(p.literal() == "*" for patterns, _ in node[2] for p in patterns):
            bodies.append([])
        self.perhaps_all(bodies, f"the choice on line {line} ({why})")
        return True

    def perhaps_all(self, bodies, why, leave=False):
        """Run each body on a copy of the variables; what then differs is not known."""
        start, before, ends = self.env, self.perhaps, []
        for body in [*bodies, []] if leave else bodies:
            self.spend(0, 1 + len(start) // 50)
            self.env, self.perhaps, self.dead = dict(start), before or why, False
            self.run(body)
            if not self.dead:
                ends.append(self.env)
        self.perhaps, self.dead = before, not ends
        self.env = merge(ends, why) if ends else start

    def assign(self, name, append, value, line):
        old = self.env.get(name)
        if isinstance(value, tuple):
            base = old if append and isinstance(old, tuple) else (old,) if append and isinstance(old, Arg) else ()
            if len(base) + len(value) > 5000:
                fail(line, "an array of more than 5,000 words")
            self.env[name] = (*base, *value)
            self.spend(line, 1 + (len(base) + len(value)) // 50)
        elif append and isinstance(old, tuple):
            self.env[name] = (replace(old[0] if old else Arg("", line), text=value.text),)
        else:
            if append and isinstance(old, Arg):
                value = Arg((old.text + value.text)[:MAX_TEXT], line, old.why or value.why)
            self.env[name] = value

    def simple(self, words, line):
        rest, declared = [], False
        for word in words:
            if isinstance(word, tuple):
                _, head, items = word
                name = "".join(p[1] for p in head.parts if p[0] == "lit").rstrip("(=")
                value = tuple(arg for item in items for arg in self.words(item))
                self.assign(name.rstrip("+"), name.endswith("+"), value, head.line)
                continue
            literal = word.literal()
            if not rest and not declared and literal in {"export", "declare", "local", "readonly", "typeset", "env"}:
                declared = literal != "env"
                continue
            match = None
            if word.parts and word.parts[0][0] == "lit" and (not rest or declared):
                head = "".join(p[1] for p in word.parts[:_leading(word.parts)])
                match = re.match(r"([A-Za-z_]\w*)(\+?)=", head)
            if match:
                text, why = self.expand(word.parts, word.line)
                value = Arg(text[match.end() :], word.line, why)
                self.assign(match[1], bool(match[2]), value, word.line)
            elif not declared:
                rest.append(word)
        if not rest:
            return True
        name = rest[0].literal()
        if name in {"[", "[[", "test"}:
            args = [arg for word in rest[1:] for arg in (self.words(word) or [Arg("", line)])]
            if args and args[-1].text in {"]", "]]"}:
                args.pop()
            return self.test(args, line)
        if name in {"true", ":"}:
            return True
        if name == "false":
            return False
        if name in {"exit", "return"}:
            self.dead = name == "exit" or self.dead
            return True
        if name in {"set", "shift", "echo", "printf", "cd", "mkdir", "sleep", "unset", "trap", "ulimit"}:
            if name == "unset":
                for word in rest[1:]:
                    self.env.pop(word.literal() or "", None)
            return "ran"
        if name in {"source", "."}:
            shown = self.expand(rest[1].parts, line)[0].replace(HOLE, "?") if len(rest) > 1 else ""
            self.remark(f"line {line}: settings from {shorten(shown)} are not read")
            return "ran"
        if name in self.functions and self.calls < 10:
            self.calls += 1
            saved = {key: self.env.get(key) for key in map(str, range(1, 10))}
            args = [arg for word in rest[1:] for arg in self.words(word)]
            for number in range(1, 10):
                self.env.pop(str(number), None)
                if number <= len(args):
                    self.env[str(number)] = args[number - 1]
            self.run(self.functions[name])
            self.env.update({key: value for key, value in saved.items() if value is not None})
            self.calls -= 1
            return "ran"
        args = [arg for word in rest for arg in self.words(word)]
        if self.perhaps:
            args = [replace(arg, maybe=self.perhaps) for arg in args]
        self.spend(line, len(args) // 50)
        if args:
            self.script.commands.append(Command(args, line))
        return "ran"


def _leading(parts):
    """How many parts at the start are literal."""
    count = 0
    for kind, _ in parts:
        if kind != "lit":
            break
        count += 1
    return count


def merge(ends, why):
    """Variables after branches: equal values stay, others become holes; array words not in all are marked."""
    if len(ends) == 1:
        return ends[0]
    merged = {}
    for name in dict.fromkeys(key for env in ends for key in env):
        values = [env.get(name) for env in ends]
        if all(value == values[0] for value in values[1:]) and values[0] is not None:
            merged[name] = values[0]
        elif any(isinstance(value, tuple) for value in values):
            arrays = [value if isinstance(value, tuple) else () for value in values]
            common = set(arrays[0]).intersection(*arrays[1:])
            longest = dict.fromkeys(arg for array in arrays for arg in array)
            merged[name] = tuple(arg if arg in common else replace(arg, maybe=why) for arg in longest)
        else:
            texts = [value.text if value is not None else "unset" for value in values]
            if len(set(texts)) == 1:
                merged[name] = values[0]
            else:
                seen = " or ".join(dict.fromkeys(shorten(text.replace(HOLE, "?"), 30) for text in texts))
                merged[name] = Arg(HOLE, 0, f"{seen}, by {why}")
    return merged


def read_script(text):
    """What ``text`` would launch: commands with expanded words, and remarks.

    >>> [a.text for a in read_script("N=${N:-4}\\npython train.py n=$((N * 2))").commands[0].args]
    ['python', 'train.py', 'n=8']
    """
    text, notes = uncut(text)
    shell = Shell()
    shell.script.notes.extend(notes)
    parser = Parser(lex(text))
    try:
        shell.run(parser.block())
    except RecursionError:
        fail(1, "blocks and calls nest deeper than a launch script does")
    return shell.script

"""From the text of a shell script to statements: words with their parts, and the blocks they stand in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rlecon.errors import RleconError

RESERVED = {"then", "elif", "else", "fi", "do", "done", "esac", "}", ";;", ")"}
MAX_STEPS = 50_000
MAX_NEST = 30


@dataclass(frozen=True)
class Token:
    kind: str
    parts: tuple
    line: int
    quoted: bool = False

    def literal(self):
        """The text of a word without quotes and expansions, else None."""
        if self.kind == "word" and not self.quoted and all(part[0] == "lit" for part in self.parts):
            return "".join(part[1] for part in self.parts)
        return None



def fail(line, what, advice=None):
    """Refuse the script for what stands on ``line`` (0: no line in particular)."""
    raise RleconError((f"line {line}: " if line else "") + what, field="config", advice=advice)


def _open(line, opener, closer):
    fail(line, f"an opening {opener} has no {closer}", "the shell would refuse it too")


def _closing(text, start, opener, closer, line):
    """Index of the ``closer`` that matches, quotes respected."""
    depth, i, quote = 0, start, ""
    while i < len(text):
        c = text[i]
        if c == "\\":
            i += 2
            continue
        if quote:
            quote = "" if c == quote else quote
        elif c == "'" or (c == '"' and closer == ")"):
            quote = c
        elif c == opener or (opener == "{" and text.startswith("${", i)):
            depth += 1
            i += c == "$"
        elif c == closer:
            if depth == 0:
                return i
            depth -= 1
        i += 1
    _open(line, opener, closer)


def _dollar(text, i, line):
    """The expansion that starts at ``text[i] == '$'``: (part or None, index after it)."""
    nxt = text[i + 1 : i + 2]
    if text.startswith("$((", i):
        end = _closing(text, i + 3, "(", ")", line)
        if text.startswith("))", end):
            return ("arith", text[i + 3 : end]), end + 2
    if nxt == "(":
        end = _closing(text, i + 2, "(", ")", line)
        return ("cmd", text[i + 2 : end]), end + 1
    if nxt == "{":
        end = _closing(text, i + 2, "{", "}", line)
        return ("var", text[i + 2 : end]), end + 1
    if match := re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]").match(text, i + 1):
        return ("var", match[0]), match.end()
    return None, i + 1


def inside(text, line):
    """Parts of a word's inside (a default in ``${X:-...}``): quotes removed, expansions found."""
    parts, i, quote = [], 0, ""
    while i < len(text):
        c = text[i]
        if c == "\\" and i + 1 < len(text) and quote != "'":
            parts.append(("lit", text[i + 1]))
            i += 2
        elif c in "\"'" and quote in ("", c):
            quote = "" if quote else c
            i += 1
        elif c == "$" and quote != "'":
            part, i = _dollar(text, i, line)
            parts.append(part or ("lit", "$"))
        else:
            parts.append(("lit", c))
            i += 1
    return tuple(parts)


def lex(text):
    """Tokens of a script: words with their parts, operators, line ends."""
    tokens, i, line, here = [], 0, 1, []
    parts, quoted, begun = [], False, 0

    double = False  # between [[ and ]], where < and > compare

    def flush():
        nonlocal parts, quoted, begun, double
        if parts or quoted:
            tokens.append(Token("word", tuple(parts), begun, quoted))
            double = (double or tokens[-1].literal() == "[[") and tokens[-1].literal() != "]]"
        parts, quoted, begun = [], False, 0

    while i < len(text):
        c = text[i]
        if not parts and not quoted:
            begun = line
        if c == "\\":
            if text.startswith("\\\n", i):
                line += 1
            elif i + 1 < len(text):
                parts.append(("lit", text[i + 1]))
            i += 2
        elif c == "\n":
            flush()
            double = False
            tokens.append(Token("op", ("\n",), line))
            line, i = line + 1, i + 1
            while here:
                word = here.pop(0)
                while i < len(text):
                    end = text.find("\n", i)
                    end = len(text) if end < 0 else end
                    row, i, line = text[i:end].strip(), end + 1, line + 1
                    if row == word:
                        break
        elif c in " \t":
            flush()
            i += 1
        elif c == "#" and not parts and not quoted:
            end = text.find("\n", i)
            i = len(text) if end < 0 else end
        elif c == "'" or (c == "$" and text.startswith("$'", i)):
            start = i + 1 + (c == "$")
            end = text.find("'", start)
            if end < 0:
                parts.append(("lit", c))
                i += 1
                continue
            parts.append(("lit", text[start:end]))
            quoted, line, i = True, line + text.count("\n", i, end), end + 1
        elif c == '"':
            end = i + 1
            within = []
            while end < len(text) and text[end] != '"':
                if text[end] == "\\" and end + 1 < len(text):
                    if text[end + 1] != "\n":
                        within.append(("lit", text[end + 1] if text[end + 1] in '"\\$`' else text[end : end + 2]))
                    end += 2
                elif text[end] == "$":
                    part, end = _dollar(text, end, line)
                    within.append(part or ("lit", "$"))
                else:
                    within.append(("lit", text[end]))
                    end += 1
            if end >= len(text):
                _open(line, '"', "end")
            parts.extend(within)
            quoted, line, i = True, line + text.count("\n", i, end), end + 1
        elif c == "$":
            part, end = _dollar(text, i, line)
            parts.append(part or ("lit", "$"))
            line, i = line + text.count("\n", i, end), end
        elif c == "`":
            end = text.find("`", i + 1)
            if end < 0:
                _open(line, "`", "end")
            parts.append(("cmd", text[i + 1 : end]))
            line, i = line + text.count("\n", i, end), end + 1
        elif c in "<>" and double:
            parts.append(("lit", c))
            i += 1
        elif c in "<>":
            if match := re.compile(r"<<-?\s*([\"']?)(\w{1,60})\1").match(text, i):
                here.append(match[2])
                flush()
                i = match.end()
                continue
            if not quoted and all(part[0] == "lit" and part[1].isdigit() for part in parts):
                parts = []
            flush()
            match = re.compile(r"[<>]+[&|]?\s*(?:-|\d+|[^\s;|&()<>]{0,300})").match(text, i)
            i = match.end() if match else i + 1
        elif c in "();|&":
            if c == "(" and re.fullmatch(r"[A-Za-z_]\w*\+?=", "".join(p[1] for p in parts if p[0] == "lit")):
                parts.append(("lit", "("))
                token = Token("array", tuple(parts), begun)
                parts, quoted = [], False
                tokens.append(token)
                i += 1
                continue
            flush()
            op = next((op for op in (";;&", ";;", ";&", "&&", "||", "|&") if text.startswith(op, i)), c)
            tokens.append(Token("op", (op,), line))
            i += len(op)
        else:
            match = re.compile(r"[^ \t\n\\'\"$`<>();|&]+").match(text, i)
            parts.append(("lit", match[0]))
            i = match.end()
        if len(tokens) > 4 * MAX_STEPS:
            fail(line, "more words than a launch script holds")
    flush()
    tokens.append(Token("op", ("\n",), line))
    return tokens


class Parser:
    """Tokens to statements: ('run', words), ('if', ...), ('case', ...), ('loop', ...), ('def', ...), ('chain', ...)."""

    def __init__(self, tokens):
        self.tokens, self.at, self.depth = tokens, 0, 0

    def _op(self, *ops):
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        return token is not None and token.kind == "op" and token.parts[0] in ops

    def _word(self):
        return self.tokens[self.at].literal() if self.at < len(self.tokens) else None

    def block(self, stops=()):
        """Statements up to one of the words or operators in ``stops``; a cut file may end sooner."""
        self.depth += 1
        if self.depth > MAX_NEST:
            fail(self.tokens[min(self.at, len(self.tokens) - 1)].line, "nests deeper than a launch script does")
        found = []
        while self.at < len(self.tokens):
            before = self.at
            if self._op("\n", ";", "&"):
                self.at += 1
                continue
            if self._word() in stops or (self._op(")", ";;", ";&", ";;&") and self.tokens[self.at].parts[0] in stops):
                break
            if self._word() in RESERVED or self._op(")", ";;", ";&", ";;&"):
                self.at += 1  # left over from a block whose head was cut off
                continue
            found.append(self.chain())
            if self.at == before:
                self.at += 1
        self.depth -= 1
        return found

    def chain(self):
        links = [("", self.statement())]
        while self._op("&&", "||", "|", "|&"):
            op = self.tokens[self.at].parts[0]
            self.at += 1
            while self._op("\n"):
                self.at += 1
            links.append((op, self.statement()))
        return links[0][1] if len(links) == 1 else ("chain", links)

    def _skip(self, word):
        if self._word() == word:
            self.at += 1

    def statement(self):
        line = self.tokens[self.at].line if self.at < len(self.tokens) else 0
        word = self._word()
        if word == "!":
            odd = False
            while self._word() == "!":
                self.at, odd = self.at + 1, not odd
            return ("not", self.statement(), line) if odd else self.statement()
        if word == "if":
            self.at += 1
            arms, other = [], None
            while True:
                condition = self.block(("then", "fi"))
                self._skip("then")
                arms.append((condition, self.block(("elif", "else", "fi"))))
                if self._word() != "elif":
                    break
                self.at += 1
            if self._word() == "else":
                self.at += 1
                other = self.block(("fi",))
            self._skip("fi")
            return ("if", arms, other or [], line)
        if word == "case":
            return self._case(line)
        if word in {"for", "while", "until", "select"}:
            names = []
            while self.at < len(self.tokens) and self._word() != "do":
                if word == "for" and self.tokens[self.at].kind == "word":
                    names.append(self.tokens[self.at].literal() or "")
                self.at += 1
            self._skip("do")
            body = self.block(("done",))
            self._skip("done")
            return ("loop", names[1] if len(names) > 1 else "", body, line)
        if word == "{" or self._op("("):
            self.at += 1
            stop = "}" if word == "{" else ")"
            body = self.block((stop,))
            self.at += self._word() == stop or self._op(stop)
            return ("group", body, line)
        if word == "function" or (
            word and re.fullmatch(r"[\w-]+", word) and self.at + 2 < len(self.tokens)
            and self.tokens[self.at + 1].parts == ("(",) and self.tokens[self.at + 2].parts == (")",)
        ):
            self.at += word == "function"
            name = self._word() or ""
            self.at += 1
            while self._op("(", ")", "\n"):
                self.at += 1
            self._skip("{")
            body = self.block(("}",))
            self._skip("}")
            return ("def", name, body, line)
        return self._simple(line)

    def _case(self, line):
        self.at += 1
        here = self.tokens[self.at] if self.at < len(self.tokens) else None
        subject = here if here is not None and here.kind == "word" else None
        self.at += subject is not None
        clauses = []
        while self._op("\n"):
            self.at += 1
        self._skip("in")
        while self.at < len(self.tokens) and self._word() != "esac":
            patterns = []
            while self.at < len(self.tokens) and not self._op(")") and self._word() != "esac":
                if self.tokens[self.at].kind == "word":
                    patterns.append(self.tokens[self.at])
                self.at += 1
            if self._word() == "esac":
                break
            self.at += 1
            clauses.append((patterns, self.block((";;", ";&", ";;&", "esac"))))
            if self._op(";;", ";&", ";;&"):
                self.at += 1
            while self._op("\n", ";"):
                self.at += 1
        self._skip("esac")
        return ("case", subject, clauses, line)

    def _simple(self, line):
        words = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "op":
                if not (words and token.parts[0] != "\n" and isinstance(words[0], Token) and words[0].literal() == "[["
                        and not (isinstance(words[-1], Token) and words[-1].literal() == "]]")):
                    break
                token = Token("word", (("lit", token.parts[0]),), token.line)
            self.at += 1
            if token.kind == "array":
                start, items = self.at, []
                while self.at < len(self.tokens) and not self._op(")"):
                    if self.tokens[self.at].kind == "word":
                        items.append(self.tokens[self.at])
                    self.at += 1
                if self.at >= len(self.tokens):
                    self.at = start  # never closed: the rest of the file is read as lines of their own
                    break
                self.at += 1
                words.append(("array", token, items))
            else:
                words.append(token)
        return ("run", words, line)

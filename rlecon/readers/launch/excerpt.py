"""Excerpts of scripts whose ``if`` and ``case`` lines were cut away: branches told by their indentation."""

from __future__ import annotations

import re

from rlecon.readers.launch.values import shorten

MAX_NEST = 30
BLOCK = re.compile(r"^[ \t]*(if|case|for|while|until|function|select)\b|;;|^[ \t]*(fi|esac|done)\b|\(\)\s*\{", re.M)
SET = re.compile(r"^([ \t]+)([A-Za-z_]\w*)=")


def uncut(text):
    """Choose among branches whose ``if`` or ``case`` lines were cut from an excerpt, told by their indentation.

    Where no block keyword is left but assignments are indented, a variable set twice at one depth tells two
    alternatives. Those that mention an NPU are dropped (a GPU run is priced), and of the rest the last is taken: shells
    put the catch-all last. Returns the text with the other lines blanked, and remarks that say so.
    """
    if BLOCK.search(text):
        return text, []
    lines, notes, inside, i = text.split("\n"), [], False, 0
    depth = [len(line) - len(line.lstrip()) if line.strip() else 10**6 for line in lines]
    while i < len(lines):
        if re.match(r"\s*\w+\+?=\(\s*(#.*)?$", lines[i]):
            inside = True
        elif re.match(r"\s*\)", lines[i]):
            inside = False
        elif SET.match(lines[i]) and not inside and (i == 0 or not lines[i - 1].rstrip().endswith("\\")):
            end = i
            while end < len(lines) and depth[end] >= depth[i]:
                end += 1
            kept = _choose(lines, depth, range(i, end), 0)
            gone = [n for n in range(i, end) if n not in kept and lines[n].strip()]
            if gone:
                taken = ", ".join(f"{n + 1}: {lines[n].strip()}" for n in sorted(kept) if SET.match(lines[n]))
                notes.append(
                    f"lines {i + 1} to {end} are branches whose conditions are not in the file; read as on a GPU with"
                    f" the last alternative ({shorten(taken, 300)}); give --set KEY=VALUE to choose otherwise"
                )
                for n in gone:
                    lines[n] = ""
            i = end
            continue
        i += 1
    return "\n".join(lines), notes


def _choose(lines, depth, rows, level):
    if not rows or level > MAX_NEST:
        return set()
    base = depth[rows[0]]
    alternatives, names, children = [[]], set(), []
    for n in rows:
        match = SET.match(lines[n])
        if depth[n] <= base and match:
            if match[2] in names:
                alternatives.append([])
                names = set()
            names.add(match[2])
        alternatives[-1].append(n)
    fit = [rows_ for rows_ in alternatives if not any(re.search("npu|ascend", lines[n], re.I) for n in rows_)]
    chosen = (fit or alternatives)[-1]
    kept = set()
    for n in chosen:
        if depth[n] <= base:
            kept |= _choose(lines, depth, children, level + 1) if children else set()
            children = []
            if SET.match(lines[n]):
                kept.add(n)
        else:
            children.append(n)
    return kept | (_choose(lines, depth, children, level + 1) if children else set())

"""How much room a formula will take once MathJax has drawn it, so that the page keeps its place and nothing jumps.

Sizes are those of MathJax's font at the page's text size: heights as measured, widths by least squares over the book's
own inline formulas (half of them within an eighth of an em). An estimate that is off shifts a line and changes no text.
"""

from __future__ import annotations

import re
from html import unescape

DISPLAYED = re.compile(r'<div class="(math notranslate nohighlight)"([^>]*)>(.*?)</div>', re.DOTALL)
INLINE = re.compile(r'<span class="(math notranslate nohighlight)"([^>]*)>\\\((.*?)\\\)</span>', re.DOTALL)

HIGH = re.compile(r"\\[dt]?frac|\\int|\\(?:max|min)_")
HIGHER = re.compile(r"\\(?:sum|prod|substack)|brace")
PIXELS = {"around": 44, "row": 32, "high row": 60, "higher row": 70}

STYLING = re.compile(r"\\(?:mathrm|text|operatorname|mathbf|tilde|hat|bar|left|right|displaystyle|limits|!)\b")
SCRIPTS = re.compile(r"[_^](?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\\[a-zA-Z]+|[^\\{]))")
WORDS = re.compile(r"\\(ln|log|exp|min|max|arcsin|Pr)\b")
RELATIONS = re.compile(r"\\(?:to|le|ge|leq|geq|approx|times|cdot|sim|in|ll|gg|neq|propto|int|sum)\b|[=<>+-]")
EM = {"level": 1.32, "small": 0.89, "relation": 1.56, "around": 0.14}


def height(latex: str) -> int:
    """About how many pixels a displayed formula takes."""
    rows = re.split(r"\\\\(?![a-zA-Z])", re.sub(r"\\(?:begin|end)\{[a-z*]+\}", "", latex).strip())
    kinds = ["higher row" if HIGHER.search(row) else "high row" if HIGH.search(row) else "row" for row in rows]
    return PIXELS["around"] + sum(PIXELS[kind] for kind in kinds)


def _letters(part: str) -> float:
    part = re.sub(r"\\[a-zA-Z]+", "x", WORDS.sub(r"\1", part))
    widths = {**dict.fromkeys("ijltfI,.()[]|!'", 0.33), **dict.fromkeys("mwMW", 0.87), **dict.fromkeys(" \n{}\\", 0.0)}
    return sum(widths.get(letter, 0.72 if letter.isupper() else 0.52) for letter in part)


def width(latex: str) -> float:
    """About how many em an inline formula takes."""
    text = re.sub(r"\\[,;:! ]", " ", STYLING.sub("", unescape(latex)))
    small = sum(_letters(one or other) for one, other in SCRIPTS.findall(text))
    level = SCRIPTS.sub("", text)
    relations = len(RELATIONS.findall(level))
    letters = _letters(RELATIONS.sub("", level))
    return EM["level"] * letters + EM["small"] * small + EM["relation"] * relations + EM["around"]


def with_places(page: str) -> str:
    """``page`` with the size to come on each formula that names none yet."""

    def displayed(m):
        return m[0] if "style=" in m[2] else f'<div class="{m[1]}" style="--tall:{height(m[3])}px"{m[2]}>{m[3]}</div>'

    def inline(m):
        size = f"--wide:{width(m[3]):.2f}em"
        return m[0] if "style=" in m[2] else f'<span class="{m[1]}" style="{size}"{m[2]}>\\({m[3]}\\)</span>'

    return DISPLAYED.sub(displayed, INLINE.sub(inline, page))

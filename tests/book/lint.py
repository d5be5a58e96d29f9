"""What a chapter's pair of files must satisfy. Each check takes parsed files and returns a list of complaints.

nbval compares outputs; these checks see what it cannot: cells that never ran, prose with typed numbers, missing
captions, pairs out of step. CONTRIBUTING.md ("A finished chapter") states the rules in words.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
CITATION = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")
MAX_CELL_LINES, MAX_CODE_COLUMNS, MIN_ALT = 40, 88, 40


def load(path: Path) -> dict:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def text_of(value) -> str:
    return value if isinstance(value, str) else "".join(value)


def code_cells(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def prose(notebook: dict) -> str:
    """All Markdown cells, in order, one blank line between them."""
    return "\n\n".join(text_of(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown")


# --- execution --------------------------------------------------------------------------------------------------------


def execution(notebook: dict) -> list[str]:
    """Every code cell ran, once, in order, without errors or noise, and nothing hides from nbval."""
    found = []
    for place, cell in enumerate(code_cells(notebook), 1):
        source, where = text_of(cell["source"]), f"code cell {place}"
        if cell.get("execution_count") != place:
            found.append(f"{where}: execution count {cell.get('execution_count')}, expected {place}")
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                found.append(f"{where}: an error is stored: {output.get('ename')}")
            if output.get("name") == "stderr":
                found.append(f"{where}: text on stderr: {text_of(output['text'])[:80]!r}")
        tags = cell.get("metadata", {}).get("tags", [])
        if re.search(r"NBVAL_|nbval-", source + " ".join(tags), re.IGNORECASE) or "raises-exception" in tags:
            found.append(f"{where}: hides its output from validation")
    return found


SHOWING = {"show", "say", "display", "print", "table"}


def shows_something(source: str) -> bool:
    """Whether a cell's code leaves an output for sure: it ends in a value, or calls something that shows."""
    try:
        body = ast.parse(re.sub(r"^\s*[%!].*$", "", source, flags=re.MULTILINE)).body
    except SyntaxError:
        return False
    calls = [s.value for s in body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)]
    names = {getattr(call.func, "attr", getattr(call.func, "id", "")) for call in calls}
    last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    ends_in_value = (
        last is not None and not isinstance(last, (ast.Call, ast.Constant)) and not source.rstrip().endswith(";")
    )
    return bool(names & SHOWING) or ends_in_value


def stripped(notebook: dict) -> list[str]:
    """Cells that show something must hold an output."""
    return [
        f"code cell {place}: its output was stripped"
        for place, cell in enumerate(code_cells(notebook), 1)
        if shows_something(text_of(cell["source"])) and not cell.get("outputs")
    ]


def glued(notebook: dict) -> dict[str, str]:
    """Key and text of every number that the cells of a notebook put out for sentences."""
    found = {}
    for cell in code_cells(notebook):
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name:
                for kind, data in output["data"].items():
                    if kind.endswith("text/plain"):
                        found[name] = text_of(data).strip("'\"")
    return found


def glue_keys(notebook: dict) -> list[str]:
    """Each pasted key is made by a cell, once, and each made key is pasted."""
    pasted = set(re.findall(r"\{glue(?::\w+)?\}`([^`]+)`", everything_written(notebook)))
    names = [
        output["metadata"]["scrapbook"]["name"]
        for cell in code_cells(notebook)
        for output in cell.get("outputs", [])
        if "scrapbook" in output.get("metadata", {})
    ]
    found = [f"{key!r} is pasted, and no cell says it" for key in sorted(pasted - set(names))]
    found += [f"{key!r} is said twice" for key in sorted({name for name in names if names.count(name) > 1})]
    found += [f"{key!r} is said, and no sentence uses it" for key in sorted(set(names) - pasted)]
    found += [f"{key!r} is blank" for key, text in glued(notebook).items() if not text.strip()]
    return found


def everything_written(notebook: dict) -> str:
    """Prose, captions, and Markdown that cells put out: wherever a role can stand."""
    pieces = [prose(notebook)]
    for cell in code_cells(notebook):
        pieces.append(json.dumps(cell.get("metadata", {}).get("mystnb", {}), ensure_ascii=False))
        for output in cell.get("outputs", []):
            pieces.append(text_of(output.get("data", {}).get("text/markdown", "")))
    return "\n".join(pieces)


# --- figures, code, citations, pairs ----------------------------------------------------------------------------------


def figures(notebook: dict) -> list[str]:
    """Each picture is SVG with an alt text that says what one learns, a caption and a name."""
    found, names = [], []
    for place, cell in enumerate(code_cells(notebook), 1):
        kinds = [k for o in cell.get("outputs", []) for k in o.get("data", {}) if k.startswith("image/")]
        if not kinds:
            continue
        where, settings = f"code cell {place}", cell.get("metadata", {}).get("mystnb", {})
        alt = str(settings.get("image", {}).get("alt", ""))
        caption, name = (str(settings.get("figure", {}).get(key, "")) for key in ("caption", "name"))
        if set(kinds) != {"image/svg+xml"} or len(kinds) != 1:
            found.append(f"{where}: one SVG picture is needed, not {kinds}")
        if len(alt) < MIN_ALT or re.fullmatch(r"\S+", alt):
            found.append(f"{where}: its alt text is missing or says too little: {alt!r}")
        if alt and alt == caption:
            found.append(f"{where}: alt text and caption are the same")
        if len(caption) < MIN_ALT / 2:
            found.append(f"{where}: its caption is missing or says too little: {caption!r}")
        if not re.fullmatch(r"fig-[a-z0-9-]+", name):
            found.append(f"{where}: its name is missing or not fig-...: {name!r}")
        names.append(name)
    return found + [
        f"two figures are named {name!r}" for name in sorted({n for n in names if n and names.count(n) > 1})
    ]


def code_shape(notebook: dict) -> list[str]:
    """No cell above 40 lines, nine in ten under 20, no line above 88 characters."""
    found, lengths = [], []
    for place, cell in enumerate(code_cells(notebook), 1):
        lines = text_of(cell["source"]).splitlines()
        lengths.append(len(lines))
        if len(lines) > MAX_CELL_LINES:
            found.append(f"code cell {place}: {len(lines)} lines, at most {MAX_CELL_LINES}")
        long = [line for line in lines if len(line) > MAX_CODE_COLUMNS]
        found += [f"code cell {place}: a line of {len(line)} characters: {line[:40]}..." for line in long]
    if lengths and sum(n >= 20 for n in lengths) > max(1, 0.1 * len(lengths)):
        found.append(f"{sum(n >= 20 for n in lengths)} of {len(lengths)} code cells have 20 lines or more")
    return found


def bibliography(path: Path = BOOK / "references.bib") -> set[str]:
    """Keys of a BibTeX file."""
    return set(re.findall(r"^\s*@\w+\s*\{\s*([^,\s]+)\s*,", path.read_text(encoding="utf-8"), re.MULTILINE))


def cited(notebook: dict) -> set[str]:
    return {key.strip() for keys in CITATION.findall(everything_written(notebook)) for key in keys.split(",")}


def citations(notebook: dict, known: set[str], *, needed: bool = True) -> list[str]:
    """Every cited key exists; a chapter cites something."""
    keys = cited(notebook)
    found = [f"cites {key!r}, which references.bib does not hold" for key in sorted(keys - known)]
    return found + (["cites nothing"] if needed and not keys else [])


def pair(notebook: dict, source: Path) -> list[str]:
    """The text and the notebook hold the same cells."""
    from rlecon.book import read_text

    stored = [(c["cell_type"], text_of(c["source"]), marks(c)) for c in notebook["cells"]]
    written = [(c["cell_type"], text_of(c["source"]), marks(c)) for c in read_text(source).cells]
    if len(stored) != len(written):
        return [f"the text has {len(written)} cells, the notebook {len(stored)}"]
    differ = [i for i, (a, b) in enumerate(zip(written, stored, strict=True), 1) if a != b]
    return [f"cell {i} differs between the text and the notebook" for i in differ]


def marks(cell: dict) -> dict:
    """The metadata of a cell that both files hold."""
    return json.loads(json.dumps(dict(cell.get("metadata", {}))))


# --- numbers in prose -------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"(?<![\w.])[$€]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?!\d)")
SPELLED = (
    "thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    "ninety|hundred|thousand|million|billion|trillion"
)
SPELLED_RESULT = re.compile(
    rf"\b(?:(?:{SPELLED})(?:[- ]\w+)?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"[ -](?:percent|per cent)\b|"
    rf"\b(?:{SPELLED})(?:[- ](?:one|two|three|four|five|six|seven|eight|nine|hundred|thousand))*[ -](?:times|fold)\b",
    re.IGNORECASE,
)
SMALL = 12  # whole numbers up to here may be written: "2 GPUs", "3 of 4"
RESULT_MARK = re.compile(
    r"^[\s\u00a0]*(?:%|\\%|×|x\b|times\b|-?fold\b|percent\b|per cent\b|[kMBT]\b|GB\b|TB\b|±|s\b|ms\b|"
    r"(?:second|minute|hour|day|week|month|year|dollar|cent|token|GPU-hour|FLOP)s?\b)"
)
# Forms that define or name, and measure nothing.
DEFINITIONAL = [
    r"\b(?:19|20)\d\d\b(?!\s*(?:%|×|x\b|tokens|GPU))",  # years
    r"\b\d{1,2}-bit\b|\b(?:4|8|16|32|64) bits?\b",  # formats
    r"\b(?:50|80|90|95|99) % (?:confidence |credible )?(?:interval|range|coverage)s?\b",
    r"\b\d{1,2}/\d{1,2}\b(?! %)",  # simple fractions
    r"\b(?:chapter|section|figure|table|equation|exercise|part|step|level|version|python)s? \d+(?:\.\d+)*\b",
    r"\b\d+(?:\.\d+)?B(?:-A\d+(?:\.\d+)?B)?\b",  # sizes of models: 8B, 30B-A3B
    r"\bpass@\d+\b|\btop-\d+\b|\bbest-of-\d+\b",
]
PURE_MATH_NUMBER = re.compile(r"^[\s$]*[\d.,]+\s*(?:\\times|\\%|%|\\,|\\text\{[^}]*\}|\s)*\$?$")


def inline_formula(match: re.Match) -> str:
    """A formula is left out, but a formula that is only a number is read as that number."""
    inside = match.group(1)
    return inside.replace("\\%", "%") if PURE_MATH_NUMBER.match(inside) else " FORMULA "


def sentences(markdown: str) -> list[str]:
    """Sentences, list items and table rows of a Markdown text; code, formulas and directive options are gone."""
    text = re.sub(r"<!--.*?-->", " ", markdown, flags=re.DOTALL)
    fence = r"^\s*(```+|~~~+)\{(?:math|code|code-block|calculator|bibliography|raw)[^\n]*\n.*?^\s*\1\s*$"
    text = re.sub(fence, "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\s*(```+)\s*(?:\w[^\n{]*)?\n.*?^\s*\1\s*$", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\s*:::+\{math\}.*?^\s*:::+\s*$", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\s*(?:```+|:::+)(?:\{[^}]*\})?[ \t]*(.*)$", r"\n\n\1\n", text, flags=re.MULTILINE)  # titles stay
    text = re.sub(r"^\s*:[\w-]+:.*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*(?:\([\w:-]+\)=|\{[.#][^}\n]*\}|%.*)\s*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"\$\$.*?\$\$", " FORMULA ", text, flags=re.DOTALL)
    text = re.sub(r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", " FORMULA ", text, flags=re.DOTALL)
    text = re.sub(r"(?<![\\\w$])\$(?!\s)([^$\n]+(?:\n[^$\n]+)?)(?<![\s\\])\$(?!\d)", inline_formula, text)
    text = re.sub(r"\{glue(?::\w+)?\}`[^`]*`", " COMPUTED ", text)
    text = CITATION.sub(" CITED ", text)
    text = re.sub(r"\{[\w:-]+\}`(?:([^`<]*)<[^`]*>|[^`]*)`", r" \1 ", text)
    text = re.sub(r"``[^`]+``|`[^`\n]+`", " CODE ", text)
    text = re.sub(r"\]\([^)\s]*\)", "] ", text)
    text = re.sub(r"<?https?://[^\s>)]+>?", " LINK ", text)
    text = re.sub(r"^\s*(?:\d{1,2}[.)]|[-*+])\s+", "\n\n", text, flags=re.MULTILINE)  # list items
    text = re.sub(r"^\s*\|?[\s:|-]*-{3,}[\s:|-]*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*(\|.*\|)\s*$", r"\n\n\1\n\n", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*#+\s+(.*)$", r"\n\n\1\n\n", text, flags=re.MULTILINE)
    found = []
    for block in re.split(r"\n\s*\n", text):
        block = " ".join(block.split())
        found += [s for s in re.split(r"(?<=[.!?])[\"”')*_]*\s+(?=[A-Z\"“(\[*_$])", block) if s.strip()]
    return found


def typed_numbers(notebook: dict) -> list[str]:
    """Numbers that a hand typed into prose, captions or alt texts, and no citation covers."""
    written = prose(notebook)
    for cell in code_cells(notebook):
        settings = cell.get("metadata", {}).get("mystnb", {})
        captions = (settings.get("figure", {}).get("caption"), settings.get("image", {}).get("alt"))
        written += "".join(f"\n\n{text}\n\n" for text in captions if text)
    found = []
    for sentence in sentences(written):
        if "CITED" in sentence:
            continue
        rest = sentence
        for form in DEFINITIONAL:
            rest = re.sub(form, " ", rest, flags=re.IGNORECASE)
        for match in NUMBER.finditer(rest):
            after = rest[match.end() :]
            if re.match(r"-?[A-Za-z]", after) and not RESULT_MARK.match(after):
                continue  # a name, such as 3D or 2-GRPO
            if re.search(r"\b[A-Za-z][\w.]*(?:-[\w.]+)*-$", rest[: match.start()]):
                continue  # a name, such as GPT-4 or Qwen3-8B
            plain = re.fullmatch(r"\d+", match.group())
            if plain and int(match.group()) <= SMALL and not RESULT_MARK.match(after):
                continue
            found.append(f"typed number {match.group()!r} in: {sentence[:100]}")
        found += [f"typed number {m.group()!r} in: {sentence[:100]}" for m in SPELLED_RESULT.finditer(rest)]
    return found


# --- the shape of a chapter -------------------------------------------------------------------------------------------

WORDS = {"bits-per-token": (1800, 5000)}
USUAL_WORDS = (1800, 3500)


def words(notebook: dict) -> int:
    return sum(len(re.findall(r"[A-Za-z][\w'’-]*", sentence)) for sentence in sentences(prose(notebook)))


def headings(text: str) -> list[tuple[int, str]]:
    bare = re.sub(r"^(```+).*?^\1\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    return [(len(m.group(1)), m.group(2).strip()) for m in re.finditer(r"^(#+)\s+(.+)$", bare, re.MULTILINE)]


def structure(notebook: dict) -> list[str]:
    """The parts that a reader finds in every chapter, in order."""
    text, found = prose(notebook), []
    titles = headings(text)
    if not titles or titles[0][0] != 1 or sum(level == 1 for level, _ in titles) != 1:
        found.append("one title (a single #) must come first")
    opening = text.split("\n## ")[0]
    if not re.search(r"^\{\.lede\}\s*\n\S", opening, re.MULTILINE):
        found.append("no line under the title, marked {.lede}")
    if not re.search(r"^\{\.holds\}\s*\n\s*Holds when\b", opening, re.MULTILINE):
        found.append("no line 'Holds when ...' under the title, marked {.holds}")
    options = r"(?::[\w-]+:[^\n]*\n)*?"
    box_pattern = rf"^(:::+|```+)\{{admonition\}}[^\n]*\n{options}:class:\s*answer\b.*?^\1\s*$"
    box = re.search(box_pattern, text, re.DOTALL | re.MULTILINE)
    if not box:
        found.append("no answer box (an admonition of class answer)")
    else:
        count = sum(len(sentence.split()) for sentence in sentences(text[: box.start()]))
        if not 60 <= count <= 220:
            found.append(f"the opening before the answer box has {count} words, 60 to 220 are needed")
        if "{glue" not in box.group():
            found.append("the answer box holds no computed number")
        if "$" not in box.group() and "{math}" not in box.group():
            found.append("the answer box holds no formula")
    if "{calculator}" not in text:
        found.append("no live calculator")
    fence = r"^(?:```+|:::+)"
    labels = re.findall(rf"{fence}\{{exercise(?:-start)?\}}[^\n]*\n{options}:label:\s*(\S+)", text, re.MULTILINE)
    answers = re.findall(rf"{fence}\{{solution(?:-start)?\}}\s*(\S+)", text, re.MULTILINE)
    if not 3 <= len(labels) <= 5:
        found.append(f"{len(labels)} labeled exercises, 3 to 5 are needed")
    found += [f"exercise {label!r} has no solution" for label in labels if label not in answers]
    found += [f"the solution of {label!r} has no exercise" for label in answers if label not in labels]
    seconds = [title.lower() for level, title in titles if level == 2]
    if "in short" not in seconds:
        found.append("no section 'In short'")
    elif seconds.index("in short") < len(seconds) - 2:
        found.append("'In short' is not at the end")
    least, most = WORDS.get(notebook.get("slug", ""), USUAL_WORDS)
    if not least <= words(notebook) <= most:
        found.append(f"{words(notebook)} words, {least} to {most} are needed")
    return found

"""What a built page must satisfy, read from its HTML. Each check returns a list of complaints."""

from __future__ import annotations

import re
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LEFT_OVER = {
    "a traceback": re.compile(r"Traceback \(most recent call last\)"),
    "a blank pasted number": re.compile(r'<span class="pasted-text">\s*</span>'),
    "an unknown citation": re.compile(r"\[\?\]"),
    "an empty bracket": re.compile(r"(?<![\w\"'\])])\[\s*\](?!\()"),
    "a role that was not read": re.compile(r"\{(?:glue|cite|ref|numref|eq|doc|math)(?::\w+)?\}"),
    "a directive that was not read": re.compile(r"(?:^|>)\s*(?::::|```)\{?\w*", re.MULTILINE),
    "a block mark that was not read": re.compile(r">\s*\{[.#][\w-]+\}"),
    "an undefined substitution": re.compile(r"\{\{\s*\w+\s*\}\}"),
    "a number that is none": re.compile(r"(?<![\w-])(?:nan|NaN|inf|Infinity)(?![\w-])"),
    "a value that is none": re.compile(r'<span class="pasted-text">[^<]*\b(?:None|undefined|null)\b'),
}
CODE = re.compile(r"<(pre|code|script|style|textarea)\b.*?</\1>", re.DOTALL)


class Page(HTMLParser):
    """Links, anchors and pictures of one page."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.pictures: list[dict] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        for key in ("id", "name"):
            if given.get(key) and (key == "id" or tag == "a"):
                self.ids.add(given[key])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "img":
            self.pictures.append(given)
        loads = given.get("src") if tag != "link" else given.get("href")
        if loads and (tag != "link" or given.get("rel") not in ("canonical", "index", "search", "next", "prev")):
            self.loaded.append(loads)


@lru_cache(maxsize=256)
def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def pages(site: Path) -> list[Path]:
    return sorted(
        path for path in site.rglob("*.html") if not {"_static", "mathjax"} & set(path.relative_to(site).parts)
    )


def left_over(text: str) -> list[str]:
    """Traces of something that did not work. Code is exempt, except from tracebacks."""
    body = re.sub(r"<head>.*?</head>", "", text, flags=re.DOTALL)
    bare = CODE.sub(" ", body)
    bare = re.sub(r'<(?:span|div)[^>]*class="[^"]*\bmath\b[^"]*"[^>]*>.*?</(?:span|div)>', " ", bare, flags=re.DOTALL)
    seen = re.sub(
        r"<(?!span class=\"pasted-text\"|/span)[^>]*>", lambda m: ">" if m.group().startswith("<p") else "", bare
    )
    found = [what for what, trace in LEFT_OVER.items() if trace.search(body if what == "a traceback" else seen)]
    return found


def outside(page: Page) -> list[str]:
    """Files that the page loads from another host."""
    return [f"loads {link}" for link in page.loaded if re.match(r"(?:https?:)?//", link)]


def broken_links(path: Path, site: Path) -> list[str]:
    """Internal links and loaded files that lead nowhere."""
    found = []
    page = read(path)
    for link in page.links + page.loaded:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target = target / "index.html"
        if not target.is_file():
            found.append(f"{link} leads nowhere")
        elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).ids:
            found.append(f"{link}: there is no such place on that page")
        elif site.resolve() not in target.parents:
            found.append(f"{link} leaves the site")
    return found


def silent_pictures(page: Page) -> list[str]:
    """Pictures without an alt text that says something."""
    return [
        f"{picture.get('src', '')} has no alt text"
        for picture in page.pictures
        if len(picture.get("alt") or "") < 20 or re.fullmatch(r"\S+", picture["alt"])
    ]

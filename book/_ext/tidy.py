"""Repairs to the pages that the theme writes: what it loads twice, loads from afar, or loads and does not need.

* Thebe's scripts collide with each other on every page and need a server: dropped.
* The theme draws its twenty-odd icons with a 1.5 MB script and a 150 KB font. The same outlines, taken from that very
  script for the icons that the built pages use, become one small style sheet of masks; script and fonts are removed.
* Retired ARIA roles are replaced by current ones.
* The theme is settled before the first paint, and a formula's place is kept until it is drawn: nothing jumps.
* Searched from disk, where no browser lets a page read another, results come without their summaries.
* The site's address is known only to the workflow that publishes it, so it comes from the environment.
"""

from __future__ import annotations

import functools
import gc
import os
import re
import shutil
from pathlib import Path

from places import with_places
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ICONS_CSS = "icons.css"
ICON_SCRIPT = "_static/scripts/fontawesome.js"
SEARCH_OPTIONS = "_static/documentation_options.js"
SUMMARIES, SUMMARIES_ONLINE = "SHOW_SEARCH_SUMMARY: true", 'SHOW_SEARCH_SUMMARY: location.protocol !== "file:"'
DROPPED_SCRIPTS = ("thebe",)
DROPPED_FILES = ("_static/**/*.map", "_static/scripts/fontawesome*", "_static/*thebe*", "_static/*webpack-macros*")
AUTO_THEME = 'dataset.theme = localStorage.getItem("theme") || "auto";'
SETTLED_THEME = (
    'dataset.theme = {auto: "", dark: "dark", light: "light"}[localStorage.getItem("mode") || "auto"] || '
    '(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");'
)
STYLE_NAMES = {"solid", "brands", "regular", "lg", "sm", "xs", "fw", "spin", "2x", "3x"}


def drop_scripts(app, pagename, templatename, context, doctree):
    """Leave out what every page would load for nothing."""

    def kept(asset) -> bool:
        text = f"{getattr(asset, 'filename', asset)} {getattr(asset, 'attributes', {}).get('body', '')}".lower()
        return not any(name in text for name in DROPPED_SCRIPTS)

    for kind in ("script_files", "css_files"):
        context[kind] = [asset for asset in context.get(kind, []) if kept(asset)]


ICON = re.compile(r'([\w-]+)"?:\[(\d+),(\d+),\[([^\]]*)\],"[0-9a-f]+","([^"]+)"\]')


@functools.cache
def icon_outlines(script: str) -> dict[str, tuple[int, int, str]]:
    """Width, height and path of each icon of the theme's script by name or alias; its solid or brand cut comes last."""
    named, aliased = {}, {}
    for name, width, height, aliases, path in ICON.findall(script):
        named[name] = outline = int(width), int(height), path
        aliased |= dict.fromkeys(re.findall(r'"([^"]+)"', aliases), outline)
    return aliased | named


def icon_rule(script: str, name: str) -> str:
    """CSS that draws icon ``name`` in the text's own color."""
    if name not in icon_outlines(script):
        raise ExtensionError(f"the theme's icon script has no icon named {name!r}")
    width, height, path = icon_outlines(script)[name]
    head = f"%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'%3E"
    return f".fa-{name}{{--icon:url(\"data:image/svg+xml,{head}%3Cpath d='{path}'/%3E%3C/svg%3E\")}}"


def mend(outdir: Path) -> None:
    """Repair a finished build; swap its icon script and fonts for one style sheet with the icons in use."""
    script_path = outdir / ICON_SCRIPT
    if not script_path.exists():
        return
    script = script_path.read_text(encoding="utf-8")
    theme_scripts = [p.read_text(encoding="utf-8") for p in outdir.glob("_static/scripts/*theme.js")]
    used: set[str] = set()
    for text in theme_scripts:
        used |= set(re.findall(r"\bfa-([a-z0-9-]+)", text))
    for page in outdir.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for classes in re.findall(r'class="([^"]*\bfa-[^"]*)"', text):
            used |= set(re.findall(r"\bfa-([a-z0-9-]+)", classes))
        cut = re.sub(r"\s*<(?:script|link)\b[^>]*fontawesome[^>]*>(?:</script>)?", "", text)
        cut = re.sub(r"\s*<script type=\"text/x-thebe-config\">.*?</script>", "", cut, flags=re.DOTALL)
        cut = cut.replace(' role="doc-biblioentry"', ' role="listitem"')  # a role that browsers have retired
        cut = cut.replace('<summary aria-label="Toggle hidden content">', "<summary>")  # what it shows names it
        table = 'class="pst-scrollable-table-container"'
        cut = cut.replace(table, f'{table} tabindex="0"')  # a wide table scrolls by keyboard too
        cut = re.sub(r'<meta property="og:url" content="(?!https?:)[^"]*" />\n?', "", cut)  # an address or nothing
        cut = with_places(cut.replace(AUTO_THEME, SETTLED_THEME))
        if cut != text:
            page.write_text(cut, encoding="utf-8")
    rules = [icon_rule(script, name) for name in sorted(used - STYLE_NAMES)]
    base = (
        "/* Outlines from Font Awesome Free (CC BY 4.0), as shipped with the theme. */\n"
        ".fa-solid,.fa-brands,.fa-regular,.fas,.fab,.far{display:inline-block;width:1em;height:1em;"
        "vertical-align:-.125em;background:currentColor;mask:var(--icon) center/contain no-repeat;"
        "-webkit-mask:var(--icon) center/contain no-repeat}\n"
        ".fa-solid::before,.fa-brands::before,.fa-regular::before{content:none!important}\n"
        ".fa-lg{font-size:1.25em}\n"
    )
    (outdir / "_static" / ICONS_CSS).write_text(base + "\n".join(rules) + "\n", encoding="utf-8")
    for sheet in outdir.glob("_static/styles/*.css"):
        text = sheet.read_text(encoding="utf-8")
        sheet.write_text(re.sub(r"@font-face\{[^}]*fontawesome[^}]*\}", "", text), encoding="utf-8")
    options = outdir / SEARCH_OPTIONS
    text = options.read_text(encoding="utf-8")
    if SUMMARIES not in text and SUMMARIES_ONLINE not in text:
        raise ExtensionError(f"{SEARCH_OPTIONS} no longer holds {SUMMARIES!r}")
    options.write_text(text.replace(SUMMARIES, SUMMARIES_ONLINE), encoding="utf-8")
    for pattern in DROPPED_FILES:
        for path in outdir.glob(pattern):
            if path.is_file():
                path.unlink()
    shutil.rmtree(outdir / "_static" / "vendor" / "fontawesome", ignore_errors=True)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Runs when the build is over."""
    if exception is None and app.builder.format == "html":
        mend(Path(app.outdir))


def site_address(app: Sphinx, config) -> None:
    """The published address, where the environment names one; else no absolute link is written."""
    address = os.environ.get("BOOK_URL", "")
    if address:
        config.html_baseurl = config.ogp_site_url = address.rstrip("/") + "/"


def remember_plugins(*_) -> None:
    """Look up each bibliography style once: every citation asks anew, and every look-up scans the environment."""
    from pybtex import plugin

    if not hasattr(plugin._load_entry_point, "cache_info"):
        plugin._load_entry_point = functools.cache(plugin._load_entry_point)


UNDECLARED = ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex")


def use_every_core(app: Sphinx, _config) -> None:
    """Read and write pages side by side, for which Jupyter Book's command has no option.

    Two of its extensions do not declare that this is safe: one numbers the parts once all are read, the other serves
    another format.
    """
    for name in UNDECLARED:
        app.extensions[name].parallel_read_safe = app.extensions[name].parallel_write_safe = True
    app.parallel = 2 * (os.cpu_count() or 1)  # pages differ in length: smaller shares end together
    gc.set_threshold(1_000_000)  # the trees of the pages are live; looking for garbage among them finds little


def setup(app: Sphinx) -> dict:
    app.add_css_file(ICONS_CSS)
    app.connect("config-inited", site_address, priority=100)
    app.connect("config-inited", use_every_core)
    app.connect("builder-inited", remember_plugins)
    app.connect("html-page-context", drop_scripts, priority=900)
    app.connect("build-finished", finish, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

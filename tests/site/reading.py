"""One page in a real browser: what it asks for, what it complains about, whether it fits and can be read."""

from __future__ import annotations

from pathlib import Path

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
WIDTHS, THEMES = (1280, 390), ("light", "dark")
# Violations of the theme's own furniture, which no chapter can mend: rule -> part of the selector of what it concerns.
THEME_VIOLATIONS = {"label-content-name-mismatch": "search-button", "region": ""}
MATH = """async () => {
  const wanted = document.querySelectorAll('.bd-article .math').length;
  if (!wanted) return {wanted, drawn: 0, wrong: 0};
  if (!window.MathJax || !window.MathJax.startup) return {wanted, drawn: 0, wrong: 0};
  await window.MathJax.startup.promise;
  return {wanted,
          drawn: document.querySelectorAll('.bd-article .math mjx-container').length,
          wrong: document.querySelectorAll('mjx-merror, [data-mjx-error]').length};
}"""
MOST_SHIFT = 0.05
SHIFT = """async () => {
  let sum = 0;
  const add = entries => { for (const e of entries) if (!e.hadRecentInput) sum += e.value; };
  const observer = new PerformanceObserver(list => add(list.getEntries()));
  observer.observe({type: 'layout-shift', buffered: true});
  await new Promise(done => setTimeout(done, 150));
  add(observer.takeRecords());
  return sum; }"""
WIDE = """() => {
  const width = document.documentElement.clientWidth;
  const over = document.documentElement.scrollWidth - width;
  if (over <= 0) return [];
  const scrolls = e => { for (let p = e.parentElement; p; p = p.parentElement) {
    if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return true; } return false; };
  const guilty = [...document.querySelectorAll('body *')].filter(
    e => e.getBoundingClientRect().right > width + 1 && !scrolls(e)).slice(0, 3);
  return [`${over} px too wide: ` + guilty.map(e => `${e.tagName}.${e.className}`.slice(0, 60)).join(', ')];
}"""
# Without axe's own look at the style sheets: from disk, a page may not read them.
AXE_RUN = """async options => (await axe.run(document,
  {resultTypes: ['violations'], preload: false, ...options})).violations.map(
  v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.target.join(' '))}))"""
STRUCTURE = {"rules": {"color-contrast": {"enabled": False}}}  # judged once a width: a theme changes colors only
COLORS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
OPEN = "() => document.querySelectorAll('.bd-article details').forEach(d => { d.open = true; })"
# The thousands of nodes inside drawn formulas are MathJax's own, and would take axe minutes. Tokens of code bear no
# structure and their colors come from their classes: one of each kind, in each kind of cell, stands for all.
WITHOUT_REPEATS = """() => {
  document.querySelectorAll('mjx-container').forEach(e => e.replaceChildren('x'));
  const seen = new Set();
  for (const e of document.querySelectorAll('.highlight pre span[class]')) {
    if (e.firstElementChild) continue;
    const around = [e, e.parentElement, e.closest('.cell_input, .cell_output, .highlight')];
    const kind = around.map(x => x.className).join('|');
    if (seen.has(kind)) e.remove(); else seen.add(kind);
  } }"""
# Rows of a table that are built of the same kinds of parts have the same colors.
WITHOUT_LIKE_ROWS = """() => document.querySelectorAll('tbody').forEach(body => {
  const seen = new Set();
  for (const row of [...body.rows]) {
    const kind = [row, ...row.querySelectorAll('*')].map(e => e.tagName + '.' + e.getAttribute('class')).join(' ');
    if (seen.has(kind)) row.remove(); else seen.add(kind);
  } })"""


def allowed(violation: dict, target: str) -> bool:
    """Whether this is one of the theme's own, outside the article."""
    mark = THEME_VIOLATIONS.get(violation["id"])
    return mark is not None and mark in target and ".bd-article" not in target


def turn(page, theme: str) -> None:
    """Show the page in a theme, as the operating system and as the reader's own choice."""
    page.emulate_media(color_scheme=theme)
    page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)


def violations(page, options: dict) -> list[str]:
    """What axe finds under these options, less the theme's own."""
    judged = [(v, [t for t in v["nodes"] if not allowed(v, t)]) for v in page.evaluate(AXE_RUN, options)]
    return [f"{v['id']}: {v['help']}: {targets[:3]}" for v, targets in judged if targets]


def listen(page, found: list[str]) -> None:
    """What the page's console and scripts complain of, from now on."""
    page.on(
        "console",
        lambda m: found.append(f"console: {m.text} ({m.location.get('url', '')})") if m.type == "error" else None,
    )
    page.on("pageerror", lambda error: found.append(f"script: {error}"))


def read_page(browser, path: Path) -> list[str]:
    """Complaints about the page at ``path``, opened from disk without a network."""
    found: list[str] = []
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": 900}, color_scheme="light")
    page = context.new_page()
    listen(page, found)

    def watch(route):
        if route.request.url.startswith(("file:", "data:", "blob:", "about:")):
            route.continue_()
        else:
            found.append(f"asks for {route.request.url}")
            route.abort()

    page.route("**/*", watch)
    try:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(path.resolve().as_uri(), wait_until="load")
            math = page.evaluate(MATH)
            if math["drawn"] < math["wanted"] or math["wrong"]:
                found.append(f"formulas: {math['drawn']} of {math['wanted']} drawn, {math['wrong']} wrong")
            if (shift := page.evaluate(SHIFT)) >= MOST_SHIFT:
                found.append(f"{width} px: the page jumps while it loads: {shift:.3f}")
            page.add_style_tag(content="* { transition: none !important; animation: none !important }")
            page.evaluate(OPEN)
            for theme in THEMES:
                turn(page, theme)
                found += [f"{theme}, {width} px: {text}" for text in page.evaluate(WIDE)]
            page.add_script_tag(path=str(AXE))
            page.evaluate(WITHOUT_REPEATS)
            found += [f"{width} px: {text}" for text in violations(page, STRUCTURE)]
            page.evaluate(WITHOUT_LIKE_ROWS)
            for theme in THEMES:
                turn(page, theme)
                found += [f"{theme}, {width} px: {text}" for text in violations(page, COLORS)]
    finally:
        context.close()
    return found

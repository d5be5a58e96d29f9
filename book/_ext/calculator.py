"""The ``{calculator} name`` directive: a live formula that stands even without JavaScript.

What it shows is declared in :mod:`rlecon.calculators`. At build time the model is solved for the default settings, the
result, the words and the first picture are written into the page, and the model is compiled to JavaScript beside its
data. The script ``calculator.js`` then follows the reader's hand.
"""

from __future__ import annotations

from pathlib import Path

from calculator_page import body, head
from calculator_script import script
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from rlecon.calculators import CALCULATORS
from rlecon.equation import Model
from rlecon.errors import RleconError

SCRIPTS, STYLES = ("special.js", "calculator.js", "bill.js"), ("calculator.css",)


class CalculatorDirective(SphinxDirective):
    """``{calculator} name``."""

    required_arguments = 1
    option_spec = {"name": directives.unchanged}

    def run(self):
        name = self.arguments[0]
        try:
            c = CALCULATORS[name]
            ident = f"calc-{name}"
            texts = [head(c, ident), body(c, ident), script(c)]
        except RleconError as error:
            raise self.error(f"calculator {name!r}: {error}") from None
        self.env.note_dependency(str(Path(__file__).resolve()))
        about = self.env.metadata[self.env.docname]
        about["calculators"] = about.get("calculators", "") + (" bill" if c.bars else " calculator")
        raw = lambda text: nodes.raw("", text, format="html")  # noqa: E731
        opening = f'<div class="calc" id="{ident}" data-name="{name}" role="group" aria-labelledby="{ident}-title">'
        out = [raw(opening + texts[0])]
        lines = [formula_latex(c.model, f) for f in c.formula]
        if lines:
            out.append(raw(f'<div class="calc-formula" style="min-height:{3.4 * len(lines):.1f}em">'))
            for latex in lines:
                block = nodes.math_block(latex, latex, nowrap=False, number=None, label=None)
                block["docname"] = self.env.docname
                out.append(block)
            out.append(raw("</div>"))
        out.append(raw(texts[1] + f"<script>{texts[2]}</script></div>"))
        return out


def formula_latex(model: Model, name: str) -> str:
    """LaTeX of one equation of the model, or the text itself where it is LaTeX."""
    return name if "=" in name else model.by_left[name].latex()


def load_where_needed(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Pages without a calculator load nothing of it."""
    used = app.env.metadata.get(pagename, {}).get("calculators", "")
    if not used:
        return
    for name in SCRIPTS:
        if name != "bill.js" or "bill" in used:
            app.add_js_file(name, loading_method="defer", priority=800)
    for name in STYLES:
        app.add_css_file(name)


def setup(app: Sphinx) -> dict:
    app.add_directive("calculator", CalculatorDirective)
    app.connect("html-page-context", load_where_needed)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

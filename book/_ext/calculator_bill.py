"""What the page of a whole bill shows beyond dials: where a step goes, what to change first, levers, run files."""

from __future__ import annotations

from html import escape

from calculator_script import literal
from calculator_words import THIN, notes

from rlecon.calculators import Calculator, run_of
from rlecon.errors import RleconError
from rlecon.formatting import format_figure as shown
from rlecon.pricing import bill
from rlecon.run import KEYS
from rlecon.sensitivity import output_of


def panels(c: Calculator, values) -> str:
    """Where a step goes, what to change first, and what to beware of, for calculators of a whole bill."""
    if not c.bars:
        return ""
    sizes = [max(0.0, float(values[name])) for _, name, _ in c.bars]
    bars = "".join(
        f'<div class="calc-bar{"" if x > 0 else " calc-zero"}"><span>{escape(label)}</span>'
        f'<span class="calc-bar-track"><span class="calc-bar-fill calc-{meaning}" '
        f'style="width:{100 * x / max(sizes):.2f}%"></span></span>'
        f'<span class="calc-bar-value">{shown(x, "seconds", 2)}</span>'
        f'<span class="calc-bar-share">{_share(x / sum(sizes))}</span></div>'
        for (label, _, meaning), x in zip(c.bars, sizes, strict=True)
    )
    remarks = "".join(f"<li>{escape(text)}</li>" for text in notes(c, values, c.defaults))
    return (
        '<div class="calc-panels"><section class="calc-panel">'
        f'<p class="calc-subtitle">Where a step goes</p>{bars}</section><section class="calc-panel">'
        f'<p class="calc-subtitle">Change this first</p>{_first(c)}</section></div>{levers(c, values)}'
        f'<ul class="calc-remarks">{remarks}</ul>'
    )


def lever_answer(c: Calculator, lever, state, values) -> tuple[float | None, str]:
    """New dollars over old (hours, where no price is known) of a lever alone, or why there is none."""
    why = lever.refusal(state)
    if why:
        return None, why
    try:
        new = c.solve(lever.pulled(state))
    except RleconError as error:
        return None, str(error)
    watched = output_of(values)
    return float(new[watched]) / float(values[watched]), ""


def levers(c: Calculator, values) -> str:
    """Switches for changes, each with its ratio alone beside it."""
    if not c.levers:
        return ""
    rows = ""
    for lever in c.levers:
        ratio, why = lever_answer(c, lever, c.defaults, values)
        says = f"calc-{c.name}-lever-{lever.name}"
        rows += (
            f'<div class="calc-lever"><button type="button" class="calc-pull" data-lever="{lever.name}" '
            f'aria-pressed="false" aria-describedby="{says}" title="{escape(why or lever.words)}" disabled>'
            f'{escape(lever.label)}</button><span class="calc-lever-says{" calc-why" if why else ""}" id="{says}">'
            f"{escape(why or f'×{ratio:.2f}')}</span></div>"
        )
    return (
        '<section class="calc-levers" role="group" aria-label="Levers"><p class="calc-subtitle">Levers</p>'
        "<p>Switch changes on, on top of your settings. Beside each: the bill with it alone, new over old. What a run "
        "teaches may change too.</p>"
        f'<div class="calc-lever-rows">{rows}</div><p class="calc-together">None is on.</p></section>'
    )


def _share(x: float) -> str:
    return escape(f"<{THIN}1{THIN}%" if 0 < x < 0.01 else shown(x, "%", 2))


def signed(x: float) -> str:
    return ("\N{MINUS SIGN}" if x < 0 else "+") + f"{abs(x):.2f}"


def _first(c: Calculator) -> str:
    """Tables of elasticities and next settings, from the package's own bill."""
    labels = {x.key: x.label for x in (*c.dials, *c.choices)}
    options = {x.key: dict(x.options) for x in c.choices}
    made = bill(run_of(c, c.defaults))
    rows = [r for r in made.sensitivity() if r["input"] in labels]
    now = {**c.defaults, "rollout.tensor_parallel": int(made["tensor_parallel"])}

    def word(key, value):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return options[key][text] if key in options else text

    smooth = "".join(
        f"<tr><td>{escape(labels[r['input']])}</td><td>"
        + (f"{signed(r['below'])} down, {signed(r['above'])} up" if "below" in r else signed(r["elasticity"]))
        + "</td></tr>"
        for r in [r for r in rows if "elasticity" in r][:5]
    )
    turned = "".join(
        f'<tr><td><button type="button" class="calc-turn" disabled>{escape(labels[r["input"]])}: '
        f"{escape(word(r['input'], now[r['input']]))} → {escape(word(r['input'], r['next']))}</button></td>"
        f"<td>×{r['ratio']:.2f}</td><td>{'×' + format(r['ratio_per_signal'], '.2f') if 'ratio_per_signal' in r else ''}"
        "</td></tr>"
        for r in [r for r in rows if "next" in r and r["input"] in c.turns][:5]
    )
    return (
        '<table class="calc-table"><thead><tr><th scope="col">1 % more of</th><th scope="col">bill, %</th></tr></thead>'
        f'<tbody class="calc-elasticities">{smooth}</tbody></table>'
        '<table class="calc-table"><thead><tr><th scope="col">Next setting</th><th scope="col">bill</th>'
        f'<th scope="col">per signal</th></tr></thead><tbody class="calc-settings">{turned}</tbody></table>'
    )


def run_file(c: Calculator) -> str:
    """The run as a file and as a command, and a place to paste one."""
    if not c.bars or c.short:
        return ""
    text = ""
    for section, table in run_of(c, c.defaults).given().items():
        lines = [
            f"{k} = {x:.12g}" if isinstance(x, float) else f"{k} = {literal(x)}"
            for k, x in table.items()
            if x != KEYS[f"{section}.{k}"].default
        ]
        text += ("\n" if text else "") + f"[{section}]\n" + "".join(f"{line}\n" for line in lines) if lines else ""
    absent = f'<p class="calc-absent">{escape(c.absent)}</p>' if c.absent else ""
    return (
        absent + '<details class="calc-more"><summary>This run as a file, and yours</summary>'
        f'<pre class="calc-file-text" tabindex="0" aria-label="The run as a file">{escape(text)}</pre>'
        '<p><button type="button" class="calc-copy-file" disabled>Copy as run file</button> '
        '<button type="button" class="calc-copy-command" disabled>Copy as command</button></p>'
        '<label>A run file of yours <textarea class="calc-pasted" rows="6" spellcheck="false" autocomplete="off" '
        "disabled></textarea></label>"
        '<p><button type="button" class="calc-paste" disabled>Use it</button> '
        '<span class="calc-paste-note" role="status"></span></p></details>'
    )

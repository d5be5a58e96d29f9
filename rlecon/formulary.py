"""Every equation and every quantity as rows: for ``rlecon formulas`` and for the pages made from them."""

from __future__ import annotations

import difflib
import re

from rlecon.equation import EQUATIONS
from rlecon.errors import RleconError
from rlecon.quantity import REGISTRY

TOPICS = (
    "trajectory",
    "generation",
    "gains",
    "training",
    "step",
    "money",
    "learning",
    "hardness",
    "groups",
    "filtering",
    "credit",
    "capability",
    "verifier",
    "environment_cost",
    "breadth",
    "staleness",
    "sharing",
    "clocks",
    "horizon",
    "information",
)


def load() -> None:
    """Import every topic, so that all equations are registered."""
    import importlib

    for topic in TOPICS:
        importlib.import_module(f"rlecon.{topic}")


def quantity_row(name: str) -> dict:
    """One quantity: name, LaTeX, unit, meaning, domain."""
    q = REGISTRY[name]
    return {"name": q.name, "latex": q.latex, "unit": q.unit, "meaning": q.meaning, "domain": q.domain}


def rows(name: str | None = None) -> list[dict]:
    """Equations as tables; ``name`` an equation, or a quantity whose equations are wanted."""
    load()
    chosen = sorted(EQUATIONS.values(), key=lambda e: (TOPICS.index(e.topic) if e.topic in TOPICS else 99, e.name))
    chosen = [e for e in chosen if e.topic in TOPICS]
    if name is not None:
        chosen = [e for e in chosen if name in (e.name, e.left.name)]
        if not chosen:
            near = ", ".join(difflib.get_close_matches(name, EQUATIONS, 3))
            advice = f"nearest: {near}" if near else "`rlecon formulas` lists them all"
            raise RleconError("no such formula", field="NAME", value=name, advice=advice)
    return [
        {
            "name": e.name,
            "topic": e.topic,
            "latex": e.latex(),
            "text": f"{e.left} = {e.right}",
            "why": e.why,
            "quantities": [quantity_row(s.name) for s in (e.left, *e.inputs)],
            "source": e.source,
            "holds_when": [{"relation": str(c.relation), "otherwise": c.words} for c in e.holds_when],
        }
        for e in chosen
    ]


def text(found: list[dict], *, full: bool) -> str:
    """The rows as text: one line each, or everything about a few."""
    lines, topic = [], None
    for row in found:
        if not full:
            if row["topic"] != topic:
                topic = row["topic"]
                lines += ["", topic] if lines else [topic]
            lines.append(f"  {row['name']:<38} {row['why']}")
            continue
        lines += [
            row["name"],
            f"  {row['text']}",
            f"  {row['latex']}",
            f"  why     {row['why']}",
            f"  source  {row['source']}",
        ]
        lines += [f"  holds when {c['relation']}" for c in row["holds_when"]]
        lines += [f"    {q['name']:<38} [{q['unit']}] {q['meaning']}; {q['domain']}" for q in row["quantities"]]
    return "\n".join(lines)


def used_in() -> dict[str, list[str]]:
    """For every quantity, the topics whose equations define or need it."""
    load()
    found: dict[str, list[str]] = {}
    for topic in TOPICS:
        for e in EQUATIONS.values():
            if e.topic == topic:
                for symbol in (e.left, *e.inputs):
                    if topic not in found.setdefault(symbol.name, []):
                        found[symbol.name].append(topic)
    return found


def quantities() -> dict[str, list[dict]]:
    """Quantities as rows under their headings, each with the topics that use it."""
    where = used_in()
    found: dict[str, list[dict]] = {}
    for q in REGISTRY.values():
        if q.heading:
            row = quantity_row(q.name) | {"used": where.get(q.name, []), "value": q.value}
            found.setdefault(q.heading, []).append(row)
    return found


WORDS_FOR_TOPICS = {
    "settings": "Settings: from a run file to what the equations take",
    "trajectory": "Trajectories: tokens, lengths, turns",
    "generation": "Generation: decode and prefill",
    "gains": "Gains from fewer bytes and from drafted tokens",
    "training": "Training: the update and its forward passes",
    "step": "One step of a run",
    "money": "Money",
    "learning": "Learning: signal",
    "hardness": "Hardness: what a low pass rate costs",
    "groups": "Groups: size and objective",
    "filtering": "Filtering and allocation",
    "credit": "Credit and horizon: denser rewards, long chains",
    "capability": "Capability: stronger models, parts and wholes",
    "verifier": "Verifiers that err",
    "environment_cost": "Environments and deployment",
    "breadth": "Breadth: what many tasks teach in common",
    "staleness": "Importance weights",
    "sharing": "Sharing one base model",
    "clocks": "Steps to a target",
    "horizon": "Horizon carried forward",
    "information": "Information: bits",
}


def page() -> str:
    """All equations as Markdown, topic by topic, for the formulas page."""
    lines: list[str] = []
    topic = None
    for row in rows():
        if row["topic"] != topic:
            topic = row["topic"]
            title = WORDS_FOR_TOPICS.get(topic, topic.replace("_", " ").capitalize())
            lines += [f"## {title}", ""]
        sources = row["source"] if isinstance(row["source"], str) else ", ".join(row["source"])
        cited = "" if sources == "counting" else f" Source: {sources}." if " " in sources else f" {{cite}}`{sources}`"
        lines += [f"**`{row['name']}`**: {row['why']}.{cited}", "", "$$", row["latex"], "$$", ""]
        for condition in row["holds_when"]:
            words = re.sub(r"\{(\w+)\}", r"⟨\1⟩", condition["otherwise"])
            lines += [f"Refused otherwise: {words}.", ""]
    return "\n".join(lines)

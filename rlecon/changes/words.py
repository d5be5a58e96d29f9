"""The text of ``rlecon levers``."""

from __future__ import annotations

import math


def text(found: dict) -> str:
    """The text of ``rlecon levers``: the answer, the levers by what they save, and why others do not apply."""
    kind = "usd" if found["together"]["usd"] else "time"
    words = {"usd": "dollars", "time": "hours"}[kind]
    rows = found["changes"]
    used = found["used_together"]
    digits = lambda x: f"{x:.2f}" if x >= 0.1 else f"{x:.2g}"  # noqa: E731
    number = lambda x: "unknown" if x is None else digits(x)  # noqa: E731
    span = lambda x: (  # noqa: E731
        "unknown" if x["mid"] is None else f"{digits(x['mid'])} ({digits(x['low'])} to {digits(x['high'])})"
    )
    if not used:
        lines = ["No lever applies to this run."]
    else:
        whole, product = found["together"][kind], found["product_of_alone"][kind]
        lines = [
            f"All together: {span(whole)} of the {words}. The single savings multiply to {number(product)}; phase by "
            f"phase, to {number(found['amdahl_of_alone'][kind])}. No set can get below {number(found['bound'][kind])}.",
            "Ratios are new over old, for the same rollouts; 80 % intervals.",
            "",
            f"  {'lever':<14} {'dollars':<21} {'hours':<21} {'share':>6}  what",
        ]
    applies = [n for n, r in rows.items() if r["applies"]]

    def size(name):
        ratio = rows[name][f"{kind}_ratio_alone"]["mid"]
        return math.inf if ratio is None else ratio

    for name in sorted(applies, key=size):
        row = rows[name]
        share = f"{100 * row['share'][kind]:4.0f} %" if name in used else "     -"
        lines.append(
            f"  {name:<14} {span(row['usd_ratio_alone']):<21} {span(row['time_ratio_alone']):<21} {share:>6}  "
            f"{row['what']}"
        )
    changed = [n for n in applies if abs(rows[n].get("signal_ratio", 1.0) - 1) > 0.005]
    if changed:
        lines += ["", "Signal changes too, new over old:"]
        lines += [f"  {n:<14} {rows[n]['signal_ratio']:.2f}" for n in changed]
        same = rows.get("group_size_2", {}).get("same_rollouts")
        if same and "signal_ratio" in same:
            lines.append(
                f"  {'':<14} groups of two at the same rollouts: signal {number(same['signal_ratio'])}, "
                f"dollars {number(same['usd_ratio'])}, hours {number(same['time_ratio'])}"
            )
    rest = [(n, r["why"]) for n, r in rows.items() if not r["applies"]]
    rest += [(n, r["together"]) for n, r in rows.items() if "together" in r]
    reasons: dict = {}
    for name, why in rest:
        reasons.setdefault(why, []).append(name)
    if rest:
        lines += ["", "Not in it", *(f"  {', '.join(who)}: {why}" for why, who in reasons.items())]
    return "\n".join([*lines, *(["", *found["notes"]] if found["notes"] else [])])

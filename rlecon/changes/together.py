"""All levers together: shares that no order can change, the product, and the bound that nothing passes."""

from __future__ import annotations

import math

import numpy as np

from rlecon.capability import shapley
from rlecon.changes.prices import Prices, interval, moved, pulled
from rlecon.json_numbers import json_number


def one_of_each_family(changes, rows) -> list:
    """Of each family the cheapest member with a known price; where none has a price, the fastest."""

    def rank(change):
        usd, time = (rows[change.name][f"{kind}_ratio_alone"]["mid"] for kind in ("usd", "time"))
        return (usd is None, time if usd is None else usd)

    chosen = []
    for change in changes:
        rivals = [c for c in changes if c.family and c.family == change.family]
        best = min(rivals, key=rank) if rivals else change
        if best is change:
            chosen.append(change)
        else:
            rows[change.name]["together"] = f"left out: {best.name} is used, and only one can be"
    return chosen


def _priced_sets(run, chosen, keys, rents) -> Prices:
    runs = []
    for mask in range(2 ** len(chosen)):
        runs.append(pulled(run, [c for i, c in enumerate(chosen) if mask >> i & 1], keys))
    return Prices(runs, [rents.of(r) for r in runs])


def together(run, chosen, keys, rents, rows, taught) -> dict:
    """Shares, product, all together and the bound."""
    chosen = list(chosen)
    while True:
        priced = _priced_sets(run, chosen, keys, rents)
        if math.isfinite(priced.totals["time"][-1]):
            break
        weakest = max(chosen, key=lambda c: rows[c.name]["time_ratio_alone"]["mid"])
        rows[weakest.name]["together"] = "left out: it does not fit beside the others"
        chosen.remove(weakest)
    names, last = [c.name for c in chosen], 2 ** len(chosen) - 1
    dollars = bool(np.isfinite(priced.totals["usd"][[0, last]]).all())
    kind_of_choice = "usd" if dollars else "time"
    for mask in range(last + 1):  # a set that does not fit is worth what its best part is worth
        if not math.isfinite(priced.totals[kind_of_choice][mask]):
            smaller = [mask & ~(1 << i) for i in range(len(names)) if mask >> i & 1]
            priced.copy(mask, min(smaller, key=lambda m: priced.totals[kind_of_choice][m]))
    out: dict = {"used_together": names}
    for key in ("product_of_alone", "amdahl_of_alone", "together", "bound"):
        out[key] = {"usd": None, "time": None}
    for kind in ("usd", "time") if dollars else ("time",):
        total = priced.totals[kind]
        logs = np.log(total / total[0])
        shares, whole = shapley(names, logs) if names else {}, float(logs[last])
        factors = _factors(priced.parts[kind], len(names))
        for i, name in enumerate(names):
            rows[name].setdefault("share", {})[kind] = shares[name] / whole if whole else 0.0
            rows[name].setdefault("phase_factors", {})[kind] = {
                p: {"alone": json_number(a[i]), "least": json_number(b[i])} for p, (a, b) in factors.items()
            }
        out["product_of_alone"][kind] = float(math.prod(float(total[1 << i] / total[0]) for i in range(len(names))))
        start = {p: float(x[0]) for p, x in priced.parts[kind].items()}
        for key, which in (("amdahl_of_alone", 0), ("bound", 1)):
            left = sum(s * float(np.prod(factors[p][which])) for p, s in start.items() if s > 0)
            out[key][kind] = left / float(total[0])
        out["together"][kind] = interval(math.exp(whole), moved(priced.parts[kind], 0, last))
    if taught:
        out["together"]["signal_ratio"] = float(priced.signal[last] / priced.signal[0])
    return out


def _factors(parts: dict, count: int) -> dict:
    """(alone, least) factors of every lever on every phase; the least is over all sets that it joins or stays out of.

    What a set leaves of a phase is a chain of such factors, in whatever order, so it is never below the product of the
    least. A phase that is not there cannot shrink: its factor is 1.
    """
    masks, found = np.arange(2**count), {}
    for phase, size in parts.items():
        alone, least = np.ones(count), np.ones(count)
        for i in range(count):
            without = masks[(masks >> i & 1) == 0]
            there = without[size[without] > 0]
            if there.size:
                least[i] = min(1.0, np.min(size[there | 1 << i] / size[there]))
            if size[0] > 0:
                alone[i] = size[1 << i] / size[0]
        found[phase] = (alone, least)
    return found

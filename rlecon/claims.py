"""The ledger: which claims agree with their values, and which labels can follow from that.

A claim that has a number is settled by a value. The value is read in a source (``settled_by = "facts"``) or computed
when the ledger is built (``settled_by = "computation"``): it is never typed beside the formula that gives it. A
computation that is not there yet leaves the claim open. The rule here decides whether the label may stand.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass

from rlecon import catalog
from rlecon.errors import RleconError

LABELS = (
    "holds",
    "holds_if",
    "upper_bound",
    "order_of_magnitude",
    "does_not_follow",
    "outdated",
    "contradicted",
    "unverified",
)
SETTLED_BY = ("facts", "computation", "argument")
ORDER_OF_MAGNITUDE = 10.0


@dataclass(frozen=True)
class Settled:
    """A claim with its value, how the two compare (agree, above, below or None) and where it stands.

    ``status`` is "settled" or "open": open where a computation is still missing.
    """

    claim: catalog.Claim
    value: tuple[float, float] | None
    relation: str | None
    status: str


def interval(value, field: str = "value") -> tuple[float, float] | None:
    """A number, a pair, a list of numbers or an object with low and high, as (low, high); None stays None.

    >>> interval([3, 1, 2])
    (1.0, 3.0)
    """
    if value is None:
        return None
    if hasattr(value, "low") and hasattr(value, "high"):
        value = (value.low, value.high)
    if hasattr(value, "tolist"):
        value = value.tolist()
    try:
        numbers = [float(v) for v in value] if isinstance(value, (list, tuple)) else [float(value)]
    except (TypeError, ValueError):
        raise RleconError("not a number or a range", field=field, value=value) from None
    if not numbers or not all(math.isfinite(v) for v in numbers):
        raise RleconError("not finite", field=field, value=value)
    return min(numbers), max(numbers)


def _widen(bounds: tuple[float, float], factor: float) -> tuple[float, float]:
    low, high = bounds
    return (low / factor if low > 0 else low * factor, high * factor if high > 0 else high / factor)


def compare(claimed, value, factor: float = 1.0) -> str | None:
    """ "agree" when claimed and value, each widened by the factor on both sides, meet; else where the value lies.

    >>> compare(2.4, [2.30, 2.39], 1.05), compare(20, 5.26, 1.25), compare([0.3, 0.5], 0.9)
    ('agree', 'below', 'above')
    """
    if not factor >= 1:
        raise RleconError("a tolerance below 1", field="tolerance_factor", value=factor, allowed="1 or more")
    claimed, value = interval(claimed, "claimed"), interval(value)
    if claimed is None or value is None:
        return None
    tiny = 1e-9
    (a, b), (c, d) = _widen(claimed, factor * (1 + tiny)), _widen(value, factor)
    if d < a:
        return "below"
    if c > b:
        return "above"
    return "agree"


def verdict(claim: catalog.Claim, value=None) -> str | None:
    """How a claim compares with a value: agree, above, below, or None where one of the two has no number.

    Raises RleconError when the claim's label cannot follow.

    >>> verdict(catalog.claim("M12"), 2022)
    'agree'
    """
    relation = compare(claim.claimed, value, claim.tolerance_factor)
    check_label(claim, value, relation)
    return relation


def check_label(claim: catalog.Claim, value, relation: str | None) -> None:
    """Refuse a label that cannot follow from claim and value."""
    where = f"claims.{claim.id}.label"

    def refuse(why: str):
        raise RleconError(
            why,
            field=where,
            value=claim.label,
            advice=f"claimed {claim.claimed}, value {value} "
            f"({relation or 'not compared'}), tolerance {claim.tolerance_factor}",
        )

    if claim.label not in LABELS:
        raise RleconError("not a label", field=where, value=claim.label, allowed=", ".join(LABELS))
    if not claim.why:
        refuse("a label without a reason: say why")
    if claim.label == "holds_if" and not claim.needs:
        refuse("a conditional label without its condition: give needs")
    if claim.label == "unverified" and value is not None:
        refuse("a value was found, so the claim can be judged")
    if relation is None:
        return
    if claim.label == "holds" and relation != "agree":
        refuse("claim and value do not agree")
    if claim.label in ("contradicted", "outdated", "does_not_follow") and relation == "agree":
        refuse("claim and value agree")
    if claim.label == "upper_bound" and relation == "above":
        refuse("the value exceeds the bound")
    if claim.label == "order_of_magnitude" and compare(claim.claimed, value, ORDER_OF_MAGNITUDE) != "agree":
        refuse("claim and value are more than a factor of ten apart")


def value_of(claim: catalog.Claim):
    """The value that settles a claim: as read in its source, or computed now; None where there is none yet."""
    if claim.settled_by not in SETTLED_BY:
        raise RleconError(
            "unknown way to settle a claim",
            field=f"claims.{claim.id}.settled_by",
            value=claim.settled_by,
            allowed=", ".join(SETTLED_BY),
        )
    if claim.settled_by == "facts":
        if claim.compute:
            raise RleconError("settled by facts, so nothing is computed", field=f"claims.{claim.id}.compute")
        return claim.value
    if claim.value is not None:
        raise RleconError(
            "a value is typed where it should be computed or argued",
            field=f"claims.{claim.id}.value",
            value=claim.value,
            advice='give compute, or settled_by = "facts" with a source',
        )
    if claim.settled_by == "argument" or not claim.compute:
        return None
    return resolve(claim.compute)(**claim.arguments)


def resolve(path: str):
    """The function behind "module:name", imported when asked for.

    >>> resolve("math:log2")(8)
    3.0
    """
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise RleconError(
            f"cannot be computed: {error}", field="compute", value=path, allowed="module:function"
        ) from None


def settle(claim: catalog.Claim) -> Settled:
    """Compute, compare and check one claim.

    >>> settle(catalog.claim("M40")).relation
    'agree'
    """
    value = value_of(claim)
    relation = verdict(claim, value)
    pending = claim.settled_by == "computation" and value is None
    return Settled(claim, interval(value), relation, "open" if pending else "settled")


def ledger(chapter: str | None = None) -> tuple[Settled, ...]:
    """All claims, or those of a chapter, settled; raises at the first label that cannot stand."""
    claims = catalog.claims(chapter)
    if not claims:
        raise RleconError("has no claims", field="chapter", value=chapter, allowed="a chapter of the ledger, or none")
    return tuple(settle(claim) for claim in claims)


# --- values that are read off the catalogue --------------------------------------------------------------------------


def _step(here, key: str):
    if isinstance(here, dict):
        return here[key]
    if isinstance(here, (list, tuple)):
        return here[int(key)]
    return getattr(here, key)


def _number(id: str, path: str) -> float:
    here = catalog.measurement(id)
    try:
        for key in path.split("."):
            here = _step(here, key)
        return float(here)
    except (KeyError, IndexError, AttributeError, TypeError, ValueError):
        raise RleconError("no such number in the measurement", field=id, value=path) from None


def measured(items: list[dict]) -> tuple[float, float]:
    """Range over numbers of published measurements.

    Each item names a measurement (``id``) and a dotted ``path`` in it; optional ``over`` (a path, in ``over_id`` or
    the same measurement) divides, ``scale`` multiplies, ``invert`` takes the inverse.

    >>> measured([{"id": "deepswe", "path": "config.containers"}])
    (512.0, 512.0)
    """
    values = []
    for item in items:
        number = _number(item["id"], item["path"])
        if "over" in item:
            number /= _number(item.get("over_id", item["id"]), item["over"])
        number *= item.get("scale", 1)
        values.append(1 / number if item.get("invert") else number)
    return interval(values)


def gpu_ratio(pairs: list[list[str]], field: str) -> tuple[float, float]:
    """Range of one catalogue figure of GPUs, new over old, over the pairs given.

    >>> round(gpu_ratio([["h200-sxm", "h100-sxm"]], "memory_bytes_per_second")[0], 2)
    1.43
    """
    return interval([getattr(catalog.gpu(new), field) / getattr(catalog.gpu(old), field) for new, old in pairs])


def model_ratio(pairs: list[list[str]], fields: list[str]) -> tuple[float, float]:
    """Range of counted figures of models, first over second, over all pairs and fields given."""

    def figure(name: str, field: str) -> float:
        value = getattr(catalog.model(name), field)
        return value() if callable(value) else value

    return interval([figure(a, field) / figure(b, field) for a, b in pairs for field in fields])


def entry_ratio(models: list[str], top: str, bottom: str) -> tuple[float, float]:
    """Range of the ratio of two entries of a model's shape, such as query heads over key-value heads."""
    return interval([catalog.entry("models", name)[top] / catalog.entry("models", name)[bottom] for name in models])


def price_spread(table: str, model: str, key: str) -> float:
    """Dearest over cheapest price of one model in a table of prices."""
    values = [row[key] for row in catalog.prices(table) if row.get("model") == model and key in row]
    if len(values) < 2:
        raise RleconError("fewer than two prices", field=f"{table}.{key}", value=model)
    return max(values) / min(values)


def _given(value):
    """An input as it stands, or the number of a measurement when written "@id:path"."""
    if isinstance(value, str) and value.startswith("@"):
        id, _, path = value[1:].partition(":")
        return _number(id, path)
    return value


def _product(values) -> float:
    return math.prod(_given(v) for v in (values if isinstance(values, list) else [values]))


def _case(case: dict) -> float:
    if "id" in case:
        value = _number(case["id"], case["path"])
    else:
        from rlecon.equation import Model  # here, so that reading the catalogue does not load SymPy

        equations = [resolve(path) for path in case["equations"]]
        inputs = {name: _given(value) for name, value in case["inputs"].items()}
        value = float(Model(equations).solve(inputs)[case.get("output", equations[-1].left.name)])
    value *= _product(case.get("times", 1))
    over = case.get("over", 1)
    value /= _case(over) if isinstance(over, dict) else _product(over)
    return 1 / value if case.get("invert") else value


def evaluated(cases: list[dict]) -> tuple[float, float]:
    """Range over equations of the package evaluated at given points.

    Each case lists ``equations`` ("module:name", solved together), their ``inputs`` (numbers, or "@id:path" for one
    of a measurement) and the ``output`` (the last left side by default); or names a measurement (``id``, ``path``).
    Optional ``times`` multiplies by a number or a list of them, ``over`` divides by those or by another case,
    ``invert`` takes the inverse.

    >>> evaluated([{"equations": ["rlecon.information:entropy_equation"], "inputs": {"pass_rate": 0.5}}])
    (1.0, 1.0)
    """
    return interval([_case(case) for case in cases])

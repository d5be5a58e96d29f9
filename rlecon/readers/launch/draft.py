"""The run file in the making: values with origins, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field

from rlecon.errors import RleconError
from rlecon.readers.launch.settings import Settings
from rlecon.readers.launch.values import Fact, shorten
from rlecon.run import KEYS


@dataclass(frozen=True)
class Missing:
    """One value that cost depends on and the file does not say."""

    key: str
    why: str
    how: str

    def __str__(self):
        return f"{self.key}: {self.why} -> {self.how}"


@dataclass
class Draft:
    """The run file in the making: values by dotted key with origins, notes, and reasons for what is missing."""

    framework: str
    settings: Settings
    run: dict = field(default_factory=dict)
    origins: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    reasons: dict = field(default_factory=dict)

    def put(self, key, fact, words=None):
        """Set ``key`` unless it is known already; a ``Fact`` of None or None itself sets nothing.

        Asks for ``key`` if the setting that was just looked up stands in the file and is not settled.
        """
        value = fact.value if isinstance(fact, Fact) else fact
        name = self.settings.unsettled
        absent = fact is None or isinstance(fact, Fact) and fact.words.startswith("no ")
        if absent and name:
            self.ask(key, f"{name} is in the file and not settled: {self.settings.undecided[name]}")
            return
        if value is None or key in self.run:
            return
        KEYS[key].read(value)
        self.run[key] = value
        self.origins[key] = words or (fact.words if isinstance(fact, Fact) else "")

    def derive(self, key, value, *facts, how=""):
        """Set a value computed from facts; the origin names them all."""
        parts = "; ".join(dict.fromkeys(fact.words for fact in facts if isinstance(fact, Fact)))
        self.put(key, value, "derived: " + (f"{how}: {parts}" if how and parts else how or parts))

    def get(self, key):
        """What is known of a run key so far, as a ``Fact``, else None."""
        return Fact(self.run[key], f"{key}: {self.origins[key]}") if key in self.run else None

    def ask(self, key, why):
        """Say why ``key`` must be given, should nobody have given it."""
        self.reasons.setdefault(key, why)

    def note(self, text):
        """Add a remark that the run file cannot hold."""
        if text not in self.notes:
            self.notes.append(text)

    def whole(self, numerator, denominator, what):
        """``numerator / denominator`` where it must come out whole."""
        if denominator <= 0 or numerator % denominator:
            raise RleconError(f"{numerator} / {denominator} is not whole", field=what, allowed="a whole number")
        return numerator // denominator

    def model(self, fact, field_name="model.name"):
        """Map a model's name to the catalogue, or ask for its config."""
        from rlecon.readers.launch.models import catalogue_name

        if fact is None:
            self.ask(field_name, "the file does not name the model")
            return
        name, how = catalogue_name(fact.value)
        if name:
            self.put(field_name, name, fact.words + how)
        else:
            self.ask(field_name, f"{shorten(fact.value)!r} ({fact.words}) is not in the catalogue")

"""The economics of reinforcement learning for language models: what a run costs, and what it teaches."""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_HOMES = {
    "RleconError": "errors",
    "Run": "run",
    "bill": "pricing",
    "Bill": "pricing",
    "levers": "changes",
    "target": "forecast",
    "read_log": "readers.logs",
    "import_config": "readers.launch",
}
__all__ = sorted(_HOMES)


def __getattr__(name):
    """Load the public names when first used, so that importing the package costs nothing."""
    if name in _HOMES:
        home = importlib.import_module(f"rlecon.{_HOMES[name]}")
        value = getattr(home, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'rlecon' has no attribute {name!r}")

"""What every equation of the package should give, computed a second time in plain Python.

Each entry is written from the meaning of its quantity and from the literature, with :mod:`math`, SciPy's quadrature and
its root finder, and nothing of the package: expectations are sums over outcomes or integrals, optima are searched for,
chains are enumerated. A key is the name of an equation, its arguments are the quantities that it is told. ``Refused``
says that there is no number. One module per topic.
"""

from tests.reference import (
    breadth,
    capability,
    clocks,
    credit,
    environment_cost,
    gains,
    generation,
    groups,
    hardness,
    horizon,
    information,
    interval,
    learning,
    money,
    settings,
    staleness,
    step,
    training,
    trajectory,
    verifier,
)
from tests.reference.core import Refused

MODULES = (
    settings,
    trajectory,
    generation,
    training,
    step,
    money,
    interval,
    learning,
    information,
    hardness,
    groups,
    credit,
    verifier,
    clocks,
    capability,
    staleness,
    gains,
    environment_cost,
    breadth,
    horizon,
)
REFERENCE = {name: function for module in MODULES for name, function in module.REFERENCE.items()}

__all__ = ["MODULES", "REFERENCE", "Refused"]

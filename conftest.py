"""Rules for validating the notebooks: what nbval compares, and where the kernel finds `rlecon`."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


def pytest_collectstart(collector):
    """Images are not compared (their bytes differ between processors): tests check the data of each figure instead."""
    if type(collector).__name__ == "IPyNbFile":
        collector.skip_compare += ("image/svg+xml",)

"""`make test`: every check, cheapest first, then one summary. `python -m tests.stages NAME ...` runs some of them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest", "-q"]
SPREAD = ["-n", "2", "--dist", "loadfile"]
SHARED = ["-n", "2", "--dist", "worksteal"]  # two files of unlike length would leave a core idle
STAGES = {
    "lint": [sys.executable, "-m", "ruff", "check", "--quiet", "."],
    "unit": [*PYTEST, *SPREAD, "tests", "rlecon", "--doctest-modules", "--ignore=tests/site"],
    "notebooks": [*PYTEST, *SPREAD, "--nbval", "--nbval-current-env", "-p", "no:warnings", "book"],
    "book": ["make", "--no-print-directory", "book"],
    "site": [*PYTEST, *SHARED, "tests/site"],
}


def main(names: list[str]) -> int:
    results = []
    for name in names or STAGES:
        print(f"== {name}", flush=True)
        start = time.monotonic()
        code = subprocess.run(STAGES[name], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}).returncode
        results.append((name, code, time.monotonic() - start))
    print()
    for name, code, took in results:
        print(f"{name:<10} {'FAILED' if code else 'ok':<7} {took:6.1f} s")
    failed = [name for name, code, _ in results if code]
    print("FAILED: " + ", ".join(failed) if failed else f"all passed in {sum(r[2] for r in results):.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

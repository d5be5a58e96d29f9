"""How fast the package is: `pytest tests/benchmarks` (not part of `make test`; machines are noisy)."""

import subprocess
import sys

import numpy as np
import pytest

from rlecon import Run, bill
from tests.test_cli import RUN


@pytest.fixture(scope="module")
def run():
    made = Run.from_text(RUN)
    bill(made)  # compile
    return made


def test_one_full_bill(benchmark, run):
    benchmark(bill, run)


def test_its_sensitivities(benchmark, run):
    made = bill(run)
    made.sensitivity()
    benchmark(made.sensitivity)


def test_all_levers_and_all_their_sets(benchmark, run):
    from rlecon import levers

    found = benchmark.pedantic(levers, (run,), rounds=3, warmup_rounds=1)
    assert len(found["used_together"]) >= 7  # 2^7 sets, those with overlap at every split of the GPUs


def test_a_million_runs(benchmark, run):
    rng = np.random.default_rng(0)
    wide = run.replace(
        {"reward.pass_rate": rng.uniform(0.01, 0.99, 10**6), "rollout.response_tokens": rng.uniform(200, 8000, 10**6)}
    )
    benchmark.pedantic(bill, (wide,), {"outputs": ["usd_run", "step_seconds"]}, rounds=1)


def test_cold_estimate(benchmark, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(RUN)
    command = [sys.executable, "-m", "rlecon.cli", "estimate", str(path)]
    benchmark.pedantic(subprocess.run, (command,), {"check": True, "capture_output": True}, rounds=5, warmup_rounds=1)

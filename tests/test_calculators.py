"""The live pages compute what the package computes: special functions, models and refusals, in Node against Python."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from rlecon import special

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "book" / "assets"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="NO NODE: the scripts of the pages were not run")
READ = """
const fix = (k, x) => x === "Infinity" ? Infinity : x === "-Infinity" ? -Infinity : x === "NaN" ? NaN : x;
const data = JSON.parse(require("fs").readFileSync(0, "utf8"), fix);
const write = x => process.stdout.write(JSON.stringify(x, (k, v) => typeof v === "number" && !Number.isFinite(v) ? String(v) : v));
"""


def node(script: str, data):
    """What ``script`` writes: it finds ``data`` and calls ``write`` once."""
    words = {float("inf"): "Infinity", float("-inf"): "-Infinity"}

    def plain(x):
        if isinstance(x, dict):
            return {k: plain(v) for k, v in x.items()}
        if isinstance(x, list | tuple | np.ndarray):
            return [plain(v) for v in x]
        if isinstance(x, bool | np.bool_):
            return bool(x)
        if isinstance(x, float | np.floating):
            return words.get(float(x), "NaN" if x != x else float(x))
        return x.item() if isinstance(x, np.generic) else x

    done = subprocess.run(
        [NODE, "-e", READ + script],
        input=json.dumps(plain(data)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    back = {"Infinity": float("inf"), "-Infinity": float("-inf"), "NaN": float("nan")}

    def read(x):
        if isinstance(x, dict):
            return {k: read(v) for k, v in x.items()}
        if isinstance(x, list):
            return [read(v) for v in x]
        return back.get(x, x) if isinstance(x, str) else x

    return read(json.loads(done.stdout))


# --- special functions -----------------------------------------------------------------------------------------------


def special_points():
    rng = np.random.default_rng(20261130)
    size = 400
    spread = np.where(rng.random(size) < 0.1, 0.0, rng.uniform(0.02, 2.0, size))
    mean = 10 ** rng.uniform(1, 5.5, size)
    cap = np.where(rng.random(size) < 0.3, np.inf, mean / rng.uniform(0.005, 0.97, size))
    n = np.where(rng.random(size) < 0.1, 1.0, 10 ** rng.uniform(0, 5, size))
    share = np.where(rng.random(size) < 0.2, 1.0, 10 ** rng.uniform(-4, 0, size))
    made = special.implementations()
    location = np.array([made["length_location"](*p) for p in zip(mean, spread, cap, strict=True)])
    return {
        "normal_cdf": [rng.uniform(-37, 9, size)],
        "normal_quantile": [
            np.concatenate([rng.random(200), 10 ** rng.uniform(-300, -1, 100), 1 - 10 ** rng.uniform(-15, -1, 100)])
        ],
        "log_gamma": [np.concatenate([rng.uniform(0.01, 40, 200), 10 ** rng.uniform(-6, 9, 200)])],
        "digamma": [np.concatenate([rng.uniform(2, 40, 200), 10 ** rng.uniform(0.3, 9, 200)])],
        "length_location": [mean, spread, cap],
        "capped_square": [location, spread, cap],
        "longest_tokens": [n, location, spread, cap],
        "reached_tokens": [n, share, location, spread, cap],
        "peak_tokens": [rng.uniform(0, 2, size) * mean, location, spread, cap],
        "mean_entropy": [10 ** rng.uniform(-1.5, 4, size), 10 ** rng.uniform(-1.5, 4, size),
                         np.where(rng.random(size) < 0.3, 0.0, rng.uniform(0, 0.5, size)), rng.uniform(0, 0.5, size)],
        "group_weight": [rng.random(size), rng.integers(2, 128, size)],
        "mean_flat_share": [10 ** rng.uniform(-1.5, 2, size), 10 ** rng.uniform(-1.5, 2, size),
                            np.where(rng.random(size) < 0.3, 0.0, rng.uniform(0, 0.5, size)),
                            np.where(rng.random(size) < 0.3, 0.0, rng.uniform(0, 0.5, size)),
                            rng.integers(2, 128, size)],
        "gaussian_channel": [rng.random(size), rng.uniform(0.01, 8, size)],
        "path_rollouts": [10 ** rng.uniform(-6, -1, size), rng.uniform(0.1, 0.5, size)],
    }  # fmt: skip


@needs_node
def test_special_functions_have_exact_twins():
    points = special_points()
    assert set(points) == set(special.implementations())
    script = (
        'const S = require("./book/assets/special.js"); const out = {};'
        "for (const f in data) out[f] = data[f][0].map((_, i) => S[f](...data[f].map(a => a[i])));write(out)"
    )
    found = node(script, points)
    for name, args in points.items():
        want = np.array([special.implementations()[name](*p) for p in zip(*args, strict=True)], float)
        got = np.array(found[name], float)
        scale = np.maximum(np.abs(want), 1.0) if name in ("log_gamma", "digamma", "length_location") else np.abs(want)
        worst = np.max(np.abs(got - want) / scale)
        print(name, worst)
        assert worst < 2e-12, (name, worst)


@needs_node
def test_numbers_in_messages_are_written_the_same():
    rng = np.random.default_rng(7)
    numbers = [
        0.0,
        1.0,
        12.5,
        99995.0,
        1e5,
        123456.0,
        1e-5,
        0.0001,
        np.inf,
        *(10 ** rng.uniform(-12, 15, 300)).tolist(),
    ]
    found = node('const S = require("./book/assets/special.js"); write(data.map(x => S.show(x)))', numbers)
    assert found[:8] == [f"{x:.4g}" for x in numbers[:8]] and found[9:] == [f"{x:.4g}" for x in numbers[9:]]


def test_the_twins_use_the_same_nodes_and_steps():
    text = (ASSETS / "special.js").read_text(encoding="utf-8")
    for name in ("TINY_SPREAD", "NEWTON_STEPS", "LOW_NODES", "HIGH_NODES", "BETA_NODES", "CHANNEL_NODES"):
        assert float(re.search(rf"{name} = ([\d.e-]+)", text)[1]) == getattr(special, name), name

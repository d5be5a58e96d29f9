"""The live pages compute what the package computes: special functions, models and refusals, in Node against Python."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rlecon import special
from tests.javascript import NODE

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "book" / "assets"
READ = """
const fix = (k, x) => x === "Infinity" ? Infinity : x === "-Infinity" ? -Infinity : x === "NaN" ? NaN : x;
const data = JSON.parse(require("fs").readFileSync(0, "utf8"), fix);
const text = (k, v) => typeof v === "number" && !Number.isFinite(v) ? String(v) : v;
const write = x => process.stdout.write(JSON.stringify(x, text));
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
        "last_tokens": [n, np.where(rng.random(size) < 0.3, 0.0, n * rng.uniform(0, 6, size)),
                        mean * rng.uniform(0, 6, size), location, spread, cap],
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
    assert found == [f"{x:.4g}" for x in numbers]


def test_the_twins_use_the_same_nodes_and_steps():
    text = (ASSETS / "special.js").read_text(encoding="utf-8")
    for name in (
        "PEAK_TOP",
        "PEAK_NODES",
        "TINY_SPREAD",
        "NEWTON_STEPS",
        "LOW_NODES",
        "HIGH_NODES",
        "SURE_NODES",
        "CAPPED_NODES",
        "END_NODES",
        "AGE_NODES",
        "KNEE_BOTTOM",
        "BETA_NODES",
        "CHANNEL_NODES",
    ):
        assert float(re.search(rf"{name} = ([\d.e-]+)", text)[1]) == getattr(special, name), name


# --- calculators -----------------------------------------------------------------------------------------------------

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from calculator_bill import lever_answer  # noqa: E402  (the directive lives with the book)
from calculator_picture import picture  # noqa: E402
from calculator_script import script  # noqa: E402
from calculator_words import in_words, notes, spread  # noqa: E402

from rlecon import Run, bill, calculators, changes  # noqa: E402
from rlecon.calculators import CALCULATORS, run_of, stops  # noqa: E402
from rlecon.errors import RleconError  # noqa: E402
from rlecon.formatting import format_figure as shown  # noqa: E402
from rlecon.run import KEYS, parse_override  # noqa: E402

POINTS = 240
SCRIPT = """
const P = require("./book/assets/calculator.js"), S = require("./book/assets/special.js");
globalThis.rleconSpecial = S;
eval(require("fs").readFileSync(data.script, "utf8"));
const c = rleconCalculators[data.name];
"""


def random_states(c, count=POINTS):
    """Seeded states: each dial at a stop, between stops, or at an end; every choice; most at least once each."""
    rng = np.random.default_rng(20261130 + len(c.name))
    states = [c.defaults]
    for preset in c.presets:
        states.append(c.defaults | dict(preset.values))
    while len(states) < count:
        state = dict(c.defaults)
        if len(states) > 4 and rng.random() < 0.5:
            state |= dict(c.presets[rng.integers(len(c.presets))].values) if c.presets else {}
        for x in c.choices:
            if rng.random() < min(0.6, 3 / len(c.choices)):
                state[x.key] = x.options[rng.integers(len(x.options))][0]
        for d in c.dials:
            if rng.random() > min(0.7, 8 / len(c.dials)):
                continue
            kind = rng.random()
            numbers = [s for s in d.stops if s is not None]
            if kind < 0.5:
                state[d.key] = d.stops[rng.integers(len(d.stops))]
            elif kind < 0.9:
                low, high = numbers[0], numbers[-1]
                u = rng.random()
                value = low * (high / low) ** u if d.log and low > 0 else low + (high - low) * u
                state[d.key] = float(round(value)) if d.bounds["whole"] else float(value)
            else:
                state[d.key] = numbers[0] if rng.random() < 0.5 else numbers[-1]
        states.append(state)
    return states


def in_node(c, states, tmp_path, body):
    path = tmp_path / f"{c.name}.js"
    path.write_text(script(c), encoding="utf-8")
    return node(SCRIPT + body, {"script": str(path), "name": c.name, "states": states})


def close(got, want, tolerance=1e-9):
    if want is None or got is None:
        return got is want
    want = float(want)
    if not np.isfinite(want):
        return got == want or (want != want and got != got)
    return abs(got - want) <= tolerance * max(abs(want), 1e-300)


@pytest.mark.parametrize("name", list(CALCULATORS))
def test_node_computes_what_python_computes(name, tmp_path):
    """Values, intervals, sentences and refusals, at random settings."""
    c = CALCULATORS[name]
    states = random_states(c)
    body = """write(data.states.map(s => { const r = P.evaluate(c, s); const w = r.reason === null;
      return {reason: r.reason, values: w ? r.values : null, words: w ? P.inWords(c, r.values, s) : "",
              notes: w ? P.notes(c, r.values, s) : [], ends: w ? c.outputs.map(o => P.spread(o, r.values)) : [],
              text: w ? c.outputs.map(o => P.figure(r.values[o.name], o.unit, o.digits)) : []}; }))"""
    answered = 0
    for state, found in zip(states, in_node(c, states, tmp_path, body), strict=True):
        try:
            want = c.solve(state)
        except RleconError as error:
            assert found["reason"] == str(error), (state, found["reason"], str(error))
            continue
        assert found["reason"] is None, (state, found["reason"])
        answered += 1
        for quantity in c.wanted:
            assert close(found["values"][quantity], want[quantity]), (state, quantity)
        for o, ends, text in zip(c.outputs, found["ends"], found["text"], strict=True):
            assert text == shown(found["values"][o.name], o.unit, o.digits), (state, o.name)
            want_ends = spread(o, want)
            assert (ends is None) == (want_ends is None)
            assert ends is None or all(map(close, ends, want_ends)), (state, o.name)
        assert found["notes"] == notes(c, found["values"], state), state
        assert found["words"] == in_words(c, found["values"], state), state
    assert answered > POINTS / 6


@pytest.mark.parametrize("name", [n for n in CALCULATORS if CALCULATORS[n].run_file])
def test_the_rules_of_a_page_are_those_of_a_bill(name):
    """The tables and rules behind a calculator give what :func:`rlecon.bill` gives, and refuse what it refuses."""
    c = CALCULATORS[name]
    answered = 0
    for state in random_states(c)[:120]:
        try:
            want = bill(run_of(c, state))
        except RleconError:
            want = None
        try:
            got = c.solve(state)
        except RleconError as error:
            assert want is None, (state, str(error))
            continue
        assert want is not None, state
        answered += 1
        for o in c.outputs:
            if o.name not in want.values:
                continue
            assert close(got[o.name], want[o.name]), (state, o.name)
            if want[o.name] is None:
                continue
            figure = want.figure(o.name)
            if o.spread and figure.low is not None:
                assert all(map(close, spread(o, got), (float(figure.low), float(figure.high)))), (state, o.name)
    assert answered > 20


@pytest.mark.parametrize("name", list(CALCULATORS))
def test_the_first_picture_is_the_one_that_the_script_draws(name, tmp_path):
    c = CALCULATORS[name]
    body = """const s = c.defaults, o = c.outputs[0], d = c.dials.find(d => d.key === c.over);
      const v = P.evaluate(c, s).values;
      write(P.picture(P.curve(c, s, o, d), o, d, {x: s[d.key], y: v[o.name]}))"""
    found = in_node(c, [], tmp_path, body)
    want = picture(c, c.outputs[0], c.solve())
    for part in ("yLabel", "xLabel"):
        assert found[part] == want[part]
    for part in ("xTicks", "yTicks", "point"):
        assert json.loads(json.dumps(found[part])) == json.loads(json.dumps(want[part])), part
    for part in ("line", "band"):
        numbers = [np.array(re.findall(r"-?[\d.]+", p[part]), float) for p in (found, want)]
        assert len(numbers[0]) == len(numbers[1]) and np.allclose(*numbers, atol=0.11), part


@pytest.mark.parametrize("name", list(CALCULATORS))
def test_sliders_hold_their_presets_exactly(name):
    c = CALCULATORS[name]
    for values in (c.defaults, *(p.values for p in c.presets)):
        for d in c.dials:
            if d.key in values:
                assert values[d.key] in d.stops, (d.key, values[d.key])
                assert values[d.key] is None or d.admits(values[d.key])
        c.solve(values)  # a preset is answered
    for d in c.dials:
        numbers = [s for s in d.stops if s is not None]
        assert numbers == sorted(set(numbers)) and 5 <= len(numbers) <= 80
        assert all(d.admits(s) for s in numbers), d.key


def test_foreign_addresses_are_refused_in_words(tmp_path):
    c = CALCULATORS["index"]
    queries = [
        "reward.pass_rate=0.05&hardware.gpu=h200-sxm", "reward.pass_rate=1.5", "reward.pass_rate=NaN",
        "reward.pass_rate=",
        "hardware.gpu=<script>alert(1)</script>", "hardware.gpus=12.5", "hardware.gpus=-8", "__proto__=1", "x=1",
        "rollout.response_tokens=1e400", "rollout.group_size=0x10", "reward.pass_rate=0.05;drop",
    ]  # fmt: skip
    found = node(
        SCRIPT + "write(data.states.map(q => P.readAddress(c, q)))",
        {"script": str(_written(c, tmp_path)), "name": c.name, "states": queries},
    )
    assert found[0]["state"]["reward.pass_rate"] == 0.05 and found[0]["state"]["hardware.gpu"] == "h200-sxm"
    assert found[0]["refused"] == []
    for answer in found[1:]:
        assert answer["refused"] and answer["state"] == json.loads(json.dumps(c.defaults)), answer
    assert "alert" not in json.dumps(found)


def _written(c, folder):
    path = folder / f"{c.name}.js"
    path.write_text(script(c), encoding="utf-8")
    return path


def test_numbers_are_written_as_the_package_writes_them():
    rng = np.random.default_rng(3)
    numbers = [
        0.0,
        1.0,
        8.0,
        999999.0,
        1e6,
        0.00012345,
        0.985,
        12345.0,
        2.5,
        0.125,
        *(10 ** rng.uniform(-12, 16, 400)).tolist(),
    ]
    units = ["", "usd", "%", "x", "seconds", "bytes", "flop/s", "tokens", "bits"]
    cases = [(x, u, d) for x in numbers for u in units for d in (2, 3)]
    found = node('const P = require("./book/assets/calculator.js"); write(data.map(a => P.format(...a)))', cases)
    wrong = [(case, got, shown(*case)) for case, got in zip(cases, found, strict=True) if got != shown(*case)]
    assert len(wrong) == 0, wrong[:5]


def test_stops_are_round_and_hold_what_they_must():
    assert 1234 in stops(10, 10000, 1234) and stops(10, 10000, 1234)[0] == 10
    assert stops(0.1, 0.9, 0.33, log=False)[-1] == 0.9


def test_calculators_refuse_what_they_do_not_know():
    with pytest.raises(RleconError, match="no such calculator"):
        CALCULATORS["no-such"]
    with pytest.raises(RleconError, match="not a setting"):
        CALCULATORS["index"].state({"x": 1})


# --- the whole bill --------------------------------------------------------------------------------------------------

def test_the_bill_shows_every_key_of_the_run_file_or_says_that_it_does_not():
    c = CALCULATORS["bill"]
    kinds = [set(c.defaults), set(calculators.ABSENT), set(calculators.UNPRICED)]
    assert set.union(*kinds) == set(KEYS) and sum(map(len, kinds)) == len(KEYS)
    assert all(words in c.absent for words in calculators.ABSENT.values())
    run = run_of(c, c.defaults)
    for key in calculators.UNPRICED:  # the bill does not follow them
        assert float(bill(run.replace({key: 4})).usd_run.mid) == float(bill(run).usd_run.mid)


def test_a_judge_of_the_page_is_a_judge_of_the_package():
    c = CALCULATORS["bill"]
    own = {"judge.name": "qwen3-32b", "judge.gpus": 16}
    for settings in ({"judge.name": "qwen3-32b"}, own, own | {"judge.role": "teacher"}):
        want = bill(run_of(c, c.state(settings)))
        assert c.solve(settings)["judge_seconds"] == pytest.approx(float(want["judge_seconds"]), rel=1e-12)
        assert c.solve(settings)["usd_run"] == pytest.approx(float(want["usd_run"]), rel=1e-12) != c.solve()["usd_run"]
    for settings in ({"judge.gpus": 16}, own | {"judge.gpus": 64}):
        with pytest.raises(RleconError) as here:
            c.solve(settings)
        with pytest.raises(RleconError) as there:
            bill(run_of(c, c.state(settings)))
        assert str(here.value) == str(there.value)


BILLS = [n for n in CALCULATORS if CALCULATORS[n].bars]


@pytest.mark.parametrize("name", BILLS)
def test_what_to_change_first_is_what_the_package_says(name, tmp_path):
    """Elasticities and next settings of the page against :meth:`rlecon.pricing.Bill.sensitivity`."""
    c = CALCULATORS[name]
    states = random_states(c)[:40]
    body = """const B = require("./book/assets/bill.js"); write(data.states.map(s => { const r = P.evaluate(c, s);
      return r.reason !== null ? null
        : {smooth: B.elasticities(c, s, r.values), next: B.nextSettings(c, s, r.values)}; }))"""
    compared = 0
    for state, found in zip(states, in_node(c, states, tmp_path, body), strict=True):
        try:
            made = bill(run_of(c, state))
        except RleconError:
            assert found is None
            continue
        if not made.values["usd_run"]:
            continue
        rows = {r["input"]: r for r in made.sensitivity() if "elasticity" in r}
        smooth = {r["key"]: r for r in found["smooth"]}
        for key in {d.key for d in c.dials} & set(rows):
            if rows[key].get("below") is None and "below" not in smooth[key]:
                assert smooth[key]["elasticity"] == pytest.approx(rows[key]["elasticity"], abs=2e-4), (state, key)
                compared += 1
        moves = {(r["input"], str(r["next"]).lower()): r for r in made.sensitivity() if "next" in r}
        for r in found["next"]:
            want = moves.get((r["key"], str(r["next"]).removesuffix(".0")))
            if want is not None:
                assert r["ratio"] == pytest.approx(want["ratio"], abs=1e-4), (state, r)
                compared += 1
    assert compared > 150


def test_levers_of_the_page_are_the_changes_of_the_package(tmp_path):
    """Settings, refusals and ratios: Node against :class:`Lever`, and both against :mod:`rlecon.changes`."""
    c = CALCULATORS["bill"]
    states = random_states(c)[:80]
    body = """const B = require("./book/assets/bill.js"); write(data.states.map(s => ({answers: B.leverAnswers(c, s),
      pulled: c.levers.map(l => P.pulled(c, s, new Set([l.name])))})))"""
    priced = refused = 0
    for state, found in zip(states, in_node(c, states, tmp_path, body), strict=True):
        run = run_of(c, state)
        try:
            before = c.solve(state)
        except RleconError:
            before = None
        changes_here = {x.name: x for x in changes.changes_of(run)}
        for lever, answer, pulled in zip(c.levers, found["answers"], found["pulled"], strict=True):
            why, after = lever.refusal(state), lever.pulled(state)
            assert pulled == json.loads(json.dumps(after)), (state, lever.name)
            if lever.name in changes_here:
                try:
                    keys = changes_here[lever.name].keys(run)
                except RleconError as error:
                    assert why == str(error), (state, lever.name)
                else:
                    assert why == "", (state, lever.name)
                    half = {k: max(1, (state["hardware.gpus"] - state["judge.gpus"]) // 2) for k in lever.halves}
                    assert run_of(c, after).values == run.replace(keys | half).values, (state, lever.name)
            if before is not None and not why:
                ratio, why = lever_answer(c, lever, state, before)
                assert close(answer["ratio"], ratio), (state, lever.name)
                if ratio is not None:
                    priced += 1
                    if before["usd_run"]:
                        bills = [bill(run_of(c, s))["usd_run"] for s in (state, after)]
                        assert ratio == pytest.approx(float(bills[1]) / float(bills[0]), rel=1e-9)
            refused += bool(why)
            assert before is None or answer["why"] == why, (state, lever.name)
    assert priced > 150 and refused > 50


def test_a_lever_alone_saves_what_the_package_says(tmp_path):
    """The ratios that stand on the page at first are those of ``rlecon levers``; only the split of GPUs is its own."""
    c = CALCULATORS["bill"]
    names = [x.name for x in c.levers if not x.halves and not x.refusal(c.defaults) and x.name != "partial_rollouts"]
    said = changes.levers(run_of(c, c.defaults), only=names)["changes"]
    (found,) = in_node(c, [c.defaults], tmp_path, 'const B = require("./book/assets/bill.js");'
                       "write(data.states.map(s => B.leverAnswers(c, s)))")  # fmt: skip
    ratios = {x["name"]: x["ratio"] for x in found}
    assert len(names) >= 5
    for name in names:
        assert ratios[name] == pytest.approx(said[name]["usd_ratio_alone"]["mid"], rel=1e-9), name


def test_an_address_holds_the_settings_and_the_levers_that_are_on(tmp_path):
    """Written and read again at random: both stay, unless the settings or a lever of the same family forbid one."""
    c = CALCULATORS["bill"]
    rng = np.random.default_rng(11)
    names = [x.name for x in c.levers]
    cases = [(s, [n for n in names if rng.random() < 0.4]) for s in random_states(c)[:100]]
    body = """write(data.states.map(([s, on]) => { const a = P.writeAddress(c, s, on);
      const read = P.readAddress(c, a.split("?")[1] || "");
      return Object.assign(read, {again: P.writeAddress(c, read.state, read.levers), address: a}); }))"""
    kept = lost = 0
    for (state, asked), found in zip(cases, in_node(c, cases, tmp_path, body), strict=True):
        assert found["state"] == json.loads(json.dumps(state))
        want, families, why = [], set(), []
        for lever in (x for x in c.levers if x.name in asked):
            if lever.refusal(state):
                why.append(f"{lever.label} is not on: {lever.refusal(state)}")
            elif lever.family in families:
                why.append(next(w for w in found["refused"] if w.startswith(f"{lever.label} is not on: ")))
            else:
                want.append(lever.name)
                families |= {lever.family} - {""}
        assert (found["levers"], found["refused"]) == (want, why), (state, asked)
        assert found["again"] == found["address"] or why
        kept, lost = kept + len(want), lost + len(why)
    assert kept > 50 and lost > 20


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("lever=warp", "a lever that this calculator does not have"), ("lever=__proto__", "does not have"),
        ("lever=", "does not have"), ("lever=%3Cimg%20src=x%3E", "does not have"), ("lever=LORA", "does not have"),
        ("lever=lora,async", "does not have"), ("lever=prefix_cache", "Prefix cache is not on: a single turn"),
        ("model.lora_rank=16&lever=lora", "LoRA is not on: the run already trains an adapter"),
    ],
)  # fmt: skip
def test_a_lever_that_cannot_be_is_left_out_in_words(query, message, tmp_path):
    c = CALCULATORS["bill"]
    (found,) = in_node(c, [query], tmp_path, "write(data.states.map(q => P.readAddress(c, q)))")
    assert found["levers"] == [] and message in found["refused"][0] and "<" not in json.dumps(found["refused"])
    both = in_node(c, ["lever=fp4_rollouts&lever=fp8_rollouts&lever=fp8_rollouts"], tmp_path,
                   "write(data.states.map(q => P.readAddress(c, q)))")  # fmt: skip
    assert both[0]["levers"] == ["fp8_rollouts"] and "only one of both can be" in both[0]["refused"][0]
    page_without = CALCULATORS["index"]
    (found,) = in_node(page_without, ["lever=lora"], tmp_path, "write(data.states.map(q => P.readAddress(c, q)))")
    assert found["levers"] == [] and found["refused"]


def test_run_files_go_both_ways(tmp_path):
    """A state written as a run file is the run that Python reads, and comes back as the same state."""
    c = CALCULATORS["bill"]
    states = random_states(c)[:120]
    body = """const B = require("./book/assets/bill.js");
      write(data.states.map(s => { const t = B.toFile(c, s);
        return {text: t, command: B.toCommand(c, s), back: B.fromFile(c, t)}; }))"""
    for state, found in zip(states, in_node(c, states, tmp_path, body), strict=True):
        want = run_of(c, state)
        assert Run.from_text(found["text"]).values == want.values, state
        settings = found["command"].removeprefix("rlecon estimate").split(" --set ")[1:]
        assert Run().replace(dict(map(parse_override, settings))).values == want.values
        assert found["back"].get("left") == [] and {k: found["back"]["state"][k] for k in state} == state


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("group_size = 8", "before any"), ("[rollouts]", "no such table"),
        ("[rollout]\ngroup_sizes = 8", "line 2: no such key"),
        ("[rollout]\ngroup_size = eight", "a whole number"), ("[rollout]\ngroup_size = 8\ngroup_size = 8", "twice"),
        ("[rollout]\ngroup_size = [8, 16]", "not read"), ('[model]\nname = "gpt-9"', "must be one of"),
        ("[model]\nname = qwen3-8b", "must be one of"), ("[rollout]\ngroup_size = 8.5", "a whole number"),
        ("[reward]\npass_rate = 1.2", "from 0 to 1"), ("[reward]\npass_rate = nan", "from 0 to 1"), ("", "not given"),
        ("[rollout]\n[rollout]", "twice"), ('[model]\nname = "qwen3-8b', "not read"), ("\n" * 600, "not a run file"),
        ("[hardware]\ngpus = 0x40", "a whole number"), ("[update]\noverlap = none", "must be one of"),
    ],
)  # fmt: skip
def test_a_pasted_file_that_is_wrong_is_answered_in_words(text, message, tmp_path):
    c = CALCULATORS["bill"]
    body = 'const B = require("./book/assets/bill.js"); write(data.states.map(t => B.fromFile(c, t)))'
    (found,) = in_node(c, [text], tmp_path, body)
    assert message in found["error"] and "state" not in found

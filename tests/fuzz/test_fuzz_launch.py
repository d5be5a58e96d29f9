"""Mutated launch configs: every one is read or refused with ``RleconError``, quickly and in little memory.

300 mutants by default; ``make fuzz`` runs 10,000 (``RLECON_FUZZ`` says how many).
"""

import os
import random
import resource
import signal
import time
import tomllib
from pathlib import Path

from rlecon.errors import RleconError
from rlecon.readers.launch import FRAMEWORKS, import_config

SEEDS = sorted((Path(__file__).parents[1] / "readers" / "fixtures" / "launch").iterdir())
COUNT = int(os.environ.get("RLECON_FUZZ", "300"))
SECONDS, BYTES = 5, 500e6
PIECES = [
    "${", "}", "$((", "))", "$(", ")", "(", "[", "]", "{", "\"", "'", "`", "\\", "\n", "\t", "#", "<<EOF", "&", "*",
    "${a.b}", "${mul:${a},2}", "${A:-${B:-", "if x; then", "fi", "case $A in", ";;", "esac", "done", "while x; do",
    "&a [*a, *a]", "<<: *a", "!!", "defaults: x", "- ", ": ", "=", "==", "[[", "]]", "0", "-1", "1e999", "NaN", "null",
    "9" * 400, "1" * 30, "list(range(0,999999))", "sglang:d0t9", "\u2028", "\ud7ff", "\x1b[31m", "A=$A$A", "[" * 80,
    "X+=(\"${X[@]}\" \"${X[@]}\")\n", "f(){ f; f; }\nf\n", "--", "--a", "~a.b", "+", "../" * 30, "--set", "%", "\x07",
]


def mutant(chance, texts):
    text = chance.choice(texts)
    for _ in range(chance.randint(1, 8)):
        lines = text.split("\n")
        kind = chance.randrange(8)
        a, b = (chance.randrange(len(text) + 1) for _ in range(2))
        if kind == 0:
            text = text[:a] + chance.choice(PIECES) + text[a:]
        elif kind == 1:
            text = text[:min(a, b)] + text[max(a, b):] if abs(a - b) < 300 else text[:a]
        elif kind == 2:
            letter = chr(chance.choice([chance.randrange(1, 128), chance.randrange(160, 0xD000)]))
            text = text[:a] + letter + text[a + 1:]
        elif kind == 3:
            chance.shuffle(lines)
            text = "\n".join(lines)
        elif kind == 4:
            spot = chance.randrange(len(lines))
            lines[spot:spot] = [lines[spot]] * chance.choice([1, 2, 50])
            text = "\n".join(lines)
        elif kind == 5:
            other = chance.choice(texts)
            text = text[:a] + other[chance.randrange(len(other) + 1):]
        elif kind == 6:
            text = text[:a] + chance.choice(PIECES) * chance.choice([3, 200, 3000]) + text[a:]
        else:
            word = chance.choice(text.split() or ["x"])
            text = text.replace(word, chance.choice(PIECES))
    return text[:300_000]


def test_mutants(tmp_path):
    """No crash, no hang, no memory above the bound; what is read prints as TOML."""
    texts = [seed.read_text() for seed in SEEDS]
    chance, refused, slowest = random.Random(20261130), 0, 0.0
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # what other tests left in this process

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for number in range(COUNT):
            suffix = chance.choice([".sh", ".txt", ".yaml", ".toml", ".yml", ""])
            file = tmp_path / f"launch{suffix}"
            file.write_text(mutant(chance, texts), encoding="utf-8", errors="replace")
            framework = chance.choice([None, None, *FRAMEWORKS])
            start = time.process_time()  # work, whatever else the machine does; the alarm ends what hangs
            signal.alarm(4 * SECONDS)
            try:
                got = import_config(file, framework=framework)
                tomllib.loads(got.to_toml())
            except RleconError as error:
                refused += 1
                assert len(str(error)) < 20_000
            finally:
                signal.alarm(0)
            slowest = max(slowest, time.process_time() - start)
            assert slowest < SECONDS, f"mutant {number} took {slowest:.1f} s"
    finally:
        signal.signal(signal.SIGALRM, before)
    assert 0 < refused < COUNT
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - held < BYTES


def test_any_bytes(tmp_path):
    """Random bytes are refused, or read as nothing known."""
    chance = random.Random(7)
    for _ in range(max(20, COUNT // 20)):
        file = tmp_path / "launch.txt"
        file.write_bytes(chance.randbytes(chance.randrange(2000)))
        try:
            import_config(file)
        except RleconError:
            continue
        raise AssertionError("random bytes were read as a launch config")

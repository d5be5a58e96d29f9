"""Mutated training logs: every one is read or refused with ``RleconError``, quickly and in little memory.

300 mutants by default; ``make fuzz`` runs 10,000 (``RLECON_FUZZ`` says how many).
"""

import contextlib
import json
import os
import random
import resource
import time
from pathlib import Path

import pytest

from rlecon.diagnosis import diagnose
from rlecon.errors import RleconError
from rlecon.readers.logs import FRAMEWORKS, read_log

SEEDS = sorted((Path(__file__).parents[1] / "readers" / "fixtures" / "logs").iterdir())
COUNT = int(os.environ.get("RLECON_FUZZ", "300"))
SECONDS, BYTES = 5.0, 500e6
PIECES = [
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[31m", b"\r", b"\r\n", b"\n", b"\xe2\x80\xa8", b"\x85", "…".encode(),
    b" - ",
    b":", b"|", b"{", b"}", b"'", b'"', b"0", b"-1", b"1e999", b"-1e308", b"1e17", b"nan", b"inf", b"9" * 400, b"1_0",
    b"np.float64(", b")", b"step:", b"step:99999999999999999999", b"step:? - ", b"Step 3 | Time: 0s | Reward: 1",
    b"timing_s/step:0", b"timing_s/gen:-5", b"perf/throughput:0", b"critic/score/mean:2", b"critic/advantages/max:1e9",
    b"global_seqlen/mean:0.5", b"'frac_reward_zero_std': 7", b"rollout/zero_std/count_1': 1e9", b"perf 1: {",
    b"[" * 5000,
    b'{"a":' * 5000, b"a" * 300_000, b"x/" * 50_000, b"1." * 50_000, b"| gen | 1s |", b"success", b"\n|",
    b"%|x| 1/0 [0:0<?,",
    b"'num_tokens': 1, ", b"reward/avg_pass_at_0", b"Total step time: 0s", b"(0/0)", b"(5/3)", b"\xf0\x9f\xa7\xa8",
]  # fmt: skip


def mutant(chance: random.Random, seeds: list[bytes]) -> bytes:
    data = chance.choice(seeds)
    for _ in range(chance.randint(1, 8)):
        a, b = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        kind = chance.randrange(8)
        if kind == 0:
            data = data[:a] + chance.choice(PIECES) + data[a:]
        elif kind == 1:
            data = data[:a] + data[b:] if b - a < 400 else data[:a]
        elif kind == 2:
            junk = bytes(chance.randrange(256) for _ in range(chance.randint(1, 30)))
            data = data[:a] + junk + data[b if b - a < 30 else a :]
        elif kind == 3:
            other = chance.choice(seeds)
            cut = chance.randrange(len(other) + 1)
            data = data[:a] + other[cut : cut + 3000] + data[a:]
        elif kind == 4 and b - a < 20_000:
            data = data[:b] + data[a:b] * chance.randint(1, 20) + data[b:]
        elif kind == 5:
            lines = data.split(b"\n")
            chance.shuffle(lines)
            data = b"\n".join(lines)
        elif kind == 6:
            digits = [i for i in range(a, min(b, a + 2000)) if data[i : i + 1].isdigit()]
            for i in digits[:: chance.randint(1, 9)]:
                data = data[:i] + bytes([chance.choice(b"0123456789.-e")]) + data[i + 1 :]
        else:
            data = data[:a].replace(b"\n", b"") + data[a:]
        data = data[:2_000_000]
    return data


@pytest.mark.parametrize("block", range(4))
def test_mutated_logs_never_crash_hang_or_swell(block, tmp_path):
    chance = random.Random(f"logs {block}")
    seeds = [path.read_bytes() for path in SEEDS]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    path, read = tmp_path / "x.log", 0
    for _ in range(COUNT // 4):
        data = mutant(chance, seeds)
        path.write_bytes(data)
        framework = chance.choice([None, None, None, *FRAMEWORKS])
        known = {"gpus": 8, "usd_per_gpu_hour": 2.0} if chance.random() < 0.5 else {}
        known |= {"group_size": 8, "binary_reward": True} if chance.random() < 0.3 else {}
        start = time.process_time()
        try:
            report = read_log(path, framework=framework, **known)
            findings = diagnose(report)
        except RleconError as error:
            assert len(str(error)) < 1000
            assert time.process_time() - start < SECONDS
            continue
        assert time.process_time() - start < SECONDS
        json.dumps([report.to_dict(), *(finding.to_dict() for finding in findings)], allow_nan=False)
        for step in (report, *report.steps):
            for share in (step.pass_rate, step.mixed_group_share, step.truncated_share, step.mfu):
                assert share is None or 0 <= share <= 1
            assert step.gpus is None or step.gpus > 0
        read += 1
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert after - before < BYTES
    assert read > COUNT // 40, "most mutants should still be read"


@pytest.mark.parametrize("framework", [None, *FRAMEWORKS])
def test_lines_made_to_trap_a_pattern_are_read_in_time(framework, tmp_path):
    traps = [
        "Step 1 | Time: 1s | ", "[TRAIN] step: 1, ", "=", "| ", "step: ", "step:1 - ", "a:", "'a': '", "timing_s/",
        "timing_s/gen:1 - ", "Global step 1", "perf 1: {", "1.", "Total step time: ", "timing/step': ", "((((", "0%|",
        "5/", "1e", "'completion_length': ", "rollout/zero_std/count_", "critic/score/mean: (1/", "np.float64(", "~",
        "\u2026", "- ",
    ]  # fmt: skip
    ends = ["", " tokens_per_second: x Step 1 | Finished: ' timing/x perf rollout it step: | lobal step reward : - "]
    path = tmp_path / "x.log"
    path.write_text("".join(trap * (250_000 // len(trap)) + end + "\n" for trap in traps for end in ends))
    start = time.process_time()
    with contextlib.suppress(RleconError):
        read_log(path, framework=framework)
    assert time.process_time() - start < 20, "52 lines of a quarter of a megabyte"

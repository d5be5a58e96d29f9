"""Loops told from the tail that a cap cuts anyway."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlecon import Run, simulate
from rlecon.errors import RleconError
from rlecon.looping import looping_share
from rlecon.readers.logs import read_log
from rlecon.reading import expectation


@pytest.mark.parametrize("share", [0.0, 0.004, 0.03])
def test_a_simulated_log_gives_its_loops_back(share):
    cap, cv = 8192.0, 0.95
    spread = math.sqrt(math.log1p(cv**2))
    drawn = simulate.lengths(np.random.default_rng(3), 2_000_000, math.log(1400), spread, cap, share)
    cut = float(np.mean(drawn >= cap))
    found = looping_share(cut, float(drawn.mean()), cap, cv)
    assert found == pytest.approx(share, abs=0.0005)
    assert cut > share + 0.005  # the clip ratio alone would overstate


def test_the_tail_explains_few_cuts():
    assert looping_share(0.004, 330, 1024, 0.95) == 0
    with pytest.raises(RleconError, match="more than the mean"):
        looping_share(0.5, 500, 8192, 0.95)
    with pytest.raises(RleconError, match="not a share"):
        looping_share(1.0, 500, 8192, 0.95)


def test_a_log_tells_the_expectation_of_its_loops(tmp_path):
    line = ("step:1 - response_length/mean:500 - response_length/max:28672 - response_length/clip_ratio:{} - "
            "prompt_length/mean:200 - timing_s/gen:60 - timing_s/step:100 - perf/total_num_tokens:179200")
    run = Run(
        model={"name": "qwen2.5-7b"}, hardware={"gpu": "h20", "gpus": 8, "usd_per_gpu_hour": 1.0},
        rollout={"prompts_per_step": 32, "group_size": 8, "response_tokens": 500, "max_response_tokens": 28672},
    )  # fmt: skip
    seconds = {}
    for share in (0, 0.008):
        path = tmp_path / f"{share}.log"
        path.write_text(line.format(share), encoding="utf-8")
        found = expectation(run, read_log(path))
        seconds[share] = found["phases"]["rollout"]
        assert ("rollout.looping_share" in found["from_log"]) == bool(share)
    assert seconds[0.008] > 2 * seconds[0]
    path.write_text(line.format(0.008).replace("max:28672", "max:9000"), encoding="utf-8")
    assert "rollout.looping_share" not in expectation(run, read_log(path))["from_log"]  # another cap cut them

"""Real logs in the folder that ``RLECON_LOG_CASES`` names: each is read or refused, never a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rlecon.diagnosis import RULES, diagnose
from rlecon.errors import RleconError
from rlecon.readers.logs import read_log

FOLDER = os.environ.get("RLECON_LOG_CASES")
pytestmark = pytest.mark.skipif(not FOLDER, reason="RLECON_LOG_CASES does not name a folder of real logs")
FILES = sorted(Path(FOLDER).iterdir()) if FOLDER else []
# What the folder's own list of answers says: rollouts, GPUs given by the poster, and figures to their tolerance.
ANSWERS = {
    "verl-c550-qwen3-8b-a.txt": ({}, {"rollouts": 1280, "group_size": 5, "gpus": 8, "gpu_hours": 2.819,
                                      "pass_rate": 0.0758,
                                      "bits_per_rollout": 0.387, "bits_per_token": 9.67e-5, "bits_per_gpu_hour": 176,
                                      "mixed_group_share": 0.326, "truncated_share": 0.897}),
    "verl-c550-qwen3-8b-b.txt": ({}, {"rollouts": 1024, "group_size": 4, "gpus": 8}),
    "verl-smollm-135m.txt": ({}, {"rollouts": 1024, "group_size": 8, "gpus": 1, "bits_per_rollout": 0.433, "mfu": None,
                                  "bits_per_token": 4.646e-3, "mixed_group_share": 0.525}),
    "verl-gh200-sglang.txt": ({}, {"rollouts": 5120, "group_size": 5, "gpus": 4, "gpu_hours": 0.1073, "mfu": None,
                                   "pass_rate": 0.011, "bits_per_rollout": 0.0874}),
    "verl-sglang-gsm8k-zeroadv.txt": ({}, {"rollouts": 4096, "gpus": 8, "mixed_group_share": 0, "bits_per_rollout": 0}),
    "verl-lora-clipratio.txt": ({}, {"rollouts": 1280, "group_size": 5, "gpus": 4, "pass_rate": None, "mfu": None}),
    "verl-geo3k-qwen3.5-9b.md": ({"gpus": 8}, {"all_tokens": 331_760, "mfu": 0.025}),
    "verl-deepswe-qwen3-30b-a3b.txt": ({"gpus": 16}, {"rollouts": 128, "gpu_hours": 17.73, "pass_rate": 0.0391,
                                                      "bits_per_gpu_hour": 1.718, "bits_per_token": 3.14e-5}),
    "verl-omni-flowgrpo.txt": ({}, {"all_tokens": None, "pass_rate": None}),
    "slime-qwen3-0.6b-h200.txt": ({}, {"step_seconds": 532.9}),
    "slime-cp2.txt": ({}, {"step_seconds": 14.18}),
    "slime-rollout-zero-std.txt": ({"group_size": 8}, {"rollouts": 256, "gpus": 8, "response_tokens": 710_071,
                                                       "mixed_group_share": 6 / 32}),
    "prime-rl-orchestrator.txt": ({}, {"rollouts": 512}),
    "prime-rl-mfu-bug.txt": ({}, {"mfu": 0.4246}),
    "nemo-rl-token-identity.txt": ({}, {"all_tokens": 2_869_598}),
    "trl-zero-std.txt": ({}, {"mixed_group_share": 0, "bits_per_rollout": 0, "pass_rate": None}),
    "trl-old-keys.txt": ({}, {"pass_rate": None}),
    "trl-open-r1-a100.txt": ({"gpus": 8}, {"step_seconds": 281.24, "planned_steps": 1000, "pass_rate": 0.0257}),
    "trl-rl-swarm-nearzero.txt": ({}, {"pass_rate": None}),
}  # fmt: skip
SEPARATE = {"nemo-rl-performance-v0.6.csv": 7, "prime-rl-trainer-baselines.csv": 34, "vime-async-qwen3-4b-a3.md": 2}
REFUSED = {"README.md", "answers.md", "cosmos-reason1.txt", "group-homogeneity.md", "skyrl-opd-h100x8.md"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_real_log(path):
    if path.name in REFUSED:
        with pytest.raises(RleconError):
            read_log(path)
        return
    if path.name in SEPARATE:
        report = read_log(path)
        assert report.separate_runs and len(report.steps) == SEPARATE[path.name]
        return
    known, answers = ANSWERS.get(path.name, ({}, {}))
    report = read_log(path, **known)
    assert len(diagnose(report)) == len(RULES)
    for name, value in answers.items():
        assert getattr(report, name) == (value if value is None else pytest.approx(value, rel=0.01)), name

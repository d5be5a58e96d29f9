"""Runs that calculators and chapters share, and the presets that readers know them by."""

from __future__ import annotations

from rlecon.calculators.parts import Preset

MATH_8B = Preset(
    "8B math",
    {"model.name": "qwen3-8b", "hardware.gpus": 64, "rollout.prompts_per_step": 256, "rollout.group_size": 8,
     "rollout.response_tokens": 4000, "reward.pass_rate": 0.3},
)  # fmt: skip
AGENT_32B = Preset(
    "32B agent",
    {"model.name": "qwen3-32b", "hardware.gpus": 128, "rollout.prompts_per_step": 64, "rollout.group_size": 8,
     "rollout.response_tokens": 20000, "reward.pass_rate": 0.2},
)  # fmt: skip
FRONTIER = Preset(
    "frontier, long horizon",
    {"model.name": "deepseek-v3", "hardware.gpu": "b200", "hardware.gpus": 1024, "hardware.usd_per_gpu_hour": None,
     "rollout.prompts_per_step": 256, "rollout.group_size": 16, "rollout.response_tokens": 65000,
     "rollout.weight_bits": "8", "rollout.kv_bits": "8", "reward.pass_rate": 0.05},
)  # fmt: skip
SPINE = {
    "model": {"name": "qwen3-8b"},
    "hardware": {"gpu": "h100-sxm", "gpus": 64, "usd_per_gpu_hour": 2.5},
    "rollout": {"prompts_per_step": 256, "group_size": 8, "prompt_tokens": 512, "response_tokens": 4000,
                "response_tokens_cv": 0.8},
    "reward": {"pass_rate": 0.3},
    "run": {"steps": 200},
}  # fmt: skip
PRESETS = (MATH_8B, AGENT_32B, FRONTIER)
# The same run with a cap on length, for pages whose subject is time: without a cap the tail sets the step.
CAPPED = {**SPINE, "rollout": {**SPINE["rollout"], "max_response_tokens": 8192}}
CAPPED_PRESETS = tuple(
    Preset(preset.words, {**preset.values, "rollout.max_response_tokens": cap})
    for preset, cap in zip(PRESETS, (8192, 65536, 262144), strict=True)
)
LONG = {**CAPPED, "rollout": {**CAPPED["rollout"], "response_tokens": 8000, "max_response_tokens": 32768}}
AGENT = {
    "model": {"name": "qwen3-32b"},
    "hardware": {"gpu": "h100-sxm", "gpus": 64, "usd_per_gpu_hour": 2.5},
    "rollout": {"prompts_per_step": 64, "group_size": 8, "prompt_tokens": 2000, "response_tokens": 15000,
                "response_tokens_cv": 0.6, "max_response_tokens": 32768, "turns": 30, "tool_tokens_per_turn": 500,
                "environment_seconds_per_turn": 4, "environment_cpus": 2},
    "reward": {"pass_rate": 0.3},
    "run": {"steps": 200},
}  # fmt: skip

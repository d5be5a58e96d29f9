"""Measurements that stay off, and why."""

from __future__ import annotations

LOG_PROBABILITIES = "the pass over old log-probabilities took twice what its FLOPs take"
REASONS = {
    "nemo_v06_gb200_bf16_qwen330ba3b_async1_16g": "2.2 times the step of the same run on twice the GPUs: unhealthy",
    "nemo_v06_gb200_bf16_qwen3235ba22b_sync_128g": "slower than the same run on half the GPUs, which took 286 s",
    "nemo_v04_h100_bf16_qwen330ba3b_async1_32g": "an early release: the next ran the same layout in 63 % of the time",
    "nemo_v04_h100_bf16_qwen330ba3b_sync_32g": "an early release",
    "nemo_v04_h100_bf16_qwen3235ba22b_async1_256g": "found after the terms were chosen. Its engines stay within a node "
    "and read experts as fast as tuned ones; the typical efficiency is that of engines across nodes and on new GPUs",
    "megatron_qwen3_30b": "kernels of later releases: the same recipe was measured at 0.6 of this speed a year before",
    "megatron_qwen3_235b": "expert kernels differ by generation of GPU and release more than one constant can say",
    "megatron_llama3_70b": "GB300 gains more over GB200 than its peak; 4 bits gain less than theirs",
    "megatron_llama31_405b": "GB300 gains more over GB200 than its peak; 4 bits gain less than theirs",
    "primerl_4b_16k_h100": "small work per step: a fixed time of nearly a second per step is not in the model",
    "primerl_4b_16k_h200": "small work per step: a fixed time of nearly a second per step is not in the model",
    "verl_7b_async_128": "length from a prior",
    "verl_7b_colocate_32": "its rollout took 2.4 times that on twice the GPUs: more than its share of the work",
    "verl_7b_colocate_64": LOG_PROBABILITIES,
    "verl_7b_colocate_128": LOG_PROBABILITIES,
    "verl_30b_colocate_128": "no loop explains it: even as one answer up to the cap of 8,192 tokens the rollout took "
    "42 ms per decode step, as if engines were larger than assumed or their experts slow on this GPU",
    "primerl_30b_16k_h100": "with full training its optimizer is offloaded to the CPU",
    "trtllm_deepseekr1": "attention is data-parallel there: the latent cache is split, here it is replicated",
    "trtllm_gptoss120b": "on H100 and H200 4-bit weights are unpacked while computing",
    "trtllm_gptoss20b": "on H100 and H200 4-bit weights are unpacked while computing",
    "areal_7b": "split of the GPUs and length assumed",
    "simplerl_32b": "length from a prior that is too short for it",
    "verl_7b_async_32": "length from a prior; 1.3 with the length that its update implies",
    "olmo3_learner_wait": "typical times, not tied to one model; an engine without CUDA graphs assumed",
}


def reason(point) -> str:
    """Why a prediction may be off: what is known of the measurement beside the note of its row."""
    return "; ".join(dict.fromkeys(t for t in (point.note, REASONS.get(point.id, "")) if t))

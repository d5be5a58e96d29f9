"""Bits, from the definitions: joint tables, densities, areas under loss curves, paths."""

from __future__ import annotations

import math

from tests.reference.core import (
    FLOPS_PER_PARAMETER,
    SECONDS_PER_HOUR,
    entropy,
    integral,
    refuse_unless,
)
from tests.reference.learning import over_prompts


def told(pass_rate, false_positive_rate, false_negative_rate):
    """Mutual information of truth and verdict, from the table of their joint chances."""
    p = pass_rate
    table = [
        [p * (1 - false_negative_rate), p * false_negative_rate],
        [(1 - p) * false_positive_rate, (1 - p) * (1 - false_positive_rate)],
    ]
    bits = 0.0
    for row in table:
        for j, joint in enumerate(row):
            if joint > 0:
                bits += joint * math.log2(joint / (sum(row) * (table[0][j] + table[1][j])))
    return bits


def bits_per_rollout(mean_pass_rate, pass_rate_spread, false_positive_rate, false_negative_rate):
    return over_prompts(lambda p: told(p, false_positive_rate, false_negative_rate), mean_pass_rate, pass_rate_spread)


def channel(p, spacing):
    """h(y) - h(z) for y = spacing r + z: the entropy of a mixture of two normals less that of one."""

    def phi(x):
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    def surprise(y):
        density = p * phi(y - spacing) + (1 - p) * phi(y)
        return -density * math.log2(density) if density > 0 else 0.0

    stops = (-12, -4, 0, spacing / 2, spacing, spacing + 4, spacing + 12)
    return integral(surprise, *stops) - math.log2(2 * math.pi * math.e) / 2


def faint(pass_rate, logit_sensitivity):
    refuse_unless(logit_sensitivity <= 1)
    return pass_rate * (1 - pass_rate) * logit_sensitivity**2 / 2 * math.log2(math.e)


def divergence(target_pass_rate, start_pass_rate):
    pairs = ((target_pass_rate, start_pass_rate), (1 - target_pass_rate, 1 - start_pass_rate))
    return sum(x * math.log2(x / y) for x, y in pairs if x > 0)


def fewest_rollouts(start_pass_rate, target_pass_rate):
    """Demand rises by d kl / dp along the path; each rollout pays H(p)."""
    refuse_unless(start_pass_rate <= target_pass_rate <= 0.5)

    def slope(p):
        return math.log2(p / (1 - p)) - math.log2(start_pass_rate / (1 - start_pass_rate))

    return integral(lambda p: slope(p) / entropy(p), start_pass_rate, target_pass_rate)


def _loss(tokens, scale, exponent):
    return scale * tokens**-exponent


def _area(pretraining_tokens, scale, exponent, above):
    """Area of the loss curve above a level from the first token to the last, per token, in bits.

    Tokens are D u^k: with k large enough the first of them are no singular end.
    """
    k = 4 / (1 - exponent)

    def strip(u):
        if u == 0:
            return 0.0
        return (_loss(pretraining_tokens * u**k, scale, exponent) - above) * k * u ** (k - 1)

    return integral(strip, 0, 0.5, 1) / math.log(2)


def learned(pretraining_tokens, loss_scale_tokens, loss_exponent_tokens):
    final = _loss(pretraining_tokens, loss_scale_tokens, loss_exponent_tokens)
    return _area(pretraining_tokens, loss_scale_tokens, loss_exponent_tokens, final)


def learned_limit(pretraining_tokens, loss_scale_tokens, loss_exponent_tokens):
    return _area(pretraining_tokens, loss_scale_tokens, loss_exponent_tokens, 0.0)


def reducible(
    total_parameters,
    pretraining_tokens,
    loss_scale_parameters,
    loss_scale_tokens,
    loss_exponent_parameters,
    loss_exponent_tokens,
):
    nats = _loss(total_parameters, loss_scale_parameters, loss_exponent_parameters)
    nats += _loss(pretraining_tokens, loss_scale_tokens, loss_exponent_tokens)
    return nats / math.log(2)


def loss_bits_per_token(
    irreducible_loss_nats,
    total_parameters,
    pretraining_tokens,
    loss_scale_parameters,
    loss_scale_tokens,
    loss_exponent_parameters,
    loss_exponent_tokens,
):
    return irreducible_loss_nats * math.log2(math.e) + reducible(
        total_parameters,
        pretraining_tokens,
        loss_scale_parameters,
        loss_scale_tokens,
        loss_exponent_parameters,
        loss_exponent_tokens,
    )


def pretraining_gpu_seconds_per_token(
    active_parameters_matmul, backward_passes, pretraining_mfu, bf16_flops_per_second
):
    return FLOPS_PER_PARAMETER * active_parameters_matmul * backward_passes / (pretraining_mfu * bf16_flops_per_second)


def rl_gpu_seconds_per_token(
    active_parameters_matmul, scoring_passes, backward_passes, decode_mfu, train_mfu, bf16_flops_per_second
):
    """A forward pass takes 2 N FLOPs: one to write, some to score, and the update, each at its own utilisation."""
    forward = FLOPS_PER_PARAMETER * active_parameters_matmul
    writing = forward / (decode_mfu * bf16_flops_per_second)
    rest = forward * (scoring_passes + backward_passes) / (train_mfu * bf16_flops_per_second)
    return writing + rest


REFERENCE = {
    "entropy_bits": lambda pass_rate: entropy(pass_rate),
    "mean_entropy": lambda mean_pass_rate, pass_rate_spread: over_prompts(entropy, mean_pass_rate, pass_rate_spread),
    "observed_pass_rate": lambda mean_pass_rate, false_positive_rate, false_negative_rate: (
        1 - mean_pass_rate * false_negative_rate - (1 - mean_pass_rate) * (1 - false_positive_rate)
    ),
    "youden_index": lambda false_positive_rate, false_negative_rate: (1 - false_negative_rate) - false_positive_rate,
    "verifier_information": told,
    "bits_per_rollout": bits_per_rollout,
    "success_bits": lambda pass_rate: pass_rate * math.log2(1 / pass_rate) if pass_rate else 0.0,
    "level_bits": lambda levels: math.log2(levels),
    "noisy_score_bits": lambda reward_snr: math.log2(math.sqrt(1 + reward_snr)),
    "score_information": lambda pass_rate, logit_sensitivity: channel(pass_rate, logit_sensitivity),
    "faint_score_information": faint,
    "bits_per_step": lambda bits_per_rollout, rollouts, dynamic_sampling, oversampling: (
        bits_per_rollout * (rollouts + dynamic_sampling * (oversampling - 1) * rollouts)
    ),
    "bits_per_token": lambda bits_per_rollout, response_tokens: bits_per_rollout / response_tokens,
    "tokens_per_bit": lambda bits_per_token: 1 / bits_per_token,
    "pretraining_flops_per_token": lambda active_parameters_matmul, backward_passes: (
        FLOPS_PER_PARAMETER * active_parameters_matmul * backward_passes
    ),
    "rl_flops_per_token": lambda active_parameters_matmul, scoring_passes, backward_passes: (
        FLOPS_PER_PARAMETER * active_parameters_matmul * (1 + scoring_passes + backward_passes)
    ),
    "flops_ratio_per_token": lambda rl_flops_per_token, pretraining_flops_per_token: (
        rl_flops_per_token / pretraining_flops_per_token
    ),
    "pretraining_gpu_seconds_per_token": pretraining_gpu_seconds_per_token,
    "rl_gpu_seconds_per_token": rl_gpu_seconds_per_token,
    "gpu_time_ratio_per_token": lambda rl_gpu_seconds_per_token, pretraining_gpu_seconds_per_token: (
        rl_gpu_seconds_per_token / pretraining_gpu_seconds_per_token
    ),
    "bits_per_flop": lambda bits_per_token, rl_flops_per_token: bits_per_token / rl_flops_per_token,
    "bits_per_gpu_hour": lambda bits_per_token, rl_gpu_seconds_per_token: (
        bits_per_token / (rl_gpu_seconds_per_token / SECONDS_PER_HOUR)
    ),
    "bits_per_usd": lambda bits_per_gpu_hour, usd_per_gpu_hour: bits_per_gpu_hour / usd_per_gpu_hour,
    "vocabulary_bits_per_token": lambda vocabulary_size: math.log2(vocabulary_size),
    "loss_bits_per_token": loss_bits_per_token,
    "reducible_bits_per_token": reducible,
    "learned_bits_per_token": learned,
    "learned_limit_bits_per_token": learned_limit,
    "stored_bits_per_token": lambda capacity_bits_per_parameter, total_parameters, pretraining_tokens: (
        capacity_bits_per_parameter * total_parameters / pretraining_tokens
    ),
    "ceiling_ratio": lambda loss_bits_per_token, bits_per_rollout, response_tokens: (
        loss_bits_per_token / (bits_per_rollout / response_tokens)
    ),
    "binary_divergence_bits": divergence,
    "fewest_rollouts": fewest_rollouts,
}

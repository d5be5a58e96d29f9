"""FLOPs, seconds and bytes of the update and of passes that only score."""

from __future__ import annotations

from tests.reference.core import BITS_PER_BYTE, FLOPS_PER_PARAMETER, refuse_unless


def causal_attention(
    training_context_tokens,
    window_tokens,
    attention_flops_per_context_token_training,
    window_attention_flops_per_context_token_training,
):
    """A token looks back at half of its sequence on average; in a window layer at no more than the window."""
    seen = training_context_tokens / 2
    seen_window = min(training_context_tokens / 2, window_tokens)
    return (
        attention_flops_per_context_token_training * seen
        + window_attention_flops_per_context_token_training * seen_window
    )


def paced_flops_per_token(
    matmul_flops_per_token, expert_parameters, experts_per_token, experts, train_expert_efficiency
):
    """Dense products as they are, those of the chosen experts as if they were as many more as they are slower."""
    chosen = FLOPS_PER_PARAMETER * expert_parameters * experts_per_token / experts
    return (matmul_flops_per_token - chosen) + chosen / train_expert_efficiency


def passes(full_training, activation_recompute):
    forward, activations, weights = 1, 1, 1
    return forward + activations + (weights if full_training else 0) + (forward if activation_recompute else 0)


def trained_models(critic):
    return 2 if critic else 1


def update_flops(
    update_tokens,
    matmul_flops_per_token,
    backward_passes,
    causal_attention_flops_per_token,
    attention_passes,
    critic,
):
    matrices = matmul_flops_per_token * backward_passes
    attention = causal_attention_flops_per_token * attention_passes
    return trained_models(critic) * (matrices + attention) * update_tokens


def model_flops(update_tokens, matmul_flops_per_token, causal_attention_flops_per_token, full_training, critic):
    return update_flops(
        update_tokens, matmul_flops_per_token, 3 if full_training else 2, causal_attention_flops_per_token, 3, critic
    )


def update_compute_seconds(
    measured_mfu,
    model_flops,
    training_pool_gpus,
    bf16_flops_per_second,
    train_flops_per_second,
    colocation_factor,
    update_tokens,
    critic,
    paced_flops_per_token,
    backward_passes,
    causal_attention_flops_per_token,
    attention_passes,
    train_efficiency,
    train_attention_efficiency,
):
    if measured_mfu:
        return model_flops / measured_mfu / (bf16_flops_per_second * training_pool_gpus)
    tokens_per_gpu = update_tokens * trained_models(critic) / training_pool_gpus
    matrices = tokens_per_gpu * paced_flops_per_token * backward_passes / train_flops_per_second / train_efficiency
    attention = tokens_per_gpu * causal_attention_flops_per_token * attention_passes / bf16_flops_per_second
    return colocation_factor * (matrices + attention / train_attention_efficiency)


def dispatch_seconds(
    active_tenants,
    processed_tokens_per_step,
    moe_layers,
    experts_per_token,
    hidden,
    moe_dispatch_bytes,
    training_pool_gpus,
    link_bytes_per_second,
):
    numbers = active_tenants * processed_tokens_per_step * moe_layers * experts_per_token * hidden
    return numbers * moe_dispatch_bytes / training_pool_gpus / link_bytes_per_second


def optimizer_seconds(
    optimizer_steps,
    trainable_parameters,
    optimizer_seconds_per_parameter,
    training_pool_gpus,
    offload,
    optimizer_state_bytes_per_parameter,
    host_link_bytes_per_second,
    critic,
):
    parameters = trainable_parameters * trained_models(critic) / training_pool_gpus
    once = parameters * optimizer_seconds_per_parameter
    if offload:
        there_and_back = 2 * parameters * optimizer_state_bytes_per_parameter
        once += there_and_back / host_link_bytes_per_second
    return optimizer_steps * once


def update_seconds(
    measured_mfu,
    update_compute_seconds,
    colocation_factor,
    dispatch_seconds_per_pass,
    epochs,
    backward_passes,
    critic,
    optimizer_seconds,
):
    if measured_mfu:
        return update_compute_seconds
    dispatch = dispatch_seconds_per_pass * epochs * backward_passes * trained_models(critic) * colocation_factor
    return update_compute_seconds + dispatch + optimizer_seconds


def logprob_seconds(
    active_tenants,
    processed_tokens_per_step,
    training_pool_gpus,
    colocation_factor,
    paced_flops_per_token,
    causal_attention_flops_per_token,
    train_efficiency,
    train_attention_efficiency,
    bf16_flops_per_second,
    dispatch_seconds_per_pass,
):
    share = active_tenants * processed_tokens_per_step / (training_pool_gpus * bf16_flops_per_second)
    matrices = share * paced_flops_per_token / train_efficiency
    attention = share * causal_attention_flops_per_token / train_attention_efficiency
    return (matrices + attention + dispatch_seconds_per_pass) * colocation_factor


def update_state_bytes_per_gpu(
    active_tenants,
    total_parameters,
    train_bits,
    full_training,
    trainable_parameters,
    optimizer_state_bytes_per_parameter,
    offload,
    critic,
    reference_model,
    activation_bits,
    training_pool_gpus,
    memory_bytes,
):
    """Frozen weights under LoRA; state of what is trained, a quarter of it where the rest lives on the CPU.

    A critic has all of that once more; a reference model needs its weights, unless the frozen base is there already.
    """
    frozen = 0.0 if full_training else total_parameters * (train_bits / BITS_PER_BYTE)
    state = active_tenants * trainable_parameters * optimizer_state_bytes_per_parameter
    reference = total_parameters * (activation_bits / BITS_PER_BYTE) if reference_model and full_training else 0.0
    trained = trained_models(critic) * (frozen + (state / 4 if offload else state))
    each = (trained + reference) / training_pool_gpus
    refuse_unless(each <= memory_bytes)
    return each


def update_bytes_per_gpu(
    update_state_bytes_per_gpu, microbatch_tokens, activation_bytes_per_token, layers, hidden, model_parallel
):
    activations = microbatch_tokens * hidden * layers * activation_bytes_per_token
    return update_state_bytes_per_gpu + activations / model_parallel


def rollout_bytes_per_gpu(
    engine_weight_bytes, tensor_parallel, reserved_bytes, resident_sequences, kv_bytes_at_peak, kv_shards
):
    return engine_weight_bytes / tensor_parallel + reserved_bytes + resident_sequences * (kv_bytes_at_peak / kv_shards)


REFERENCE = {
    "matmul_flops_per_token": lambda active_parameters_matmul: FLOPS_PER_PARAMETER * active_parameters_matmul,
    "paced_flops_per_token": paced_flops_per_token,
    "causal_attention_flops_per_token": causal_attention,
    "forward_flops_per_token": lambda matmul_flops_per_token, causal_attention_flops_per_token: (
        matmul_flops_per_token + causal_attention_flops_per_token
    ),
    "backward_passes": passes,
    "attention_passes": lambda activation_recompute: passes(1, activation_recompute),
    "update_tokens": lambda active_tenants, processed_tokens_per_step, epochs: (
        active_tenants * processed_tokens_per_step * epochs
    ),
    "update_flops": update_flops,
    "model_flops": model_flops,
    "update_compute_seconds": update_compute_seconds,
    "dispatch_seconds_per_pass": dispatch_seconds,
    "optimizer_steps": lambda active_tenants, epochs, minibatches: active_tenants * epochs * minibatches,
    "optimizer_seconds": optimizer_seconds,
    "update_seconds": update_seconds,
    "logprob_seconds": logprob_seconds,
    "old_logprobs_seconds": lambda old_logprobs, logprob_seconds: logprob_seconds if old_logprobs else 0.0,
    "reference_seconds": lambda reference_model, critic, logprob_seconds: (
        (bool(reference_model) + bool(critic)) * logprob_seconds
    ),
    "train_mfu": lambda model_flops, update_seconds, training_pool_gpus, bf16_flops_per_second: (
        model_flops / update_seconds / (training_pool_gpus * bf16_flops_per_second)
    ),
    "update_state_bytes_per_gpu": update_state_bytes_per_gpu,
    "update_bytes_per_gpu": update_bytes_per_gpu,
    "rollout_bytes_per_gpu": rollout_bytes_per_gpu,
}

"""FLOPs, time and memory of the update and of the passes that only compute log-probabilities."""

from __future__ import annotations

import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation, cases, smallest
from rlecon.vocabulary import bits_per_byte, flops_per_parameter

matmul_equation = Equation(
    v.matmul_flops_per_token, flops_per_parameter * v.active_parameters_matmul, "two FLOPs per parameter, forward"
)
paced_equation = Equation(
    v.paced_flops_per_token,
    v.matmul_flops_per_token
    + flops_per_parameter * v.expert_parameters * v.experts_per_token / v.experts * (1 / v.train_expert_efficiency - 1),
    "the products of experts are many and small, and run at a lower share of the peak",
)
attention_equation = Equation(
    v.causal_attention_flops_per_token,
    (
        v.attention_flops_per_context_token_training * v.training_context_tokens
        + v.window_attention_flops_per_context_token_training * smallest(v.training_context_tokens, 2 * v.window_tokens)
    )
    / 2,
    "causal attention sees half of the context on average, forward",
    name="causal_attention_flops_per_token",
)
forward_equation = Equation(
    v.forward_flops_per_token,
    v.matmul_flops_per_token + v.causal_attention_flops_per_token,
    "matrix products and attention",
)
passes_equation = Equation(
    v.backward_passes,
    2 + v.full_training + v.activation_recompute,
    "forward, gradient of activations, gradient of weights (not of frozen ones), and a second forward where recomputed",
)
attention_passes_equation = Equation(
    v.attention_passes,
    3 + v.activation_recompute,
    "attention has no weights to freeze: its backward costs two forwards under LoRA too",
)
tokens_equation = Equation(
    v.update_tokens,
    v.active_tenants * v.processed_tokens_per_step * v.epochs,
    "every pass reads every token; tenants train in turn",
)
critic_factor = 1 + v.critic
flops_equation = Equation(
    v.update_flops,
    v.update_tokens
    * (
        v.matmul_flops_per_token * v.backward_passes + v.causal_attention_flops_per_token * v.attention_passes
    )
    * critic_factor,
    "a critic of the model's size is trained the same way",
)
model_flops_equation = Equation(
    v.model_flops,
    v.update_tokens
    * (v.matmul_flops_per_token * (2 + v.full_training) + 3 * v.causal_attention_flops_per_token)
    * critic_factor,
    "what the mathematics needs: no recomputation",
)
compute_equation = Equation(
    v.update_compute_seconds,
    cases(
        (v.model_flops / (v.training_pool_gpus * v.measured_mfu * v.bf16_flops_per_second), v.measured_mfu > 0),
        (
            v.colocation_factor
            * v.update_tokens
            * critic_factor
            / v.training_pool_gpus
            * (
                v.paced_flops_per_token * v.backward_passes / (v.train_efficiency * v.train_flops_per_second)
                + v.causal_attention_flops_per_token
                * v.attention_passes
                / (v.train_attention_efficiency * v.bf16_flops_per_second)
            ),
            True,
        ),
    ),
    "executed FLOPs at the achieved shares of peak (attention stays at 16 bits), or a measured utilisation",
)
dispatch_equation = Equation(
    v.dispatch_seconds_per_pass,
    v.active_tenants
    * v.processed_tokens_per_step
    / v.one_token
    * v.moe_layers
    * v.experts_per_token
    * v.hidden
    * v.moe_dispatch_bytes
    / (v.training_pool_gpus * v.link_bytes_per_second),
    "each token's activation travels to its experts and back",
)
steps_equation = Equation(
    v.optimizer_steps, v.active_tenants * v.epochs * v.minibatches, "optimizer steps in one step of every active tenant"
)
optimizer_equation = Equation(
    v.optimizer_seconds,
    v.optimizer_steps
    * (
        v.trainable_parameters * v.optimizer_seconds_per_parameter / v.training_pool_gpus
        + v.offload
        * 2
        * v.trainable_parameters
        * v.optimizer_state_bytes_per_parameter
        / (v.training_pool_gpus * v.host_link_bytes_per_second)
    )
    * critic_factor,
    "reduction, clipping and update of the sharded state; offloaded state crosses the host link twice",
)
update_equation = Equation(
    v.update_seconds,
    cases(
        (v.update_compute_seconds, v.measured_mfu > 0),
        (
            v.update_compute_seconds
            + v.colocation_factor * v.dispatch_seconds_per_pass * v.epochs * v.backward_passes * critic_factor
            + v.optimizer_seconds,
            True,
        ),
    ),
    "forward and backward, expert dispatch, optimizer; a measured utilisation already holds all of them",
)
logprob_equation = Equation(
    v.logprob_seconds,
    v.colocation_factor
    * (
        v.active_tenants
        * v.processed_tokens_per_step
        / v.training_pool_gpus
        * (
            v.paced_flops_per_token / (v.train_efficiency * v.bf16_flops_per_second)
            + v.causal_attention_flops_per_token / (v.train_attention_efficiency * v.bf16_flops_per_second)
        )
        + v.dispatch_seconds_per_pass
    ),
    "one forward pass over the step's tokens, at the trainer's efficiency",
)
old_equation = Equation(
    v.old_logprobs_seconds, v.old_logprobs * v.logprob_seconds, "a pass of the policy before the update"
)
reference_equation = Equation(
    v.reference_seconds,
    (v.reference_model + v.critic) * v.logprob_seconds,
    "passes of the reference model and of the critic",
)
mfu_equation = Equation(
    v.train_mfu,
    v.model_flops / (v.update_seconds * v.training_pool_gpus * v.bf16_flops_per_second),
    "model FLOPs over the 16-bit peak, whatever the precision of training",
)
state_equation = Equation(
    v.update_state_bytes_per_gpu,
    (
        critic_factor
        * (
            v.total_parameters * v.train_bits / bits_per_byte * (1 - v.full_training)
            + v.active_tenants
            * v.trainable_parameters
            * v.optimizer_state_bytes_per_parameter
            * (1 - v.offload * sp.Rational(3, 4))
        )
        + v.reference_model * v.full_training * v.total_parameters * v.activation_bits / bits_per_byte
    )
    / v.training_pool_gpus,
    "weights, gradients and Adam state of policy and critic, and a reference model (a LoRA run has it as its base), "
    "sharded over all training GPUs; offload keeps a quarter on the GPU",
    source="rajbhandari2020zero",
    holds_when=[
        (
            v.update_state_bytes_per_gpu <= v.memory_bytes,
            "weights, gradients and optimizer state need {update_state_bytes_per_gpu} bytes on each of "
            "{training_pool_gpus} training GPUs of {memory_bytes} bytes: use more GPUs, LoRA or offload",
        )
    ],
)
memory_equation = Equation(
    v.update_bytes_per_gpu,
    v.update_state_bytes_per_gpu
    + v.microbatch_tokens * v.activation_bytes_per_token * v.layers * v.hidden / v.model_parallel,
    "state and one micro-batch of activations: an estimate",
    source="korthikanti2022reducing",
)
rollout_memory_equation = Equation(
    v.rollout_bytes_per_gpu,
    v.engine_weight_bytes / v.tensor_parallel
    + v.reserved_bytes
    + v.resident_sequences * v.kv_bytes_at_peak / v.kv_shards,
    "weights, buffers and the cache of the residents",
)

TRAIN = [
    matmul_equation,
    paced_equation,
    attention_equation,
    forward_equation,
    passes_equation,
    attention_passes_equation,
    tokens_equation,
    flops_equation,
    model_flops_equation,
    compute_equation,
    dispatch_equation,
    steps_equation,
    optimizer_equation,
    update_equation,
    mfu_equation,
]
EQUATIONS = [
    *TRAIN,
    logprob_equation,
    old_equation,
    reference_equation,
    state_equation,
    memory_equation,
    rollout_memory_equation,
]

"""One step of a run: phases in turn or side by side, pools, weight transfer, idle time."""

from __future__ import annotations

from rlecon import vocabulary as v
from rlecon.equation import Equation, cases, largest, smallest
from rlecon.vocabulary import bits_per_byte, flops_per_parameter, one_turn, seconds_per_hour

rollout_equation = Equation(
    v.rollout_seconds,
    cases(
        (
            v.active_tenants
            * v.generated_tokens_per_step
            / (v.measured_tokens_per_second_per_gpu * v.rollout_pool_gpus),
            v.measured_tokens_per_second_per_gpu > 0,
        ),
        (
            v.continuous_generation * v.continuous_generation_seconds
            + (1 - v.continuous_generation) * v.batch_generation_seconds,
            True,
        ),
    ),
    "a measured rate replaces the model of decoding; else continuous or batched generation",
)
environment_equation = Equation(
    v.environment_seconds,
    (1 - v.continuous_generation)
    * v.environment_seconds_per_turn
    * (
        v.turns * v.refill_tokens / v.response_tokens
        + one_turn
        + (v.turns - one_turn) * v.drain_tokens / v.response_tokens
    ),
    "a batch waits for the environments of those that end it: turns come with tokens, so the longest has most",
)
# A reward model, a judge that writes, the teacher of a distillation: one more model that reads every trajectory.
judge_pool_equation = Equation(
    v.judge_pool_gpus,
    cases((v.judge_gpus, v.judge_gpus > 0), (v.rollout_pool_gpus, True)),
    "GPUs of its own, else those that generate",
    holds_when=[
        (
            (v.judge_gpus <= 0) | (v.judge_active_parameters > 0),
            "judge.gpus: GPUs of a judge that is not named; give judge.name",
        )
    ],
)
judge_flops_equation = Equation(
    v.judge_flops_per_token,
    flops_per_parameter * v.judge_active_parameters + v.judge_attention_flops * v.trajectory_tokens / 2,
    "one forward pass: two FLOPs per parameter, and causal attention over half of the trajectory",
)
judge_equation = Equation(
    v.judge_seconds,
    v.active_tenants
    * v.started_rollouts
    * (
        v.trajectory_tokens * v.judge_flops_per_token / (v.compute_efficiency * v.bf16_flops_per_second)
        + v.judge_response_tokens / v.judge_tokens_per_second_per_gpu
    )
    / v.judge_pool_gpus,
    "every trajectory is read once, as a prompt is; what the judge writes is decoded",
    holds_when=[
        (
            v.judge_weight_bytes <= v.judge_pool_gpus * v.memory_bytes,
            "judge.name: weights of {judge_weight_bytes} bytes do not fit on {judge_pool_gpus} GPUs of {memory_bytes} "
            "bytes; use more GPUs or a smaller judge",
        )
    ],
)
generation_equation = Equation(
    v.generation_stream_seconds,
    cases(
        (largest(v.rollout_seconds + v.environment_seconds, v.judge_seconds), v.judge_gpus > 0),
        (v.rollout_seconds + v.environment_seconds + v.judge_seconds, True),
    ),
    "from prompts to scored trajectories: a judge on GPUs of its own scores while others are still written",
)
training_equation = Equation(
    v.training_stream_seconds,
    v.old_logprobs_seconds + v.reference_seconds + v.update_seconds,
    "from trajectories to new weights",
)
sync_equation = Equation(
    v.weight_sync_seconds,
    (
        v.shared_pool * v.total_parameters
        + (1 - (1 - v.overlapped_sync_share) * v.concurrent_streams)
        * cases((v.total_parameters, v.tenants <= 1), (v.active_tenants * v.trainable_parameters, True))
    )
    * v.activation_bits
    / bits_per_byte
    / v.weight_sync_bytes_per_second,
    "new weights reach the engines, of tenants their adapters alone; one pool also takes its trainer back into "
    "memory; two streams hide a part",
)
overhead_equation = Equation(
    v.overhead_seconds,
    v.active_tenants * v.step_overhead_seconds * (1 - v.concurrent_streams * (1 - v.overlapped_overhead_share)),
    "switching, data and reward work of each tenant; most of it vanishes where nothing switches",
)
reward_equation = Equation(
    v.reward_seconds, v.judge_seconds + v.overhead_seconds, "what stands between a trajectory and its use"
)
step_equation = Equation(
    v.step_seconds,
    cases(
        (largest(v.generation_stream_seconds, v.training_stream_seconds), v.concurrent_streams > 0),
        (v.generation_stream_seconds + v.training_stream_seconds, True),
    )
    + v.weight_sync_seconds
    + v.overhead_seconds
    + v.active_tenants * v.evaluation_seconds_per_step,
    "phases in turn, or the longer of two streams; with tenants, one step of each that is active",
)
idle_equation = Equation(
    v.idle_seconds,
    cases(
        (
            v.step_seconds
            - v.weight_sync_seconds
            - v.overhead_seconds
            - v.active_tenants * v.evaluation_seconds_per_step
            - (
                v.generation_stream_seconds * v.rollout_pool_gpus
                + v.training_stream_seconds * v.training_pool_gpus
                + v.judge_seconds * v.judge_gpus
            )
            / v.gpus,
            v.shared_pool <= 0,
        ),
        (0, True),
    ),
    "GPU time paid for and not used, spread over all GPUs; a pool that waits for the other",
)
share_equation = Equation(
    v.rollout_share, smallest(1, v.rollout_seconds / v.step_seconds), "share of generation in the step"
)
utilisation_share_equation = Equation(
    v.rollout_share,
    1 / v.decode_mfu / (1 / v.decode_mfu + (v.scoring_passes + v.backward_passes) / v.train_mfu),
    "the same tokens are written at one utilisation and learned from at another; nothing else takes time",
    name="rollout_share_by_utilisation",
)
overlap_equation = Equation(
    v.overlap_gain,
    1 / largest(v.rollout_share, 1 - v.rollout_share),
    "against two pools that work in turn; against one pool, perfectly packed, overlap by itself gains nothing",
)
# Little's law where engines never wait; in a batch, tokens at the pace of a full engine and the environment's turns.
container_equation = Equation(
    v.container_seconds_per_rollout,
    v.continuous_generation * v.rollout_seconds * v.resident_sequences / v.sequences_per_engine
    + (1 - v.continuous_generation)
    * (
        v.decode_seconds_per_sequence * v.rollout_seconds / v.batch_generation_seconds
        + v.environment_seconds_per_rollout
    ),
    "a trajectory lives while it decodes and while it waits; a measured rate stretches the decoding",
    source="little1961",
)
cpu_equation = Equation(
    v.environment_cpu_seconds,
    cases(
        (
            v.started_rollouts * v.environment_cpus * v.container_seconds_per_rollout,
            v.environment_seconds_per_rollout > 0,
        ),
        (0, True),
    ),
    "a container is paid for while its trajectory lives, also while the model thinks",
)
containers_equation = Equation(
    v.containers, v.engines * v.resident_sequences, "every trajectory in flight holds a container"
)
container_use_equation = Equation(
    v.container_use,
    v.environment_seconds_per_rollout / v.container_seconds_per_rollout,
    "a container works while its environment does, and waits while the model writes",
)
environment_rollout_usd_equation = Equation(
    v.environment_usd_per_rollout,
    v.environment_cpus * v.container_seconds_per_rollout / seconds_per_hour * v.usd_per_cpu_hour,
    "processors of one container, from its trajectory's start to its end",
)

EQUATIONS = [
    rollout_equation,
    environment_equation,
    judge_pool_equation,
    judge_flops_equation,
    judge_equation,
    generation_equation,
    training_equation,
    sync_equation,
    overhead_equation,
    reward_equation,
    step_equation,
    idle_equation,
    share_equation,
    container_equation,
    cpu_equation,
]

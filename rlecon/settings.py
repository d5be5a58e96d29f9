"""The rules that turn the settings of a run file into what the equations of a bill take.

Pools and overlap become switches, memory shares and engine sizes find their usual values, and what cannot be is
refused in words. They are equations like all others, so that a page follows the same rules as the package. A setting
that was not given is 0 (a cap on length: infinity).
"""

from __future__ import annotations

from functools import cache

from rlecon import vocabulary as v
from rlecon.equation import Equation, Model, cases, compare, largest, smallest
from rlecon.vocabulary import bits_per_byte

SEQUENCES_PER_ENGINE = 8  # an engine is made large enough to hold so many sequences of mean length
ENGINE_SIZES = tuple(2**k for k in range(11))

shared_equation = Equation(
    v.shared_pool, cases((1, v.rollout_gpus <= 0), (0, True)), "no pool of its own: phases share all GPUs"
)
rollout_pool_equation = Equation(
    v.rollout_pool_gpus,
    cases((v.gpus - v.judge_gpus, v.rollout_gpus <= 0), (v.rollout_gpus, True)),
    "GPUs that generate: all but those of a judge, or a pool",
    holds_when=[
        (
            v.rollout_gpus + v.judge_gpus < v.gpus,
            "hardware.rollout_gpus = {rollout_gpus} GPU: leaves no GPU of {gpus} to train on "
            "(allowed: 0, one shared pool, or fewer than all, a judge's own GPUs left out)",
        )
    ],
)
training_pool_equation = Equation(
    v.training_pool_gpus,
    v.gpus - v.judge_gpus - v.rollout_gpus,
    "GPUs that train",
)
streams_equation = Equation(
    v.concurrent_streams,
    (1 - v.shared_pool) * largest(v.one_step_overlap, v.full_overlap),
    "two pools work at the same time where the step overlaps",
    holds_when=[
        (
            v.one_step_overlap * v.shared_pool <= 0,
            "update.overlap = 'one_step': one pool cannot generate the next step while it trains this one "
            "(allowed: none or full in one pool; one_step with hardware.rollout_gpus above 0)",
        )
    ],
)
continuous_equation = Equation(
    v.continuous_generation,
    largest(v.full_overlap, v.partial_rollouts),
    "engines never wait for the end of a step where trajectories may cross it",
)
colocation_equation = Equation(
    v.colocation_factor,
    1 + v.shared_pool * (v.shared_pool_factor - 1),
    "a trainer that shares its GPUs with engines is slower",
)
share_equation = Equation(
    v.engine_memory_share,
    cases(
        (v.requested_memory_share, v.requested_memory_share > 0),
        (v.colocated_memory_share, v.shared_pool > 0),
        (v.separate_memory_share, True),
    ),
    "what was asked for, else what is usual",
)
drafts_equation = Equation(
    v.speculative_drafts,
    cases((v.requested_drafts, v.speculative_acceptance > 0), (0, True)),
    "nobody drafts what is never accepted",
)
loaded_equation = Equation(
    v.loaded_weight_bytes,
    (
        (v.trunk_parameters - v.router_parameters + v.expert_parameters) * v.weight_bits
        + (v.total_parameters - v.trunk_parameters + v.router_parameters - v.expert_parameters) * v.activation_bits
    )
    / bits_per_byte,
    "matrices at the rollout's precision; embeddings, head, routers and norms at 16 bits",
)
sequence_equation = Equation(
    v.mean_sequence_bytes,
    (
        v.kv_elements_per_token * (v.prompt_tokens + v.response_tokens)
        + v.window_kv_elements_per_token * smallest(v.prompt_tokens + v.response_tokens, v.window_tokens)
    )
    * v.kv_bits
    / bits_per_byte
    + v.state_bytes,
    "prompt and response, all turns",
)


def _holds(size):
    """Whether an engine of so many GPUs holds the weights and the sequences."""
    room = v.engine_memory_share * v.memory_bytes - v.reserved_bytes - v.loaded_weight_bytes / size
    shards = smallest(size, v.kv_shards_max)
    enough = compare(shards * room, ">=", SEQUENCES_PER_ENGINE * v.mean_sequence_bytes)
    return (v.rollout_pool_gpus >= size) & compare(room, ">", 0) & enough


engine_equation = Equation(
    v.tensor_parallel,
    cases(
        (v.requested_tensor_parallel, v.requested_tensor_parallel > 0),
        *((size, _holds(size)) for size in ENGINE_SIZES),
        (0, True),
    ),
    "what was asked for, else the smallest power of two that holds the weights and eight sequences",
    holds_when=[
        (
            v.tensor_parallel >= 1,
            "hardware.gpus = {gpus} GPU: the model needs {loaded_weight_bytes:GB} for weights alone and "
            "{mean_sequence_bytes:GB} for the cache of each sequence; an engine of {rollout_pool_gpus} GPUs of "
            "{memory_bytes:GB} at a memory share of {engine_memory_share} cannot hold eight; use more GPUs, fewer "
            "bits, shorter sequences or a larger memory share",
        )
    ],
)
full_equation = Equation(
    v.full_training, cases((1, v.lora_rank <= 0), (0, True)), "rank 0 trains all parameters"
)
trainable_equation = Equation(
    v.trainable_parameters,
    cases((v.total_parameters, v.lora_rank <= 0), (v.lora_rank * v.lora_parameters_per_rank, True)),
    "an adapter of the rank asked for, or all parameters",
    holds_when=[
        (
            (v.group_relative <= 0) | (v.group_size >= 2),
            "rollout.group_size = {group_size}: a group-relative algorithm needs something to compare with "
            "(allowed: 2 or more, or another model.algorithm)",
        )
    ],
)
microbatch_equation = Equation(
    v.microbatch_tokens,
    # SymPy takes a real symbol to be finite: "< oo" would be true of every cap
    cases((v.max_response_tokens, 1 / v.max_response_tokens > 0), (2 * v.response_tokens, True)),
    "one micro-batch holds a response of the greatest length; without a cap, of twice the mean",
)
parallel_equation = Equation(
    v.model_parallel,
    v.training_tensor_parallel * v.training_pipeline_parallel,
    "GPUs that share one copy's activations",
)

EQUATIONS = [
    shared_equation,
    rollout_pool_equation,
    training_pool_equation,
    streams_equation,
    continuous_equation,
    colocation_equation,
    share_equation,
    drafts_equation,
    loaded_equation,
    sequence_equation,
    engine_equation,
    full_equation,
    trainable_equation,
    microbatch_equation,
    parallel_equation,
]


@cache
def rules() -> Model:
    """The rules alone."""
    return Model(EQUATIONS, "the rules of a run file")


@cache
def model() -> Model:
    """The rules, then the equations of a run: everything between a run file with its catalogue values and a bill."""
    from rlecon.resolve import run_model

    return Model([*EQUATIONS, *run_model().order], "the settings of a run")

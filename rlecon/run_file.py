"""The run file as typed tables: every key with its kind, bounds, unit, meaning and default."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
AtLeastZero = Annotated[float, msgspec.Meta(ge=0)]
AtLeastOne = Annotated[float, msgspec.Meta(ge=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
CountOrZero = Annotated[int, msgspec.Meta(ge=0)]
Bits = Literal[4, 8, 16]


def says(kind, meaning, unit="1"):
    """A field's type with its meaning and unit, for the schema and for messages."""
    return Annotated[kind, msgspec.Meta(description=meaning, extra={"unit": unit})]


class Section(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Base of the run file's tables; a field that is None was not given and has no default."""


class Model(Section):
    """The policy that is trained."""

    name: says(str | None, "a model of the catalogue") = None
    config: says(str | None, "path of a Hugging Face config.json") = None
    lora_rank: says(CountOrZero, "LoRA rank; 0 trains all parameters") = 0
    algorithm: says(Literal["grpo", "rloo", "dapo", "ppo", "distillation"], "how advantages are made") = "grpo"


class Hardware(Section):
    """GPUs, their number and their price."""

    gpu: says(str | None, "a GPU of the catalogue, or custom") = None
    gpus: says(Count | None, "all GPUs of the run", "GPU") = None
    rollout_gpus: says(CountOrZero, "GPUs of a separate generating pool; 0 shares all", "GPU") = 0
    usd_per_gpu_hour: says(AtLeastZero | None, "rent of one GPU", "USD/(GPU h)") = None
    dense_bf16_flops_per_second: says(Positive | None, "custom GPU: dense 16-bit peak", "FLOP/s") = None
    dense_fp8_flops_per_second: says(AtLeastZero | None, "custom GPU: dense 8-bit peak; 0 for none", "FLOP/s") = None
    dense_fp4_flops_per_second: says(AtLeastZero | None, "custom GPU: dense 4-bit peak; 0 for none", "FLOP/s") = None
    memory_bytes: says(Positive | None, "custom GPU: memory", "byte") = None
    memory_bytes_per_second: says(Positive | None, "custom GPU: memory bandwidth", "byte/s") = None
    link_bytes_per_second: says(Positive | None, "custom GPU: link within a node, one direction", "byte/s") = None
    gpus_per_node: says(Count | None, "GPUs that share the fast link", "GPU") = None


class Rollout(Section):
    """What is generated in one step, and by what engine."""

    prompts_per_step: says(Count | None, "prompts in one step", "prompt") = None
    group_size: says(Count | None, "rollouts per prompt", "rollout") = None
    oversampling: says(AtLeastOne, "rollouts generated per rollout trained on") = 1.0
    prompt_tokens: says(AtLeastZero, "mean prompt tokens", "token") = 512
    response_tokens: says(AtLeastOne | None, "mean tokens generated in one trajectory, after any cap", "token") = None
    response_tokens_cv: says(AtLeastZero | None, "standard deviation over mean of the response length") = None
    max_response_tokens: says(AtLeastOne | None, "cap on generated tokens", "token") = None
    response_tokens_guessed: says(bool, "the mean length is a guess: intervals widen") = False
    looping_share: says(
        Annotated[float, msgspec.Meta(ge=0, lt=1)], "share of responses that never end and run to the cap"
    ) = 0.0
    tensor_parallel: says(Count | None, "GPUs per inference engine", "GPU") = None
    engine: says(Literal["tuned", "typical", "eager"], "maturity of the inference engine") = "typical"
    engine_memory_share: says(Share | None, "share of GPU memory that the engine may use") = None
    measured_tokens_per_second_per_gpu: says(
        Positive | None, "measured generation rate; replaces the model of decoding", "token/(s GPU)"
    ) = None
    weight_bits: says(Bits, "precision of weights in rollout", "bit") = 16
    kv_bits: says(Bits, "precision of the KV cache", "bit") = 16
    max_sequences_per_engine: says(Positive | None, "scheduler cap", "sequence") = None
    speculative_acceptance: says(
        Annotated[float, msgspec.Meta(ge=0, lt=1)], "chance that a drafted token is accepted"
    ) = 0.0
    speculative_drafts: says(CountOrZero, "drafted tokens per verification", "token") = 3
    partial_rollouts: says(bool, "unfinished trajectories continue in the next step") = False
    turns: says(AtLeastOne, "model calls in one trajectory", "turn") = 1
    tool_tokens_per_turn: says(AtLeastZero, "tokens the environment returns per turn", "token") = 0
    prefix_cached: says(bool, "earlier turns are kept in the KV cache") = True
    environment_seconds_per_turn: says(AtLeastZero, "time of one environment turn", "s") = 0.0
    environment_cpus: says(AtLeastZero, "processors per trajectory", "vCPU") = 1.0
    usd_per_cpu_hour: says(AtLeastZero | None, "rent of one sandbox processor", "USD/(vCPU h)") = None


class Update(Section):
    """How the policy is trained on what was generated."""

    overlap: says(Literal["none", "one_step", "full"], "how generation and training overlap") = "none"
    staleness_steps: says(CountOrZero, "bound on the age of a rollout's policy", "step") = 0
    epochs: says(Count, "passes over a step's rollouts") = 1
    minibatches: says(Count, "optimizer steps per pass") = 1
    old_logprobs: says(bool, "a forward pass recomputes old log-probabilities") = True
    reference_model: says(bool, "a reference model scores every rollout") = False
    critic: says(bool, "a critic of the model's size is trained") = False
    train_bits: says(Bits, "precision of training", "bit") = 16
    activation_recompute: says(bool, "activations are recomputed in the backward pass") = True
    offload: says(bool, "optimizer state lives on the CPU") = False
    tensor_parallel: says(Count, "GPUs that split a layer in training", "GPU") = 1
    pipeline_parallel: says(Count, "pipeline stages in training", "GPU") = 1
    expert_parallel: says(Count, "GPUs that split the experts in training", "GPU") = 1
    measured_mfu: says(
        Annotated[float, msgspec.Meta(gt=0, le=1)] | None,
        "measured model-FLOPs utilisation; replaces the model of training",
    ) = None
    tenants: says(Count, "LoRA jobs sharing the base model") = 1
    duty_cycle: says(Annotated[float, msgspec.Meta(gt=0, le=1)], "share of time each tenant is active") = 1.0


class Judge(Section):
    """A model that scores or teaches."""

    name: says(str | None, "a model of the catalogue") = None
    role: says(Literal["reward", "teacher"], "what it does") = "reward"
    gpus: says(CountOrZero, "GPUs of its own, of all GPUs; 0 scores on those of rollouts", "GPU") = 0
    response_tokens: says(AtLeastZero, "tokens that it writes about one rollout; 0 where it only scores", "token") = 0


class Reward(Section):
    """How often rollouts are right, and how well that is measured."""

    pass_rate: says(Share | None, "mean pass rate over prompts") = None
    pass_rate_spread: says(Annotated[float, msgspec.Meta(ge=0, le=0.5)], "its standard deviation over prompts") = 0.0
    levels: says(Annotated[int, msgspec.Meta(ge=2)], "levels of the reward") = 2
    false_positive_rate: says(Share, "chance that a wrong answer passes the verifier") = 0.0
    false_negative_rate: says(Share, "chance that a right answer fails the verifier") = 0.0


class Environment(Section):
    """What building the tasks costs."""

    build_usd: says(AtLeastZero | None, "bill of building the tasks", "USD") = None
    tasks: says(Count | None, "tasks in the set", "task") = None
    runs: says(AtLeastOne, "runs that share them", "run") = 1


class Length(Section):
    """How long the run is."""

    steps: says(Positive | None, "training steps", "step") = None
    evaluation_seconds_per_step: says(AtLeastZero, "evaluation, per step", "s") = 0.0
    response_growth_per_step: says(float, "relative growth of length per step", "1/step") = 0.0
    attempts: says(AtLeastOne, "launches per successful run") = 1.0


class Target(Section):
    """A pass rate to reach."""

    pass_rate: says(Share | None, "pass rate to reach") = None
    objective: says(Literal["mean_success", "grpo", "log"] | None, "clock of the learning curve") = None
    ceiling: says(Share | None, "pass rate at which the curve saturates, if believed") = None
    logit_per_step: says(Positive | None, "logit drift per step, from a pilot", "1/step") = None
    pilot_log: says(str | None, "path of a pilot's training log") = None


class RunFile(Section):
    """The run file."""

    model: Model = msgspec.field(default_factory=Model)
    hardware: Hardware = msgspec.field(default_factory=Hardware)
    rollout: Rollout = msgspec.field(default_factory=Rollout)
    update: Update = msgspec.field(default_factory=Update)
    judge: Judge = msgspec.field(default_factory=Judge)
    reward: Reward = msgspec.field(default_factory=Reward)
    environment: Environment = msgspec.field(default_factory=Environment)
    run: Length = msgspec.field(default_factory=Length)
    target: Target = msgspec.field(default_factory=Target)

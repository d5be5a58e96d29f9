"""Where equations are compared with the reference: values that a person would call odd, so that no slip hides.

Every quantity is drawn from its domain, near one and never one where it may be, so that all terms of an equation weigh.
Settings whose value decides between branches take each of their values; what belongs together (the Beta distribution of
a mean and a spread, the room that an engine leaves) is computed by the reference. Seeded by name: a new equation moves
no other point.
"""

from __future__ import annotations

import math
import random
from inspect import signature

import sympy as sp

from rlecon.quantity import REGISTRY
from tests.reference import REFERENCE, Refused

POINTS = 24
FEWER = {"ended_drain_tokens": 9}  # a double integral for each
RENAMED = {"ended_drain_tokens": "drain_tokens"}  # keeps its points
SWITCH = (0.0, 1.0)
CHOICES = {
    "rollout_gpus": (0.0, 2.0, 3.0, 9.0),
    "judge_gpus": (0.0, 1.0, 2.0),
    "judge_active_parameters": (0.0, 2.3, 4.9),
    "requested_memory_share": (0.0, 0.55),
    "requested_tensor_parallel": (0.0, 0.0, 0.0, 3.0),
    "speculative_acceptance": (0.0, 0.35, 0.7),
    "lora_rank": (0.0, 4.0),
    "measured_mfu": (0.0, 0.37),
    "measured_tokens_per_second_per_gpu": (0.0, 2.3),
    "environment_seconds_per_rollout": (0.0, 2.4, 5.3, 700.0),
    "pass_rate_spread": (0.0, 0.11, 0.21, 0.37),
    "false_positive_rate": (0.0, 0.07, 0.2),
    "false_negative_rate": (0.0, 0.12, 0.3),
    "max_response_tokens": (math.inf, 9.0, 14.0, 40.0),
    "started_rollouts": (3.5, 16.0, 120.0),
    "actions": (2.5, 4.0),
    "window_tokens": (math.inf, 0.7, 2.2, 5.0),
    "tensor_parallel": (1.0, 2.0, 4.0, 7.0),
    "gpus_per_node": (2.0, 3.0, 8.0),
    "engine_nodes": (1.0, 1.2, 2.5, 6.0),
    "max_sequences_per_engine": (math.inf, 2.2, 4.5),
    "group_size": (2.0, 3.0, 5.0, 8.0),
    "tenants": (1.0, 3.0, 6.0),
    "turns": (2.0, 3.0, 5.0),
    "mean_pass_rate": (0.22, 0.35, 0.61, 0.77),
    "response_tokens": (1.9, 3.3, 6.2, 8.7),
    "looping_share": (0.0, 0.07, 0.2),
    "ended_response_tokens": (1.9, 3.3, 6.2, 8.7),
    "log_length_sd": (0.35, 0.8, 1.1),
    "log_length_location": (0.4, 0.9, 1.6),
    "experts": (8.0, 16.0),
    "log_ratio_sd": (0.2, 0.5),
    "ratio_tokens": (2.0, 5.0),
    "importance_cap": (0.8, 1.5, 4.0),
    "weight_log_sd": (0.4, 1.1),
    "odds_ratio": (2.5, 4.0, 7.0),
    "price_ratio": (0.6, 1.7, 2.3),
    "weight_time_share": (0.3, 0.4),
    "kv_time_share": (0.15, 0.25),
    "compute_time_share": (0.1, 0.2),
    "bandwidth_time_share": (0.3, 0.5),
    "flops_time_share": (0.15, 0.25),
    "experts_per_token": (2.0, 3.0),
    "logit_sensitivity": (0.3, 0.8, 1.3, 2.5),
    "weight_bits": (4.0, 8.0, 16.0),
    "kv_bits": (8.0, 16.0),
    "head_bits": (8.0, 16.0, 32.0),
    "train_bits": (8.0, 16.0),
    "activation_bits": (16.0, 32.0),
    "layers": (3.0, 5.0),
}
SHARED = {  # quantities that other quantities fix: the reference computes them where an equation is told the others
    "fail_rate",
    "pass_variance",
    "beta_successes",
    "beta_failures",
    "observed_pass_rate",
    "youden_index",
    "mixed_group_share",
    "loop_tokens",
    "ended_response_tokens",
    "log_length_sd",
    "log_length_location",
    "square_response_tokens",
    "tool_tokens",
    "trajectory_tokens",
    "new_tokens_per_turn",
}


def draw(equation, name, rng):
    """One odd value of a quantity, by its domain."""
    q = REGISTRY[name]
    if q.latex.startswith("1_"):
        return rng.choice(SWITCH)
    if name in CHOICES:
        return rng.choice(NARROWER.get((equation.name, name), CHOICES[name]))
    if q.integer:
        return float(rng.randint(max(2, int(q.low) if math.isfinite(q.low) else 2), 7))
    if math.isfinite(q.high):
        low = q.low if math.isfinite(q.low) else q.high - 2
        return low + (q.high - low) * rng.uniform(0.12, 0.88)
    low = q.low if math.isfinite(q.low) else 0.0
    return low + rng.uniform(0.3, 6.0)


class Point:
    """Values of quantities for one equation: given, implied by others, or drawn when first asked for."""

    def __init__(self, equation, index, given=()):
        self.given = dict(given)
        self.equation, self.index = equation, index
        self.names = {s.name for s in equation.inputs} | set(signature(REFERENCE[equation.name]).parameters)
        # what the reference is told implies what only the equation is told
        self.implied = {
            n for n in self.names & SHARED
            if n not in signature(REFERENCE[equation.name]).parameters and n not in self.given
        }  # fmt: skip

    def __getitem__(self, name):
        if name not in self.given:
            if name in self.implied:
                function = REFERENCE[IMPLIED_BY.get(self.equation.name, {}).get(name, name)]
                self.given[name] = float(function(**{n: self[n] for n in signature(function).parameters}))
            else:
                seed = RENAMED.get(self.equation.name, self.equation.name)
                self.given[name] = draw(self.equation, name, random.Random(f"{seed} {self.index} {name}"))
        return self.given[name]

    def expected(self):
        """The reference's number, or None where it refuses."""
        function = REFERENCE[self.equation.name]
        try:
            return float(function(**{n: self[n] for n in signature(function).parameters}))
        except Refused:
            return None


EDGES = {  # ends of a domain, tried where an equation asks for them
    "pass_rate": (0.0, 1.0),
    "target_pass_rate": (0.0, 1.0),
    "group_size": (1.0,),
    "mixed_group_share": (0.0,),
    "pass_variance_square": (0.0,),
    "bits_per_step": (0.0,),
    "drift_shape": (0.0,),
    "logit_per_step": (0.0,),
    "observed_pass_rate": (0.0, 1.0),
    "extra_tokens": (0.0,),
    "rollout_share": (1.0,),
    "pass_variance": (0.0,),
    "signal_per_step": (0.0,),
    "usd_per_step": (0.0,),
    "time_exponent": (0.0,),
}
ALWAYS_OR_NEVER = (  # a spread so wide that every prompt is certain or hopeless
    {"mean_pass_rate": 0.2, "pass_rate_spread": 0.4, "false_positive_rate": 0.2, "false_negative_rate": 0.3},
    {"mean_pass_rate": 0.5, "pass_rate_spread": 0.5, "false_positive_rate": 0.0, "false_negative_rate": 0.0},
)
SIZES = [2**k for k in range(11)]
_ENGINE = {
    "requested_tensor_parallel": 0.0,
    "rollout_pool_gpus": 2000.0,
    "engine_memory_share": 0.9,
    "memory_bytes": 80.0,
    "reserved_bytes": 2.0,
    "kv_shards_max": 64.0,
}
GIVEN = {  # points that no draw finds
    "concurrent_streams": [{"shared_pool": 0.0, "one_step_overlap": 0.0, "full_overlap": 0.0}],
    "tensor_parallel": [
        *(_ENGINE | {"loaded_weight_bytes": 49.0 * size, "mean_sequence_bytes": 0.5} for size in SIZES),
        *(_ENGINE | {"loaded_weight_bytes": 10.0, "mean_sequence_bytes": 7.0 * size} for size in SIZES[:7]),
        _ENGINE | {"loaded_weight_bytes": 49.0 * 8, "mean_sequence_bytes": 0.5, "rollout_pool_gpus": 7.0},
        _ENGINE | {"loaded_weight_bytes": 10.0, "mean_sequence_bytes": 7.0 * 128},
    ],
    "trainable_parameters": [{"group_relative": on, "group_size": 1.0} for on in SWITCH],
    "log_length_location": [{"ended_response_tokens": 9.5, "max_response_tokens": 9.0}],
    "peak_context_tokens": [
        {"log_length_location": 1.6, "log_length_sd": 0.35, "max_response_tokens": 2.2, "continuous_generation": 0.0}
    ],
    "pass_variance": [
        {"mean_pass_rate": 0.3, "pass_rate_spread": 0.48},
        {"mean_pass_rate": 0.8, "pass_rate_spread": 0.4},  # all or nothing, and 0.4^2 > 0.8 (1 - 0.8) in the last digit
    ],
    "signal_per_step": [{"false_positive_rate": 0.6, "false_negative_rate": 0.5}],
    "verifier_information": [
        {"pass_rate": 0.0, "false_positive_rate": 0.0},
        {"pass_rate": 1.0, "false_negative_rate": 0.0},
    ],
    "bits_per_rollout": [
        {"mean_pass_rate": m, "pass_rate_spread": 0.0, "false_positive_rate": 0.0, "false_negative_rate": 0.0}
        for m in (0.0, 1.0)
    ],
    "verifier_rollouts_factor": [{"youden_index": -0.2}],
    "majority_false_positive_rate": [{"false_positive_rate": 0.55}],
    "voting_ceiling": [
        {"false_positive_rate": 0.6, "false_negative_rate": 0.5},
        {"pass_rate": 0.0, "false_positive_rate": 0.0},
        {"pass_rate": 1.0, "false_negative_rate": 0.0},
    ],
    "break_even_pass_rate": [{"odds_ratio": 0.8, "price_ratio": 0.5}, {"odds_ratio": 3.0, "price_ratio": 3.5}],
    "update_state_bytes_per_gpu": [
        {"memory_bytes": 1e4, "full_training": full, "reference_model": 1.0, "offload": off}
        for full in SWITCH
        for off in SWITCH
    ],
    "usd_per_token_by_factors": [
        *({"environment_usd_per_step": 0.0, "tenants": t, "duty_cycle": 1 / t} for t in (1.0, 2.0, 4.0)),
        {"environment_usd_per_step": 0.0, "tenants": 3.0, "duty_cycle": 0.5},
        {"environment_usd_per_step": 0.0, "tenants": 1.0, "duty_cycle": 0.5},
        {"environment_usd_per_step": 2.5, "tenants": 1.0, "duty_cycle": 1.0},
    ],
    "precision_gain": [{"weight_time_share": 0.5, "kv_time_share": 0.4, "compute_time_share": 0.3}],
    "usd_ratio": [{"bandwidth_time_share": 0.7, "flops_time_share": 0.6}],
    "experts_touched_share": [{"experts": 8.0, "experts_per_token": 9.0}],
    "time_exponent": [{"long_seconds": 3.0, "short_seconds": 3.0}],
}
IMPLIED_BY = {"voting_ceiling": {"observed_pass_rate": "observed_pass_rate_prompt"}}  # of one prompt, not of many
NARROWER = {
    ("mean_entropy", "pass_rate_spread"): (0.11, 0.21, 0.37),
}


def _asked(equation):
    """Quantities on which a condition or a branch depends."""
    relations = [c.relation for c in equation.holds_when]
    relations += [condition for part in equation.right.atoms(sp.Piecewise) for _, condition in part.args]
    return {s.name for relation in relations for s in relation.free_symbols}


def points(equation):
    """All points of an equation."""
    told = set(signature(REFERENCE[equation.name]).parameters)
    edges = [{n: value} for n in sorted(_asked(equation) & told) for value in EDGES.get(n, ())]
    ends = ALWAYS_OR_NEVER if "pass_rate_spread" in told else ()
    given = (*GIVEN.get(equation.name, ()), *edges, *ends, *[{}] * FEWER.get(equation.name, POINTS))
    return [Point(equation, i, g) for i, g in enumerate(given)]

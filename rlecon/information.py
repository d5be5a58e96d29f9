"""Bits: what a reward can teach, what a token of text offers, and what a gain in pass rate demands.

A reward is a channel from the unknown to the learner. Its entropy is a ceiling: an update that is computed from
trajectories and rewards holds no more about the unknown than the rewards do, as long as the trajectory itself does not
depend on the unknown (no informative tool output). A ceiling says what cannot be done; it does not say how many steps
learning takes.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from rlecon import vocabulary as v
from rlecon.equation import Equation, cases, compare, logarithm
from rlecon.errors import RleconError
from rlecon.special import digamma, gaussian_channel, mean_entropy, path_rollouts
from rlecon.vocabulary import flops_per_parameter, one_bit, one_token, seconds_per_hour


def _entropy(p):
    """Binary entropy of an expression, as a plain number of bits."""
    inside = -(p * logarithm(p) + (1 - p) * logarithm(1 - p)) / sp.log(2)
    return cases((0, compare(p, "<=", 0) | compare(p, ">=", 1)), (inside, True))


def _log2(x):
    return logarithm(x) / sp.log(2)


# --- the reward as a channel -----------------------------------------------------------------------------------------
_p, _m = v.pass_rate, v.mean_pass_rate
_plus, _minus = v.false_positive_rate, v.false_negative_rate
entropy_equation = Equation(
    v.entropy_bits,
    one_bit * _entropy(_p),
    "binary entropy: most bits that a right-or-wrong reward carries",
    source="shannon1948",
)
mean_entropy_equation = Equation(
    v.bits_per_rollout,
    one_bit
    * (
        digamma(v.beta_successes + v.beta_failures + 1)
        - _m * digamma(v.beta_successes + 1)
        - (1 - _m) * digamma(v.beta_failures + 1)
    )
    / sp.log(2),
    "E[H(p)] over a Beta distribution of pass rates, verifier without errors",
    name="mean_entropy",
)
observed_equation = Equation(
    v.observed_pass_rate,
    _m * (1 - _minus) + (1 - _m) * _plus,
    "right answers that pass, and wrong ones that pass too",
    source="cai2025noisy",
)
youden_equation = Equation(v.youden_index, 1 - _plus - _minus, "what is left of the contrast", source="youden1950")
verifier_equation = Equation(
    v.information_bits,
    one_bit * (_entropy(_p * (1 - _minus) + (1 - _p) * _plus) - _p * _entropy(_minus) - (1 - _p) * _entropy(_plus)),
    "mutual information of the truth and the verdict of a verifier with errors",
    source="cover2006elements",
    name="verifier_information",
)
bits_equation = Equation(
    v.bits_per_rollout,
    one_bit
    * sp.Piecewise(
        (0, v.pass_variance <= 0),
        (_entropy(v.observed_pass_rate) - _m * _entropy(_minus) - (1 - _m) * _entropy(_plus), v.pass_rate_spread <= 0),
        (
            mean_entropy(v.beta_successes, v.beta_failures, _plus, _minus)
            - _m * _entropy(_minus)
            - (1 - _m) * _entropy(_plus),
            True,
        ),
    ),
    "information of a verdict about the truth, mean over a Beta distribution of pass rates; H(p) without errors",
)
success_equation = Equation(
    v.success_bits,
    one_bit * sp.Piecewise((0, _p <= 0), (-_p * _log2(_p), True)),
    "bits of the successes alone: each tells log2(1/p), and comes p of the time",
)
levels_equation = Equation(
    v.information_bits, one_bit * _log2(v.levels), "most bits of a reward with v levels", source="shannon1948",
    name="level_bits",
)  # fmt: skip
noisy_score_equation = Equation(
    v.information_bits,
    one_bit * _log2(1 + v.reward_snr) / 2,
    "capacity of a graded reward under Gaussian noise",
    source="cover2006elements",
    name="noisy_score_bits",
)
score_equation = Equation(
    v.information_bits,
    one_bit * gaussian_channel(_p, v.logit_sensitivity),
    "what the reward tells about the direction of improvement in the score model: binary input, Gaussian noise",
    name="score_information",
)
faint_score_equation = Equation(
    v.information_bits,
    one_bit * _p * (1 - _p) * v.logit_sensitivity**2 / (2 * sp.log(2)),
    "the same for a faint signal: p q Delta^2 / (2 ln 2)",
    holds_when=[(v.logit_sensitivity <= 1, "a sensitivity of {logit_sensitivity} is not faint")],
    name="faint_score_information",
)

# --- per token, FLOP, GPU-hour and dollar ----------------------------------------------------------------------------
# A flat group that dynamic sampling discards was graded too, and that it was flat is told: its rewards count.
step_equation = Equation(
    v.bits_per_step,
    v.bits_per_rollout * v.rollouts * (1 - v.dynamic_sampling + v.dynamic_sampling * v.oversampling),
    "bits offered by the rewards of one step, those of discarded groups included",
)
token_equation = Equation(v.bits_per_token, v.bits_per_rollout / v.response_tokens, "bits per generated token")
tokens_per_bit_equation = Equation(v.tokens_per_bit, 1 / v.bits_per_token, "tokens that one bit takes, at least")
pretraining_flops_equation = Equation(
    v.pretraining_flops_per_token,
    flops_per_parameter * v.active_parameters_matmul * v.backward_passes,
    "forward and backward pass over a token of text",
    source="kaplan2020scaling",
)
rl_flops_equation = Equation(
    v.rl_flops_per_token,
    flops_per_parameter * v.active_parameters_matmul * (1 + v.scoring_passes + v.backward_passes),
    "one pass to generate, then to score, then forward and backward",
)
flops_ratio_equation = Equation(
    v.flops_ratio_per_token, v.rl_flops_per_token / v.pretraining_flops_per_token, "RL token over pre-training token"
)
pretraining_time_equation = Equation(
    v.pretraining_gpu_seconds_per_token,
    flops_per_parameter
    * v.active_parameters_matmul
    * v.backward_passes
    / (v.pretraining_mfu * v.bf16_flops_per_second),
    "FLOPs at the utilisation of pre-training",
)
rl_time_equation = Equation(
    v.rl_gpu_seconds_per_token,
    flops_per_parameter
    * v.active_parameters_matmul
    * (1 / v.decode_mfu + (v.scoring_passes + v.backward_passes) / v.train_mfu)
    / v.bf16_flops_per_second,
    "generation at the utilisation of decoding, the rest at that of training",
)
time_ratio_equation = Equation(
    v.gpu_time_ratio_per_token,
    v.rl_gpu_seconds_per_token / v.pretraining_gpu_seconds_per_token,
    "RL token over pre-training token",
)
flop_bits_equation = Equation(v.bits_per_flop, v.bits_per_token / v.rl_flops_per_token, "most bits per FLOP of RL")
hour_bits_equation = Equation(
    v.bits_per_gpu_hour,
    v.bits_per_token * seconds_per_hour / v.rl_gpu_seconds_per_token,
    "most bits per GPU-hour of RL",
)
dollar_bits_equation = Equation(v.bits_per_usd, v.bits_per_gpu_hour / v.usd_per_gpu_hour, "most bits per dollar of RL")

# --- the ladder of a pre-training token ------------------------------------------------------------------------------
vocabulary_equation = Equation(
    v.vocabulary_bits_per_token,
    one_bit / one_token * _log2(v.vocabulary_size),
    "naming one entry when all are equally likely",
    source="shannon1948",
)
_bits = one_bit / one_token / sp.log(2)
_capacity_term = v.loss_scale_parameters * v.total_parameters**-v.loss_exponent_parameters
_data_term = v.loss_scale_tokens * (v.pretraining_tokens / one_token) ** -v.loss_exponent_tokens
loss_equation = Equation(
    v.loss_bits_per_token,
    _bits * (v.irreducible_loss_nats + _capacity_term + _data_term),
    "loss law: irreducible, for want of parameters, for want of tokens",
    source="hoffmann2022chinchilla",
)
reducible_equation = Equation(
    v.reducible_bits_per_token,
    _bits * (_capacity_term + _data_term),
    "the loss above that of infinite parameters and tokens",
    source="hoffmann2022chinchilla",
)
learned_equation = Equation(
    v.learned_bits_per_token,
    _bits * _data_term * v.loss_exponent_tokens / (1 - v.loss_exponent_tokens),
    "area between the loss curve and its final value, per token",
    source="hoffmann2022chinchilla",
)
learned_limit_equation = Equation(
    v.learned_limit_bits_per_token,
    _bits * _data_term / (1 - v.loss_exponent_tokens),
    "area between the loss curve and its value for infinite data, per token: what a Bayes-optimal learner has learned",
    source="hoffmann2022chinchilla",
)
stored_equation = Equation(
    v.stored_bits_per_token,
    v.capacity_bits_per_parameter * v.total_parameters / v.pretraining_tokens,
    "measured capacity of the weights, spread over the training tokens",
    source="allenzhu2024capacity",
)
ratio_equation = Equation(
    v.ceiling_ratio,
    v.loss_bits_per_token * v.response_tokens / v.bits_per_rollout,
    "loss of a pre-training token over the reward ceiling of an RL token",
)

# --- supply and demand -----------------------------------------------------------------------------------------------
_p0, _p1 = v.start_pass_rate, v.target_pass_rate
divergence_equation = Equation(
    v.binary_divergence_bits,
    one_bit
    * (
        sp.Piecewise((0, _p1 <= 0), (_p1 * _log2(_p1 / _p0), True))
        + sp.Piecewise((0, _p1 >= 1), ((1 - _p1) * _log2((1 - _p1) / (1 - _p0)), True))
    ),
    "fewest bits about the unknown that lift the best blind pass rate to the target",
    source="fano1961",
)
fewest_equation = Equation(
    v.fewest_rollouts,
    path_rollouts(_p0, _p1),
    "integral of d kl / H(p) along the path: each rollout pays H at the pass rate reached so far",
    holds_when=[
        (_p0 <= _p1, "the target {target_pass_rate} is below the start {start_pass_rate}"),
        (_p1 <= sp.Rational(1, 2), "a target of {target_pass_rate} is above one half, where H falls again"),
    ],
    source="fano1961",
)

EQUATIONS = [observed_equation, bits_equation, step_equation, token_equation]


# --- numbers that need a sum or a table ------------------------------------------------------------------------------
def binary_entropy(pass_rate):
    """Binary entropy in bits of a pass rate, or of an array of them.

    >>> round(float(binary_entropy(0.05)), 4)
    0.2864
    """
    return entropy_equation(pass_rate=pass_rate)[()]


def binary_divergence(target_pass_rate, start_pass_rate):
    """Demand kl(p_1 || p_0) in bits; arrays broadcast. Source: Fano (1961).

    >>> round(float(binary_divergence(0.95, 0.05)), 2)
    3.82
    """
    return divergence_equation(target_pass_rate=target_pass_rate, start_pass_rate=start_pass_rate)[()]


def mutual_information(joint) -> float:
    """Mutual information in bits of two variables with the given table of joint probabilities.

    ``joint`` is an array (values of one, values of the other) of nonnegative weights that sum to one.
    Raises RleconError for a table that is none. Source: Shannon (1948).

    >>> mutual_information([[0.5, 0.0], [0.0, 0.5]])
    1.0
    """
    table = np.asarray(joint, dtype=float)
    if table.ndim != 2 or np.any(~(table >= 0)) or abs(table.sum() - 1) > 1e-9:
        raise RleconError("not a table of joint probabilities", field="joint", allowed="nonnegative, summing to 1")
    apart = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    filled = table > 0
    return float(np.sum(table[filled] * np.log2(table[filled] / apart[filled])))


def elimination(arms: int):
    """Supply and demand of a bandit with one winning arm whose arms are tried one by one, each once.

    ``arms`` is the number of arms. Returns ``(supplied, success, demanded)``: arrays over 0 ... arms - 1 trials of the
    bits that the rewards have told about the winner (exact posterior), the chance that the best guess then wins, and
    the bits which that chance demands. The supply ends at log2(arms) exactly.

    >>> supplied, success, demanded = elimination(1024)
    >>> round(float(supplied[-1]), 9), round(float(supplied[512]), 2), round(float(demanded[512]), 2)
    (10.0, 5.5, 4.01)
    """
    if int(arms) != arms or arms < 2:
        raise RleconError("too few arms", field="arms", value=arms, allowed="whole numbers, at least 2")
    trial = np.arange(int(arms) - 1)
    untold = 1 - trial / arms  # chance that the winner is still unknown
    supplied = np.concatenate([[0.0], np.cumsum(untold * binary_entropy(1.0 / (arms - trial)))])
    success = (np.arange(int(arms)) + 1.0) / arms
    return supplied, success, binary_divergence(success, 1.0 / arms)


def halving(questions: int):
    """Supply and demand of twenty questions: each rollout asks about half of what is left, so its reward is one bit.

    ``questions`` is how many halvings name the answer. Returns ``(supplied, success, demanded)`` over 0 ... questions.

    >>> supplied, success, demanded = halving(10)
    >>> float(supplied[-1]), round(float(demanded[-1]), 9)
    (10.0, 10.0)
    """
    if int(questions) != questions or questions < 1:
        raise RleconError("too few questions", field="questions", value=questions, allowed="whole numbers, at least 1")
    asked = np.arange(int(questions) + 1.0)
    success = 2.0 ** (asked - questions)
    return asked, success, binary_divergence(success, 2.0**-questions)

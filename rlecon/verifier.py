"""Unreliable verifiers: what false verdicts do to gradients and to where training ends, and what voting repairs.

False positives hurt most where success is rare: most of what is accepted is then wrong. Errors drawn afresh at each
grading shrink the gradient; errors that a wrong answer can rely on put a ceiling on what training reaches.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from rlecon import information
from rlecon import vocabulary as v
from rlecon.equation import Equation
from rlecon.errors import RleconError
from rlecon.vocabulary import one_bit

_p, _plus, _minus = v.pass_rate, v.false_positive_rate, v.false_negative_rate
_J, _seen = v.youden_index, v.observed_pass_rate
_pq = _p * (1 - _p)
_teaches = [
    (_J > 0, "at J = {youden_index} the rewards point away from the truth, or nowhere"),
    (_pq > 0, "at a pass rate of {pass_rate} there is nothing to tell apart"),
]

observed_equation = Equation(
    _seen,
    _p * (1 - _minus) + (1 - _p) * _plus,
    "right answers that pass, and wrong ones that pass too",
    source="cai2025noisy",
    name="observed_pass_rate_prompt",
)
rollouts_equation = Equation(
    v.verifier_rollouts_factor,
    _seen * (1 - _seen) / (_pq * _J**2),
    "the gradient shrinks by J and its noise is that of what is observed: rollouts for the same signal-to-noise",
    holds_when=_teaches,
    source="cai2025noisy",
)
gradient_equation = Equation(
    v.verifier_gradient_factor,
    _J,
    "errors independent of the trajectory given the truth: the gradient keeps its direction",
    source="rad2026rateorfate",
    name="verifier_gradient_factor",
)
divided_equation = Equation(
    v.verifier_gradient_factor,
    _J * sp.sqrt(_pq / (_seen * (1 - _seen))),
    "advantages divided by their observed deviation, large groups: rare successes lose more",
    holds_when=[(_seen * (1 - _seen) > 0, "all verdicts agree")],
    name="verifier_gradient_factor_divided",
)
precision_equation = Equation(
    v.verifier_precision,
    _p * (1 - _minus) / _seen,
    "share of accepted answers that are right: where KL-regularized training ends if errors can be relied on",
    holds_when=[(_seen > 0, "nothing is accepted")],
    source="rad2026rateorfate",
)
_entropy = information.entropy_equation.right / one_bit
floor_equation = Equation(
    v.information_bits,
    (1 - v.common_cause) * one_bit * _entropy
    + v.common_cause
    * one_bit
    * (
        _entropy.subs(_p, _seen) - _p * _entropy.subs(_p, _minus) - (1 - _p) * _entropy.subs(_p, _plus)
    ),
    "many verifiers that copy one verdict with chance rho_V and else err apart: what no number of them adds to",
    holds_when=[(_J > 0, "at J = {youden_index} many verifiers tell nothing, or the reverse")],
    name="voting_ceiling",
)  # fmt: skip
majority_floor_equation = Equation(
    v.majority_false_positive_rate,
    v.common_cause * v.false_positive_rate,
    "false positives of a majority of very many verifiers: only the copied verdicts are left",
    holds_when=[(_plus < sp.Rational(1, 2), "a majority errs where each errs more often than not")],
)


def vote_table(pass_rate, false_positive_rate, false_negative_rate, verifiers: int, common_cause=0.0):
    """Joint probabilities of the truth (rows: wrong, right) and the number of positive votes (columns 0 ... V).

    With chance ``common_cause`` all verifiers copy one verdict; else they err independently given the truth. This is
    also the correlation of two verdicts given the truth. Returns an array of shape (2, V + 1).
    """
    from scipy.stats import binom

    for name, value in (
        ("pass_rate", pass_rate),
        ("false_positive_rate", false_positive_rate),
        ("false_negative_rate", false_negative_rate),
        ("common_cause", common_cause),
    ):
        if not 0 <= value <= 1:
            raise RleconError("not a share", field=name, value=value, allowed="0 to 1")
    if int(verifiers) != verifiers or verifiers < 1:
        raise RleconError("not a number of verifiers", field="verifiers", value=verifiers, allowed="1, 2, 3, ...")
    votes, rows = np.arange(verifiers + 1), []
    for share, accept in ((1 - pass_rate, false_positive_rate), (pass_rate, 1 - false_negative_rate)):
        apart = binom.pmf(votes, verifiers, accept)
        copied = np.zeros(verifiers + 1)
        copied[0] += 1 - accept
        copied[-1] += accept
        rows.append(share * ((1 - common_cause) * apart + common_cause * copied))
    return np.array(rows)


def vote_bits(pass_rate, false_positive_rate, false_negative_rate, verifiers: int, *, majority=False, common_cause=0.0):
    """Bits that the votes of several verifiers tell about the truth: all votes kept, or their majority only.

    An even number breaks ties by a coin. Source: Condorcet (1785) for the majority; mutual information is exact.

    >>> [round(vote_bits(0.3, 0.2, 0.3, 5, majority=m), 3) for m in (False, True)]
    [0.542, 0.455]
    """
    table = vote_table(pass_rate, false_positive_rate, false_negative_rate, verifiers, common_cause)
    if majority:
        votes = np.arange(verifiers + 1)
        yes = np.where(2 * votes > verifiers, 1.0, np.where(2 * votes == verifiers, 0.5, 0.0))
        table = np.stack([table @ (1 - yes), table @ yes], axis=1)
    return information.mutual_information(table / table.sum())


def majority_errors(false_positive_rate, false_negative_rate, verifiers: int, *, common_cause=0.0):
    """False positive and false negative rate of the majority of an odd number of verifiers.

    >>> [round(e, 3) for e in majority_errors(0.2, 0.3, 5)]
    [0.058, 0.163]
    """
    if verifiers % 2 == 0:
        raise RleconError("has ties", field="verifiers", value=verifiers, allowed="odd numbers")
    table = vote_table(0.5, false_positive_rate, false_negative_rate, verifiers, common_cause) * 2
    half = (verifiers + 1) // 2
    return float(table[0, half:].sum()), float(table[1, :half].sum())


RULES = ("kl", "answers", "modes")


def train_against(
    pass_rate, false_positive_rate, false_negative_rate, *, fixed=True, rule="kl", steps=4000, rate=0.05, answers=2000
):
    """Train a policy against an erring verifier: true success and expected observed reward at the end.

    ``fixed``: a wrong answer that passes passes every time (it can be relied on); else each grading errs afresh.
    ``rule``: "kl" tilts the base policy by reward, more and more (KL-regularized improvement: accepted answers keep
    their proportions); "answers" is plain softmax policy gradient with a logit for each of ``answers`` equally likely
    answers; "modes" is the same with one logit for all right answers, one for wrong ones that pass, one for the rest,
    as where each is one way of answering: then the larger mode wins. Deterministic: expected gradients.

    >>> [round(x, 2) for x in train_against(0.05, 0.05, 0.05)]
    [0.5, 1.0]
    """
    if rule not in RULES:
        raise RleconError("not a rule", field="rule", value=rule, allowed=", ".join(RULES))
    right, wrong = pass_rate, 1 - pass_rate
    if fixed:  # right and accepted, wrong and accepted, right but rejected, wrong and rejected
        accept = np.array([1 - false_negative_rate, false_positive_rate])
        shares = np.array([right, wrong, right, wrong]) * np.array([*accept, *(1 - accept)])
        reward, true = np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
    else:
        shares, true = np.array([right, wrong]), np.array([1.0, 0.0])
        reward = np.array([1 - false_negative_rate, false_positive_rate])
    held = shares > 0
    shares, reward, true = shares[held], reward[held], true[held]
    if rule == "kl":
        policy = shares * np.exp(rate * steps * (reward - reward.max()))
        policy /= policy.sum()
        return float(policy @ true), float(policy @ reward)
    count = shares * answers if rule == "answers" else np.ones_like(shares)
    logits, grow = np.log(shares / count), rate * (answers if rule == "answers" else 1)
    for _ in range(steps):
        weight = count * np.exp(logits - logits.max())
        policy = weight / weight.sum()
        logits = logits + grow * policy / count * (reward - policy @ reward)
    return float(policy @ true), float(policy @ reward)

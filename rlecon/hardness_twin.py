"""Hardness by drawing: every reading of :mod:`rlecon.hardness` estimated from simulated rewards and scores.

Nothing here uses the closed forms. Rewards are drawn right or wrong, scores from the score model, and the same
quantities are read off the draws; standard errors come from leaving out one block of draws at a time.
"""

from __future__ import annotations

import numpy as np

from rlecon.errors import RleconError

BLOCKS = 20
DIMENSION = 1e4  # of the score in the steps below: large, so that steps stay limited by noise
STEP_ROLLOUTS = 16


def _block(p, rng, runs):
    """Averages over one block of draws."""
    q = 1 - p
    length = max(32, int(np.ceil(20 / min(p, q))))
    right = rng.random((runs, length), dtype=np.float32) < p
    first = right.argmax(axis=1) + 1
    both = (right != right[:, :1]).argmax(axis=1) + 1
    known, look = right.any(axis=1), max(1, round(1 / p))
    share = right.mean(axis=1)
    found = {
        "first": first[known].mean(),
        "late": np.mean(~right[:, :look].any(axis=1)) ** (1 / look),
        "both": both.mean(),
        "variance": right.var(),
        "surprise": np.where(right, -np.log2(p), -np.log2(q)).mean(),
        "error": length * np.mean((share / p - 1) ** 2),
    }
    for size in (2, 8, 16):
        count = right[:, :size].sum(axis=1)
        found[f"mixed_{size}"] = np.mean((count > 0) & (count < size))

    r = right.ravel()[: runs * 32].astype(float)  # the score model, sensitivity 1
    along = r - p + rng.standard_normal(r.size)
    across = rng.standard_normal(r.size)
    for name, advantage in (("base", r - p), ("zero", r), ("sign", 2 * r - 1)):
        found[f"{name}_signal"] = np.mean(advantage * along)
        found[f"{name}_noise"] = np.mean((advantage * across) ** 2)
    gradient = ((r - p) * across).reshape(-1, STEP_ROLLOUTS).mean(axis=1)
    found["step_square"] = np.mean(((r - p) * along).reshape(-1, STEP_ROLLOUTS).mean(axis=1) ** 2)
    found["step_square"] += (DIMENSION - 1) * np.mean(gradient**2)

    skill = rng.standard_normal(r.size)  # the threshold that a share p passes
    cut, small = _quantile(q), 0.05
    found["slope"] = np.mean((skill > cut - small).astype(float) - (skill > cut + small)) / (2 * small)
    found["passed"] = np.var(skill > cut)
    return found


def _quantile(share):
    from scipy.special import ndtri

    return ndtri(share)


def _waits(p, m):
    """Rollouts per unit of each reading, from the averages ``m``."""
    gain = m["base_signal"] ** 4 / m["step_square"]
    return {
        "success": m["first"],
        "sure_success": np.log(0.05) / np.log(m["late"]),
        "both": m["both"],
        "variance": 1 / m["variance"],
        **{f"mixed_{size}": size / m[f"mixed_{size}"] for size in (2, 8, 16)},
        "bits": 1 / m["surprise"],
        "sd": np.sqrt(m["base_noise"]) / m["base_signal"],
        "snr_zero_one": m["zero_noise"] / m["zero_signal"] ** 2,
        "snr_plus_minus": m["sign_noise"] / m["sign_signal"] ** 2,
        "odds": m["error"],
        "threshold": m["passed"] / m["slope"] ** 2,
        "gain_kl": 1 / gain,
        "gain_objective": m["variance"] / gain,
        "log_gain_kl": p**2 / gain,
        "log_gain_objective": p**2 * m["variance"] / gain,
    }


def _estimates(p, rng, runs):
    blocks = [_block(p, rng, runs) for _ in range(BLOCKS)]
    names = blocks[0]
    table = {n: np.array([b[n] for b in blocks]) for n in names}
    total = {n: x.sum() for n, x in table.items()}
    whole = _waits(p, {n: x / BLOCKS for n, x in total.items()})
    left_out = _waits(p, {n: (total[n] - x) / (BLOCKS - 1) for n, x in table.items()})
    return {k: (whole[k], np.sqrt((BLOCKS - 1) * np.var(np.log(left_out[k])))) for k in whole}


def simulated(hard: float = 0.05, easy: float = 0.5, *, seed: int = 0, runs: int = 2000):
    """Every ratio of :func:`rlecon.hardness.readings`, drawn: key to (ratio, standard error).

    Parameters: two pass rates; a seed; ``runs`` independent sequences of rollouts in each of 20 blocks.
    Raises RleconError for pass rates of 0 or 1.

    >>> ratio, error = simulated(runs=200)["variance"]
    >>> abs(ratio - 5.26) < 5 * error
    True
    """
    for name, value in (("hard", hard), ("easy", easy)):
        if not 0 < value < 1:
            raise RleconError("needs both outcomes", field=name, value=value, allowed="above 0 and below 1")
    rng = np.random.default_rng(seed)
    top, bottom = _estimates(hard, rng, runs), _estimates(easy, rng, runs)
    found = {}
    for key, (value, error) in top.items():
        other, other_error = bottom[key]
        found[key] = float(value / other), float(value / other * np.hypot(error, other_error))
    return found

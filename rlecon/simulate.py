"""Twins of the closed forms: Monte Carlo and discrete-event simulations of rollouts, engines and pools.

Every function takes a NumPy ``Generator`` first and returns the estimate and its standard error. Nothing here is used
by a bill: a simulation shows that a formula says what it claims to say, and where it stops.
"""

from __future__ import annotations

import heapq
import math

import numpy as np


def _mean(values):
    values = np.asarray(values, float)
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def lengths(rng, count, location, spread, cap=math.inf, looping=0.0):
    """Lognormal response lengths, cut at ``cap``: ``count`` draws in tokens. A share ``looping`` never ends."""
    drawn = np.minimum(rng.lognormal(location, spread, count), cap)
    return np.where(rng.random(count) < looping, cap, drawn) if looping else drawn


def longest(rng, n, location, spread, cap=math.inf, *, repeats=2000):
    """Mean length of the longest of ``n`` responses, in tokens.

    >>> value, error = longest(np.random.default_rng(0), 16, -0.32, 0.8)
    >>> abs(value - 3.30) < 4 * error
    True
    """
    return _mean([lengths(rng, n, location, spread, cap).max() for _ in range(repeats)])


def cap_hits(rng, n, location, spread, cap, *, repeats=2000):
    """Chance that at least one of ``n`` responses reaches the cap, and the share of responses that do."""
    drawn = rng.lognormal(location, spread, (repeats, n)) >= cap
    return _mean(drawn.any(axis=1)), _mean(drawn.mean(axis=1))


def keep_first(rng, n, oversampling, spread, *, repeats=2000):
    """Start ``oversampling * n`` responses and keep the first ``n`` that end: time of the round and mean length kept.

    Both in mean response lengths. Returns ``((time, error), (kept, error))``.
    """
    started = math.ceil(oversampling * n)
    drawn = np.sort(rng.lognormal(-(spread**2) / 2, spread, (repeats, started)), axis=1)
    return _mean(drawn[:, n - 1]), _mean(drawn[:, :n].mean(axis=1))


def distinct_experts(rng, experts, per_token, batch, *, repeats=400):
    """Share of a layer's experts that a batch of independent tokens touches; each token picks ``per_token`` of them."""
    shares = []
    for _ in range(repeats):
        picks = np.argpartition(rng.random((batch, experts)), per_token - 1, axis=1)[:, :per_token]
        shares.append(len(np.unique(picks)) / experts)
    return _mean(shares)


def _batch(drawn, fixed_seconds, slope_seconds, context_seconds, prompt_tokens, resident_limit, prefill_seconds):
    """Seconds until a batch of the drawn lengths has ended; a sequence starts as soon as another leaves room."""
    fixed = fixed_seconds if callable(fixed_seconds) else lambda b: fixed_seconds
    queue = list(drawn)[::-1]
    heap: list = []
    clock = seconds = started_at = 0.0  # clock counts decode steps; started_at sums the steps at which residents began
    while queue or heap:
        while queue and len(heap) < resident_limit:
            heapq.heappush(heap, (clock + queue[-1], clock))
            queue.pop()
            started_at += clock
            seconds += prefill_seconds
        end, start = heapq.heappop(heap)
        b, span = len(heap) + 1, end - clock
        held = b * (prompt_tokens + clock) - started_at + b * span / 2
        seconds += span * (fixed(b) + slope_seconds * b + context_seconds * held)
        clock = end
        started_at -= start
    return seconds


def synchronous_batch(rng, n, location, spread, cap=math.inf, *, fixed_seconds, slope_seconds=0.0, context_seconds=0.0,
                      prompt_tokens=0.0, resident_limit=math.inf, prefill_seconds=0.0, engines=1, repeats=200,
                      looping=0.0):
    """Time of a synchronous batch of ``n`` responses on each of ``engines`` engines, in seconds: the last one ends it.

    A decode step takes ``fixed_seconds`` (a number, or a function of the residents), ``slope_seconds`` per resident and
    ``context_seconds`` per cached token; at most ``resident_limit`` sequences are resident, the rest queue. A share
    ``looping`` of the responses runs to the cap.
    """
    return _mean([
        max(
            _batch(lengths(rng, n, location, spread, cap, looping), fixed_seconds, slope_seconds, context_seconds,
                   prompt_tokens, resident_limit, prefill_seconds)
            for _ in range(engines)
        )
        for _ in range(repeats)
    ])


def peak_cache(rng, n, location, spread, cap=math.inf, *, prompt_tokens=0.0, looping=0.0, repeats=200):
    """Most tokens that a batch of ``n`` started together ever caches, per sequence."""
    peaks = []
    for _ in range(repeats):
        ends = np.sort(lengths(rng, n, location, spread, cap, looping))
        peaks.append(np.max((n - np.arange(n)) * (prompt_tokens + ends)) / n)
    return _mean(peaks)


def continuous_generation(rng, residents, location, spread, cap=math.inf, *, fixed_seconds, slope_seconds=0.0,
                          context_seconds=0.0, prompt_tokens=0.0, sequences=20_000):
    """Tokens per second of an engine that always holds ``residents`` sequences, each replaced as it ends.

    The first quarter is left out; the error comes from 20 blocks of the rest.
    """
    heap = [(length, 0.0) for length in lengths(rng, residents, location, spread, cap)]
    heapq.heapify(heap)
    clock = seconds = started_at = 0.0
    marks, fresh = [], iter(lengths(rng, sequences, location, spread, cap))
    for _ in range(sequences):
        end, start = heapq.heappop(heap)
        span = end - clock
        held = residents * (prompt_tokens + clock) - started_at + residents * span / 2
        seconds += span * (fixed_seconds + slope_seconds * residents + context_seconds * held)
        clock = end
        started_at += clock - start
        heapq.heappush(heap, (clock + next(fresh), clock))
        marks.append((clock, seconds))
    edges = np.linspace(sequences // 4, sequences - 1, 21).astype(int)
    at = np.array([marks[i] for i in edges])
    return _mean(residents * np.diff(at[:, 0]) / np.diff(at[:, 1]))


def environment_wait(rng, residents, turns, turn_tokens, environment_seconds, *, fixed_seconds, slope_seconds=0.0,
                     trajectories=4000):
    """Decoding sequences and trajectories per second of an engine whose residents also wait for their environment.

    A trajectory alternates ``turns`` times between decoding ``turn_tokens`` tokens (exponential) and an exponential
    wait of mean ``environment_seconds``. Returns ``((decoding, error), (per second, error))``.
    """
    clock = now = 0.0
    decoding = [(rng.exponential(turn_tokens), 0) for _ in range(residents)]  # (decode step at which a turn ends, turn)
    heapq.heapify(decoding)
    waiting: list = []
    finished = area = 0.0
    marks = []
    while finished < trajectories:
        b = len(decoding)
        step = fixed_seconds + slope_seconds * b
        to_decode = (decoding[0][0] - clock) * step if b else math.inf
        to_wait = waiting[0][0] - now if waiting else math.inf
        span = min(to_decode, to_wait)
        now += span
        area += span * b
        clock += span / step
        if to_decode <= to_wait:
            clock, turn = heapq.heappop(decoding)
            heapq.heappush(waiting, (now + rng.exponential(environment_seconds), turn + 1))
        else:
            _, turn = heapq.heappop(waiting)
            if turn == turns:
                finished, turn = finished + 1, 0
                marks.append((now, area))
            heapq.heappush(decoding, (clock + rng.exponential(turn_tokens), turn))
    edges = np.linspace(len(marks) // 4, len(marks) - 1, 21).astype(int)
    at = np.array([marks[i] for i in edges])
    return _mean(np.diff(at[:, 1]) / np.diff(at[:, 0])), _mean(np.diff(edges) / np.diff(at[:, 0]))


def two_pools(rng, generation, training, *, overlap, steps=4000):
    """Seconds per step of two pools: in turn, or the next step's generation beside this step's training.

    ``generation`` and ``training`` draw a number of durations from ``rng``; with ``overlap`` a batch may be one step
    old, so that neither pool runs further ahead.
    """
    g, t = generation(rng, steps), training(rng, steps)
    if not overlap:
        return _mean(g + t)
    generated = trained = 0.0
    ends = []
    for made, learned in zip(g, t, strict=True):
        start = max(generated, trained)  # the batch is there, and the trainer is free
        # the next batch starts when this one is handed over
        generated, trained = start + made, start + learned
        ends.append(start)
    return _mean(np.diff(ends))


def _agents(rng, drawn, mean, turns, environment_seconds, fixed_seconds, slope_seconds, resident_limit, timeout):
    """End of the batch and mean life of a trajectory, on one engine."""
    left = np.maximum(1, np.round(1 + (turns - 1) * drawn / mean)).astype(int)
    per_turn = drawn / left
    queue, born, lives = list(range(len(drawn)))[::-1], {}, []
    clock = now = 0.0
    decoding: list = []
    waiting: list = []
    while queue or decoding or waiting:
        while queue and len(decoding) + len(waiting) < resident_limit:
            i = queue.pop()
            born[i] = now
            heapq.heappush(decoding, (clock + per_turn[i], i))
        step = fixed_seconds + slope_seconds * len(decoding)
        to_decode = (decoding[0][0] - clock) * step if decoding else math.inf
        to_wait = waiting[0][0] - now if waiting else math.inf
        span = min(to_decode, to_wait)
        now, clock = now + span, clock + span / step
        if to_decode <= to_wait:
            clock, i = heapq.heappop(decoding)
            left[i] -= 1
            heapq.heappush(waiting, (now + min(environment_seconds(rng), timeout), i))
        else:
            _, i = heapq.heappop(waiting)
            if left[i] == 0:
                lives.append(now - born[i])
            else:
                heapq.heappush(decoding, (clock + per_turn[i], i))
    return now, float(np.mean(lives))


def agent_batch(rng, n, location, spread, cap=math.inf, *, turns, environment_seconds, fixed_seconds,
                slope_seconds=0.0, resident_limit=math.inf, engines=1, timeout=math.inf, repeats=20):
    """A synchronous batch of agents on ``engines`` engines of ``n`` trajectories each.

    A trajectory writes its tokens in turns (on average ``turns``, more for longer ones); after each it waits for
    ``environment_seconds``, a mean (exponential waits) or a function of the generator, at most ``timeout``. Returns
    ``((batch seconds, error), (life of a trajectory, error))``.
    """
    draw = environment_seconds if callable(environment_seconds) else lambda g: g.exponential(environment_seconds)
    ends, lives = [], []
    for _ in range(repeats):
        drawn = lengths(rng, engines * n, location, spread, cap).reshape(engines, n)
        found = [
            _agents(rng, one, drawn.mean(), turns, draw, fixed_seconds, slope_seconds, resident_limit, timeout)
            for one in drawn
        ]
        ends.append(max(end for end, _ in found))
        lives.append(np.mean([life for _, life in found]))
    return _mean(ends), _mean(lives)

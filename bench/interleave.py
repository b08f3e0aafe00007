# SPDX-License-Identifier: BSL-1.0
"""Candidates that do the same work, timed in shuffled turns."""
import dataclasses
import random
import statistics
from collections.abc import Callable

import numpy


@dataclasses.dataclass
class Candidate:
    peer: str
    version: str
    seconds: Callable[[int], float]  # of so many calls, processor time
    output: Callable[[], numpy.ndarray] | None = None  # of the last call
    form: str = ""  # one of several ways of a peer: the fastest counts
    calls_in_one: int = 1  # operators that one call executes


def measure(candidates, expected, repetitions, least_seconds):
    """Seconds of one operator in each repetition, a list per candidate. Raises ValueError where a result is wrong."""
    tolerance = 1e-3 * min(1, numpy.abs(expected).max())
    for one in candidates:
        one.seconds(1)
        if not numpy.allclose(one.output(), expected, rtol=1e-3, atol=tolerance):
            raise ValueError(f"{one.peer} {one.form} computes something else")
    return in_turns(candidates, repetitions, least_seconds)


def in_turns(candidates, repetitions, least_seconds):
    """The same, whatever the results are."""
    counts = []
    for one in candidates:
        count, seconds = 1, one.seconds(1)
        while seconds < least_seconds / 4:
            count *= 4
            seconds = one.seconds(count)
        counts.append(max(1, round(count * least_seconds / seconds)))
    times = [[] for _ in candidates]
    order = list(range(len(candidates)))
    for _ in range(repetitions):
        random.shuffle(order)
        for i in order:
            times[i].append(candidates[i].seconds(counts[i]) / counts[i] / candidates[i].calls_in_one)
    return times


def rows(candidates, times):
    """A dictionary for each peer: its median time over that of the first candidate, and the distance between the
    quartiles of that ratio over its median."""
    ours = statistics.median(times[0])
    best = {}
    for one, its in zip(candidates[1:], times[1:]):
        if one.peer not in best or statistics.median(its) < statistics.median(best[one.peer][1]):
            best[one.peer] = one, its
    for one, its in best.values():
        quartiles = statistics.quantiles([a / b for a, b in zip(its, times[0])] if len(its) > 1 else its * 2, n=4)
        yield {
            "peer": one.peer,
            "peer_version": one.version,
            "form": one.form,
            "ratio": statistics.median(its) / ours,
            "spread": (quartiles[2] - quartiles[0]) / quartiles[1],
            "seconds": ours,
            "peer_seconds": statistics.median(its),
        }

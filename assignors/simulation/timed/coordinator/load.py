"""What a coordinator is asked, and how fast the world around it is: a load, and its draws.

Requests come at random (a Poisson process); which group asks, whether it has to be checked, and how
long a check and a replication take are drawn once, each from a stream of its own, so that every
execution model is asked the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MICRO = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Times are microseconds."""

    requests: int = 20_000
    """How many come."""
    per_second: int = 5000
    """How many come in a second, in the mean."""
    groups: int = 1000
    """Groups that ask, all equally often."""
    changes_share: float = 0.0
    """The share of requests that change their group, and have it to themselves."""
    checks_share: float = 1.0
    """The share of requests that are checked, where checks take time."""
    check_us: int = 0
    """How long a check takes."""
    slow_group_check_us: int | None = None
    """How long it takes for the requests of group 0; `None`: as long as for the others."""
    service_us: int = 50
    """How long a worker handles a request."""
    handoff_us: int = 0
    """How long it takes to hand a request over to another thread."""
    append_us: int = 0
    """How long an append takes in the local log, which takes those of a partition one by one."""
    replication_us: int = 2000
    """From the local log to the high watermark above it."""
    is_steady: bool = True
    """Whether checks and replications always take so long; else that is their mean, and they are
    drawn from exponential distributions."""
    linger_us: int | None = None
    """How long a batch waits for others; `None`: for those that were waiting when it began."""
    timeout_us: int | None = None
    """How long a request that has been handled waits for the log; `None`: as long as it takes."""
    background_share: float = 0.0
    """The share of requests that leave work behind, as an assignment to compute."""
    background_us: int = 10_000
    """How long that work takes."""
    is_offloaded: bool = True
    """Whether the background executor does it; else the worker, before it is free again."""
    record_bytes: int = 100
    """Key and value of a record: about what an offset commit has with names of ten letters."""
    seed: int = 0
    """What arrivals, groups and times are drawn from."""


class Draws(NamedTuple):
    """Of each request, in order."""

    at_us: NDArray[np.int64]
    group: NDArray[np.int64]
    is_commit: NDArray[np.bool_]
    is_checked: NDArray[np.bool_]
    check_us: NDArray[np.int64]
    has_work: NDArray[np.bool_]
    """Whether it leaves work behind."""


def draws(load: Load) -> Draws:
    """Return the requests of a load. Cost: O(requests), in arrays."""
    count = load.requests
    gaps = _stream(load, 0).exponential(MICRO / load.per_second, count)
    group = _stream(load, 1).integers(0, load.groups, count)
    check = np.full(count, load.check_us, dtype=np.int64)
    if load.slow_group_check_us is not None:
        check[group == 0] = load.slow_group_check_us
    is_checked = (_stream(load, 2).random(count) < load.checks_share) & (check > 0)
    if not load.is_steady:
        check = (_stream(load, 3).exponential(1.0, count) * check).astype(np.int64)
    is_commit = _stream(load, 4).random(count) >= load.changes_share
    has_work = _stream(load, 6).random(count) < load.background_share
    at_us = np.cumsum(gaps).astype(np.int64)
    return Draws(at_us, group, is_commit, is_checked, check, has_work)


def replications(load: Load, count: int) -> NDArray[np.int64]:
    """Return how long so many replications take. Cost: O(count)."""
    if load.is_steady:
        return np.full(count, load.replication_us, dtype=np.int64)
    return _stream(load, 5).exponential(load.replication_us, count).astype(np.int64)


def _stream(load: Load, purpose: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[load.seed, purpose]))

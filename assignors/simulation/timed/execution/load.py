"""What a coordinator is asked, and how fast the world around it is: a load, and its draws.

Requests come at random (a Poisson process, of single requests or of bursts), or from clients that
wait for each answer before they ask again. Which group asks, whether it has to be checked, and how
long a check and a replication take are drawn once, each from a stream of its own, so that every
execution model is asked the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.documents.keys import integer, number, require_values

MICRO = 1_000_000
Count = Annotated[int, integer(1, 1_000_000)]
Microseconds = Annotated[int, integer(0, 60 * MICRO)]
Share = Annotated[float, number(0, 1)]
SEED_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Times are microseconds."""

    requests: Count = 20_000
    """How many come."""
    per_second: Annotated[int, integer(1, 100_000_000)] = 5000
    """How many come in a second, in the mean."""
    burst: Count = 1
    """How many come together; bursts are as rare as `per_second` asks for."""
    clients: Count | None = None
    """So many clients ask, each of them again once it has its answer; `None`: requests come at
    `per_second`, whatever has been answered."""
    think_us: Microseconds = 0
    """How long a client waits in the mean before it asks (exponential)."""
    groups: Count = 1000
    """Groups that ask, all equally often."""
    changes_share: Share = 0.0
    """The share of requests that change their group, and have it to themselves."""
    checks_share: Share = 1.0
    """The share of requests that are checked, where checks take time."""
    transactions_share: Share = 0.0
    """The share of requests whose records are a batch of their own, which is appended at once."""
    check_us: Microseconds = 0
    """How long a check takes."""
    slow_group_check_us: Microseconds | None = None
    """How long it takes for the requests of group 0; `None`: as long as for the others."""
    service_us: Microseconds = 50
    """How long a worker handles a request."""
    handoff_us: Microseconds = 0
    """How long it takes to hand a request over to another thread."""
    append_us: Microseconds = 0
    """How long an append takes in the local log, which takes those of a partition one by one."""
    replication_us: Microseconds = 2000
    """From the local log to the high watermark above it."""
    is_steady: bool = True
    """Whether checks and replications always take so long; else that is their mean, and they are
    drawn from exponential distributions."""
    linger_us: Microseconds | None = None
    """How long a batch waits for others; `None`: for those that were waiting when it began."""
    record_bytes: Count = 100
    """Key and value of a record: about what an offset commit has with names of ten letters."""
    seed: Annotated[int, integer(0, SEED_MAX)] = 0
    """What arrivals, groups and times are drawn from."""

    def __post_init__(self) -> None:
        """Raise `DocumentError` with the name of a field whose value cannot be."""
        require_values(self)


class Draws(NamedTuple):
    """Of each request, in order."""

    at_us: NDArray[np.int64]
    """When it comes; where clients wait for answers, how long one thinks before it."""
    group: NDArray[np.int64]
    is_commit: NDArray[np.bool_]
    is_checked: NDArray[np.bool_]
    check_us: NDArray[np.int64]
    is_transactional: NDArray[np.bool_]


def draws(load: Load) -> Draws:
    """Return the requests of a load. Cost: O(requests), in arrays."""
    count = load.requests
    check = np.full(count, load.check_us, dtype=np.int64)
    group = _stream(load, 1).integers(0, load.groups, count)
    if load.slow_group_check_us is not None:
        check[group == 0] = load.slow_group_check_us
    is_checked = (_stream(load, 2).random(count) < load.checks_share) & (check > 0)
    return Draws(
        at_us=_arrivals(load, count),
        group=group,
        is_commit=_stream(load, 4).random(count) >= load.changes_share,
        is_checked=is_checked,
        check_us=check if load.is_steady else _spread(load, 3, check),
        is_transactional=_stream(load, 7).random(count) < load.transactions_share,
    )


def _arrivals(load: Load, count: int) -> NDArray[np.int64]:
    """Return when requests come, or how long clients think before each."""
    if load.clients is not None:
        return (_stream(load, 0).exponential(1.0, count) * load.think_us).astype(np.int64)
    bursts = -(-count // load.burst)
    gaps = _stream(load, 0).exponential(MICRO * load.burst / load.per_second, bursts)
    return np.repeat(np.cumsum(gaps).astype(np.int64), load.burst)[:count]


def replications(load: Load, count: int) -> NDArray[np.int64]:
    """Return how long so many replications take. Cost: O(count)."""
    takes = np.full(count, load.replication_us, dtype=np.int64)
    return takes if load.is_steady else _spread(load, 5, takes)


def _spread(load: Load, purpose: int, means: NDArray[np.int64]) -> NDArray[np.int64]:
    return (_stream(load, purpose).exponential(1.0, len(means)) * means).astype(np.int64)


def _stream(load: Load, purpose: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[load.seed, purpose]))

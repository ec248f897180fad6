"""How the coordinator executes requests, and what other groups ask of it meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.simulation.timed.scenario.kinds import (
    MODEL,
    FewThousand,
    LingerMs,
    Model,
    PerSecond,
    Positive,
    Share,
)

as_model = MODEL.read
"""Returns the name of an execution model; raises `DocumentError` for another."""

USUAL_MODEL = "two-stage"
"""Kafka 4's, which executes a coordinator without a model whose appends fail."""
NO_MODEL = "none"
"""The execution model of a row whose coordinator has none, whatever the scenario says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherGroups:
    """Other groups that the coordinator looks after: their requests come at random."""

    per_second: PerSecond = 0
    """Requests a second (a Poisson process); 0: none."""
    groups: Positive = 100
    """How many there are, spread over the offsets partitions."""
    changes_share: Share = 0
    """The share of requests that change their group; the others commit offsets."""
    checks_share: Share = 0
    """The share of requests that are checked."""
    slow_group_check_us: int | None = None
    """How long a check takes for the first group; null: `check_us`."""
    from_ms: int = 0
    """When they begin to ask."""
    until_ms: int | None = None
    """When they stop; null: never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionConfig:
    """How the coordinator executes requests.

    A worker spends the broker's `service_us` on a request, and `append_us` after an append its
    records are replicated.
    """

    model: Model | None = None
    """An execution model, as `two-stage`. Null: requests are handled one after the other, without
    waiting for anything else."""
    workers: FewThousand = 4
    """`group.coordinator.threads`."""
    partitions: FewThousand = 4
    """Offsets partitions that this broker leads; the group is in the first one."""
    linger_ms: LingerMs = -1
    """`group.coordinator.append.linger.ms`; -1: a batch waits for the requests that were waiting
    when it began."""
    handoff_us: int = 0
    """How long it takes to hand a request over to another thread."""
    check_us: int = 0
    """How long the check of a transaction's request takes."""
    is_steady: bool = True
    """Checks and replications always take so long; false: that is the mean of an exponential
    distribution."""
    timers_wait: bool = True
    """A timer that has run out waits for its turn like a request, as in Kafka 4; false: it goes
    first, as before Kafka 4."""
    others: OtherGroups = field(default_factory=OtherGroups)
    """Other groups that the coordinator looks after."""

"""Faults: what goes wrong for a time, and how a scenario writes it.

    {"kind": "freeze", "member": "c1", "from_ms": 60000, "until_ms": 120000}

A crash is no fault of this kind but an action of the plan: it has no end.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from assignors.simulation.timed.scenario.kinds import Percent


class FaultKind(StrEnum):
    """What can go wrong."""

    FREEZE = "freeze"
    """The process stands still (a long GC, SIGSTOP) and still holds what it consumed. At the end it
    handles what has come."""
    LONG_POLL = "long_poll"
    """The application is busy and does not poll; heartbeats go on. With `runs_handlers` the first
    handler that is told to return does so at the end."""
    STUCK = "stuck"
    """The application hangs while its client goes on: it processes nothing, and its partitions
    count as without a consumer. Heartbeats go on until the client leaves (`rebalance_timeout_ms`).
    A new start of the process ends the fault."""
    SLOW_CALLBACK = "slow_callback"
    """A callback that begins meanwhile takes `by_ms` longer."""
    SLOW_ASSIGNOR = "slow_assignor"
    """As leader it takes `by_ms` longer for an assignment that it begins meanwhile."""
    STALLED_THREAD = "stalled_thread"
    """The client's own thread stands still, the application goes on. It needs a `client_model` that
    has such a thread."""
    LOST_GENERATION = "lost_generation"
    """At `from_ms` the member forgets its generation or member epoch."""
    CUT = "cut"
    """No message passes, or none in one `direction`; messages wait for the end of the cut. A new
    connection needs both directions."""
    DELAY = "delay"
    """Every message takes `by_ms` longer."""
    LOSS = "loss"
    """Each message is lost with a chance of `percent`, and its connection with it."""
    DUPLICATE = "duplicate"
    """Each request arrives a second time with a chance of `percent`, `by_ms` after the answer to
    the first."""
    HANGING_TRANSACTION = "hanging_transaction"
    """A producer commits offsets of `topic` and does not end its transaction: members that start
    such a partition wait. At the end it is aborted."""
    COORDINATOR_CRASH = "coordinator_crash"
    """The coordinator's broker ends, and with it connections, requests, timers and records that are
    not replicated. At `until_ms` the next broker is elected and loads the log: `broker.load_us` a
    record and `by_ms` besides."""
    COORDINATOR_HANDOVER = "coordinator_handover"
    """The coordinator's broker hands its partitions over, as in an orderly shutdown: no record is
    lost. Times as for a crash."""
    COORDINATOR_ZOMBIE = "coordinator_zombie"
    """Another broker is elected at `from_ms`, and the old coordinator learns of it at `until_ms`:
    meanwhile it goes on answering members, but cannot write."""
    APPEND_FAILURE = "append_failure"
    """Each append to the group's offsets partition fails with a chance of `percent`. The
    coordinator is executed by a model then: that of `broker.execution`, or `two-stage`."""


class Direction(StrEnum):
    """Which messages a cut stops."""

    REQUESTS = "requests"
    """Those to the coordinator."""
    ANSWERS = "answers"
    """Those to members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that goes wrong from one time until another."""

    kind: FaultKind
    """What goes wrong."""
    from_ms: int
    """When it begins."""
    until_ms: int = 0
    """When it ends; `lost_generation` has no end."""
    member: str | None = None
    """Whom it concerns; null: everybody, for a fault of the network."""
    by_ms: int = 0
    """How much longer something takes, or how much later a copy comes; how long the next
    coordinator loads other groups' records."""
    broker: int | None = None
    """The broker that fails; null: the group's coordinator."""
    percent: Percent = 0
    """The chance of a loss, a second delivery or a failed append, 0 to 100."""
    topic: str | None = None
    """Whose offsets the transaction commits; null: every topic's."""
    direction: Direction | None = None
    """The direction that a cut stops; null: both."""

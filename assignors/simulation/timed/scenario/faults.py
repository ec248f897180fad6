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
    """The process stands still (a long GC, SIGSTOP): it sends nothing and handles nothing, but
    what it consumed it still holds. What came meanwhile it handles at the end."""
    LONG_POLL = "long_poll"
    """The application does not come back to poll: its records keep it busy. Heartbeats go on. One
    with handlers (`runs_handlers`): of those that are told to return meanwhile the first does so at
    the end."""
    STUCK = "stuck"
    """The application hangs in its own code while its client goes on: it processes nothing, and its
    partitions count as without a consumer. Heartbeats go on, so nobody takes them over until the
    client leaves, as it has not polled for `rebalance_timeout_ms`, or the process is started anew,
    which ends the fault."""
    SLOW_CALLBACK = "slow_callback"
    """A callback that begins meanwhile takes `by_ms` longer."""
    SLOW_ASSIGNOR = "slow_assignor"
    """The member, as leader, takes `by_ms` longer for an assignment that it begins meanwhile."""
    STALLED_THREAD = "stalled_thread"
    """The client's own thread, which sends heartbeats or does all that needs the network, stands
    still; the application goes on. It needs a `client_model`; with all work in poll there is no
    such thread."""
    LOST_GENERATION = "lost_generation"
    """At `from_ms` the member forgets its generation or member epoch. It has no end."""
    CUT = "cut"
    """No message passes, or none in one `direction`. What is sent waits for the end, unless its
    time is over before. A new connection needs both directions."""
    DELAY = "delay"
    """Every message takes `by_ms` longer."""
    LOSS = "loss"
    """Each message is lost with a chance of `percent`, and with it its connection: nothing passes
    on it any more, until the member notices and opens another one."""
    DUPLICATE = "duplicate"
    """Each request reaches the coordinator a second time with a chance of `percent`, once the first
    is answered: at once, or `by_ms` later, after requests that were sent meanwhile. Nobody waits
    for the second answer."""
    HANGING_TRANSACTION = "hanging_transaction"
    """A producer commits offsets of `topic`, or of every topic, and does not end its transaction:
    who begins with one of these partitions waits for stable offsets. At the end it is aborted."""
    COORDINATOR_CRASH = "coordinator_crash"
    """The coordinator's broker ends: connections close, requests on their way are lost, and so is
    what the coordinator alone knew: who waits for an answer, timers, records that are not
    replicated. At `until_ms` the next broker is elected; it loads the log, which takes
    `broker.load_us` a record and `by_ms` besides, and goes on with what the log says. Members look
    for it meanwhile, and ask again while it loads."""
    COORDINATOR_HANDOVER = "coordinator_handover"
    """The coordinator's broker hands its partitions to the next one, as when it is shut down in
    order: nothing that was written is lost. Who waits for an answer hears that this is not the
    coordinator any more; who does not learns of it with the next request. Times as for a crash."""
    COORDINATOR_ZOMBIE = "coordinator_zombie"
    """Another broker is elected at `from_ms` and loads the log, and the old coordinator learns of
    it only at `until_ms`: meanwhile it goes on answering members that have noticed nothing. It
    cannot write: what is not replicated is lost, and a request that writes is answered with
    NOT_COORDINATOR, after which its member finds the new one."""
    APPEND_FAILURE = "append_failure"
    """Each append to the group's offsets partition fails with a chance of `percent`, as too few
    replicas are in sync. The coordinator is executed by a model then: that of `broker.execution`,
    or as in Kafka 4 (`two-stage`)."""


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
    """When it ends. It has to be given, but for `lost_generation`."""
    member: str | None = None
    """Whom it concerns; of a fault of the network, null is everybody."""
    by_ms: int = 0
    """How much longer something takes, or how much later a second copy comes; of a coordinator, how
    long it loads beside the time for the group's own records, as other groups have records in the
    partition."""
    broker: int | None = None
    """Of a coordinator: it is this broker's fault, which matters if it is the coordinator then;
    null: whichever is."""
    percent: Percent = 0
    """The chance of a loss, of a second delivery, or of an append to fail, from 0 to 100."""
    topic: str | None = None
    """Of a transaction: whose offsets it commits; null: those of every topic."""
    direction: Direction | None = None
    """Of a cut: the direction in which no message passes; null: both."""

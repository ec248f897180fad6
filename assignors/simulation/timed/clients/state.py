"""What a client knows, what happens to it, and what it asks for."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from assignors.simulation.timed.clients.models import Duty, Thread

Partitions = frozenset[int]
Offsets = tuple[tuple[int, int], ...]
"""Partition and offset of the next record, sorted."""


class Place(StrEnum):
    """Where the polling thread is."""

    AWAY = "away"
    """In the application's own code."""
    POLL = "poll"
    COMMIT = "commit"
    """In a blocking commit: it waits for the answer."""
    CALLBACK = "callback"
    """In a callback, inside `poll`: it waits for the answer to the commit that it makes there."""
    IDENTITY = "identity"
    """Between the two halves of a read of generation and owned partitions."""


class Phase(StrEnum):
    """How far a rebalance has come."""

    STEADY = "steady"
    NEWS = "news"
    """There is a new target."""
    REVOKING = "revoking"
    """The callback of revoked partitions is asked for."""
    CALLED = "called"
    """It has run."""
    ACKNOWLEDGED = "acknowledged"
    """The coordinator is informed; it has not granted anything yet."""
    GRANTED = "granted"
    ASSIGNING = "assigning"
    """The callback of assigned partitions is asked for."""
    FENCED = "fenced"
    """The client has read that it is in the group no more."""
    LOSING = "losing"
    """The callback of lost partitions is asked for."""
    LOST = "lost"
    """It has run."""
    JOINING = "joining"
    """The client has asked to be a member again."""


OUTSIDE = frozenset({Phase.FENCED, Phase.LOSING, Phase.LOST, Phase.JOINING})
"""The client knows that it is not in the group."""


class Heartbeat(NamedTuple):
    """A request: this member lives."""


class Acknowledge(NamedTuple):
    """A request: nothing is owned any more that the target lacks."""


class Join(NamedTuple):
    """A request: be a member again, who owns nothing."""


class Commit(NamedTuple):
    """A request: commit offsets. `number` is that of the call, 0 for an automatic commit."""

    number: int
    generation: int
    offsets: Offsets


class Fetch(NamedTuple):
    """A request to a broker: the record of this partition at this offset."""

    partition: int
    offset: int


Request = Heartbeat | Acknowledge | Join | Commit | Fetch


class Alive(NamedTuple):
    """An answer to a heartbeat: nothing is new."""


class News(NamedTuple):
    """An answer to a heartbeat: a rebalance has begun, this is what the member will own."""

    target: Partitions


class Fenced(NamedTuple):
    """An answer to a heartbeat or an acknowledgement: the member was removed from the group."""


class Granted(NamedTuple):
    """An answer to an acknowledgement or a join: the target is the member's, from these offsets."""

    generation: int
    offsets: Offsets


class Committed(NamedTuple):
    """An answer to a commit."""

    number: int
    is_accepted: bool


class Record(NamedTuple):
    """An answer to a fetch."""

    partition: int
    offset: int


Answer = Alive | News | Fenced | Granted | Committed | Record


class Arrived(NamedTuple):
    """An event: an answer has reached the client; a thread has yet to read it."""

    answer: Answer


class Run(NamedTuple):
    """An event: a thread takes its next step. `duty` is `None` where it leaves a call."""

    thread: Thread
    duty: Duty | None


class Command(StrEnum):
    """An event: what the application and the clock do."""

    POLL = "poll"
    COMMIT = "commit"
    TIMEOUT = "timeout"
    """A blocking commit has waited for as long as it may."""
    READ_IDENTITY = "read_identity"
    BEAT = "beat"
    """A heartbeat is due."""


Event = Arrived | Run | Command


class Kind(StrEnum):
    """The callbacks of a rebalance listener."""

    REVOKED = "revoked"
    ASSIGNED = "assigned"
    LOST = "lost"
    """Of a member that was removed: others may have the partitions, and no commit is accepted."""


class Callback(NamedTuple):
    """A callback that is asked for."""

    kind: Kind
    partitions: Partitions


class Send(NamedTuple):
    """An effect: send a request."""

    request: Request


class Ran(NamedTuple):
    """An effect: a callback ran."""

    callback: Callback
    thread: Thread
    is_in_poll: bool


class Returned(NamedTuple):
    """An effect: `poll` returned, with a record or none."""

    record: Record | None


class Completed(NamedTuple):
    """An effect: a blocking commit returned; `None`: its time was over."""

    number: int
    is_accepted: bool | None


class Identified(NamedTuple):
    """An effect: the application has read generation and owned partitions."""

    generation: int
    owned: Partitions


Effect = Send | Ran | Returned | Completed | Identified


class State(NamedTuple):
    """A client: the position of its polling thread, its channels, its membership, its records."""

    place: Place = Place.AWAY
    next_duty: int = 0
    """The position in the row of duties from which the polling thread goes on."""
    inbox: tuple[Answer, ...] = ()
    """Answers that have arrived and that no thread has read."""
    is_beat_due: bool = False
    phase: Phase = Phase.STEADY
    target: Partitions = frozenset()
    generation: int = 1
    owned: Partitions = frozenset()
    paused: Partitions = frozenset()
    """Owned, and neither fetched nor returned: about to be revoked, or not assigned yet."""
    callbacks: tuple[Callback, ...] = ()
    """Asked for: the channel to the polling thread."""
    calling: Callback | None = None
    """The callback that has begun and waits for its commit."""
    commits_in_callbacks: bool = False
    """Whether the application commits, and waits for it, in callbacks of revoked partitions."""
    positions: Offsets = ()
    """Per partition the offset after the last record collected."""
    processed: Offsets = ()
    """The same when `poll` was last called: everything before it the application has seen."""
    auto_committed: Offsets = ()
    """The same that the last automatic commit covered."""
    is_auto_committing: bool = False
    fetching: tuple[Fetch, ...] = ()
    """Sent and not answered."""
    buffer: tuple[Record, ...] = ()
    collected: Record | None = None
    commits: tuple[tuple[int, Offsets], ...] = ()
    """Calls whose commit is not sent yet: the channel to the other thread."""
    calls: int = 0
    """How often a blocking commit was called."""
    result: tuple[int, bool] | None = None
    """The number of the commit that has completed, and whether it was accepted."""
    granted_offsets: Offsets = ()
    seen_owned: Partitions = frozenset()
    """The first half of a read in two halves."""

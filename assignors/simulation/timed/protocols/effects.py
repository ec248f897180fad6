"""What coordinator and members ask for: all that a step does beyond changing its own state."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from assignors.simulation.timed.protocols.kafka import messages
from assignors.simulation.timed.protocols.kafka.records import (
    ConsumerRecord,
    GroupRecord,
    GroupTombstone,
    OffsetRecord,
)
from assignors.simulation.timed.protocols.push import messages as push
from wire import TopicPartitions


class NotCoordinator(NamedTuple):
    """A response of any type: this broker is not the group's coordinator, or it still loads.

    The two errors differ in what follows on the network alone: the request has failed, and the
    member sends it again.
    """

    error: messages.ErrorCode = messages.ErrorCode.NOT_COORDINATOR


Request = (
    messages.ClassicRequest | messages.ConsumerHeartbeat | messages.OffsetsRequest | push.Request
)
Response = (
    messages.ClassicResponse
    | messages.ConsumerHeartbeatResponse
    | messages.OffsetsResponse
    | push.Response
    | NotCoordinator
)
Record = GroupRecord | GroupTombstone | ConsumerRecord | OffsetRecord

MILLISECOND = 1000
"""In microseconds: the unit of every time in an event or effect."""

COORDINATOR = -1
"""The coordinator's number; members count from 0."""

TimerKey = tuple[str, ...]
"""What a timer is for, and for whom: `("session", member_id)`."""


class Command(StrEnum):
    """An event: what happens to a member from outside."""

    START = "start"
    STOP = "stop"
    CRASH = "crash"
    REJOIN = "rejoin"
    """Its subscription, or as a leader its metadata, has changed."""
    LOSE_GENERATION = "lose_generation"
    """It forgets its generation or member epoch, not its member id."""
    FORGET_GENERATION = "forget_generation"
    """It does so amid a rebalance too, by a fault of its client; of the classic protocol."""
    SESSION_OVER = "session_over"
    """No answer has come for a session timeout."""


OUTSIDE = 0
"""The number of requests that no member has sent: nobody waits for the answers."""


class Arrived(NamedTuple):
    """An event: a request has reached the coordinator; `number` identifies it in the answer."""

    number: int
    request: Request


class Fired(NamedTuple):
    """An event: a timer has run out."""

    key: TimerKey
    data: int


class Committed(NamedTuple):
    """An event: the record of an `Append` is replicated. `token` is that of the append."""

    token: int


class AppendFailed(NamedTuple):
    """An event: appends are not written, and with them nothing that was made on top of them."""

    tokens: frozenset[int]
    """Those of the appends."""
    records: tuple[Record | messages.EndTransaction, ...]
    """All that is written of the group, as compaction would leave it, with ends of transactions."""


class Answered(NamedTuple):
    """An event: the answer to a request has reached the member that sent it."""

    number: int
    response: Response


class Failure(StrEnum):
    """Why a request of a member has failed."""

    CLOSED = "closed"
    """Its connection is closed."""
    LATE = "late"
    """The member has waited long enough, and closes the connection for that."""
    REFUSED = "refused"
    """It has reached a broker that is not the coordinator (`NotCoordinator`), or one that could not
    write it down (COORDINATOR_NOT_AVAILABLE)."""


class Failed(NamedTuple):
    """An event: a request of the member has failed.

    It may have reached the coordinator all the same. What most members do about it is the same
    whatever the reason.
    """

    number: int
    failure: Failure = Failure.CLOSED


class Disturbance(StrEnum):
    """What slows down the application's thread of a member."""

    LONG_POLL = "long_poll"
    """It does not come back to poll: the records that it has keep it busy."""
    SLOW_CALLBACK = "slow_callback"
    """Callbacks for revoked and assigned partitions take longer."""
    SLOW_ASSIGNOR = "slow_assignor"
    """As leader it takes longer to compute."""
    STALLED_THREAD = "stalled_thread"
    """Its client's own thread stands still, and its application does not."""


class Disturbed(NamedTuple):
    """An event: from now on a member's thread is slower by `by_us`; 0: it no longer is."""

    kind: Disturbance
    by_us: int


MemberEvent = Answered | Fired | Failed | Disturbed | Command


class Reply(NamedTuple):
    """An effect: answer request `number`."""

    number: int
    response: Response


class Schedule(NamedTuple):
    """An effect: start a timer, in place of the one of this key. `data` comes back in `Fired`."""

    key: TimerKey
    after_us: int
    data: int = 0


class Cancel(NamedTuple):
    """An effect: stop the timer of this key, if it runs."""

    key: TimerKey


class Append(NamedTuple):
    """An effect: write records to the offsets topic, in one batch; `Committed` follows."""

    records: tuple[Record, ...]
    token: int


class Send(NamedTuple):
    """An effect: send a request to the coordinator after `after_us`."""

    number: int
    request: Request
    after_us: int = 0


class Disconnect(NamedTuple):
    """An effect: close the connection; every request without an answer fails."""


class GiveUp(NamedTuple):
    """An effect: the client has stopped with an error that it does not recover from."""

    error: str
    """Name of Kafka's error, or `UNUSABLE`, or `ASSIGNOR_FAILED`."""


class AssignorFailed(NamedTuple):
    """An effect: a leader's assignor has raised, or its answer is none or breaks rules."""

    text: str
    """Which one, and what it did."""


ASSIGNOR_FAILED = "assignor failed"
"""What a client stops with whose assignor fails as it leads."""
UNUSABLE = "unusable bytes"
"""What a client stops with that cannot use a Subscription or an Assignment."""


class Consume(NamedTuple):
    """An effect: from now on the member consumes exactly `owned`."""

    owned: TopicPartitions
    reason: str


class Restrict(NamedTuple):
    """An effect: the brokers let the member of this name consume exactly `owned` from now on."""

    member: str
    owned: TopicPartitions
    reason: str


Effect = (
    Restrict
    | Reply
    | Schedule
    | Cancel
    | Append
    | Send
    | Disconnect
    | GiveUp
    | AssignorFailed
    | Consume
)
CoordinatorEvent = Arrived | Fired | Committed | AppendFailed

ALWAYS_PLAIN = frozenset({messages.Heartbeat, push.Heartbeat})
"""Requests that say nothing but that their member is alive, whatever is in them."""
STANDING = frozenset({push.AwaitAssignment, push.Fetch})
"""Requests that wait at the coordinator for as long as there is no news."""


def is_plain(request: Request) -> bool:
    """Return whether a request says nothing but that its member is alive."""
    if type(request) is messages.ConsumerHeartbeat:
        return request.epoch > 0 and request.topics is None and request.owned is None
    return type(request) in ALWAYS_PLAIN

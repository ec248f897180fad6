"""What coordinator and members ask for: all that a step does beyond changing its own state."""

from __future__ import annotations

from typing import NamedTuple

from assignors.simulation.timed.protocols.classic.messages import Request, Response
from wire import TopicPartitions

TimerKey = tuple[str, ...]
"""What a timer is for, and for whom: `("session", member_id)`."""


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


class Answered(NamedTuple):
    """An event: the answer to a request has reached the member that sent it."""

    number: int
    response: Response


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


class GroupRecord(NamedTuple):
    """The record of a classic group: everything that the next coordinator has to know."""

    generation: int
    protocol: str | None
    leader: str | None
    members: tuple[tuple[str, str | None, bytes, bytes], ...]
    """Member id, instance id, Subscription bytes, Assignment bytes."""


class Append(NamedTuple):
    """An effect: write a record to the offsets topic; `Committed` with `token` follows."""

    record: GroupRecord
    token: int


class Send(NamedTuple):
    """An effect: send a request to the coordinator after `after_us`."""

    number: int
    request: Request
    after_us: int = 0


class Consume(NamedTuple):
    """An effect: from now on the member consumes exactly `owned`."""

    owned: TopicPartitions
    reason: str


Effect = Reply | Schedule | Cancel | Append | Send | Consume
CoordinatorEvent = Arrived | Fired | Committed

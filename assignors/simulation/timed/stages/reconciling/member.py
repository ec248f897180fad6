"""One member of a consumer group on its way: what happens to it next, and when.

Between the moments at which somebody else has to do with it nothing of the member is looked at. So
it takes its steps later than they happen, one after the other, each with its own time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from assignors.simulation.timed.plain_heartbeats import Rest
from assignors.simulation.timed.protocols.consumer.assignment.unwritten import Kept
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.effects import MemberEvent
from assignors.simulation.timed.queue import Rank


class Next(Enum):
    """What happens next that others have to do with."""

    HEARTBEAT = "heartbeat"
    """A heartbeat without anything new to say arrives."""
    REVOCATION = "revocation"
    """It stops to consume what it is to give up."""
    ASSIGNMENT = "assignment"
    """It has what it was assigned, and reports that."""
    REPORT = "report"
    """The report arrives."""


class ReconciliationDue(NamedTuple):
    """An event at a member: what is next for it happens now."""


class Answer(NamedTuple):
    """An answer on its way to a member; times are microseconds."""

    own_number: int
    """That of the request."""
    response: ConsumerHeartbeatResponse
    returns: int
    rank: Rank | None
    """Its place among what comes at the same time."""
    epoch: int
    """That of the member until then."""


@dataclass(slots=True)
class Reconciling:
    """A member on its way; times are microseconds."""

    number: int
    client: ConsumerClient
    key: tuple[str, int]
    """Of the timer of what happens next."""
    next: Next
    due: int
    """When its next heartbeat is due that has not been sent."""
    every: int
    session_over: int
    session_timeout: int
    member_id: str
    pending: tuple[int, MemberEvent | None] | None = None
    """When it takes its next step, and what that is about, `None` for its answer; without one it
    waits for the coordinator."""
    answer: Answer | None = None
    """The answer that set it off."""
    stops_at: int = 0
    """When it stops to consume what it gives up, where nobody has to do with that until its report
    arrives; 0: it has, or another event is for that."""
    kept: Kept | None = None
    """What it comes to then, where it has not been told so yet (`ReconcilingMembers.tell`)."""
    asked_at: int = 0
    """When the heartbeat arrived that leads to that."""
    reports_at: int = 0
    """When it reports what it keeps, where nobody has to do with that until the report arrives."""
    report: tuple[int, ConsumerHeartbeat | None, int] | None = None
    """Its number of the report, the report, `None` for that of `way.report_of`, and when that
    arrives."""

    @property
    def rest(self) -> Rest:
        """How it rests, of which nothing is in the queue."""
        return Rest(self.due, self.every, self.session_over, self.session_timeout, self.member_id)

    def sent(self, at: int) -> int:
        """Return how many heartbeats it has sent by then, of those that are due."""
        return max((at - self.due) // self.every + 1, 0)


def set_out(
    known: Reconciling | None, number: int, client: ConsumerClient, rest: Rest
) -> Reconciling:
    """Return a member that was at rest, or joins; `known` is how it was on its way before."""
    due, every, session_over, timeout, member_id = rest
    if known is None:
        key = ("reconciling", number)
        return Reconciling(
            number, client, key, Next.HEARTBEAT, due, every, session_over, timeout, member_id
        )
    known.due, known.every, known.session_over = due, every, session_over
    known.session_timeout, known.member_id, known.stops_at = timeout, member_id, 0
    known.kept = None
    return known

"""Members that went through a round together and rest since: what is known of each, as arrays.

Nothing of a member itself has changed in that round but that it took part in it. That is brought up
to date when something happens to the member.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.monitors.moment import ASSIGNED
from assignors.simulation.timed.plain_heartbeats import Rest, Resting
from assignors.simulation.timed.protocols.classic.group import GroupMember
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.classic.states import MemberState
from assignors.simulation.timed.protocols.effects import Fired
from assignors.simulation.timed.stages.assigning import Unread, apply, take_back
from assignors.simulation.timed.stages.consumption import Consuming
from assignors.simulation.timed.stages.flight import Int64
from assignors.simulation.timed.stages.joins import is_free
from assignors.simulation.timed.stages.members import await_assignment, keep
from assignors.simulation.timed.stages.plain import PlainMembers
from assignors.simulation.timed.stages.stage import NOTHING, Round
from assignors.simulation.timed.stages.stage_members import StageMembers
from wire import TopicPartitions


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRound:
    """A round in which N members got what they had. Times are microseconds."""

    round: Round
    rows: dict[int, int]
    """Member number -> row, of those that rest since."""
    before: list[Round | None]
    """The round before, where a member did not know of that itself."""
    delivered_at: int
    """When the plan was, and all sessions were renewed."""
    resting: Resting
    """All N; the last answer is the assignment."""
    latest: int
    """When the last one of these comes."""
    members: StageMembers
    unread: dict[int, Unread]
    """Member number -> what it was before it got something else than it had."""
    entered: Collection[int]
    """Who had joined by events."""


@dataclass(slots=True, kw_only=True)
class Kept:
    """What members do not know of themselves: the rounds that they went through together."""

    heartbeats: Heartbeats
    members: Sequence[ClassicMember]
    plain: PlainMembers
    consuming: Consuming
    rounds: dict[int, Round] = field(default_factory=dict)
    """The last round of each, by its number."""
    skipped: Int64 = field(default_factory=lambda: NOTHING)
    """How many polls of each were drawn from its stream that are still to be skipped, int64[N]."""
    last: LastRound | None = None

    def __post_init__(self) -> None:
        """Nobody has skipped a poll."""
        self.skipped = np.zeros(len(self.members), dtype=np.int64)

    @property
    def rows(self) -> Mapping[int, int]:
        """The members that rest since the last round, with their rows."""
        return {} if self.last is None else self.last.rows

    def resting(self) -> tuple[Resting, Mapping[int, Rest]]:
        """Return the plain members at rest; with it those that do not since the last round.

        These come last. Cost: O(members at rest).
        """
        rows, are_plain, members = self.rows, self.plain.are_plain, self.members
        others = {
            number: rest
            for number, rest in self.heartbeats.resting.items()
            if number not in rows and are_plain[number] and is_free(members[number])
        }
        found = Resting.of(others, self.heartbeats.network.last_messages)
        if self.last is not None:
            found = self.last.resting.chosen(np.fromiter(rows.values(), np.int64)).and_also(found)
        return found, others

    def stage_members(
        self,
        others: Iterable[int],
        known: Mapping[str, GroupMember],
        consumed: Mapping[str, TopicPartitions],
    ) -> StageMembers:
        """Return the members of `resting`, of which these do not rest since the last round."""
        members = self.members
        found = StageMembers.of([members[number] for number in others], known, consumed)
        if self.last is not None:
            rows = np.fromiter(self.rows.values(), np.int64)
            found = self.last.members.chosen(rows).and_also(found)
        return found

    def begin(self, numbers: Int64) -> None:
        """Let members have joined again, after a poll; the last round is over for all."""
        self.skipped[numbers] += 1
        self.last = None

    def rest(
        self,
        resting: Resting,
        members: StageMembers,
        after: Round,
        given: Iterable[int],
        entered: Collection[int] = (),
    ) -> None:
        """Let members rest after a round; nobody else rests since another one. Cost: O(n).

        Some are given something else than they had; some have joined by events before.
        """
        listed = resting.numbers.tolist()
        rows = dict(zip(listed, range(len(listed)), strict=True))
        unread = {}
        for number in filter(rows.__contains__, given):
            self.catch_up(number)
            assignment = members.assigned[rows[number]] or b""
            unread[number] = apply(
                self.members[number], assignment, members.owned[rows[number]], after
            )
        for number in filter(rows.__contains__, entered):
            self.members[number].state = MemberState.STABLE
        self.last = LastRound(
            round=after,
            rows=rows,
            before=list(map(self.rounds.get, listed)),
            delivered_at=self.heartbeats.queue.now,
            resting=resting,
            latest=int(resting.returned.max(initial=-1)),
            members=members,
            unread=unread,
            entered=entered,
        )
        self.rounds.update(dict.fromkeys(listed, after))

    def wake(self, number: int) -> None:
        """Bring a member at rest up to date; its assignment may still be on its way. Cost: O(1)."""
        last, member, heartbeats = self.last, self.members[number], self.heartbeats
        if last is None or number not in last.rows:
            return
        row, resting = last.rows.pop(number), last.resting
        timeout = int(resting.session_timeout[row])
        over, due = last.delivered_at + timeout, int(resting.due[row])
        member_id = member.member_id
        heartbeats.resting[number] = Rest(due, int(resting.every[row]), over, timeout, member_id)
        link, returned = heartbeats.network.links[number], int(resting.returned[row])
        link.arrives, link.returns = int(resting.arrived[row]), returned
        has_come, now = self._has_come(last, returned), heartbeats.queue.now
        takes = self.consuming.wake(number, now, has_come=has_come)
        if has_come:
            self.catch_up(number)
            if takes is not None:
                member.application.is_in_callback = True
                heartbeats.queue.start((number, ASSIGNED), takes, (number, Fired(ASSIGNED, 0)))
            return
        before = last.before[row]
        if before is None:
            del self.rounds[number]
        else:
            self.rounds[number] = before
        self.catch_up(number)
        assignment = member.assignment_bytes
        assert assignment is not None, "it has one"
        if number in last.unread:
            take_back(member, last.unread[number])
        if number in last.entered:
            member.state = MemberState.JOINING
        await_assignment(
            heartbeats.queue, member, number, returned, last.round, assignment=assignment
        )

    def catch_up(self, number: int) -> None:
        """Let a member know of the last round that it went through. Cost: O(1)."""
        self.plain.polls[number].skip(int(self.skipped[number]))
        self.skipped[number] = 0
        last = self.rounds.pop(number, None)
        if last is not None:
            keep(self.members[number], last)

    def not_settled(self) -> list[int]:
        """Return who rests and is still to get its assignment, or to take it. Cost: O(n)."""
        last = self.last
        if last is None:
            return []
        self.consuming.record(self.heartbeats.queue.now)
        if last.latest < self.heartbeats.queue.now:
            return self.consuming.left()
        late = np.flatnonzero(last.resting.returned >= self.heartbeats.queue.now)
        pairs = zip(last.resting.numbers[late], last.resting.returned[late], strict=True)
        found = [
            int(number)
            for number, at in pairs
            if int(number) in last.rows and not self._has_come(last, int(at))
        ]
        return list(dict.fromkeys([*found, *self.consuming.left()]))

    def end(self) -> None:
        """Bring all members up to date. Cost: O(n)."""
        for number in list(self.rows):
            self.wake(number)
        self.last = None

    def _has_come(self, last: LastRound, at: int) -> bool:
        now, (order, *_) = self.heartbeats.queue.moment
        return at < now or (at == now and order > last.round.order)

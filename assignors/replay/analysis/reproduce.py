"""Whether a recorded assignment is what Java's assignor makes of the recorded Subscriptions.

The record has everything that a leader of Kafka's Java client uses: every member's Subscription
bytes, in the order in which the leader received them, and the protocol. So the copies of Java's
assignors (`java/*`) can compute the assignment again, and it is compared byte for byte. Two inputs
are not in the record. Partition counts are inferred, and what the leader's assignor remembered
follows from the rounds that it led before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assignors.assignor import Assignor
from assignors.java.cooperative_sticky import COOPERATIVE_STICKY
from assignors.java.range import RANGE
from assignors.java.roundrobin import ROUNDROBIN
from assignors.java.sticky import STICKY
from assignors.jvm.failure import JavaFailure
from assignors.model import Cluster, Group, State
from assignors.replay.analysis.group_analysis import GenerationAnalysis, GroupAnalysis
from assignors.replay.history.classic import CONSUMER_PROTOCOL
from assignors.replay.history.model import Generation, Kind, Participant
from assignors.replay.tables.rows import GenerationRow
from wire import encode_assignment
from wire.constructors import unchecked

BY_PROTOCOL = {each.name: each for each in (RANGE, ROUNDROBIN, STICKY, COOPERATIVE_STICKY)}
"""Protocol -> the copy of Java's assignor."""

Lists = Mapping[str, Sequence[tuple[str, int]]]
"""Member id -> (topic, partition) pairs in the order of Java's list."""

SAME, AGREES = "bytes", "partitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """One recorded assignment compared with that of the copy of Java's assignor."""

    life: int
    generation: int
    assignor: str
    writer: str | None
    """The library whose bytes it looks like: a guess."""
    leader_client_id: str
    is_same: bool
    """Byte for byte, for every member."""
    different_count: int
    """Partitions that another member is assigned."""
    failure: str | None = None
    """What Java would have thrown."""

    @property
    def verdict(self) -> str:
        """Return the value of `tables.rows.GenerationRow.reproduced`."""
        if self.is_same:
            return SAME
        if self.failure is not None:
            return "fails"
        return "no" if self.different_count else AGREES

    def __str__(self) -> str:
        """Return it as text, for the notes of the generation."""
        if self.is_same:
            return f"{self.assignor} gives the same assignment, byte for byte"
        if self.failure is not None:
            return f"{self.assignor} fails on this group: {self.failure}"
        if not self.different_count:
            return f"{self.assignor} gives the same assignment in other bytes"
        return f"{self.assignor} gives another assignment: {self.different_count} partitions differ"


_group, _reproduction = unchecked(Group), unchecked(Reproduction)


def reproductions(analysis: GroupAnalysis) -> Iterator[Reproduction]:
    """Yield a comparison for each generation of a classic group whose protocol Java has.

    A generation that was written again for a static member that came back is computed with the
    members of the last record. Cost: that of the assignors.
    """
    cluster = Cluster.of(dict(analysis.partition_counts))
    for life_analysis in analysis.lives:
        if life_analysis.life.kind is not Kind.CLASSIC:
            continue
        states: dict[str, State] = {}
        for analysed in life_analysis.generations:
            generation = analysed.generation
            assignor = BY_PROTOCOL.get(generation.protocol or "")
            leader = _leader(generation)
            if assignor is None or leader is None:
                continue
            state = states.get(leader.member_id, State())
            members = tuple(m.joined_as for m in generation.members if m.joined_as is not None)
            assert len(members) == len(generation.members), "all of them wrote a Subscription"
            found, states[leader.member_id] = _compared(
                life_analysis.life.number,
                analysed,
                leader,
                assignor,
                _group(cluster=cluster, members=members, state=state),
            )
            yield found


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many assignments of one client library Java's assignors reproduce."""

    writer: str
    plan_count: int
    same_count: int
    """Byte for byte."""
    agreeing_count: int
    """Those, and the ones that are the same partitions in other bytes."""


def shares(rows: Iterable[GenerationRow]) -> list[Share]:
    """Return how many assignments of each guessed library are reproduced, libraries by name."""
    verdicts: dict[str, list[str]] = {}
    for row in rows:
        if row.reproduced is not None and row.leader_guess is not None:
            verdicts.setdefault(row.leader_guess, []).append(row.reproduced)
    return [
        Share(
            writer=writer,
            plan_count=len(listed),
            same_count=listed.count(SAME),
            agreeing_count=listed.count(SAME) + listed.count(AGREES),
        )
        for writer, listed in sorted(verdicts.items())
    ]


def _compared(
    life: int, analysed: GenerationAnalysis, leader: Participant, assignor: Assignor, group: Group
) -> tuple[Reproduction, State]:
    """Return the comparison, and what the leader's assignor remembers after it."""
    generation = analysed.generation
    failure: str | None = None
    is_same, different, state = False, 0, group.state
    try:
        lists, state = _assigned(assignor, group)
    except JavaFailure as thrown:
        failure = str(thrown)
    else:
        is_same = all(_is_written(m, _grouped(lists[m.member_id])) for m in generation.members)
        if not is_same:
            different = sum(len(set(lists[m.member_id]) - _pairs(m)) for m in generation.members)
    found = _reproduction(
        life=life,
        generation=generation.number,
        assignor=assignor.full_name,
        writer=analysed.writer,
        leader_client_id=leader.client_id,
        is_same=is_same,
        different_count=different,
        failure=failure,
    )
    return found, state


def _assigned(assignor: Assignor, group: Group) -> tuple[Lists, State]:
    """Return everybody's lists, and what the assignor remembers."""
    answer = assignor.assign(group)
    assert answer.lists is not None
    return dict(answer.lists), answer.state or group.state


def _leader(generation: Generation) -> Participant | None:
    if generation.protocol_type != CONSUMER_PROTOCOL:
        return None
    return next((m for m in generation.members if m.member_id == generation.leader_id), None)


def _grouped(listed: Sequence[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    """Return pairs by topic, as Java groups them: topics in order of first appearance."""
    grouped: dict[str, list[int]] = {}
    for topic, number in listed:
        grouped.setdefault(topic, []).append(number)
    return {topic: tuple(numbers) for topic, numbers in grouped.items()}


def _is_written(member: Participant, share: dict[str, tuple[int, ...]]) -> bool:
    """Return whether the member's recorded Assignment is this share, as Java writes it."""
    written = member.written
    if written is None or written.version < 0:
        return False
    blob = encode_assignment(share, version=written.version, keep_order=True)
    return blob == member.assignment_bytes


def _pairs(member: Participant) -> set[tuple[str, int]]:
    return {(topic, n) for topic, numbers in member.assigned.items() for n in numbers}

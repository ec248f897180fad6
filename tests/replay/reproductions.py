"""Whether a recorded assignment is what Java's assignor makes of the recorded Subscriptions.

The record has everything that a leader of Kafka's Java client uses: every member's Subscription
bytes, in the order in which the leader received them, and the protocol. So the copies of Java's
assignors (`java/*`) can compute the assignment again, and it is compared byte for byte. Two inputs
are not in the record. Partition counts are inferred, and what the leader's assignor remembered
follows from the rounds that it led before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assignors.assignor import Assignor
from assignors.group_bytes.subscriptions import member_from_bytes
from assignors.java.cooperative_sticky import COOPERATIVE_STICKY
from assignors.java.range import RANGE
from assignors.java.roundrobin import ROUNDROBIN
from assignors.java.sticky import STICKY
from assignors.jvm.failure import JavaFailure
from assignors.model import Cluster, Group, Member, State
from assignors.replay.analysis.group_analysis import GenerationAnalysis, GroupAnalysis
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.history.classic import CONSUMER_PROTOCOL
from assignors.replay.history.model import Generation, Kind, Participant
from wire import encode_assignment
from wire.records import Record

BY_PROTOCOL = {each.name: each for each in (RANGE, ROUNDROBIN, STICKY, COOPERATIVE_STICKY)}
"""Protocol -> the copy of Java's assignor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """One recorded assignment compared with that of the copy of Java's assignor."""

    life: int
    generation: int
    writer: str | None
    """The library whose bytes it looks like: a guess."""
    leader_client_id: str
    is_same: bool
    """Byte for byte, for every member."""
    different_count: int
    """Partitions that another member is assigned."""
    fails: bool = False
    """Whether Java throws an exception on the group."""


def reproductions(
    analysis: GroupAnalysis, entries: Iterable[LoggedRecord]
) -> Iterator[Reproduction]:
    """Yield a comparison for each generation of a classic group whose protocol Java has.

    `entries` are the records that the analysis is of. A generation that was written again for a
    static member that came back is computed with the members of the last record.
    """
    cluster = Cluster.of(dict(analysis.partition_counts))
    records = {(entry.partition, entry.offset): entry.record for entry in entries}
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
            members = _members(records[generation.partition, generation.offset])
            found, states[leader.member_id] = _compared(
                life_analysis.life.number,
                analysed,
                leader,
                assignor,
                Group(cluster=cluster, members=members, state=state),
            )
            yield found


def _compared(
    life: int, analysed: GenerationAnalysis, leader: Participant, assignor: Assignor, group: Group
) -> tuple[Reproduction, State]:
    """Return the comparison, and what the leader's assignor remembers after it."""
    generation, fails, is_same, different = analysed.generation, False, False, 0
    try:
        answer = assignor.assign(group)
    except JavaFailure:
        fails, state = True, group.state
    else:
        assert answer.lists is not None
        lists, state = dict(answer.lists), answer.state or group.state
        is_same = all(_is_written(m, _grouped(lists[m.member_id])) for m in generation.members)
        different = sum(len(set(lists[m.member_id]) - _pairs(m)) for m in generation.members)
    found = Reproduction(
        life=life,
        generation=generation.number,
        writer=generation.writer,
        leader_client_id=leader.client_id,
        is_same=is_same,
        different_count=different,
        fails=fails,
    )
    return found, state


def _members(record: Record) -> tuple[Member, ...]:
    """Return the members of a GROUP_METADATA record as their leader reads them."""
    assert record.value is not None
    listed = {member["memberId"]: member for member in record.value["members"]}
    return tuple(
        replace(
            member_from_bytes(member_id, member["subscription"]),
            instance_id=member.get("groupInstanceId"),
        )
        for member_id, member in listed.items()
    )


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

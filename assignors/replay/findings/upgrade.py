"""Classic groups that a broker would not make consumer groups of (KIP-848).

When a member with `group.protocol=consumer` joins a classic group, the broker converts the group,
member by member, and refuses the newcomer where it cannot. What it reads then is in the last
record of the group: so the finding is about the end of the records, and about groups with members,
as an empty group is replaced whatever it was.

Source: `validateOnlineUpgrade` of Kafka 4.4.0's `GroupMetadataManager`, and `fromClassicGroup` of
its `ConsumerGroup`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from assignors.replay.analysis.group_analysis import LifeAnalysis
from assignors.replay.findings.finding import Finding, amount
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.history.classic import CONSUMER_PROTOCOL
from assignors.replay.history.model import Generation, Kind, Participant
from assignors.replay.tables.rows import FindingRow, GroupRow
from wire import Mode, decode_assignment, decode_subscription

BY_LEADER = frozenset({"user-data", "assignment", "double-ownership"})
"""The causes that the leader's client has written."""

MEANINGS: Mapping[str, str] = {
    "user-data": "{} with UserData in the Assignment, which is taken for a custom assignor's",
    "assignment": "{} with an Assignment that Kafka's classes cannot read",
    "subscription": "{} with a Subscription that Kafka's classes cannot read",
    "double-ownership": "{} that own a partition of another member",
}
"""Cause -> what the members have in common; the cause `protocol-type` is the group's."""


def classic_only(analysis: LifeAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield, for each cause, why the group as it is now would not be converted.

    Cost: linear in the bytes of the last generation.
    """
    life = analysis.life
    if life.kind is not Kind.CLASSIC or life.to_ms is not None or not life.generations:
        return
    last = life.generations[-1]
    if not last.members:
        return
    if last.protocol_type != CONSUMER_PROTOCOL:
        text = (
            f"its protocol type is {last.protocol_type!r}; members of this type stay on the "
            "classic protocol, and nothing is to be done"
        )
        yield _finding(last, "protocol-type", last.members, text)
        return
    owners = Counter(
        (topic, number)
        for member in last.members
        for topic, numbers in member.assigned.items()
        for number in set(numbers)
    )
    obstacles = [(member, set(_obstacles(member, owners))) for member in last.members]
    for cause, meaning in MEANINGS.items():
        members = tuple(member for member, causes in obstacles if cause in causes)
        if members:
            yield _finding(last, cause, members, meaning.format(amount(len(members), "member")))


def conversion_answer(groups: Iterable[GroupRow], found: Iterable[FindingRow]) -> str:
    """Return in a sentence how many groups can be converted; `found` has the reasons of the others.

    Groups are counted as they are at the end of the records. An empty one is replaced.
    """
    kinds = {row.group: row.kind for row in groups if row.to_ms is None}
    classic = {group for group, kind in kinds.items() if kind == Kind.CLASSIC}
    refused = {row.group for row in found if row.kind == "classic-only"} & classic
    said = (
        f"{len(classic) - len(refused):,} of {amount(len(classic), 'classic group')} can be "
        "converted to the consumer protocol (KIP-848)"
    )
    if refused:
        said += f"; the findings have the reasons of the other {len(refused):,}"
    using = sum(kind == Kind.CONSUMER for kind in kinds.values())
    use = "uses" if using == 1 else "use"
    return f"{said}; {amount(using, 'group')} of the records {use} it already" if using else said


def _obstacles(member: Participant, owners: Counter[tuple[str, int]]) -> Iterator[str]:
    """Yield the causes for which a broker could not take over this member."""
    if member.assignment_bytes:
        assignment = decode_assignment(member.assignment_bytes, mode=Mode.STRICT).value
        if assignment is None:
            yield "assignment"
        elif assignment.user_data:
            yield "user-data"
    said = member.odd_subscription
    if said is not None and decode_subscription(said, mode=Mode.STRICT).value is None:
        yield "subscription"
    assigned = member.assigned.items()
    if any(owners[topic, number] > 1 for topic, numbers in assigned for number in numbers):
        yield "double-ownership"


def _finding(last: Generation, cause: str, members: tuple[Participant, ...], text: str) -> Finding:
    return Finding(
        cause=cause,
        generation=last.number,
        at_ms=last.at_ms,
        until_ms=None,
        members=tuple(member.member_id for member in members),
        count=len(members),
        is_by_leader=cause in BY_LEADER,
        evidence=f"a member of the consumer protocol would be refused: {text}",
    )

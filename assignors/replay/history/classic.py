"""The life of a classic group, from its GROUP_METADATA records.

The coordinator writes one record when a generation is complete: the leader has sent the
assignment, or no member is left. A rebalance that did not complete has no record, and compaction
keeps only the last one; both show as missing numbers. The same generation is written again when a
static member comes back under a new member id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from sys import intern
from typing import Any

from assignors.ownership.changes import Change
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.history.model import (
    LEFT,
    Generation,
    Kind,
    LifeRow,
    Participant,
    Takeover,
    partition_count,
)
from assignors.replay.history.subscriptions import oddities, read_assignment, read_subscription
from wire import NoteCode, TopicPartitions

CONSUMER_PROTOCOL = "consumer"
"""The protocol type whose bytes are Subscriptions and Assignments."""


@dataclass(slots=True)
class ClassicLife:
    """One life, record by record."""

    number: int
    from_ms: int
    is_from_broker: bool
    """Whether its first assignment is the broker's own."""
    rows: list[LifeRow] = field(default_factory=list, init=False)
    """What the records since the last step say for good."""
    current: Generation | None = None
    """The last generation: it may be written again, and has no end yet."""
    instances: dict[str, tuple[Participant, int]] = field(default_factory=dict)
    """Group instance id -> the member that has it, and since when."""
    owned: dict[str, TopicPartitions] = field(default_factory=dict)
    """Member id -> what it owns since its last change."""
    is_state_known: bool = True

    @property
    def kind(self) -> Kind:
        """The kind of group."""
        return Kind.CLASSIC

    @property
    def generation(self) -> int | None:
        """The number of the current generation."""
        return None if self.current is None else self.current.number

    def starts_over(self, value: Mapping[str, Any]) -> bool:
        """Return whether the record's generation shows that a tombstone before it was compacted."""
        return self.current is not None and value["generation"] < self.current.number

    def add(self, entry: LoggedRecord, value: Mapping[str, Any]) -> None:
        """Add one record."""
        self.is_state_known = True
        generation = self._generation(entry, value)
        last = self.current
        if last is not None and last.number == generation.number:
            again = "written again: a static member came back under a new id"
            notes = last.notes if again in last.notes else (*last.notes, again)
            still = {member.member_id for member in generation.members}
            self.rows += (m for m in last.members if m.member_id not in still)
            self.current = replace(
                generation,
                at_ms=last.at_ms,
                pause_ms=last.pause_ms,
                notes=notes,
                missing_before=last.missing_before,
                is_from_broker=last.is_from_broker,
                late_topics=_late_topics(generation, last, entry.at_ms),
            )
        else:
            self._close(entry.at_ms)
            self.current = generation
        self._note_takeovers(entry.at_ms, generation)
        self._note_changes(entry.at_ms, generation)

    def finish(self, to_ms: int | None) -> None:
        """Close what is open: the life ended at `to_ms`, or goes on."""
        self._close(to_ms)

    def until(self, until_ms: int | None) -> Generation | None:
        """Return the current generation with its end; `None` where there is none."""
        return None if self.current is None else replace(self.current, until_ms=until_ms)

    def _close(self, until_ms: int | None) -> None:
        closed = self.until(until_ms)
        if closed is not None:
            self.rows.append(closed)

    def _generation(self, entry: LoggedRecord, value: Mapping[str, Any]) -> Generation:
        number: int = value["generation"]
        before = self.current.number if self.current else 0
        is_first_from_broker = self.is_from_broker and self.current is None
        missing = 0 if is_first_from_broker else max(number - before - 1, 0)
        # The coordinator keeps members by id: of two with one id the last is the member.
        by_id = {
            fields["memberId"]: participant(fields, value["protocolType"], value["protocol"])
            for fields in value["members"]
        }
        members = tuple(by_id.values())
        entered_ms = value.get("currentStateTimestamp", -1)
        pause_ms = max(entry.at_ms - entered_ms, 0) if entered_ms > 0 and members else None
        notes = []
        if len(members) < len(value["members"]):
            notes.append("a member is listed twice")
        if any(note.code is NoteCode.MEMBER_VERSION for note in entry.record.notes):
            notes.append("written by Redpanda: a version before each member")
        if missing:
            notes.append(f"{missing} generations before it have no record")
        if is_first_from_broker and members:
            notes.append("the broker's own assignment: the group came back from KIP-848")
        if members and value["protocolType"] not in {"", CONSUMER_PROTOCOL}:
            notes.append(f"protocol type {value['protocolType']}: assignments are not read")
        return Generation(
            number=number,
            at_ms=entry.at_ms,
            state="Stable" if members else "Empty",
            members=members,
            protocol_type=value["protocolType"] or None,
            protocol=value["protocol"],
            leader_id=value["leader"],
            missing_before=missing,
            pause_ms=pause_ms,
            notes=tuple(notes),
            is_from_broker=is_first_from_broker,
            partition=entry.partition,
            offset=entry.offset,
        )

    def _note_takeovers(self, at_ms: int, generation: Generation) -> None:
        """Add a takeover for each group instance id that another member has from now on."""
        before, self.instances = self.instances, {}
        for member in generation.members:
            name = member.instance_id
            if name is None:
                continue
            had, since_ms = before.get(name, (member, at_ms))
            if had.member_id != member.member_id:
                self.rows.append(
                    Takeover(
                        instance_id=name,
                        generation=generation.number,
                        at_ms=at_ms,
                        before=had,
                        since_ms=since_ms,
                        after=member,
                    )
                )
                since_ms = at_ms
            self.instances[name] = member, since_ms

    def _note_changes(self, at_ms: int, generation: Generation) -> None:
        """Add a change for each member that owns something else from now on."""
        now = {member.member_id: member.assigned for member in generation.members}
        is_gap = generation.missing_before > 0
        for member_id, before in list(self.owned.items()):
            owned = now.get(member_id)
            if owned != before:
                self._change(at_ms, generation.number, member_id, owned, after_gap=is_gap)
        for member_id, owned in now.items():
            if member_id not in self.owned:
                self._change(at_ms, generation.number, member_id, owned)

    def _change(
        self,
        at_ms: int,
        number: int,
        member_id: str,
        owned: TopicPartitions | None,
        *,
        after_gap: bool = False,
    ) -> None:
        """Add a change; `owned` is `None` for a member that has left."""
        self.rows.append(
            Change(
                at=at_ms,
                generation=number,
                member_id=member_id,
                owned=owned or {},
                reason=LEFT if owned is None else None,
                after_gap=after_gap,
            )
        )
        if owned is None:
            del self.owned[member_id]
        else:
            self.owned[member_id] = owned


def _late_topics(generation: Generation, last: Generation, at_ms: int) -> dict[str, int]:
    """Return `Generation.late_topics` of a generation that is written again at `at_ms`."""
    known = {topic for member in last.members for topic in member.topics}
    topics = dict.fromkeys(topic for member in generation.members for topic in member.topics)
    return {
        topic: last.late_topics.get(topic, at_ms)
        for topic in topics
        if topic not in known or topic in last.late_topics
    }


def participant(
    fields: Mapping[str, Any],
    protocol_type: str,
    protocol: str | None,
) -> Participant:
    """Return a member of a GROUP_METADATA record, with its Subscription and Assignment decoded.

    `fields` are those of the record. Bytes that cannot be read leave their fields empty, and a note
    among the oddities. Under another protocol type than `consumer` nothing is decoded.
    """
    assigned = fields["assignment"]
    recorded: dict[str, Any] = {
        "member_id": intern(fields["memberId"]),
        "client_id": intern(fields["clientId"]),
        "host": intern(fields["clientHost"]),
        "instance_id": fields.get("groupInstanceId"),
        "rebalance_timeout_ms": fields.get("rebalanceTimeout"),
        "session_timeout_ms": fields["sessionTimeout"],
        "assignment_bytes": assigned,
    }
    if protocol_type != CONSUMER_PROTOCOL:
        return Participant(**recorded)
    said = read_subscription(fields["subscription"], protocol)
    member = said.member
    assignment = read_assignment(assigned)
    given: TopicPartitions = {} if assignment.value is None else assignment.value.partitions
    odd = said.oddities
    if assignment.notes:
        odd += oddities("assignment", assignment.notes)
    return Participant(
        **recorded,
        topics=member.topics,
        rack_id=member.rack_id,
        subscription_version=said.version,
        claimed=said.claimed,
        claims_known=said.claims_known,
        claimed_generation=said.claimed_generation,
        assigned=given,
        assigned_count=partition_count(given),
        notes=tuple(map(str, odd)),
        oddities=odd,
        error=said.error,
        error_kind=said.error_kind,
        written=assignment.value,
        odd_subscription=fields["subscription"] if member.notes else None,
    )

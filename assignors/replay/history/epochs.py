"""The life of a group whose broker assigns: KIP-848 consumer groups, share groups, streams groups.

Each member has records of its own: its subscription, its target assignment, its current
assignment. The group has one for its epoch and one for the epoch of the target. A joining member
is written before the epoch that it causes, and a leaving one is deleted before it, so the members
of an epoch are those that exist when the epoch's record is written. What each was assigned is the
last that was written in that epoch.

These records have topic ids. Their names come from the group's commits; an id without a name is
shown as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assignors.ownership.changes import Change
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.history.model import (
    LEFT,
    Generation,
    Kind,
    LifeRow,
    Participant,
    partition_count,
)
from assignors.replay.history.subscriptions import oddities
from wire import TopicPartitions, decode_subscription
from wire.text import utf16_key

STATES = {0: "stable", 1: "unrevoked-partitions", 2: "unreleased-partitions"}

KINDS = {"CONSUMER": Kind.CONSUMER, "SHARE": Kind.SHARE, "STREAMS": Kind.STREAMS}


@dataclass(slots=True, kw_only=True)
class Epoch:
    """The current epoch, until the next one begins."""

    number: int
    at_ms: int
    partition: int | None
    offset: int | None
    missing: int
    members: dict[str, Participant]
    last_ms: int
    has_target: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class EpochLife:
    """One life, record by record."""

    number: int
    kind: Kind
    from_ms: int
    topic_names: Mapping[str, str] = field(repr=False)
    """Topic id -> name."""
    rows: list[LifeRow] = field(default_factory=list, init=False)
    """What the records since the last step say for good."""
    members: dict[str, Participant] = field(default_factory=dict)
    owned: dict[str, TopicPartitions] = field(default_factory=dict)
    """Member id -> what it owns since its last change."""
    matched: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Regular expression -> the topics that the broker found for it."""
    subscribers: dict[str, dict[str, None]] = field(default_factory=dict)
    """Regular expression -> the members that subscribe to it."""
    early: dict[str, TopicPartitions] = field(default_factory=dict)
    """Targets of members without a record so far: compaction leaves the last record of each key, so
    that of a member may come behind its target."""
    announced: dict[str, None] = field(default_factory=dict)
    """Members whose records were written since the last epoch: they cause the next."""
    epoch: Epoch | None = None
    follows: bool = False
    """Whether it goes on from a life of another kind: no epoch is missing before its first."""

    @property
    def is_state_known(self) -> bool:
        """A group of this kind has no single record of its state that could be unreadable."""
        return True

    @property
    def generation(self) -> int | None:
        """The number of the current epoch."""
        return None if self.epoch is None else self.epoch.number

    def starts_over(self, entry: LoggedRecord, part: str) -> bool:
        """Return whether the record's epoch shows that tombstones before it were compacted."""
        value = entry.record.value
        if part != "METADATA" or value is None or self.epoch is None:
            return False
        return bool(value["epoch"] < self.epoch.number)

    def goes_on_from(self, before: EpochLife) -> None:
        """Take over the members that were written before the first epoch of this life."""
        for member_id in before.announced:
            self._announce(before.members[member_id])

    def add(self, entry: LoggedRecord, part: str) -> None:
        """Add one record; `part` is its type's name without the kind of group."""
        handler = {
            "METADATA": self._metadata,
            "MEMBER_METADATA": self._member,
            "TARGET_ASSIGNMENT_METADATA": self._target_epoch,
            "TARGET_ASSIGNMENT_MEMBER": self._target,
            "CURRENT_MEMBER_ASSIGNMENT": self._current,
            "REGULAR_EXPRESSION": self._regular_expression,
        }.get(part)
        if handler is not None:
            handler(entry, entry.record.value)

    def finish(self, to_ms: int | None) -> None:
        """Close what is open: the life ended at `to_ms`, or goes on."""
        self._close_epoch(to_ms)

    def _metadata(self, entry: LoggedRecord, value: Mapping[str, Any] | None) -> None:
        if value is None:
            return
        number: int = value["epoch"]
        if self.epoch is not None and self.epoch.number == number:
            return
        before = self.epoch.number if self.epoch else None
        missing = 0
        if before is not None:
            missing = max(number - before - 1, 0)
        elif not self.follows:
            # Epoch 1 is that of a group without members; it has no record.
            missing = max(number - 2, 0)
        self._close_epoch(entry.at_ms)
        self.announced = {}
        self.epoch = Epoch(
            number=number,
            at_ms=entry.at_ms,
            partition=entry.partition,
            offset=entry.offset,
            missing=missing,
            members=dict(self.members),
            last_ms=entry.at_ms,
        )

    def _member(self, entry: LoggedRecord, value: Mapping[str, Any] | None) -> None:
        member_id = self._member_id(entry)
        known = self.members.get(member_id, Participant(member_id=member_id))
        self.subscribers.get(known.topic_regex or "", {}).pop(member_id, None)
        if value is None:
            self.members.pop(member_id, None)
            self.announced.pop(member_id, None)
            self._own(entry, member_id, {}, is_gone=True)
            return
        if known.target is None:
            known = replace(known, target=self.early.pop(member_id, None))
        self._announce(self._matched(described(known, value)))
        self._update_in_epoch(member_id)

    def _announce(self, member: Participant) -> None:
        """Add a member, or one with a new subscription."""
        self.members[member.member_id] = member
        self.announced[member.member_id] = None
        if member.topic_regex is not None:
            self.subscribers.setdefault(member.topic_regex, {})[member.member_id] = None

    def _target_epoch(self, entry: LoggedRecord, value: Mapping[str, Any] | None) -> None:
        if self.epoch is None or value is None:
            return
        self.epoch.has_target = value["assignmentEpoch"] >= self.epoch.number
        self.epoch.last_ms = max(self.epoch.last_ms, entry.at_ms)
        for member_id, member in self.epoch.members.items():
            now = self.members.get(member_id)
            if now is not None and (now.target is not member.target or now.target is None):
                self.epoch.members[member_id] = replace(member, target=now.target or {})

    def _target(self, entry: LoggedRecord, value: Mapping[str, Any] | None) -> None:
        member_id = self._member_id(entry)
        if value is None:
            self.early.pop(member_id, None)
            return
        target = self._partitions(value.get("topicPartitions", value.get("activeTasks", ())))
        if member_id in self.members:
            self.members[member_id] = replace(self.members[member_id], target=target)
        else:
            self.early[member_id] = target

    def _current(self, entry: LoggedRecord, value: Mapping[str, Any] | None) -> None:
        member_id = self._member_id(entry)
        if value is None:
            self._own(entry, member_id, {}, is_gone=True)
            return
        known = self.members.get(member_id, Participant(member_id=member_id))
        assigned = self._partitions(value.get("assignedPartitions", value.get("activeTasks", ())))
        pending = value.get(
            "partitionsPendingRevocation", value.get("activeTasksPendingRevocation")
        )
        revoking = self._partitions(pending or ())
        self.members[member_id] = replace(
            known,
            assigned=assigned,
            assigned_count=partition_count(assigned),
            revoking=None if pending is None else revoking,
            member_epoch=value["memberEpoch"],
            member_state=STATES.get(value["state"], f"state-{value['state']}"),
        )
        self._update_in_epoch(member_id, is_current=True)
        if self.epoch is not None and value["memberEpoch"] == self.epoch.number:
            self.epoch.last_ms = max(self.epoch.last_ms, entry.at_ms)
        self._own(entry, member_id, _united(assigned, revoking))

    def _regular_expression(self, entry: LoggedRecord, value: Mapping[str, Any] | None) -> None:
        assert entry.record.key is not None
        expression = str(entry.record.key["regularExpression"])
        self.matched[expression] = () if value is None else tuple(value["topics"])
        for member_id in self.subscribers.get(expression, ()):
            self.members[member_id] = self._matched(self.members[member_id])

    def _matched(self, member: Participant) -> Participant:
        """Return the member with the topics that match its regular expression."""
        found = self.matched.get(member.topic_regex or "", ())
        return replace(member, topics=tuple(dict.fromkeys((*member.topics, *found))))

    def _update_in_epoch(self, member_id: str, *, is_current: bool = False) -> None:
        """Update the member as the epoch has it; one with a current assignment is part of it."""
        if self.epoch is None:
            return
        if member_id in self.epoch.members:
            target = self.epoch.members[member_id].target
            kept = target if self.epoch.has_target else self.members[member_id].target
            self.epoch.members[member_id] = replace(self.members[member_id], target=kept)
        elif is_current:
            self.epoch.members[member_id] = self.members[member_id]

    def _own(
        self, entry: LoggedRecord, member_id: str, owned: TopicPartitions, *, is_gone: bool = False
    ) -> None:
        """Add a change if the member owns something else from now on."""
        if self.owned.get(member_id, {}) == owned and not (is_gone and member_id in self.owned):
            return
        change = Change(
            at=entry.at_ms,
            generation=self.epoch.number if self.epoch else 0,
            member_id=member_id,
            owned=owned,
            reason=LEFT if is_gone else None,
        )
        self.rows.append(change)
        if is_gone:
            self.owned.pop(member_id, None)
        else:
            self.owned[member_id] = owned

    def _close_epoch(self, until_ms: int | None) -> None:
        closed = self.until(until_ms)
        if closed is not None:
            self.rows.append(closed)
        self.epoch = None

    def until(self, until_ms: int | None) -> Generation | None:
        """Return the current epoch as a generation that ends then; `None` where there is none."""
        epoch = self.epoch
        if epoch is None:
            return None
        members = tuple(epoch.members.values())
        notes = list(epoch.notes)
        if epoch.missing:
            notes.append(f"{epoch.missing} epochs before it have no record")
        named = Counter(m.server_assignor for m in members if m.server_assignor)
        return Generation(
            number=epoch.number,
            at_ms=epoch.at_ms,
            until_ms=until_ms,
            state=_state(epoch),
            members=members,
            protocol_type=None,
            protocol=max(named, key=lambda name: (named[name], utf16_key(name)), default=None),
            missing_before=epoch.missing,
            pause_ms=epoch.last_ms - epoch.at_ms if members else None,
            notes=tuple(notes),
            partition=epoch.partition,
            offset=epoch.offset,
        )

    def _partitions(self, listed: object) -> TopicPartitions:
        """Return partitions by topic name, or tasks by subtopology."""
        found: dict[str, tuple[int, ...]] = {}
        assert isinstance(listed, tuple | list)
        for fields in listed:
            if "subtopologyId" in fields:
                topic = f"subtopology {fields['subtopologyId']}"
            else:
                topic_id = str(fields["topicId"])
                topic = self.topic_names.get(topic_id, topic_id)
            found[topic] = (*found.get(topic, ()), *sorted(fields["partitions"]))
        return {topic: found[topic] for topic in sorted(found, key=utf16_key)}

    @staticmethod
    def _member_id(entry: LoggedRecord) -> str:
        assert entry.record.key is not None
        return str(entry.record.key["memberId"])


def described(known: Participant, value: Mapping[str, Any]) -> Participant:
    """Return the member with what its MEMBER_METADATA record contains.

    A member that still uses the classic protocol has its Subscriptions in the record: its claims
    are those of the first one that can be read.
    """
    classic = value.get("classicMemberMetadata") or {}
    return replace(
        known,
        client_id=value["clientId"],
        host=value["clientHost"],
        instance_id=value.get("instanceId"),
        rack_id=value.get("rackId") or None,
        rebalance_timeout_ms=value.get("rebalanceTimeoutMs"),
        session_timeout_ms=classic.get("sessionTimeoutMs") or None,
        topics=tuple(value.get("subscribedTopicNames", ())),
        topic_regex=value.get("subscribedTopicRegex") or None,
        server_assignor=value.get("serverAssignor") or None,
        **_classic_claims(classic.get("supportedProtocols", ())),
    )


def _classic_claims(protocols: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of a member that its first readable Subscription has, if there is one."""
    for protocol in protocols:
        decoded = decode_subscription(protocol["metadata"])
        if decoded.value is not None:
            read = decoded.value
            odd = oddities("subscription", decoded.notes)
            return {
                "subscription_version": read.version,
                "claimed": read.owned,
                "claims_known": read.owned_known,
                "claimed_generation": None if read.generation < 0 else read.generation,
                "notes": tuple(map(str, odd)),
                "oddities": odd,
            }
    return {}


def _united(assigned: TopicPartitions, revoking: TopicPartitions) -> TopicPartitions:
    """Return what a member owns: its current assignment, and what it has not revoked yet."""
    if not revoking:
        return assigned
    topics = sorted({**assigned, **revoking}, key=utf16_key)
    return {
        topic: tuple(sorted({*assigned.get(topic, ()), *revoking.get(topic, ())}))
        for topic in topics
    }


def _state(epoch: Epoch) -> str:
    """Return the group's state at the end of the epoch, in Kafka's names."""
    if not epoch.members:
        return "Empty"
    if not epoch.has_target:
        return "Assigning"
    is_settled = all(
        member.member_epoch == epoch.number and member.member_state == "stable"
        for member in epoch.members.values()
    )
    return "Stable" if is_settled else "Reconciling"

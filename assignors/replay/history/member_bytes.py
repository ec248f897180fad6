"""What the members of classic groups and their leaders wrote, each distinct blob decoded once.

Members write the same from one generation to the next, and a group that was idle for a month
still has its last assignment. Blobs that nobody has read yet are read together, a few thousand at
a time, by the readers of whole groups; what is odd in any of them is what `wire` says of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from assignors.arrays import OwnedArrays, OwnedPartitions
from assignors.group_bytes.assignment_arrays import read_assignments
from assignors.group_bytes.entries import are_read_together
from assignors.group_bytes.subscriptions import read_members
from assignors.model import Member
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.history.subscriptions import ReadSubscription, read_subscription
from wire import Decoded, MemberAssignment, TopicPartitions, decode_assignment
from wire.constructors import unchecked_replace
from wire.records.members import CONSUMER

_other_member = unchecked_replace(Member)

AHEAD = 4000
"""So many members' bytes are read together."""
AHEAD_BYTES = 4 << 20
"""Or those of so many bytes."""
KEPT_MAX = 20_000
"""Blobs that are kept for the next time that somebody writes them."""


class MemberBytes:
    """Subscriptions and Assignments by their bytes."""

    def __init__(self) -> None:
        """Start with none."""
        self._subscriptions: dict[bytes, Member] = {}
        self._by_protocol: dict[tuple[bytes, str | None], ReadSubscription] = {}
        self._assignments: dict[bytes, Decoded[MemberAssignment]] = {}
        self._partitions: dict[object, TopicPartitions] = {}
        self._names: dict[str, str] = {}

    def subscription(self, blob: bytes, protocol: str | None) -> ReadSubscription:
        """Return what these bytes say in a group with this protocol."""
        key = blob, protocol
        found = self._by_protocol.get(key)
        if found is None:
            if blob not in self._subscriptions:
                self._read_subscriptions([blob])
            found = self._by_protocol[key] = read_subscription(self._subscriptions[blob], protocol)
        return found

    def assignment(self, blob: bytes) -> Decoded[MemberAssignment]:
        """Return the Assignment that these bytes are."""
        found = self._assignments.get(blob)
        if found is None:
            self._read_assignments([blob])
            found = self._assignments[blob]
        return found

    def name(self, text: str) -> str:
        """Return an equal text, the same object each time: members have one name for long."""
        return self._names.setdefault(text, text)

    def ahead(self, entries: Iterable[LoggedRecord]) -> Iterator[LoggedRecord]:
        """Yield the entries; the bytes of their members have been read together before."""
        held: list[LoggedRecord] = []
        count = size = 0
        for entry in entries:
            held.append(entry)
            for said, given in blobs_of(entry):
                count += 1
                size += len(said) + len(given)
            if count >= AHEAD or size >= AHEAD_BYTES:
                self.read(held)
                yield from held
                held, count, size = [], 0, 0
        self.read(held)
        yield from held

    def read(self, entries: Iterable[LoggedRecord]) -> None:
        """Read what the entries' members wrote and were assigned. Cost: linear in the bytes."""
        for kept in (
            self._subscriptions,
            self._by_protocol,
            self._assignments,
            self._partitions,
            self._names,
        ):
            if len(kept) > KEPT_MAX:
                kept.clear()
        pairs = [pair for entry in entries for pair in blobs_of(entry)]
        said = dict.fromkeys(said for said, _ in pairs if said not in self._subscriptions)
        given = dict.fromkeys(given for _, given in pairs if given not in self._assignments)
        self._read_subscriptions(list(said))
        self._read_assignments(list(given))

    def _read_subscriptions(self, blobs: list[bytes]) -> None:
        members = read_members({str(place): blob for place, blob in enumerate(blobs)})
        arrays = next(
            (m.owned.arrays for m in members if isinstance(m.owned, OwnedPartitions)), None
        )
        by_row = [] if arrays is None else partitions_by_row(arrays)
        for blob, member in zip(blobs, members, strict=True):
            owned = member.owned
            if isinstance(owned, OwnedPartitions):
                owned = by_row[owned.row]
            self._subscriptions[blob] = _other_member(member, owned=self._shared(owned))

    def _read_assignments(self, blobs: list[bytes]) -> None:
        if not are_read_together(len(blobs)):
            self._assignments |= {blob: decode_assignment(blob) for blob in blobs}
            return
        read = read_assignments(blobs)
        by_row = partitions_by_row(read.partitions)
        plain = zip(blobs, by_row, read.is_plain.tolist(), read.version.tolist(), strict=True)
        for row, (blob, partitions, is_plain, version) in enumerate(plain):
            if is_plain:
                value = MemberAssignment(
                    version=version,
                    partitions=self._shared(partitions),
                    user_data=read.user_data.of_row(row, blob),
                )
                self._assignments[blob] = Decoded(value=value)
            else:
                self._assignments[blob] = decode_assignment(blob)

    def _shared(self, partitions: TopicPartitions) -> TopicPartitions:
        """Return equal partitions, one mapping for all that have them in this order."""
        return self._partitions.setdefault(tuple(partitions.items()), partitions)


def partitions_by_row(arrays: OwnedArrays) -> list[dict[str, tuple[int, ...]]]:
    """Return what each row has, as topic -> partition numbers. Cost: O(rows + numbers)."""
    numbers = arrays.number.tolist()
    bounds = arrays.number_ptr.tolist()
    topics = [arrays.names[topic] for topic in arrays.topic.tolist()]
    return [
        {topics[at]: tuple(numbers[bounds[at] : bounds[at + 1]]) for at in range(first, end)}
        for first, end in pairwise(arrays.entry_ptr.tolist())
    ]


def blobs_of(entry: LoggedRecord) -> Iterator[tuple[bytes, bytes]]:
    """Yield Subscription and Assignment of each member of a GROUP_METADATA record."""
    value = entry.record.value
    if entry.record.name == "GROUP_METADATA" and value and value["protocolType"] == CONSUMER:
        for member in value["members"]:
            yield member["subscription"], member["assignment"]

"""Tolerant decoding of what others write, inside aiokafka.

aiokafka reads the first three fields of a Subscription, drops the rest with the bytes, and raises
for what it cannot read. For an Assignment that it cannot read, or that has a topic its consumer is
not subscribed to, the task that takes part in the group ends, and the consumer never joins
again. Zero bytes are enough, which the broker sends to a member that its leader left out; and a
static member that comes back with fewer topics is given the old ones.

While a strategy lives, `ConsumerProtocol.METADATA` and `.ASSIGNMENT` are subclasses of aiokafka's
own that never raise (`DECODERS`). Of a Subscription they read what aiokafka asks for, and keep the
bytes: the leader reads those of the whole group together.
"""

from __future__ import annotations

import logging
from typing import Any

from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.coordinator.protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)

from assignors.clients.common.base_strategy import calling_objects
from assignors.clients.common.replaced_names import ReplacedNames
from assignors.clients.common.translation import readable_assignment, valid_topics
from wire import Subscription, decode_subscription

LOGGER = logging.getLogger("aiokafka.coordinator.assignors")


class TolerantMetadata(ConsumerProtocolMemberMetadata):  # type: ignore[misc]  # aiokafka's is Any
    """A member's metadata with all that could be read from its bytes."""

    kafka_assignors_blob: bytes | None = None

    @classmethod
    def decode(cls, data: Any) -> TolerantMetadata:  # noqa: ANN401 - bytes or a stream of them
        """Return aiokafka's object, whatever the bytes are."""
        blob = _bytes_of(data)
        found = _of_latest_topics(cls, blob)
        if found is None:
            read = decode_subscription(blob).value or Subscription(version=0)
            DECODERS.latest_topics.keep(blob, read.topics)
            found = cls(read.version, valid_topics(read.topics), read.user_data or b"")
        found.kafka_assignors_blob = blob
        return found


class TolerantAssignment(ConsumerProtocolMemberAssignment):  # type: ignore[misc]  # as above
    """A member's assignment, as far as it can be read and applied."""

    assignment: list[Any]
    kafka_assignors_refused: tuple[str, ...] = ()

    @classmethod
    def decode(cls, data: Any) -> TolerantAssignment:  # noqa: ANN401 - bytes or a stream of them
        """Return aiokafka's object, whatever the bytes are."""
        blob = _bytes_of(data)
        try:
            found = super().decode(blob)
            found.partitions()
        except Exception:  # noqa: BLE001 - aiokafka raises anything for bytes it cannot read
            readable = readable_assignment(blob, LOGGER)
            found = cls(0, [(topic, list(numbers)) for topic, numbers in readable.items()], b"")
        found._refuse()
        return found  # type: ignore[no-any-return]

    def _refuse(self) -> None:
        """Leave out topics to which a consumer with a strategy of ours is not subscribed."""
        coordinator = calling_coordinator()
        if coordinator is None or DECODERS.users.isdisjoint(coordinator._assignors):  # noqa: SLF001 - no other way
            return
        subscription = coordinator._subscription.subscription  # noqa: SLF001 - as above
        topics = frozenset() if subscription is None else subscription.topics
        refused = {topic for topic, _ in self.assignment if topic not in topics}
        if refused:
            self.assignment = [part for part in self.assignment if part[0] not in refused]
            self.kafka_assignors_refused = tuple(sorted(refused))


DECODERS = ReplacedNames(
    ConsumerProtocol, {"METADATA": TolerantMetadata, "ASSIGNMENT": TolerantAssignment}
)


def refused_topics(assignment: Any) -> tuple[str, ...]:  # noqa: ANN401 - aiokafka's type
    """Return the topics that were left out of an assignment."""
    return getattr(assignment, "kafka_assignors_refused", ())


def blob_of(metadata: Any) -> bytes:  # noqa: ANN401 - as above
    """Return the bytes of a member's Subscription; encoded anew where nobody kept them."""
    kept = getattr(metadata, "kafka_assignors_blob", None)
    return kept if isinstance(kept, bytes) else bytes(metadata.encode())


def calling_coordinator() -> Any:  # noqa: ANN401 - aiokafka's coordinator, or None
    """Return the coordinator on whose behalf aiokafka calls, if one is on the stack."""
    for caller in calling_objects():
        for candidate in (caller, getattr(caller, "_coordinator", None)):
            if isinstance(candidate, GroupCoordinator):
                return candidate
    return None


def _of_latest_topics(cls: type[TolerantMetadata], blob: bytes) -> TolerantMetadata | None:
    """Return aiokafka's object for a member with the topics of the one before, else `None`."""
    head = DECODERS.latest_topics.head(blob)
    if head is None or len(blob) < head[2] + 4:
        return None
    version, topics, place = head
    size = int.from_bytes(blob[place : place + 4], "big", signed=True)
    user_data = blob[place + 4 : place + 4 + max(size, 0)]
    return cls(version, topics, user_data) if len(user_data) == max(size, 0) else None


def _bytes_of(data: Any) -> bytes:  # noqa: ANN401 - bytes or a stream of them
    return bytes(data) if isinstance(data, bytes | bytearray | memoryview) else data.read()

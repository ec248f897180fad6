"""Tolerant decoding of what others write, inside aiokafka.

aiokafka reads the first three fields of a Subscription, drops the rest with the bytes, and raises
for what it cannot read. For an Assignment that it cannot read, or that has a topic its consumer is
not subscribed to, the task that takes part in the group ends, and the consumer never joins
again. Zero bytes are enough, which the broker sends to a member that its leader left out; and a
static member that comes back with fewer topics is given the old ones.

While a strategy lives, `ConsumerProtocol.METADATA` and `.ASSIGNMENT` are subclasses of aiokafka's
own that never raise (`DECODERS`). A Subscription is decoded once: the leader uses what was read
here.
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
from wire import Decoded, Subscription, decode_subscription

LOGGER = logging.getLogger("aiokafka.coordinator.assignors")


class TolerantMetadata(ConsumerProtocolMemberMetadata):  # type: ignore[misc]  # aiokafka's is Any
    """A member's metadata with all that could be read from its bytes."""

    kafka_assignors_decoded: Decoded[Subscription] | None = None

    @classmethod
    def decode(cls, data: Any) -> TolerantMetadata:  # noqa: ANN401 - bytes or a stream of them
        """Return aiokafka's object, whatever the bytes are."""
        decoded = decode_subscription(_blob_of(data))
        read = decoded.value or Subscription(version=0)
        found = cls(read.version, valid_topics(read.topics), read.user_data or b"")
        found.kafka_assignors_decoded = decoded
        return found


class TolerantAssignment(ConsumerProtocolMemberAssignment):  # type: ignore[misc]  # as above
    """A member's assignment, as far as it can be read and applied."""

    assignment: list[Any]
    kafka_assignors_refused: tuple[str, ...] = ()

    @classmethod
    def decode(cls, data: Any) -> TolerantAssignment:  # noqa: ANN401 - bytes or a stream of them
        """Return aiokafka's object, whatever the bytes are."""
        blob = _blob_of(data)
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


def decoded_of(metadata: Any) -> Decoded[Subscription]:  # noqa: ANN401 - as above
    """Return all that could be read of a member's Subscription."""
    kept = getattr(metadata, "kafka_assignors_decoded", None)
    return kept if isinstance(kept, Decoded) else decode_subscription(bytes(metadata.encode()))


def calling_coordinator() -> Any:  # noqa: ANN401 - aiokafka's coordinator, or None
    """Return the coordinator on whose behalf aiokafka calls, if one is on the stack."""
    for caller in calling_objects():
        for candidate in (caller, getattr(caller, "_coordinator", None)):
            if isinstance(candidate, GroupCoordinator):
                return candidate
    return None


def _blob_of(data: Any) -> bytes:  # noqa: ANN401 - bytes or a stream of them
    return bytes(data) if isinstance(data, bytes | bytearray | memoryview) else data.read()

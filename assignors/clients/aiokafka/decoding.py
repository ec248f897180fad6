"""The bytes that others write, inside aiokafka.

The host reads the first three fields of a Subscription, drops the rest with the bytes, and
raises for what it cannot read. While an adapter is alive, `ConsumerProtocol.METADATA` is a
subclass of the host's own that never raises and keeps the bytes. One for the whole process,
counted, gone with the last adapter.

So is `ConsumerProtocol.ASSIGNMENT`: for an Assignment that the host cannot read, or that names a
topic nobody asked for, its task that takes part in the group ends, and the consumer never joins
again. Zero bytes are enough, which the broker sends to a member that its leader left out; and a
static member that comes back with fewer topics is given the old ones.
"""

from __future__ import annotations

import logging
import threading
import weakref
from typing import Any

from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.coordinator.protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)

from assignors.clients.common.client_session import callers, given_by, possible_topics
from wire import Subscription, decode_subscription

LOGGER = logging.getLogger("aiokafka.coordinator.assignors")

_lock = threading.Lock()
_users: weakref.WeakSet[object] = weakref.WeakSet()
_user_count = 0


class TolerantMetadata(ConsumerProtocolMemberMetadata):  # type: ignore[misc]  # the host has no types
    """A member's metadata with the bytes it came from."""

    kafka_assignors_bytes: bytes = b""

    @classmethod
    def decode(cls, data: Any) -> TolerantMetadata:  # noqa: ANN401 - bytes or a stream of them
        """Return the host's object, whatever the bytes are."""
        blob = bytes(data) if isinstance(data, bytes | bytearray | memoryview) else data.read()
        read = decode_subscription(blob).value or Subscription(version=0)
        found = cls(read.version, possible_topics(read.topics), read.user_data or b"")
        found.kafka_assignors_bytes = blob
        return found


class TolerantAssignment(ConsumerProtocolMemberAssignment):  # type: ignore[misc]  # as above
    """A member's assignment, as far as it can be read and applied."""

    assignment: list[Any]
    kafka_assignors_refused: tuple[str, ...] = ()

    @classmethod
    def decode(cls, data: Any) -> TolerantAssignment:  # noqa: ANN401 - bytes or a stream of them
        """Return the host's object, whatever the bytes are."""
        blob = bytes(data) if isinstance(data, bytes | bytearray | memoryview) else data.read()
        try:
            found = super().decode(blob)
            found.partitions()
        except Exception:  # noqa: BLE001 - the host raises anything for bytes it cannot read
            given = given_by(blob, LOGGER)
            found = cls(0, [(topic, list(numbers)) for topic, numbers in given.items()], b"")
        found._refuse()
        return found  # type: ignore[no-any-return]

    def _refuse(self) -> None:
        """Leave out topics that a consumer of ours did not ask for."""
        coordinator = calling_coordinator()
        if coordinator is None or _users.isdisjoint(coordinator._assignors):  # noqa: SLF001 - no other way
            return
        subscription = coordinator._subscription.subscription  # noqa: SLF001 - as above
        topics = frozenset() if subscription is None else subscription.topics
        refused = {topic for topic, _ in self.assignment if topic not in topics}
        if refused:
            self.assignment = [part for part in self.assignment if part[0] not in refused]
            self.kafka_assignors_refused = tuple(sorted(refused))


def refused_of(assignment: Any) -> tuple[str, ...]:  # noqa: ANN401 - the host's type
    """Return the topics that were left out of an assignment."""
    return getattr(assignment, "kafka_assignors_refused", ())


def install(user: object) -> None:
    """Keep the bytes for as long as `user` lives."""
    global _user_count  # noqa: PLW0603 - the host has one decoder in a process
    with _lock:
        if _user_count == 0:
            ConsumerProtocol.METADATA = TolerantMetadata
            ConsumerProtocol.ASSIGNMENT = TolerantAssignment
        _user_count += 1
        _users.add(user)
    weakref.finalize(user, _leave).atexit = False


def bytes_of(metadata: Any) -> bytes:  # noqa: ANN401 - the host's type
    """Return the bytes that a member sent; written anew where nobody kept them."""
    if isinstance(metadata, TolerantMetadata):
        return metadata.kafka_assignors_bytes
    return bytes(metadata.encode())


def calling_coordinator() -> Any:  # noqa: ANN401 - the host's coordinator, or None
    """Return the coordinator on whose behalf the host calls, if one is on the stack."""
    for caller in callers():
        for candidate in (caller, getattr(caller, "_coordinator", None)):
            if isinstance(candidate, GroupCoordinator):
                return candidate
    return None


def _leave() -> None:
    global _user_count  # noqa: PLW0603 - as above
    with _lock:
        _user_count -= 1
        if _user_count == 0:
            ConsumerProtocol.METADATA = ConsumerProtocolMemberMetadata
            ConsumerProtocol.ASSIGNMENT = ConsumerProtocolMemberAssignment

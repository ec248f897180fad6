"""The bytes of the other members' Subscriptions, inside aiokafka.

The host reads the first three fields of a Subscription, drops the rest with the bytes, and
raises for what it cannot read. While an adapter is alive, `ConsumerProtocol.METADATA` is a
subclass of the host's own that never raises and keeps the bytes. One for the whole process,
counted, gone with the last adapter.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from aiokafka.coordinator.protocol import ConsumerProtocol, ConsumerProtocolMemberMetadata

from assignors.clients.seat import possible_topics
from wire import Subscription, decode_subscription

_lock = threading.Lock()
_users = 0


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


def install(user: object) -> None:
    """Keep the bytes for as long as `user` lives."""
    global _users  # noqa: PLW0603 - the host has one decoder in a process
    with _lock:
        if _users == 0:
            ConsumerProtocol.METADATA = TolerantMetadata
        _users += 1
    weakref.finalize(user, _leave).atexit = False


def bytes_of(metadata: Any) -> bytes:  # noqa: ANN401 - the host's type
    """Return the bytes that a member sent; written anew where nobody kept them."""
    if isinstance(metadata, TolerantMetadata):
        return metadata.kafka_assignors_bytes
    return bytes(metadata.encode())


def _leave() -> None:
    global _users  # noqa: PLW0603 - as above
    with _lock:
        _users -= 1
        if _users == 0:
            ConsumerProtocol.METADATA = ConsumerProtocolMemberMetadata

"""Tolerant decoding of what others write, inside kafka-python.

The host decodes every member before it asks the assignor, keeps nothing of the bytes, and
raises out of `poll()` for one member that it cannot read. While an adapter is alive, the name
by which the host's coordinator calls its decoder stands for one that never raises. It gives
the host's own objects, so that other assignors notice nothing, with the bytes attached.

So it is with the Assignment that a leader writes. A leader that leaves a member out makes the
broker send it zero bytes; kafkajs assignors as its documentation shows them do that. The host
raises out of `poll()` then, and consumes on what is somebody else's by now.

The replacement is one for the whole process. It is counted: the first adapter puts it in, and
when the last one is gone the host's own decoder is back.
"""

from __future__ import annotations

import logging
import threading
import weakref
from typing import Any

import kafka.coordinator.consumer as host
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from assignors.clients.common.client_session import given_by, possible_topics
from wire import Subscription, decode_subscription

LOGGER = logging.getLogger("kafka.coordinator.assignors")

RAW = "kafka_assignors_bytes"
"""The attribute that holds the bytes of a decoded Subscription."""

_lock = threading.Lock()
_users = 0


class _Subscriptions:
    """Stands in for the host's class of Subscriptions where the coordinator decodes them."""

    def decode(self, blob: bytes) -> Any:  # noqa: ANN401 - the host's type
        """Return the host's object, whatever the bytes are."""
        try:
            found = ConsumerProtocolSubscription.decode(blob)
            is_usable = _is_usable(found)
        except Exception:  # noqa: BLE001 - the host raises anything for bytes it cannot read
            is_usable = False
        if not is_usable:
            found = _stand_in(blob)
        found.topics = possible_topics(found.topics)
        setattr(found, RAW, bytes(blob))
        return found

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        return getattr(ConsumerProtocolSubscription, name)

    def __call__(self, *arguments: object, **named: object) -> Any:  # noqa: ANN401 - as above
        return ConsumerProtocolSubscription(*arguments, **named)


class _Assignments:
    """Stands in for the host's class of Assignments where the coordinator decodes its own."""

    def decode(self, blob: bytes) -> Any:  # noqa: ANN401 - the host's type
        """Return the host's object, whatever the bytes are."""
        try:
            found = ConsumerProtocolAssignment.decode(blob)
            found.partitions()
        except Exception:  # noqa: BLE001 - the host raises anything for bytes it cannot read
            given = given_by(blob, LOGGER)
            found = ConsumerProtocolAssignment(
                version=0, assigned_partitions=list(given.items()), user_data=None
            )
        return found

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        return getattr(ConsumerProtocolAssignment, name)

    def __call__(self, *arguments: object, **named: object) -> Any:  # noqa: ANN401 - as above
        return ConsumerProtocolAssignment(*arguments, **named)


_SUBSCRIPTIONS = _Subscriptions()
_ASSIGNMENTS = _Assignments()


def install(user: object) -> None:
    """Decode tolerantly for as long as `user` lives."""
    global _users  # noqa: PLW0603 - the host has one decoder in a process
    with _lock:
        if _users == 0:
            host.ConsumerProtocolSubscription = _SUBSCRIPTIONS
            host.ConsumerProtocolAssignment = _ASSIGNMENTS
        _users += 1
    weakref.finalize(user, _leave).atexit = False


def bytes_of(subscription: Any) -> bytes:  # noqa: ANN401 - as above
    """Return the bytes that a member sent; written anew where nobody kept them."""
    kept = getattr(subscription, RAW, None)
    if isinstance(kept, bytes):
        return kept
    return subscription if isinstance(subscription, bytes) else bytes(subscription.encode())


def _leave() -> None:
    global _users  # noqa: PLW0603 - as above
    with _lock:
        _users -= 1
        if _users == 0:
            host.ConsumerProtocolSubscription = ConsumerProtocolSubscription
            host.ConsumerProtocolAssignment = ConsumerProtocolAssignment


def _is_usable(found: Any) -> bool:  # noqa: ANN401 - as above
    """Return whether every assignor of the host can work with the object."""
    topics = found.topics
    return isinstance(topics, list) and all(isinstance(topic, str) for topic in topics)


def _stand_in(blob: bytes) -> Any:  # noqa: ANN401 - as above
    """Return what could be read, as the host's object."""
    read = decode_subscription(blob).value or Subscription()
    version = min(max(read.version, 0), 3)
    return ConsumerProtocolSubscription(
        version=version,
        topics=list(read.topics),
        user_data=read.user_data,
        owned_partitions=[],
        generation_id=read.generation,
        rack_id=read.rack_id,
    )

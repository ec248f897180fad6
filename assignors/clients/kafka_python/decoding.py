"""Tolerant decoding of what others write, inside kafka-python.

kafka-python decodes every member's Subscription before it asks the assignor, keeps none of the
bytes, and raises out of `poll()` for one member that it cannot read. It does the same with the
Assignment that a leader writes: a leader that leaves a member out makes the broker send that member
zero bytes (kafkajs assignors written as its documentation shows do that), and then `poll()` raises
and the consumer goes on with partitions that somebody else has by now.

While a strategy lives, the names by which the coordinator finds its two decoders stand for the two
here (`DECODERS`). They never raise, and they return kafka-python's own objects, so that other
assignors see what they expect; a Subscription carries its bytes along.
"""

from __future__ import annotations

import logging
from typing import Any

import kafka.coordinator.consumer
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from assignors.clients.common.replaced_names import ReplacedNames
from assignors.clients.common.translation import readable_assignment, valid_topics
from wire import Subscription, decode_subscription

LOGGER = logging.getLogger("kafka.coordinator.assignors")

SOURCE = "kafka_assignors_source"
"""The attribute of a Subscription with its bytes."""


class _Subscriptions:
    """Takes the place of the class of Subscriptions where the coordinator decodes them."""

    def decode(self, blob: bytes) -> Any:  # noqa: ANN401 - kafka-python's type
        """Return kafka-python's object, whatever the bytes are."""
        source = bytes(blob)
        head = DECODERS.latest_topics.head(source)
        if head is not None:
            return _LazySubscription(source, version=head[0], topics=head[1])
        found = _decoded(source)
        DECODERS.latest_topics.keep(source, found.topics)
        found.topics = valid_topics(found.topics)
        setattr(found, SOURCE, source)
        return found

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        return getattr(ConsumerProtocolSubscription, name)

    def __call__(self, *arguments: object, **named: object) -> Any:  # noqa: ANN401 - as above
        return ConsumerProtocolSubscription(*arguments, **named)


class _LazySubscription(ConsumerProtocolSubscription, init=False):  # type: ignore[misc, call-arg]
    """A Subscription of which the topics are known; the rest is decoded when it is asked for.

    A group's leader asks for no more: kafka-python takes 0.1 ms a member for the owned partitions.
    """

    def __init__(self, source: bytes, *, version: int, topics: list[str]) -> None:
        """Leave all fields behind the topics unset."""
        self._version, self.tags, self.unknown_tags = version, None, None
        self.topics = topics
        setattr(self, SOURCE, source)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as kafka-python's
        """Decode the fields that are not set, for which alone Python calls this.

        From then on it is an object of kafka-python's own class.
        """
        if name in self._struct.fields:
            whole = _decoded(getattr(self, SOURCE))
            self.__class__ = ConsumerProtocolSubscription
            for field in self._struct.fields:
                if field != "topics":
                    setattr(self, field, getattr(whole, field))
            return getattr(self, name)
        return super().__getattr__(name)


class _Assignments:
    """Takes the place of the class of Assignments where the coordinator decodes its own."""

    def decode(self, blob: bytes) -> Any:  # noqa: ANN401 - kafka-python's type
        """Return kafka-python's object, whatever the bytes are."""
        try:
            found = ConsumerProtocolAssignment.decode(blob)
            found.partitions()
        except Exception:  # noqa: BLE001 - kafka-python raises anything for bytes it cannot read
            readable = readable_assignment(blob, LOGGER)
            found = ConsumerProtocolAssignment(
                version=0, assigned_partitions=list(readable.items()), user_data=None
            )
        return found

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        return getattr(ConsumerProtocolAssignment, name)

    def __call__(self, *arguments: object, **named: object) -> Any:  # noqa: ANN401 - as above
        return ConsumerProtocolAssignment(*arguments, **named)


DECODERS = ReplacedNames(
    kafka.coordinator.consumer,
    {
        "ConsumerProtocolSubscription": _Subscriptions(),
        "ConsumerProtocolAssignment": _Assignments(),
    },
)


def source_of(subscription: Any) -> bytes:  # noqa: ANN401 - as above
    """Return the bytes of a Subscription; encoded anew where nobody kept them."""
    kept = getattr(subscription, SOURCE, None)
    if isinstance(kept, bytes):
        return kept
    return subscription if isinstance(subscription, bytes) else bytes(subscription.encode())


def _decoded(blob: bytes) -> Any:  # noqa: ANN401 - as above
    """Return kafka-python's object for any bytes: what it cannot read itself is read by ours."""
    try:
        found = ConsumerProtocolSubscription.decode(blob)
        if _is_usable(found):
            return found
    except Exception:  # noqa: BLE001, S110 - kafka-python raises anything for bytes it cannot read
        pass
    return _from_ours(decode_subscription(blob).value or Subscription())


def _is_usable(found: Any) -> bool:  # noqa: ANN401 - as above
    """Return whether every assignor of kafka-python can work with the object."""
    topics = found.topics
    return isinstance(topics, list) and all(isinstance(topic, str) for topic in topics)


def _from_ours(read: Subscription) -> Any:  # noqa: ANN401 - as above
    """Return what could be read, as kafka-python's object."""
    return ConsumerProtocolSubscription(
        version=min(max(read.version, 0), 3),
        topics=list(read.topics),
        user_data=read.user_data,
        owned_partitions=[],
        generation_id=read.generation,
        rack_id=read.rack_id,
    )

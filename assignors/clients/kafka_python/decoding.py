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
from wire import Decoded, Subscription, decode_subscription

LOGGER = logging.getLogger("kafka.coordinator.assignors")

SOURCE = "kafka_assignors_source"
"""The attribute of a Subscription with its bytes, or with what we decoded them to."""


class _Subscriptions:
    """Takes the place of the class of Subscriptions where the coordinator decodes them."""

    def decode(self, blob: bytes) -> Any:  # noqa: ANN401 - kafka-python's type
        """Return kafka-python's object, whatever the bytes are."""
        source: bytes | Decoded[Subscription] = bytes(blob)
        try:
            found = ConsumerProtocolSubscription.decode(blob)
            is_usable = _is_usable(found)
        except Exception:  # noqa: BLE001 - kafka-python raises anything for bytes it cannot read
            is_usable = False
        if not is_usable:
            source = decode_subscription(blob)
            found = _from_ours(source.value or Subscription())
        found.topics = valid_topics(found.topics)
        setattr(found, SOURCE, source)
        return found

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        return getattr(ConsumerProtocolSubscription, name)

    def __call__(self, *arguments: object, **named: object) -> Any:  # noqa: ANN401 - as above
        return ConsumerProtocolSubscription(*arguments, **named)


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


def source_of(subscription: Any) -> bytes | Decoded[Subscription]:  # noqa: ANN401 - as above
    """Return the bytes of a Subscription or their decoding; encoded anew where nobody kept them."""
    kept = getattr(subscription, SOURCE, None)
    if isinstance(kept, bytes | Decoded):
        return kept
    return subscription if isinstance(subscription, bytes) else bytes(subscription.encode())


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

"""UserData of a Subscription as different clients write it, from what the member knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assignors.model import NO_GENERATION
from wire import TopicPartitions, encode_cooperative_user_data, encode_sticky_user_data
from wire.writing import int32_bytes, partitions_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What a member knows when it writes its Subscription."""

    topics: tuple[str, ...]
    """Its subscription, in the order in which the application gave it."""
    consumed: TopicPartitions = field(default_factory=dict)
    """What it owns now: nothing under an eager protocol."""
    assigned: TopicPartitions = field(default_factory=dict)
    """Its last assignment, whatever has become of it."""
    assigned_in: int = NO_GENERATION
    """The generation of its last assignment."""
    generation: int = NO_GENERATION
    """The generation that its client is in; none once it has lost its membership."""
    received: bytes | None = None
    """UserData of the last assignment."""
    rack_id: str | None = None

    @property
    def has_assignment(self) -> bool:
        """Whether it has received an assignment since its process started."""
        return self.assigned_in != NO_GENERATION


UserDataWriter = Callable[[Knowledge], bytes | None]


def null(_: Knowledge) -> bytes | None:
    """Write none: length -1."""
    return None


def empty(_: Knowledge) -> bytes | None:
    """Write zero bytes."""
    return b""


def generation_alone(known: Knowledge) -> bytes | None:
    """Write four bytes, `ffffffff` before the first assignment (Java, Sarama)."""
    return encode_cooperative_user_data(known.assigned_in)


def echoed(known: Knowledge) -> bytes | None:
    """Write what the leader's assignment had in UserData (Sarama)."""
    return known.received


def layout_or_null(known: Knowledge) -> bytes | None:
    """Write the sticky layout, null before the first assignment (Java)."""
    return _layout(known) if known.has_assignment else None


def layout_or_empty(known: Knowledge) -> bytes | None:
    """Write the sticky layout, zero bytes before the first assignment (librdkafka)."""
    return _layout(known) if known.has_assignment else b""


def layout_or_no_topics(known: Knowledge) -> bytes | None:
    """Write the sticky layout; the one without a generation while there is none (franz-go)."""
    if not known.has_assignment:
        return partitions_bytes(known.assigned, keep_order=True)
    return _layout(known)


def layout_without_generation(known: Knowledge) -> bytes | None:
    """Write the sticky layout with generation -1 always, zero bytes at first (aiokafka)."""
    if not known.has_assignment:
        return b""
    return encode_sticky_user_data(known.assigned, NO_GENERATION, keep_order=True)


def prefixed_layout(known: Knowledge) -> bytes | None:
    """Write an int16 before the sticky layout, zero bytes at first (kafka-python 3)."""
    return b"\0\1" + _layout(known) if known.has_assignment else b""


def _layout(known: Knowledge) -> bytes:
    return partitions_bytes(known.assigned, keep_order=True) + int32_bytes(
        known.assigned_in, "generation"
    )

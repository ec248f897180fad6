"""What a consumer processes, and what it has asked the coordinator about offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.simulation.timed.protocols.effects import (
    Disturbance,
    Disturbed,
    Effect,
    MemberEvent,
)
from assignors.simulation.timed.protocols.offsets.flow import Flow, Start, position
from assignors.simulation.timed.protocols.offsets.messages import OffsetCommit
from assignors.simulation.timed.scenario import MemberConfig
from wire import TopicPartitions

Partition = tuple[str, int]


class Identity(NamedTuple):
    """Who a member is to its coordinator now."""

    member_id: str
    generation: int
    """Generation or epoch; -1 outside a group."""
    names_epoch: bool
    """Whether fetches of offsets name member and epoch, as those of KIP-848 do."""


class Begin(NamedTuple):
    """A consumer begins to process a partition at an offset."""

    partition: Partition
    offset: int


class Finish(NamedTuple):
    """A consumer has processed a partition up to an offset, and goes no further."""

    partition: Partition
    offset: int
    reason: str


Done = Effect | Begin | Finish


@dataclass(slots=True, kw_only=True)
class OffsetsClient:
    """What a consumer knows of offsets."""

    config: MemberConfig
    flows: Mapping[str, Flow]
    consumed: TopicPartitions = field(default_factory=dict)
    starts: dict[Partition, Start] = field(default_factory=dict)
    """What it processes, and since when."""
    stopped: dict[Partition, int] = field(default_factory=dict)
    """What brokers do not let it fetch, and how far it came."""
    wanted: set[Partition] = field(default_factory=set)
    """What it consumes and does not know the offset of."""
    number: int = 0
    """Of its last request."""
    fetch: int | None = None
    """The fetch of offsets that waits for an answer."""
    blocked_on: int | None = None
    """The synchronous commit that waits for an answer."""
    is_timed: bool = False
    """Whether the timer of the next commit runs."""
    commits: dict[int, OffsetCommit] = field(default_factory=dict)
    """Commits that wait for an answer."""
    in_callback: set[int] = field(default_factory=set)
    """Those of them that were sent in a callback: they are sent again until they are answered."""
    is_in_long_poll: bool = False
    """Its application does not come back to poll, where it would commit."""
    frozen: dict[Partition, int] = field(default_factory=dict)
    """What it will process when its process goes on, and from which offset."""
    holds: int = 0
    """How many faults keep it from processing."""


def pairs(partitions: TopicPartitions) -> dict[Partition, None]:
    """Return the partitions one by one, in order. Cost: O(partitions)."""
    return {(topic, number): None for topic, numbers in partitions.items() for number in numbers}


def finish(
    state: OffsetsClient, at_us: int, gone: Iterable[Partition], reason: str, out: list[Done]
) -> dict[Partition, int]:
    """Stop to process partitions; return how far each came."""
    ended: dict[Partition, int] = {}
    for partition in gone:
        start = state.starts.pop(partition, None)
        if start is not None:
            ended[partition] = position(state.flows[partition[0]], start, at_us)
            out.append(Finish(partition, ended[partition], reason))
    return ended


def begin(
    state: OffsetsClient, at_us: int, partition: Partition, offset: int, out: list[Done]
) -> None:
    """Begin to process a partition at an offset, or later, if a fault keeps it from that."""
    if state.holds:
        state.frozen[partition] = offset
        return
    state.starts[partition] = Start(offset, at_us)
    out.append(Begin(partition, offset))


def restrict(state: OffsetsClient, at_us: int, owned: TopicPartitions) -> list[Done]:
    """Return what follows if brokers let a member fetch exactly `owned`, whatever it believes.

    What comes back goes on where it stopped. Cost: O(its partitions).
    """
    out: list[Done] = []
    allowed = pairs(owned)
    gone = [each for each in state.starts if each not in allowed]
    state.stopped |= finish(state, at_us, gone, "fenced", out)
    for partition in [each for each in state.frozen if each not in allowed]:
        state.stopped[partition] = state.frozen.pop(partition)
    for partition in [each for each in state.stopped if each in allowed]:
        begin(state, at_us, partition, state.stopped.pop(partition), out)
    return out


def freeze(state: OffsetsClient, at_us: int, *, begins: bool) -> list[Done]:
    """Let it process nothing any more, or go on where it stood. Cost: O(its partitions)."""
    out: list[Done] = []
    state.holds += 1 if begins else -1
    if begins:
        state.frozen |= finish(state, at_us, [*state.starts], "frozen", out)
    elif not state.holds:
        held, state.frozen = state.frozen, {}
        for partition, offset in held.items():
            begin(state, at_us, partition, offset, out)
    return out


def note(state: OffsetsClient, event: MemberEvent) -> None:
    """Note what a member's own event means for its commits."""
    if isinstance(event, Disturbed) and event.kind is Disturbance.LONG_POLL:
        state.is_in_long_poll = event.by_us > 0

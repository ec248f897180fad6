"""The plans of a group's leaders, out of the broker's own log, and what in them was dangerous.

Callbacks show two owners only where the old one is slower than the new one. The plan shows the
fault itself: a partition given to a member in the very round in which another one still claims
it. So every generation is read back from `__consumer_offsets`, whose history the test broker
keeps whole, and each gift is held against all claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import Consumer, TopicPartition

from tests.interop.admin import Admin
from tests.interop.events import Partition
from wire.records import decode_record, members_of

OFFSETS, OFFSETS_PARTITIONS = "__consumer_offsets", 4
GROUP_METADATA = b"\x00\x02"
"""How the key of a classic group's record begins."""

BATCH = 1000
PATIENCE_S = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """A classic generation as the broker wrote it down."""

    generation: int
    protocol: str
    leader: str
    claims: Mapping[str, frozenset[Partition]] = field(default_factory=dict)
    """Member id to what it said it owns."""
    gifts: Mapping[str, frozenset[Partition]] = field(default_factory=dict)
    """Member id to what it was given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gift:
    """A partition given away while another member had it."""

    generation: int
    leader: str
    partition: Partition
    receiver: str
    claimants: tuple[str, ...]


def so_far(bootstrap: str) -> dict[Partition, int]:
    """Where the offsets topic ends now: `rounds` may start there for a group that is still to
    come."""
    return Admin(bootstrap).ends({OFFSETS: OFFSETS_PARTITIONS})


def rounds(
    bootstrap: str, group: str, *, since: Mapping[Partition, int] | None = None
) -> list[Round]:
    """Every round of a classic group, in order, as its leader's answer completed it."""
    found: dict[int, Round] = {}
    for key, value in offsets_topic(bootstrap, since or {}):
        if key is None or not key.startswith(GROUP_METADATA):
            continue
        record = decode_record(key, value)
        if not record.key or record.key.get("group") != group:
            continue
        told = record.value
        if not told or not told["leader"]:
            continue
        claims, gifts = {}, {}
        for member in members_of(record):
            said = member.subscription.value
            given = member.assignment.value if member.assignment else None
            claims[member.member_id] = _pairs(said.owned) if said else frozenset()
            if given is not None:
                gifts[member.member_id] = _pairs(given.partitions)
        if gifts:
            # A static member that returns changes the record of a round without another round.
            found.setdefault(
                told["generation"],
                Round(
                    generation=told["generation"],
                    protocol=told["protocol"] or "",
                    leader=told["leader"],
                    claims=claims,
                    gifts=gifts,
                ),
            )
    return [found[generation] for generation in sorted(found)]


def dangerous(one: Round) -> list[Gift]:
    """Gifts to members that do not claim them, of what others claim. Only where members keep what
    they have while they join: under cooperative protocols."""
    found = []
    for receiver, given in one.gifts.items():
        for partition in sorted(given - one.claims[receiver]):
            claimants = [name for name, claim in one.claims.items() if partition in claim]
            if claimants:
                found.append(
                    Gift(
                        generation=one.generation,
                        leader=one.leader,
                        partition=partition,
                        receiver=receiver,
                        claimants=tuple(claimants),
                    )
                )
    return found


def _pairs(partitions: Mapping[str, Iterable[int]]) -> frozenset[Partition]:
    return frozenset((topic, number) for topic in partitions for number in partitions[topic])


def offsets_topic(
    bootstrap: str, since: Mapping[Partition, int]
) -> list[tuple[bytes | None, bytes | None]]:
    """Keys and values, each partition in its order, up to where it ended at the call."""
    # On a broker that has only just started an end may be -1, which to the client is the end.
    starts = {
        number: max(since.get((OFFSETS, number), 0), 0) for number in range(OFFSETS_PARTITIONS)
    }
    ends = so_far(bootstrap)
    open_ends = {number: end for (_, number), end in ends.items() if end > starts[number]}
    reader = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "audit",
            "enable.auto.commit": False,
            "isolation.level": "read_uncommitted",
        }
    )
    found = []
    try:
        reader.assign([TopicPartition(OFFSETS, one, starts[one]) for one in open_ends])
        while open_ends:
            # The client waits until it has as many as were asked for.
            left = sum(end - starts[number] for number, end in open_ends.items())
            batch = reader.consume(min(left, BATCH), PATIENCE_S)
            if not batch:
                raise TimeoutError(f"the offsets topic stops short of {open_ends}")
            for message in batch:
                number, offset = message.partition(), message.offset()
                assert number is not None
                assert offset is not None
                found.append((_bytes(message.key()), _bytes(message.value())))
                starts[number] = offset + 1
                if offset + 1 >= open_ends.get(number, 0):
                    open_ends.pop(number, None)
    finally:
        reader.close()
    return found


def _bytes(blob: str | bytes | None) -> bytes | None:
    return blob.encode() if isinstance(blob, str) else blob

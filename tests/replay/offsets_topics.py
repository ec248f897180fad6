"""Offset topics of any size from a seed: what benchmarks read, and what tests read a little of.

The mix is that of a busy cluster: nearly all records are commits, version 4 with topic ids and
version 3 without; some are tombstones, a few are classic groups and KIP-848 members. Keys and
values come from our own encoders, which other tests hold against Kafka's; the commits, of which
there are millions, are put together from parts that were encoded once.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from assignors.replay.sources.arrow import RAW
from wire import Subscription, encode_assignment, encode_subscription
from wire.records import encode_key, encode_value

START_MS = 1_790_000_000_000
_V3 = struct.Struct(">hqi")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mix:
    """What a topic is made of; what is left of 1 are commits."""

    tombstones: float = 0.02
    classic_groups: float = 0.005
    consumer_members: float = 0.005
    group_count: int = 400
    topic_count: int = 200
    partition_count: int = 64
    member_count_max: int = 10


COMMITS = Mix(tombstones=0.0, classic_groups=0.0, consumer_members=0.0)
"""Nothing but commits."""


def offsets_topic(
    record_count: int, *, seed: int = 1, mix: Mix | None = None, batch_rows: int = 10_000
) -> Iterator[pa.RecordBatch]:
    """Yield a topic in batches of `RAW`; the same one for the same arguments."""
    writer = _Writer(random.Random(seed), mix or Mix())
    for first in range(0, record_count, batch_rows):
        numbers = range(first, min(first + batch_rows, record_count))
        pairs = [writer.record(number) for number in numbers]
        rows = len(pairs)
        columns = {
            "key": pa.array([key for key, _ in pairs], pa.binary()),
            "value": pa.array([value for _, value in pairs], pa.binary()),
            "topic": pa.array(["__consumer_offsets"] * rows),
            "partition": pa.array([0] * rows, pa.int32()),
            "offset": pa.array(numbers, pa.int64()),
            "timestamp": pa.array([(START_MS + n) * 1000 for n in numbers], RAW[5].type),
            "timestampType": pa.array([0] * rows, pa.int32()),
            "transaction": pa.nulls(rows, pa.string()),
            "error": pa.nulls(rows, pa.string()),
        }
        yield pa.RecordBatch.from_pydict(columns, schema=RAW)


def group_value(
    generation: int, *, member_count: int = 50, topic_count: int = 5, claims_differ: bool = True
) -> bytes:
    """Return a classic group's value; its members' bytes differ from generation to generation.

    Unless `claims_differ` is false: then they say the same each time, as in most groups.
    """
    topics = tuple(f"topic-{number:04d}" for number in range(topic_count))
    said = generation if claims_differ else 0
    members = []
    for number in range(member_count):
        owned = dict.fromkeys(topics, (2 * number, 2 * number + 1 + said * 1000))
        subscription = Subscription(topics=topics, owned=owned, generation=said)
        members.append(
            {
                "memberId": f"consumer-{number}-0f8fad5b-d9cb-469f-a165-70867728950e",
                "groupInstanceId": None,
                "clientId": f"consumer-{number}",
                "clientHost": f"/10.0.{number % 250}.{generation % 250}",
                "rebalanceTimeout": 300_000,
                "sessionTimeout": 45_000,
                "subscription": encode_subscription(subscription),
                "assignment": encode_assignment(owned),
            }
        )
    value = {
        "protocolType": "consumer",
        "generation": generation,
        "protocol": "cooperative-sticky",
        "leader": members[0]["memberId"] if members else None,
        "currentStateTimestamp": START_MS + generation,
        "members": members,
    }
    return encode_value("GROUP_METADATA", 3, value)


class _Writer:
    """Parts that were encoded once, and the dice."""

    def __init__(self, dice: random.Random, mix: Mix) -> None:
        self._dice = dice
        self._mix = mix
        self._groups = [f"group-{n:04d}" + "-x" * dice.randrange(6) for n in range(mix.group_count)]
        topics = [f"topic-{n:03d}." + "y" * dice.randrange(20) for n in range(mix.topic_count)]
        self._keys = [
            encode_key("OFFSET_COMMIT", {"group": group, "topic": topic, "partition": 0})[:-4]
            for group in self._groups
            for topic in dice.sample(topics, min(5, len(topics)))
        ]
        self._topic_ids = [bytes([1, 0, 16]) + dice.randbytes(16) for _ in range(64)]
        self._values = [
            group_value(number, member_count=1 + number % mix.member_count_max, topic_count=3)
            for number in range(64)
        ]
        self._generation = 0

    def record(self, number: int) -> tuple[bytes, bytes | None]:
        """Return key and value of one record."""
        mix = self._mix
        drawn = self._dice.random()
        if drawn < mix.classic_groups:
            return self._classic()
        drawn -= mix.classic_groups
        if drawn < mix.consumer_members:
            return self._member()
        drawn -= mix.consumer_members
        return self._key(), None if drawn < mix.tombstones else self._commit(number)

    def _key(self) -> bytes:
        prefix = self._keys[int(self._dice.random() * len(self._keys))]
        return prefix + _INT32.pack(int(self._dice.random() * self._mix.partition_count))

    def _commit(self, number: int) -> bytes:
        # Committed offsets go up, or every other commit would be a finding.
        offset = number << 18 | int(self._dice.random() * (1 << 18))
        time = _INT64.pack(START_MS + number)
        metadata = b"" if number % 10 else b"meta-%d" % number
        if number % 4 == 0:
            head = _V3.pack(3, offset, 7)
            return head + len(metadata).to_bytes(2, "big") + metadata + time
        head = _V3.pack(4, offset, 7) + bytes([len(metadata) + 1])
        return head + metadata + time + self._topic_ids[number % 64]

    def _classic(self) -> tuple[bytes, bytes]:
        self._generation += 1
        group = self._groups[self._generation % len(self._groups)]
        return encode_key("GROUP_METADATA", {"group": group}), self._values[self._generation % 64]

    def _member(self) -> tuple[bytes, bytes]:
        name = "CONSUMER_GROUP_MEMBER_METADATA"
        member_id = f"member-{int(self._dice.random() * 1000)}"
        value = {
            "instanceId": None,
            "rackId": "rack-a",
            "clientId": "client",
            "clientHost": "/10.0.0.1",
            "subscribedTopicNames": ["topic-001", "topic-002"],
            "subscribedTopicRegex": None,
            "rebalanceTimeoutMs": 300_000,
            "serverAssignor": None,
        }
        key = encode_key(name, {"groupId": self._groups[0], "memberId": member_id})
        return key, encode_value(name, 0, value)

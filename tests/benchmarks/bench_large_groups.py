"""A group with a million member rows: time and memory of the whole command.

    python -m tests.benchmarks.bench_large_groups [--rows N] [--members N] [--kinds LIST]

`classic` is a group of so many members that has a new generation whenever one of them is replaced;
`growing` is a KIP-848 group whose members join one by one, each with an epoch of its own. The
records are written as Parquet; what is measured is `kafka-assignors replay FILE --out FOLDER`, all
tables, in a process of its own: CPU seconds, and peak memory.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from assignors.replay.sources import Raw
from assignors.replay.sources.arrow import batched, write_parquet
from tests.benchmarks.whole_command import run_command
from wire import Subscription, encode_assignment, encode_subscription
from wire.records import encode_key, encode_value

TOPICS = tuple(f"topic-{number}" for number in range(10))
PARTITIONS_EACH = 2
"""Partitions a member has."""

Value = dict[str, object]


def main() -> None:
    """Print a row for each kind of group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    print(f"{'group':<10} {'rows':>10} {'CPU s':>7} {'wall s':>7} {'peak MB':>8}")
    for kind in options.kinds.split(","):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"{kind}.parquet"
            records = KINDS[kind](options.rows, options.members)
            write_parquet(batched(records, batch_rows=1000), file)
            cpu, wall, peak_mb = replayed(file)
        print(
            f"{kind:<10} {options.rows:>10,} {cpu:>7.1f} {wall:>7.1f} {peak_mb:>8,.0f}", flush=True
        )


def classic(row_count: int, member_count: int) -> Iterator[Raw]:
    """A group under cooperative-sticky in which the longest member is replaced each time."""
    key = encode_key("GROUP_METADATA", {"group": "large"})
    for number in range(row_count // member_count):
        members = [
            classic_member(member, number, member_count)
            for member in range(number, number + member_count)
        ]
        value = {
            "protocolType": "consumer",
            "generation": number + 1,
            "protocol": "cooperative-sticky",
            "leader": name(number + member_count - 1),
            "currentStateTimestamp": 1000 * (number + 1) - 500,
            "members": members,
        }
        yield raw(number, key, encode_value("GROUP_METADATA", 3, value))


def classic_member(member: int, number: int, member_count: int) -> Value:
    """A member that keeps what it has; a new one claims nothing, and takes over from the oldest."""
    share = share_of(member % member_count)
    is_new = number and member == number + member_count - 1
    said = Subscription(
        topics=TOPICS,
        owned={} if is_new else share,
        generation=-1 if is_new else number,
    )
    return {
        "memberId": name(member),
        "groupInstanceId": None,
        "clientId": f"client-{member}",
        "clientHost": f"/10.0.{member // 250 % 250}.{member % 250}",
        "rebalanceTimeout": 300_000,
        "sessionTimeout": 45_000,
        "subscription": encode_subscription(said),
        "assignment": encode_assignment(share),
    }


def growing(row_count: int, member_count: int) -> Iterator[Raw]:
    """A KIP-848 group: members join one by one, until all epochs have so many members together."""
    numbers = count()
    rows = 0
    for member in count(1):
        if rows + member > row_count:
            return
        rows += member
        key = {"groupId": "large", "memberId": name(member)}
        said = {
            "instanceId": None,
            "rackId": None,
            "clientId": f"client-{member}",
            "clientHost": "/10.0.0.1",
            "subscribedTopicNames": list(TOPICS),
            "subscribedTopicRegex": "",
            "rebalanceTimeoutMs": 1000,
            "serverAssignor": "uniform",
        }
        owned = [{"topicId": "A" * 21 + "Q", "partitions": [member - 1]}]
        now = {
            "memberEpoch": member + 1,
            "previousMemberEpoch": member,
            "state": 0,
            "assignedPartitions": [{**owned[0], "assignmentEpochs": [member + 1]}],
            "partitionsPendingRevocation": [],
        }
        for part, named, value in (
            ("MEMBER_METADATA", key, said),
            ("METADATA", {"groupId": "large"}, {"epoch": member + 1}),
            ("TARGET_ASSIGNMENT_MEMBER", key, {"topicPartitions": owned}),
            ("TARGET_ASSIGNMENT_METADATA", {"groupId": "large"}, {"assignmentEpoch": member + 1}),
            ("CURRENT_MEMBER_ASSIGNMENT", key, now),
        ):
            record = f"CONSUMER_GROUP_{part}"
            yield raw(next(numbers), encode_key(record, named), encode_value(record, 0, value))


KINDS: dict[str, Callable[[int, int], Iterator[Raw]]] = {"classic": classic, "growing": growing}


def share_of(place: int) -> dict[str, tuple[int, ...]]:
    """The partitions of the member that stands at a place."""
    topic = TOPICS[place % len(TOPICS)]
    first = place // len(TOPICS) * PARTITIONS_EACH
    return {topic: tuple(range(first, first + PARTITIONS_EACH))}


def name(member: int) -> str:
    """A member id as a broker makes them."""
    return f"client-{member}-{member:08x}-0000-4000-8000-{member:012x}"


def raw(offset: int, key: bytes, value: bytes) -> Raw:
    """A record, a second behind the one before it."""
    time_ms = 1000 * (offset + 1)
    return Raw(key=key, value=value, partition=0, offset=offset, timestamp_ms=time_ms)


def replayed(file: Path) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and peak memory in MB of the command."""
    options = ["--table", "groups", "-o", "jsonl", "--out", str(file.parent / "tables")]
    used = run_command(["replay", str(file), *options])
    return used.cpu_s, used.wall_s, used.peak_kib / 1024


if __name__ == "__main__":
    main()

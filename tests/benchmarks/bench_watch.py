"""How much a watch takes: CPU time a commit and a group record, memory for 10,000 groups.

    python -m tests.benchmarks.bench_watch [GROUPS]

Floors: 20,000 commits and 50 group records of 50 members a second on half a core, 300 MB for 10,000
groups of 20 members and 20 partitions. The records are bytes, as a consumer gives them.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from assignors.replay.decode.logged_records import logged_record
from assignors.replay.sources import Raw
from assignors.watch.checkpoint import NAME, read_checkpoint, write_checkpoint
from assignors.watch.groups import Watch
from assignors.watch.machine import Tick
from assignors.watch.rules import Rules
from wire import Subscription, encode_assignment, encode_subscription
from wire.records import encode_key, encode_value

PARTITIONS = 20
START_MS = 1_700_000_000_000


class Topic:
    """Bytes of the records of many groups, offset after offset."""

    def __init__(self) -> None:
        self.offset = 0

    def raw(self, key: bytes, value: bytes, at_ms: int) -> Raw:
        self.offset += 1
        return Raw(key=key, value=value, partition=0, offset=self.offset, timestamp_ms=at_ms)


def group_record(group: str, generation: int, member_count: int) -> tuple[bytes, bytes]:
    """A generation in which the members share the partitions."""
    members = []
    for number in range(member_count):
        name = f"{group}-{number}-8c1b1c2e-5a1f-4a0e-9a45-{number:012}"
        said = Subscription(topics=("orders",))
        mine = tuple(range(number, max(PARTITIONS, member_count), member_count))
        members.append(
            {
                "memberId": name,
                "groupInstanceId": None,
                "clientId": f"consumer-{group}-{number}",
                "clientHost": f"/10.0.{number}.1",
                "rebalanceTimeout": 300_000,
                "sessionTimeout": 45_000,
                "subscription": encode_subscription(said),
                "assignment": encode_assignment({"orders": mine}),
            }
        )
    value = {
        "protocolType": "consumer",
        "generation": generation,
        "protocol": "range",
        "leader": members[0]["memberId"],
        "currentStateTimestamp": -1,
        "members": members,
    }
    key = encode_key("GROUP_METADATA", {"group": group})
    return key, encode_value("GROUP_METADATA", 3, value)


def commits(groups: list[str], at_ms: int, round_: int) -> Iterator[tuple[bytes, bytes, int]]:
    """A commit of each partition of each group."""
    for group in groups:
        for partition in range(PARTITIONS):
            key = {"group": group, "topic": "orders", "partition": partition}
            value = {
                "offset": 1_000 * round_ + partition,
                "leaderEpoch": 3,
                "metadata": "",
                "commitTimestamp": at_ms,
            }
            yield (
                encode_key("OFFSET_COMMIT", key),
                encode_value("OFFSET_COMMIT", 3, value),
                at_ms,
            )


def fed(watch: Watch, raws: list[Raw]) -> float:
    """CPU seconds for these records."""
    begun = time.process_time()
    for raw in raws:
        watch.add(logged_record(raw))
    return time.process_time() - begun


def memory_mb() -> float:
    """Resident memory now."""
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - no file of ours
        return int(statm.read().split()[1]) * resource.getpagesize() / 1e6


def main(group_count: int = 10_000) -> None:
    """Print the table."""
    topic, watch = Topic(), Watch()
    before = memory_mb()
    groups = [f"group-{number:05}" for number in range(group_count)]
    at_ms = START_MS
    for first in range(0, group_count, 500):
        raws = [topic.raw(*group_record(one, 1, 20), at_ms) for one in groups[first : first + 500]]
        fed(watch, raws)
    watch.add(Tick(at_ms + 2_000))
    for round_ in (1, 2):
        at_ms += 5_000
        for first in range(0, group_count, 500):
            raws = [
                topic.raw(key, value, at)
                for key, value, at in commits(groups[first : first + 500], at_ms, round_)
            ]
            fed(watch, raws)
        watch.add(Tick(at_ms + 2_000))
    more_mb = memory_mb() - before
    print(f"memory of {group_count:,} groups: {more_mb:.0f} MB, process {memory_mb():.0f} MB")
    rows = [*commits(groups[:500], at_ms + 5_000, 3)]
    raws = [topic.raw(*row) for row in rows]
    each = fed(watch, raws) / len(raws)
    print(f"commits: {1e6 * each:.1f} us each, {20_000 * each:.0%} of a core at 20,000/s")
    busy = [f"busy-{number}" for number in range(20)]
    raws = [
        topic.raw(*group_record(one, generation, 50), at_ms + 1_000 * generation)
        for generation in range(1, 11)
        for one in busy
    ]
    each = fed(watch, raws) / len(raws)
    print(f"group records of 50 members: {1e3 * each:.1f} ms, {50 * each:.0%} of a core at 50/s")
    begun = time.process_time()
    for due in range(10):
        watch.add(Tick(at_ms + 20_000 + 1_000 * due))
    print(f"ten ticks: {time.process_time() - begun:.2f} s")
    with TemporaryDirectory() as directory:
        begun = time.process_time()
        write_checkpoint(Path(directory), watch, {0: topic.offset})
        written = time.process_time() - begun
        size = (Path(directory) / NAME).stat().st_size
        begun = time.process_time()
        assert read_checkpoint(Path(directory), Rules()) is not None
        read = time.process_time() - begun
    print(f"checkpoint: {size / 1e6:.0f} MB, written in {written:.1f} s, read in {read:.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

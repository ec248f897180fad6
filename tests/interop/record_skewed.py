"""Record a group whose partitions are not equal, on a real broker: the sample `skewed`.

    python -m tests.interop.record_skewed FOLDER

writes `skewed.jsonl.gz`, what `dump` reads of the group, and `skewed-log-ends.jsonl`, where the
partitions ended every ten seconds. Takes `LENGTH_S`. The four members of group `clicks` have three
of twelve partitions each, by `range`; those with the low numbers get most records, and no member
can process more than `SPEED` records a second. A fifth member joins, the records go to other
partitions, a member leaves.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from click.testing import CliRunner
from confluent_kafka import Consumer, Producer

from assignors.cli.command import command
from tests.interop.admin import Admin
from tests.interop.broker import Broker

TOPIC, GROUP = "clicks", "clicks"
BEFORE = (80, 60, 50, 40, 10, 10, 8, 8, 6, 6, 4, 4)
"""Records a second of each partition,"""
AFTER = (10, 8, 50, 40, 80, 60, 10, 8, 6, 6, 4, 4)
"""and from `DRIFT_S` on."""
SPEED = 120
"""Records a second that a member processes at most."""
JOIN_S, DRIFT_S, LEAVE_S, LENGTH_S = 120, 170, 290, 390
COMMIT_S = LOOK_S = 10


class Member:
    """A member that processes so many records a second, in a thread of its own."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": GROUP,
                "client.id": name,
                "auto.offset.reset": "earliest",
                "auto.commit.interval.ms": COMMIT_S * 1000,
                "partition.assignment.strategy": "range",
                # What is fetched ahead and not processed is not committed.
                "queued.min.messages": 10,
            }
        )
        self._consumer.subscribe([TOPIC])
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def leave(self) -> None:
        """Commit, and leave the group."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            begun = time.monotonic()
            self._consumer.consume(SPEED // 10, timeout=0.1)
            self._stop.wait(max(0.0, begun + 0.1 - time.monotonic()))
        self._consumer.close()


def record(folder: Path) -> None:
    """Play the group, and write both files."""
    with Broker() as broker:
        admin = Admin(broker.bootstrap)
        admin.create_topics({TOPIC: len(BEFORE)})
        members = {n: Member(broker.bootstrap, f"clicks-{n}") for n in range(1, 5)}
        producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 50})
        owed = [0.0] * len(BEFORE)
        begun = time.monotonic()
        with (folder / "skewed-log-ends.jsonl").open("w", encoding="utf-8") as ends:
            for tick in count():
                now_s = tick / 10
                time.sleep(max(0.0, begun + now_s - time.monotonic()))
                if now_s >= LENGTH_S:
                    break
                for partition, rate in enumerate(AFTER if now_s >= DRIFT_S else BEFORE):
                    owed[partition] += rate / 10
                    while owed[partition] >= 1:
                        producer.produce(TOPIC, b"click", partition=partition)
                        owed[partition] -= 1
                producer.poll(0)
                if tick % (LOOK_S * 10) == 0:
                    ends.write(json.dumps(_ends(admin)) + "\n")
                if now_s == JOIN_S:
                    members[5] = Member(broker.bootstrap, "clicks-5")
                if now_s == LEAVE_S:
                    members.pop(2).leave()
        out = str(folder / "skewed.jsonl.gz")
        given = ("dump", "--bootstrap", broker.bootstrap, "--group", f"^{GROUP}$", "-o", out)
        done = CliRunner().invoke(command, given)
        sys.stderr.write(done.stderr)
        for member in members.values():
            member.leave()


def _ends(admin: Admin) -> Mapping[str, object]:
    """Return where the partitions end now, as `replay --log-ends` reads it."""
    found = admin.ends({TOPIC: len(BEFORE)})
    # A broker that does not lead a partition yet answers -1.
    listed = [
        found[TOPIC, number] if found[TOPIC, number] >= 0 else None for number in range(len(BEFORE))
    ]
    return {"at_ms": time.time_ns() // 1_000_000, "log_ends": {TOPIC: listed}}


if __name__ == "__main__":
    record(Path(sys.argv[1]))

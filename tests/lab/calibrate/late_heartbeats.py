"""Measures how late heartbeats of Java's client are, by how long its application processes.

    python -m tests.lab.calibrate.late_heartbeats    # three minutes of waiting

This is where `dialects.timing.JAVA` comes from. On 2026-11-28, on two cores of an AMD EPYC with a
load average of 4 to 8, before which the members had priority:

| polls | heartbeats | late, ms: 5th, 50th, 95th percentile | standard deviation |
|---|---|---|---|
| poll(100), no processing | 118 | 0, 1, 7 | 4 |
| poll(1000), no processing | 59 | -1, 1, 3 | 1 |
| poll(10), 50 ms | 58 | 1, 22, 38 | 11 |
| poll(10), 200 to 800 ms | 174 | 6, 11, 28 | 9 |
| poll(10), 1000 ms | 58 | 6, 15, 40 | 12 |
| poll(10), 1500 to 2500 ms | 116 | 5, 8, 24 | 8 |

The heartbeat thread (`AbstractCoordinator.HeartbeatThread.run`) waits `retry.backoff.ms` = 100 at a
time, thirty times, each a little longer, unless a poll finds a heartbeat due and wakes it. So an
idle consumer is exact, and a busy one is late by what thirty waits are late: never by 0.1 s.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import defaultdict
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import quantiles, stdev

from tests.interop.admin import Admin
from tests.interop.broker import Broker
from tests.interop.install import BROKER, class_path

SOURCE = Path(__file__).resolve().parent / "programs" / "Busy.java"
SECONDS = 180
INTERVAL_MS = 3000
CONSUMERS = (
    *("100:0:0", "100:0:0", "1000:0:0", "10:50:50", "10:200:800", "10:200:800", "10:200:800"),
    *("10:1000:1000", "10:1500:2500", "10:1500:2500"),
)
LOG = "org.slf4j.simpleLogger"
COORDINATOR = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
SENT = re.compile(r"(?P<at>\S+) .*clientId=(?P<name>[^,]+),.*Sending Heartbeat request")


def main() -> None:
    """Print a row for each rhythm of polls."""
    with tempfile.TemporaryDirectory(prefix="busy-") as folder:
        late = late_ms(_log(Path(folder)))
    for rhythm, times in late.items():
        cuts = quantiles(times, n=20)
        shown = ", ".join(f"{cuts[place]:.0f}" for place in (0, 9, 18))
        print(f"| {rhythm} | {len(times)} | {shown} | {stdev(times):.0f} |")


def late_ms(log: str) -> dict[str, list[float]]:
    """Return by rhythm how much more than the interval lay between two heartbeats."""
    sent: defaultdict[str, list[float]] = defaultdict(list)
    for found in SENT.finditer(log):
        sent[found["name"]].append(datetime.fromisoformat(found["at"]).timestamp() * 1000)
    late: defaultdict[str, list[float]] = defaultdict(list)
    for name, times in sent.items():
        apart = [after - before - INTERVAL_MS for before, after in pairwise(times)]
        late[name.partition(".")[0]] += apart
    return dict(late)


def _log(folder: Path) -> str:
    path = class_path(BROKER.made())
    command = ["javac", "-cp", path, "-d", str(folder), str(SOURCE)]
    subprocess.run(command, check=True)
    command = [
        *("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *(f"-D{LOG}.defaultLogLevel=warn", f"-D{LOG}.log.{COORDINATOR}=debug"),
        *(f"-D{LOG}.showDateTime=true", f"-D{LOG}.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSX"),
        *("-cp", f"{folder}:{path}", "Busy"),
    ]
    with Broker() as broker:
        Admin(broker.bootstrap).create_topics({"t": 4})
        words = [*command, broker.bootstrap, "t", str(SECONDS), *CONSUMERS]
        return subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False).stderr


if __name__ == "__main__":
    main()

"""Commits of offsets on a real broker: how long they take, and how many a second there can be.

Each server setting has a broker of its own. Commits come at random (a Poisson process) at several
rates, over connections that have one request each; the last rate is more than any broker answers.
Groups have no members, so that nothing but commits happens.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from tests.interop.admin import Admin
from tests.interop.broker import Broker
from tests.lab.execution.programs import commit_load

TOPIC = "committed"
ADAPTIVE = -1
"""`group.coordinator.append.linger.ms` of Kafka's default."""
SATURATING = 60_000
"""Commits a second: more than are answered."""
RATES = (250, 1000, 2500, 5000, SATURATING)
GROUPS = 64
CONNECTIONS = 256


class Server(NamedTuple):
    """Settings of a broker."""

    linger_ms: int = ADAPTIVE
    """`group.coordinator.append.linger.ms`"""
    threads: int = 4
    """`group.coordinator.threads`"""
    partitions: int = 4
    """`offsets.topic.num.partitions`"""
    groups: int = GROUPS

    @property
    def settings(self) -> dict[str, str]:
        """Return them under the broker's names."""
        return {
            "group.coordinator.append.linger.ms": str(self.linger_ms),
            "group.coordinator.threads": str(self.threads),
            "offsets.topic.num.partitions": str(self.partitions),
        }


SERVERS = (
    *(Server(linger_ms=linger_ms) for linger_ms in (ADAPTIVE, 0, 5, 20)),
    Server(partitions=1),
    Server(threads=1),
    Server(partitions=16, threads=2),
    Server(linger_ms=5, partitions=1),
    Server(groups=1),
)


class Times(NamedTuple):
    """How long a run takes."""

    seconds: float = 4.0
    warm_seconds: float = 1.0
    first_seconds: float = 4.0
    """Before the first run, so that the broker's code is compiled."""


def play(
    server: Server, rates: tuple[int, ...], times: Times, *, folder: Path, seed: int = 1
) -> list[dict[str, Any]]:
    """Measure every rate on one broker; return a row for each."""
    with Broker(server.settings) as broker:
        Admin(broker.bootstrap).create_topics({TOPIC: 1})
        process = psutil.Process(broker.process_id)
        with commit_load(
            broker.bootstrap,
            folder / "commit-load.err",
            topic=TOPIC,
            groups=server.groups,
            partitions=server.partitions,
            connections=CONNECTIONS,
        ) as load:
            load.play(2000, seconds=times.first_seconds / 2, warm_seconds=0, seed=0)
            load.play(SATURATING, seconds=times.first_seconds / 2, warm_seconds=0, seed=0)
            rows = []
            for number, rate in enumerate(rates):
                before, began = _processor_s(process), time.monotonic()
                found = load.play(
                    rate,
                    seconds=times.seconds,
                    warm_seconds=times.warm_seconds,
                    seed=seed + number,
                )
                share = (_processor_s(process) - before) / (time.monotonic() - began)
                assert found["refused"] == 0, found
                rows.append(
                    {
                        **server._asdict(),
                        **found,
                        "broker_processors": round(share, 3),
                        "load_processors": round(found["load_processor_s"] / found["seconds"], 3),
                        "load_average": round(os.getloadavg()[0], 2),
                    }
                )
            return rows


def _processor_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)

"""When each client does what is due, and where each of these times comes from: one table.

A member has the times of its client (`MemberConfig.client`), unless the scenario gives it others
(`MemberConfig.timing`): `Timing()` is a client that is never late, for tests of exact moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from assignors.simulation.timed.group_protocols import OF_CLASSIC


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The times of a client's own threads; every default is that of a client that is never late."""

    heartbeat_late_us: int = 0
    """How much longer than the interval the time between two heartbeats is, in the mean; each
    member has its own, from none to twice as much. With `wake_ms` its looks are late instead."""
    heartbeats_go_on: Annotated[bool, OF_CLASSIC] = False
    """A classic rebalance leaves the times of heartbeats alone; false: each generation starts them
    again."""
    wake_ms: Annotated[int, OF_CLASSIC] = 0
    """How often the client looks for a heartbeat or a join that is due; 0: it does both when they
    are due. Needs `heartbeats_go_on`."""
    wake_late_us: Annotated[int, OF_CLASSIC] = 0
    """Mean time by which each look is late."""
    between_polls_us: Annotated[int, OF_CLASSIC] = 0
    """The client rebalances inside a poll alone, and takes so long from one poll to the next: an
    assignment that comes meanwhile is lost and asked for again. 0: rebalances go on between
    polls."""


JAVA = Timing(heartbeat_late_us=5000)
LIBRDKAFKA = Timing(heartbeat_late_us=1000, heartbeats_go_on=True, wake_ms=500, wake_late_us=3000)
KAFKA_PYTHON = Timing(heartbeat_late_us=3000, between_polls_us=500)
ON_TIME = Timing(heartbeat_late_us=1000)
"""Of clients of which nothing is recorded."""

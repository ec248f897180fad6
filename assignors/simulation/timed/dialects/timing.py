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
    """Each heartbeat follows the one before by so much more than the interval in the mean. Each
    member has a time of its own, between none and twice as much: so phases walk apart.
    Where the client looks from time to time (`wake_ms`), its looks are late instead."""
    heartbeats_go_on: Annotated[bool, OF_CLASSIC] = False
    """Heartbeats keep their times over a rebalance of the classic protocol. Otherwise the
    heartbeats of all members start anew with each generation."""
    wake_ms: Annotated[int, OF_CLASSIC] = 0
    """The client looks for a heartbeat or a join that is due only so often since its last
    assignment, once a second since its start, and when a rebalance ends; and it joins again once a
    second at most unless it has revoked something. 0: it does both when they are due. Of the
    classic protocol, with `heartbeats_go_on`."""
    wake_late_us: Annotated[int, OF_CLASSIC] = 0
    """Mean time by which each look is late by chance, and the next ones with it: members drift."""
    between_polls_us: Annotated[int, OF_CLASSIC] = 0
    """The client ends a round of the classic protocol only inside a poll, and takes so long from
    one poll to the next: an assignment that comes meanwhile is lost, and it asks for it again. It
    joins again at a poll after it has revoked, and its heartbeats start anew with an assignment. 0:
    rounds go on between polls."""


JAVA = Timing(heartbeat_late_us=5000)
LIBRDKAFKA = Timing(heartbeat_late_us=1000, heartbeats_go_on=True, wake_ms=500, wake_late_us=3000)
KAFKA_PYTHON = Timing(heartbeat_late_us=3000, between_polls_us=500)
ON_TIME = Timing(heartbeat_late_us=1000)
"""Of clients of which nothing is recorded."""

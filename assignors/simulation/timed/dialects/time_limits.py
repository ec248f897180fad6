"""How long clients wait for answers that the coordinator may keep back.

Measured with real clients behind a proxy that swallows the answer. Source:
`JoinGroupRequest.JOIN_GROUP_TIMEOUT_LAPSE` of Java's client, whose time kafka-python has too;
`rd_kafka_JoinGroupRequest` and `rd_kafka_SyncGroupRequest` of librdkafka, which sends no heartbeat
in between (`rd_kafka_cgrp_join_state_serve`); `_do_join_and_sync_async` of kafka-python, before
which it disables heartbeats.

Not simulated: librdkafka whose `socket.timeout.ms` (60,000 by default) is shorter than its session
and the three seconds closes the connection then, and sends the SyncGroup again, as measured too.
"""

from __future__ import annotations

from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.dialects.dialect import JOIN_GRACE_MS


def join_limit_ms(client: str | None, rebalance_timeout_ms: int, request_timeout_ms: int) -> int:
    """Return how long a member waits for the answer to a JoinGroup.

    `client` is its client and version; `None`: it does as Java's.
    """
    dialect = None if client is None else DIALECTS[client]
    limit_ms = rebalance_timeout_ms + (JOIN_GRACE_MS if dialect is None else dialect.join_grace_ms)
    if dialect is not None and not dialect.waits_for_requests:
        return limit_ms
    return max(limit_ms, request_timeout_ms)


def sync_limit_ms(client: str | None, session_timeout_ms: int, request_timeout_ms: int) -> int:
    """Return how long a member waits for the answer to a SyncGroup.

    Java's client, and those that are taken to do the same, wait no longer than they may hear
    nothing at all (`Dialect.beats_while_syncing`).
    """
    dialect = None if client is None else DIALECTS[client]
    if dialect is None or dialect.sync_grace_ms is None:
        return request_timeout_ms
    return session_timeout_ms + dialect.sync_grace_ms

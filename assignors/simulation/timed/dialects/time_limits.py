"""How long clients wait for answers that the coordinator may keep back, and what they do then.

Java's client, librdkafka and kafka-python were measured behind a proxy that swallows the answer,
and so were the others (`tests/foreign/exhausted/test_lost_messages_live.py`). Sources:

- Java: `JoinGroupRequest.JOIN_GROUP_TIMEOUT_LAPSE`, whose time kafka-python has too.
- librdkafka: `rd_kafka_JoinGroupRequest` and `rd_kafka_SyncGroupRequest`; it sends no heartbeat in
  between (`rd_kafka_cgrp_join_state_serve`).
- kafka-python: `_do_join_and_sync_async`, before which it disables heartbeats.
- franz-go 1.21.3 to 1.22.2: `connTimeouter.timeouts` and `retryable.Request` in `client.go`; its
  `RequestTimeoutOverhead` is the default one here, ten seconds. `joinAndSync`, between two loops of
  heartbeats, and `manageFailWait`, which calls `OnPartitionsLost`, in `consumer_group.go`.
- Sarama 1.61.1: `Broker.readFull`, which waits `Net.ReadTimeout` for any answer. An error of
  `joinSync` comes out of `Consume`, after whose end the session is released: the application calls
  it again. Heartbeats belong to a session, and wait for `generationMu` while it joins again.
- aiokafka 0.14.0: `AIOKafkaConnection.send`, which waits `request_timeout_ms` for any answer;
  `ensure_active_group` ends the heartbeats before it joins.
- kafkajs 2.2.4: `requestTimeout` in `protocol/requests/joinGroup/index.js`, of which and of that of
  the client `RequestQueue.createSocketRequest` takes the longer one; SyncGroup has none of its own.
  Heartbeats follow fetches and records, of which there are none while it joins. An error at the
  first join crashes the consumer, which starts anew (`onCrash` in `consumer/index.js`).

Not simulated: librdkafka whose `socket.timeout.ms` (60,000 by default) is shorter than its session
and the three seconds closes the connection then, and sends the SyncGroup again, as measured too.
franz-go of a cooperative group sends its first heartbeat half a second after its assignment. And
kafkajs that waits in vain after its first assignment fetches again with the last one, until an
answer tells it that its generation or member id is gone: at once, as a rule. But if its session is
longer than its request timeout and the answer to SyncGroup is lost, heartbeats succeed, and it
keeps the assignment before. Seen behind that proxy: it did not join again until its first commit,
which is in the generation before, was refused.
"""

from __future__ import annotations

from typing import Protocol

from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.dialects.timing import JAVA, Timing
from assignors.simulation.timed.dialects.unanswered import FOR_A_REQUEST, JAVA_JOIN, Wait


class Timeouts(Protocol):
    """A member's client and timeouts: those that `unanswered.Timeout` names."""

    @property
    def client(self) -> str | None:
        """Its client and version; `None`: it does as Java's."""


def times_of(client: str | None) -> Timing:
    """Return when a client does what is due; `None`: Java's."""
    return JAVA if client is None else DIALECTS[client].timing


def join_limit_ms(member: Timeouts) -> int:
    """Return how long a member waits for the answer to a JoinGroup."""
    return _longest(
        member, JAVA_JOIN if member.client is None else DIALECTS[member.client].join_waits
    )


def sync_limit_ms(member: Timeouts) -> int:
    """Return how long a member waits for the answer to a SyncGroup.

    Java's client waits no longer than it may hear nothing at all (`Beats.MEANWHILE`).
    """
    return _longest(
        member, FOR_A_REQUEST if member.client is None else DIALECTS[member.client].sync_waits
    )


def _longest(member: Timeouts, waits: tuple[Wait, ...]) -> int:
    limits: list[int] = [getattr(member, each.timeout) + each.grace_ms for each in waits]
    return max(limits)

"""Where the defaults of a scenario come from: one table of values, clients and sources.

Three kinds of source: a default of Kafka, a recording of real members (`tests/lab/calibrate`),
and an assumption, which a user replaces by a measurement of his own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import NamedTuple

from assignors.simulation.timed.dialects import timing
from assignors.simulation.timed.scenario import (
    BrokerConfig,
    MemberConfig,
    NetworkConfig,
    Scenario,
)


class Default(NamedTuple):
    """A default value and its source."""

    field: str
    """As a scenario has it: `members[].poll_ms`."""
    client: str
    """Empty: every client."""
    value: object
    source: str


ON_LOOPBACK = "assumed: brokers in other zones; on loopback {} was recorded"
SOURCES: tuple[tuple[str, str, str], ...] = (
    (
        *("members[].poll_ms", ""),
        "assumed: 500 records a poll (`max.poll.records`) of 2 ms at most",
    ),
    ("members[].poll_spread_ms", "", "assumed: half of `poll_ms`, as records take 1 to 2 ms"),
    ("members[].revoke_ms", "", "assumed: a commit of offsets and what the application closes"),
    ("members[].assign_ms", "", "assumed"),
    ("members[].auto_commit_ms", "", "Kafka's default, 5000, where there are records"),
    ("members[].heartbeat_interval_ms", "", "Kafka's default"),
    ("members[].session_timeout_ms", "", "Kafka's default"),
    ("members[].rebalance_timeout_ms", "", "Kafka's default"),
    (
        *("members[].timing.heartbeat_late_us", "java"),
        (
            "recorded: idle consumers are 0 to 2 ms late, busy ones 6 to 30: "
            "the heartbeat thread sleeps 100 ms at a time (`retry.backoff.ms`)"
        ),
    ),
    (
        *("members[].timing.heartbeat_late_us", "librdkafka"),
        "fitted to groups of ten, KIP-848",
    ),
    ("members[].timing.heartbeats_go_on", "librdkafka", "recorded"),
    (
        *("members[].timing.wake_ms", "librdkafka"),
        "recorded: its timer for `max.poll.interval.ms`",
    ),
    ("members[].timing.wake_late_us", "librdkafka", "fitted to ten cooperative members"),
    ("members[].timing.heartbeat_late_us", "kafka-python", "fitted to groups of ten"),
    ("members[].timing.between_polls_us", "kafka-python", "fitted to groups of ten, quiet machine"),
    (
        *("members[].timing.heartbeat_late_us", "others"),
        "assumed: nothing is recorded of franz-go, Sarama, aiokafka and kafkajs",
    ),
    (
        *("members[].sync_delay_us", ""),
        "assumed; members that share two cores with a broker: 1000",
    ),
    ("network.mean_us", "", ON_LOOPBACK.format(200)),
    (
        *("network.handling_us", ""),
        "assumed: each member has its own machine",
    ),
    ("broker.service_us", "", "assumed; on loopback 100 was recorded"),
    ("broker.append_us", "", "assumed: replication to brokers in other zones; alone 1000"),
    ("broker.initial_delay_ms", "", "Kafka's default"),
    ("broker.consumer_heartbeat_interval_ms", "", "Kafka's default"),
    ("broker.consumer_session_timeout_ms", "", "Kafka's default"),
    ("broker.assignment_interval_ms", "", "Kafka's default"),
    (
        *("compute_us_per_partition", ""),
        "assumed; recorded: 5 for range and 15 for cooperative-sticky",
    ),
    (
        *("has_rested", ""),
        "heartbeats drift apart within minutes",
    ),
)
"""Field, client, source."""

CLIENTS = {
    "java": timing.JAVA,
    "librdkafka": timing.LIBRDKAFKA,
    "kafka-python": timing.KAFKA_PYTHON,
    "others": timing.ON_TIME,
}


def defaults() -> Iterator[Default]:
    """Yield the table, with values as they are. Cost: O(its rows)."""
    plain = Scenario(until_ms=0, topics={}, members=(MemberConfig(name="c", topics=()),))
    parts = {
        "members[].timing": None,
        "members[]": asdict(plain.members[0]),
        "network": asdict(NetworkConfig()),
        "broker": asdict(BrokerConfig()),
        "": asdict(plain),
    }
    for path, client, source in SOURCES:
        part, _, name = path.rpartition(".")
        values = parts[part] or asdict(CLIENTS[client])
        yield Default(path, client, values[name], source)

"""Many members of one group in one process, a thread each, on librdkafka or kafka-python.

    python -m tests.lab.calibrate.programs.crowd --client librdkafka --bootstrap ... --group ...

`Crowd.java` is the same in Java, and says what goes in and comes out.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

OUT = threading.Lock()


def flags() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser()
    for name in ("client", "bootstrap", "group", "topic", "protocol", "assignor"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("heartbeat-ms", "fetch-wait-ms"):
        parser.add_argument(f"--{name}", type=int, required=True)
    return parser.parse_args()


def write(member: str, event: str, numbers: Iterable[int] = ()) -> None:
    """One line."""
    now = time.monotonic_ns()
    line = json.dumps([now, member, event, list(numbers)])
    with OUT:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def poll_s() -> float:
    """How long to poll: at even times polls would fall in step with heartbeats."""
    return random.uniform(0.05, 0.15)


def librdkafka(name: str, chosen: argparse.Namespace, stopped: threading.Event) -> None:
    """Consume until stopped, on confluent-kafka."""
    from confluent_kafka import Consumer  # noqa: PLC0415 - of this client alone

    def report(event: str) -> Callable[..., None]:
        return lambda _, partitions: write(name, event, (one.partition for one in partitions))

    settings: dict[str, Any] = {
        "bootstrap.servers": chosen.bootstrap,
        "group.id": chosen.group,
        "client.id": name,
        "enable.auto.commit": False,
        "auto.offset.reset": "latest",
        "fetch.wait.max.ms": chosen.fetch_wait_ms,
    }
    if chosen.protocol == "consumer":
        settings["group.protocol"] = "consumer"
    else:
        settings["partition.assignment.strategy"] = chosen.assignor
        settings["heartbeat.interval.ms"] = chosen.heartbeat_ms
    consumer = Consumer(settings)
    consumer.subscribe(
        [chosen.topic],
        on_assign=report("assigned"),
        on_revoke=report("revoked"),
        on_lost=report("lost"),
    )
    while not stopped.is_set():
        consumer.poll(poll_s())
    write(name, "closing")
    consumer.close()


def kafka_python(name: str, chosen: argparse.Namespace, stopped: threading.Event) -> None:
    """Consume until stopped, on kafka-python."""
    from kafka import ConsumerRebalanceListener, KafkaConsumer  # noqa: PLC0415 - as above
    from kafka.coordinator.assignors.cooperative_sticky import (  # noqa: PLC0415 - as above
        CooperativeStickyAssignor,
    )
    from kafka.coordinator.assignors.range import RangePartitionAssignor  # noqa: PLC0415

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc] # the client has no types
        def on_partitions_revoked(self, revoked: Any) -> None:
            write(name, "revoked", (one.partition for one in revoked))

        def on_partitions_assigned(self, assigned: Any) -> None:
            write(name, "assigned", (one.partition for one in assigned))

        def on_partitions_lost(self, lost: Any) -> None:
            write(name, "lost", (one.partition for one in lost))

    assignors = {
        "range": RangePartitionAssignor,
        "cooperative-sticky": CooperativeStickyAssignor,
    }
    consumer = KafkaConsumer(
        bootstrap_servers=chosen.bootstrap,
        group_id=chosen.group,
        client_id=name,
        enable_auto_commit=False,
        auto_offset_reset="latest",
        partition_assignment_strategy=[assignors[chosen.assignor]],
        session_timeout_ms=45_000,
        heartbeat_interval_ms=chosen.heartbeat_ms,
        max_poll_interval_ms=300_000,
        fetch_max_wait_ms=chosen.fetch_wait_ms,
    )
    consumer.subscribe([chosen.topic], listener=Listener())
    while not stopped.is_set():
        if consumer._coordinator._join_task is not None:
            # 3.0.12 forgets a round whose poll times out, as `kafka_python_member` says.
            consumer._coordinator.request_rejoin()
        consumer.poll(timeout_ms=poll_s() * 1000)
    write(name, "closing")
    consumer.close()


CLIENTS = {"librdkafka": librdkafka, "kafka-python": kafka_python}


def member(name: str, chosen: argparse.Namespace, stopped: threading.Event) -> None:
    """Be one member, from its constructor to the end of its close."""
    write(name, "starting")
    try:
        CLIENTS[chosen.client](name, chosen, stopped)
    except Exception as error:  # noqa: BLE001 - whatever the client lets out is the finding
        sys.stderr.write(f"{name}: {error!r}\n")
        write(name, "died")
    else:
        write(name, "closed")


def main() -> None:
    """Start and stop members until the input ends."""
    chosen = flags()
    stops: dict[str, threading.Event] = {}
    write("", "ready")
    for line in sys.stdin:
        verb, name = line.split()
        if verb == "start":
            stops[name] = threading.Event()
            arguments = (name, chosen, stops[name])
            threading.Thread(target=member, args=arguments, daemon=True).start()
        else:
            stops.pop(name).set()


if __name__ == "__main__":
    main()

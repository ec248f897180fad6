"""The command against a live cluster: its topics, its files, and its own topic of offsets."""

from __future__ import annotations

import time
import uuid

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from assignors.clients.librdkafka.settings import ClientSettings
from assignors.clients.librdkafka.topics import known_topics
from tests.cli.running import printed_rows, process
from tests.interop.broker import Broker

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def group(broker: Broker) -> tuple[str, str]:
    """A group that one librdkafka member made, with a topic of five partitions; its name too."""
    name = f"replay-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(name, 5, 1)])[name].result(30)
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": name, "client.id": "only-one"}
    )
    consumer.subscribe([name])
    until = time.monotonic() + 30
    while len(consumer.assignment()) < 5:
        assert time.monotonic() < until, "the group did not form"
        consumer.poll(0.2)
    consumer.close()
    return name, name


def test_a_cluster_says_how_many_partitions_its_topics_have(
    broker: Broker, group: tuple[str, str]
) -> None:
    known = known_topics(ClientSettings().at(broker.bootstrap))
    assert known.partition_counts[group[1]] == 5
    assert known.partition_counts["__consumer_offsets"] == 4
    assert group[1] in known.names.values()
    assert all(len(topic_id) == 22 for topic_id in known.names)


def test_a_cluster_that_is_not_there_is_one_line() -> None:
    done = process("replay", "nothing.jsonl", "--bootstrap", "127.0.0.1:1")
    assert done.returncode == 2
    assert b"127.0.0.1:1" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_brokers_own_files_with_counts_of_the_cluster(
    broker: Broker, group: tuple[str, str]
) -> None:
    folder = str(broker.folder / "data")
    found = printed_rows(
        *(folder, "--bootstrap", broker.bootstrap, "--group", group[0]),
        *("--table", "generations", "--table", "members"),
    )
    stable = [d["row"] for d in found if d["row"].get("state") == "Stable"]
    assert [row["counts_inferred"] for row in stable] == [False]
    assert stable[0]["leader_guess"] == "librdkafka"
    (member,) = [d["row"] for d in found if d["table"] == "members"]
    assert (member["client_id"], member["assigned_count"]) == ("only-one", 5)


@pytest.mark.deep  # test_offsets_topic.py asks the same of all tables
@pytest.mark.spark
@pytest.mark.slow
def test_a_live_topic_tells_what_the_brokers_files_tell(
    broker: Broker, group: tuple[str, str]
) -> None:
    tables = ("--table", "groups", "--table", "generations", "--table", "members")
    bootstrap = ("--bootstrap", broker.bootstrap, "--group", group[0])
    live = printed_rows(*bootstrap, *tables)
    files = printed_rows(str(broker.folder / "data"), *bootstrap, *tables)
    assert live == files
    assert len(live) > 3


def test_neither_a_source_nor_a_cluster_is_a_usage_error() -> None:
    done = process("replay")
    assert done.returncode == 2
    assert b"name a SOURCE" in done.stderr

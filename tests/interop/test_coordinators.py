"""Which broker coordinates a group: two real ones say it of a thousand names, and we compute it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from time import monotonic, sleep

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.find_coordinator.v4.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v4.response import FindCoordinatorResponse
from kio.schema.metadata.v12.request import MetadataRequest, MetadataRequestTopic
from kio.schema.metadata.v12.response import MetadataResponse
from kio.schema.types import TopicName
from kio.static.primitive import i8

from assignors.simulation.dice import Dice
from assignors.simulation.timed.offsets_partition import offsets_partition
from tests.interop.broker import Broker
from tests.interop.connection import Connection
from tests.interop.group import SETTLES_S

PARTITIONS = 7
"""Of the offsets topic: neither a power of two nor a multiple of the brokers."""
ON_BOTH = {
    "offsets.topic.num.partitions": f"{PARTITIONS}",
    # There is no such topic before both are there, so both lead some of it.
    "offsets.topic.replication.factor": "2",
}
LETTERS = "abcxyz019-_.~ äß漢\U0001f600\ud7ff￿"


def names() -> list[str]:
    """A thousand different names of groups: as people write them, and as they may be."""
    dice = Dice(7)
    drawn = [
        "".join(LETTERS[dice.below(len(LETTERS))] for _ in range(1 + n % 40)) for n in range(600)
    ]
    plain = [f"service-{number}" for number in range(400)]
    # Hash codes that are the smallest number of 32 bits, which has no positive counterpart.
    listed = dict.fromkeys(["polygenelubricants", *plain, *drawn])
    return [*listed, *(f"more-{number}" for number in range(1000 - len(listed)))]


@pytest.fixture(scope="module")
def brokers(built: None) -> Iterator[tuple[Broker, Broker]]:
    """Two brokers of one cluster. Each waits until the other one is there."""
    first = Broker(ON_BOTH)
    second = Broker(ON_BOTH, beside=first)
    with ExitStack() as stack, ThreadPoolExecutor(2) as together:
        started = [together.submit(each.__enter__) for each in (first, second)]
        for each, one in zip((first, second), started, strict=True):
            one.result()
            stack.push(each)
        yield first, second


@pytest.mark.deep  # two brokers more; test_real_logs.py reads where one broker writes
@pytest.mark.interop
def test_a_thousand_groups_have_the_coordinator_that_we_compute(
    brokers: tuple[Broker, Broker],
) -> None:
    groups = names()
    assert len(set(groups)) == 1000
    question = FindCoordinatorRequest(key_type=i8(0), coordinator_keys=tuple(groups))
    offsets = MetadataRequest(
        topics=(MetadataRequestTopic(topic_id=None, name=TopicName("__consumer_offsets")),),
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=False,
    )
    for broker in brokers:
        with Connection(broker.bootstrap, client_id="judge") as connection:
            answer = connection.ask(question, FindCoordinatorResponse)
            until = monotonic() + SETTLES_S
            while any(each.error_code for each in answer.coordinators) and monotonic() < until:
                sleep(0.1)  # it has not heard of each partition of the topic yet
                answer = connection.ask(question, FindCoordinatorResponse)
            metadata = connection.ask(offsets, MetadataResponse)
        (topic,) = metadata.topics
        leaders = {int(each.partition_index): int(each.leader_id) for each in topic.partitions}
        assert sorted(leaders) == [*range(PARTITIONS)]
        assert {each.error_code for each in answer.coordinators} == {ErrorCode.none}
        found = {each.key: int(each.node_id) for each in answer.coordinators}
        computed = {group: leaders[offsets_partition(group, PARTITIONS)] for group in groups}
        assert found == computed
        assert len(set(found.values())) == 2, "both coordinate"

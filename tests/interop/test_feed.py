"""The feed loses nothing on its way to the broker, or says so: what judges must not be in doubt.

Once two records were missing in a group whose members had done nothing wrong. Between feed and
broker stands a proxy here that does what a broker does that has only just made a partition: it
refuses the first request for it, and the feed learns of it while the next may be on its way.
"""

from __future__ import annotations

import importlib
import io
import socket
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from confluent_kafka import Producer
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32Timedelta, i64

from tests.interop import feed as feeds
from tests.interop.admin import Admin
from tests.interop.broker import Broker
from tests.interop.proxy import PATIENCE_S, Link, Proxy, forward

pytestmark = pytest.mark.interop

PRODUCE = 0
SENT_S = 0.3
"""More than it takes until what was written is on its way to the broker."""


class Refusing(Proxy):
    """A proxy that refuses the first request to write, in the broker's place."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = threading.Event()
        self.may_refuse = threading.Event()
        """Set where the refusal may arrive."""
        self._may_answer: dict[Link, threading.Event] = {}

    def request(self, link: Link, body: bytes) -> None:
        if int.from_bytes(body[:2], "big") != PRODUCE or self.refused.is_set():
            super().request(link, body)
            return
        may_answer = self._may_answer[link] = threading.Event()
        self.refused.set()
        threading.Thread(
            target=self._refuse_later, args=(link.client, body, may_answer), daemon=True
        ).start()

    def _refuse_later(
        self, client: socket.socket, body: bytes, may_answer: threading.Event
    ) -> None:
        self.may_refuse.wait(PATIENCE_S)
        refuse(client, body, may_answer)

    def answer(self, link: Link, body: bytes) -> None:
        if link in self._may_answer:
            self._may_answer[link].wait()
        super().answer(link, body)


def refuse(client: socket.socket, request: bytes, may_answer: threading.Event) -> None:
    """Say to a request to write that somebody else leads the partition."""
    version = int.from_bytes(request[2:4], "big")
    asked: Any = importlib.import_module(f"kio.schema.produce.v{version}.request")
    given: Any = importlib.import_module(f"kio.schema.produce.v{version}.response")
    header, at = entity_reader(asked.ProduceRequest.__header_schema__)(request, 0)
    read, _ = entity_reader(asked.ProduceRequest)(request, at)
    answer = given.ProduceResponse(
        responses=tuple(
            given.TopicProduceResponse(
                name=topic.name,
                partition_responses=tuple(
                    given.PartitionProduceResponse(
                        index=partition.index,
                        error_code=ErrorCode.not_leader_or_follower,
                        base_offset=i64(-1),
                        record_errors=(),
                    )
                    for partition in topic.partition_data
                ),
            )
            for topic in read.topic_data
        ),
        throttle_time=i32Timedelta.parse(timedelta(0)),
    )
    body = io.BytesIO()
    header_type = given.ProduceResponse.__header_schema__
    entity_writer(header_type)(body, header_type(correlation_id=header.correlation_id))
    entity_writer(given.ProduceResponse)(body, answer)
    forward(client, body.getvalue())
    may_answer.set()


@pytest.fixture
def proxy() -> Refusing:
    return Refusing()


@pytest.fixture
def broker(built: None, proxy: Refusing) -> Iterator[Broker]:
    """A broker that tells clients to come through the proxy."""
    with proxy.broker() as started:
        yield started


def test_a_first_request_that_is_refused_loses_no_record(
    broker: Broker, proxy: Refusing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With five requests in flight librdkafka 2.16.0 loses what was in the first, and calls it
    delivered: the broker takes any number for the first of a producer it does not know."""
    found, end = fed("a", broker, proxy)
    assert end == found.written["a", 0] == 4
    assert not found.failures
    monkeypatch.setattr(
        feeds,
        "Producer",
        lambda settings: Producer({**settings, "max.in.flight.requests.per.connection": 5}),
    )
    proxy.refused.clear()
    proxy.may_refuse.clear()
    found, end = fed("b", broker, proxy)
    assert end == found.written["b", 0] - 1 == 3
    assert found.failures == [f"b-0: record {one} is at offset {one - 1}" for one in (1, 2, 3)]


def fed(topic: str, broker: Broker, proxy: Refusing) -> tuple[feeds.Feed, int]:
    """A feed that wrote four records to a new topic, and how many the broker has."""
    admin = Admin(broker.bootstrap)
    admin.create_topics({topic: 1})
    feed = feeds.Feed(proxy.address, {topic: 1})
    feed.send()
    assert proxy.refused.wait(20)
    for _ in range(3):
        feed.send()
        time.sleep(SENT_S)
    proxy.may_refuse.set()
    feed.stop()
    return feed, admin.ends({topic: 1})[topic, 0]

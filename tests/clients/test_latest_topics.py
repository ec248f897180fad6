"""Clients' decoders take the topics of the Subscription before where the bytes are the same."""

from __future__ import annotations

import gc
from typing import Any

from aiokafka.coordinator.protocol import ConsumerProtocol
from hypothesis import given
from hypothesis import strategies as st
from kafka.coordinator import consumer as host
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from assignors.clients import aiokafka, kafka_python
from assignors.clients.aiokafka.decoding import DECODERS as AIOKAFKA
from assignors.clients.common.latest_topics import LatestTopics
from assignors.clients.kafka_python.decoding import DECODERS as KAFKA_PYTHON
from tests.conftest import cases
from wire import Subscription, decode_subscription, encode_subscription

names = st.sampled_from(["t", "u", "orders.v2", "", "..", "a b", "é", "x" * 250])
plain = st.builds(
    encode_subscription,
    st.builds(
        Subscription,
        topics=st.lists(names, max_size=3, unique=True).map(tuple),
        owned=st.dictionaries(names, st.lists(st.integers(0, 3), max_size=2).map(tuple)),
        generation=st.integers(-1, 3),
        user_data=st.none() | st.binary(max_size=3),
        rack_id=st.none() | st.just("r"),
        version=st.integers(0, 3),
    ),
)
blobs = st.one_of(
    plain,
    plain.map(lambda blob: b"\0\7" + blob[2:]),
    plain.map(lambda blob: b"\xff\xff" + blob[2:]),
    st.tuples(plain, st.binary(min_size=1, max_size=3)).map(b"".join),
    st.tuples(plain, st.integers(0, 60), st.integers(0, 255)).map(
        lambda parts: parts[0][: parts[1]] + bytes([parts[2]]) + parts[0][parts[1] + 1 :]
    ),
    st.tuples(plain, st.integers(1, 12)).map(lambda parts: parts[0][: -parts[1]]),
)


def fields(found: Any) -> dict[str, object]:
    """All fields of a client's object."""
    if isinstance(found, ConsumerProtocolSubscription):
        return {name: getattr(found, name) for name in ("version", *found.fields)}
    return {name: getattr(found, name) for name in ("version", "subscription", "user_data")}


def alone(decoders: Any, decoder: Any, blob: bytes) -> dict[str, object]:
    """What a decoder returns that has seen no other Subscription."""
    before, decoders.latest_topics = decoders.latest_topics, LatestTopics()
    try:
        return fields(decoder.decode(blob))
    finally:
        decoders.latest_topics = before


@cases(120)
@given(st.lists(blobs, max_size=5).flatmap(lambda few: st.permutations(few * 2)))
def test_what_was_decoded_before_changes_nothing(given_blobs: list[bytes]) -> None:
    kept = kafka_python.strategy("range"), aiokafka.strategy("range")
    for decoders, decoder, topics in (
        (KAFKA_PYTHON, host.ConsumerProtocolSubscription, "topics"),
        (AIOKAFKA, ConsumerProtocol.METADATA, "subscription"),
    ):
        for blob in given_blobs:
            found, wanted = fields(decoder.decode(blob)), alone(decoders, decoder, blob)
            if decode_subscription(blob).value is None:
                # What breaks off behind its topics has those, or none.
                assert wanted[topics] in ([], found[topics])
                found[topics] = wanted[topics]
            assert found == wanted
    assert len(kept) == 2


def test_a_list_is_known_from_the_second_subscription_on() -> None:
    latest = LatestTopics()
    one = encode_subscription(Subscription(topics=("a b", "t"), user_data=b"x"))
    other = encode_subscription(Subscription(topics=("a b", "t", "u")))
    assert latest.head(one) is None
    latest.keep(one, ("a b", "t"))
    known = (3, ["t"], len(b"\0\3\0\0\0\2\0\3a b\0\1t"))
    found = latest.head(one)
    assert found == known
    found[1].append("a client may change its list")
    assert latest.head(one) == known
    assert latest.head(other) is None
    assert latest.head(b"\0\4" + one[2:]) is None
    latest.keep(other, ("t",))
    assert latest.head(one) == known


def test_of_kafka_pythons_objects_only_the_topics_are_read_until_more_is_asked() -> None:
    kept = kafka_python.strategy("range")
    blob = encode_subscription(Subscription(topics=("a b", "t"), owned={"t": (1,)}, generation=4))
    _, found = [host.ConsumerProtocolSubscription.decode(blob) for _ in range(2)]
    assert type(found) is not ConsumerProtocolSubscription
    assert found == found  # noqa: PLR0124 - reads every field
    assert type(found) is ConsumerProtocolSubscription
    wanted = ConsumerProtocolSubscription.decode(blob)
    wanted.topics = ["t"]
    assert (found, repr(found), found.encode()) == (wanted, repr(wanted), wanted.encode())
    assert kept.name == "range"
    assert KAFKA_PYTHON.latest_topics.head(blob) is not None
    del kept
    gc.collect()
    assert KAFKA_PYTHON.latest_topics.head(blob) is None

"""What is written is read back the same, by us and by an independent codec (kio)."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wire
from tests.wire.vectors import captured
from wire import (
    CooperativeUserData,
    Decoded,
    ErrorKind,
    MemberAssignment,
    Mode,
    StickyUserData,
    Subscription,
    TopicPartitions,
    WireError,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
    encode_assignment,
    encode_cooperative_user_data,
    encode_sticky_user_data,
    encode_subscription,
)
from wire.protocol.capacity import capacity_bytes
from wire.text import utf16_key

INT32 = st.integers(-(2**31), 2**31 - 1)
TOPICS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PARTITIONS = st.dictionaries(TOPICS, st.lists(INT32, min_size=1, max_size=6).map(tuple), max_size=5)
USER_DATA = st.none() | st.binary(max_size=20)


@st.composite
def subscriptions(draw: st.DrawFn) -> Subscription:
    """Subscriptions that carry only what their version can."""
    version = draw(st.integers(0, 3))
    return Subscription(
        version=version,
        topics=tuple(draw(st.lists(TOPICS, max_size=5))),
        user_data=draw(USER_DATA),
        owned=draw(PARTITIONS) if version >= 1 else {},
        owned_known=version >= 1,
        generation=draw(st.integers(-1, 2**31 - 1)) if version >= 2 else -1,
        rack_id=draw(st.none() | TOPICS.filter(bool)) if version >= 3 else None,
    )


def canonical(partitions: TopicPartitions) -> dict[str, tuple[int, ...]]:
    return {topic: tuple(sorted(partitions[topic])) for topic in sorted(partitions, key=utf16_key)}


@given(subscription=subscriptions(), mode=st.sampled_from(Mode))
def test_a_subscription_comes_back_sorted(subscription: Subscription, mode: Mode) -> None:
    decoded = decode_subscription(encode_subscription(subscription), mode=mode)
    value = decoded.require()
    assert list(value.topics) == sorted(subscription.topics, key=utf16_key)
    assert list(value.owned.items()) == list(canonical(subscription.owned).items())
    for name in ("version", "user_data", "owned_known", "generation", "rack_id"):
        assert getattr(value, name) == getattr(subscription, name), name
    assert encode_subscription(value) == encode_subscription(subscription)


@given(partitions=PARTITIONS, user_data=USER_DATA, version=st.integers(0, 3))
def test_an_assignment_comes_back_in_the_order_asked_for(
    partitions: TopicPartitions, user_data: bytes | None, version: int
) -> None:
    kept = encode_assignment(partitions, user_data=user_data, version=version, keep_order=True)
    value = decode_assignment(kept, mode=Mode.STRICT).require()
    assert list(value.partitions.items()) == list(partitions.items())
    assert (value.user_data, value.version) == (user_data, version)
    tidy = decode_assignment(encode_assignment(partitions), mode=Mode.STRICT).require()
    assert list(tidy.partitions.items()) == list(canonical(partitions).items())


@given(owned=PARTITIONS, generation=INT32)
def test_sticky_user_data_comes_back_in_every_place_it_is_written(
    owned: TopicPartitions, generation: int
) -> None:
    blob = encode_sticky_user_data(owned, generation)
    read = decode_sticky_user_data(blob).require()
    assert (dict(read.owned), read.generation) == (canonical(owned), generation)
    without_generation = decode_sticky_user_data(blob[:-4]).require()
    assert (dict(without_generation.owned), without_generation.generation) == (
        canonical(owned),
        None,
    )
    under_cooperative = decode_cooperative_user_data(blob).require()
    assert under_cooperative.generation == generation
    assert under_cooperative.owned == canonical(owned)
    prefixed = decode_sticky_user_data(b"\x00\x01" + blob)
    assert prefixed.require() == read
    assert prefixed.notes[0].code == "int16-prefix"


@given(generation=INT32)
def test_a_cooperative_generation_is_four_bytes(generation: int) -> None:
    blob = encode_cooperative_user_data(generation)
    assert len(blob) == 4
    assert decode_cooperative_user_data(blob).require().generation == generation


@given(subscription=subscriptions())
def test_another_codec_reads_and_writes_the_same_subscriptions(subscription: Subscription) -> None:
    kio = import_module("kio.serial")
    schema = import_module(
        f"kio.schema.consumer_protocol_subscription.v{subscription.version}.data"
    )
    blob = encode_subscription(subscription)
    entity, _ = kio.entity_reader(schema.ConsumerProtocolSubscription)(blob, 2)
    assert [str(topic) for topic in entity.topics] == sorted(subscription.topics, key=utf16_key)
    assert entity.user_data == subscription.user_data
    if subscription.version >= 1:
        owned = {str(group.topic): tuple(group.partitions) for group in entity.owned_partitions}
        assert owned == canonical(subscription.owned)
    assert decode_subscription(rewritten(kio, entity, subscription.version)).require() == (
        decode_subscription(blob).require()
    )


@given(partitions=PARTITIONS, user_data=USER_DATA, version=st.integers(0, 3))
def test_another_codec_reads_and_writes_the_same_assignments(
    partitions: TopicPartitions, user_data: bytes | None, version: int
) -> None:
    kio = import_module("kio.serial")
    schema = import_module(f"kio.schema.consumer_protocol_assignment.v{version}.data")
    blob = encode_assignment(partitions, user_data=user_data, version=version)
    entity, _ = kio.entity_reader(schema.ConsumerProtocolAssignment)(blob, 2)
    read = {str(group.topic): tuple(group.partitions) for group in entity.assigned_partitions}
    assert read == canonical(partitions)
    assert rewritten(kio, entity, version) == blob


PAIRS: dict[str, tuple[Callable[..., bytes], Callable[..., Decoded[Any]]]] = {
    "subscription": (encode_subscription, decode_subscription),
    "assignment": (encode_assignment, decode_assignment),
    "sticky-userdata": (encode_sticky_user_data, decode_sticky_user_data),
    "cooperative-userdata": (encode_cooperative_user_data, decode_cooperative_user_data),
}


def test_the_pairs_are_all_that_wire_exports() -> None:
    named = {name.partition("_")[2] for name in wire.__all__ if name.startswith("encode_")}
    assert {encode.__name__ for encode, _ in PAIRS.values()} == {f"encode_{one}" for one in named}
    assert {decode.__name__ for _, decode in PAIRS.values()} == {f"decode_{one}" for one in named}


@pytest.mark.parametrize("kind", PAIRS)
def test_what_is_decoded_of_a_client_can_be_encoded(kind: str) -> None:
    """Bytes of real clients, oddities included, and what they hold with a capacity behind it."""
    encode, decode = PAIRS[kind]
    own = "assignment" if kind == "assignment" else "subscription"
    blobs = [bytes.fromhex(case["hex"]) for case in captured(own)]
    if own != kind:
        said = {decode_subscription(blob).require().user_data or b"" for blob in blobs}
        blobs = [blob + tail for blob in said for tail in (b"", capacity_bytes(4))]
    values = [value for value in (decode(blob).value for blob in blobs) if value is not None]
    assert len(values) > 3
    for given_value in values:
        read, value = decode(encode(given_value)).require(), given_value
        if isinstance(value, CooperativeUserData) and value.generation is None:
            value = replace(value, generation=-1)  # zero bytes: four are written
        for name in ("version", "generation", "user_data", "capacity", "rack_id"):
            assert getattr(read, name, None) == getattr(value, name, None)
        assert set(getattr(read, "topics", ())) == set(getattr(value, "topics", ()))
        for name in ("partitions", "owned"):
            assert canonical(getattr(read, name, {}) or {}) == canonical(
                getattr(value, name, {}) or {}
            )


@given(generation=st.none() | INT32, owned=PARTITIONS, capacity=st.none() | st.integers(1, 9))
def test_user_data_that_was_decoded_is_written_as_it_was(
    generation: int | None, owned: TopicPartitions, capacity: int | None
) -> None:
    sticky = encode_sticky_user_data(owned, generation, capacity=capacity)
    assert encode_sticky_user_data(decode_sticky_user_data(sticky).require()) == sticky
    cooperative = encode_cooperative_user_data(generation, capacity=capacity)
    assert encode_cooperative_user_data(CooperativeUserData(owned={})) == b"\xff" * 4
    for blob in (sticky, cooperative):
        if blob == bytes(4):
            continue  # generation 0, or the sticky layout without any
        assert encode_cooperative_user_data(decode_cooperative_user_data(blob).require()) == blob


def test_a_value_of_its_own_is_not_given_twice() -> None:
    with pytest.raises(ValueError, match="of its own"):
        encode_assignment(MemberAssignment(), version=1)
    with pytest.raises(ValueError, match="of its own"):
        encode_assignment(MemberAssignment(), user_data=b"")
    with pytest.raises(ValueError, match="of its own"):
        encode_sticky_user_data(StickyUserData(), 3)
    with pytest.raises(ValueError, match="of its own"):
        encode_cooperative_user_data(CooperativeUserData(), capacity=3)


def rewritten(kio: Any, entity: Any, version: int) -> bytes:
    """The entity as kio writes it, behind the version prefix that kio leaves to its caller."""
    buffer = io.BytesIO()
    kio.entity_writer(type(entity))(buffer, entity)
    return struct.pack(">h", version) + buffer.getvalue()


ONE_NAME: Any = "orders"
"""To Python six topics, a letter each."""

UNWRITABLE = [
    (lambda: encode_subscription(Subscription(version=-1)), ErrorKind.UNKNOWN_VERSION),
    (lambda: encode_assignment({}, version=-1), ErrorKind.UNKNOWN_VERSION),
    (lambda: encode_subscription(Subscription(topics=("t" * 32768,))), ErrorKind.UNWRITABLE),
    (lambda: encode_subscription(Subscription(generation=2**31)), ErrorKind.UNWRITABLE),
    (lambda: encode_subscription(Subscription(topics=ONE_NAME)), ErrorKind.UNWRITABLE),
    (lambda: encode_assignment({"t": (2**31,)}), ErrorKind.UNWRITABLE),
    (lambda: encode_cooperative_user_data(2**31), ErrorKind.UNWRITABLE),
]


@pytest.mark.parametrize(("write", "kind"), UNWRITABLE)
def test_what_cannot_be_written_is_refused_by_kind(write: Any, kind: ErrorKind) -> None:
    with pytest.raises(WireError) as caught:
        write()
    assert caught.value.kind is kind
    assert "byte 0" in str(caught.value)


def test_a_version_above_3_is_written_as_3() -> None:
    assert encode_subscription(Subscription(version=9)) == encode_subscription(Subscription())

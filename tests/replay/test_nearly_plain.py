"""Bytes that are plain but for one thing: read in columns they must not be.

Each is put among plain ones, alone and in number, as columns are read in step only where many
are; the codecs of `wire`, which take one at a time, say what it is.
"""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

from assignors.arrow.codecs import decoded_assignments, decoded_subscriptions
from assignors.replay.decode.consumer_columns import assignment_columns, subscription_columns
from tests.replay.decoded_rows import GROUP_KEY, Pair, decoded, expected

PLAIN_COUNT = 20


def subscription(
    *,
    version: int = 3,
    count: int = 1,
    topic: bytes = b"t",
    user_data: bytes = b"\xff\xff\xff\xff",
    owned_count: int = 1,
    number_count: int = 1,
    number: int = 0,
    generation: int = 5,
    rack: bytes = b"\xff\xff",
) -> bytes:
    """A Subscription of one topic, any of whose fields may lie."""
    asked = struct.pack(">hih", version, count, len(topic)) + topic
    owned = struct.pack(">ih", owned_count, len(topic)) + topic
    numbers = struct.pack(">ii", number_count, number)
    return asked + user_data + owned + numbers + struct.pack(">i", generation) + rack


def assignment(
    *,
    version: int = 1,
    count: int = 1,
    topic: bytes = b"t",
    number_count: int = 1,
    number: int = 0,
    user_data: bytes = b"\xff\xff\xff\xff",
) -> bytes:
    """An Assignment of one topic, any of whose fields may lie."""
    head = struct.pack(">hih", version, count, len(topic)) + topic
    return head + struct.pack(">ii", number_count, number) + user_data


def misleading() -> bytes:
    """An Assignment of two topics, the second of which reads as UserData to the end as well."""
    numbers = bytes(4 * 23_806)
    second = struct.pack(">h1si", 1, b"t", 23_806) + numbers + struct.pack(">i", 1) + b"u"
    assert len(second) - 4 == 0x17400 == struct.unpack_from(">i", second)[0]
    return struct.pack(">hih1sii", 1, 2, 1, b"s", 1, 0) + second


def group(
    *,
    version: int = 3,
    protocol: bytes = b"\0\1p",
    leader: bytes = b"\xff\xff",
    count: int = 1,
    instance: bytes = b"\xff\xff",
    client: bytes = b"\0\1c",
    blob: bytes = b"\0\0\0\1b",
    has_member: bool = True,
) -> bytes:
    """A classic group of one member, any of whose fields may lie."""
    head = struct.pack(">hh8si", version, 8, b"consumer", 7) + protocol + leader
    member = b"\0\1m" + instance + client + b"\0\1h" + struct.pack(">ii", 1, 2) + blob + blob
    return head + struct.pack(">qi", 9, count) + member * has_member


NULLABLE = (b"\xff\xff", b"\xff\xfe", b"\x80\0", b"\0\0", b"\0\2", b"\0\1\xff")
GROUPS = [
    *(group(version=version) for version in (-1, 0, 1, 2, 4, 99)),
    *(group(count=count) for count in (-2, -1, 0, 2, 1 << 30)),
    *(group(protocol=text) for text in NULLABLE),
    *(group(leader=text) for text in NULLABLE),
    *(group(instance=text) for text in NULLABLE),
    *(group(client=text) for text in NULLABLE),
    *(group(blob=blob) for blob in (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\1\0b")),
    *(group(count=count, has_member=False) for count in (-2, -1, 0, 1)),
    group() + b"\0",
    group()[:-1],
    b"",
]
SUBSCRIPTIONS = [
    *(subscription(version=version) for version in (-1, 0, 1, 2, 4, 99)),
    *(subscription(count=count) for count in (-2, -1, 0, 2, 1 << 30)),
    *(subscription(owned_count=count) for count in (-2, -1, 0, 2, 1 << 30)),
    *(subscription(number_count=count) for count in (-2, -1, 0, 2, 1 << 30)),
    *(subscription(number=number) for number in (-1, -(1 << 31), (1 << 31) - 1)),
    *(subscription(generation=generation) for generation in (-1, -2, -(1 << 31))),
    *(subscription(rack=rack) for rack in (b"\0\1r", b"\0\0", b"\0\1\xff", b"\xff\xfe", b"\0\2r")),
    *(subscription(topic=topic) for topic in (b"", b"\xc3\xa9", b"\xc3")),
    *(subscription(user_data=data) for data in (b"\0\0\0\1u", b"\0\0\0\0", b"\xff\xff\xff\xfe")),
    subscription(version=1, rack=b"")[:-4],
    subscription(version=2, rack=b""),
    subscription() + b"\0",
    subscription()[:-1],
]
ASSIGNMENTS = [
    *(assignment(version=version) for version in (-1, 0, 2, 3, 4, 99)),
    *(assignment(count=count) for count in (-2, -1, 0, 2, 1 << 30)),
    *(assignment(number_count=count) for count in (-2, -1, 0, 2, 1 << 30)),
    *(assignment(number=number) for number in (-1, -(1 << 31), (1 << 31) - 1)),
    *(assignment(topic=topic) for topic in (b"", b"\xc3\xa9", b"\xc3")),
    *(assignment(user_data=data) for data in (b"\0\0\0\1u", b"\0\0\0\0", b"\xff\xff\xff\xfe")),
    assignment(count=0)[:6] + b"\xff\xff\xff\xff",
    assignment(count=-1)[:6] + b"\xff\xff\xff\xff",
    assignment() + b"\0",
    assignment()[:-1],
    misleading(),
]


@pytest.mark.parametrize("times", [1, PLAIN_COUNT])
@pytest.mark.parametrize("number", range(len(SUBSCRIPTIONS)))
def test_a_subscription_is_what_its_codec_says(number: int, times: int) -> None:
    plain = [subscription(number=n) for n in range(PLAIN_COUNT)]
    column = pa.array([*plain, *[SUBSCRIPTIONS[number]] * times])
    assert subscription_columns(column).equals(decoded_subscriptions(column))


@pytest.mark.parametrize("times", [1, PLAIN_COUNT])
@pytest.mark.parametrize("number", range(len(ASSIGNMENTS)))
def test_an_assignment_is_what_its_codec_says(number: int, times: int) -> None:
    plain = [assignment(number=n) for n in range(PLAIN_COUNT)]
    column = pa.array([*plain, *[ASSIGNMENTS[number]] * times])
    assert assignment_columns(column).equals(decoded_assignments(column))


@pytest.mark.parametrize("times", [1, PLAIN_COUNT])
@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_a_group_is_what_its_record_says(number: int, times: int) -> None:
    values = [
        *[group(blob=b"\0\0\0\1%c" % n) for n in range(PLAIN_COUNT)],
        *[GROUPS[number]] * times,
    ]
    pairs: list[Pair] = [(GROUP_KEY, value) for value in values]
    assert decoded(pairs) == [expected(key, value) for key, value in pairs]


@pytest.mark.parametrize("pair", [(None, group()), (GROUP_KEY, None), (GROUP_KEY[:-1], group())])
def test_a_group_without_key_or_value_is_what_its_record_says(pair: Pair) -> None:
    pairs: list[Pair] = [*[(GROUP_KEY, group())] * PLAIN_COUNT, pair]
    assert decoded(pairs) == [expected(key, value) for key, value in pairs]

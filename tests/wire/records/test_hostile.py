"""No bytes make the reader raise, need memory they do not hold, or take more than linear time."""

from __future__ import annotations

import struct
import time
import tracemalloc
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.records.values import VERSIONS, random_key, random_value, spoiled
from wire import ErrorKind
from wire.layout.writing import varint_bytes
from wire.records import Record, RecordType, decode_record, encode_key, encode_value, record_json

dice = st.randoms(use_true_random=False)
every_version = pytest.mark.parametrize(
    ("found", "version"), VERSIONS, ids=[f"{found.name} v{version}" for found, version in VERSIONS]
)


def never_raises(key: bytes, value: bytes | None) -> Record:
    record = decode_record(key, value)
    assert (record.key_bytes, record.value_bytes) == (key, value)
    if record.error is None:
        assert record.key is not None
        assert record.is_tombstone == (record.value is None)
    else:
        place = value if record.key is not None else key
        assert place is not None
        assert 0 <= record.error.offset <= len(place)
        assert str(record.error).startswith(("key: ", "value: "))
    for note in record.notes:
        place = key if note.text.startswith("key: ") else value
        assert place is not None
        assert 0 <= note.offset <= len(place)
    record_json(record)
    return record


@given(key=st.binary(max_size=40), value=st.none() | st.binary(max_size=60))
def test_noise_gives_a_record_or_its_error(key: bytes, value: bytes | None) -> None:
    never_raises(key, value)


@every_version
@given(dice=dice)
def test_spoiled_records_give_a_record_or_its_error(
    found: RecordType, version: int, dice: Random
) -> None:
    key = encode_key(found.name, random_key(dice, found))
    value = encode_value(found.name, version, random_value(dice, found, version))
    never_raises(spoiled(dice, key), spoiled(dice, value))


@every_version
def test_a_record_cut_at_any_byte_is_refused_with_a_place_inside(
    found: RecordType, version: int
) -> None:
    dice = Random(version)
    for _ in range(3):
        key = encode_key(found.name, random_key(dice, found))
        value = encode_value(found.name, version, random_value(dice, found, version))
        for end in range(len(key)):
            error = never_raises(key[:end], value).error
            assert error is not None
            assert error.kind in {ErrorKind.TRUNCATED, ErrorKind.BAD_LENGTH}
            assert error.offset <= end
        for end in range(len(value)):
            error = never_raises(key, value[:end]).error
            assert error is not None
            assert error.kind in {ErrorKind.TRUNCATED, ErrorKind.BAD_LENGTH}
            assert error.offset <= end


def classic(size: int) -> tuple[str, bytes]:
    """A group of members that say nothing: 24 bytes each."""
    count = size // 24
    head = struct.pack(">hhihhi", 0, 0, 0, -1, -1, count)
    return "GROUP_METADATA", head + bytes(18 * count)


def endless_members(size: int) -> tuple[str, bytes]:
    return "GROUP_METADATA", struct.pack(">hhihhi", 0, 0, 0, -1, -1, 2**31 - 1) + bytes(size)


def strings(size: int) -> tuple[str, bytes]:
    """Empty topic names, a byte each."""
    count = min(size, 1_000_000)
    body = varint_bytes(count + 1) + b"\1" * count + bytes(17)
    return "CONSUMER_GROUP_REGULAR_EXPRESSION", b"\0\0" + body


def copartitions(size: int) -> tuple[str, bytes]:
    """Structs of three empty arrays and no tag: 4 bytes each."""
    count = size // 4
    head = b"\0\0\0\0\0\0\2\1" + b"\1" * 5 + varint_bytes(count + 1)
    return "STREAMS_GROUP_TOPOLOGY", head + b"\1\1\1\0" * count + b"\0\0"


def numbers(size: int) -> tuple[str, bytes]:
    count = size // 4
    body = b"\2" + bytes(16) + varint_bytes(count + 1) + bytes(4 * count) + b"\0\0"
    return "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER", b"\0\0" + body


def endless_numbers(size: int) -> tuple[str, bytes]:
    body = b"\2" + bytes(16) + varint_bytes(2**31) + bytes(size)
    return "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER", b"\0\0" + body


def unknown_tags(size: int) -> tuple[str, bytes]:
    count = min(size // 3, 10_000)
    tag = b"\5" + varint_bytes(size // count) + bytes(size // count)
    return "CONSUMER_GROUP_METADATA", bytes(6) + varint_bytes(count) + tag * count


def broken_text(size: int) -> tuple[str, bytes]:
    """Topic names of ED A0 over and over, which Java's reading has a rule for."""
    count = size // 101
    body = varint_bytes(count + 1) + (b"\x65" + b"\xed\xa0" * 50) * count + bytes(17)
    return "CONSUMER_GROUP_REGULAR_EXPRESSION", b"\0\0" + body


HOSTILE: list[Callable[[int], tuple[str, bytes]]] = [
    classic,
    endless_members,
    strings,
    copartitions,
    numbers,
    endless_numbers,
    unknown_tags,
    broken_text,
]
every_shape = pytest.mark.parametrize("shape", HOSTILE, ids=lambda shape: shape.__name__)
KEYS = {
    "GROUP_METADATA": {"group": "g"},
    "CONSUMER_GROUP_REGULAR_EXPRESSION": {"groupId": "g", "regularExpression": "r"},
    "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER": {"groupId": "g", "memberId": "m"},
}


def read(shape: Callable[[int], tuple[str, bytes]], size: int) -> Record:
    name, value = shape(size)
    return decode_record(encode_key(name, KEYS.get(name, {"groupId": "g"})), value)


@every_shape
def test_the_shapes_are_what_they_say(shape: Callable[[int], tuple[str, bytes]]) -> None:
    record = read(shape, 2_000)
    assert (record.error is not None) == shape.__name__.startswith("endless")


@every_shape
def test_memory_is_bounded_by_the_bytes(shape: Callable[[int], tuple[str, bytes]]) -> None:
    size = 1 << 15
    tracemalloc.start()
    record = read(shape, size)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A dict of three lists out of four bytes is the worst there is.
    assert peak < (4 if shape.__name__.startswith("endless") else 150) * size
    del record


@every_shape
def test_time_is_linear_in_the_bytes(shape: Callable[[int], tuple[str, bytes]]) -> None:
    def seconds(size: int) -> float:
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            read(shape, size)
            best = min(best, time.process_time() - start)
        return best

    small, large = seconds(1 << 13), seconds(1 << 16)
    # Eight times the bytes; quadratic would be sixty-four times.
    assert large < 32 * small + 0.02

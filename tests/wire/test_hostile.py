"""No bytes make a decoder raise, need much memory, or grow faster than their length."""

from __future__ import annotations

import struct
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.vectors import captured
from wire import (
    Decoded,
    Mode,
    NoteCode,
    WireError,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
)
from wire.layout.fields import compact_length

Decoder = Callable[..., Decoded[Any]]

DECODERS: list[Decoder] = [
    decode_subscription,
    decode_assignment,
    decode_sticky_user_data,
    decode_cooperative_user_data,
]

MESSAGES = DECODERS[:2]
"""Whose end is known: UserData without its generation is a layout of its own."""

MEGABYTE = 1 << 20


def group(topic: bytes, numbers: int = 1) -> bytes:
    return (
        struct.pack(">h", len(topic))
        + topic
        + struct.pack(f">{numbers + 1}i", *[numbers] * (numbers + 1))
    )


def subscription_with(groups: int, body: bytes) -> bytes:
    return bytes.fromhex("000300000000ffffffff") + struct.pack(">i", groups) + body


def repeated(size: int) -> bytes:
    one = group(b"t")
    count = size // len(one)
    return subscription_with(count, one * count)


def empty_groups(size: int) -> bytes:
    return subscription_with(size // 6, bytes(size // 6 * 6))


def distinct(size: int) -> bytes:
    count = size // 12
    return subscription_with(count, b"".join(group(b"%06x" % i, 0) for i in range(count)))


def tiny_topics(size: int) -> bytes:
    count = size // 4
    names = b"".join(b"\x00\x02" + chr(0x100 + i % 1700).encode() for i in range(count))
    return bytes.fromhex("0003") + struct.pack(">i", count) + names


def broken_topics(size: int) -> bytes:
    count = size // 3
    return bytes.fromhex("0003") + struct.pack(">i", count) + b"\x00\x01\xff" * count


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "0xff": lambda size: b"\xff" * size,
    "zero bytes": bytes,
    "repeated topic groups": repeated,
    "distinct topics without partitions": distinct,
    "tiny topics": tiny_topics,
    "topics of invalid UTF-8": broken_topics,
    "endless topics": lambda size: bytes.fromhex("00037fffffff") + bytes(size),
    "endless groups": lambda size: subscription_with(2**31 - 1, group(b"t") * (size // 11)),
    "endless partitions": lambda size: subscription_with(
        1, b"\x00\x01t\x7f\xff\xff\xff" + bytes(size)
    ),
    "user data as groups": lambda size: repeated(size)[10:],
    "user data with a prefix": lambda size: b"\x00\x01" + repeated(size)[10:] + b"\x00\x00\x00\x01",
}

hostile = pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
every_decoder = pytest.mark.parametrize("decode", DECODERS, ids=lambda d: d.__name__)
every_mode = pytest.mark.parametrize("mode", list(Mode), ids=str)


def never_raises(decode: Decoder, blob: bytes, mode: Mode) -> Decoded[Any]:
    decoded = decode(blob, mode=mode)
    assert (decoded.value is None) == (decoded.error is not None)
    assert all(0 <= note.offset <= len(blob) for note in decoded.notes)
    if decoded.error is not None:
        assert 0 <= decoded.error.offset <= len(blob)
        with pytest.raises(WireError):
            decoded.require()
    if mode is Mode.TOLERANT:
        assert decoded.value is not None or len(blob) < 2
    return decoded


@every_decoder
@every_mode
@given(blob=st.binary(max_size=200))
def test_any_bytes_give_a_value_or_an_error_with_its_place(
    decode: Decoder, mode: Mode, blob: bytes
) -> None:
    never_raises(decode, blob, mode)


def counts() -> st.SearchStrategy[bytes]:
    """Pieces that look like the protocol, so that random bytes get past the first field."""
    pieces = st.sampled_from([-1, 0, 1, 2, 3, 2**31 - 1, -(2**31)]).map(
        lambda n: struct.pack(">i", n)
    )
    names = st.sampled_from([b"", b"t", b"\xff", b"topic"]).map(
        lambda n: struct.pack(">h", len(n)) + n
    )
    return st.lists(pieces | names | st.binary(max_size=6), max_size=14).map(b"".join)


@every_decoder
@every_mode
@given(version=st.integers(-1, 5), body=counts())
def test_bytes_that_look_like_the_protocol_never_raise(
    decode: Decoder, mode: Mode, version: int, body: bytes
) -> None:
    never_raises(decode, struct.pack(">h", version) + body, mode)
    never_raises(decode, body, mode)


@every_mode
def test_every_truncation_of_every_captured_blob_is_read_or_refused(mode: Mode) -> None:
    blobs = {
        (decode, bytes.fromhex(case["hex"]))
        for kind, decode in (
            ("subscription", decode_subscription),
            ("assignment", decode_assignment),
            ("userdata", decode_sticky_user_data),
            ("userdata", decode_cooperative_user_data),
        )
        for case in captured(kind)
    }
    assert len(blobs) > 900
    for decode, blob in blobs:
        for end in range(len(blob)):
            cut = never_raises(decode, blob[:end], mode)
            if mode is Mode.TOLERANT and end >= 2 and decode in MESSAGES:
                assert cut.notes, "a cut message must say so"


@hostile
@every_decoder
@every_mode
def test_memory_stays_below_64_times_the_input(
    decode: Decoder, mode: Mode, make: Callable[[int], bytes]
) -> None:
    blob = make(MEGABYTE // 8)
    tracemalloc.start()
    try:
        never_raises(decode, blob, mode)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 64 * len(blob) + MEGABYTE


def seconds(decode: Decoder, blob: bytes, mode: Mode, repetitions: int) -> float:
    """Of processor time, the least."""
    best = float("inf")
    for _ in range(repetitions):
        start = time.process_time()
        decode(blob, mode=mode)
        best = min(best, time.process_time() - start)
    return best


@hostile
@every_decoder
@every_mode
def test_twice_the_bytes_take_at_most_two_and_a_half_times_as_long(
    decode: Decoder, mode: Mode, make: Callable[[int], bytes]
) -> None:
    # A few bytes more can turn what was refused at once into a message that is read, so the
    # yardstick is at least that of well-formed bytes of half the length.
    half, whole = make(MEGABYTE // 4), make(MEGABYTE // 2)
    plain = empty_groups(MEGABYTE // 4)
    for repetitions in (1, 3, 3, 9):  # a busy machine may spoil a measurement, not four of them
        base = max(
            seconds(decode, half, mode, repetitions),
            seconds(decode_subscription, plain, mode, repetitions),
        )
        double = seconds(decode, whole, mode, repetitions)
        if double <= 2.5 * base:
            return
    pytest.fail(f"{base:.4f} s for half, {double:.4f} s for the whole")


def test_a_list_above_kafkas_limit_is_noted_and_in_strict_mode_refused() -> None:
    """Kafka 4.4 reads at most a million elements, however many bytes there are."""
    none = b"\xff\xff\xff\xff"
    for count, is_odd in ((1_000_000, False), (1_000_001, True)):
        numbers = b"\0\0\0\1" + b"\0\1t" + struct.pack(">i", count) + bytes(4 * count)
        blob = b"\0\0" + numbers + none
        read = decode_assignment(blob)
        assert read.value is not None
        assert len(read.value.partitions["t"]) == count
        assert [note.code for note in read.notes] == [NoteCode.COUNT_ABOVE_LIMIT] * is_odd
        assert (decode_assignment(blob, mode=Mode.STRICT).error is not None) == is_odd


def test_a_length_that_looks_negative_is_null_and_never_stepped_over() -> None:
    """Read without its sign, 0x8001 would end exactly where the bytes end."""
    long = b"x" * 0x8001
    read = decode_assignment(b"\0\0\0\0\0\1\x80\1" + long + b"\0\0\0\1\0\0\0\7\xff\xff\xff\xff")
    assert read.value is not None
    assert "x" not in "".join(read.value.partitions)
    said = decode_subscription(b"\0\0\0\0\0\1\x80\1" + long + b"\xff\xff\xff\xff")
    assert said.value is not None
    assert said.value.topics == ("",)
    assert {note.code for note in said.notes} >= {NoteCode.TOPIC_NULL}


@pytest.mark.parametrize("decode", DECODERS)
def test_text_is_refused_with_what_reads_it(decode: Decoder) -> None:
    with pytest.raises(TypeError, match=r"expected bytes, found str; bytes\.fromhex"):
        decode("0001")
    with pytest.raises(TypeError, match=r"expected bytes, found int$"):
        decode(4)
    assert decode(bytearray(b"\0\0")) == decode(memoryview(b"\0\0")) == decode(b"\0\0")


def test_the_least_compact_length_is_the_greatest_as_in_java() -> None:
    assert compact_length(b"\x80\x80\x80\x80\x08", 0, "text") == (2**31 - 1, 5)
    assert compact_length(b"\x81\x80\x80\x80\x08", 0, "text") == (-(2**31), 5)

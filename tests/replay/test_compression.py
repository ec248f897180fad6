"""The codecs of Kafka's producers: what was packed comes back, and lies are stopped."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.sources.compression import decompress
from tests.replay.segments import (
    PAIRS,
    Batch,
    chained,
    pairs_of,
    read,
    written,
)
from wire.errors import WireError
from wire.log.batch import Compression


def compressed(compression: Compression, plain: bytes) -> bytes:
    if compression is Compression.GZIP:
        return gzip.compress(plain)
    if compression is Compression.SNAPPY:
        block: bytes = pa.compress(plain, codec="snappy", asbytes=True)
        return b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, len(block)) + block
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, compression.name.lower()) as stream:
        stream.write(plain)
    data: bytes = sink.getvalue().to_pybytes()
    return data


CODECS = [codec for codec in Compression if codec is not Compression.NONE]


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_that_unpacks_to_too_much_is_stopped(codec: Compression, tmp_path: Path) -> None:
    bomb = compressed(codec, bytes(30_000_000))
    lying = Batch(base_offset=2, payload=bomb, attributes=codec, record_count=1)
    last = Batch(base_offset=3, pairs=PAIRS[1])
    place = written(tmp_path, [chained(PAIRS)[0], lying, last])
    found, errors = read(place, plain_max=1_000_000)
    assert pairs_of(found) == [*PAIRS[0], *PAIRS[1]]
    assert len(errors) == 1
    begins = len(chained(PAIRS)[0].data())
    assert f"at byte {begins}" in errors[0]
    assert "become more than 1000000" in errors[0]


@pytest.mark.parametrize("codec", CODECS)
@given(st.binary(max_size=5000), st.data())
def test_packed_bytes_come_back_and_broken_ones_are_an_error(
    codec: Compression, plain: bytes, data: st.DataObject
) -> None:
    packed = compressed(codec, plain)
    assert decompress(codec, packed) == plain
    cut = packed[: data.draw(st.integers(0, len(packed)))]
    broken = bytearray(packed)
    broken[data.draw(st.integers(0, len(packed) - 1))] ^= data.draw(st.integers(1, 255))
    for odd in (cut, bytes(broken)):
        try:
            assert len(decompress(codec, odd, plain_max=100_000)) <= 100_000
        except WireError as error:
            assert codec.name.lower() in error.text  # noqa: PT017 - either way is right


def test_what_is_not_packed_comes_back_as_it_is() -> None:
    assert decompress(Compression.NONE, b"plain") == b"plain"


def test_snappy_without_javas_blocks_is_read_too() -> None:
    """librdkafka and Go write one block, and no header in front of it."""
    block: bytes = pa.compress(b"records", codec="snappy", asbytes=True)
    assert decompress(Compression.SNAPPY, block) == b"records"
    with pytest.raises(WireError, match="become more than 6"):
        decompress(Compression.SNAPPY, block, plain_max=6)


@pytest.mark.parametrize("length", [-1, 100])
def test_a_snappy_block_that_is_not_there_is_an_error(length: int) -> None:
    data = b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, length) + b"short"
    with pytest.raises(WireError, match=f"a block of {length} bytes in 5"):
        decompress(Compression.SNAPPY, data)


def test_a_snappy_block_that_claims_gigabytes_is_refused_unread() -> None:
    with pytest.raises(WireError, match="7 bytes become more than"):
        decompress(Compression.SNAPPY, b"\xff\xff\xff\xff\x0f" + b"ab")

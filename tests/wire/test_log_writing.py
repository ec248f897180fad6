"""Record batches as we write them: read back as they were, and as the tests have them by hand."""

from __future__ import annotations

from io import BytesIO

from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from tests.replay import segments
from wire.log.batch import Batch, Compression, read_records
from wire.log.segment import read_batches
from wire.log.writing import Entry, batch_bytes

blobs = st.none() | st.binary(max_size=200)
entries = st.lists(st.tuples(st.integers(0, 2**50), blobs, blobs), min_size=1, max_size=20)


def plain(compression: Compression, data: bytes) -> bytes:
    raise AssertionError(compression, data)


@given(st.lists(entries, min_size=1, max_size=4), st.integers(0, 2**40))
def test_batches_are_read_back_as_they_were_written(
    batches: list[list[Entry]], base_offset: int
) -> None:
    data, offset, expected = b"", base_offset, []
    for batch in batches:
        data += batch_bytes(offset, batch, checksum=crc32c)
        expected += [(offset + number, *entry) for number, entry in enumerate(batch)]
        offset += len(batch)
    found = list(read_batches(BytesIO(data), checksum=crc32c))
    assert all(isinstance(each, Batch) for each in found)
    read = [row for each in found if isinstance(each, Batch) for row in read_records(each, plain)]
    assert read == expected


@given(st.lists(st.tuples(blobs, blobs), min_size=1, max_size=9))
def test_records_are_those_of_a_writer_made_from_the_documentation(
    pairs: list[segments.Pair],
) -> None:
    batch = [(segments.FIRST_MS + number, *pair) for number, pair in enumerate(pairs)]
    (found,) = read_batches(BytesIO(batch_bytes(0, batch, checksum=crc32c)), checksum=crc32c)
    assert isinstance(found, Batch)
    assert found.payload == segments.records(pairs)
    assert (found.producer_id, found.is_transactional, found.is_control) == (-1, False, False)

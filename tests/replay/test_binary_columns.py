"""Many byte strings read at once, against slices and `struct`, one at a time."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.decode.binary_columns import bytes_of, expanded, nulled, offsets_of

columns = st.lists(st.none() | st.binary(max_size=12), max_size=8)


@given(columns, st.data())
def test_numbers_are_what_stands_at_their_places_even_in_a_slice(
    blobs: list[bytes | None], data: st.DataObject
) -> None:
    whole = pa.array([b"before", *blobs, b"behind, and long enough"], pa.binary())
    sliced = bytes_of(whole.slice(1, len(blobs)))
    assert sliced.is_valid.tolist() == [blob is not None for blob in blobs]
    found = [
        bytes(sliced.raw[start:end]) for start, end in zip(sliced.start, sliced.end, strict=True)
    ]
    assert found == [blob or b"" for blob in blobs]
    raw = bytes(sliced.raw)
    at = np.array(data.draw(st.lists(st.integers(0, len(raw) - 8), max_size=5)), np.int64)
    for form, read in (
        (">B", sliced.uint8),
        (">h", sliced.int16),
        (">i", sliced.int32),
        (">q", sliced.int64),
    ):
        assert read(at).tolist() == [struct.unpack_from(form, raw, place)[0] for place in at]


@given(st.lists(st.binary(max_size=3), max_size=3), st.lists(st.integers(-(1 << 40), 1 << 40)))
def test_a_place_far_outside_gives_some_number_and_no_error(
    blobs: list[bytes], places: list[int]
) -> None:
    found = bytes_of(pa.array(blobs, pa.binary()))
    at = np.array(places, np.int64)
    for read in (found.uint8, found.int16, found.int32, found.int64):
        assert len(read(at)) == len(places)
    last = np.array([len(found.raw)])
    assert found.int64(last) == found.int64(last - 8)
    assert found.uint8(last) == found.uint8(last - 1)


@given(st.binary(min_size=16, max_size=60), st.data())
def test_ranges_are_slices(whole: bytes, data: st.DataObject) -> None:
    found = bytes_of(pa.array([whole], pa.binary()))
    ends = st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole))).map(sorted)
    cuts = data.draw(st.lists(ends, max_size=6))
    start = np.array([first for first, _ in cuts], np.int64)
    length = np.array([last - first for first, last in cuts], np.int64)
    expect = [whole[first:last] for first, last in cuts]
    texts, is_bad = found.strings(start, length)
    for place, blob in enumerate(expect):
        try:
            text = blob.decode()
        except UnicodeDecodeError:
            assert is_bad[place]
        else:
            assert not is_bad[place]
            assert texts[place].as_py() == text
    is_there = np.array([last % 2 == 0 for _, last in cuts], np.bool_)
    inside = np.minimum(start, len(whole) - 3)
    fixed = found.fixed(inside, 3, is_there).to_pylist()
    assert fixed == [
        whole[first : first + 3] if there else None
        for first, there in zip(inside.tolist(), is_there, strict=True)
    ]


@given(st.lists(st.sampled_from([0, 1, 2, None]), max_size=9))
def test_parts_are_put_where_their_rows_are(owner: list[int | None]) -> None:
    names = [f"{part}-{row}" for row, part in enumerate(owner)]
    rows = [
        np.array([row for row, part in enumerate(owner) if part == n], np.int64) for n in range(3)
    ]
    parts = [pa.array([names[row] for row in chosen], pa.string()) for chosen in rows]
    found = expanded(parts, rows, len(owner))
    assert found.to_pylist() == [
        None if part is None else name for name, part in zip(names, owner, strict=True)
    ]


def test_nothing_is_copied_where_there_is_nothing_to_do() -> None:
    column = pa.array(["a", "b"])
    assert expanded([column], [np.arange(2)], 2) is column
    assert nulled(column, np.zeros(2, np.bool_)) is column
    assert nulled(column, np.array([True, False])).to_pylist() == [None, "b"]
    assert offsets_of(np.array([2, 0, 1])).to_pylist() == [0, 2, 2, 3]


def test_an_empty_column_may_lack_its_first_offset() -> None:
    """Arrow's IPC format allows it."""
    nothing = pa.py_buffer(b"")
    bare = pa.Array.from_buffers(pa.binary(), 0, [None, nothing, nothing])
    found = bytes_of(bare)
    assert (len(found.start), len(found.end), len(found.is_valid)) == (0, 0, 0)

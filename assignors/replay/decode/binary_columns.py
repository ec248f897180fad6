"""Binary Arrow columns: numbers and texts read from all rows at once, and columns put together.

An Arrow column of bytes is one buffer and the places where each row begins. Reading a field of
every row is then one look-up with an array of positions. A position may be nonsense, as it
comes from lengths in the bytes: reads are clipped to the buffer, and the caller keeps a mask
of the rows whose positions stayed inside their own bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Index: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]

_PADDING = 16
"""Buffers shorter than the longest number that is read are padded to this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bytes:
    """The rows of a binary column: one buffer, and where each row starts and ends in it."""

    raw: npt.NDArray[np.uint8]
    start: Index
    end: Index
    is_valid: Mask
    """False where the row is null; then start and end mean nothing."""

    def rows(self, chosen: Index | Mask) -> Bytes:
        """Return some of the rows, over the same buffer."""
        return Bytes(
            raw=self.raw,
            start=self.start[chosen],
            end=self.end[chosen],
            is_valid=self.is_valid[chosen],
        )

    def uint8(self, at: Index) -> npt.NDArray[np.int64]:
        """Return the byte at each position."""
        return self.raw[np.clip(at, 0, len(self.raw) - 1)].astype(np.int64)

    def int16(self, at: Index) -> npt.NDArray[np.int64]:
        """Return the big-endian int16 at each position."""
        return self._read(">i2", at).astype(np.int64)

    def int32(self, at: Index) -> npt.NDArray[np.int32]:
        """Return the big-endian int32 at each position."""
        return self._read(">i4", at).astype(np.int32)

    def int64(self, at: Index) -> npt.NDArray[np.int64]:
        """Return the big-endian int64 at each position."""
        return self._read(">i8", at).astype(np.int64)

    def fixed(self, at: Index, width: int, is_there: Mask) -> pa.FixedSizeBinaryArray:
        """Return `width` bytes from each position, null where `is_there` is not set."""
        joined = self._read(f"V{width}", at)
        validity = pa.py_buffer(np.packbits(is_there, bitorder="little"))
        buffers = [validity, pa.py_buffer(joined.tobytes())]
        return pa.Array.from_buffers(pa.binary(width), len(at), buffers)

    def gather(self, start: Index, length: Index) -> tuple[npt.NDArray[np.uint8], Index]:
        """Return the bytes of each range, joined, and int64[N + 1] where each begins.

        Every range must lie in the buffer. Cost: linear in the bytes.
        """
        offsets = np.zeros(len(length) + 1, np.int64)
        np.cumsum(length, out=offsets[1:])
        total = int(offsets[-1])
        places = np.arange(total, dtype=np.int32)
        places += np.repeat((start - offsets[:-1]).astype(np.int32), length)
        return self.raw[places], offsets

    def strings(self, start: Index, length: Index) -> tuple[pa.StringArray, Mask]:
        """Return each range as text, and which of them are no UTF-8 and must not be used."""
        joined, offsets = self.gather(start, length)
        column = _column(pa.string(), joined, offsets)
        is_bad = np.zeros(len(length), np.bool_)
        if (joined >= 0x80).any():
            try:
                column.validate(full=True)
            except pa.ArrowInvalid:
                blobs = _column(pa.binary(), joined, offsets).to_pylist()
                is_bad[:] = [not _is_text(blob) for blob in blobs]
        return column, is_bad

    def _read(self, dtype: str, at: Index) -> npt.NDArray[Any]:
        width = np.dtype(dtype).itemsize
        count = len(self.raw) - width + 1
        view: npt.NDArray[Any] = np.ndarray((count,), dtype, self.raw, strides=(1,))
        return view[np.clip(at, 0, count - 1)]


def bytes_of(column: pa.Array) -> Bytes:
    """Return a binary column as positions in its own buffer; nothing is copied.

    >>> bytes_of(pa.array([b"ab", None, b"c"])).end.tolist()
    [2, 2, 3]
    """
    assert pa.types.is_binary(column.type), "sources give bytes"
    _, offsets, data = column.buffers()
    if not len(column):  # then a writer may leave out even the first offset
        places = np.zeros(1, np.int64)
    else:
        window = slice(column.offset, column.offset + len(column) + 1)
        places = np.frombuffer(offsets, np.int32)[window].astype(np.int64)
    raw = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    if len(raw) < _PADDING:
        raw = np.concatenate([raw, np.zeros(_PADDING, np.uint8)])
    is_valid = column.is_valid().to_numpy(zero_copy_only=False)
    return Bytes(raw=raw, start=places[:-1], end=places[1:], is_valid=is_valid)


def expanded(parts: Sequence[pa.Array], rows: Sequence[Index], row_count: int) -> pa.Array:
    """Return one column in which row `rows[i][j]` is element j of part i; the others are null.

    Cost: linear; nothing is copied where a single part holds every row in order.
    """
    if len(parts) == 1 and len(parts[0]) == row_count:
        return parts[0]
    places = np.full(row_count, -1, np.int64)
    first = 0
    for part, chosen in zip(parts, rows, strict=True):
        places[chosen] = np.arange(first, first + len(part))
        first += len(part)
    return pa.concat_arrays(list(parts)).take(pa.array(places, mask=places < 0))


def nulls(count: int, kind: pa.DataType) -> pa.Array:
    """Return a column of nulls with nothing in its lists.

    `pa.nulls` gives a list as many elements as there are rows, and what is deep then takes
    hundreds of bytes a row on its way to Spark.

    >>> column = nulls(3, pa.list_(pa.string()))
    >>> column.null_count, len(column.values)
    (3, 0)
    """
    if not pa.types.is_nested(kind):
        return pa.nulls(count, kind)
    validity = pa.py_buffer(bytes(-(-count // 8)))
    if pa.types.is_struct(kind):
        inner = [nulls(count, field.type) for field in kind]
        return pa.Array.from_buffers(kind, count, [validity], count, children=inner)
    offsets = pa.py_buffer(bytes(4 * (count + 1)))
    inner = [nulls(0, kind.value_type)]
    return pa.Array.from_buffers(kind, count, [validity, offsets], count, children=inner)


def nulled(column: pa.Array, is_null: Mask) -> pa.Array:
    """Return a column of bytes or text with some rows made null; nothing is copied."""
    if not is_null.any():
        return column
    validity = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    return pa.Array.from_buffers(column.type, len(column), [validity, *column.buffers()[1:]])


def offsets_of(counts: Index) -> pa.Array:
    """Return where each list begins and the last ends, from how many elements each has."""
    return pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())


def _is_text(blob: bytes) -> bool:
    try:
        blob.decode()
    except UnicodeDecodeError:
        return False
    return True


def _column(kind: pa.DataType, joined: npt.NDArray[np.uint8], offsets: Index) -> pa.Array:
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(joined)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)

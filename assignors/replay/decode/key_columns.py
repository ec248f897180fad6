"""What every key of `__consumer_offsets` begins with: the type of its record, and its group.

A key begins with two bytes of type, two of length and the group's name, whatever comes behind.
So both are read for all keys at once, those of unknown types and damaged ones included.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assignors.replay.decode.binary_columns import Bytes, Index, bytes_of, expanded, nulled
from wire.text import replaced_utf8

KEY = pa.struct([("type", pa.int32()), ("group", pa.string())])
"""The start of a key; a field is null where the key is too short to have it."""


def key_columns(keys: pa.Array) -> pa.Array:
    """Return `KEY` of each key, a binary column. Cost: linear in the bytes.

    A name that is no UTF-8 is the text that Java, and so `decode_records`, makes of it.

    >>> key_columns(pa.array([bytes.fromhex("0002000167"), b"", None])).to_pylist()
    [{'type': 2, 'group': 'g'}, {'type': None, 'group': None}, {'type': None, 'group': None}]
    """
    blobs = bytes_of(keys if pa.types.is_binary(keys.type) else keys.cast(pa.binary()))
    has_type = blobs.is_valid & (blobs.end - blobs.start >= 2)
    types = pa.array(blobs.int16(blobs.start), pa.int32(), mask=~has_type)
    at, length = blobs.start + 4, blobs.int16(blobs.start + 2)
    has_group = blobs.is_valid & (length >= 0) & (at + length <= blobs.end)
    groups = _texts(blobs, at, np.where(has_group, length, 0))
    return pa.StructArray.from_arrays([types, nulled(groups, ~has_group)], fields=list(KEY))


def _texts(blobs: Bytes, at: Index, length: Index) -> pa.StringArray:
    texts, is_bad = blobs.strings(at, length)
    if not is_bad.any():
        return texts
    good, bad = np.flatnonzero(~is_bad), np.flatnonzero(is_bad)
    damaged = [blobs.raw[at[row] : at[row] + length[row]].tobytes() for row in bad]
    replaced = pa.array([replaced_utf8(data) for data in damaged], pa.string())
    return expanded([texts.take(pa.array(good)), replaced], [good, bad], len(texts))

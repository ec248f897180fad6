"""Columns of bytes in Arrow."""

from __future__ import annotations

import pyarrow as pa

from assignors.arrow.codecs import (
    decoded_assignments,
    decoded_cooperative_user_data,
    decoded_sticky_user_data,
)


def test_a_blob_that_holds_nothing_has_its_error_beside_it() -> None:
    blobs = pa.array([b"", None, bytes.fromhex("000100000000ffffffff")], pa.binary())
    empty, null, good = decoded_assignments(blobs).to_pylist()
    assert null is None
    assert (empty["version"], good["version"], good["error"]) == (None, 1, None)
    assert "byte 0" in empty["error"]
    assert [note["code"] for note in empty["notes"]] == ["empty-blob"]
    (sticky,) = decoded_sticky_user_data(pa.array([b"\xff" * 4])).to_pylist()
    (cooperative,) = decoded_cooperative_user_data(pa.array([b"\0\0\0\7"])).to_pylist()
    assert (sticky["generation"], cooperative["generation"]) == (None, 7)

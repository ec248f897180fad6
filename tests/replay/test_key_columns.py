"""What every key begins with, read for all at once and one by one."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.decode.key_columns import KEY, key_columns
from wire.records import decode_record
from wire.text import replaced_utf8

DAMAGED = (
    b"g\xff",
    b"g\xed\xa0\x80",
    b"\xed\xbf\xed\xa0\x80",
    b"\xf0\x90\x8f",
    b"\xce\xda\xed\xa0",
)

names = st.one_of(
    st.binary(max_size=9), st.text(max_size=5).map(str.encode), st.sampled_from(DAMAGED)
)


def start_of(key: bytes | None) -> dict[str, object]:
    """The slow way: byte by byte."""
    if key is None or len(key) < 2:
        return {"type": None, "group": None}
    number = int.from_bytes(key[:2], "big", signed=True)
    length = int.from_bytes(key[2:4], "big", signed=True) if len(key) >= 4 else -1
    name = key[4 : 4 + length]
    if length < 0 or len(name) < length:
        return {"type": number, "group": None}
    return {"type": number, "group": replaced_utf8(name)}


@st.composite
def keys(draw: st.DrawFn) -> bytes | None:
    """Keys: whole, with something behind the name, cut anywhere, and none."""
    name = draw(names)
    length = draw(st.sampled_from([len(name), len(name), len(name) + 1, -1, 32767]))
    number = draw(st.sampled_from([0, 1, 2, 3, 9, -1, 32767]))
    whole = number.to_bytes(2, "big", signed=True) + length.to_bytes(2, "big", signed=True) + name
    whole += draw(st.binary(max_size=4))
    return draw(st.sampled_from([whole, whole, whole[: draw(st.integers(0, len(whole)))], None]))


@given(st.lists(keys(), max_size=12), st.integers(0, 3))
def test_keys_are_read_at_once_as_one_by_one(listed: list[bytes | None], first: int) -> None:
    column = pa.array(listed, pa.binary())[first:]
    assert key_columns(column).to_pylist() == [start_of(key) for key in listed[first:]]
    assert key_columns(column).type == KEY


@pytest.mark.parametrize("name", DAMAGED)
def test_a_name_that_is_no_utf8_is_the_text_of_its_decoded_record(name: bytes) -> None:
    key = b"\0\x02" + len(name).to_bytes(2, "big") + name
    (start,) = key_columns(pa.array([key])).to_pylist()
    decoded = decode_record(key, None)
    assert decoded.key is not None
    assert start == {"type": decoded.type, "group": decoded.key["group"]}


def test_keys_of_large_columns_are_read_too() -> None:
    column = pa.array([b"\0\x02\0\x01g"], pa.large_binary())
    assert key_columns(column).to_pylist() == [{"type": 2, "group": "g"}]

"""Racks of one length are read at once, and whatever else there is as one by one."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from assignors.group_bytes import fields
from assignors.group_bytes.subscriptions import read_members
from tests.group_bytes.test_subscriptions import one_by_one, subscription


def in_rack(rack_id: str | None, owned: tuple[int, ...] = (1,)) -> bytes:
    return subscription(owned={"a": owned}, user_data=b"\0\0\0\7", generation=4, rack_id=rack_id)


@pytest.mark.parametrize(
    "odd",
    [
        in_rack("r1", owned=(1, 2)),
        in_rack("r10"),
        in_rack(None),
        in_rack(""),
        in_rack("r1")[:-2] + b"\xff1",  # no text
        in_rack("r1")[:-4] + b"\0\3r1",  # a rack that ends behind the bytes
        in_rack("r1") + b"\0",
        in_rack("r1")[:-8] + b"\xff\xff\xff\xf0\0\2r1",  # generation
        in_rack("\0\1r"),
        in_rack("r" * 70),
        b"",
    ],
)
@pytest.mark.parametrize("place", [0, 20])
def test_one_odd_rack_among_others_is_noticed(odd: bytes, place: int) -> None:
    blobs = {f"m{number:02}": in_rack(f"r{number % 3}") for number in range(60)}
    with patch.object(fields, "_fields", wraps=fields._fields) as of_any_layout:
        assert read_members(blobs) == one_by_one(blobs)
        assert of_any_layout.call_count == 0
    blobs[f"m{place:02}"] = odd
    assert read_members(blobs) == one_by_one(blobs)


@pytest.mark.parametrize("rack_id", ["\0\1r", "\0\2\0\1", "r" * 64, "r" * 70, "é", "\0"])
def test_racks_of_any_length_and_bytes_are_read(rack_id: str) -> None:
    names = [rack_id, rack_id[::-1], rack_id]
    blobs = {f"m{number:02}": in_rack(names[number % 3]) for number in range(60)}
    assert read_members(blobs) == one_by_one(blobs)

"""UserData of any length is read together with the other fields, and never beyond its bytes."""

from __future__ import annotations

from assignors.group_bytes.members import ReadMembers
from assignors.group_bytes.subscriptions import read_members
from tests.group_bytes.test_subscriptions import one_by_one, subscription
from wire import encode_sticky_user_data


def test_user_data_of_different_lengths_is_read_at_once() -> None:
    data = [None, b"\0\0\0\7", encode_sticky_user_data({"a": (0,)}, 4), b"\0\0\0\7" * 90]
    blobs = {
        f"m{number:02}": subscription(
            user_data=data[number % 4], owned={"a": (number,)}, generation=4
        )
        for number in range(60)
    }
    read = read_members(blobs)
    assert read == one_by_one(blobs)
    assert isinstance(read, ReadMembers)
    assert read.arrays.everybodys_user_data() == data * 15
    for length in (1 << 16, (1 << 31) - 1):
        far = blobs["m02"].replace(b"\0\0\0\x13", length.to_bytes(4, "big"))
        assert far != blobs["m02"]
        other = blobs | {"m02": far, "m59": far}
        assert read_members(other) == one_by_one(other)

"""Racks of one length are read at once, and whatever else there is as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from assignors import Cluster, Group, Topic
from assignors.group_bytes.subscriptions import read_members
from assignors.problem import problem_of
from tests.group_bytes.test_subscriptions import one_by_one, subscription


def in_rack(rack_id: str | None, owned: tuple[int, ...] = (1,)) -> bytes:
    return subscription(owned={"a": owned}, user_data=b"\0\0\0\7", generation=4, rack_id=rack_id)


RACK_BEFORE_MORE = in_rack("r9") + b"\0"
"""Bytes that are read alone."""


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
    assert read_members(blobs) == one_by_one(blobs)
    blobs[f"m{place:02}"] = odd
    assert read_members(blobs) == one_by_one(blobs)


@pytest.mark.parametrize("rack_id", ["\0\1r", "\0\2\0\1", "r" * 64, "r" * 70, "é", "\0"])
def test_racks_of_any_length_and_bytes_are_read(rack_id: str) -> None:
    names = [rack_id, rack_id[::-1], rack_id]
    blobs = {f"m{number:02}": in_rack(names[number % 3]) for number in range(60)}
    assert read_members(blobs) == one_by_one(blobs)


@pytest.mark.parametrize("odd", [None, in_rack(""), RACK_BEFORE_MORE])
def test_racks_of_arrays_are_those_of_members_in_any_order(odd: bytes | None) -> None:
    """A rack that no replica has, members without one, an empty one and one that is read alone."""
    racks = ["r2", None, "r1", "r7"]
    ids = [f"m{number * 7 % 60:02}" for number in range(60)]
    blobs = {each: in_rack(racks[place % 4]) for place, each in enumerate(ids)}
    if odd is not None:
        blobs["m30"] = odd
    topic = Topic(partition_count=3, racks=(("r1", "r2"), ("r9",), ()))
    read = read_members(blobs)
    by_arrays, by_members = (
        problem_of(Group(cluster=Cluster(topics={"a": topic}), members=members))
        for members in (read, tuple(read))
    )
    for name in ("rack", "replica_set", "replica_racks"):
        assert np.array_equal(getattr(by_arrays, name), getattr(by_members, name))
    assert by_arrays.rack is not None
    assert len(set(by_arrays.rack.tolist())) == (5 if odd == RACK_BEFORE_MORE else 4)

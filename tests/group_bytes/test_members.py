"""The arrays of members that were read together are those of the members one by one."""

from __future__ import annotations

import pickle
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assignors import Cluster, Topic, UserData
from assignors.claims import Claims, claims_of
from assignors.group_bytes.members import ReadMembers
from assignors.group_bytes.subscriptions import read_members
from assignors.model import Group
from assignors.problem import Int32, problem_of
from tests.group_bytes.blobs import CLUSTERS
from tests.group_bytes.test_subscriptions import (
    GROUPS,
    always_together,
    one_by_one,
    subscription,
)
from wire import encode_sticky_user_data

TRAILING = subscription(owned={"c": (0,)}, rack_id="r1") + b"\0"
"""Read alone, with a topic that nobody subscribes to and a rack."""
SEVEN = b"\0\0\0\7"
TWO = Topic(partition_count=2)
OTHER = subscription(topics=("c",), owned={"d": (1,)}, generation=9)
SEVENTH = subscription(user_data=SEVEN, generation=4, rack_id="")


def shown(value: object) -> dict[str, object]:
    """The fields of a dataclass, arrays as lists with their type."""
    every = {field.name: getattr(value, field.name) for field in fields(value)}  # type: ignore[arg-type]
    return {
        name: (item.tolist(), item.dtype) if isinstance(item, np.ndarray) else item
        for name, item in every.items()
    }


def shown_claims(claims: Claims[Int32]) -> dict[str, object]:
    return shown(claims) | {"generation": list(claims.generation)}


@given(
    GROUPS,
    CLUSTERS,
    st.sampled_from((None, 3, 4, 5)),
    st.sampled_from((UserData.STICKY, UserData.COOPERATIVE, UserData.COOPERATIVE)),
)
@example(
    {"m0": TRAILING, "m1": OTHER, "m2": OTHER, "m3": TRAILING, "m4": TRAILING},
    Cluster(topics={"a": Topic(partition_count=2, racks=(("r1",), ()))}),
    4,
    UserData.COOPERATIVE,
)
@example(
    {"m0": subscription(user_data=SEVEN, generation=4), "m1": subscription(user_data=SEVEN)},
    Cluster.of({}),
    None,
    UserData.COOPERATIVE,
)
def test_members_read_together_give_the_same_arrays_and_notes(
    given_blobs: dict[str, bytes], cluster: Cluster, generation: int | None, kind: UserData
) -> None:
    # Members do not come in the order of their ids.
    blobs = {f"m{number * 3 % 5}": blob for number, blob in enumerate(given_blobs.values())}
    with always_together():
        together = Group(cluster=cluster, members=read_members(blobs), generation=generation)
    alone = Group(cluster=cluster, members=one_by_one(blobs), generation=generation)
    problem, expected = problem_of(together), problem_of(alone)
    assert shown(problem) == shown(expected)
    claims = claims_of(problem, together, kind)
    assert shown_claims(claims) == shown_claims(claims_of(expected, alone, kind))


@pytest.mark.parametrize("kind", [UserData.STICKY, UserData.COOPERATIVE])
def test_user_data_in_every_layout_gives_the_claims_of_the_reader_in_wire(kind: UserData) -> None:
    whole = encode_sticky_user_data({"a": (0, 1), "gone": (2,)}, 4)
    layouts = [
        *(None, whole, whole[:-4], whole + b"\0", whole[:-1], whole[:-4] + b"\0\0"),
        *(whole[:-4] + b"\xff\xff\xff\0", b"\0\1" + whole, b"\0\0\0\7", b"\xff" * 4),
        *(bytes(4), bytes(8), encode_sticky_user_data({"a": (3, 3)}, 9)),
        whole.replace(b"\0\4gone", b"\0\4go\xffe"),
    ]
    plain = [subscription(user_data=layouts[1]) for _ in range(40)]
    layouts += [b"", b"", b"\xff\xff\xff\0", b"\0\0\0\4"]
    odd = [
        subscription(user_data=data, owned={"b": (1,)}, version=version, rack_id="r1")
        for data in layouts
        for version in (1, 3)
    ]
    named = {f"m{number * 7 % 97:02}": blob for number, blob in enumerate([*plain, *odd])}
    for generation in (None, 4):
        with always_together():
            members = read_members(named)
        racks = (("r1",), ("r2",), ())
        cluster = Cluster(topics={"a": Topic(partition_count=3, racks=racks), "b": TWO})
        together = Group(cluster=cluster, members=members, generation=generation)
        alone = Group(cluster=cluster, members=one_by_one(named), generation=generation)
        problem, expected = problem_of(together), problem_of(alone)
        assert shown(problem) == shown(expected)
        claims = claims_of(problem, together, kind)
        assert shown_claims(claims) == shown_claims(claims_of(expected, alone, kind))


def test_members_read_together_can_be_pickled() -> None:
    blobs = {f"m{number}": (OTHER, SEVENTH)[number % 2] for number in range(60)}
    group = Group(cluster=Cluster.of({"c": 2}), members=read_members(blobs))
    assert isinstance(group.members, ReadMembers)
    problem = pickle.loads(pickle.dumps(problem_of(group)))  # noqa: S301 - our own bytes
    assert shown(problem) == shown(problem_of(group))
    assert hash(problem.members) == hash(problem_of(group).members)

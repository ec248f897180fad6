"""Columns of groups in Arrow: members as bytes or as structs, bad rows beside good ones."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from assignors.arrow.groups import assigned_groups, checked_groups
from wire import Subscription, encode_cooperative_user_data, encode_subscription

OWNED = [{"topic": "t", "partitions": [0, 1, 2, 3]}]
AS_STRUCTS: list[dict[str, Any]] = [
    {"id": "a", "topics": ["t"], "owned": OWNED, "generation": 4, "rack": None},
    {"id": "b", "topics": ["t"], "owned": [], "generation": None, "rack": None},
]
AS_BYTES: list[dict[str, Any]] = [
    {
        "id": "a",
        "instance": None,
        "subscription": encode_subscription(
            Subscription(topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=4)
        ),
    },
    {"id": "b", "instance": None, "subscription": encode_subscription(Subscription(topics=("t",)))},
]


def assigned(topics: Any, members: Any, name: str = "cooperative-sticky") -> dict[str, Any]:
    columns = pa.array([topics]), pa.array([members]), pa.array([name])
    answers: list[dict[str, Any]] = assigned_groups(*columns).to_pylist()
    return answers[0]


def test_members_as_structs_and_as_bytes_get_the_same() -> None:
    topics = [{"name": "t", "partitions": 4}]
    answer = assigned(topics, AS_STRUCTS)
    assert answer == assigned(topics, AS_BYTES)
    assert answer["withheld"] == [{"topic": "t", "partitions": [2, 3]}]
    assert (answer["follow_up"], answer["error"]) == (False, None)


def test_user_data_of_a_struct_is_bytes() -> None:
    member = {**AS_STRUCTS[0], "generation": -1, "user_data": encode_cooperative_user_data(9)}
    rival = {**AS_STRUCTS[1], "owned": OWNED, "generation": 8, "user_data": None}
    answer = assigned([{"name": "t", "partitions": 4}], [member, rival])
    (given, *_) = answer["assignment"]
    assert given == {"member": "a", "partitions": [{"topic": "t", "partitions": [0, 1]}]}


def test_an_error_stays_in_its_row() -> None:
    topics = pa.array([[{"name": "t", "partitions": count}] for count in (4, -1, 4)])
    members = pa.array([AS_STRUCTS, AS_STRUCTS, None])
    names = pa.array(["sticky"] * 3)
    answers = assigned_groups(topics, members, names).to_pylist()
    assert [answer["error"] is None for answer in answers] == [True, False, False]
    checked = checked_groups(
        topics,
        members,
        pa.array([answers[0]["assignment"]] * 3),
        pa.array(["eager", "eager", "nonsense"]),
    ).to_pylist()
    assert [row["error"] is None for row in checked] == [True, False, False]
    assert checked[0]["violations"] == []

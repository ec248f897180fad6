"""Columns of groups in Arrow: members as bytes or as structs, bad rows beside good ones."""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa
import pytest

from assignors.arrow.groups import assigned_groups, checked_groups
from assignors.documents.groups import group_from_document
from assignors.documents.values import DocumentError
from assignors.group_bytes.subscriptions import member_from_bytes
from assignors.model import Cluster, Group
from assignors.registry import assignor_named
from wire import (
    Subscription,
    encode_cooperative_user_data,
    encode_sticky_user_data,
    encode_subscription,
)

OWNED = [{"topic": "t", "partitions": [0, 1, 2, 3]}]
AS_STRUCTS: list[dict[str, Any]] = [
    {"id": "a", "topics": ["t"], "owned": OWNED, "generation": 4, "rack_id": None},
    {"id": "b", "topics": ["t"], "owned": [], "generation": None, "rack_id": None},
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


@pytest.mark.parametrize("name", ["cooperative-sticky", "sticky", "range", "java/sticky"])
def test_a_large_group_is_assigned_as_its_members_one_by_one(name: str) -> None:
    topics = ("t", "u", "v")
    blobs = {
        f"m{position:02d}": encode_subscription(
            Subscription(
                version=position % 4,
                topics=topics[position % 2 :],
                owned={"u": (position,), "v": (position, 99)},
                generation=3 + position % 2,
                user_data=encode_sticky_user_data({"u": (position,)}, 3),
            )
        )
        for position in range(40)
    }
    blobs |= {"odd": b"", "cut": blobs["m03"][:-3], "longer": blobs["m07"] + b"\0"}
    instance_ids = {"m05": "i5", "odd": "i"}
    cluster = {"t": 50, "u": 30, "v": 20}
    members = tuple(
        member_from_bytes(member_id, blob, instance_id=instance_ids.get(member_id))
        for member_id, blob in blobs.items()
    )
    one_by_one = assignor_named(name).assign(Group(cluster=Cluster.of(cluster), members=members))
    answer = assigned(
        [{"name": topic, "partitions": count} for topic, count in cluster.items()],
        [
            {"id": m, "instance": instance_ids.get(m), "subscription": blob}
            for m, blob in blobs.items()
        ],
        name,
    )
    assert answer["error"] is None
    assert {
        entry["member"]: {p["topic"]: tuple(p["partitions"]) for p in entry["partitions"]}
        for entry in answer["assignment"]
    } == dict(one_by_one.assignment)
    assert answer["notes"] == [f"{n.member_id}: {n.code}: {n.text}" for n in one_by_one.notes]
    assert answer["follow_up"] == one_by_one.follow_up


def test_user_data_of_a_struct_is_bytes() -> None:
    member = {**AS_STRUCTS[0], "generation": -1, "user_data": encode_cooperative_user_data(9)}
    rival = {**AS_STRUCTS[1], "owned": OWNED, "generation": 8, "user_data": None}
    answer = assigned([{"name": "t", "partitions": 4}], [member, rival])
    (given, *_) = answer["assignment"]
    assert given == {"member": "a", "partitions": [{"topic": "t", "partitions": [0, 1]}]}


def checked(
    members: Any, assignment: Any, protocol: str | None, withheld: Any = None
) -> dict[str, Any]:
    columns = [[{"name": "t", "partitions": 4}]], [members], [assignment], [protocol]
    waiting = [] if withheld is None else [pa.array([withheld])]
    reports: list[dict[str, Any]] = checked_groups(*map(pa.array, columns), *waiting).to_pylist()
    return reports[0]


def rules(report: dict[str, Any]) -> list[str]:
    return [violation["rule"] for violation in report["violations"]]


def test_an_error_stays_in_its_row() -> None:
    topics = pa.array([[{"name": "t", "partitions": count}] for count in (4, -1, 4)])
    members = pa.array([AS_STRUCTS, AS_STRUCTS, None])
    names = pa.array(["sticky"] * 3)
    answers = assigned_groups(topics, members, names).to_pylist()
    assert [answer["error"] is None for answer in answers] == [True, False, False]
    reports = checked_groups(
        topics,
        members,
        pa.array([answers[0]["assignment"]] * 3),
        pa.array(["eager", "eager", "nonsense"]),
    ).to_pylist()
    assert [row["error"] is None for row in reports] == [True, False, False]
    assert reports[0]["violations"] == []


def test_a_cooperative_answer_is_right_together_with_what_it_withholds() -> None:
    answer = assigned([{"name": "t", "partitions": 4}], AS_STRUCTS)
    given, withheld = answer["assignment"], answer["withheld"]
    assert rules(checked(AS_STRUCTS, given, "cooperative", withheld)) == []
    assert rules(checked(AS_STRUCTS, given, "cooperative")) == ["unassigned"] * 2
    assert rules(checked(AS_STRUCTS, given, "eager", withheld)) == ["withheld-without-reason"] * 2


def test_a_check_has_the_spread_of_topics_beside_the_least() -> None:
    topics = [{"name": "t", "partitions": 2}, {"name": "u", "partitions": 2}]
    members = [{"id": name, "topics": ["t", "u"]} for name in "ab"]
    uneven = [
        {"member": "a", "partitions": [{"topic": "t", "partitions": [0, 1]}]},
        {"member": "b", "partitions": [{"topic": "u", "partitions": [0, 1]}]},
    ]
    columns = [topics], [members], [uneven], ["eager"]
    (found,) = checked_groups(*map(pa.array, columns)).to_pylist()
    assert (found["violations"], found["balance_gap"], found["error"]) == ([], 0, None)
    assert (found["topic_spread"], found["topic_spread_minimum"]) == (8, 4)


def test_why_claims_are_not_known_is_in_the_notes_of_a_check() -> None:
    silent = [{"id": "a", "subscription": bytes.fromhex("000000000001000174ffffffff")}]
    given = [{"member": "a", "partitions": [{"topic": "t", "partitions": [0, 1, 2, 3]}]}]
    found = checked(silent, given, "cooperative")
    assert (found["error"], rules(found)) == (None, [])
    why, doubt = found["notes"]
    assert why == "a: claims-not-known: version 0 has no owned partitions: write version 1 or newer"
    assert doubt.startswith("claims-not-known: given though")
    assert checked(AS_STRUCTS, given, "eager")["notes"] == []


def test_cooperative_members_let_go_before_others_get_and_eager_ones_have_no_need() -> None:
    moved = [
        {"member": "a", "partitions": [{"topic": "t", "partitions": [0, 1]}]},
        {"member": "b", "partitions": [{"topic": "t", "partitions": [2, 3]}]},
    ]
    assert rules(checked(AS_STRUCTS, moved, "cooperative")) == ["given-too-early"] * 2
    assert rules(checked(AS_STRUCTS, moved, "eager")) == []
    assert rules(checked(AS_STRUCTS, moved, None)) == []
    error = checked(AS_STRUCTS, moved, "lazy")["error"]
    assert error == 'expected "eager" or "cooperative", found "lazy" at protocol'


def test_a_member_that_is_given_twice_is_an_error() -> None:
    twice = [
        {"member": "a", "partitions": OWNED},
        {"member": "b", "partitions": []},
        {"member": "a", "partitions": []},
    ]
    error = checked(AS_STRUCTS, twice, "eager")["error"]
    assert error == ("member 'a' occurs twice in the assignment at assignment[2][0]")


def test_a_name_in_data_imports_nothing() -> None:
    assert "this" not in sys.modules
    answer = assigned([{"name": "t", "partitions": 4}], AS_STRUCTS, "this:d")
    assert "no assignor 'this:d' in the registry" in answer["error"]
    assert answer["assignment"] is None
    assert "this" not in sys.modules


TOPICS: list[Any] = [{"t": 4}, {"t": 4, "u": 2}, {"t": -1}, {"t": 10_000_001}, {"t": None}, {}]
MEMBERS: list[Any] = [
    AS_STRUCTS,
    [{**AS_STRUCTS[0], "topics": ["t", None]}],
    [{**AS_STRUCTS[0], "topics": None}],
    [{**AS_STRUCTS[0], "owned": [{"topic": None, "partitions": [1]}]}],
    [{**AS_STRUCTS[0], "owned": [{"topic": "t", "partitions": None}]}],
    [{**AS_STRUCTS[0], "owned": [{"topic": "t", "partitions": [1, None]}]}],
    [{**AS_STRUCTS[0], "owned": [*OWNED, *OWNED]}],
    [{**AS_STRUCTS[0], "generation": 2**31}],
    [{**AS_STRUCTS[0], "generation": -5, "rack_id": "", "instance": "i"}],
    [{**AS_STRUCTS[0], "rack": "r"}],
    [{**AS_STRUCTS[0], "id": None}],
    [AS_STRUCTS[0], None],
    [AS_STRUCTS[0], AS_STRUCTS[0]],
    AS_BYTES,
    [],
]


@pytest.mark.parametrize("members", MEMBERS)
@pytest.mark.parametrize("topics", TOPICS)
def test_columns_are_read_as_the_json_form_is(topics: Any, members: Any) -> None:
    """The same group, or the same sentence at the same place."""
    listed = pa.array([list(topics.items())], pa.map_(pa.string(), pa.int64()))
    columns = [listed, pa.array([members]), pa.array(["sticky"])]
    (answer,) = assigned_groups(*columns).to_pylist()
    # A member of fewer fields has null in the others.
    (members,) = columns[1].to_pylist()
    document = {"topics": topics, "members": [*map(as_json, members)]}
    if answer["error"] is not None:
        with pytest.raises(DocumentError) as refused:
            group_from_document(document)
        assert answer["error"] == str(refused.value)
        return
    group = group_from_document(document)
    expected = {
        member_id: [{"topic": topic, "partitions": [*numbers]} for topic, numbers in given.items()]
        for member_id, given in assignor_named("sticky").assign(group).assignment.items()
    }
    assert {one["member"]: one["partitions"] for one in answer["assignment"]} == expected


def as_json(member: dict[str, Any] | None) -> dict[str, Any] | None:
    """A member as its JSON form has it."""
    if member is None:
        return None
    owned = member.get("owned")
    blob = member.get("subscription")
    return {
        **member,
        "owned": owned and [[entry["topic"], entry["partitions"]] for entry in owned],
        "subscription": blob and blob.hex(),
    }


def test_what_only_columns_can_say_wrongly_has_its_sentence() -> None:
    twice = [{"name": "t", "partitions": 1}, {"name": "t", "partitions": 2}]
    assert assigned(twice, AS_STRUCTS)["error"].endswith("topic 't' occurs twice at topics[1]")
    text = [{"id": "a", "subscription": "zz"}]
    error = assigned([{"name": "t", "partitions": 1}], text)["error"]
    assert error.endswith("at members[0].subscription")
    nameless = assigned([{"name": None, "partitions": 1}], AS_STRUCTS)["error"]
    assert nameless.endswith("expected a string, found null at topics[0][0]")
    assert "must not be null" in assigned(None, AS_STRUCTS)["error"]

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import MemberNote, Rebalance, RebalanceProtocol, State
from assignors.checks import Report, Rule, Violation
from assignors.documents.answers import rebalance_document, report_document
from assignors.documents.groups import (
    check_request_from_document,
    group_from_document,
    partitions_from_document,
)
from assignors.documents.values import DocumentError, bytes_from_hex
from assignors.model import PARTITION_LIMIT
from wire import Subscription, encode_subscription

GROUP: dict[str, Any] = {
    "topics": {
        "t": 6,
        "u.v": {"partitions": 2, "racks": [["r1"], ["r1", "r2"]], "id": "dI7S-MK9rwdCA2wuss0WdQ"},
    },
    "generation": 7,
    "members": [
        {
            "id": "a",
            "topics": ["t", "u.v"],
            "owned": [["t", [0, 1]], ["u.v", [0]]],
            "generation": 5,
            "rack_id": "r1",
            "instance": "i",
            "user_data": "0xFF",
        },
        {"id": "b", "subscription": "00000000000100017400000000", "instance": None},
    ],
}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["topics", "members", "id", "owned", "partitions", "racks", "t", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(values)
def test_any_document_is_a_group_or_one_error_with_a_place(document: object) -> None:
    for read in (group_from_document, check_request_from_document):
        error = refusal(read, document)
        if error is not None:
            assert set(error.document()) == {"error", "error_kind", "error_at"}


def refusal(read: Callable[[object], object], document: object) -> DocumentError | None:
    """Return why the document was refused, if it was; any other exception is a failure."""
    try:
        read(document)
    except DocumentError as error:
        return error
    return None


@given(st.data(), values)
def test_a_changed_group_is_a_group_or_an_error(data: st.DataObject, value: object) -> None:
    document: Any = copy.deepcopy(GROUP)
    place: Any = document
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.booleans()) or not isinstance(place[key], dict | list):
            place[key] = value
            break
        place = place[key]
    error = refusal(group_from_document, document)
    assert error is None or error.path


def test_everything_in_a_group_document_arrives() -> None:
    group = group_from_document(GROUP)
    assert group.generation == 7
    topic = group.cluster.topics["u.v"]
    assert (topic.partition_count, topic.racks, topic.topic_id) == (
        2,
        (("r1",), ("r1", "r2")),
        "dI7S-MK9rwdCA2wuss0WdQ",
    )
    a, b = group.members
    assert (a.member_id, a.topics, a.owned) == ("a", ("t", "u.v"), {"t": (0, 1), "u.v": (0,)})
    assert (a.generation, a.rack_id, a.instance_id, a.user_data, a.version) == (
        5,
        "r1",
        "i",
        b"\xff",
        None,
    )
    assert (b.topics, b.version, b.user_data, b.instance_id) == (("t",), 0, b"", None)


def test_null_means_absent_and_keys_of_ones_own_mean_nothing() -> None:
    spare: dict[str, Any] = {
        "id": "a",
        "topics": [],
        "owned": None,
        "generation": None,
        "rack_id": None,
        "_zzz": 1,
    }
    topics = {"t": {"partitions": 1, "racks": None, "id": None, "_zzz": 1}}
    full = {"topics": topics, "generation": None, "members": [spare], "_zzz": {}}
    least = {"topics": {"t": 1}, "members": [{"id": "a", "topics": []}]}
    assert group_from_document(full) == group_from_document(least)


def test_an_empty_rack_is_no_rack() -> None:
    group = group_from_document(
        {"topics": {}, "members": [{"id": "a", "topics": [], "rack_id": ""}]}
    )
    assert group.members[0].rack_id is None


def test_a_replica_on_a_broker_without_a_rack_is_left_out_as_java_does() -> None:
    topics = {"t": {"partitions": 3, "racks": [["r1", None], [None], []]}}
    group = group_from_document({"topics": topics, "members": []})
    assert group.cluster.topics["t"].racks == (("r1",), (), ())


def test_owned_may_be_pairs_or_an_object_and_repeated_topics_are_merged() -> None:
    pairs = [["t", [3]], ["u", [0]], ["t", [1]]]
    assert partitions_from_document(pairs) == {"t": (3, 1), "u": (0,)}
    assert partitions_from_document({"t": [3, 1], "u": [0]}) == {"t": (3, 1), "u": (0,)}


def test_odd_bytes_are_notes_and_not_errors() -> None:
    for cut in ("", "0001", "00030000000100017400"):
        document = {"topics": {"t": 1}, "members": [{"id": "a", "subscription": cut}]}
        (member,) = group_from_document(document).members
        assert member.notes
        assert not member.owned_known


def test_a_negative_generation_is_none_for_the_group_as_for_a_member() -> None:
    member = {"id": "a", "topics": ["t"], "generation": -9}
    group = group_from_document({"topics": {"t": 1}, "generation": -3, "members": [member]})
    assert (group.generation, group.members[0].generation) == (-1, -1)


@given(st.lists(st.sampled_from(["t", "u"]), unique=True, max_size=2), st.integers(-1, 9))
def test_bytes_and_struct_describe_the_same_member(topics: list[str], generation: int) -> None:
    owned = {"t": (0, 1)}
    blob = encode_subscription(
        Subscription(topics=tuple(topics), owned=owned, generation=generation, rack_id="r")
    )
    entries = (
        {"id": "a", "subscription": blob.hex()},
        {
            "id": "a",
            "topics": sorted(topics),
            "owned": [["t", [0, 1]]],
            "generation": generation,
            "rack_id": "r",
        },
    )
    one, other = (
        group_from_document({"topics": {}, "members": [entry]}).members[0] for entry in entries
    )
    assert (one.topics, one.owned, one.generation, one.rack_id) == (
        other.topics,
        other.owned,
        other.generation,
        other.rack_id,
    )


@pytest.mark.parametrize(
    ("change", "kind", "path"),
    [
        (lambda g: g.pop("topics"), "missing", "topics"),
        (lambda g: g.pop("members"), "missing", "members"),
        (lambda g: g.update(topics=[]), "wrong-type", "topics"),
        (lambda g: g.update(members={}), "wrong-type", "members"),
        (lambda g: g.update(generation="7"), "wrong-type", "generation"),
        (lambda g: g.update(generation=2**31), "out-of-range", "generation"),
        (lambda g: g["topics"].update(t=-1), "out-of-range", "topics.t"),
        (lambda g: g["topics"].update(t=True), "wrong-type", "topics.t"),
        (lambda g: g["topics"].update(t=1.0), "wrong-type", "topics.t"),
        (lambda g: g["topics"].update(t=PARTITION_LIMIT + 1), "too-large", "topics.t"),
        (lambda g: g["topics"].update(z=PARTITION_LIMIT), "too-large", "topics.z"),
        (lambda g: g["topics"]["u.v"].pop("partitions"), "missing", 'topics["u.v"].partitions'),
        (lambda g: g["topics"]["u.v"]["racks"].pop(), "out-of-range", 'topics["u.v"].racks'),
        (
            lambda g: g["topics"]["u.v"]["racks"][1].append(3),
            "wrong-type",
            'topics["u.v"].racks[1][2]',
        ),
        (lambda g: g["members"][0].pop("id"), "missing", "members[0].id"),
        (lambda g: g["members"][0].pop("topics"), "missing", "members[0].topics"),
        (lambda g: g["members"][1].update(id="a"), "repeated", "members[1].id"),
        (lambda g: g["members"].append(7), "wrong-type", "members[2]"),
        (lambda g: g["members"][0]["topics"].append(None), "wrong-type", "members[0].topics[2]"),
        (
            lambda g: g["topics"]["u.v"]["racks"][1].extend([None, 3]),
            "wrong-type",
            'topics["u.v"].racks[1][3]',
        ),
        (
            lambda g: g["topics"]["u.v"]["racks"].append(None),
            "wrong-type",
            'topics["u.v"].racks[2]',
        ),
        (
            lambda g: g["members"][0]["owned"][0][1].append(True),
            "wrong-type",
            "members[0].owned[0][1][2]",
        ),
        (
            lambda g: g["members"][0]["owned"][1][1].append(2**40),
            "out-of-range",
            "members[0].owned[1][1][1]",
        ),
        (lambda g: g["members"][0]["owned"].append(["t"]), "wrong-type", "members[0].owned[2]"),
        (lambda g: g["members"][0].update(owned="t"), "wrong-type", "members[0].owned"),
        (lambda g: g["members"][0].update(generation=1.5), "wrong-type", "members[0].generation"),
        (lambda g: g["members"][0].update(rack_id=1), "wrong-type", "members[0].rack_id"),
        (lambda g: g["members"][0].update(user_data="f"), "bad-hex", "members[0].user_data"),
        (lambda g: g["members"][1].update(subscription="0g"), "bad-hex", "members[1].subscription"),
        (lambda g: g["members"][0].update(id="\ud800"), "bad-text", "members[0].id"),
        (lambda g: g["topics"]["u.v"].update(id="x"), "bad-text", 'topics["u.v"].id'),
        (lambda g: g["topics"]["u.v"].update(id="é" * 22), "bad-text", 'topics["u.v"].id'),
        (lambda g: g.update(state=7), "wrong-type", "state"),
        (lambda g: g.update(state={"max_generation": "7"}), "wrong-type", "state.max_generation"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(change: Any, kind: str, path: str) -> None:
    document = copy.deepcopy(GROUP)
    change(document)
    with pytest.raises(DocumentError) as caught:
        group_from_document(document)
    assert (caught.value.kind, caught.value.path) == (kind, path)


@pytest.mark.parametrize("document", [None, 7, "x", []])
def test_what_is_no_object_is_no_group(document: object) -> None:
    with pytest.raises(DocumentError) as caught:
        group_from_document(document)
    assert caught.value.path == "$"


def test_a_check_request_has_assignment_withheld_and_protocol() -> None:
    asked = {
        **GROUP,
        "assignment": {"a": {"t": [0, -1]}, "nobody": [["t", [9]]]},
        "withheld": {"t": [2]},
        "protocol": "cooperative",
    }
    question = check_request_from_document(asked)
    assert question.assignment == {"a": {"t": (0, -1)}, "nobody": {"t": (9,)}}
    assert question.withheld == {"t": (2,)}
    assert question.protocol is RebalanceProtocol.COOPERATIVE
    eager = check_request_from_document(
        {**GROUP, "assignment": {}, "withheld": None, "protocol": None}
    )
    assert (eager.withheld, eager.protocol) == ({}, RebalanceProtocol.EAGER)


@pytest.mark.parametrize(
    ("extra", "path"),
    [
        ({}, "assignment"),
        ({"assignment": []}, "assignment"),
        ({"assignment": {"a b": {"t": ["0"]}}}, 'assignment["a b"].t[0]'),
        ({"assignment": {}, "withheld": 7}, "withheld"),
        ({"assignment": {}, "protocol": "EAGER"}, "protocol"),
        ({"assignment": {}, "protocol": 1}, "protocol"),
    ],
)
def test_what_is_wrong_in_a_check_request_is_named_with_its_place(
    extra: dict[str, object], path: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        check_request_from_document({**GROUP, **extra})
    assert caught.value.path == path


@given(st.binary(max_size=20), st.booleans())
def test_hex_gives_back_the_bytes(blob: bytes, upper: bool) -> None:  # noqa: FBT001
    digits = blob.hex().upper() if upper else blob.hex()
    assert bytes_from_hex(f" 0x{digits}\t".encode()) == blob


def test_follow_up_stands_in_the_stats_of_every_answer() -> None:
    note = MemberNote(code="c", text="x", member_id="a")
    document = rebalance_document(
        Rebalance(assignment={"a": {"t": (0,)}, "b": {}}, withheld={"t": (1,)}, notes=(note,))
    )
    assert json.loads(json.dumps(document)) == {
        "assignment": {"a": {"t": [0]}, "b": {}},
        "withheld": {"t": [1]},
        "notes": [{"member": "a", "code": "c", "text": "x"}],
        "stats": {"follow_up": False},
    }
    placed = MemberNote(code="c", text="x", offset=4)
    answer = Rebalance(assignment={}, notes=(placed,), follow_up=True)
    assert rebalance_document(answer)["notes"] == [
        {"member": None, "code": "c", "text": "x", "offset": 4}
    ]
    assert rebalance_document(answer)["stats"] == {"follow_up": True}


def test_what_the_assignor_remembers_goes_in_and_out() -> None:
    read = group_from_document({**GROUP, "state": {"max_generation": 12}})
    assert read.state == State(max_generation=12)
    for nothing in (None, {}, {"max_generation": None}, {"max_generation": -7}):
        assert group_from_document({**GROUP, "state": nothing}).state == State()
    answer = Rebalance(assignment={}, lists={"a": (("t", 1), ("u", 0))}, order=("a",))
    document = rebalance_document(replace(answer, state=State(max_generation=12)))
    assert document["state"] == {"max_generation": 12}
    assert document["lists"] == {"a": [["t", 1], ["u", 0]]}
    assert document["order"] == ["a"]
    assert not {"lists", "order", "state"} & set(rebalance_document(Rebalance(assignment={})))


def test_a_report_reads_as_documented() -> None:
    violation = Violation(rule=Rule.ASSIGNED_TWICE, topic="t", partition=1, members=("a", "b"))
    report = Report(violations=(violation,), gaps={"balance_gap": 2})
    assert report_document(report) == {
        "violations": [
            {"rule": "assigned-twice", "topic": "t", "partition": 1, "members": ["a", "b"]}
        ],
        "gaps": {"balance_gap": 2},
    }

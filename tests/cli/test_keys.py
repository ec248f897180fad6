"""Keys of documents: a typing error is refused, what has no effect is noted, nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assignors.documents.notes import USED_BY
from tests.cli.running import GROUP, answer, answers

ASSIGN = ("assign", "--assignor", "sticky")
MEMBER = {"id": "a", "topics": ["t"]}


@pytest.mark.parametrize(
    ("changed", "path", "meant"),
    [
        ({"genration": 7}, "genration", "generation"),
        ({"topics": {"t": {"partitions": 1, "rack": []}}}, "topics.t.rack", "racks"),
        ({"members": [{**MEMBER, "rack": "r"}]}, "members[0].rack", "rack_id"),
        ({"state": {"max_genration": 7}}, "state.max_genration", "max_generation"),
        ({"members": [{**MEMBER, "onwed": []}]}, "members[0].onwed", "owned"),
        ({"members": [MEMBER, {"id": "b", "Topics": []}]}, "members[1].Topics", "topics"),
    ],
)
@pytest.mark.parametrize("command", [ASSIGN, ("explain", "--partition", "t:0"), ("check",)])
def test_a_typing_error_in_a_key_is_refused_with_the_nearest_key(
    command: tuple[str, ...], changed: dict[str, Any], path: str, meant: str
) -> None:
    documents, code = answers(*command, given=json.dumps({**GROUP, **changed}))
    found = documents[0]
    assert (found["error_kind"], found["error_at"]["path"], found["error_at"]["line"]) == (
        "unknown",
        path,
        1,
    )
    assert f"did you mean '{meant}'?" in found["error"]
    assert code == 2


@pytest.mark.parametrize("command", [ASSIGN, ("check",), ("what-if",)])
def test_a_scenario_on_a_clock_is_told_which_option_plays_it(command: tuple[str, ...]) -> None:
    scenario = {"version": 1, "until_ms": 9, "topics": {"t": 1}, "members": [{"name": "a"}]}
    documents, code = answers(*command, "-", given=json.dumps(scenario))
    found = documents[0]
    assert (found["error_kind"], found["error_at"]["path"], code) == ("unknown", "until_ms", 2)
    assert "simulate FILE plays a scenario on a clock" in found["error"]


@pytest.mark.parametrize("key", ["topics", "owned", "generation", "rack_id", "user_data"])
def test_what_the_subscription_bytes_have_is_not_given_beside_them(key: str) -> None:
    value: Any = {"topics": ["t"], "owned": [], "generation": 1, "rack_id": "r", "user_data": "00"}[
        key
    ]
    member = {"id": "a", "subscription": "00000000000000000000", key: value}
    found = answer(*ASSIGN, given=json.dumps({**GROUP, "members": [member]}))
    assert (found["error_kind"], found["error_at"]["path"]) == ("repeated", f"members[0].{key}")
    absent = {**member, key: None}
    assert answer(*ASSIGN, given=json.dumps({**GROUP, "members": [absent]}))["error"] is None


def test_ones_own_keys_are_ones_own_and_an_id_comes_back() -> None:
    group = {**GROUP, "_why": "a test", "id": "shop"}
    group["members"] = [{**member, "_note": 1} for member in GROUP["members"]]
    document = answer(*ASSIGN, given=json.dumps(group))
    assert list(document)[:2] == ["schema", "id"]
    assert {**document, "id": None} == {**answer(*ASSIGN, given=json.dumps(GROUP)), "id": None}


ODD = {
    "assignment": {"a": {"t": [0]}},
    "withheld": {"t": [1]},
    "protocol": "cooperative",
    "seed": 3,
    "events": 2,
}


@pytest.mark.parametrize("key", ODD)
def test_a_key_of_another_command_is_noted(key: str) -> None:
    given = json.dumps({**GROUP, "assignment": {}, key: ODD[key]})
    for command in ("assign", "explain", "check"):
        options = {"assign": ASSIGN[1:], "explain": ("--partition", "t:0"), "check": ()}[command]
        document = answer(command, *options, given=given)
        texts = [note["text"] for note in document.get("notes", ()) if note["code"] == "key-unused"]
        is_noted = any(f"{key!r} is for {USED_BY[key]}" in text for text in texts)
        assert is_noted == (USED_BY[key] != command)


def test_every_key_has_its_reader() -> None:
    assert set(ODD) == set(USED_BY)


def test_a_topic_that_nobody_describes_is_noted_by_every_command() -> None:
    members = [{"id": name, "topics": ["t", "tt"]} for name in "abcd"]
    members.append({"id": "e", "topics": ["payments"]})
    given = json.dumps({"topics": {"t": 4}, "members": members, "assignment": {}})
    expected = [
        (
            None,
            "a, b and 2 more subscribe to 'tt', which `topics` does not have; did you mean 't'?",
        ),
        ("e", "subscribes to 'payments', which `topics` does not have"),
    ]
    for command in (
        ASSIGN,
        ("assign", "--compare", "sticky,range"),
        ("explain", "--partition", "t:0"),
        ("check",),
    ):
        notes = [
            (note["member"], note["text"])
            for note in answer(*command, given=given)["notes"]
            if note["code"] == "topic-not-described"
        ]
        assert notes == expected
    documents, _ = answers("assign", "--assignor", "sticky", given=given)
    assert documents[0]["error"] is None


def test_a_near_topic_is_suggested_and_a_thousand_are_counted() -> None:
    topics = ["ordres", *(f"x{number}" for number in range(1000))]
    group = {"topics": {"orders": 1}, "members": [{"id": "a", "topics": topics}]}
    notes = answer(*ASSIGN, given=json.dumps(group))["notes"]
    assert notes[0]["text"].endswith("did you mean 'orders'?")
    assert notes[-1]["text"] == "981 more topics are subscribed to and not described"
    assert len(notes) == 21

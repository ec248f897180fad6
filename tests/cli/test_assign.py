from __future__ import annotations

import json
import sys
import types

import numpy as np
import pytest

from assignors import Assignor, Group, Rebalance
from assignors.names.assignor_names import BEST
from assignors.registry import ASSIGNORS
from tests.cli.running import GROUP, answer, answers

ASSIGN = ("assign", "--assignor")

ODD = [KeyError("nobody"), ValueError("too few")]


def test_an_assignment_reads_as_documented() -> None:
    document = answer(*ASSIGN, "cooperative-sticky", given=json.dumps(GROUP))
    stats = document.pop("stats")
    assert document == {
        "schema": 2,
        "assignor": "optimal/cooperative-sticky",
        "protocol": "cooperative",
        "assignment": {"a": {"t": [0, 1]}, "b": {}},
        "withheld": {"t": [2, 3]},
        "notes": [],
        "error": None,
        "error_kind": None,
    }
    assert stats["follow_up"] is False
    assert stats["moved"] == 2


@pytest.mark.parametrize("name", [*BEST, *ASSIGNORS])
def test_every_assignor_gives_every_member_an_entry_and_says_follow_up(name: str) -> None:
    document = answer(*ASSIGN, name, given=json.dumps(GROUP))
    assert set(document["assignment"]) == {"a", "b"}
    assert isinstance(document["stats"]["follow_up"], bool)


def test_a_ghost_asks_for_a_follow_up() -> None:
    ghost = {"id": "g", "topics": ["x"], "owned": {"t": [3]}, "generation": 3}
    group = {"topics": {"t": 4}, "generation": 7, "members": [{"id": "a", "topics": ["t"]}, ghost]}
    document = answer(*ASSIGN, "cooperative-sticky", given=json.dumps(group))
    assert document["withheld"] == {"t": [3]}
    assert document["stats"]["follow_up"] is True


def test_notes_name_the_member_and_the_byte() -> None:
    group = {"topics": {"t": 1}, "members": [{"id": "a", "subscription": "0001000000010001"}]}
    document = answer(*ASSIGN, "sticky", given=json.dumps(group))
    assert document["error"] is None
    assert all(set(note) >= {"member", "code", "text"} for note in document["notes"])
    assert {note["member"] for note in document["notes"]} == {"a"}
    assert any("offset" in note for note in document["notes"])


def test_an_assignor_of_ones_own_is_found_by_import(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(group: Group) -> Rebalance:
        if len(group.members) < 2:
            raise ODD[len(group.members)]
        everything = {
            name: tuple(range(topic.partition_count))
            for name, topic in group.cluster.topics.items()
        }
        return Rebalance(
            assignment={
                member.member_id: {} if position else everything
                for position, member in enumerate(group.members)
            },
            stats={"share": np.float64(0.5), "big": np.int64(7)},  # type: ignore[dict-item]
        )

    module = types.ModuleType("their_assignors")
    module.GREEDY = Assignor(family="theirs", name="greedy", assign=greedy)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "their_assignors", module)
    none, one = ({**GROUP, "members": GROUP["members"][:count]} for count in (0, 1))
    given = "\n".join(map(json.dumps, (none, one, GROUP)))
    documents, code = answers(*ASSIGN, "their_assignors:GREEDY", given=given)
    # A fault of theirs is an error on its line, and the next line is answered.
    name = "their_assignors:GREEDY"
    assert [document["error"] for document in documents] == [
        f"{name} raised KeyError: 'nobody'",
        f"{name} raised ValueError: too few",
        None,
    ]
    assert [document["error_kind"] for document in documents] == ["failed", "failed", None]
    assert [each["error_at"] for each in documents[:2]] == [{"line": 1}, {"line": 2}]
    assert documents[2]["assignment"] == {"a": {"t": [0, 1, 2, 3]}, "b": {}}
    assert documents[2]["stats"] == {"share": 0.5, "big": 7, "follow_up": False}
    assert code == 2


def test_an_assignor_that_is_not_known_is_a_usage_error() -> None:
    assert answers(*ASSIGN, "nonsense", given="{}") == ([], 2)
    assert answers("assign", given="{}") == ([], 2)


def test_assignors_lists_the_registry() -> None:
    documents, code = answers("assignors")
    assert [document["name"] for document in documents] == list(ASSIGNORS)
    assert {document["short"] for document in documents} >= set(BEST)
    assert code == 0


TWIN = {
    "topics": {"t": 2, "u": 2},
    "members": [
        {"id": "b", "topics": ["t", "u"]},
        {"id": "a", "topics": ["t", "u"], "owned": [["u", [1]], ["t", [0]]], "generation": 3},
    ],
}


def test_a_twin_answers_in_the_order_of_java_and_keeps_its_state() -> None:
    document = answer(*ASSIGN, "java/sticky", given=json.dumps(TWIN))
    assert document["order"] == ["a", "b"]
    assert document["lists"] == {"a": [["t", 0], ["u", 1]], "b": [["t", 1], ["u", 0]]}
    assert document["state"] == {"max_generation": 3}
    later = answer(
        *ASSIGN, "java/sticky", given=json.dumps({**TWIN, "state": {"max_generation": 9}})
    )
    assert later["state"] == {"max_generation": 9}


def test_a_failure_of_java_is_the_error_of_one_line() -> None:
    empty = json.dumps({"topics": {"t": 2}, "members": []})
    documents, code = answers(*ASSIGN, "java/sticky", given=f"{empty}\n{json.dumps(TWIN)}\n")
    assert code == 2
    assert documents[0]["error_kind"] == "reference-failed"
    assert "ArithmeticException" in documents[0]["error"]
    assert documents[0]["lists"] is None
    assert documents[1]["error"] is None


def test_assignors_are_compared_on_each_line() -> None:
    documents, code = answers(
        "assign", "--compare", "java/sticky,sticky", given=f"{json.dumps(TWIN)}\n{{\n"
    )
    assert code == 2
    assert [column["name"] for column in documents[0]["compared"]] == [
        "java/sticky",
        "optimal/sticky",
    ]
    assert documents[0]["different"] == 0
    assert documents[1]["compared"] is None
    assert documents[1]["error_kind"] == "bad-json"


def test_a_search_that_the_limit_ends_says_how_far_from_the_best_it_may_be() -> None:
    """Windows of two topics along a chain: partitions pass through every member in between."""
    topics = {f"t{n}": 1 + 7 * (n == 0) for n in range(9)}
    members = [{"id": f"m{n}", "topics": [f"t{n}", f"t{n + 1}"]} for n in range(8)]
    line = json.dumps({"topics": topics, "members": members})
    best = answer(*ASSIGN, "sticky", given=line)["stats"]
    assert best == answer(*ASSIGN, "sticky", "--limit", "100000", given=line)["stats"]
    assert "limit_reached" not in best
    cut = answer(*ASSIGN, "sticky", "--limit", "0", given=line)
    assert cut["stats"]["limit_reached"] is True
    assert cut["stats"]["balance_gap_max"] >= 0
    assert cut["stats"]["moves_gap_max"] == 0, "nobody had anything"
    assert sum(len(n) for given in cut["assignment"].values() for n in given.values()) == 16
    assert answers(*ASSIGN, "range", "--limit", "0", given=line) == ([], 2)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--assignor", "sticky", "--limit", "-1"),
        ("--assignor", "sticky", "--compare", "sticky,range"),
        ("--compare", "sticky"),
        ("--compare", "sticky,optimal/sticky"),
        ("--compare", "sticky,nothing"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: tuple[str, ...]) -> None:
    assert answers("assign", *arguments, given=json.dumps(TWIN)) == ([], 2)

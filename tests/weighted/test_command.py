"""Weights through the command: as a user gives them, and as they can be wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.running import answer

GROUP: dict[str, Any] = {
    "topics": {"orders": 6, "audit": 2},
    "weights": {"orders": [900, 40, 30, 20, 10, 5]},
    "generation": 3,
    "members": [
        {
            "id": "a",
            "topics": ["orders", "audit"],
            "owned": {"orders": [0, 1, 2], "audit": [0]},
            "generation": 3,
            "capacity": 2,
        },
        {"id": "b", "topics": ["orders"], "owned": {"orders": [3, 4, 5]}, "generation": 3},
        {"id": "c", "topics": ["orders", "audit"], "owned": {"audit": [1]}, "generation": 3},
    ],
}


def assigned(*arguments: str, **changes: object) -> dict[str, Any]:
    """What `assign` answers for the group with some keys changed."""
    return answer("assign", *arguments, given=json.dumps({**GROUP, **changes}))


def test_the_heavy_partition_stays_and_a_light_one_goes_to_the_newcomer() -> None:
    document = assigned("--assignor", "weighted")
    assert document["assignment"]["c"] == {"audit": [1], "orders": [1]}
    stats = document["stats"]
    assert (stats["use_max"], stats["use_bound"]) == (475.0, 450.0)
    assert (stats["moved"], stats["moves_least"], stats["weight_moved"]) == (1, 1, 40)


def test_a_cooperative_group_withholds_what_moves() -> None:
    document = assigned("--assignor", "cooperative-weighted")
    assert document["withheld"] == {"orders": [1]}
    given = {**GROUP, "assignment": document["assignment"], "withheld": document["withheld"]}
    checked = answer("check", given=json.dumps({**given, "protocol": "cooperative"}))
    assert checked["violations"] == []


def test_a_budget_puts_moves_off_and_says_which() -> None:
    heavy = {"weights": {"orders": [90, 80, 70, 1, 1, 1]}}
    free, tight = assigned("--assignor", "weighted", **heavy), None
    tight = assigned("--assignor", "weighted", **heavy, budget={"moves": 0})
    assert free["stats"]["moved"] > 0
    assert tight["stats"]["moved"] == 0
    assert tight["stats"]["hold"] == "budget"
    assert sum(map(len, tight["deferred"].values())) == tight["stats"]["deferred"] > 0
    assert tight["stats"]["use_bound_budget"] >= tight["stats"]["use_bound"]


def test_inside_the_band_nothing_moves_and_the_answer_says_so() -> None:
    document = assigned("--assignor", "weighted", trigger=9, tolerance=8)
    assert document["stats"]["moved"] == 1, "the newcomer is idle"
    members = [{**one, "topics": ["orders"]} for one in GROUP["members"][:2]]
    calm = assigned("--assignor", "weighted", members=members, trigger=9)
    assert (calm["stats"]["moved"], calm["stats"]["hold"]) == (0, "in-band")


def test_every_assignor_is_measured_by_weight() -> None:
    compared = assigned("--compare", "weighted,java/sticky,range")["compared"]
    uses = {column["name"]: column["gaps"]["use_max"] for column in compared}
    assert uses["weighted/weighted"] <= min(uses.values())
    assert {column["gaps"]["use_bound"] for column in compared} == {450.0}


def test_other_assignors_say_that_weights_have_no_effect() -> None:
    notes = assigned("--assignor", "sticky", budget={"cost": 3})["notes"]
    assert [note["code"] for note in notes] == ["key-unused"] * 3
    assert "'weights' has no effect on what optimal/sticky assigns" in notes[1]["text"]


def test_without_weights_the_answer_is_that_of_optimal_sticky() -> None:
    members = [{k: v for k, v in one.items() if k != "capacity"} for one in GROUP["members"]]
    plain = json.dumps({**GROUP, "members": members, "weights": None})
    for name, other in (("weighted", "sticky"), ("cooperative-weighted", "cooperative-sticky")):
        ours = answer("assign", "--assignor", name, given=plain)
        theirs = answer("assign", "--assignor", other, given=plain)
        assert {**ours, "assignor": None} == {**theirs, "assignor": None}


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"weights": {"orders": [1, 2, 3]}}, "weights.orders", "3 numbers for 6 partitions"),
        ({"weights": {"ordres": [1]}}, "weights.ordres", "`topics` has no 'ordres'"),
        ({"weights": {"audit": [1, -2]}}, "weights.audit[1]", "-2 is not from 0 to 2**53 - 1"),
        ({"weights": {"audit": [1, 1.5]}}, "weights.audit[1]", "expected a whole number"),
        ({"weights": {"audit": [1, 1 << 60]}}, "weights.audit[1]", "is not from 0"),
        ({"weights": {"audit": [(1 << 53) - 1] * 2}}, "weights", "the sum is not below 2**53"),
        ({"move_costs": {"audit": [0, None]}}, "move_costs.audit[1]", "expected a whole number"),
        ({"budget": 5}, "budget", "expected an object"),
        ({"budget": {}}, "budget", "expected"),
        ({"budget": {"moves": -1}}, "budget.moves", "-1 is not from 0"),
        ({"budget": {"moves": 1}, "move_costs": {"audit": [1, 2]}}, "budget.moves", "give 'cost'"),
        ({"budget": {"money": 1}}, "budget.money", "is no key here"),
        ({"tolerance": -0.1}, "tolerance", "is not from 0 on"),
        ({"tolerance": "5%"}, "tolerance", "expected a number"),
        ({"tolerance": 0.3, "trigger": 0.2}, "trigger", "0.2 is below the tolerance, 0.3"),
    ],
)
def test_what_cannot_be_is_refused_with_its_path(
    changes: dict[str, Any], path: str, words: str
) -> None:
    found = assigned("--assignor", "weighted", **changes)
    assert found["error_at"]["path"] == path
    assert words in found["error"]


def test_capacities_whose_sum_is_too_large_are_those_of_members() -> None:
    members = [{**member, "capacity": (1 << 53) - 1} for member in GROUP["members"]]
    found = assigned("--assignor", "weighted", members=members)
    assert found["error_at"]["path"] == "members"
    assert found["error"].startswith("capacities: the sum is not below 2**53")


@pytest.mark.parametrize("capacity", [0, -1, 1.5, "4", 1 << 60])
def test_a_capacity_that_cannot_be_is_refused(capacity: object) -> None:
    members = [{**GROUP["members"][0], "capacity": capacity}, *GROUP["members"][1:]]
    found = assigned("--assignor", "weighted", members=members)
    assert found["error_at"]["path"] == "members[0].capacity"


def test_not_a_number_is_no_weight() -> None:
    line = json.dumps({**GROUP, "weights": {"audit": [float("nan"), 1]}})
    found = answer("assign", "--assignor", "weighted", given=line)
    assert found["error_kind"] in {"bad-json", "wrong-type"}

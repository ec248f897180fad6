"""`explain` under an assignor by weight: why a partition stays, moves, or is put off."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from assignors.checks.explain import explain
from assignors.documents.groups import group_from_document
from assignors.registry import ASSIGNORS
from assignors.weighting import MustHold
from tests.cli.running import answer

FOUR = {"orders": [900, 500, 40, 30, 20, 10]}


def group(**changes: object) -> dict[str, Any]:
    """Two members; a has nearly everything by weight."""
    return {
        "topics": {"orders": 6},
        "weights": FOUR,
        "generation": 3,
        "members": [
            {"id": "a", "topics": ["orders"], "owned": {"orders": [0, 1, 2]}, "generation": 3},
            {"id": "b", "topics": ["orders"], "owned": {"orders": [3, 4, 5]}, "generation": 3},
        ],
        **changes,
    }


def explained(partition: int, name: str = "weighted", **changes: object) -> dict[str, Any]:
    given = json.dumps(group(**changes))
    arguments = ("--partition", f"orders:{partition}", "--assignor", name)
    return answer("explain", *arguments, given=given)


def test_what_moves_says_how_much_both_members_had() -> None:
    document = explained(1)
    assert document["verdict"] == "moves"
    assert document["by_weight"] == {
        "weight": 500,
        "fill": {"a": 1.6, "b": 0.0667},
        "before": None,
        "hold": None,
    }
    assert document["text"] == (
        "orders:1 moves from a to b: a had 1.60 x its fair use, b 0.07 x; members let go of "
        "everything before the round, so nothing has to wait"
    )


def test_what_waits_says_it_too() -> None:
    document = explained(1, "cooperative-weighted")
    assert document["verdict"] == "waits"
    assert "to move from a to b (a had 1.60 x its fair use, b 0.07 x), but" in document["text"]


def test_what_stays_says_that_others_move() -> None:
    words = "stays with a: the member has 1.60 x its fair use, and other partitions of it move; "
    assert words in explained(0)["text"]
    assert (
        "stays with b: inside the band: the member has 0.07 x its fair use;" in explained(3)["text"]
    )


def test_inside_the_band_nothing_moves_and_the_reason_says_so() -> None:
    document = explained(0, trigger=1, weights={"orders": [600, 300, 100, 200, 100, 200]})
    assert document["by_weight"]["hold"] == "in-band"
    assert (
        "stays with a: inside the band: the member has 1.33 x its fair use, nobody is more than "
        "100% above that, and nobody is idle"
    ) in document["text"]


def test_a_partition_that_nobody_can_carry_better_says_so() -> None:
    """15 and 12 is the best that 10, 7, 5 and 5 can be, and above the mean."""
    line = {
        "topics": {"t": 4},
        "weights": {"t": [10, 5, 7, 5]},
        "tolerance": 0,
        "trigger": 0,
        "generation": 1,
        "members": [
            {"id": "a", "topics": ["t"], "owned": {"t": [0, 1]}, "generation": 1},
            {"id": "b", "topics": ["t"], "owned": {"t": [2, 3]}, "generation": 1},
        ],
    }
    arguments = ("--partition", "t:0", "--assignor", "weighted")
    document = answer("explain", *arguments, given=json.dumps(line))
    assert document["by_weight"]["hold"] == "nothing-helps"
    assert "has 1.11 x its fair use, and no move was found that helps" in document["text"]


def test_what_the_budget_puts_off_says_how_many_are_before_it() -> None:
    """Ten partitions of one weight on one member: with one move a round each has its place."""
    members = [
        {"id": "a", "topics": ["t"], "owned": {"t": [*range(10)]}, "generation": 1},
        {"id": "b", "topics": ["t"], "owned": {"t": [10]}, "generation": 1},
    ]
    line = {
        "topics": {"t": 11},
        "weights": {"t": [10] * 11},
        "budget": {"moves": 1},
        "generation": 1,
        "members": members,
    }
    assigned = answer("assign", "--assignor", "weighted", given=json.dumps(line))
    ranks = {}
    for partition in assigned["deferred"]["t"]:
        arguments = ("--partition", f"t:{partition}", "--assignor", "weighted")
        document = answer("explain", *arguments, given=json.dumps(line))
        assert document["verdict"] == "stays"
        ranks[partition] = document["by_weight"]["before"]
        assert (
            f"put off by the budget, {ranks[partition]} before it: the member has"
            in document["text"]
        )
    assert sorted(ranks.values()) == [*range(assigned["stats"]["deferred"])]
    # What is said to be next is what the next round moves.
    (first,) = (partition for partition, rank in ranks.items() if rank == 0)
    owned = assigned["assignment"]
    following = [{**one, "owned": owned[one["id"]], "generation": 2} for one in members]
    after = answer(
        "assign",
        *("--assignor", "weighted"),
        given=json.dumps({**line, "members": following, "generation": 2}),
    )
    assert first in after["assignment"]["b"]["t"]


def test_where_nothing_may_move_the_reason_says_so() -> None:
    given = group_from_document(group())
    assert given.weighting is not None
    held = replace(given, weighting=replace(given.weighting, must_hold=MustHold.STALE))
    found = explain(held, ASSIGNORS["weighted/weighted"], "orders", 1)
    assert (
        "the member has 1.60 x its fair use, and the weights are too old, so nothing moves"
        in found.text
    )
    assert found.by_weight is not None
    assert (found.by_weight.hold, found.by_weight.before) == ("stale", None)


def test_comparing_has_the_same_reasons() -> None:
    document = answer("assign", "--compare", "weighted,java/sticky", given=json.dumps(group()))
    (reasons,) = (one["answers"] for one in document["partitions"] if one["partition"] == 1)
    assert "a had 1.60 x its fair use" in reasons["weighted/weighted"]["why"]
    assert "fair use" not in reasons["java/sticky"]["why"]


@pytest.mark.parametrize("name", [name for name in ASSIGNORS if not name.startswith("weighted/")])
def test_other_assignors_give_the_reasons_that_they_gave(name: str) -> None:
    plain = {key: value for key, value in group().items() if key != "weights"}
    for partition in range(2):
        arguments = ("explain", "--partition", f"orders:{partition}", "--assignor", name)
        assert answer(*arguments, given=json.dumps(group())) == answer(
            *arguments, given=json.dumps(plain)
        )


def test_a_partition_that_nobody_owned_is_placed_whatever_it_weighs() -> None:
    members = [
        {**group()["members"][0], "owned": {"orders": [0]}},
        group()["members"][1],
    ]
    document = explained(1, members=members)
    assert document["verdict"] == "starts"
    assert "by_weight" not in document


def test_where_all_weighs_the_same_the_count_is_the_reason() -> None:
    document = explained(0, weights={"orders": [7] * 6}, trigger=0, tolerance=0)
    assert "by_weight" not in document
    assert "fair use" not in document["text"]

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from assignors import Assignor, Rebalance, RebalanceProtocol, UserData
from assignors.checks.explain import explain
from assignors.checks.verdicts import SENTENCES, Clause, Verdict
from assignors.documents.groups import group_from_document
from assignors.registry import ASSIGNORS
from tests.cli.running import GROUP, answer, answers

COOPERATIVE = ASSIGNORS["optimal/cooperative-sticky"]


def explained(group: dict[str, Any], partition: str, assignor: str = "cooperative-sticky") -> Any:
    return answer(
        "explain", "--partition", partition, "--assignor", assignor, given=json.dumps(group)
    )


def claim(member: str, generation: int, *, believed: bool, reason: str) -> dict[str, object]:
    return {"member": member, "generation": generation, "believed": believed, "reason": reason}


def test_a_partition_that_waits_says_where_to_and_for_whom() -> None:
    document = explained(GROUP, "t:3")
    assert document == {
        "schema": 2,
        "topic": "t",
        "partition": 3,
        "verdict": "waits",
        "clause": "others-claim",
        "text": "t:3 waits: it is to move from a to b, but somebody else may still consume it "
        "and must let go first",
        "favoured": "a",
        "target": "b",
        "given": None,
        "last_generation": 7,
        "claims": [claim("a", 7, believed=True, reason="it has the highest generation")],
        "topic_spread": None,
        "topic_spread_minimum": 8,
        "error": None,
        "error_kind": None,
    }


def test_eager_members_have_let_go_so_it_moves_at_once() -> None:
    document = explained(GROUP, "t:3", "sticky")
    assert (document["verdict"], document["clause"]) == ("moves", "eager")
    assert (document["favoured"], document["given"]) == ("a", "b")
    assert (document["topic_spread"], document["topic_spread_minimum"]) == (8, 8)


def test_range_keeps_nothing_so_nobody_is_favoured() -> None:
    document = explained(GROUP, "t:0", "range")
    assert (document["verdict"], document["favoured"], document["claims"]) == ("starts", None, [])


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "server/range"])
def test_an_assignor_that_reads_no_claims_says_so(assignor: str) -> None:
    """It said that no claim to the partition counts, as if something were wrong with them."""
    document = explained(GROUP, "t:0", assignor)
    assert "the assignor does not read who owned it" in document["text"]
    assert "no claim" not in document["text"]
    assert document["verdict"] == "starts"


@pytest.mark.parametrize("assignor", ["server/uniform", "server/simple"])
def test_a_sticky_assignor_of_the_broker_reads_what_members_own(assignor: str) -> None:
    """Nobody lets go of anything before the broker assigns, and the owner keeps its partition."""
    document = explained(GROUP, "t:0", assignor)
    assert (document["verdict"], document["favoured"], document["given"]) == ("stays", "a", "a")
    assert document["clause"] == "as-reference"
    assert "let go" not in document["text"]


def test_what_an_assignor_leaves_out_is_not_blamed_on_the_members() -> None:
    lazy = Assignor(
        family="x",
        name="lazy",
        assign=lambda group: Rebalance(
            assignment={member.member_id: {} for member in group.members}
        ),
    )
    found = explain(group_from_document(GROUP), lazy, "t", 0)
    assert (found.verdict, found.clause) == (Verdict.UNASSIGNED, Clause.LEFT_OUT)


def test_a_partition_that_goes_on_waiting_has_no_target() -> None:
    never = Assignor(
        family="x",
        name="never",
        assign=lambda group: Rebalance(
            assignment={member.member_id: {} for member in group.members},
            withheld={"t": (0, 1, 2, 3)},
        ),
        protocols=frozenset({RebalanceProtocol.COOPERATIVE}),
        user_data=UserData.COOPERATIVE,
    )
    found = explain(group_from_document(GROUP), never, "t", 0)
    assert (found.verdict, found.clause) == (Verdict.WAITS, Clause.OTHERS_CLAIM)
    assert found.target is None
    assert found.text == f"t:0 waits: {SENTENCES[Clause.OTHERS_CLAIM]}"


def member(name: str, generation: int, owned: list[int], topics: str = "t") -> dict[str, Any]:
    return {"id": name, "topics": [topics], "owned": {"t": owned}, "generation": generation}


@pytest.mark.parametrize(
    ("members", "verdict", "clause", "reasons"),
    [
        (
            [member("a", 7, [0]), member("b", 5, [0])],
            "stays",
            "alone-in-last-generation",
            ["it has the highest generation", "another claim has a higher generation"],
        ),
        (
            [member("a", 7, [0]), member("b", 7, [0])],
            "waits",
            "others-claim",
            ["another claim has the same generation"] * 2,
        ),
        (
            [member("a", 7, []), member("b", 9, [0], topics="x")],
            "waits",
            "others-claim",
            ["it does not subscribe to the topic"],
        ),
        (
            [member("a", 5, [0]), member("b", 9, [0])],
            "waits",
            "others-claim",
            [
                "it has the highest generation",
                "its generation is above the group's last, 7, and counts as none",
            ],
        ),
        ([member("a", 7, [])], "starts", "nobody-else-claims", []),
        (
            [{"id": "a", "subscription": "00000000000100017400000000"}],
            "waits",
            "claims-not-known",
            ["version 0 has no owned partitions: write version 1 or newer"],
        ),
        ([member("a", 7, [], topics="x")], "unassigned", "nobody-subscribes", []),
    ],
)
def test_each_clause_has_its_case(
    members: list[dict[str, Any]], verdict: str, clause: str, reasons: list[str]
) -> None:
    document = explained({"topics": {"t": 1, "x": 1}, "generation": 7, "members": members}, "t:0")
    assert (document["verdict"], document["clause"]) == (verdict, clause)
    assert [found["reason"] for found in document["claims"]] == reasons
    assert SENTENCES[Clause(clause)] in document["text"]


def test_the_clause_agrees_with_the_verdict_for_every_small_group() -> None:
    """All claims of three members on one partition, each with one of four generations."""
    choices = [None, -1, 5, 7, 9]
    safe = {Clause.NOBODY_ELSE_CLAIMS, Clause.ALONE_IN_LAST_GENERATION}
    for generations in itertools.product(choices, repeat=3):
        members = [
            member(
                name, -1 if generation is None else generation, [] if generation is None else [0]
            )
            for name, generation in zip("abc", generations, strict=True)
        ]
        group = group_from_document({"topics": {"t": 1}, "generation": 7, "members": members})
        found = explain(group, COOPERATIVE, "t", 0)
        assert (found.verdict is not Verdict.WAITS) == (found.clause in safe), generations
        believed = [claim.member_id for claim in found.claims if claim.is_believed]
        assert believed == ([] if found.favoured is None else [found.favoured])


@pytest.mark.parametrize(("partition", "kind"), [("t:4", "out-of-range"), ("x:0", "unknown")])
def test_a_partition_that_does_not_exist_is_an_error_of_the_line(partition: str, kind: str) -> None:
    document = explained(GROUP, partition)
    assert document["error_kind"] == kind
    assert document["error_at"]["path"].startswith("topics.")


@pytest.mark.parametrize("place", [("t", 4), ("t", -1), ("x", 0)])
def test_a_partition_that_does_not_exist_is_a_bad_argument(place: tuple[str, int]) -> None:
    with pytest.raises(ValueError, match="has no partition"):
        explain(group_from_document(GROUP), COOPERATIVE, *place)


def test_a_partition_is_also_named_as_in_the_logs_of_kafka() -> None:
    assert explained(GROUP, "t-3") == explained(GROUP, "t:3")


@pytest.mark.parametrize("partition", ["t", "t:", ":1", "t:-1", "t:x", "t:99999999999", "-1"])
def test_what_names_no_partition_is_a_usage_error(partition: str) -> None:
    assert answers("explain", "--partition", partition, given=json.dumps(GROUP)) == ([], 2)

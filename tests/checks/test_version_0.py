"""Members that write version 0 under `cooperative-sticky`, as in kafka4beam/brod#524.

Version 0 has no owned partitions. `assign` withheld everything in every round, for ever, where
`what-if` of the same file gave two partitions each at once; `check` called the partitions
given too early that did not move. Now nobody gets what nobody claims for one round; in the next one
the leader's own assignment stands for the claims.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from assignors import Cluster, Group, UserData, assignor_named, lead
from assignors.assignor import RebalanceProtocol
from assignors.checks import check
from assignors.checks.explain import explain
from assignors.claims import claims_of, read_claim
from assignors.group_bytes.subscriptions import member_from_bytes, read_members
from assignors.problem import problem_of
from assignors.simulation.rounds import Round, rounds, scenario_of_group
from assignors.simulation.timed.scenario import Claims, MemberConfig, Scenario
from assignors.simulation.timed.simulation import simulate
from tests.cli.running import answer, answers, called

COOPERATIVE = assignor_named("cooperative-sticky")
BARE = "00000000000100027431ffffffff"
WHY = "version 0 has no owned partitions: write version 1 or newer"
START: dict[str, Any] = {
    "topics": {"t1": 6},
    "generation": 3,
    "members": [{"id": name, "subscription": BARE} for name in "ABC"],
}
"""A kafka-client-js group whose third member joins."""
GIVEN = {"A": {"t1": [0, 2]}, "B": {"t1": [1, 3]}, "C": {"t1": [4, 5]}}


def brod(*numbers: int, tail: str = "00000004") -> str:
    """Return version 0 with UserData in the layout of the eager sticky assignor."""
    layout = f"0000000100066576656e7473{len(numbers):08x}"
    data = layout + "".join(f"{number:08x}" for number in numbers) + tail
    return f"00000000000100066576656e7473{len(data) // 2:08x}{data}"


JAVA_1 = (
    "00030000000100066576656e7473ffffffff0000000100066576656e747300000003000000030000000400000005"
)
JAVA_2 = "00030000000100066576656e7473ffffffff00000000ffffffffffff"
NO_DATA = "00000000000100066576656e7473ffffffff"
ERLANG = (
    "00000000000100066576656e747300000020"
    "836c0000000168026d000000066576656e74736c000000036100610161026a6a"
)
BROD = {"brod-1": brod(0, 1, 2), "brod-2": brod(3, 4, 5), "brod-3": NO_DATA}
BESIDE_JAVA = {"brod-1": brod(0, 1, 2), "java-1": f"{JAVA_1}00000004ffff", "java-2": JAVA_2}


def document(blobs: dict[str, str]) -> dict[str, Any]:
    members = [{"id": name, "subscription": blob} for name, blob in blobs.items()]
    return {"topics": {"events": 6}, "generation": 4, "members": members}


def members_of(given: dict[str, Any]) -> Group:
    listed = [
        member_from_bytes(m["id"], bytes.fromhex(m["subscription"])) for m in given["members"]
    ]
    topics = Cluster.of(given["topics"])
    return Group(cluster=topics, members=listed, generation=given["generation"])


def played(group: Group) -> list[Round]:
    return list(rounds(scenario_of_group(group, []), COOPERATIVE))


def plain(assignment: Any) -> dict[str, dict[str, list[int]]]:
    """Return an assignment without topics of which a member gets nothing."""
    return {
        name: {topic: sorted(numbers) for topic, numbers in share.items() if numbers}
        for name, share in assignment.items()
    }


@pytest.mark.parametrize("given", [START, document(BROD)])
def test_assign_a_leader_and_rounds_give_the_same_and_come_to_an_end(given: dict[str, Any]) -> None:
    name = ("--assignor", "cooperative-sticky", "--with-group", "-o", "jsonl")
    first = called("assign", *name, given=json.dumps(given)).stdout
    second = called("assign", *name, given=first).stdout
    assigned = [json.loads(each) for each in (first, second)]
    group = members_of(given)
    steps = played(group)
    assert len(steps) == 2
    assert [plain(each["assignment"]) for each in assigned] == [
        plain(step.rebalance.assignment) for step in steps
    ]
    assert [each["stats"]["follow_up"] for each in assigned] == [True, False]
    assert [bool(each["withheld"]) for each in assigned] == [True, False]
    assert all(sum(map(len, each.values())) == 2 for each in assigned[1]["assignment"].values())
    blobs = {m["id"]: bytes.fromhex(m["subscription"]) for m in given["members"]}
    led = lead(COOPERATIVE, group.cluster, blobs, generation=given["generation"])
    assert plain(led.rebalance.assignment) == plain(assigned[0]["assignment"])
    assert led.must_follow_up
    again = lead(COOPERATIVE, group.cluster, blobs, memory=led.memory)
    assert plain(again.rebalance.assignment) == plain(assigned[1]["assignment"])
    assert not again.must_follow_up


def test_beside_java_the_first_round_is_the_same_and_the_second_ends_it() -> None:
    given = document(BESIDE_JAVA)
    first, last = played(members_of(given))
    found = answer(
        "assign", "--assignor", "cooperative-sticky", "-o", "jsonl", given=json.dumps(given)
    )
    assert plain(found["assignment"]) == plain(first.rebalance.assignment)
    assert found["withheld"] == {"events": [2, 5]}
    assert last.is_settled
    assert plain(last.after)["java-2"] == {"events": [2, 5]}


def test_on_the_clock_they_get_two_each_as_well() -> None:
    members = tuple(
        MemberConfig(
            name=name, topics=("t1",), assignors=("cooperative-sticky",), claims=Claims.ABSENT
        )
        for name in "ABC"
    )
    scenario = Scenario(until_ms=120_000, topics={"t1": 6}, members=members)
    run = simulate(scenario, keeps_history=True)
    assert (run.result.is_settled, run.result.violations, run.result.unowned) == (True, 0, 0)


def test_a_copy_of_kafkas_gives_at_once_what_kafka_gives() -> None:
    name = ("--assignor", "java/cooperative-sticky", "--with-group", "-o", "jsonl")
    first = called("assign", *name, given=json.dumps(START)).stdout
    assert json.loads(first)["withheld"] == {}
    second = json.loads(called("assign", *name, given=first).stdout)
    assert second["assignment"] == json.loads(first)["assignment"]


def test_the_key_that_has_no_effect_is_still_noted() -> None:
    known = {"topics": {"t": 1}, "members": [{"id": "a", "topics": ["t"]}], "assignment": {"a": {}}}
    for assignor in ("cooperative-sticky", "sticky"):
        found = answer("assign", "--assignor", assignor, "-o", "jsonl", given=json.dumps(known))
        assert [note["code"] for note in found["notes"]] == ["key-unused"]


def test_only_what_somebody_claims_is_given_too_early_and_the_reason_is_shown() -> None:
    fields = [
        {"id": "A", "topics": ["t1"], "owned": [["t1", [0, 2, 4]]], "generation": 3},
        {"id": "B", "topics": ["t1"], "owned": [["t1", [1, 3, 5]]], "generation": 3},
        {"id": "C", "topics": ["t1"]},
    ]
    beside = {"protocol": "cooperative", "assignment": GIVEN}
    lines = [{**START, **beside}, {**START, "members": fields, **beside}]
    found, code = answers("check", "-o", "jsonl", given="\n".join(map(json.dumps, lines)))
    silent, known = found
    assert [(each["partition"], each["members"]) for each in known["violations"]] == [
        (4, ["C", "A"]),
        (5, ["C", "B"]),
    ]
    assert "notes" not in known
    assert (silent["violations"], code) == ([], 1)
    *members, partitions = silent["notes"]
    assert [(note["member"], note["code"], note["text"]) for note in members] == [
        (name, "claims-not-known", WHY) for name in "ABC"
    ]
    assert partitions["text"].endswith(": t1:0, t1:2, t1:1, t1:3, t1:4, t1:5")
    table = called("check", "-o", "table", given=json.dumps(lines[0])).stdout.decode()
    assert "no violations" in table
    assert "claims-not-known" in table
    # One member that claims is enough: what it has and another one gets is a violation again.
    mixed = {**START, "members": [fields[0], *START["members"][1:]], **beside}
    (judged,), code = answers("check", "-o", "jsonl", given=json.dumps(mixed))
    assert [each["partition"] for each in judged["violations"]] == [4]
    assert len(judged["notes"]) == 3


def test_user_data_in_the_sticky_layout_is_what_stickiness_favours() -> None:
    group = members_of(document(BROD))
    claim = read_claim(group.members[0], UserData.COOPERATIVE)
    assert (claim.owned, claim.generation, claim.is_known) == ({"events": (0, 1, 2)}, 4, False)
    erlang = member_from_bytes("e", bytes.fromhex(ERLANG))
    generation_alone = member_from_bytes("g", bytes.fromhex(f"{NO_DATA[:-8]}0000000400000007"))
    for member in (erlang, generation_alone, group.members[2]):
        claim = read_claim(member, UserData.COOPERATIVE)
        assert (claim.owned, claim.generation, claim.is_known) == ({}, -1, False)
    text = explain(group, COOPERATIVE, "events", 0)
    assert (text.favoured, text.given) == ("brod-1", "brod-1")
    waits = explain(group, COOPERATIVE, "events", 2)
    assert (waits.verdict, waits.given) == ("waits", None)
    assert WHY in {claim.reason for claim in waits.claims}
    assert plain(assignor_named("java/cooperative-sticky").assign(group).assignment) != plain(
        COOPERATIVE.assign(group).assignment
    )


def test_members_that_are_read_together_claim_what_they_claim_one_by_one() -> None:
    blobs = {f"m{n:03}": bytes.fromhex(brod(n % 6)) for n in range(60)}
    blobs |= {"z": bytes.fromhex(f"{JAVA_1}00000004ffff"), "y": bytes.fromhex(NO_DATA)}
    cluster = Cluster.of({"events": 1200})
    together = Group(cluster=cluster, members=read_members(blobs), generation=4)
    alone = Group(
        cluster=cluster,
        members=[member_from_bytes(name, blob) for name, blob in blobs.items()],
        generation=4,
    )
    found, expected = (
        claims_of(problem_of(group), group, UserData.COOPERATIVE) for group in (together, alone)
    )
    assert found.unknown == expected.unknown
    assert list(found.generation) == list(expected.generation)
    assert found.claimant.tolist() == expected.claimant.tolist()
    assert found.contested == expected.contested
    assert plain(COOPERATIVE.assign(together).assignment) == plain(
        COOPERATIVE.assign(alone).assignment
    )


def test_what_waits_for_version_0_needs_a_round_that_the_leader_starts() -> None:
    """Its client may be an eager one, which does not join again after it gave something up."""
    group = members_of(document({"brod-1": brod(0, 1, 2, 3, 4, 5), "java-2": JAVA_2}))
    given = COOPERATIVE.assign(group)
    assert (given.withheld, given.follow_up) == ({"events": (3, 4, 5)}, True)
    report = check(
        group,
        given.assignment,
        withheld=given.withheld,
        protocol=RebalanceProtocol.COOPERATIVE,
    )
    assert (report.violations, report.gaps["follow_up"]) == ((), True)
    large = Group(
        cluster=Cluster.of({"events": 6, "other": 2000}),
        members=[*group.members, *members_of(document({"j": JAVA_2})).members],
        generation=4,
    )
    assert COOPERATIVE.assign(large).follow_up

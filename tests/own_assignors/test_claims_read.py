"""An assignor of one's own reads `member.owned`, whichever field of the bytes has the claims.

An eager sticky one, written as the documentation says, got `owned={}` in every real group: the
claims were in UserData. Histories in rounds filled the field, and so hid it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from assignors import (
    Assignor,
    Cluster,
    Group,
    Member,
    Rebalance,
    RebalanceProtocol,
    UserData,
    assignor_named,
    lead,
)
from assignors.checks.compare import compare
from assignors.checks.explain import explain
from assignors.clients.kafka_python import strategy
from assignors.leader import Memory, lead_members
from assignors.membership import Membership, applied, subscribe
from assignors.model import Assignment
from assignors.simulation import GroupEvent, GroupEventKind, MemberSpec, Scenario, play
from assignors.simulation.result_tables import simulate_timed
from tests.cli.running import answer
from tests.clients.local_group import LocalGroup
from tests.own_assignors import sticky_ones
from tests.own_assignors.sticky_ones import HERE, STICKY_ONES
from wire import Subscription, decode_assignment, encode_sticky_user_data, encode_subscription

CLUSTER = Cluster.of({"t": 24})


class Looks:
    """An assignor of one's own that keeps what it is shown, and answers as `sticky` does."""

    def __init__(
        self, kind: UserData, protocol: RebalanceProtocol = RebalanceProtocol.EAGER
    ) -> None:
        self.seen: list[Group] = []
        self.assignor = Assignor(
            family="own",
            name="looks",
            assign=self._assign,
            user_data=kind,
            protocols=frozenset({protocol}),
        )

    def _assign(self, group: Group) -> Rebalance:
        self.seen.append(group)
        return assignor_named("sticky").assign(group)

    def member(self) -> Member:
        return self.seen[-1].members[0]


def written(owned: dict[str, tuple[int, ...]], generation: int, version: int = 1) -> bytes:
    """Return what a member of an eager sticky group writes."""
    data = encode_sticky_user_data(owned, generation)
    return encode_subscription(Subscription(version=version, topics=("t",), user_data=data))


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_under_an_eager_sticky_one_claims_come_from_user_data(version: int) -> None:
    looks = Looks(UserData.STICKY)
    blob = written({"t": (3, 5)}, 7, version)
    lead(looks.assignor, CLUSTER, {"a": blob})
    seen = looks.member()
    assert (seen.owned, seen.generation, seen.owned_known) == ({"t": (3, 5)}, 7, True)
    assert (seen.version, seen.user_data) == (version, encode_sticky_user_data({"t": (3, 5)}, 7))
    group = Group(cluster=CLUSTER, members=(replace(seen, owned={}, generation=-1),))
    for ask in (
        lambda: lead_members(looks.assignor, group, memory=Memory()),
        lambda: compare(group, [looks.assignor]),
        lambda: explain(group, looks.assignor, "t", 3),
    ):
        looks.seen.clear()
        ask()
        assert (looks.member().owned, looks.member().generation) == ({"t": (3, 5)}, 7)


def test_under_a_cooperative_one_the_generation_of_version_1_comes_from_user_data() -> None:
    looks = Looks(UserData.COOPERATIVE, RebalanceProtocol.COOPERATIVE)
    data = bytes.fromhex("00000007")
    one = Subscription(version=1, topics=("t",), owned={"t": (3,)}, user_data=data)
    lead(looks.assignor, CLUSTER, {"a": encode_subscription(one)})
    seen = looks.member()
    assert (seen.owned, seen.generation, seen.owned_known) == ({"t": (3,)}, 7, True)
    lead(looks.assignor, CLUSTER, {"a": encode_subscription(replace(one, version=0, owned={}))})
    assert not looks.member().owned_known


def test_without_user_data_nobody_claims_anything_anywhere() -> None:
    """As in a real group; a group described field by field, and rounds, hid that too."""
    looks = Looks(UserData.NONE)
    lead(looks.assignor, CLUSTER, {"a": written({"t": (3,)}, 7)})
    assert (looks.member().owned, looks.member().generation) == ({}, -1)
    owner = Member(member_id="a", topics=("t",), owned={"t": (3,)}, generation=7)
    compare(Group(cluster=CLUSTER, members=(owner,)), [looks.assignor])
    assert (looks.member().owned, looks.member().generation) == ({}, -1)


def after_a_leave(assignor: Assignor) -> tuple[Assignment, Assignment]:
    """Return what four members are assigned, and what three are once the last one has left."""
    members = {name: Membership(kind=assignor.user_data) for name in "abcd"}
    rounds: list[dict[str, dict[str, tuple[int, ...]]]] = []
    for generation in (1, 2):
        blobs = {}
        for name, membership in members.items():
            members[name], blobs[name] = subscribe(membership, ["t"], owned={})
        given = {}
        for name, blob in lead(assignor, CLUSTER, blobs).assignments.items():
            read = decode_assignment(blob).value
            assert read is not None
            given[name] = dict(read.partitions)
            members[name] = applied(members[name], read.partitions, generation)
        rounds.append(given)
        members.pop("d", None)
    return rounds[0], rounds[1]


def kept(before: Assignment, after: Assignment) -> int:
    return sum(len({*before[name]["t"]} & {*share["t"]}) for name, share in after.items())


@pytest.mark.parametrize("name", STICKY_ONES)
def test_a_leader_leaves_partitions_where_they_are(name: str) -> None:
    before, after = after_a_leave(getattr(sticky_ones, name))
    stayed = sum(len(before[each]["t"]) for each in "abc")
    assert kept(before, after) == stayed > 24 / 2
    before, after = after_a_leave(sticky_ones.LAG_AWARE)
    assert kept(before, after) < stayed, "this one is not sticky"


def history(version: int | None) -> Scenario:
    members = tuple(MemberSpec(name=each, topics=("t",), version=version) for each in "abcd")
    return Scenario(topics={"t": 24}, members=members, events=tuple(leaves_and_joins(version)))


def leaves_and_joins(version: int | None) -> Iterator[GroupEvent]:
    for name in "abcd":
        yield GroupEvent(kind=GroupEventKind.LEAVE, name=name)
        new = MemberSpec(name=f"{name}2", topics=("t",), version=version)
        yield GroupEvent(kind=GroupEventKind.JOIN, member=new)


@pytest.mark.parametrize("name", STICKY_ONES)
def test_rounds_of_structs_and_of_bytes_move_the_same(name: str) -> None:
    assignor = getattr(sticky_ones, name)
    moved = [[row.moved for row in play(history(version), assignor)] for version in (None, 1, 3)]
    assert moved[0] == moved[1] == moved[2]
    unsticky = [row.moved for row in play(history(None), sticky_ones.LAG_AWARE)]
    assert sum(moved[0]) < sum(unsticky) / 2


def test_on_the_clock_they_move_as_little_as_sticky() -> None:
    names = [f"{HERE}OWN_STICKY", "sticky", f"{HERE}LAG_AWARE_STICKY", f"{HERE}LAG_AWARE"]
    played = simulate_timed("rolling-restart", assignors=names)
    ours, sticky, lag_aware_sticky, lag_aware = (row["moves"] for row in played)
    assert ours == sticky == 200
    assert lag_aware_sticky < lag_aware / 2


@pytest.mark.parametrize("name", STICKY_ONES)
def test_a_group_of_bytes_is_assigned_as_the_same_group_of_fields(name: str) -> None:
    owned = {"a": tuple(range(0, 24, 2)), "b": tuple(range(1, 24, 2))}
    fields = [
        {"id": each, "topics": ["t"], "owned": {"t": list(owned[each])}, "generation": 7}
        for each in owned
    ]
    blobs = [{"id": e, "subscription": written({"t": owned[e]}, 7).hex()} for e in owned]
    new = {"id": "c", "topics": ["t"]}
    of_fields, of_bytes = (
        answer(
            *("assign", "--assignor", f"{HERE}{name}", "-o", "jsonl"),
            given=str({"topics": {"t": 24}, "members": [*given, new]}).replace("'", '"'),
        )
        for given in (fields, blobs)
    )
    assert of_bytes["assignment"] == of_fields["assignment"]
    for each, had in owned.items():
        assert len({*of_bytes["assignment"][each]["t"]} & {*had}) >= 8


@pytest.mark.parametrize("name", STICKY_ONES)
def test_members_of_kafka_python_keep_what_they_have(name: str) -> None:
    group = LocalGroup({"t": 24})
    for each in "abcd":
        group.add(each, [strategy(getattr(sticky_ones, name))], ["t"])
    group.settle()
    before = {each: member.assigned for each, member in group.members.items()}
    group.remove("d")
    group.settle()
    assert all(before[each] <= group.members[each].assigned for each in "abc")
    group.close()

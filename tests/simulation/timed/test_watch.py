"""What is watched of a run: each monitor's finding is reported, once while it lasts, and when."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.rules import ASSIGNED, REVOKED, Monitoring
from assignors.simulation.timed.monitors.watch import (
    KEPT,
    Watch,
    report,
    saw_coordinator,
    saw_failover,
    saw_member,
    saw_restriction,
    watch_over,
)
from assignors.simulation.timed.protocols.effects import (
    Append,
    Arrived,
    Cancel,
    Command,
    Committed,
    Consume,
    Effect,
    Fired,
    MemberEvent,
    Reply,
    Restrict,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
    OffsetCommit,
)
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.sides import Sides
from wire import TopicPartitions

ONE: TopicPartitions = {"t": (0,)}
OTHER: TopicPartitions = {"t": (1,)}
NONE: TopicPartitions = {}
POLLS = Fired(("poll",), 0)
REVOKES, ASSIGNS = Schedule(REVOKED, 1), Schedule(ASSIGNED, 1)
BOTH_WAYS = pytest.mark.parametrize("monitoring", [Monitoring.BASIC, Monitoring.FULL])


class Played:
    """Members `a` and `b` of generation 3, what they do told step by step to what watches."""

    def __init__(self, monitoring: Monitoring, known: str = "ab") -> None:
        """Two members that do nothing, of which a coordinator knows some."""
        group = ClassicGroup(generation=3)
        coordinator = GroupCoordinator(new_id=str, new_uuid=str, group=group, is_behind=True)
        self.members = [
            SimpleNamespace(is_up=True, member_id=name, generation=3, owned=NONE) for name in "ab"
        ]
        members: Any = group.members
        for name in known:
            members[name] = SimpleNamespace(member_id=name, generation=3, assignment=b"")
        self.ledger = Ledger()
        self.ledger.grow(0, "t", 2)
        sides: Any = SimpleNamespace(
            members=self.members, coordinator=coordinator, kafka=coordinator
        )
        self.sides: Sides = sides
        watch = watch_over(self.sides, self.ledger, "ab", monitoring)
        assert watch is not None
        self.watch: Watch = watch
        self.at = 0
        self.watch.generations[:] = [3, 3]
        saw_coordinator(self.watch, (0, 0), Command.START, [], turns=False)

    def step(self, name: str, event: MemberEvent, *effects: Effect) -> None:
        """Let a member do something: what it consumes is in the ledger, as in a run."""
        self.at += 1
        for effect in effects:
            if isinstance(effect, Consume):
                self.ledger.consume(self.at, name, effect.owned, effect.reason)
        saw_member(self.watch, (self.at, 10 * self.at), "ab".index(name), event, effects)

    def consumes(self, name: str, owned: TopicPartitions) -> None:
        self.step(name, POLLS, Consume(owned, "assigned"))

    def found(self) -> list[tuple[str, int, int]]:
        return [(each.monitor, each.event, each.at_us) for each in self.watch.kept]


def test_nobody_watches_what_is_not_to_be_watched() -> None:
    assert watch_over(Played(Monitoring.FULL).sides, Ledger(), "ab", Monitoring.OFF) is None
    saw_restriction(None, Restrict("a", ONE, "fenced"))
    saw_failover(None, [])


@BOTH_WAYS
def test_who_consumes_what_another_consumes_is_found_once_while_it_lasts(
    monitoring: Monitoring,
) -> None:
    played = Played(monitoring)
    played.consumes("a", ONE)
    played.consumes("b", OTHER)
    assert played.found() == []
    played.consumes("b", ONE)
    played.consumes("a", {"t": (0, 1)})
    once = [("double-consumption", 3, 30)]
    assert [each for each in played.found() if each[1] == 3] == once
    played = Played(monitoring)
    played.consumes("a", ONE)
    played.consumes("b", ONE)
    played.step("b", POLLS, ASSIGNS)
    assert played.found() == [("double-consumption", 2, 20)]
    played.consumes("b", NONE)
    played.consumes("b", ONE)
    again = ("double-consumption", 5, 50)
    assert played.found() == [("double-consumption", 2, 20), again]


@BOTH_WAYS
def test_what_lasts_counts_anew_after_a_failover(monitoring: Monitoring) -> None:
    played = Played(monitoring)
    played.consumes("a", ONE)
    played.consumes("b", ONE)
    saw_failover(played.watch, [])
    saw_coordinator(played.watch, (8, 80), Command.START, [], turns=False)
    played.step("b", POLLS, ASSIGNS)
    assert len(played.found()) == 2


@BOTH_WAYS
@pytest.mark.parametrize("begins_first", [True, False])
def test_who_consumes_what_another_still_commits_is_found(
    monitoring: Monitoring, *, begins_first: bool
) -> None:
    """Whether it begins to while the callback runs, or had begun before."""
    played = Played(monitoring)
    played.consumes("a", ONE)
    if begins_first:
        saw_restriction(played.watch, Restrict("b", ONE, "fenced"))
        played.ledger.consume(1, "b", ONE, "fenced")
    played.step("a", POLLS, Consume(NONE, "revoked"), REVOKES)
    if not begins_first:
        played.consumes("b", OTHER)
        assert played.found() == []
        played.consumes("b", ONE)
    (found,) = played.found()
    assert found[0] == "handed-over-before-commit"


@BOTH_WAYS
@pytest.mark.parametrize("ends", [Fired(REVOKED, 0), Command.CRASH])
def test_once_the_callback_is_over_the_next_one_may_consume(
    monitoring: Monitoring, ends: MemberEvent
) -> None:
    played = Played(monitoring)
    played.consumes("a", ONE)
    played.step("a", POLLS, Consume(NONE, "revoked"), REVOKES)
    played.step("a", ends)
    played.consumes("b", ONE)
    assert played.found() == []
    assert (played.watch.committing, played.watch.committed_by) == (set(), {})


def test_what_another_commits_now_stays_when_the_first_has_committed() -> None:
    played = Played(Monitoring.BASIC)
    for name in "ab":
        played.consumes(name, ONE)
        played.step(name, POLLS, Consume(NONE, "revoked"), REVOKES)
    assert [name for name, *_ in played.found()] == ["handed-over-before-commit"]
    played.step("a", Fired(REVOKED, 0))
    assert (played.watch.committing, played.watch.committed_by) == ({1}, {("t", 0): 1})


@BOTH_WAYS
def test_whom_the_coordinator_has_removed_may_consume_it_too(monitoring: Monitoring) -> None:
    for removed, found in (({"a": "a"}, False), ({"a": "other"}, True), ({}, True)):
        played = Played(monitoring, known="b")
        played.watch.removed = removed
        played.consumes("a", ONE)
        played.consumes("b", ONE)
        assert bool(played.found()) is found


@BOTH_WAYS
def test_a_callback_that_begins_while_another_runs_is_found(monitoring: Monitoring) -> None:
    played = Played(monitoring)
    played.step("a", POLLS, REVOKES)
    played.step("a", Fired(REVOKED, 0), ASSIGNS)
    assert played.found() == []
    played.step("a", POLLS, REVOKES)
    assert played.found() == [("callbacks-overlap", 3, 30)]
    played.step("a", POLLS, Cancel(REVOKED))
    played.step("a", Fired(ASSIGNED, 0), REVOKES)
    assert len(played.found()) == 1


@BOTH_WAYS
def test_a_generation_that_falls_is_found_unless_it_was_never_written(
    monitoring: Monitoring,
) -> None:
    played = Played(monitoring)
    one = played.members[0]
    for generation in (4, 4, 2):
        one.generation = generation
        played.step("a", POLLS)
    assert played.found() == [("epoch-went-back", 3, 30)]
    played.watch.unwritten = {0}
    for generation in (5, 4, 3):
        one.generation = generation
        played.step("a", POLLS)
    assert [each[:2] for each in played.found()] == [
        ("epoch-went-back", 3),
        ("epoch-went-back", 6),
    ]


@pytest.mark.parametrize(("who", "is_wrong"), [("a", False), ("c", True)])
def test_a_commit_of_a_stranger_is_found(who: str, *, is_wrong: bool) -> None:
    played = Played(Monitoring.FULL)
    event = Arrived(1, OffsetCommit(who, 3, ()))
    saw_coordinator(played.watch, (7, 70), event, [Append((), 1)], turns=False)
    assert played.found() == ([("commit-of-a-stranger", 7, 70)] if is_wrong else [])


@pytest.mark.parametrize("is_plain", [False, True])
def test_a_request_that_is_answered_a_second_time_is_found(*, is_plain: bool) -> None:
    """By a later step or the same one; whether the group is looked at then does not matter."""
    played = Played(Monitoring.FULL)
    event = Arrived(3, Heartbeat("a", None, 3)) if is_plain else Committed(1)
    one, other = (Reply(number, HeartbeatResponse(ErrorCode.NONE)) for number in (1, 2))
    saw_coordinator(played.watch, (5, 50), event, [one, other], turns=False)
    assert played.found() == []
    saw_coordinator(played.watch, (6, 60), event, [other], turns=False)
    saw_coordinator(played.watch, (7, 70), event, [Reply(3, one.response)] * 2, turns=False)
    assert played.found() == [("answered-twice", 6, 60), ("answered-twice", 7, 70)]


def test_two_members_of_a_generation_that_own_a_partition_are_found_by_any_step() -> None:
    """Of the coordinator, and of a member, which consumes nothing more by it."""
    for acts in (True, False):
        played = Played(Monitoring.FULL)
        for each in played.members:
            each.owned = ONE
        if acts:
            saw_coordinator(played.watch, (7, 70), Command.START, [], turns=False)
        else:
            played.step("a", POLLS)
        assert [each[0] for each in played.found()] == ["double-owned-in-epoch"]


def test_the_first_violations_are_kept_and_all_counted() -> None:
    watch = Played(Monitoring.BASIC).watch
    report(watch, [("double-target", str(number)) for number in range(KEPT + 2)])
    assert watch.count == KEPT + 2
    assert [each.text for each in watch.kept] == [str(number) for number in range(KEPT)]


def test_a_zombie_that_joins_again_is_judged_though_it_consumes_what_it_did() -> None:
    played = Played(Monitoring.BASIC, known="b")
    played.watch.removed = {"a": "a"}
    played.consumes("a", ONE)
    played.consumes("b", ONE)
    assert played.found() == []
    group: Any = played.sides.kafka.group
    group.members["a"] = SimpleNamespace(member_id="a", generation=4, assignment=b"")
    group.generation = group.members["b"].generation = 4
    played.members[0].generation = 4
    played.step("a", POLLS)
    assert played.found() == [("double-consumption", 3, 30)]


@BOTH_WAYS
def test_who_is_in_the_group_with_an_earlier_generation_may_be_a_zombie(
    monitoring: Monitoring,
) -> None:
    played = Played(monitoring)
    group: Any = played.sides.kafka.group
    group.generation = group.members["b"].generation = 4
    saw_coordinator(played.watch, (0, 0), Command.START, [], turns=False)
    played.consumes("a", ONE)
    played.consumes("b", ONE)
    assert played.found() == []


@BOTH_WAYS
def test_who_does_not_run_consumes_nothing(monitoring: Monitoring) -> None:
    played = Played(monitoring)
    played.consumes("b", ONE)
    played.members[1].is_up = False
    played.consumes("a", ONE)
    assert played.found() == []


@BOTH_WAYS
@pytest.mark.parametrize("began", [True, False])
def test_a_partition_that_is_deleted_while_its_member_commits_it_does_not_matter(
    monitoring: Monitoring, *, began: bool
) -> None:
    """The topic is made anew with fewer partitions, before or after the callback begins."""
    played = Played(monitoring)
    played.consumes("a", {"t": (0, 1)})
    if began:
        played.step("a", POLLS, Consume(NONE, "revoked"), REVOKES)
    played.ledger.drop(1, "t")
    if not began:
        played.step("a", POLLS, Consume(NONE, "revoked"), REVOKES)
    played.ledger.grow(1, "t", 1)
    if not began:
        played.step("a", Fired(REVOKED, 0), REVOKES)
    played.consumes("b", ONE)
    assert [each[0] for each in played.found()] == ["handed-over-before-commit"]

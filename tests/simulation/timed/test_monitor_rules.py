"""What each safety monitor calls wrong, and what is nearly that and right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assignors.simulation.timed.monitors.coordinators import GROUP, CoordinatorView, folded
from assignors.simulation.timed.monitors.rules import (
    ASSIGNED,
    REVOKED,
    Consumption,
    GroupMoment,
    MemberMoment,
    callbacks_overlap,
    commit_of_a_stranger,
    consumption_after,
    epoch_went_back,
    epochs_between,
    epochs_of,
    generation_given_twice,
    listed,
)
from assignors.simulation.timed.monitors.table import broken, state_found
from assignors.simulation.timed.protocols.effects import (
    Append,
    Arrived,
    Cancel,
    Command,
    Consume,
    CoordinatorEvent,
    Effect,
    Fired,
    MemberEvent,
    Record,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
    OffsetCommit,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.kafka.records import (
    CurrentRecord,
    GroupEpochRecord,
    GroupRecord,
    GroupTombstone,
    RecordedMember,
)
from wire import TopicPartitions

ONE: TopicPartitions = {"t": (0,)}
OTHER: TopicPartitions = {"t": (1,)}


def member(
    name: str, owned: TopicPartitions | None = None, generation: int = 3, **does: Any
) -> MemberMoment:
    return MemberMoment(
        name=name,
        member_id=name,
        generation=generation,
        owned=owned or {},
        does=Consumption(**does),
    )


def moment(*members: MemberMoment, **settings: Any) -> GroupMoment:
    known = {each.name: each.generation for each in members}
    return GroupMoment(members=members, **{"known": known, "target": {}, **settings})


KNOWN_A = {"a": 3}
CONSUMES: dict[str, Any] = {"consumed": ONE}
CONSUMES_OTHER: dict[str, Any] = {"consumed": OTHER}
COMMITS: dict[str, Any] = {"committing": ONE}
NO_ZOMBIE = replace(member("b", **CONSUMES), may_be_zombie=False)
TARGET = {"a": OTHER, "b": ONE}


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (moment(member("a", ONE), member("b", ONE)), {"double-owned-in-epoch"}),
        (moment(member("a", ONE), member("b", OTHER)), set()),
        (moment(member("a", ONE), member("b", ONE, 4)), set()),
        (moment(member("a", ONE, 1), member("b", ONE, 1)), {"double-owned-in-epoch"}),
        (moment(member("a", ONE, 0), member("b", ONE, 0)), set()),
        (moment(member("a", ONE), member("b", ONE), known=KNOWN_A), set()),
        (moment(member("a", **CONSUMES), member("b", **CONSUMES)), {"double-consumption"}),
        (moment(member("a", **CONSUMES), member("b", **CONSUMES_OTHER)), set()),
        (moment(member("a", **CONSUMES), member("b", **CONSUMES), known=KNOWN_A), set()),
        (moment(member("a", **CONSUMES), NO_ZOMBIE, known=KNOWN_A), {"double-consumption"}),
        (moment(member("a", **COMMITS), member("b", **CONSUMES)), {"handed-over-before-commit"}),
        (moment(member("a", **COMMITS), member("b", **CONSUMES_OTHER)), set()),
        (moment(member("a", **COMMITS, **CONSUMES), member("b")), set()),
        (moment(member("a", **COMMITS), member("b", **CONSUMES), known={"b": 3}), set()),
        (moment(member("a", **COMMITS), member("b", **CONSUMES), known=KNOWN_A), set()),
        (moment(target={"a": ONE, "b": ONE}), {"double-target"}),
        (moment(target={"a": ONE, "b": OTHER}), set()),
        (moment(member("a", ONE), target=TARGET, target_epoch=3), {"target-epoch-too-early"}),
        (moment(member("a", ONE), target=TARGET), set()),
        (moment(member("a", ONE), target=TARGET, target_epoch=4), set()),
        (moment(member("a", OTHER), target=TARGET, target_epoch=3), set()),
        (moment(member("a", ONE), target=TARGET, target_epoch=3, known={}), set()),
        (moment(unstable=("a",)), {"stable-group-is-not"}),
    ],
)
def test_what_is_wrong_with_a_moment(now: GroupMoment, found: set[str]) -> None:
    assert {name for name, _ in broken(now)} == found


def test_only_those_are_named_that_have_the_same() -> None:
    now = moment(
        member("a", ONE, **CONSUMES),
        member("b", OTHER, **CONSUMES_OTHER),
        member("c", ONE, **CONSUMES),
    )
    assert [text for _, text in broken(now)] == [
        "a and c own t-0 in epoch 3",
        "a and c both consume t-0",
    ]


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "t-0"), (3, "t-0, t-1, t-2"), (4, "t-0, t-1, t-2 and 1 more")],
)
def test_the_first_partitions_are_named(count: int, text: str) -> None:
    assert listed({"t": tuple(range(count))}) == text


REVOKES, ASSIGNS = Schedule(REVOKED, 1), Schedule(ASSIGNED, 1)
NOTHING: frozenset[tuple[str, ...]] = frozenset()


@pytest.mark.parametrize(
    ("running", "event", "effects", "is_wrong"),
    [
        (NOTHING, Command.STOP, [REVOKES], False),
        (NOTHING, Command.STOP, [REVOKES, ASSIGNS], True),
        ({REVOKED}, Command.STOP, [ASSIGNS], True),
        ({REVOKED}, Command.STOP, [Schedule(("poll",), 1)], False),
        ({REVOKED}, Command.STOP, [Cancel(REVOKED)], False),
        ({REVOKED}, Fired(REVOKED, 0), [ASSIGNS], False),
        ({REVOKED}, Fired(("poll",), 0), [ASSIGNS], True),
    ],
)
def test_callbacks_run_one_at_a_time(
    running: frozenset[tuple[str, ...]],
    event: MemberEvent,
    effects: list[Effect],
    *,
    is_wrong: bool,
) -> None:
    before = Consumption(callbacks=frozenset(running))
    assert bool([*callbacks_overlap("a", before, event, effects)]) is is_wrong


BUSY = Consumption(consumed=OTHER, committing=ONE, callbacks=frozenset({REVOKED}))


@pytest.mark.parametrize(
    ("event", "effects", "committing"),
    [
        (Fired(("poll",), 0), [], ONE),
        (Fired(REVOKED, 0), [], {}),
        (Fired(REVOKED, 0), [REVOKES], ONE),
        (Command.STOP, [Cancel(REVOKED)], {}),
        (Command.CRASH, [], {}),
        (Command.START, [], {}),
        (Command.STOP, [Consume({}, "lost")], {}),
        (Command.STOP, [Consume({"t": (0, 1)}, "assigned")], ONE),
        (Command.STOP, [Consume({}, "revoked"), REVOKES], OTHER),
    ],
)
def test_a_member_commits_until_its_callback_is_over(
    event: MemberEvent, effects: list[Effect], committing: TopicPartitions
) -> None:
    assert consumption_after(BUSY, event, effects).committing == committing


def record(generation: int, **given: bytes) -> GroupRecord:
    members = tuple(
        RecordedMember(name, None, name, 1, 1, b"", plan) for name, plan in given.items()
    )
    return GroupRecord(generation, "consumer", "range", "a", members)


def log(generation: int, **given: bytes) -> dict[tuple[str, ...], Any]:
    return {("group",): (generation, "range", "a", given)}


def written(generation: int, **given: bytes) -> list[Effect]:
    return [Append((record(generation, **given),), 1)]


PLAN = Reply(1, SyncGroupResponse(ErrorCode.NONE, b""))
ALIVE = Reply(1, HeartbeatResponse(ErrorCode.NONE))
FORGOTTEN: list[Effect] = [Append((GroupTombstone(),), 1)]
REFUSED = Reply(1, SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS))
OWNER = (member("a", ONE), member("b"))
GIVEN = CoordinatorView(known={"a": 3, "b": 3}, target={"a": {}, "b": ONE})
KEPT = CoordinatorView(known={"a": 3, "b": 3}, target={"a": ONE, "b": OTHER})


@pytest.mark.parametrize(
    ("before", "logged", "effects", "after", "found"),
    [
        ({"generation": 3, "known": {"a": 3}}, {}, [], {"generation": 2}, {"epoch-went-back"}),
        ({"generation": 3, "known": {}}, {}, [], {"generation": 2}, set()),
        ({"generation": 3, "known": {"a": 3}}, {}, [], {"generation": 3}, set()),
        ({"known": {"a": 3}}, {}, [], {"known": {"a": 2}}, {"epoch-went-back"}),
        ({"known": {"a": 3}}, {}, [], {"known": {"a": 1}}, {"epoch-went-back"}),
        ({"known": {"a": 3}}, {}, [], {"known": {"a": 0}}, set()),
        ({"known": {"a": 3}}, {}, [], {"known": {"b": 2}}, set()),
        ({}, log(3, a=b"x"), [], {"logged": log(3, a=b"x")}, set()),
        ({}, log(3, a=b"x"), [], {"logged": log(3, a=b"y")}, {"log-differs-from-state"}),
        ({}, log(3, a=b"x"), [], {"logged": {}}, {"log-differs-from-state"}),
        ({}, {}, [], {"logged": log(3, a=b"x")}, {"log-differs-from-state"}),
        ({}, log(3, a=b"x"), written(4, a=b"y"), {"logged": log(4, a=b"y")}, set()),
        ({}, log(3, a=b"x"), [], {"logged": None}, set()),
        ({}, log(3, a=b"x"), written(3, a=b"y"), {}, {"generation-given-twice"}),
        ({}, log(3, a=b"x", b=b"y"), written(3, a=b"x", c=b"y"), {}, set()),
        ({}, log(3, a=b"x"), written(4, a=b"y"), {}, set()),
        ({}, log(3), written(3, a=b"y"), {}, set()),
        ({}, {}, written(3, a=b"y"), {}, set()),
        ({}, {}, [PLAN], GIVEN, {"given-while-owned"}),
        ({}, log(3, a=b"x"), FORGOTTEN, {"logged": {}}, set()),
        ({}, {}, [PLAN], KEPT, set()),
        ({}, {}, [ALIVE], GIVEN, set()),
        ({}, {}, [REFUSED], GIVEN, set()),
        ({}, {}, [PLAN], replace(GIVEN, target_epoch=3), set()),
        ({}, {}, [PLAN], replace(GIVEN, known={"b": 3}), set()),
    ],
)
def test_what_is_wrong_with_a_step_of_the_coordinator(
    before: dict[str, Any],
    logged: dict[tuple[str, ...], Any],
    effects: list[Effect],
    after: dict[str, Any] | CoordinatorView,
    found: set[str],
) -> None:
    now = after if isinstance(after, CoordinatorView) else CoordinatorView(**after)
    records = [each for effect in effects if isinstance(effect, Append) for each in effect.records]
    said = folded(logged, records)
    wrong = {name for name, _ in state_found(said, effects, now, OWNER)}
    if any([*epoch_went_back(*each)] for each in epochs_between(CoordinatorView(**before), now)):
        wrong.add("epoch-went-back")
    if any(generation_given_twice(logged.get(GROUP), said.get(GROUP))):
        wrong.add("generation-given-twice")
    assert wrong == found


WRITTEN: list[Effect] = [Append((), 1)]
GROUP_OF_A = CoordinatorView(known={"a": 3})
EXACT = replace(GROUP_OF_A, is_exact=True)


@pytest.mark.parametrize(
    ("group", "who", "generation", "settings", "effects", "is_wrong"),
    [
        (GROUP_OF_A, "a", 3, {}, WRITTEN, False),
        (GROUP_OF_A, "a", 2, {}, WRITTEN, False),
        (GROUP_OF_A, "a", 0, {}, WRITTEN, False),
        (GROUP_OF_A, "a", 4, {}, WRITTEN, True),
        (GROUP_OF_A, "b", 3, {}, WRITTEN, True),
        (GROUP_OF_A, "b", 3, {}, [], False),
        (GROUP_OF_A, "", -1, {}, WRITTEN, True),
        (CoordinatorView(), "", -1, {}, WRITTEN, False),
        (EXACT, "a", 3, {}, WRITTEN, False),
        (EXACT, "a", 2, {}, WRITTEN, True),
        (GROUP_OF_A, "b", 3, {"producer_id": 7}, WRITTEN, False),
    ],
)
def test_only_members_commit(
    *,
    group: CoordinatorView,
    who: str,
    generation: int,
    settings: dict[str, Any],
    effects: list[Effect],
    is_wrong: bool,
) -> None:
    commit = OffsetCommit(who, generation, (), **settings)
    assert bool([*commit_of_a_stranger(group, Arrived(1, commit), effects)]) is is_wrong


@pytest.mark.parametrize("event", [Arrived(1, Heartbeat("b", None, 3)), Fired(("session", "b"), 0)])
def test_what_is_no_commit_commits_nothing(event: CoordinatorEvent) -> None:
    assert [*commit_of_a_stranger(GROUP_OF_A, event, WRITTEN)] == []


@pytest.mark.parametrize(
    ("before", "record", "found"),
    [
        ((CurrentRecord("a", 3),), CurrentRecord("a", 2), 1),
        ((CurrentRecord("a", 3),), CurrentRecord("a", 3), 0),
        ((CurrentRecord("a", 3),), CurrentRecord("b", 2), 0),
        ((CurrentRecord("a", 3),), CurrentRecord("a", -2), 0),  # a static member leaves
        ((CurrentRecord("a", 3), CurrentRecord("a")), CurrentRecord("a", 2), 0),
        ((GroupEpochRecord(3),), GroupEpochRecord(2), 1),
        ((GroupEpochRecord(3), GroupEpochRecord(None)), GroupEpochRecord(1), 0),
        ((GroupRecord(3, None, None, None, ()),), GroupRecord(2, None, None, None, ()), 1),
        (
            (GroupRecord(3, None, None, None, ()), GroupTombstone()),
            GroupRecord(1, None, None, None, ()),
            0,
        ),
    ],
)
def test_an_epoch_falls_in_the_records_only_after_a_tombstone(
    before: tuple[Record, ...], record: Record, found: int
) -> None:
    fell = [epoch_went_back(*each) for each in epochs_of(folded({}, before), record)]
    assert sum(map(any, fell)) == found

"""Watch a run: judge each event, and keep the first violations.

Under `Monitoring.BASIC` a monitor looks at what an event has changed: a heartbeat costs nothing, a
member that consumes something else O(partitions that change). Monitors of the whole group look at
it when a rebalance begins or ends. Under `FULL` they do after every event.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assignors.ownership.changes import TopicPartition, changed_topics
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.coordinators import (
    GROUP,
    CoordinatorView,
    Folded,
    fold_in,
    folded,
    has_member,
    is_in_group,
    view_of,
    view_of_sender,
)
from assignors.simulation.timed.monitors.rules import (
    Consumption,
    GroupMoment,
    MemberMoment,
    Monitoring,
    Violation,
    changes_consumption,
    consumption_after,
    epochs_between,
    epochs_of,
)
from assignors.simulation.timed.monitors.table import (
    INVARIANTS,
    MONITORS,
    Kind,
    findings_of,
    state_found,
)
from assignors.simulation.timed.protocols.effects import (
    OUTSIDE,
    Append,
    Arrived,
    Effect,
    Fired,
    MemberEvent,
    Record,
    Reply,
    Restrict,
)
from assignors.simulation.timed.protocols.kafka.messages import Heartbeat, OffsetCommit
from assignors.simulation.timed.protocols.push.coordinator import PushCoordinator
from assignors.simulation.timed.sides import Sides

KEPT = 100
"""So many violations are kept; the rest are counted."""
CONSUMPTION = [
    name
    for name, each in MONITORS.items()
    if each.kind is Kind.MOMENT and not each.is_of_whole_group
]
"""What is judged after each change of what a member consumes."""


@dataclass(slots=True, kw_only=True)
class Watch:
    """What monitors remember of a run."""

    is_full: bool
    sides: Sides
    ledger: Ledger
    names: Sequence[str]
    numbers: dict[str, int]
    does: list[Consumption]
    """What each member really does."""
    generations: list[int]
    unwritten: set[int] = field(default_factory=set)
    """Members whose generation may fall once: that of a classic group is written only with its
    assignment, and the next coordinator gives it out again, as in Kafka."""
    committing: set[int] = field(default_factory=set)
    """Members whose callback for revoked partitions runs."""
    committed_by: dict[TopicPartition, int] = field(default_factory=dict)
    """What they commit, each partition with the last member that does."""
    removed: Mapping[str, str] = field(default_factory=dict)
    """Member name -> the id with which the coordinator removed it last."""
    view: CoordinatorView = field(default_factory=CoordinatorView)
    log: Folded = field(default_factory=dict)
    """What the records written so far say."""
    answered: set[int] = field(default_factory=set)
    """Numbers of the requests that the coordinator has answered."""
    lasting: set[tuple[str, str]] = field(default_factory=set)
    """What was wrong with the last moment: it counts once while it lasts."""
    at: tuple[int, int] = (0, 0)
    """Number of the event, and microseconds since the run began."""
    count: int = 0
    kept: list[Violation] = field(default_factory=list)


def watch_over(
    sides: Sides, ledger: Ledger, names: Sequence[str], monitoring: Monitoring
) -> Watch | None:
    """Return what watches a run, `None` for one that nobody watches."""
    if monitoring is Monitoring.OFF:
        return None
    return Watch(
        is_full=monitoring is Monitoring.FULL,
        sides=sides,
        ledger=ledger,
        names=names,
        numbers={name: number for number, name in enumerate(names)},
        does=[Consumption()] * len(names),
        generations=[0] * len(names),
    )


def judge(watch: Watch, name: str, *facts: object) -> None:
    """Report what a monitor calls wrong with what it looks at."""
    report(watch, findings_of(name, *facts))


def report(watch: Watch, findings: Iterable[tuple[str, str]]) -> None:
    """Count what was found, and keep the first."""
    for monitor, text in findings:
        watch.count += 1
        if len(watch.kept) < KEPT:
            watch.kept.append(
                Violation(monitor=monitor, event=watch.at[0], at_us=watch.at[1], text=text)
            )


def saw_member(
    watch: Watch,
    at: tuple[int, int],
    number: int,
    event: MemberEvent,
    effects: Sequence[Effect],
) -> None:
    """Judge what a member did about an event, once its effects are done.

    `at` is the event's number and time.
    """
    if type(event) is Fired and event.key[0] == "heartbeat":
        return
    before, generation = watch.does[number], watch.sides.members[number].generation
    is_same = generation == watch.generations[number]
    is_idle = not watch.is_full and not changes_consumption(before, event, effects)
    if is_idle and is_same:
        return
    watch.at = at
    if not is_same:
        _saw_generation(watch, number, generation)
    if is_idle and not (watch.ledger.doubled or watch.lasting):
        return
    after = consumption_after(before, event, effects)
    if after is before and is_same and not watch.is_full:
        return
    watch.does[number] = after
    judge(watch, "callbacks-overlap", watch.names[number], before, event, effects)
    _commits(watch, number, before, after)
    if watch.is_full:
        _judge_moment(watch, _moment(watch), INVARIANTS)
    elif watch.ledger.doubled or watch.lasting or _is_concerned(watch, before, after):
        moment = _near(watch, number)
        _judge_moment(watch, moment, CONSUMPTION)


def _saw_generation(watch: Watch, number: int, generation: int) -> None:
    """Judge another generation of a member."""
    before = watch.generations[number]
    if number in watch.unwritten and generation < before:
        watch.unwritten.discard(number)
    elif generation > 0:
        judge(watch, "epoch-went-back", watch.names[number], before, generation)
    watch.generations[number] = generation


def _commits(watch: Watch, number: int, before: Consumption, after: Consumption) -> None:
    """Keep which partitions a member commits, as its callback for them runs. Cost: O(those)."""
    if after.committing is not before.committing:
        (watch.committing.add if after.committing else watch.committing.discard)(number)
        committed_by = watch.committed_by
        for topic, partitions in before.committing.items():
            for partition in partitions:
                if committed_by.get((topic, partition)) == number:
                    del committed_by[topic, partition]
        for topic, partitions in after.committing.items():
            for partition in partitions:
                committed_by[topic, partition] = number


def _is_concerned(watch: Watch, before: Consumption, after: Consumption) -> bool:
    """Return whether somebody else may commit what a member has begun to consume, or the reverse.

    Cost: O(partitions that change).
    """
    if after.committing is not before.committing:
        partitions = watch.ledger.partitions
        for topic, numbers in after.committing.items():
            listed = partitions.get(topic, [])  # it may be deleted
            size = len(listed)
            if any(number < size and listed[number].consumers for number in numbers):
                return True
    if not watch.committed_by or after.consumed is before.consumed:
        return False
    return any(
        (topic, number) in watch.committed_by
        for topic, old, new in changed_topics(before.consumed, after.consumed)
        for number in new - old
    )


def saw_restriction(watch: Watch | None, effect: Restrict) -> None:
    """Take note of what brokers let a member consume. Cost: O(1)."""
    if watch is None:
        return
    number = watch.numbers[effect.member]
    watch.does[number] = replace(watch.does[number], consumed=effect.owned)


def saw_failover(watch: Watch | None, records: Iterable[Record]) -> None:
    """Begin anew with a coordinator that knows the records that are left.

    It is another one, or one that went back as an append failed. Cost: O(records).
    """
    if watch is not None:
        watch.view, watch.log = CoordinatorView(), folded({}, records)
        watch.lasting = set()


def saw_coordinator(
    watch: Watch,
    at: tuple[int, int],
    event: object,
    effects: Sequence[Effect],
    *,
    turns: bool,
) -> None:
    """Judge what the coordinator did about an event; `turns`: a rebalance began or ended.

    Cost: O(effects and records), O(partitions of the group) where it turns.
    """
    watch.at = at
    request = event.request if type(event) is Arrived else None
    coordinator, before, given = watch.sides.coordinator, watch.view, watch.log.get(GROUP)
    has_appended = _saw_effects(watch, effects)
    if type(request) is OffsetCommit:
        view = view_of_sender(coordinator, request)
        judge(watch, "commit-of-a-stranger", view, event, effects)
    if has_appended:
        judge(watch, "generation-given-twice", given, watch.log.get(GROUP))
    elif type(request) is Heartbeat:
        return
    if not (turns or watch.is_full):
        return
    watch.view = after = view_of(coordinator)
    if isinstance(coordinator, PushCoordinator):  # it has no records of members
        for epochs in epochs_between(before, after):
            judge(watch, "epoch-went-back", *epochs)
    members = _members(watch, range(len(watch.names)))
    report(watch, state_found(watch.log, effects, after, members))
    _judge_moment(watch, _moment(watch), INVARIANTS)


def _saw_effects(watch: Watch, effects: Sequence[Effect]) -> bool:
    """Judge answers and records, and take over what they say; return whether there are records."""
    has_appended = False
    for effect in effects:
        if type(effect) is Reply:
            if effect.number != OUTSIDE:
                judge(watch, "answered-twice", effect.number, watch.answered)
                watch.answered.add(effect.number)
        elif type(effect) is Append:
            has_appended = True
            for record in effect.records:
                for epochs in epochs_of(watch.log, record):
                    judge(watch, "epoch-went-back", *epochs)
                fold_in(watch.log, (record,))
    return has_appended


def saw_end(watch: Watch) -> None:
    """Judge the whole group at the end of a run. Cost: O(partitions of the group)."""
    watch.view = after = view_of(watch.sides.coordinator)
    report(watch, state_found(watch.log, (), after, ()))
    _judge_moment(watch, _moment(watch), INVARIANTS)


def _judge_moment(watch: Watch, moment: GroupMoment, names: Collection[str]) -> None:
    """Report what these monitors find now and did not find the last time."""
    now = {(name, text) for name in names for text in INVARIANTS[name](moment)}
    report(watch, sorted(now - watch.lasting))
    watch.lasting = now | {each for each in watch.lasting if each[0] not in names}


def _members(watch: Watch, numbers: Iterable[int]) -> tuple[MemberMoment, ...]:
    members = watch.sides.members
    return tuple(
        MemberMoment(
            name=watch.names[number],
            member_id=members[number].member_id,
            generation=members[number].generation,
            owned=members[number].owned,
            does=watch.does[number],
            may_be_zombie=_may_be_zombie(watch, number),
        )
        for number in numbers
        if members[number].is_up
    )


def _may_be_zombie(watch: Watch, number: int) -> bool:
    """Return whether the coordinator has removed a member, or has it in an earlier generation."""
    member_id, removed = watch.sides.members[number].member_id, watch.removed
    if is_in_group(watch.sides.coordinator, member_id):
        return True
    return watch.names[number] in removed and member_id in {"", removed[watch.names[number]]}


def _moment(watch: Watch) -> GroupMoment:
    view = watch.view
    return GroupMoment(
        members=_members(watch, range(len(watch.names))),
        known=view.known,
        target=view.target,
        target_epoch=view.target_epoch,
        unstable=view.unstable,
    )


def _near(watch: Watch, number: int) -> GroupMoment:
    """Return the part of the moment that a member's change may have broken.

    Cost: O(members with a callback and their partitions, plus partitions with two consumers).
    """
    partitions = watch.ledger.partitions
    near = {number, *watch.committing}
    for topic, partition in (*watch.ledger.doubled, *watch.committed_by):
        listed = partitions.get(topic, [])  # it may be deleted
        if partition < len(listed):
            near.update(watch.numbers[name] for name in listed[partition].consumers)
    members = _members(watch, sorted(near))
    known = {
        each.member_id: each.generation
        for each in members
        if has_member(watch.sides.coordinator, each.member_id)
    }
    return GroupMoment(members=members, known=known, target={})

"""What safety monitors look at, and each of them: a function that yields what is wrong.

Those of moments look at a `GroupMoment`, those of a step at one event, its effects, and the state
before and after. What a member really does is followed through the effects it asks for
(`consumption_after`): no state of a protocol is asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations
from typing import Any, NamedTuple

from assignors.ownership.changes import TopicPartition
from assignors.ownership.monitors import double_owned, started_while_owned
from assignors.simulation.timed.monitors.coordinators import GROUP, CoordinatorView, Folded
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
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
    OffsetCommit,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.kafka.records import (
    CurrentRecord,
    GroupEpochRecord,
    GroupRecord,
)
from assignors.simulation.timed.protocols.partitions import has_all, shared
from wire import TopicPartitions
from wire.constructors import unchecked


class Monitoring(StrEnum):
    """How much of a run is watched."""

    OFF = "off"
    BASIC = "basic"
    """All of them: those of a step and of consumption at every event, those of the whole group when
    a rebalance begins or ends, those of the end once the group is settled, or had the time."""
    FULL = "full"
    """Those of the whole group at every event too: O(partitions) each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Something that a monitor forbids has happened."""

    monitor: str
    """A name of `MONITORS`."""
    event: int
    """Number of the event that led to it; the first event of a run is 1."""
    at_us: int
    """Microseconds since the run began."""
    text: str
    """What happened, with the members and partitions concerned."""


def described(violation: Violation, seed: int) -> str:
    """Return a violation in one line, with what finds it again.

    >>> described(Violation(monitor="double-consumption", event=7, at_us=1500, text="t-0: a, b"), 3)
    'double-consumption at event 7 (1.5 ms), seed 3: t-0: a, b'
    """
    at_ms = violation.at_us / MILLISECOND
    return (
        f"{violation.monitor} at event {violation.event} ({at_ms:.10g} ms), seed {seed}: "
        f"{violation.text}"
    )


class Seen(NamedTuple):
    """An event, and what was done about it."""

    number: int
    """Of the event, as in `Violation.event`."""
    at_us: int
    member: str | None
    """Whom it reached: a member's name, `None` for the coordinator."""
    event: CoordinatorEvent | MemberEvent
    effects: Sequence[Effect]


Observer = Callable[[Seen], None]


# One moment of a group as monitors see it


REVOKED, ASSIGNED = ("revoked",), ("assigned",)
"""The timers that stand for the two callbacks."""
CALLBACKS: frozenset[tuple[str, ...]] = frozenset({REVOKED, ASSIGNED})
TIMERS = frozenset({Schedule, Cancel})
"""Effects that begin or end a callback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumption:
    """What a member really does."""

    consumed: TopicPartitions = field(default_factory=dict)
    committing: TopicPartitions = field(default_factory=dict)
    """What it has stopped to consume, while its callback, which commits, still runs."""
    callbacks: frozenset[tuple[str, ...]] = frozenset()
    """Which callbacks run."""


_consumption = unchecked(Consumption)
_NOTHING: TopicPartitions = {}
_NO_CALLBACK: frozenset[tuple[str, ...]] = frozenset()


def consuming(owned: TopicPartitions) -> Consumption:
    """Return what a member does that only consumes. Cost: O(1)."""
    return _consumption(consumed=owned, committing=_NOTHING, callbacks=_NO_CALLBACK)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberMoment:
    """A member that runs."""

    name: str
    member_id: str
    generation: int
    owned: TopicPartitions
    """What it believes to own."""
    does: Consumption
    may_be_zombie: bool = True
    """Whether, where the coordinator does not count it as a member, that is because it has removed
    it. Also where nobody keeps whom it has removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMoment:
    """The group: the members that run, and what the coordinator has of whom."""

    members: tuple[MemberMoment, ...]
    known: Mapping[str, int]
    """Member id -> generation or epoch, of whomever the coordinator counts as a member."""
    target: Mapping[str, TopicPartitions]
    """Member id -> what the coordinator assigns to it."""
    target_epoch: int | None = None
    """The epoch of `target`; `None` in a classic group."""
    unstable: tuple[str, ...] = ()
    """Where the coordinator says that the group is stable: members that have not their target."""


def consumption_after(
    before: Consumption, event: MemberEvent, effects: Iterable[Effect]
) -> Consumption:
    """Return what a member does after a step. Cost: O(partitions that change).

    >>> did = Consumption(consumed={"t": (0, 1)})
    >>> does = consumption_after(
    ...     did, Command.STOP, [Consume({"t": (1,)}, "revoked"), Schedule(REVOKED, 5)]
    ... )
    >>> does.consumed, does.committing
    ({'t': (1,)}, {'t': (0,)})
    """
    was_busy = bool(before.committing or before.callbacks)
    if was_busy and (event is Command.START or event is Command.CRASH):
        before = Consumption(consumed=before.consumed)
    consumed, committing = before.consumed, before.committing
    callbacks = _callbacks_after(before.callbacks, event, effects)
    if committing and REVOKED not in callbacks:
        committing = {}
    for effect in effects:
        if type(effect) is Consume:
            if effect.reason == "revoked" and REVOKED in callbacks:
                committing = without(consumed, effect.owned)
            elif effect.reason != "assigned":
                committing = {}
            consumed = effect.owned
    if consumed is before.consumed and callbacks is before.callbacks:
        return before
    return _consumption(consumed=consumed, committing=committing, callbacks=callbacks)


def changes_consumption(before: Consumption, event: MemberEvent, effects: Iterable[Effect]) -> bool:
    """Return whether `consumption_after` may be anything else than before. Cost: O(effects)."""
    kind_of_event = type(event)
    if kind_of_event is Command or (
        kind_of_event is Fired and event.key in before.callbacks  # type: ignore[union-attr]  # by its type
    ):
        return True
    for effect in effects:
        kind = type(effect)
        if kind is Consume or (kind in TIMERS and effect.key in CALLBACKS):  # type: ignore[union-attr]  # by its type
            return True
    return False


def _callbacks_after(
    running: frozenset[tuple[str, ...]], event: MemberEvent, effects: Iterable[Effect]
) -> frozenset[tuple[str, ...]]:
    """Return which callbacks run after a step, the same set if nothing changes."""
    if isinstance(event, Fired) and event.key in running:
        running -= {event.key}
    for effect in effects:
        if type(effect) is Schedule:
            if effect.key in CALLBACKS:
                running |= {effect.key}
        elif type(effect) is Cancel and effect.key in running:
            running -= {effect.key}
    return running


def without(partitions: TopicPartitions, taken: TopicPartitions) -> TopicPartitions:
    """Return the partitions that are not among those taken. Cost: O(partitions).

    >>> without({"t": (0, 1), "u": (0,)}, {"t": (1,)})
    {'t': (0,), 'u': (0,)}
    """
    if not taken:
        return partitions
    rest: dict[str, tuple[int, ...]] = {}
    for topic, numbers in partitions.items():
        gone = taken.get(topic)
        if gone is None:
            rest[topic] = numbers
        elif gone != numbers:
            taken_of_it = set(gone)
            left = tuple([number for number in numbers if number not in taken_of_it])
            if left:
                rest[topic] = left
    return rest


# What must hold in every moment


FIRST_SHOWN = 3
"""So many partitions are named where there may be thousands."""


def double_owned_in_epoch(moment: GroupMoment) -> Iterator[str]:
    """Yield what two members of one epoch believe to own. Cost: O(owned), if all is well."""
    by_epoch: dict[int, dict[str, MemberMoment]] = {}
    for member in moment.members:
        if member.generation > 0 and member.member_id in moment.known:
            by_epoch.setdefault(member.generation, {})[member.name] = member
    for epoch, members in by_epoch.items():
        if double_owned({name: each.owned for name, each in members.items()}):
            for one, other in combinations(members.values(), 2):
                both = shared(one.owned, other.owned)
                if both:
                    yield f"{one.name} and {other.name} own {listed(both)} in epoch {epoch}"


def double_consumption(moment: GroupMoment) -> Iterator[str]:
    """Yield what two members consume, unless one of them is a zombie. Cost: as above."""
    members = [
        each for each in moment.members if each.member_id in moment.known or not each.may_be_zombie
    ]
    if double_owned({each.name: each.does.consumed for each in members}):
        for one, other in combinations(members, 2):
            both = shared(one.does.consumed, other.does.consumed)
            if both:
                yield f"{one.name} and {other.name} both consume {listed(both)}"


def handed_over_before_commit(moment: GroupMoment) -> Iterator[str]:
    """Yield what is consumed while the callback of the member before still runs.

    Cost: O(members), plus O(partitions of members with a callback) times members.
    """
    for giver in moment.members:
        if giver.does.committing and giver.member_id in moment.known:
            for taker in moment.members:
                both = shared(giver.does.committing, taker.does.consumed)
                if both and taker is not giver and taker.member_id in moment.known:
                    yield (
                        f"{taker.name} consumes {listed(both)}, which {giver.name} has not"
                        " committed yet"
                    )


def double_target(moment: GroupMoment) -> Iterator[str]:
    """Yield the partitions that the coordinator assigns to two members. Cost: O(partitions)."""
    double = double_owned(moment.target)
    if double:
        yield f"{named(double)} is assigned to two members"


def target_epoch_too_early(moment: GroupMoment) -> Iterator[str]:
    """Yield what a member in the target's epoch owns though the target gives it to another.

    Only of members that the coordinator has. Cost: O(partitions), if all is well.
    """
    target = moment.target
    in_epoch = [
        each
        for each in moment.members
        if each.generation == moment.target_epoch and each.member_id in moment.known
    ]
    if in_epoch and not double_owned(target):
        in_epoch = [each for each in in_epoch if not _owns_its_target(each, target)]
    for member in in_epoch:
        for other, given in target.items():
            both = shared(member.owned, given)
            if both and other != member.member_id:
                yield (
                    f"{member.name} owns {listed(both)} in the target's epoch"
                    f" {moment.target_epoch}, which is {other}'s"
                )


def _owns_its_target(member: MemberMoment, target: Mapping[str, TopicPartitions]) -> bool:
    """Return whether a member owns nothing but its target, which no other one has then."""
    return has_all(target.get(member.member_id, {}), member.owned)


def stable_group_is_not(moment: GroupMoment) -> Iterator[str]:
    """Yield the members that have not their target while the coordinator calls the group stable."""
    if moment.unstable:
        yield f"the group is stable, but not {', '.join(moment.unstable)}"


def listed(partitions: TopicPartitions, first: TopicPartition | None = None) -> str:
    """Return partitions as text, the first few by name, `first` before the others if it is there.

    >>> listed({"t": (0, 1, 2, 3, 4)})
    't-0, t-1, t-2 and 2 more'
    >>> listed({"t": (0, 1, 2, 3, 4)}, first=("t", 3))
    't-3, t-0, t-1 and 2 more'
    """
    pairs = [(topic, number) for topic in sorted(partitions) for number in partitions[topic]]
    if first in pairs:
        pairs.sort(key=lambda one: one != first)
    return named(pairs)


def named(partitions: list[TopicPartition] | tuple[TopicPartition, ...]) -> str:
    """Return (topic, number) pairs as text, the first few by name."""
    names = [f"{topic}-{number}" for topic, number in partitions]
    rest = len(names) - FIRST_SHOWN
    return ", ".join(names[:FIRST_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


# What must hold of one step


def epoch_went_back(who: str, before: int, after: int) -> Iterator[str]:
    """Yield that a generation or epoch fell."""
    if after < before:
        yield f"{who} went from {before} back to {after}"


Epochs = Iterator[tuple[str, int, int]]
"""Whose epoch, and what it was and is; without what stands for none."""


def epochs_between(before: CoordinatorView, after: CoordinatorView) -> Epochs:
    """Yield the epochs before and after a step of the coordinator. Cost: O(members)."""
    # A group that has lost all members may be made anew, as one of the other kind for example.
    if before.known:
        yield "the group", before.generation, after.generation
    for member_id, epoch in after.known.items():
        if epoch > 0:
            yield f"the coordinator's {member_id}", before.known.get(member_id, epoch), epoch


def epochs_of(log: Folded, record: Record) -> Epochs:
    """Yield the epochs before and after a record, of whom is there by what `log` says. Cost: O(1).

    `log` is what the records before say.
    """
    match record:
        case CurrentRecord(member_id, int(epoch)) if epoch > 0:
            before = log.get(("current", member_id))
            if before is not None:
                yield f"the coordinator's {member_id}", before.epoch, epoch
        case GroupRecord(generation):
            was, *_ = log.get(GROUP, (generation,))
            yield "the group", was, generation
        case GroupEpochRecord(int(epoch)):
            yield "the group", log.get(("epoch",), epoch), epoch


def callbacks_overlap(
    name: str, before: Consumption, event: MemberEvent, effects: Iterable[Effect]
) -> Iterator[str]:
    """Yield that a callback began while another one of the member ran. Cost: O(effects)."""
    running = set(before.callbacks)
    if isinstance(event, Fired):
        running.discard(event.key)
    for effect in effects:
        if isinstance(effect, Schedule) and effect.key in CALLBACKS:
            if running:
                one, other = effect.key[0], ", ".join(key[0] for key in sorted(running))
                yield f"{name}: the callback for {one} partitions began while that for {other} ran"
            running.add(effect.key)


def assignor_failed(name: str, text: str) -> Iterator[str]:
    """Yield how the assignor of a leader failed: who calls it knows."""
    yield f"{name} leads, and {text}"


def answered_twice(number: int, answered: Container[int]) -> Iterator[str]:
    """Yield that the coordinator answers a request that it has answered."""
    if number in answered:
        yield f"request {number} is answered a second time"


def log_differs(log: Folded, state: Folded | None) -> Iterator[str]:
    """Yield where the records say something else than the state, if it has any. Cost: O(them)."""
    for key in sorted(log.keys() | state.keys()) if state is not None else ():
        if log.get(key) != state.get(key):  # type: ignore[union-attr]  # it is there
            text = f"{log.get(key)} in the records, {state.get(key)} in the state"  # type: ignore[union-attr]
            yield f"{' of '.join(key)} is {text}"


def generation_given_twice(before: Any, after: Any) -> Iterator[str]:  # noqa: ANN401 - folded values
    """Yield that a generation was written with other assignments than before.

    A static member that comes back gets another id and the same assignment.
    """
    if before is None or after is None or before is after:
        return
    (generation, *_, given), (same, *_, now) = before, after
    if generation == same and given and sorted(given.values()) != sorted(now.values()):
        yield f"generation {generation} was written with another plan"


def gives_plan(effect: Effect) -> bool:
    """Return whether an effect gives its part of a plan to a member: then all that own count."""
    return (
        isinstance(effect, Reply)
        and isinstance(effect.response, SyncGroupResponse)
        and effect.response.error is ErrorCode.NONE
    )


def given_while_owned(
    after: CoordinatorView, effects: Iterable[Effect], members: Iterable[MemberMoment]
) -> Iterator[str]:
    """Yield what a plan gives to a member while another one owns it. Cost: O(partitions).

    The target of a consumer group is no plan yet: its members get what has become free.
    """
    if after.target_epoch is not None or not any(map(gives_plan, effects)):
        return
    owned = {each.member_id: each.owned for each in members if each.member_id in after.known}
    given = started_while_owned(owned, after.target)
    if given:
        yield f"{named(given)} is given away while its owner has it"


def commit_of_a_stranger(
    before: CoordinatorView, event: object, effects: Iterable[Effect]
) -> Iterator[str]:
    """Yield what is wrong with a commit that was accepted, if the event is one. Cost: O(1).

    An opinion of its own: it knows nothing of the rules by which coordinators refuse commits, only
    who is a member and in which generation or epoch.
    """
    if not isinstance(event, Arrived) or not isinstance(event.request, OffsetCommit):
        return
    request = event.request
    if request.is_transactional or not any(isinstance(each, Append) for each in effects):
        return
    epoch = before.known.get(request.member_id)
    if request.generation < 0:
        if before.known:
            yield "a consumer outside the group committed in a live one"
    elif epoch is None:
        yield f"{request.member_id} committed and is no member"
    elif request.generation > epoch or (before.is_exact and request.generation != epoch):
        yield f"{request.member_id} committed in {request.generation} and is in {epoch}"

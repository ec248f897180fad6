"""One moment of a group as monitors see it: members' beliefs, their real consumption, the group.

What a member really does is followed through the effects it asks for (`consumption_after`): no
state of a protocol is asked for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.effects import (
    Cancel,
    Command,
    Consume,
    Effect,
    Fired,
    MemberEvent,
    Schedule,
)
from wire import TopicPartitions
from wire.constructors import unchecked

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

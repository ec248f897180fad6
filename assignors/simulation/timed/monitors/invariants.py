"""What must hold in every moment: functions of a `GroupMoment`, each yielding what is wrong.

Each name is a row of `table.MONITORS`; `INVARIANTS` has all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from assignors.ownership.changes import TopicPartition
from assignors.ownership.monitors import double_owned
from assignors.simulation.timed.monitors.moment import GroupMoment, MemberMoment
from assignors.simulation.timed.protocols.partitions import has_all, shared
from wire import TopicPartitions

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


INVARIANTS: dict[str, Callable[[GroupMoment], Iterator[str]]] = {
    "double-owned-in-epoch": double_owned_in_epoch,
    "double-consumption": double_consumption,
    "handed-over-before-commit": handed_over_before_commit,
    "double-target": double_target,
    "target-epoch-too-early": target_epoch_too_early,
    "stable-group-is-not": stable_group_is_not,
}


def broken(moment: GroupMoment) -> Iterator[tuple[str, str]]:
    """Yield (monitor, what is wrong) for every invariant that does not hold."""
    for name, invariant in INVARIANTS.items():
        for text in invariant(moment):
            yield name, text


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

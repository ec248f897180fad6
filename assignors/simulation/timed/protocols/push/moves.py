"""From a change to the grants: new owners, the movement budget, and partitions on their way.

Owners are computed anew with every change, from where each partition is or goes, so that it moves
once. With a movement budget, owned partitions wait for their turn; those without an owner do not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable

from assignors.model import Group, Member
from assignors.simulation.timed.protocols.effects import Schedule
from assignors.simulation.timed.protocols.push.fetch_fencing import inform
from assignors.simulation.timed.protocols.push.group import Inquiry, Place, PushCoordinator
from assignors.simulation.timed.protocols.push.messages import Partition
from assignors.simulation.timed.protocols.push.states import PartitionEvent, PartitionState

SECOND = 1_000_000


def rebalance(
    state: PushCoordinator, at_us: int, lost: Collection[Partition] = frozenset()
) -> None:
    """Compute new owners, and begin or queue the moves; those of `lost` begin in any case.

    Cost: O(partitions + members), plus the assignor.
    """
    state.epoch += 1
    state.must_refresh = False
    owners = _owners(state)
    for partition in sorted(owners.keys() - state.places.keys()):
        state.places[partition] = Place()
    state.waiting = deque()
    now: list[tuple[Partition, str | None]] = []
    for partition, place in state.places.items():
        owner = owners.get(partition)
        if owner == place.owner and partition not in lost:
            continue
        if owner is not None and partition not in lost and _may_wait(state, partition, place):
            state.waiting.append((partition, owner))
        else:
            now.append((partition, owner))
    _begin(state, at_us, now)
    if state.waiting:
        _schedule_turn(state)


def take_turn(state: PushCoordinator, at_us: int) -> None:
    """Begin the next move that waits, unless as many as the budget allows are not over yet."""
    state.has_turn = False
    if len(state.paced) < state.config.moves_per_second and state.waiting:
        partition, owner = state.waiting.popleft()
        state.paced.add(partition)
        _begin(state, at_us, [(partition, owner)])
    if state.waiting:
        _schedule_turn(state)


def acknowledged(state: PushCoordinator, number: int) -> None:
    """All brokers have acknowledged: grant what is free, ask the old owners for the rest."""
    config = state.config
    for partition, reader, _ in state.inquiries.pop(number).moves:
        place = state.places[partition]
        if reader is not None and reader != place.owner and is_reader(state, reader, partition):
            state.ask(reader, partition)
        if place.inquiry != number:
            continue  # the plan has changed since: a later inquiry is on its way
        must_wait = config.waits_for_commit or place.holder in state.leased
        if place.holder in {None, place.owner} or not must_wait:
            state.grant(partition, place)
        else:
            state.advance(place, PartitionEvent.AWAITED)


def is_reader(state: PushCoordinator, member_id: str, partition: Partition) -> bool:
    """Return whether a member has a partition as far as the coordinator knows."""
    return state.places[partition].holder == member_id or not state.config.has_epochs


def released(state: PushCoordinator, partition: Partition) -> None:
    """Let the next owner start: the holder has committed, or has lost its right."""
    place = state.places[partition]
    place.holder = None
    if place.state is not PartitionState.INFORMING:
        state.grant(partition, place)


def _owners(state: PushCoordinator) -> dict[Partition, str]:
    """Return the owner that each partition shall have."""
    owned: dict[str, dict[str, list[int]]] = {member_id: {} for member_id in state.members}
    for (topic, number), place in state.places.items():
        if place.owner in owned:
            owned[place.owner].setdefault(topic, []).append(number)
    if not state.members:
        return {}
    answer = state.assignor.assign(
        Group(
            cluster=state.cluster,
            members=tuple(
                Member(
                    member_id=each.member_id,
                    topics=each.topics,
                    owned={
                        topic: tuple(sorted(numbers))
                        for topic, numbers in owned[each.member_id].items()
                    },
                    rack_id=each.rack_id,
                )
                for each in state.members.values()
            ),
        )
    )
    return {
        (topic, number): member_id
        for member_id, given in answer.assignment.items()
        for topic, numbers in given.items()
        for number in numbers
    }


def _may_wait(state: PushCoordinator, partition: Partition, place: Place) -> bool:
    """Return whether a partition is consumed by a member that may keep it for a while."""
    if not state.config.moves_per_second or place.state is not PartitionState.OWNED:
        return False
    owner = state.members.get(place.owner or "")
    return owner is not None and partition[0] in owner.topics


def _schedule_turn(state: PushCoordinator) -> None:
    if state.has_turn:
        return
    state.has_turn = True
    state.out.append(Schedule(("turn",), SECOND // state.config.moves_per_second))


def _begin(
    state: PushCoordinator, at_us: int, moves: Iterable[tuple[Partition, str | None]]
) -> None:
    """Bring partitions on their way, and inform the brokers of all of them at once."""
    state.inquiry_count += 1
    number = state.inquiry_count
    informed: list[tuple[Partition, str | None, bool]] = []
    for partition, owner in moves:
        place = state.places[partition]
        is_lost = place.holder is not None and place.holder not in state.members
        reader = place.holder
        if not state.config.has_epochs and not is_lost and place.owner in state.members:
            # Without grant numbers the owner of the last plan counts as the holder.
            reader = place.holder = place.owner
        place.owner, place.inquiry = owner, number
        state.advance(place, PartitionEvent.MOVED)
        if is_lost and reader not in state.leased:
            place.holder = None
        informed.append((partition, reader, is_lost or not state.config.waits_for_commit))
    if not informed:
        return
    state.inquiries[number] = Inquiry(tuple(informed))
    if state.config.fences_fetches:
        inform(state, at_us, number)
    else:
        acknowledged(state, number)

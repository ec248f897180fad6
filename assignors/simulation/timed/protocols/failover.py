"""The next coordinator of a group: it knows what the log says, and nothing besides.

What waited at the one before is lost, and so is what only its memory had: joins that wait for the
others, member ids that nobody has used yet, lookups and targets in the background, timers. Every
member has a whole session from now on.

The state of the coordinator before is changed in place; `Restored` is what the log says.

Source: `GroupCoordinatorShard.onLoaded`, `GroupMetadataManager.onLoaded` of Kafka 4.4.
"""

from __future__ import annotations

from assignors.simulation.timed.protocols.classic.barriers import prepare
from assignors.simulation.timed.protocols.classic.coordinator_state import ClassicCoordinator
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.consumer.coordinator_state import ConsumerCoordinator
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup
from assignors.simulation.timed.protocols.consumer.step import WaitingCoordinator
from assignors.simulation.timed.protocols.effects import MILLISECOND, Schedule
from assignors.simulation.timed.protocols.mixed.coordinator import MixedCoordinator
from assignors.simulation.timed.protocols.mixed.downgrade import OF_CLASSIC
from assignors.simulation.timed.protocols.offsets.access import GroupAccess
from assignors.simulation.timed.protocols.offsets.coordinator import CHECK, OffsetsCoordinator
from assignors.simulation.timed.protocols.restore import Restored, timers


def load_classic(state: ClassicCoordinator, log: Restored) -> list[Schedule]:
    """Load a classic group; return the timers that start. Cost: O(members)."""
    state.exists = isinstance(log.group, ClassicGroup)
    state.group = log.group if isinstance(log.group, ClassicGroup) else ClassicGroup()
    state.appends.clear()
    for member in state.group.members.values():
        member.generation = state.group.generation
    found = timers(state.group, session_timeout_ms=0)
    if len(state.group.members) > state.config.max_size:
        # Static members come back whatever the limit is; who does not fit learns of it as it joins.
        state.out = []
        prepare(state)
        found += [each for each in state.out if isinstance(each, Schedule)]
    return found


def load_consumer(waiting: WaitingCoordinator, log: Restored) -> list[Schedule]:
    """Load a consumer group; return the timers that start. Cost: O(members)."""
    state: ConsumerCoordinator = waiting.coordinator
    waiting.waiting.clear()
    waiting.written.clear()
    state.exists = isinstance(log.group, ConsumerGroup)
    state.group = log.group if isinstance(log.group, ConsumerGroup) else ConsumerGroup()
    state.version_of_new_topics = state.version
    state.lookup = state.offloaded = None
    state.still_watched.clear()
    state.join_timers.clear()
    if not state.exists:
        return []
    return timers(state.group, session_timeout_ms=state.config.session_timeout_ms)


def load_mixed(state: MixedCoordinator, log: Restored) -> list[Schedule]:
    """Load a group of either kind; return the timers that start. Cost: O(members)."""
    state.upgraded.clear()
    of_classic = [
        each._replace(key=(OF_CLASSIC, *each.key)) for each in load_classic(state.classic, log)
    ]
    found = of_classic + load_consumer(state.waiting, log)
    if state.written is not None:
        state.note_written()
    return found


def load_offsets(state: OffsetsCoordinator, group: GroupAccess, log: Restored) -> list[Schedule]:
    """Load the offsets of a group that is loaded, with the access to it.

    Returns the timers that start. Cost: O(partitions).
    """
    state.group = group
    state.table = log.offsets
    state.replicated = {each: value.offset for each, value in log.offsets.committed.items()}
    state.is_simple = isinstance(log.group, ClassicGroup) and not state.group.exists()
    state.is_shadowed = False
    state.is_watched = True
    state.made_by = None
    state.waiting.clear()
    state.removed.clear()
    return [Schedule(CHECK, state.config.check_ms * MILLISECOND)]

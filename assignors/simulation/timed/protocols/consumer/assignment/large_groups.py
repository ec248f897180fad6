"""The target of a large group: only shares that change are found, by what has changed since.

That is possible under Kafka's uniform assignor, with equal subscriptions (`server.uniform_again`).
Where two member ids have one hash code, all shares are computed for every request, with the same
answer: a group of 10,000 random ids has such a pair once in eighty-six.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assignors.options import Options
from assignors.server.uniform import UNIFORM
from assignors.server.uniform_again import asked, shares_that_change
from assignors.simulation.timed.protocols.consumer.assignment.everybody import Everybody
from assignors.simulation.timed.protocols.consumer.assignment.shares import LastTarget
from assignors.simulation.timed.protocols.consumer.coordinator_state import Work
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup
from wire import TopicPartitions


def changed_shares(work: Work, everybody: Everybody) -> dict[str, TopicPartitions] | None:
    """Return the shares that change, and that of the member that asks; `None`: ask for all.

    Cost: that of `asked`, and O(members) the first time.
    """
    state, group, _, _ = work
    assignor = everybody.assignor
    used = state.assignor if assignor is None else state.assignors[assignor]
    hashes, asking = everybody.hashes, everybody.asking
    if (
        hashes is None
        or used.configure is not UNIFORM.configure  # whatever it does about faults
        or not everybody.is_homogeneous
        or group.resolved
        or group.counts.patterns
        or state.config.offload_ms
    ):
        return None
    last = state.last.question if state.last.group is group else None
    changed: Iterable[str] = everybody.ids if last is None else group.changed_since
    if not _subscribe_to(asking.topics, everybody, changed):
        return None
    if last is not None:
        changed = _read_again(group, everybody, state.last.shares)
    here = [each for each in changed if each in everybody.known or each == asking.member_id]
    question = asked(
        state.cluster,
        asking.topics,
        ids=everybody.ids,
        hashes=hashes,
        previous=everybody.before,
        changed=here,
        last=last,
    )
    if question is None:
        return None
    others = [each for each in here if each not in everybody.before]
    # Coordinators have no other JDK: none of the assignors they get is configured with one.
    found, answered = shares_that_change(question, [*others, asking.member_id], Options().jdk)
    state.last = LastTarget(group=group, question=answered, shares=found)
    group.changed_since = {asking.member_id}
    return found


def _subscribe_to(topics: tuple[str, ...], everybody: Everybody, ids: Iterable[str]) -> bool:
    """Return whether these members, where they are in the group, all subscribe to these topics."""
    known, asking = everybody.known, everybody.asking.member_id
    theirs = {known[each].topics for each in ids if each in known and each != asking}
    return theirs <= {topics}


def _read_again(
    group: ConsumerGroup, everybody: Everybody, given: Mapping[str, TopicPartitions]
) -> set[str]:
    """Return the members that may not have what the last answer left them with.

    Who was given something has it, if that has become the target. Cost: O(those that changed).
    """
    before = everybody.before
    others = {each for each, share in given.items() if before.get(each) is not share}
    return (group.changed_since - given.keys()) | others | {everybody.asking.member_id}

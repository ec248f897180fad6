"""What brokers do for the coordinator: they refuse the fetches of members without a right.

The coordinator informs all live brokers of the partitions that move. Each refuses the old owners'
fetches as soon as its message has arrived, and acknowledges; the slowest decides how long the
coordinator waits. A member keeps the right to commit until its notification, or until the
coordinator takes that right too: from a silent member, or from all if nobody waits for commits.
"""

from __future__ import annotations

from zlib import crc32

from assignors.simulation.timed.protocols.effects import MILLISECOND, Reply, Schedule
from assignors.simulation.timed.protocols.push.group import PushCoordinator, RightsChanged
from assignors.simulation.timed.protocols.push.messages import FetchResponse, Partition


def leader(partition: Partition, brokers: int) -> int:
    """Return the broker that leads a partition: those of a topic are spread over all."""
    topic, number = partition
    return (crc32(topic.encode("utf-8", "surrogatepass")) + number) % brokers


def inform(state: PushCoordinator, at_us: int, inquiry: int) -> None:
    """Send the moves of an inquiry to all brokers. Cost: O(brokers + moves)."""
    brokers = state.config.brokers
    state.reaches = state.reaches or [0] * brokers
    leaders = {leader(each, brokers) for each, _, _ in state.inquiries[inquiry].moves}
    slowest = at_us
    for broker in range(brokers):
        there = at_us + state.draw(f"broker {broker}", "network", 0)
        state.reaches[broker] = max(there, state.reaches[broker])
        back = state.reaches[broker] + state.draw(f"broker {broker}", "network", 0)
        slowest = max(slowest, back)
        if broker in leaders:
            after = state.reaches[broker] - at_us
            state.out.append(Schedule(("broker", str(broker), str(inquiry)), after, inquiry))
    state.out.append(Schedule(("acknowledged", str(inquiry)), slowest - at_us, inquiry))


def fence(state: PushCoordinator, broker: int, inquiry: int) -> None:
    """Let a broker refuse the old owners of an inquiry from now on."""
    brokers = state.config.brokers
    closed: dict[str, None] = {}
    for partition, reader, is_closed in state.inquiries[inquiry].moves:
        place = state.places[partition]
        is_stale = state.config.has_epochs and place.inquiry != inquiry
        if reader is None or reader == place.owner or is_stale:
            continue
        if leader(partition, brokers) != broker:
            continue
        if is_closed:
            state.close(reader, partition)
            closed[reader] = None
        _refuse(state, reader, partition)
    state.out += [RightsChanged(reader, "fenced") for reader in closed]


def refuse(state: PushCoordinator, member_id: str) -> None:
    """Answer a member's fetch: it is refused for what was fenced since the last answer.

    But what the member has given up meanwhile it does not ask for.
    """
    member = state.members.get(member_id)
    if member is None or member.fetch is None:
        return
    has = member.assigned.keys() | member.removing.keys()
    refused = {each: grant for each, grant in member.refused.items() if each in has}
    member.refused = {}
    if refused:
        state.out.append(Reply(member.fetch, FetchResponse(refused)))
        member.fetch = None


def refuse_later(state: PushCoordinator, member_id: str) -> None:
    """Let a member's next fetch be refused: it comes within `fetch_ms`."""
    wait = state.draw(member_id, "fetch", state.config.fetch_ms * MILLISECOND)
    state.out.append(Schedule(("fetch", member_id), wait))


def _refuse(state: PushCoordinator, reader: str, partition: Partition) -> None:
    member = state.members.get(reader)
    if member is None or partition not in member.assigned:
        return
    if not member.refused and member.fetch is not None:
        refuse_later(state, reader)
    member.refused[partition] = member.assigned[partition]

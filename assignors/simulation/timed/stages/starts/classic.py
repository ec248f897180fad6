"""Members of a classic group that start together: their first round, without an event.

The coordinator waits for more members as long as some come. So who starts before the initial delay
is over after another start is, most often, in the first round as well. A start is the same for all
but the leader, and nothing else happens meanwhile, most of the time: then what everybody does is
arithmetic (`classic_times`), and both sides are put into the state that they come to. The
coordinator opens and closes its barriers by its own functions, and the leader leads by its own.
Whatever is not so is left to events, from the begin.

That every run ends the same as by events alone is a law
(`tests/simulation/timed/test_classic_starts.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from assignors.membership import Membership
from assignors.simulation.timed.costs.meter import Rebalance
from assignors.simulation.timed.dialects.dialect import Reaction
from assignors.simulation.timed.monitors.moment import Consumption
from assignors.simulation.timed.plain_heartbeats import Rest
from assignors.simulation.timed.protocols.classic import barriers
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    COMPUTED,
    ClassicCoordinator,
)
from assignors.simulation.timed.protocols.classic.group import ClassicGroup, GroupMember
from assignors.simulation.timed.protocols.classic.member_bytes import (
    FAILURES,
    led_by,
    read_assignment,
)
from assignors.simulation.timed.protocols.classic.member_rounds import start_process
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.classic.messages import ErrorCode, JoinGroup, Protocol
from assignors.simulation.timed.protocols.classic.states import GroupState, MemberState
from assignors.simulation.timed.protocols.effects import COORDINATOR, MILLISECOND, Fired, Send
from assignors.simulation.timed.scenario import BrokerConfig, MemberConfig
from assignors.simulation.timed.stages.plain import is_plain
from assignors.simulation.timed.stages.starts.classic_times import (
    Joined,
    Newcomers,
    Synced,
    joined,
    synced,
)
from assignors.simulation.timed.stages.starts.start import NotTogether, Start

FirstRound = Start[ClassicMember, ClassicCoordinator]
LEAST = 8
"""Fewer members start by events."""


def starting(members: Sequence[MemberConfig], broker: BrokerConfig) -> list[int]:
    """Return the numbers of those who start first, and of others as long as the group waits.

    Cost: O(members log members).
    """
    times = sorted({each.starts_at_ms for each in members if each.starts_at_ms is not None})
    last = next(
        (at for at, then in pairwise(times) if then - at >= broker.initial_delay_ms), times[-1]
    )
    return [
        number
        for number, each in enumerate(members)
        if each.starts_at_ms is not None and each.starts_at_ms <= last
    ]


def are_plain(configs: Sequence[MemberConfig], broker: BrokerConfig) -> bool:
    """Return whether these members may go through their first round together. Cost: O(members)."""
    return (
        len(configs) >= LEAST
        and broker.max_size >= len(configs)
        and len({each.assignors for each in configs}) == 1
        and all(map(_is_plain, configs))
    )


def _is_plain(config: MemberConfig) -> bool:
    is_dynamic = config.instance_id is None
    return is_plain(config) and is_dynamic and config.assign_ms <= config.rebalance_timeout_ms


def start(own: FirstRound) -> int:
    """Let members start and come to rest; return when all do, in microseconds.

    Raises `NotTogether` where they do not without anything else; both sides may have changed then.
    Cost: O(members log members + partitions), plus the assignor's.
    """
    newcomers = _newcomers(own)
    before = joined(newcomers)
    if before.opens >= own.before:
        raise NotTogether
    group = own.coordinator.group
    _join(own, before)
    row_of = {each.member_id: row for row, each in enumerate(own.starting)}
    places = [row_of[each.member_id] for each in group.in_order()]
    place = np.empty(len(places), dtype=np.int64)
    place[places] = np.arange(len(places))
    leader = row_of[group.leader or ""]
    one = own.starting[leader]
    topics = one.cluster.topics.values()
    computes = one.compute_us_per_partition * sum(topic.partition_count for topic in topics)
    if computes > one.config.rebalance_timeout_ms * MILLISECOND:
        raise NotTogether  # it polls too late
    after = synced(newcomers, before, place, leader, computes)
    barriers.complete_join(own.coordinator)
    plan = _lead(one, group)
    _deliver(own, before, after, plan)
    _rest(own, after, newcomers, plan)
    return int(after.takes.max())


def _newcomers(own: FirstRound) -> Newcomers:
    heartbeats = own.heartbeats
    network, broker = heartbeats.network, heartbeats.broker
    configs = [each.config for each in own.starting]

    def us(name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([getattr(each, name) for each in configs], dtype=np.int64) * MILLISECOND

    every = [each.by_its_clock(each.heartbeat_interval_ms) for each in configs]
    session, delay = us("session_timeout_ms"), network.longest_us
    if min(every) <= 2 * delay + broker.service_us or (session <= np.array(every) + delay).any():
        raise NotTogether
    return Newcomers(
        numbers=np.array(own.numbers, dtype=np.int64),
        at=us("starts_at_ms"),
        every=np.array(every, dtype=np.int64),
        session=session,
        rebalance=us("rebalance_timeout_ms"),
        join_limit=us("join_limit_ms"),
        sync_limit=us("sync_limit_ms"),
        assign=us("assign_ms"),
        network=network,
        before=own.before,
        initial_delay=broker.initial_delay_ms * MILLISECOND,
        service_us=broker.service_us,
        append_us=broker.append_us,
    )


def _join(own: FirstRound, before: Joined) -> None:
    """Let everybody join, and the coordinator wait for the end of the initial delay."""
    state, group, starting = own.coordinator, own.coordinator.group, own.starting
    known: dict[tuple[tuple[str, ...], str | None], tuple[Protocol, ...]] = {}
    for row in before.order:
        member = starting[row]
        config = member.config
        member.member_id = state.new_id(config.name)
        wanted = (member.topics or config.topics, config.rack_id)
        if wanted not in known:
            known[wanted] = _protocols(member)
        group.add(
            GroupMember(
                member_id=member.member_id,
                instance_id=None,
                client_id=config.name,
                protocols=known[wanted],
                session_timeout_ms=config.session_timeout_ms,
                rebalance_timeout_ms=config.rebalance_timeout_ms,
                waiting_join=COMPUTED,
            )
        )
        if group.state is GroupState.EMPTY:
            barriers.prepare(state)
    state.exists = True


def _protocols(member: ClassicMember) -> tuple[Protocol, ...]:
    """Return what a member joins with that starts now; others join with the same."""
    member_id = member.member_id
    member.out = []
    start_process(member)
    requests = [each.request for each in member.out if isinstance(each, Send)]
    member.member_id, member.number, member.out = member_id, 0, []
    assert len(requests) == 1
    assert isinstance(requests[0], JoinGroup)
    return requests[0].protocols


def _lead(leader: ClassicMember, group: ClassicGroup) -> Mapping[str, bytes]:
    """Let the leader compute; return its plan. Raises `NotTogether` where it wants another one."""
    response = barriers.joined(group, group.members[leader.member_id])
    leader.topics = leader.topics or leader.config.topics
    leader.chosen = _chosen(leader, group)
    try:
        plan = led_by(leader, response)
    except FAILURES:
        raise NotTogether from None
    if isinstance(plan, Reaction) or leader.must_follow_up:
        raise NotTogether
    return dict(plan)


def _deliver(own: FirstRound, before: Joined, after: Synced, plan: Mapping[str, bytes]) -> None:
    """Let the coordinator give everybody its part of the plan."""
    state, group, meter = own.coordinator, own.coordinator.group, own.meter
    group.has_new_member = before.has_new_member
    barriers.deliver(state, dict(plan), ErrorCode.NONE)
    group.move_to(GroupState.STABLE)
    group.pending_syncs.clear()
    state.tokens += 2  # the group itself, and the plan
    state.out = []
    own.heartbeats.plain.news()  # nobody rests yet
    meter.generations += before.opens >= meter.ledger.count_from
    meter.rebalances.append(Rebalance(before.began, after.given, group.generation))
    meter.ended = after.given
    key, longest = ("sync",), group.rebalance_timeout_ms * MILLISECOND
    fired = (COORDINATOR, Fired(key, group.generation))
    own.heartbeats.queue.start((COORDINATOR, key), before.opens + longest, fired, None, key[-1])


def _rest(own: FirstRound, after: Synced, newcomers: Newcomers, plan: Mapping[str, bytes]) -> None:
    """Let everybody have its assignment, consume it, and rest."""
    heartbeats, network, ledger = own.heartbeats, own.heartbeats.network, own.meter.ledger
    group, starting = own.coordinator.group, own.starting
    due, session = after.joined + newcomers.every, newcomers.session
    for row in after.order.tolist():
        number, member = own.numbers[row], starting[row]
        _settle(member, group, plan[member.member_id])
        if member.owned:
            ledger.consume(int(after.takes[row]), member.config.name, member.owned, "assigned")
        if own.watch is not None:
            own.watch.generations[number] = group.generation
            if member.owned:
                own.watch.does[number] = Consumption(consumed=member.owned)
        network.start(number)
        network.passed(number, int(after.arrived[row]), int(after.returned[row]))
        heartbeats.put(
            number,
            Rest(
                int(due[row]),
                int(newcomers.every[row]),
                int(after.session_over[row]),
                int(session[row]),
                member.member_id,
            ),
        )
    count = len(starting)
    network.sent += 3 * count
    network.count("JoinGroup", 2 * count)
    network.count("SyncGroup", count)
    network.busy_until = after.busy_until


def _settle(member: ClassicMember, group: ClassicGroup, assignment: bytes) -> None:
    """Let a member come to where it is once it has its first assignment."""
    member.topics = member.topics or member.config.topics
    member.state, member.generation = MemberState.STABLE, group.generation
    member.is_leader = member.member_id == group.leader
    member.chosen = _chosen(member, group)
    member.number = member.awaited = 3
    member.owned, _ = read_assignment(member, assignment)
    member.memberships = tuple(
        Membership(
            kind=each.user_data,
            rack_id=member.config.rack_id,
            assigned=member.owned,
            generation=group.generation,
        )
        for each in member.assignors
    )


def _chosen(member: ClassicMember, group: ClassicGroup) -> int:
    return [each.name for each in member.assignors].index(group.protocol or "")

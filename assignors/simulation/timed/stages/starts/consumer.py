"""Members of a consumer group that start together: how they come to rest, without an event.

A start is the same for all but the first member, and nothing else happens meanwhile, most of the
time: then what everybody does is arithmetic (`consumer_times`), and both sides are put into the
state that they come to. What the coordinator computes it computes by its own steps: the first join,
and the heartbeat that brings the target. Whatever is not so is left to events, from the begin.

That every run ends the same as by events alone is a law
(`tests/simulation/timed/test_consumer_starts.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assignors.simulation.dice import Dice
from assignors.simulation.timed.costs.meter import Rebalance
from assignors.simulation.timed.monitors.moment import consuming
from assignors.simulation.timed.plain_heartbeats import Rest
from assignors.simulation.timed.protocols.consumer.assignment.topics import topics_seen
from assignors.simulation.timed.protocols.consumer.coordinator import heartbeat
from assignors.simulation.timed.protocols.consumer.coordinator_state import ConsumerCoordinator
from assignors.simulation.timed.protocols.consumer.group import (
    ConsumerMember,
    MemberState,
    in_java_order,
    partitions_of,
)
from assignors.simulation.timed.protocols.consumer.member import send_now
from assignors.simulation.timed.protocols.consumer.member_faults import step
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerError,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.consumer.step import CLOCK_STARTS_MS
from assignors.simulation.timed.protocols.effects import MILLISECOND, Command, Effect, Send
from assignors.simulation.timed.protocols.partitions import count
from assignors.simulation.timed.scenario import BrokerConfig, MemberConfig
from assignors.simulation.timed.sides import Draws
from assignors.simulation.timed.stages.plain import POLL_MS_MAX
from assignors.simulation.timed.stages.starts.consumer_times import (
    Joined,
    Shared,
    Starters,
    joined,
    shared,
)
from assignors.simulation.timed.stages.starts.start import NotTogether, Start
from wire import TopicPartitions

ConsumerStart = Start[ConsumerClient, ConsumerCoordinator]
LEAST = 8
"""Fewer members start by events."""
REQUEST = "ConsumerHeartbeat"


def are_plain(configs: Sequence[MemberConfig], broker: BrokerConfig) -> bool:
    """Return whether these members may start together. Cost: O(members)."""
    instances = [each.instance_id for each in configs if each.instance_id is not None]
    return (
        len(configs) >= LEAST
        and len(set(instances)) == len(instances)
        and broker.max_size >= len(configs)
        and not broker.offload_ms
        and len({frozenset(each.topics) for each in configs}) == 1
        and all(map(_is_plain, configs))
    )


def _is_plain(config: MemberConfig) -> bool:
    return (
        bool(config.topics)
        and config.pattern is None
        and config.remote_assignor is None
        and not config.assign
        and config.poll_ms <= POLL_MS_MAX
        and not config.poll_spread_ms
        and max(config.assign_ms, config.revoke_ms) <= config.rebalance_timeout_ms
    )


def start(own: ConsumerStart) -> int:
    """Let members start and come to rest; return when all do, in microseconds.

    Raises `NotTogether` where they do not without anything else; both sides may have changed then.
    Cost: O(members + partitions), plus the assignor's.
    """
    starters = _starters(own)
    before = joined(starters)
    if before.next.min() + own.heartbeats.network.longest_us >= own.before:
        raise NotTogether
    all_of_them = _join(own, before)
    joined_epoch = own.coordinator.group.target_epoch
    shares = _compute_target(own, before)
    if count(shares[before.owner.row]) == count(all_of_them):
        raise NotTogether  # there is nothing for the others
    after = shared(starters, before, np.array([bool(each) for each in shares], dtype=np.bool_))
    _consume(own, before, after, all_of_them, shares)
    _bring_on(own, before, after, joined_epoch, shares)
    _rest(own, before, after, shares)
    return int(after.returned.max())


def _starters(own: ConsumerStart) -> Starters:
    broker, network, clients = own.heartbeats.broker, own.heartbeats.network, own.starting
    draws = [each.draw for each in clients]
    polls = [each.polls if isinstance(each, Draws) else Dice(0) for each in draws]
    configs = [each.config for each in clients]
    every = [each.by_its_clock(broker.consumer_heartbeat_interval_ms) for each in configs]
    delay, timeout = network.longest_us, broker.consumer_session_timeout_ms * MILLISECOND
    handling = broker.service_us + broker.append_us
    if min(every) <= 2 * delay + handling or timeout <= max(every) + delay:
        raise NotTogether
    return Starters(
        numbers=np.array(own.numbers, dtype=np.int64),
        at=own.at,
        every=np.array(every, dtype=np.int64),
        polls=np.array([each.state for each in polls], dtype=np.uint64),
        poll_limits=np.array([each.poll_ms * MILLISECOND + 1 for each in configs]),
        assign_us=np.array([each.assign_ms * MILLISECOND for each in configs]),
        revoke_us=np.array([each.revoke_ms * MILLISECOND for each in configs]),
        rebalance_us=np.array([each.rebalance_timeout_ms * MILLISECOND for each in configs]),
        delays=network.delays,
        service_us=broker.service_us,
        append_us=broker.append_us,
        before=own.before,
    )


def _join(own: ConsumerStart, before: Joined) -> TopicPartitions:
    """Let everybody join, the first one by its request; return what that one gets."""
    state, clients = own.coordinator, own.starting
    requests = [_sent(step(each, Command.START)) for each in clients]
    first, *others = before.order.tolist()
    _ask(state, int(before.joins[first]), requests[first])
    group = state.group
    over_ms = group.target_at_ms + state.config.assignment_interval_ms
    last = int(before.arrived.max())
    if _clock_ms(last) >= over_ms or _clock_ms(int(before.next.min())) < over_ms:
        raise NotTogether  # a target is computed earlier than by the first heartbeat, or later
    group.put_all([_member(requests[row], group.target_epoch) for row in others])
    group.epoch += len(others)
    group.topics_seen = topics_seen(state.cluster, group.counts, group.resolved)
    own.meter.generations += int((before.joins >= own.meter.ledger.count_from).sum())
    return partitions_of(group.members[clients[first].member_id].assigned)


def _member(request: ConsumerHeartbeat, epoch: int) -> ConsumerMember:
    """Return a member that has joined with this request, and has nothing yet."""
    assert request.topics is not None
    return ConsumerMember(
        member_id=request.member_id,
        epoch=epoch,
        previous_epoch=0,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        client_id=request.client_id,
        topics=in_java_order(sorted(in_java_order(request.topics))),
    )


def _compute_target(own: ConsumerStart, before: Joined) -> list[TopicPartitions]:
    """Let the first heartbeat bring the target; return each one's share."""
    group, clients, row = own.coordinator.group, own.starting, before.first
    client = clients[row]
    client.epoch, client.in_flight, client.out = group.target_epoch, None, []
    send_now(client)
    _ask(own.coordinator, int(before.next[row]), _sent(client.out))
    own.coordinator.news, own.coordinator.news_epoch = set(), None
    if group.target_epoch != group.epoch:
        raise NotTogether
    targets = [group.target_of(group.members[each.member_id]) for each in clients]
    return [dict(sorted(each.items())) for each in targets]


def _consume(
    own: ConsumerStart,
    before: Joined,
    after: Shared,
    all_of_them: TopicPartitions,
    shares: list[TopicPartitions],
) -> None:
    """Let everybody consume what it gets, and the first member all of it for some time."""
    ledger, watch, owner = own.meter.ledger, own.watch, before.owner
    first, names = shares[owner.row], [each.config.name for each in own.starting]
    ledger.consume(owner.takes, names[owner.row], all_of_them, "assigned")
    ledger.consume(after.gave_up, names[owner.row], first, "revoked")
    own.meter.touch(after.gave_up, own.heartbeats.sides, own.numbers[owner.row])
    for row in after.order.tolist():
        ledger.consume(int(after.took[row]), names[row], shares[row], "assigned")
    if watch is not None:
        epoch = own.coordinator.group.epoch
        for number, share in zip(own.numbers, shares, strict=True):
            watch.generations[number] = epoch
            if share:
                watch.does[number] = consuming(share)


def _bring_on(
    own: ConsumerStart,
    before: Joined,
    after: Shared,
    joined_epoch: int,
    shares: list[TopicPartitions],
) -> None:
    """Bring everybody to the target, as the coordinator has it, the first member first."""
    group, clients, owner = own.coordinator.group, own.starting, before.owner.row
    epoch, waited = group.epoch, after.waited.tolist()

    def brought(row: int) -> ConsumerMember:
        since = joined_epoch if row == owner else epoch
        return group.members[clients[row].member_id].brought_to(
            epoch,
            epoch if waited[row] else joined_epoch,
            MemberState.STABLE,
            {topic: dict.fromkeys(numbers, since) for topic, numbers in shares[row].items()},
            {},
        )

    group.put(brought(owner))
    group.put_all([brought(row) for row in range(len(clients)) if row != owner])
    began = int(before.joins[before.order[1]])
    own.meter.rebalances.append(Rebalance(began, after.stable, epoch))
    own.meter.ended = after.stable


def _rest(own: ConsumerStart, before: Joined, after: Shared, shares: list[TopicPartitions]) -> None:
    """Let everybody rest."""
    heartbeats, owner, epoch = own.heartbeats, before.owner.row, own.coordinator.group.epoch
    network, timeout = heartbeats.network, heartbeats.broker.consumer_session_timeout_ms
    columns = (after.due, after.arrived, after.returned, after.waited)
    rows = zip(*(each.tolist() for each in columns), strict=True)
    sent = 0
    for row, (due, arrived, returned, waited) in enumerate(rows):
        number, share = own.numbers[row], shares[row]
        client = own.members[number]
        client.epoch, client.in_flight, client.out = epoch, None, []
        client.owned = client.confirmed = client.target = share
        client.must_report = client.must_send = client.acknowledges = False
        reports = 2 if row == owner else 1 + bool(share)
        client.target_number = client.confirmed_number = client.going_number = reports
        client.number = 2 + waited + reports
        sent += client.number
        if isinstance(client.draw, Draws):
            client.draw.polls.skip(reports)
        network.start(number)
        network.passed(number, arrived, returned)
        _, every, _ = heartbeats.plain.timing(number)
        over = arrived + timeout * MILLISECOND
        heartbeats.put(number, Rest(due, every, over, timeout * MILLISECOND, client.member_id))
    network.count(REQUEST, sent)
    network.busy_until = after.busy_until


def _ask(state: ConsumerCoordinator, at: int, request: ConsumerHeartbeat) -> None:
    """Let the coordinator handle a request. Raises `NotTogether` where it refuses it."""
    now_ms = _clock_ms(at)
    response = heartbeat(state, now_ms, request).response
    if (
        not isinstance(response, ConsumerHeartbeatResponse)
        or response.error is not ConsumerError.NONE
    ):
        raise NotTogether


def _sent(effects: Sequence[Effect]) -> ConsumerHeartbeat:
    """Return the heartbeat that a member sends."""
    requests = [each.request for each in effects if isinstance(each, Send)]
    assert len(requests) == 1
    assert isinstance(requests[0], ConsumerHeartbeat)
    return requests[0]


def _clock_ms(at: int) -> int:
    """Return what the coordinator's clock shows at a moment."""
    return CLOCK_STARTS_MS + at // MILLISECOND

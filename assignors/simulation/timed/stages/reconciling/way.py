"""The way of a plain member to its target, without the steps between those that others see.

By events a member hears of a target, polls, and stops to consume what it is to give up; a callback
later it polls again, and a callback after that it begins to consume what is new, and reports it.
Nothing but time passes between these, so what they come to is two changes: it stops, it has all.
The times are those that its polls and callbacks take by its settings; nothing is drawn for them
before it is there.
"""

from __future__ import annotations

from assignors.simulation.dice import Dice
from assignors.simulation.timed.protocols.application import rest_of_poll, whole_poll
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.protocols.partitions import are_same, count, has_all, shared
from assignors.simulation.timed.sides import Draws
from wire import TopicPartitions


def is_plain(client: ConsumerClient) -> bool:
    """Return whether what a member does takes as long as its settings say."""
    config = client.config
    return (
        isinstance(client.draw, Draws)
        and config.client_model is None
        and not (config.auto_commit_ms or config.sync_commit_ms)
        and not config.assign
        and max(config.assign_ms, config.revoke_ms) <= config.rebalance_timeout_ms
    )


def revokes_at(client: ConsumerClient, target: TopicPartitions, at: int) -> int | None:
    """Return when a member stops to consume what it is to give up; `None`: it keeps everything.

    It hears of its target at `at`.
    """
    return None if has_all(target, client.owned) else at + _poll_ahead(client)


def gains_at(client: ConsumerClient, at: int) -> int:
    """Return when a member has its target that gives up nothing, and hears of it at `at`."""
    return at + _poll_ahead(client) + client.config.assign_ms * MILLISECOND


def sets_out_at(client: ConsumerClient, at: int) -> int:
    """Return when a member has its first target, one of nothing, of which it hears at `at`."""
    return at + _poll_ahead(client)


def gains_something(client: ConsumerClient) -> bool:
    """Return whether a member that has what it keeps is still to be given something."""
    target = client.going_for
    assert target is not None, "it has set out"
    return count(client.owned) < count(target)


def has_all_at(client: ConsumerClient, at: int, *, gains: bool) -> int:
    """Return when a member has its target that stops to consume something at `at`."""
    config = client.config
    takes = (config.revoke_ms + gains * config.assign_ms) * MILLISECOND
    if config.poll_spread_ms:
        return at + takes + whole_poll(config, _ahead(_draws(client)))
    return at + takes + config.poll_ms * MILLISECOND


def reports_kept_at(client: ConsumerClient, target: TopicPartitions, at: int) -> int | None:
    """Return when a member reports what it keeps that stops to consume the rest at `at`, later.

    `None`: it also gains something, or its polls have to be drawn once it has stopped.
    """
    config = client.config
    takes = (config.revoke_ms + config.poll_ms) * MILLISECOND
    return at + takes if not config.poll_spread_ms and has_all(client.owned, target) else None


def give_up(client: ConsumerClient, answer: ConsumerHeartbeatResponse) -> TopicPartitions:
    """Let a member that hears of a target stop to consume; return what it keeps.

    Its callback for that begins. Cost: O(its partitions).
    """
    target = _set_out(client, answer)
    client.owned = kept = shared(client.owned, target)
    client.application.is_in_callback = True
    return kept


def give_up_and_report(client: ConsumerClient, target: TopicPartitions) -> None:
    """Let a member hear of a target that has part of what it has, and report that it has that.

    Its polls do not differ in length, and its epoch stays. Cost: O(1).
    """
    _draws(client).polls.skip(1)
    client.target = client.owned = client.confirmed = target
    client.target_number += 1
    client.going_number = client.confirmed_number = client.target_number
    client.number = client.in_flight = client.number + 1


def set_out_to_gain(client: ConsumerClient, answer: ConsumerHeartbeatResponse) -> None:
    """Let a member hear of a target that takes nothing from it, and poll. Cost: O(1)."""
    _set_out(client, answer)


def end_revocation(client: ConsumerClient) -> None:
    """Let the callback for what a member gives up be over, and its next poll. Cost: O(1)."""
    if client.config.poll_spread_ms:
        whole_poll(client.config, client.draw)


def take(client: ConsumerClient) -> bool:
    """Let a member have what it set out for, and report it; return whether it consumes more.

    Cost: O(its partitions).
    """
    target = client.going_for
    assert target is not None, "it has set out"
    has_more = not are_same(client.owned, target)
    if has_more:
        client.owned = target
    client.going_for, client.application.is_in_callback = None, False
    client.confirmed, client.confirmed_number = target, client.going_number
    client.number = client.in_flight = client.number + 1
    return has_more


def report_of(client: ConsumerClient) -> ConsumerHeartbeat:
    """Return the heartbeat in which a member reports what it has."""
    config = client.config
    return ConsumerHeartbeat(
        client.member_id,
        client.epoch,
        config.instance_id,
        config.rack_id,
        owned=client.confirmed,
        client_id=config.name,
    )


def _set_out(client: ConsumerClient, answer: ConsumerHeartbeatResponse) -> TopicPartitions:
    target = answer.assignment
    assert target is not None, "it is a new one"
    client.in_flight, client.epoch = None, answer.epoch
    client.target = client.going_for = target
    client.target_number += 1
    client.going_number = client.target_number
    rest_of_poll(client.config, client.draw)
    return target


def _poll_ahead(client: ConsumerClient) -> int:
    """Return how long the poll of a member still takes that is going on when it hears of a target.

    That stays to be drawn.
    """
    config, draws = client.config, client.draw
    assert isinstance(draws, Draws), "it is plain"
    if config.poll_spread_ms:
        return rest_of_poll(config, _ahead(draws))
    return draws.polls.next_below(config.poll_ms * MILLISECOND + 1)


def _ahead(draws: Draws) -> Draws:
    """Return the same random times, drawn ahead: they stay to be drawn."""
    return Draws(*(Dice(each.state) for each in (draws.polls, draws.syncs, draws.looks)))


def _draws(client: ConsumerClient) -> Draws:
    draw = client.draw
    assert isinstance(draw, Draws), "it is plain"
    return draw

"""One member of a consumer group on its way: what happens to it next, and when.

Between the moments at which somebody else has to do with it nothing of the member is looked at. So
it takes its steps later than they happen, one after the other, each with its own time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from assignors.simulation.dice import Dice
from assignors.simulation.timed.protocols.application import rest_of_poll, whole_poll
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.effects import MILLISECOND, MemberEvent
from assignors.simulation.timed.protocols.partitions import count, has_all, shared
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.sides import Draws
from wire import TopicPartitions


class Next(Enum):
    """What happens next that others have to do with."""

    HEARTBEAT = "heartbeat"
    """A heartbeat without anything new to say arrives."""
    REVOCATION = "revocation"
    """It stops to consume what it is to give up."""
    ASSIGNMENT = "assignment"
    """It has what it was assigned, and reports that."""
    REPORT = "report"
    """The report arrives."""


class ReconciliationDue(NamedTuple):
    """An event at a member: what is next for it happens now."""


class Answer(NamedTuple):
    """An answer on its way to a member; times are microseconds."""

    own_number: int
    """That of the request."""
    response: ConsumerHeartbeatResponse
    returns: int
    rank: Rank | None
    """Its place among what comes at the same time."""
    epoch: int
    """That of the member until then."""


@dataclass(slots=True)
class Reconciling:
    """A member on its way; times are microseconds."""

    number: int
    next: Next
    due: int
    """When its next heartbeat is due that has not been sent."""
    every: int
    session_over: int
    session_timeout: int
    member_id: str
    pending: tuple[int, MemberEvent] | None = None
    """Its next step, and when it takes it; `None`: it waits for the coordinator."""
    answer: Answer | None = None
    """The answer that set it off."""
    report: tuple[int, ConsumerHeartbeat, int] | None = None
    """Its number of the report, the report, and when that arrives."""


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
    if has_all(target, client.owned):
        return None
    return at + rest_of_poll(client.config, _ahead(client))


def gains_at(client: ConsumerClient, at: int) -> int:
    """Return when a member has its target that gives up nothing, and hears of it at `at`."""
    config = client.config
    return at + rest_of_poll(config, _ahead(client)) + config.assign_ms * MILLISECOND


def has_all_at(client: ConsumerClient, target: TopicPartitions, at: int) -> int:
    """Return when a member has its target that stops to consume something at `at`."""
    config = client.config
    gains = count(shared(client.owned, target)) < count(target)
    takes = (config.revoke_ms + gains * config.assign_ms) * MILLISECOND
    return at + takes + whole_poll(config, _ahead(client))


def _ahead(client: ConsumerClient) -> Draws:
    """Return the random times of a member, drawn ahead: they stay to be drawn."""
    draw = client.draw
    assert isinstance(draw, Draws), "it is plain"
    return Draws(Dice(draw.polls.state), draw.syncs)

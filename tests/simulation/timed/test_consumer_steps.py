"""Single steps of a consumer with the protocol of KIP-848, and what waits for another one."""

from __future__ import annotations

import pytest

from assignors.simulation.timed.explore.cases import Case, model_of
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Command,
    Consume,
    Disturbance,
    Disturbed,
    Effect,
    Fired,
    MemberEvent,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient, step
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
)
from assignors.simulation.timed.protocols.state_values import cloned
from assignors.simulation.timed.scenario import (
    Action,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate
from wire import TopicPartitions

BEAT = Fired(("heartbeat",), 0)
POLL, TAKE, ASSIGNED = Fired(("poll",), 0), Fired(("take",), 0), Fired(("assigned",), 0)


def client() -> ConsumerClient:
    """Return a member that has not started."""
    case = Case(protocol=GroupProtocol.CONSUMER, assignor="server/uniform", members=1, partitions=2)
    model, _ = model_of(case)
    found: ConsumerClient = cloned(model.members.values[0])
    return found


def sent(effects: list[Effect]) -> list[ConsumerHeartbeat]:
    """Return the heartbeats that a step sends."""
    requests = [each.request for each in effects if isinstance(each, Send)]
    return [each for each in requests if isinstance(each, ConsumerHeartbeat)]


def answer(number: int, epoch: int, assignment: TopicPartitions | None = None) -> MemberEvent:
    response = ConsumerHeartbeatResponse(ErrorCode.NONE, "c0", epoch, assignment)
    return Answered(number, response)


def test_a_member_has_one_heartbeat_on_its_way_and_says_the_rest_with_the_next() -> None:
    member = client()
    (join,) = sent(step(member, Command.START))
    assert (join.epoch, join.topics, join.owned) == (0, ("t",), {})
    member.topics = ("u",)
    assert sent(step(member, Command.REJOIN)) == sent(step(member, BEAT)) == []
    (changed,) = sent(step(member, answer(1, 1)))
    assert (changed.epoch, changed.topics, changed.owned) == (1, ("u",), None)
    assert sent(step(member, answer(2, 2))) == []
    (plain,) = sent(step(member, BEAT))
    assert (plain.epoch, plain.topics, plain.owned) == (2, None, None)


def test_a_callback_waits_until_the_application_polls_again() -> None:
    member = client()
    step(member, Command.START)
    step(member, Disturbed(Disturbance.LONG_POLL, 60_000_000))
    step(member, answer(1, 1, {"t": (0, 1)}))
    member.application.is_in_poll = True
    assert step(member, TAKE) == []
    effects = step(member, Disturbed(Disturbance.LONG_POLL, 0))
    assert ("assigned",) in [each.key for each in effects if isinstance(each, Schedule)]


def test_what_need_not_be_given_up_any_more_is_not_waited_for_twice() -> None:
    """The poll for what was taken away came first, then that for what is new: an assertion."""
    member = client()
    step(member, Command.START)
    step(member, answer(1, 1, {"t": (0, 1)}))
    for event in (TAKE, ASSIGNED, answer(2, 1), BEAT, answer(3, 2, {"t": (0,)}), BEAT):
        step(member, event)
    step(member, answer(4, 3, {"t": (0, 1, 2)}))
    assert member.owned == {"t": (0, 1)}
    effects = [each for event in (POLL, TAKE, ASSIGNED) for each in step(member, event)]
    assert [each for each in effects if isinstance(each, Consume)] == [
        Consume({"t": (0, 1, 2)}, "assigned")
    ]
    assert sent(effects)[0].owned == {"t": (0, 1, 2)}


@pytest.mark.parametrize("protocol", GroupProtocol)
@pytest.mark.parametrize("at_ms", [0, 5, 30, 45, 70])
def test_a_subscription_that_changes_while_its_member_joins_counts(
    protocol: GroupProtocol, at_ms: int
) -> None:
    """It was lost under KIP-848 and the push protocol: the member kept what it had joined with."""
    scenario = Scenario(
        until_ms=60_000,
        protocol=protocol,
        topics={"t": 2, "u": 3},
        members=(
            MemberConfig(name="a", topics=("t",)),
            MemberConfig(name="b", topics=("t",), starts_at_ms=20_000),
        ),
        plan=(Action(at_ms=at_ms, do=Verb.SUBSCRIBE, member="a", topics=("u",)),),
        network=NetworkConfig(least_us=20_000, mean_us=500),
    )
    computed, queued = simulate(scenario), simulate(scenario, queues_heartbeats=True)
    assert (computed.result.unowned, computed.result.is_settled) == (0, True)
    assert (queued.result.unowned, queued.result.is_settled) == (0, True)

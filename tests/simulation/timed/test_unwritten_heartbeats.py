"""Heartbeats of a consumer group that are not written lead to what written ones do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from assignors.simulation.timed.protocols.consumer import step as consumer_step
from assignors.simulation.timed.protocols.consumer.assignment.joined import joined
from assignors.simulation.timed.protocols.consumer.assignment.unwritten import (
    Kept,
    brought_on,
    released,
    to_give_up,
    told,
)
from assignors.simulation.timed.protocols.consumer.coordinator import heartbeat, updated
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
)
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.state_values import cloned
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.stages.reconciling import asking
from tests.conftest import cases
from tests.simulation.timed.test_reconciling import group_of, scenarios


def answered_without_records(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> int:
    """Play a scenario, each heartbeat by a copy of the group too that writes nothing.

    Returns how many of them were answered so; `AssertionError` where anything else comes of it.
    """
    found = 0

    def both(state: ConsumerCoordinator, now_ms: int, request: ConsumerHeartbeat) -> Changes:
        nonlocal found
        copy = cloned(state)
        member, brief = copy.group.members.get(request.member_id), None
        if member is not None and updated(member, request) is member:
            brief = brought_on(copy, now_ms, member, request.epoch, request.owned)
        if brief is None:
            assert copy == state
            return heartbeat(state, now_ms, request)
        changes, (response, timer) = heartbeat(state, now_ms, request), brief
        others = [each for each in changes.timers if each[0][0] != "session"]
        assert (response, others) == (changes.response, [] if timer is None else [timer])
        assert (copy == state, timer is not None) == (True, bool(changes.records))
        found += 1
        return changes

    with monkeypatch.context() as patch:
        patch.setattr(consumer_step, "heartbeat", both)
        simulate(scenario, queues_heartbeats=True)
    return found


def joined_without_records(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> int:
    """Play a scenario, each request to join by a copy of the group too that writes nothing.

    Returns how many of them were answered so; `AssertionError` where anything else comes of it.
    """
    found = 0

    def both(state: ConsumerCoordinator, now_ms: int, request: ConsumerHeartbeat) -> Changes:
        nonlocal found
        copy = cloned(state)
        response = joined(copy, now_ms, request)
        if response is None:
            assert copy == state
            return heartbeat(state, now_ms, request)
        changes = heartbeat(state, now_ms, request)
        timers = {key[0]: (after_us is None) for key, after_us, _ in changes.timers}
        assert (response, timers) == (changes.response, {"session": False, "rebalance": True})
        assert (copy == state, len(changes.records)) == (True, 3)
        assert list(copy.group.order) == list(state.group.order)
        found += 1
        return changes

    with monkeypatch.context() as patch:
        patch.setattr(consumer_step, "heartbeat", both)
        simulate(scenario, queues_heartbeats=True)
    return found


@cases(40)
@given(scenarios())
def test_a_request_to_join_that_is_not_written_leads_to_what_a_written_one_does(
    scenario: Scenario,
) -> None:
    joined_without_records(scenario, pytest.MonkeyPatch())


def test_members_that_join_within_a_second_of_a_target_need_not_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first of eight makes the group, the second looks at topics, another one has a target."""
    group = group_of(broker=BrokerConfig(assignment_interval_ms=1000))
    late = tuple(
        replace(each, starts_at_ms=30_000 + 100 * number) if number > 4 else each
        for number, each in enumerate(group.members)
    )
    assert joined_without_records(replace(group, members=late, plan=()), monkeypatch) == 5


@cases(20)
@given(scenarios())
def test_a_heartbeat_that_is_not_written_leads_to_what_a_written_one_does(
    scenario: Scenario,
) -> None:
    answered_without_records(scenario, pytest.MonkeyPatch())


def released_without_records(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> int:
    """Play a scenario, each member that only gives something up by a copy of the group too.

    There it is told what, and reports it. Returns how many did so; `AssertionError` where anything
    else comes of it.
    """
    found = 0

    def both(
        state: ConsumerCoordinator, now_ms: int, epoch: int, kept: Kept
    ) -> ConsumerHeartbeatResponse | None:
        nonlocal found
        copy = cloned(state)
        response = released(state, now_ms, epoch, kept)
        if response is None:
            assert copy == state
            return None
        to_tell, timer = told(copy, kept)
        same = copy.group.members[kept.member.member_id]
        brief = brought_on(copy, now_ms, same, epoch, to_tell.assignment)
        assert brief is not None
        answer, stopped = brief
        assert stopped is not None
        assert (answer, stopped[:2], copy == state) == (response, (timer[0], None), True)
        found += 1
        return response

    def as_told(state: ConsumerCoordinator, now_ms: int, member_id: str, epoch: int) -> Kept | None:
        kept = to_give_up(state, now_ms, member_id, epoch)
        if kept is not None:
            copy = cloned(state)
            other = cloned(state)
            brief = brought_on(other, now_ms, other.group.members[member_id], epoch, None)
            assert (told(copy, kept), copy == other) == (brief, True)
        return kept

    with monkeypatch.context() as patch:
        patch.setattr(asking, "released", both)
        patch.setattr(asking, "to_give_up", as_told)
        simulate(scenario)
    return found


@cases(20)
@given(scenarios())
def test_a_report_of_what_is_kept_leads_to_what_any_report_does(scenario: Scenario) -> None:
    released_without_records(scenario, pytest.MonkeyPatch())


def test_most_members_that_give_something_up_report_what_they_keep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    back = Action(at_ms=40_000, do=Verb.START, member="c0")
    assert released_without_records(group_of(plan=(*group_of().plan, back)), monkeypatch) == 5


def test_most_heartbeats_amid_a_rebalance_need_not_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests = simulate(group_of()).result.requests["ConsumerHeartbeat"]
    assert answered_without_records(group_of(), monkeypatch) > requests / 2

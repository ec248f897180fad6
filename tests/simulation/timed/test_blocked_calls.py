"""Figures that are measured on request: how long calls keep applications' threads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    ClientModel,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    ProcessingConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import Played, simulate
from assignors.simulation.timed.tables.rows import simulate_with_all_figures
from tests.conftest import cases
from tests.simulation.timed.groups import SETTLED_MS, group, planned, with_members

EAGER, COOPERATIVE = "java/range", "java/cooperative-sticky"
CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
AT_MS = SETTLED_MS + 1000


def measured(scenario: Scenario) -> TimedResult:
    return simulate_with_all_figures(scenario).result


def without_partitions(run: Played, from_ms: int, starts_ms: dict[str, int]) -> float:
    """Return members times milliseconds between two times with partitions, from the history.

    A member's first time without any begins with its process. The last one, which no partition
    ends, is left out.
    """
    empty = {name: at_ms * 1000 for name, at_ms in starts_ms.items()}
    total = 0
    for change in run.changes:
        has_some = any(change.owned.values())
        since = empty.pop(change.member_id, None)
        if has_some:
            total += 0 if since is None else max(change.at - max(since, from_ms * 1000), 0)
        else:
            empty[change.member_id] = change.at if since is None else since
    return total / 1000


def test_a_lone_member_is_in_poll_until_its_round_is_over() -> None:
    """It waits for both answers and computes in between; then its callback runs."""
    member = MemberConfig(name="c", topics=("t",), assignors=(EAGER,), assign_ms=7)
    found = measured(
        Scenario(
            until_ms=20_000,
            topics={"t": 6},
            members=(member,),
            network=NetworkConfig(least_us=1000, mean_us=0),
            broker=BrokerConfig(service_us=0, append_us=0, initial_delay_ms=3000),
        )
    )
    assert found.join_wait_ms is not None
    assert found.sync_wait_ms is not None
    computing_ms = 6 * 0.02
    waited = found.join_wait_ms + found.sync_wait_ms + computing_ms
    assert found.poll_blocked_ms == pytest.approx(waited)
    assert found.callback_blocked_ms == 7
    assert (found.commit_blocked_ms, found.close_blocked_ms) == (0, 0)


def joined(protocol: GroupProtocol, assignor: str, **fields: Any) -> Scenario:
    """Return ten members whom an eleventh one joins, counted from before it does."""
    members = with_members(group(assignors=(assignor,)), **fields)
    newcomer = replace(members.members[0], name="new", starts_at_ms=None)
    members = replace(members, protocol=protocol, members=(*members.members, newcomer))
    return planned(members, [Action(at_ms=AT_MS, do=Verb.START, member="new")])


@cases(10)
@given(
    seed=st.integers(0, 2**32),
    poll_ms=st.sampled_from([0, 100, 3000]),
    assign_ms=st.sampled_from([0, 5, 700]),
    model=st.sampled_from([None, *ClientModel]),
)
def test_an_eager_member_without_partitions_is_in_poll_or_in_a_callback(
    seed: int, poll_ms: int, assign_ms: int, model: ClientModel | None
) -> None:
    scenario = joined(CLASSIC, EAGER, poll_ms=poll_ms, assign_ms=assign_ms, client_model=model)
    second = replace(scenario.members[0], name="second", starts_at_ms=AT_MS + 40_000)
    scenario = replace(scenario, seed=seed, members=(*scenario.members, second))
    run = simulate_with_all_figures(scenario)
    starts_ms = {each.name: each.starts_at_ms or 0 for each in scenario.members} | {"new": AT_MS}
    expected = without_partitions(run, scenario.count_from_ms, starts_ms)
    found = run.result
    assert found.poll_blocked_ms is not None
    assert found.callback_blocked_ms is not None
    assert found.poll_blocked_ms + found.callback_blocked_ms == pytest.approx(expected)
    assert found.callback_blocked_ms == pytest.approx((10 + 11) * 20 + (11 + 12) * assign_ms)


@pytest.mark.parametrize(("protocol", "assignor"), [(CLASSIC, COOPERATIVE), (CONSUMER, EAGER)])
def test_nothing_but_the_first_join_blocks_where_partitions_stay(
    protocol: GroupProtocol, assignor: str
) -> None:
    """What the discussion of 2014 asked for: nobody is in poll for nothing but the newcomer."""
    scenario = joined(protocol, assignor)
    run = simulate_with_all_figures(scenario)
    first = next(each.at for each in run.changes if each.member_id == "new" and each.owned)
    found = run.result
    assert found.poll_blocked_ms is not None
    until_first = first / 1000 - AT_MS
    assert found.poll_blocked_ms == pytest.approx(until_first, abs=6)  # but for its callback
    eager = measured(joined(CLASSIC, EAGER)).poll_blocked_ms
    assert eager is not None
    assert eager > found.poll_blocked_ms / 2


def test_a_synchronous_commit_blocks_until_its_answer() -> None:
    scenario = with_members(
        replace(group(4), processing=ProcessingConfig(records_per_second=10)),
        sync_commit_ms=500,
        commits_on_revoke=False,
    )
    found = measured(replace(scenario, until_ms=SETTLED_MS + 10_000))
    assert found.commit_blocked_ms
    assert found.commit_wait_ms == pytest.approx(found.commit_blocked_ms)
    slow = replace(scenario, broker=replace(scenario.broker, append_us=200_000))
    slower = measured(replace(slow, until_ms=SETTLED_MS + 10_000))
    assert slower.commit_blocked_ms is not None
    assert slower.commit_blocked_ms > 20 * found.commit_blocked_ms


@pytest.mark.parametrize("instance_id", [None, "i"])
@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER, GroupProtocol.PUSH])
def test_close_takes_as_long_as_its_callback(
    protocol: GroupProtocol, instance_id: str | None
) -> None:
    scenario = with_members(group(3), revoke_ms=300)
    members = (replace(scenario.members[0], instance_id=instance_id), *scenario.members[1:])
    scenario = replace(scenario, members=members, protocol=protocol)
    stop = Action(at_ms=AT_MS, do=Verb.STOP, member="c0")
    found = measured(planned(scenario, [stop], settles_ms=1000))
    assert found.close_blocked_ms == 300
    crash = replace(stop, do=Verb.CRASH)
    assert measured(planned(scenario, [crash], settles_ms=1000)).close_blocked_ms == 0


def test_close_waits_for_the_callback_that_runs() -> None:
    """A callback of two seconds began a second before: the rest of it is part of close."""
    start = Action(at_ms=AT_MS, do=Verb.START, member="new")
    stop = Action(at_ms=AT_MS + 4500, do=Verb.STOP, member="new")
    scenario = joined(CLASSIC, EAGER, assign_ms=2000, revoke_ms=0)
    only = replace(scenario, members=(scenario.members[-1],), count_from_ms=0)
    found = measured(planned(only, [start, stop], settles_ms=5000))
    callback, close = found.callback_blocked_ms, found.close_blocked_ms
    assert callback is not None
    assert close is not None
    assert callback + close == pytest.approx(2000)
    assert close == pytest.approx(500, abs=50)


def test_a_member_with_handlers_closes_once_the_last_has_returned() -> None:
    members = with_members(group(3, assignors=(EAGER,)), runs_handlers=True, poll_ms=0)
    stop = Action(at_ms=AT_MS, do=Verb.STOP, member="c0")
    fault = Fault(kind=FaultKind.LONG_POLL, member="c0", from_ms=AT_MS - 1, until_ms=AT_MS + 3000)
    scenario = planned(members, [stop], settles_ms=3500)
    assert measured(scenario).close_blocked_ms == 20
    assert measured(replace(scenario, faults=(fault,))).close_blocked_ms == 3020


def test_a_callback_lasts_until_its_commit_is_answered() -> None:
    found = measured(named("commit-in-a-callback"))
    assert found.callback_blocked_ms is not None
    assert found.callback_blocked_ms > 9 * 1000, "nine members commit, which takes a second"


def test_the_figures_are_null_where_nobody_asks() -> None:
    found = simulate(named("scale-out")).result
    assert found.poll_blocked_ms is found.callback_blocked_ms is None
    assert found.commit_blocked_ms is found.close_blocked_ms is None

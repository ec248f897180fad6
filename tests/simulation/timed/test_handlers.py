"""Members with sessions and handlers, as Sarama's: the order of calls, and who waits for whom.

What a real group of Sarama's is called for is compared in `tests/interop/test_sessions.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.documents.values import DocumentError
from assignors.ownership.changes import pairs
from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.monitors.rules import Seen
from assignors.simulation.timed.possible import require_possible
from assignors.simulation.timed.protocols.effects import Consume, Fired, Schedule, Send
from assignors.simulation.timed.protocols.kafka.messages import JoinGroup
from assignors.simulation.timed.scenario import (
    Action,
    ClientModel,
    Fault,
    FaultKind,
    GroupProtocol,
    ProcessingConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import Played, simulate
from tests.conftest import cases
from tests.simulation.timed.groups import SETTLED_MS, group, planned, with_members
from tests.simulation.timed.handler_calls import merged
from tests.simulation.timed.listeners import (
    Called,
    Event,
    HandlerCall,
    Happening,
    Listener,
    handler_trace,
)

EAGER, COOPERATIVE = "java/range", "java/cooperative-sticky"
AT_MS = SETTLED_MS + 1000


def sessions(assignor: str, *plan: Action, count: int = 4, **fields: Any) -> Scenario:
    """Return a group whose members all have handlers, with forty partitions."""
    members = with_members(
        group(count, partitions=40, assignors=(assignor,)),
        **{"runs_handlers": True, "poll_ms": 500, "rebalance_timeout_ms": 20_000, **fields},
    )
    newcomer = replace(members.members[0], name="new", starts_at_ms=None)
    members = replace(members, members=(*members.members, newcomer))
    return planned(members, plan or [Action(at_ms=AT_MS, do=Verb.START, member="new")])


def played(scenario: Scenario) -> tuple[Played, list[Seen]]:
    seen: list[Seen] = []
    return simulate(scenario, keeps_history=True, observe=seen.append), seen


def calls(seen: Iterable[Seen], name: str) -> list[HandlerCall]:
    """Return what a member's application is called for, handlers that follow each other as one."""
    listed: list[tuple[Called, frozenset[int]]] = []
    consumed: frozenset[int] = frozenset()
    for each in seen:
        if each.member != name:
            continue
        for effect in each.effects:
            if isinstance(effect, Consume):
                now = frozenset(number for _, number in pairs(effect.owned))
                listed += [(Called.RETURN, frozenset({one})) for one in sorted(consumed - now)]
                listed += [(Called.CLAIM, now - consumed)] * bool(now - consumed)
                consumed = now
            elif isinstance(effect, Schedule) and effect.key == ("assigned",):
                listed.append((Called.SETUP, frozenset()))
            elif isinstance(effect, Schedule) and effect.key == ("revoked",):
                listed.append((Called.CLEANUP, frozenset()))
    return merged(HandlerCall(called, tuple(sorted(numbers))) for called, numbers in listed)


def expected(listener: Listener, events: Iterable[Event]) -> list[HandlerCall]:
    """Return the trace of the model; a run does not say for which partitions `Setup` is called."""
    around = {Called.SETUP, Called.CLEANUP}
    return merged(
        each._replace(partitions=()) if each.called in around else each
        for each in handler_trace(listener, events)
    )


def assignments(run: Played, name: str) -> list[frozenset[int]]:
    """Return the assignments that a member had, as its handlers began: one for each round."""
    return [
        frozenset(number for _, number in pairs(change.owned))
        for change in run.changes
        if change.member_id == name and change.reason == "assigned"
    ]


@pytest.mark.parametrize(
    ("assignor", "listener"), [(EAGER, Listener.EAGER), (COOPERATIVE, Listener.COOPERATIVE)]
)
@cases(15)
@given(seed=st.integers(0, 2**32), poll_ms=st.sampled_from([0, 1, 500, 4000]))
def test_a_run_calls_handlers_in_the_order_of_the_model(
    assignor: str, listener: Listener, seed: int, poll_ms: int
) -> None:
    stop = Action(at_ms=AT_MS + 60_000, do=Verb.STOP, member="c1")
    start = Action(at_ms=AT_MS, do=Verb.START, member="new")
    run, seen = played(replace(sessions(assignor, start, stop, poll_ms=poll_ms), seed=seed))
    assert run.result.violations == 0
    assert run.result.is_settled
    for name in ("c0", "c1", "new"):
        story: list[Event] = []
        for each in assignments(run, name):
            story += [Event(Happening.REBALANCE), Event(Happening.ASSIGNED, each)]
        story += [Event(Happening.CLOSED)] * (name == "c1")
        assert calls(seen, name) == expected(listener, story[1:])


@pytest.mark.parametrize("assignor", [EAGER, COOPERATIVE])
@cases(15)
@given(seed=st.integers(0, 2**32))
def test_nobody_joins_before_the_last_handler_has_returned_that_must(
    assignor: str, seed: int
) -> None:
    _, seen = played(replace(sessions(assignor, poll_ms=4000), seed=seed))
    returning: dict[str, set[tuple[str, ...]]] = {}
    joins = 0
    for each in seen:
        if each.member is None:
            continue
        told = returning.setdefault(each.member, set())
        if isinstance(each.event, Fired):
            told.discard(each.event.key)
        for effect in each.effects:
            if isinstance(effect, Schedule) and effect.key[0] == "handler":
                told.add(effect.key)
            elif isinstance(effect, Send) and isinstance(effect.request, JoinGroup):
                assert not told
                joins += 1
    assert joins > 10


def stuck(assignor: str, longer_ms: int, **fields: Any) -> tuple[Played, list[Seen]]:
    """A member joins, and one handler of `c1` does not return for so long."""
    fault = Fault(kind=FaultKind.LONG_POLL, member="c1", from_ms=AT_MS, until_ms=AT_MS + longer_ms)
    return played(replace(sessions(assignor, **fields), faults=(fault,)))


def test_one_slow_handler_holds_up_every_member_of_an_eager_group() -> None:
    run, _ = stuck(EAGER, 15_000)
    assert run.result.violations == run.result.double_partition_ms == 0
    # Forty partitions but the one that is still processed wait for it.
    assert run.result.unavailable_partition_ms == pytest.approx(39 * 15_000, rel=0.15)
    assert run.result.moves == simulate(sessions(EAGER)).result.moves


def test_a_cooperative_group_waits_for_it_with_what_moves_alone() -> None:
    run, _ = stuck(COOPERATIVE, 15_000)
    assert run.result.violations == run.result.double_partition_ms == 0
    assert 15_000 < run.result.longest_gap_ms + 15_000 < 40_000
    assert run.result.unavailable_partition_ms < 0.3 * 39 * 15_000


@pytest.mark.parametrize("assignor", [EAGER, COOPERATIVE])
def test_who_is_later_than_the_rebalance_timeout_is_dropped_and_comes_back(assignor: str) -> None:
    """Its handler goes on with a partition that another member has got meanwhile."""
    run, seen = stuck(assignor, 50_000)
    assert run.result.double_partition_ms == pytest.approx(30_000, rel=0.2)
    assert run.result.is_settled
    ids = {
        effect.request.member_id
        for each in seen
        if each.member == "c1"
        for effect in each.effects
        if isinstance(effect, Send) and isinstance(effect.request, JoinGroup)
    }
    assert len(ids - {""}) == 2, "the id that was dropped, and a new one"


def test_a_cooperative_session_ends_if_a_handler_does_not_return_in_time() -> None:
    """`revokeClaims` waits for the rebalance timeout, then cancels the session."""
    _, seen = stuck(COOPERATIVE, 50_000)
    kinds = [each.called for each in calls(seen, "c1")]
    assert kinds.count(Called.SETUP) == 2
    assert kinds.count(Called.CLEANUP) == 1
    late = [each.at_us for each in seen if is_fired(each, "handlers-late")]
    told = [
        each.at_us
        for each in seen
        for effect in each.effects
        if isinstance(effect, Schedule) and effect.key == ("handlers-late",)
    ]
    assert len(late) == 1
    assert late[0] - 20_000_000 in told


def is_fired(seen: Seen, timer: str) -> bool:
    return isinstance(seen.event, Fired) and seen.event.key == (timer,)


def test_heartbeats_go_on_while_a_handler_does_not_return() -> None:
    """So the member is not dropped by its session, but by the rebalance timeout."""
    run, _ = stuck(EAGER, 18_000, session_timeout_ms=6000, heartbeat_interval_ms=2000)
    assert run.result.double_partition_ms == 0
    assert run.result.rounds == 1


def test_what_handlers_have_processed_is_committed_before_anybody_else_goes_on() -> None:
    for assignor in (EAGER, COOPERATIVE):
        scenario = replace(
            sessions(assignor, poll_ms=3000), processing=ProcessingConfig(records_per_second=10)
        )
        result = simulate(scenario).result
        assert (result.reprocessed_records, result.duplicate_records) == (0, 0)
        assert result.fenced_commits == 0
        assert result.commits > 0


def test_a_member_that_closes_amid_a_round_leaves_once_that_is_over() -> None:
    """`Close` waits for the lock that `Consume` holds while it joins."""
    start = Action(at_ms=AT_MS, do=Verb.START, member="new")
    stop = Action(at_ms=AT_MS + 500, do=Verb.STOP, member="new")
    run, seen = played(sessions(EAGER, start, stop, poll_ms=4000))
    assert [each.called for each in calls(seen, "new")] == [Called.SETUP, Called.CLEANUP]
    assert run.result.is_settled
    assert run.result.violations == 0


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"client_model": ClientModel.IN_POLL}, "members[0].client_model"),
        ({"timing": Timing(between_polls_us=1)}, "members[0].timing"),
        ({"timing": Timing(heartbeats_go_on=True)}, "members[0].timing"),
        ({"stops_without_answer": True}, "members[0].stops_without_answer"),
        ({"forgets_generation": True}, "members[0].forgets_generation"),
        ({"assign": {"orders": (0,)}, "topics": ()}, "members[0].assign"),
        ({"protocol": GroupProtocol.CONSUMER}, "members[0].runs_handlers"),
    ],
)
def test_settings_of_other_clients_are_refused_with_their_path(
    fields: dict[str, Any], path: str
) -> None:
    with pytest.raises(DocumentError) as refused:
        require_possible(sessions(EAGER, **fields))
    assert refused.value.path == path


def test_another_protocol_is_refused_wherever_it_is_asked_for() -> None:
    start = Action(at_ms=AT_MS, do=Verb.START, member="new", protocol=GroupProtocol.CONSUMER)
    with pytest.raises(DocumentError) as refused:
        require_possible(sessions(EAGER, start))
    assert refused.value.path == "plan[0].protocol"
    with pytest.raises(DocumentError) as refused:
        require_possible(replace(sessions(EAGER), protocol=GroupProtocol.CONSUMER))
    assert refused.value.path == "members[0].runs_handlers"

"""Members whose clients divide their work among threads: who is evicted, what waits for what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.monitors.rules import Seen
from assignors.simulation.timed.protocols.effects import Send
from assignors.simulation.timed.protocols.kafka.messages import OffsetCommit
from assignors.simulation.timed.scenario import (
    Action,
    ClientModel,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    ProcessingConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import Played, simulate
from assignors.simulation.timed.threads.duties import MODELS

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
IN_POLL, HEARTBEAT_THREAD, BACKGROUND_THREAD = ClientModel
BOTH = pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
EACH = pytest.mark.parametrize("model", ClientModel)


def group(
    model: ClientModel | None, protocol: GroupProtocol, *, count: int = 4, poll_ms: int = 1000
) -> Scenario:
    """A settled group on 12 partitions that nothing happens to; its clients are never late."""
    return Scenario(
        until_ms=240_000,
        count_from_ms=60_000,
        has_rested=False,
        protocol=protocol,
        topics={"t": 12},
        members=tuple(
            MemberConfig(
                name=f"c{number}",
                topics=("t",),
                assignors=("java/cooperative-sticky",),
                poll_ms=poll_ms,
                timing=Timing(),
                client_model=model,
            )
            for number in range(count)
        ),
    )


def with_fault(scenario: Scenario, kind: FaultKind, seconds: int) -> Scenario:
    """One fault of `c1`, from 80 seconds on."""
    fault = Fault(kind=kind, member="c1", from_ms=80_000, until_ms=80_000 + 1000 * seconds)
    return replace(scenario, faults=(fault,))


def joining(scenario: Scenario) -> Scenario:
    """A fifth member joins at 90 seconds."""
    newcomer = replace(scenario.members[0], name="c9", starts_at_ms=None)
    start = Action(at_ms=90_000, do=Verb.START, member="c9")
    return replace(scenario, members=(*scenario.members, newcomer), plan=(start,))


def test_a_scenario_names_all_models() -> None:
    assert [each.value for each in ClientModel] == [each.name for each in MODELS]


@BOTH
@EACH
@pytest.mark.parametrize(("seconds", "is_too_long"), [(20, False), (60, True)])
def test_only_a_client_that_does_all_in_poll_is_evicted_for_a_stalled_application(
    model: ClientModel, protocol: GroupProtocol, seconds: int, *, is_too_long: bool
) -> None:
    result = simulate(with_fault(group(model, protocol), FaultKind.LONG_POLL, seconds)).result
    assert (result.moves > 0) == (model is IN_POLL and is_too_long)
    assert result.is_settled


@BOTH
@EACH
@pytest.mark.parametrize(("seconds", "is_too_long"), [(20, False), (60, True)])
def test_only_a_client_with_a_thread_of_its_own_is_evicted_when_that_stalls(
    model: ClientModel, protocol: GroupProtocol, seconds: int, *, is_too_long: bool
) -> None:
    result = simulate(with_fault(group(model, protocol), FaultKind.STALLED_THREAD, seconds)).result
    assert (result.moves > 0) == (model is not IN_POLL and is_too_long)
    assert result.is_settled


@BOTH
@EACH
def test_a_network_that_is_cut_evicts_whatever_the_threads(
    model: ClientModel, protocol: GroupProtocol
) -> None:
    result = simulate(with_fault(group(model, protocol), FaultKind.CUT, 60)).result
    assert result.moves > 0
    assert result.is_settled


@pytest.mark.parametrize("model", [None, *ClientModel])
def test_a_leader_whose_assignor_takes_a_minute_starves_its_heartbeats(
    model: ClientModel | None,
) -> None:
    """It computes in the thread that sends them, or under the lock that this one needs."""
    scenario = joining(group(model, CLASSIC))
    slow = [
        Fault(
            kind=FaultKind.SLOW_ASSIGNOR,
            member=each.name,
            from_ms=80_000,
            until_ms=110_000,
            by_ms=60_000,
        )
        for each in scenario.members
    ]
    played = simulate(replace(scenario, faults=tuple(slow), until_ms=400_000))
    assert bool(played.zombies) == (model is not None)
    assert played.result.is_settled


def test_who_polls_as_often_as_heartbeats_are_due_hears_of_news_just_after_a_poll() -> None:
    """A poll wakes the heartbeat thread, so the answer comes when it is over (KAFKA's client)."""
    took = []
    for late_ms in range(0, 1000, 100):
        scenario = group(HEARTBEAT_THREAD, CLASSIC, count=2)
        stop = Action(at_ms=90_000 + late_ms, do=Verb.STOP, member="c1")
        quick = tuple(
            replace(each, heartbeat_interval_ms=1000, assignors=("java/range",))
            for each in scenario.members
        )
        result = simulate(replace(scenario, members=quick, plan=(stop,))).result
        took.append(result.longest_gap_ms)
    assert 1000 <= min(took) <= 1200
    assert 1900 <= max(took) <= 2100


@BOTH
def test_a_late_poll_is_noticed_by_the_thread_that_sends_heartbeats(
    protocol: GroupProtocol,
) -> None:
    """With all work in poll nobody notices; the session is over anyway, and once is enough."""
    left = {}
    for model in ClientModel:
        scenario = group(model, protocol)
        late = with_fault(replace(scenario, until_ms=500_000), FaultKind.LONG_POLL, 320)
        played = simulate(late)
        (zombie,) = played.zombies
        left[model] = round(zombie.from_us / 1_000_000) - 80
        assert zombie.until_us <= 401_100_000
        assert played.result.is_settled
    assert left[IN_POLL] in range(38, 46)
    assert left[HEARTBEAT_THREAD] in range(300, 302)
    assert left[BACKGROUND_THREAD] in range(300, 302)


def test_a_cooperative_round_waits_for_fewer_polls_with_a_background_thread() -> None:
    """JoinGroup, its answer and that of SyncGroup each wait for a poll of a member with records."""
    found = {
        model: simulate(joining(group(model, CLASSIC, poll_ms=5000))).result.convergence_ms or 0
        for model in ClientModel
    }
    assert found[BACKGROUND_THREAD] + 5000 < found[HEARTBEAT_THREAD] <= found[IN_POLL] + 5000


def test_a_member_of_kip_848_calls_both_callbacks_in_one_poll_or_in_three() -> None:
    """A background thread begins in one poll, calls revoked in the next, assigned in the third."""
    found = {
        model: simulate(joining(group(model, CONSUMER, poll_ms=5000))).result.convergence_ms or 0
        for model in ClientModel
    }
    late_ms = found[BACKGROUND_THREAD] - found[HEARTBEAT_THREAD]
    assert late_ms == pytest.approx(2 * 5000, abs=100)


@BOTH
@EACH
def test_with_no_time_between_polls_threads_make_no_difference(
    model: ClientModel, protocol: GroupProtocol
) -> None:
    plain, threaded = (
        simulate(joining(group(each, protocol, poll_ms=0)), keeps_history=True)
        for each in (None, model)
    )
    assert replace(plain.result, events=0, events_hash="") == replace(
        threaded.result, events=0, events_hash=""
    )
    assert plain.changes == threaded.changes


def committing(scenario: Scenario) -> Scenario:
    """Records, which members commit in their callbacks alone."""
    members = tuple(replace(each, auto_commit_ms=0) for each in scenario.members)
    records = ProcessingConfig(records_per_second=10)
    return replace(scenario, members=members, processing=records)


@EACH
def test_a_callback_lasts_until_its_commit_is_answered(model: ClientModel) -> None:
    """The coordinator takes 300 ms to replicate; the callback would be over after 20 ms."""
    scenario = committing(joining(group(model, CONSUMER)))
    slow = replace(scenario, broker=replace(scenario.broker, append_us=300_000))
    sent: dict[str, int] = {}
    took: list[int] = []

    def observe(seen: Seen) -> None:
        if seen.member is None:
            return
        for effect in seen.effects:
            if isinstance(effect, Send) and isinstance(effect.request, OffsetCommit):
                sent[seen.member] = seen.at_us
            if seen.member in sent and isinstance(effect, Send) and is_report(effect):
                took.append(seen.at_us - sent.pop(seen.member))

    played = simulate(slow, observe=observe)
    assert played.result.fenced_commits == 0
    assert played.result.reprocessed_records == 0
    assert took
    assert min(took) > 300_000


def is_report(effect: Send) -> bool:
    """Whether a heartbeat says what the member owns."""
    return getattr(effect.request, "owned", None) is not None


def closing_amid(model: ClientModel) -> Played:
    """Let a member close once it has joined a classic round again, while others poll later."""
    scenario = committing(joining(group(model, CLASSIC, poll_ms=10_000)))
    quick = (scenario.members[0], replace(scenario.members[1], poll_ms=100), *scenario.members[2:])
    stop = Action(at_ms=94_000, do=Verb.STOP, member="c1")
    closing = replace(scenario, members=quick, plan=(*scenario.plan, stop))
    return simulate(closing, keeps_history=True)


def test_closing_amid_a_classic_round_loses_what_was_not_committed() -> None:
    """Java's client calls its partitions lost then, and the application commits nothing."""
    ended = {
        model: [each.reason for each in closing_amid(model).changes if each.member_id == "c1"][-1]
        for model in ClientModel
    }
    assert ended == {IN_POLL: "lost", HEARTBEAT_THREAD: "lost", BACKGROUND_THREAD: "revoked"}


@EACH
@pytest.mark.parametrize("request_timeout_ms", [3000, 30_000])
def test_a_leader_that_polls_less_often_than_requests_wait_never_leads(
    model: ClientModel, request_timeout_ms: int
) -> None:
    """Followers give up their SyncGroup and join again before the leader's next poll answers it."""
    scenario = joining(group(model, CLASSIC, poll_ms=5000))
    members = tuple(
        replace(each, request_timeout_ms=request_timeout_ms) for each in scenario.members
    )
    result = simulate(replace(scenario, members=members)).result
    assert result.is_settled == (model is BACKGROUND_THREAD or request_timeout_ms > 5000)
    assert result.is_settled == (result.rounds == 2)


def calling_amid_a_stall(model: ClientModel, *plan: Action) -> list[float]:
    """When `c1` sends commits, in seconds: its callback runs while its own thread stalls.

    A member joins at 70 s, polls are 10 s apart, and the thread stalls from 80 s to 110 s.
    """
    scenario = committing(joining(group(model, CONSUMER, poll_ms=10_000)))
    (start,) = scenario.plan
    stalled = with_fault(scenario, FaultKind.STALLED_THREAD, 30)
    sent: list[float] = []

    def observe(seen: Seen) -> None:
        if seen.member == "c1":
            sent.extend(
                seen.at_us / 1_000_000
                for each in seen.effects
                if isinstance(each, Send) and isinstance(each.request, OffsetCommit)
            )

    simulate(replace(stalled, plan=(replace(start, at_ms=70_000), *plan)), observe=observe)
    return sent


def test_a_commit_in_a_callback_leaves_with_the_background_thread() -> None:
    assert calling_amid_a_stall(BACKGROUND_THREAD) == [110]
    (sent,) = calling_amid_a_stall(HEARTBEAT_THREAD)
    assert sent < 90


def test_nothing_that_waited_for_a_thread_is_done_after_a_crash() -> None:
    crash = Action(at_ms=105_000, do=Verb.CRASH, member="c1")
    assert calling_amid_a_stall(BACKGROUND_THREAD, crash) == []


def test_who_closes_while_the_background_thread_stalls_neither_commits_nor_leaves() -> None:
    """Its partitions wait for the end of its session."""
    gaps = {}
    for model in ClientModel:
        scenario = with_fault(committing(group(model, CONSUMER)), FaultKind.STALLED_THREAD, 60)
        stop = Action(at_ms=90_000, do=Verb.STOP, member="c1")
        gaps[model] = simulate(replace(scenario, plan=(stop,))).result.longest_gap_ms
    assert gaps[IN_POLL] < 10_000
    assert gaps[HEARTBEAT_THREAD] < 10_000
    assert gaps[BACKGROUND_THREAD] > 25_000

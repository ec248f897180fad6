"""Commits of offsets in timed runs, and what is processed again without them.

Slow and obvious second opinions: every record on its own, counted in a table of numbers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.offsets_topic import log_entries
from assignors.simulation.timed.processing import RecordLedger
from assignors.simulation.timed.protocols.kafka import offsets as access
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode
from assignors.simulation.timed.protocols.kafka.offsets_client import (
    Flow,
    Start,
    end_offset,
    position,
)
from assignors.simulation.timed.protocols.kafka.records import OffsetRecord
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import (
    Action,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    ProcessingConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import Played, simulate
from wire.records import decode_record

RATE = 10
DEEP = pytest.mark.deep
COMMITS: tuple[dict[str, int], ...] = (
    {"auto_commit_ms": 5000},
    {"sync_commit_ms": 3000},
    {"auto_commit_ms": 0},
)
PARTITION = ("t", 0)


def with_records(scenario: Scenario, **commits: Any) -> Scenario:
    """The scenario with records, and members that commit like that."""
    members = tuple(replace(each, **commits) for each in scenario.members)
    return replace(scenario, members=members, processing=ProcessingConfig(records_per_second=RATE))


def played(name: str, protocol: GroupProtocol, **commits: int) -> TimedResult:
    scenario = with_records(named(name, seed=5, protocol=protocol), **commits)
    return simulate(scenario, monitoring=Monitoring.BASIC).result


@pytest.mark.parametrize(
    ("name", "protocol", "commits"),
    [  # every two of them together; `make deep`: all three
        pytest.param(name, protocol, commits, marks=() if (n + k + m) % 3 == 0 else DEEP)
        for n, name in enumerate(["rolling-restart", "rolling-restart-eager", "slow-polls"])
        for k, protocol in enumerate(GroupProtocol)
        for m, commits in enumerate(COMMITS)
    ],
)
def test_what_is_handed_over_in_order_is_processed_once(
    name: str, protocol: GroupProtocol, commits: dict[str, int]
) -> None:
    result = played(name, protocol, **commits)
    assert result.commits > 0
    assert (result.reprocessed_records, result.duplicate_records) == (0, 0)


@pytest.mark.parametrize("protocol", GroupProtocol)
def test_without_a_commit_in_the_callback_what_is_not_committed_yet_is_processed_again(
    protocol: GroupProtocol,
) -> None:
    result = played("rolling-restart", protocol, auto_commit_ms=5000, commits_on_revoke=False)
    assert 0 < result.reprocessed_records <= (result.moves + 100) * RATE * 5.2


@pytest.mark.parametrize("protocol", GroupProtocol)
def test_a_crash_costs_what_was_processed_since_the_last_commit(protocol: GroupProtocol) -> None:
    # One of ten members, ten partitions: at most auto-commit interval and a poll of records each.
    often = played("crash", protocol, auto_commit_ms=1000, poll_ms=100).reprocessed_records
    seldom = played("crash", protocol, auto_commit_ms=20_000, poll_ms=100).reprocessed_records
    never = played("crash", protocol, auto_commit_ms=0).reprocessed_records
    assert 0 < often <= 10 * RATE * 1.2
    assert often < seldom <= 10 * RATE * 20.2
    # It joined within three seconds and crashed in the 61st.
    assert seldom < 10 * RATE * 55 < never <= 10 * RATE * 80


@pytest.mark.parametrize("protocol", GroupProtocol)
@pytest.mark.parametrize("name", ["rolling-restart", "crash"])
def test_commits_cost_the_same_with_all_heartbeats_queued(
    name: str, protocol: GroupProtocol
) -> None:
    scenario = with_records(named(name, protocol=protocol), auto_commit_ms=7000)
    one, other = (simulate(scenario, queues_heartbeats=each).result for each in (False, True))
    assert replace(one, events=0, events_hash="") == replace(other, events=0, events_hash="")
    assert one.events < other.events


def outside(*, lives: bool) -> Played:
    """A consumer of its own partition that commits under the id of a group, with members or not."""
    manual = MemberConfig(name="m", topics=(), assign={"t": (3,)}, auto_commit_ms=1000)
    member = MemberConfig(
        name="c", topics=("t",), auto_commit_ms=1000, starts_at_ms=0 if lives else None
    )
    return simulate(
        Scenario(
            until_ms=30_000,
            topics={"t": 4},
            members=(manual, member),
            plan=(Action(at_ms=29_000, do=Verb.STOP, member="m"),),
            processing=ProcessingConfig(records_per_second=RATE),
        ),
        keeps_history=True,
    )


def test_a_consumer_outside_a_group_commits_while_the_group_has_no_members() -> None:
    alone = outside(lives=False)
    assert (alone.result.commits, alone.result.fenced_commits) == (29, 0)
    last = [each for _, each in alone.records if isinstance(each, OffsetRecord)][-1]
    assert (last.topic, last.partition, last.offset) == ("t", 3, 29 * RATE)


def test_its_commits_are_refused_once_the_group_has_members() -> None:
    result = outside(lives=True).result
    assert result.fenced_commits > 20
    # It reads what the member reads too, for as long as both do.
    assert result.duplicate_records > 20 * RATE


@pytest.mark.parametrize(
    ("commits", "every_ms"),
    [({}, 5000), ({"auto_commit_ms": 2000}, 2000), ({"auto_commit_ms": 0}, None)],
    ids=str,
)
def test_members_commit_every_five_seconds_unless_they_say_otherwise(
    commits: dict[str, Any], every_ms: int | None
) -> None:
    member = MemberConfig(name="c", topics=("t",), commits_on_revoke=False, **commits)
    scenario = Scenario(
        until_ms=60_000,
        count_from_ms=20_000,
        topics={"t": 2},
        members=(member,),
        processing=ProcessingConfig(records_per_second=RATE),
    )
    expected = 0 if every_ms is None else 40_000 // every_ms
    assert simulate(scenario).result.commits == expected


def test_without_records_nobody_commits() -> None:
    scenario = replace(named("rolling-restart", seed=2), processing=ProcessingConfig())
    eager = replace(scenario.members[0], auto_commit_ms=1)
    one = simulate(scenario).result
    other = simulate(replace(scenario, members=(eager, *scenario.members[1:]))).result
    assert one == other
    assert one.commits == one.lag_records == 0


# The flow of records

rates = st.integers(0, 5000)
moments = st.integers(0, 10_000_000)


@given(rates, rates, moments, st.lists(moments, min_size=2), st.data())
def test_a_position_never_falls_and_never_passes_the_end(
    written: int, processed: int, began: int, times: list[int], data: st.DataObject
) -> None:
    flow = Flow(written, processed)
    start = Start(data.draw(st.integers(0, end_offset(flow, began))), began)
    came = [position(flow, start, began + at) for at in sorted(times)]
    assert came == sorted(came)
    ends = [end_offset(flow, began + at) for at in sorted(times)]
    assert all(start.offset <= at <= end for at, end in zip(came, ends, strict=True))


@st.composite
def lives(draw: st.DrawFn) -> list[tuple[int, str, int, int]]:
    """Members that process one partition: (from, name, until, first offset), some at once."""
    found = []
    for name in "ab":
        at = 0
        for _ in range(draw(st.integers(0, 4))):
            at += draw(st.integers(0, 4)) * 1_000_000
            until = at + draw(st.integers(0, 4)) * 1_000_000
            found.append((at, name, until, draw(st.integers(0, at // 1_000_000))))
            at = until + 1
    return found


@given(lives())
def test_records_processed_again_are_those_counted_one_by_one(
    found: list[tuple[int, str, int, int]],
) -> None:
    flow = Flow(3, 6)
    ledger = RecordLedger(flows={PARTITION[0]: flow})
    events = [(at, 1, name, offset, at) for at, name, _, offset in found]
    events += [(until, 0 if until > at else 2, n, o, at) for at, n, until, o in found]
    seen: Counter[int] = Counter()
    for at, kind, name, offset, began in sorted(events):
        if kind == 1:
            ledger.begin(at, name, PARTITION, offset)
        else:
            last = position(flow, Start(offset, began), at)
            ledger.finish(at, name, PARTITION, last)
            seen.update(range(offset, last))
    assert ledger.processed == seen.total()
    assert ledger.reprocessed == seen.total() - len(seen)
    assert ledger.duplicates <= ledger.processed


def test_two_members_at_once_do_one_of_them_in_vain() -> None:
    ledger = RecordLedger(flows={PARTITION[0]: Flow(10, 10)})
    ledger.begin(0, "a", PARTITION, 0)
    ledger.begin(2_000_000, "b", PARTITION, 5)
    ledger.close(3_000_000)
    assert (ledger.processed, ledger.reprocessed, ledger.duplicates) == (40, 10, 10)


# Faults


def of_two(
    *faults: Fault, protocol: GroupProtocol = GroupProtocol.CLASSIC, **member: Any
) -> TimedResult:
    """Two members with a partition each that commit every second; c0 has the faults."""
    members = tuple(
        MemberConfig(name=f"c{i}", topics=("t",), auto_commit_ms=1000, **member) for i in range(2)
    )
    scenario = Scenario(
        until_ms=200_000,
        protocol=protocol,
        topics={"t": 2},
        members=members,
        faults=faults,
        processing=ProcessingConfig(records_per_second=RATE),
    )
    return simulate(scenario).result


@pytest.mark.parametrize("protocol", [GroupProtocol.CLASSIC, GroupProtocol.CONSUMER])
def test_a_process_that_stands_still_processes_nothing(protocol: GroupProtocol) -> None:
    # Frozen beyond its session, it goes on as a zombie until it hears that it is out.
    freeze = Fault(kind=FaultKind.FREEZE, member="c0", from_ms=60_500, until_ms=120_000)
    result = of_two(freeze, protocol=protocol)
    # At most what it did since its last commit, and what it did while it was a zombie.
    assert 0 < result.reprocessed_records <= 4 * RATE
    # The zombie's heartbeat is due at once, so it is one for the time of a message or two.
    assert result.duplicate_records <= RATE
    assert result.fenced_commits >= 1


def test_a_short_freeze_costs_no_record() -> None:
    freeze = Fault(kind=FaultKind.FREEZE, member="c0", from_ms=60_500, until_ms=90_000)
    result = of_two(freeze)
    assert (result.reprocessed_records, result.duplicate_records, result.rounds) == (0, 0, 1)
    assert result.lag_records <= 2 * RATE * 2


def test_who_does_not_poll_does_not_commit() -> None:
    # Records keep it busy for a minute, 40 seconds longer than max.poll.interval.ms: all of them
    # are done again, most by the new owner at the same time.
    poll = Fault(kind=FaultKind.LONG_POLL, member="c0", from_ms=60_500, until_ms=120_000)
    result = of_two(poll, rebalance_timeout_ms=20_000)
    assert 59 * RATE < result.reprocessed_records < 62 * RATE
    assert 36 * RATE < result.duplicate_records < 40 * RATE


@pytest.mark.parametrize("protocol", GroupProtocol)
@pytest.mark.parametrize("commits", [{}, {"auto_commit_ms": 0, "sync_commit_ms": 1000}], ids=str)
def test_lost_messages_delay_commits_and_lose_no_record(
    protocol: GroupProtocol, commits: dict[str, Any]
) -> None:
    loss = Fault(kind=FaultKind.LOSS, from_ms=30_000, until_ms=60_000, percent=2)
    members = tuple(
        replace(MemberConfig(name=f"c{i}", topics=("t",), auto_commit_ms=1000), **commits)
        for i in range(3)
    )
    scenario = Scenario(
        until_ms=200_000,
        protocol=protocol,
        topics={"t": 6},
        members=members,
        faults=(loss,),
        processing=ProcessingConfig(records_per_second=RATE),
    )
    for seed in range(5):
        result = simulate(replace(scenario, seed=seed)).result
        # Everybody has caught up with what is written, but for the last commit.
        assert result.lag_records <= 6 * RATE * 2


@pytest.mark.parametrize("protocol", GroupProtocol)
@pytest.mark.parametrize(("topic", "waits"), [("t", True), ("t", False), ("u", True)])
def test_who_begins_while_a_transaction_hangs_waits_for_its_end_and_loses_nothing(
    protocol: GroupProtocol, topic: str, *, waits: bool
) -> None:
    hangs = Fault(kind=FaultKind.HANGING_TRANSACTION, from_ms=20_000, until_ms=80_000, topic=topic)
    member = MemberConfig(name="a", topics=("t",), auto_commit_ms=1000, requires_stable=waits)
    scenario = Scenario(
        until_ms=79_000,
        protocol=protocol,
        topics={"t": 4, "u": 1},
        members=(member, replace(member, name="b", starts_at_ms=30_000)),
        faults=(hangs,),
        processing=ProcessingConfig(records_per_second=RATE, topics={"u": 0}),
    )
    lag = simulate(scenario).result.lag_records
    # `b` gets two partitions a few seconds after 30 s; commits lag by a second or two.
    waited = 2 * 48 * RATE if (topic, waits) == ("t", True) else 0
    assert waited * 0.85 <= lag <= waited + 4 * 2.5 * RATE
    after = simulate(replace(scenario, until_ms=140_000)).result
    assert after.lag_records <= 4 * 2.5 * RATE
    assert after.reprocessed_records == 0


def test_no_log_of_a_run_has_what_a_transaction_that_was_aborted_committed() -> None:
    hangs = Fault(kind=FaultKind.HANGING_TRANSACTION, from_ms=20_000, until_ms=30_000)
    scenario = Scenario(
        until_ms=40_000,
        topics={"t": 1},
        members=(MemberConfig(name="a", topics=("t",), auto_commit_ms=1000),),
        faults=(hangs,),
        processing=ProcessingConfig(records_per_second=RATE),
    )
    records = simulate(scenario, keeps_history=True).records
    assert any(isinstance(each, OffsetRecord) and each.producer_id == 1 for _, each in records)
    entries = [each for batch in log_entries(records, group="g") for each in batch]
    assert len(entries) == len(records) - 1
    decoded = [decode_record(each.key, each.value) for each in entries]
    offsets = [each.value["offset"] for each in decoded if each.value and "offset" in each.value]
    assert len(offsets) > 10
    assert offsets == sorted(offsets)


# The monitor


def zombie(protocol: GroupProtocol) -> Played:
    """A member that was frozen beyond its session and commits once it goes on."""
    members = tuple(
        MemberConfig(name=f"c{i}", topics=("t",), auto_commit_ms=1000) for i in range(2)
    )
    freeze = Fault(kind=FaultKind.FREEZE, member="c0", from_ms=20_500, until_ms=75_000)
    scenario = Scenario(
        until_ms=80_000,
        protocol=protocol,
        topics={"t": 2},
        members=members,
        faults=(freeze,),
        processing=ProcessingConfig(records_per_second=RATE),
    )
    return simulate(scenario, monitoring=Monitoring.FULL)


@pytest.mark.parametrize("protocol", [GroupProtocol.CLASSIC, GroupProtocol.CONSUMER])
def test_commits_of_a_zombie_are_refused_and_a_coordinator_that_takes_them_is_found(
    protocol: GroupProtocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    lawful = zombie(protocol)
    assert lawful.result.fenced_commits > 0
    assert lawful.result.violations == 0
    for name in ("_classic_commit_refusal", "_consumer_commit_refusal"):
        monkeypatch.setattr(access, name, lambda *_: ErrorCode.NONE)
    found = {each.monitor for each in zombie(protocol).violations}
    assert "commit-of-a-stranger" in found

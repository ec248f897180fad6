"""Faults: each as its smallest scenario, with what must follow from the times that are set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from assignors.ownership.double import overlaps
from assignors.ownership.intervals import ownerships
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    Direction,
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
from tests.simulation.timed.groups import EXACT

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
SECOND = 1000
US = 1_000_000
SESSION, HEARTBEAT = 45, {CLASSIC: 3, CONSUMER: 5}
"""Seconds."""
FROM = 60
"""When faults begin, in seconds: the group has settled."""
A_MOMENT = 0.5
"""Seconds: enough for messages, polls and callbacks, nothing else."""

each_protocol = pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])


def group(
    protocol: GroupProtocol, faults: Iterable[Fault] = (), *, until: int = 400, **config: Any
) -> Scenario:
    """Three members with two partitions each, on a fast network; `config` is that of members.

    Their clients are never late and their heartbeats stay in step, for exact moments.
    """
    return Scenario(
        protocol=protocol,
        until_ms=until * SECOND,
        count_from_ms=30 * SECOND,
        has_rested=False,
        topics={"t": 6},
        members=tuple(
            MemberConfig(
                name=f"c{number}",
                topics=("t",),
                assignors=("java/cooperative-sticky",),
                starts_at_ms=700 * number,
                **(EXACT | config),
            )
            for number in range(3)
        ),
        faults=tuple(faults),
        network=NetworkConfig(mean_us=100),
    )


def fault(kind: FaultKind, until: int = 0, member: str | None = "c1", **more: Any) -> Fault:
    """A fault from `FROM` until `until`, both in seconds."""
    return Fault(kind=kind, member=member, from_ms=FROM * SECOND, until_ms=until * SECOND, **more)


def play(scenario: Scenario) -> Played:
    """Play it with every monitor on: whatever happens, none may find a violation."""
    played = simulate(scenario, keeps_history=True, monitoring=Monitoring.FULL)
    assert played.violations == []
    assert played.result.is_settled, "once faults are over"
    return played


def nothing_happened(played: Played) -> bool:
    result = played.result
    return (result.rounds, result.gaps, result.moves, result.double_partition_ms) == (0, 0, 0, 0)


def is_between(low: float, seconds: float, high: float) -> bool:
    return low <= seconds <= high


# A process that stands still, and one that is cut off


@each_protocol
@pytest.mark.parametrize("kind", [FaultKind.FREEZE, FaultKind.CUT])
def test_a_pause_shorter_than_the_session_changes_nothing(
    kind: FaultKind, protocol: GroupProtocol
) -> None:
    lasts = SESSION - HEARTBEAT[protocol] - 1
    assert nothing_happened(play(group(protocol, [fault(kind, FROM + lasts)])))


@each_protocol
@pytest.mark.parametrize("kind", [FaultKind.FREEZE, FaultKind.CUT])
def test_a_longer_one_makes_two_consumers_from_the_takeover_until_its_end(
    kind: FaultKind, protocol: GroupProtocol
) -> None:
    end = FROM + 100
    played = play(group(protocol, [fault(kind, end)]))
    (zombie,) = played.zombies
    assert zombie.member == "c1"
    # The session runs from the last heartbeat, which came up to an interval before.
    evicted = zombie.from_us / US
    assert is_between(FROM + SESSION - HEARTBEAT[protocol] - 0.1, evicted, FROM + SESSION)
    # It learns of it from the first answer after the end: that to the heartbeat it then sends.
    assert is_between(end, zombie.until_us / US, end + A_MOMENT)
    # The others take over its two partitions when they learn of it, by their own heartbeats.
    both = played.result.double_partition_ms / SECOND / 2
    shortest = end - evicted - HEARTBEAT[protocol] - A_MOMENT
    assert is_between(shortest, both, end - evicted + A_MOMENT)


@each_protocol
def test_two_consume_only_while_one_of_them_is_a_zombie(protocol: GroupProtocol) -> None:
    played = play(group(protocol, [fault(FaultKind.FREEZE, FROM + 100)]))
    (zombie,) = played.zombies
    doubles = list(overlaps(ownerships(played.changes)))
    assert len(doubles) == 2
    assert all(each.start >= zombie.from_us for each in doubles)
    assert all(each.end is not None and each.end <= zombie.until_us for each in doubles)


def test_a_client_that_watches_its_session_stops_in_time() -> None:
    cut = fault(FaultKind.CUT, FROM + 100)
    played = play(group(CLASSIC, [cut], stops_without_answer=True))
    # librdkafka counts from the last answer, the coordinator from the last heartbeat: the same.
    assert played.result.double_partition_ms == 0
    (zombie,) = played.zombies
    assert zombie.until_us - zombie.from_us < A_MOMENT * US


@each_protocol
def test_a_cut_of_everybody_leaves_all_as_they_are_until_it_ends(protocol: GroupProtocol) -> None:
    end = FROM + 100
    played = play(group(protocol, [fault(FaultKind.CUT, end, member=None)]))
    assert played.result.double_partition_ms == 0
    assert len(played.zombies) == 3
    assert all(is_between(end, each.until_us / US, end + 10) for each in played.zombies)


@each_protocol
def test_a_frozen_process_that_is_killed_does_not_come_back(protocol: GroupProtocol) -> None:
    scenario = group(protocol, [fault(FaultKind.FREEZE, FROM + 100)])
    kill = Action(at_ms=(FROM + 80) * SECOND, do=Verb.CRASH, member="c1")
    played = play(replace(scenario, plan=(kill,)))
    (zombie,) = played.zombies
    assert zombie.until_us == (FROM + 80) * US
    owners = {each.member_id for each in ownerships(played.changes) if each.end is None}
    assert owners == {"c0", "c2"}


# The application's thread


@each_protocol
def test_a_long_poll_within_the_poll_interval_changes_nothing(protocol: GroupProtocol) -> None:
    assert nothing_happened(play(group(protocol, [fault(FaultKind.LONG_POLL, FROM + 200)])))


@each_protocol
def test_a_member_that_polls_too_late_has_left_and_does_not_know(protocol: GroupProtocol) -> None:
    late, end = 60, FROM + 100
    played = play(
        group(protocol, [fault(FaultKind.LONG_POLL, end)], rebalance_timeout_ms=late * SECOND)
    )
    (zombie,) = played.zombies
    assert is_between(FROM + late, zombie.from_us / US, FROM + late + 0.1)
    assert zombie.until_us == end * US, "its next poll"


@each_protocol
def test_without_that_rule_heartbeats_keep_it_in_the_group(protocol: GroupProtocol) -> None:
    scenario = group(
        protocol,
        [fault(FaultKind.LONG_POLL, FROM + 100)],
        rebalance_timeout_ms=60 * SECOND,
        leaves_if_poll_is_late=False,
    )
    assert nothing_happened(play(scenario))


@each_protocol
def test_a_rebalance_waits_for_a_long_poll_under_the_classic_protocol(
    protocol: GroupProtocol,
) -> None:
    end = FROM + 40
    scenario = group(protocol, [fault(FaultKind.LONG_POLL, end)])
    stop = Action(at_ms=(FROM + 1) * SECOND, do=Verb.STOP, member="c2")
    result = play(replace(scenario, plan=(stop,))).result
    # c0 and c1 take one partition each of c2's. Under KIP-848 c0 does at its next heartbeat.
    longest, both = result.longest_gap_ms / SECOND, result.unavailable_partition_ms / SECOND
    waits, heartbeat = end - FROM - 1, HEARTBEAT[protocol]
    assert is_between(waits, longest, waits + A_MOMENT)
    others = (waits, waits + A_MOMENT) if protocol is CLASSIC else (0, heartbeat + A_MOMENT)
    assert is_between(others[0], both - longest, others[1])


@each_protocol
def test_a_slow_callback_holds_up_what_moves(protocol: GroupProtocol) -> None:
    joins, slow = FROM + 1, 7
    scenario = group(
        protocol,
        [
            fault(FaultKind.SLOW_CALLBACK, FROM + 100, member=name, by_ms=slow * SECOND)
            for name in ("c0", "c1", "c2")
        ],
    )
    more = replace(scenario.members[0], name="c3", starts_at_ms=joins * SECOND)
    played = play(replace(scenario, members=(*scenario.members, more)))
    # One partition of six moves: to revoke it takes so long, and then what else it takes.
    assert played.result.moves == 1
    assert is_between(slow, played.result.longest_gap_ms / SECOND, slow + HEARTBEAT[protocol] + 1)


def test_a_leader_that_never_syncs_is_removed_when_the_rebalance_timeout_is_over() -> None:
    timeout = 60
    faults = [
        fault(FaultKind.SLOW_ASSIGNOR, FROM + 10, member=name, by_ms=300 * SECOND)
        for name in ("c0", "c1", "c2")
    ]
    for leaves in (True, False):
        scenario = group(
            CLASSIC,
            faults,
            rebalance_timeout_ms=timeout * SECOND,
            leaves_if_poll_is_late=leaves,
            until=600,
        )
        stop = Action(at_ms=(FROM + 1) * SECOND, do=Verb.STOP, member="c2")
        played = play(replace(scenario, plan=(stop,)))
        # It leads the round after the stop, and computes; the others wait. By then it has left, or
        # the coordinator has removed those that have not sent SyncGroup.
        (zombie,) = played.zombies
        began = FROM + 1
        assert is_between(began + timeout, zombie.from_us / US, began + timeout + 4)
        # Until its assignor comes back it goes on with what it had.
        assert is_between(began + 300, zombie.until_us / US, began + 300 + 4)


# Generations and identities


@each_protocol
def test_a_lost_generation_costs_the_member_its_partitions_for_a_moment(
    protocol: GroupProtocol,
) -> None:
    played = play(group(protocol, [fault(FaultKind.LOST_GENERATION)]))
    assert played.result.gaps == 2, "its own two"
    assert played.result.moves == 0
    assert played.result.double_partition_ms == 0
    # Known by its member id it gets them back; a classic round needs the others' heartbeats.
    assert played.result.longest_gap_ms < (HEARTBEAT[protocol] + A_MOMENT) * SECOND


def test_of_two_processes_with_one_instance_id_the_later_wins_in_classic_groups() -> None:
    played = play(twins(CLASSIC))
    # The first one goes on until its next heartbeat is answered: FENCED_INSTANCE_ID.
    (zombie,) = played.zombies
    assert zombie.member == "c0"
    assert is_between(TWIN, zombie.from_us / US, TWIN + 0.1)
    assert is_between(TWIN + 1, zombie.until_us / US, TWIN + HEARTBEAT[CLASSIC])
    both = played.result.double_partition_ms / SECOND / 3  # partitions of six
    assert is_between(both, (zombie.until_us - zombie.from_us) / US, both + 0.1)
    assert (played.result.rounds, *played.result.fatal_errors) == (0, "FENCED_INSTANCE_ID")


def test_of_two_processes_with_one_instance_id_the_first_wins_under_kip_848() -> None:
    played = play(twins(CONSUMER))
    assert (nothing_happened(played), played.zombies) == (True, [])
    assert played.result.fatal_errors == {"UNRELEASED_INSTANCE_ID": 1}, "it ends the second"


TWIN = FROM + 1.5
"""Between two heartbeats."""


def twins(protocol: GroupProtocol) -> Scenario:
    """Two members, and later another process that says it is the first of them."""
    first, second, late = group(protocol).members
    return replace(
        group(protocol),
        members=(
            replace(first, instance_id="i"),
            second,
            replace(late, instance_id="i", starts_at_ms=int(TWIN * SECOND)),
        ),
    )


# Messages


@each_protocol
def test_delays_shorter_than_the_session_change_nothing_at_rest(protocol: GroupProtocol) -> None:
    delay = fault(FaultKind.DELAY, FROM + 100, member=None, by_ms=2000)
    assert nothing_happened(play(group(protocol, [delay])))


def test_a_static_member_of_a_consumer_group_whose_join_is_not_answered_gives_up() -> None:
    # The coordinator has taken it in; joining again with epoch 0 is refused: the instance id is
    # held, by itself (UNRELEASED_INSTANCE_ID, `throwIfInstanceIdIsUnreleased` of Kafka 4.4).
    scenario = group(CONSUMER)
    late = replace(scenario.members[2], instance_id="i", starts_at_ms=FROM * SECOND)
    cut = Fault(kind=FaultKind.CUT, member="c2", from_ms=FROM * SECOND + 2, until_ms=100 * SECOND)
    scenario = replace(
        scenario,
        members=(*scenario.members[:2], late),
        faults=(cut,),
        network=NetworkConfig(least_us=3000, mean_us=0),
    )
    played = simulate(scenario)
    assert played.result.is_settled, "the two others, once its session is over"
    assert played.result.requests["ConsumerHeartbeat"] > 0
    assert played.result.longest_gap_ms > (SESSION - 5) * SECOND


def test_a_fault_that_begins_when_the_run_is_over_changes_nothing() -> None:
    late = Fault(kind=FaultKind.FREEZE, member="c1", from_ms=500_000, until_ms=600_000)
    assert simulate(group(CLASSIC, [late])).result == simulate(group(CLASSIC)).result


def test_a_broker_with_a_short_session_evicts_sooner() -> None:
    short = BrokerConfig(consumer_session_timeout_ms=10_000)
    scenario = replace(group(CONSUMER, [fault(FaultKind.FREEZE, FROM + 30)]), broker=short)
    (zombie,) = play(scenario).zombies
    assert is_between(FROM + 5, zombie.from_us / US, FROM + 10)


# An application that hangs


@each_protocol
def test_a_stuck_application_keeps_its_partitions_until_its_client_leaves(
    protocol: GroupProtocol,
) -> None:
    late, end = 60, FROM + 100
    played = play(
        group(protocol, [fault(FaultKind.STUCK, end)], rebalance_timeout_ms=late * SECOND)
    )
    assert played.zombies == [], "it processes nothing that others do too"
    assert played.result.double_partition_ms == 0
    # Its two partitions have no consumer until others have taken them over.
    longest = played.result.longest_gap_ms / SECOND
    assert is_between(late, longest, late + HEARTBEAT[protocol] + A_MOMENT)


@each_protocol
def test_a_stuck_application_goes_on_where_it_was(protocol: GroupProtocol) -> None:
    played = play(group(protocol, [fault(FaultKind.STUCK, FROM + 40)]))
    result = played.result
    assert (result.rounds, result.gaps, result.moves) == (0, 2, 0)
    assert result.unavailable_partition_ms == 2 * 40 * SECOND
    assert [each.ended_by for each in ownerships(played.changes)].count("stuck") == 2


@each_protocol
def test_a_stuck_application_that_is_started_anew_is_stuck_no_more(protocol: GroupProtocol) -> None:
    scenario = group(protocol, [fault(FaultKind.STUCK, FROM + 200)])
    again = tuple(
        Action(at_ms=(FROM + after) * SECOND, do=verb, member="c1")
        for after, verb in ((10, Verb.CRASH), (80, Verb.START))
    )
    played = play(replace(scenario, plan=again))
    assert not [each for each in ownerships(played.changes) if each.ended_by == "stuck"][2:]
    owners = {each.member_id for each in ownerships(played.changes) if each.end is None}
    assert owners == {"c0", "c1", "c2"}


@each_protocol
def test_a_stuck_application_processes_and_commits_nothing(protocol: GroupProtocol) -> None:
    rest = group(protocol, [fault(FaultKind.STUCK, FROM + 40)], auto_commit_ms=SECOND)
    busy = replace(
        rest, processing=ProcessingConfig(records_per_second=10), until_ms=(FROM + 40) * SECOND
    )
    lag = simulate(busy).result.lag_records
    assert is_between(2 * 40 * 10, lag, 2 * 40 * 10 + 6 * 10 * 2), "of its two partitions"


# A cut in one direction, and requests that are delivered twice


@each_protocol
@pytest.mark.parametrize("direction", Direction)
def test_a_short_cut_in_one_direction_changes_nothing(
    direction: Direction, protocol: GroupProtocol
) -> None:
    cut = fault(FaultKind.CUT, FROM + 20, direction=direction)
    assert nothing_happened(play(group(protocol, [cut])))


@each_protocol
def test_without_requests_a_member_is_evicted_sooner_than_without_answers(
    protocol: GroupProtocol,
) -> None:
    end = FROM + 120
    evicted = {}
    for direction in Direction:
        played = play(group(protocol, [fault(FaultKind.CUT, end, direction=direction)]))
        (zombie,) = played.zombies
        assert is_between(end, zombie.until_us / US, end + A_MOMENT)
        evicted[direction] = zombie.from_us / US
    assert is_between(FROM + SESSION - HEARTBEAT[protocol], evicted[Direction.REQUESTS], 106)
    # Heartbeats renew the session until a classic client has waited 30 s for the first answer and
    # opens a connection in vain. One of KIP-848 sends none before the last one is answered.
    more = 30 - HEARTBEAT[protocol] if protocol is CLASSIC else 0
    assert evicted[Direction.ANSWERS] > evicted[Direction.REQUESTS] + more


@each_protocol
@pytest.mark.parametrize("late_ms", [0, 2000, 20_000])
def test_requests_that_arrive_twice_change_nothing_at_rest(
    late_ms: int, protocol: GroupProtocol
) -> None:
    twice = fault(FaultKind.DUPLICATE, FROM + 200, member=None, percent=100, by_ms=late_ms)
    played, usual = play(group(protocol, [twice])), play(group(protocol))
    assert nothing_happened(played)
    copies = sum(played.result.requests.values()) - sum(usual.result.requests.values())
    beats = 3 * 200 / HEARTBEAT[protocol]
    assert is_between(beats - 3, copies, beats + 3)


@each_protocol
def test_requests_that_arrive_twice_amid_rebalances_break_no_rule(protocol: GroupProtocol) -> None:
    twice = Fault(kind=FaultKind.DUPLICATE, from_ms=0, until_ms=350 * SECOND, percent=50)
    scenario = group(protocol, [twice], auto_commit_ms=SECOND)
    restarts = tuple(
        Action(at_ms=(FROM + 30 * number + after) * SECOND, do=verb, member=f"c{number}")
        for number in range(3)
        for after, verb in ((0, Verb.STOP), (10, Verb.START))
    )
    busy = ProcessingConfig(records_per_second=10)
    played = play(replace(scenario, plan=restarts, processing=busy))
    assert played.result.duplicate_records == 0

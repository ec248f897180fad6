"""A client that ends a round in a poll alone (`Timing.between_polls_us`): kafka-python 3.0.12.

Its poll gives up waiting for the round when its time is over, the next one waits on. If the round
ends between the two, the next poll finds it done, forgets it, and joins anew
(`BaseCoordinator.join_group_async`, `_join_task.is_done`). Nobody notices if a follower does so; a
leader starts another round, which the others learn of with their next heartbeats. Seen with real
members (`tests/lab/calibrate`), in one round of twelve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from random import Random
from statistics import mean

import pytest

from assignors.documents.values import DocumentError
from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.monitors.rules import Monitoring, Seen
from assignors.simulation.timed.possible import require_possible
from assignors.simulation.timed.protocols.client import Client
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Consume,
    Fired,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    Heartbeat,
    JoinGroup,
    SyncGroupResponse,
)
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate

POLL_MS, SPREAD_MS = 150, 100
ONE = MemberConfig(
    name="c", topics=("t",), poll_ms=POLL_MS, poll_spread_ms=SPREAD_MS, revoke_ms=0, assign_ms=0
)
JOINS_MS = (20_000, 41_300, 62_850)


def group(assignor: str, between_polls_us: int, seed: int) -> Scenario:
    """Return four members that poll so, and three that come one after the other."""
    one = replace(
        ONE,
        assignors=(assignor,),
        client="kafka-python-3.0.12",
        timing=Timing(between_polls_us=between_polls_us),
    )
    members = [replace(one, name=f"c{number}") for number in range(4)]
    members += [replace(one, name=f"n{at}", starts_at_ms=None) for at in JOINS_MS]
    return Scenario(
        seed=seed,
        until_ms=90_000,
        topics={"t": 21},
        members=tuple(members),
        plan=tuple(Action(at_ms=at, do=Verb.START, member=f"n{at}") for at in JOINS_MS),
        broker=BrokerConfig(initial_delay_ms=1000),
        network=NetworkConfig(mean_us=500),
    )


def seen_of(scenario: Scenario) -> dict[str, list[Seen]]:
    """Return what each member did."""
    found: dict[str, list[Seen]] = {each.name: [] for each in scenario.members}

    def observe(seen: Seen) -> None:
        if seen.member is not None:
            found[seen.member].append(seen)

    played = simulate(scenario, observe=observe, monitoring=Monitoring.FULL, queues_heartbeats=True)
    assert played.result.is_settled
    assert not played.violations
    return found


def assignments(steps: list[Seen]) -> Iterator[tuple[int, bool]]:
    """Yield the place of each answer to SyncGroup, and whether the member was between two polls."""
    is_between = False
    for place, seen in enumerate(steps):
        if isinstance(seen.event, Fired) and seen.event.key[0].startswith("poll-"):
            is_between = seen.event.key == ("poll-ends",)
        elif isinstance(seen.event, Answered) and isinstance(
            seen.event.response, SyncGroupResponse
        ):
            yield place, is_between


def sends(seen: Seen, request: type) -> bool:
    """Return whether a member sent such a request then."""
    return any(
        isinstance(each, Send) and isinstance(each.request, request) for each in seen.effects
    )


@pytest.mark.parametrize("assignor", ["java/range", "java/cooperative-sticky"])
def test_an_assignment_that_comes_between_two_polls_is_asked_for_again(assignor: str) -> None:
    lost = used = 0
    for seed in range(4):
        for steps in seen_of(group(assignor, 60_000, seed)).values():
            for place, is_between in assignments(steps):
                following = steps[place + 1]
                if is_between:
                    assert not steps[place].effects
                    assert isinstance(following.event, Fired)
                    assert following.event.key == ("poll-begins",)
                    assert sends(following, JoinGroup)
                lost += is_between
                used += not is_between
    assert min(lost, used) > 20


def test_only_a_leader_that_asks_again_starts_another_round() -> None:
    rounds = {seed: simulate(group("java/range", 30_000, seed)).result.rounds for seed in range(12)}
    least = simulate(group("java/range", 0, 0)).result.rounds
    assert min(rounds.values()) == least
    for seed, count in rounds.items():
        steps = seen_of(group("java/range", 30_000, seed))
        lost = {name for name, each in steps.items() if any(was for _, was in assignments(each))}
        assert count == least or "c" in {name[0] for name in lost}
        assert (count > least) <= bool(lost)
    assert max(rounds.values()) > least


def test_heartbeats_start_anew_with_an_assignment() -> None:
    for steps in seen_of(group("java/range", 5000, 1)).values():
        beats = [each.at_us for each in steps if sends(each, Heartbeat)]
        used = [steps[place].at_us for place, was_lost in assignments(steps) if not was_lost]
        assert beats
        for at in beats:
            since = at - max(each for each in used if each < at)
            assert since % 3_000_000 == 0


def test_a_member_that_has_revoked_joins_again_at_a_poll() -> None:
    for between_us, least_us in ((0, 0), (5000, 1)):
        waits = []
        for seed in range(3):
            for steps in seen_of(group("java/cooperative-sticky", between_us, seed)).values():
                revoked = [
                    each.at_us
                    for each in steps
                    if isinstance(each.event, Answered)
                    and any(isinstance(effect, Consume) for effect in each.effects)
                    and {effect.reason for effect in each.effects if isinstance(effect, Consume)}
                    == {"revoked"}
                ]
                joins = [each.at_us for each in steps if sends(each, JoinGroup)]
                waits += [min(at for at in joins if at >= one) - one for one in revoked]
        assert len(waits) > 10
        assert all(least_us <= wait <= 1000 * POLL_MS for wait in waits)
        assert (mean(waits) > 20_000) == bool(between_us)


def test_the_rest_of_a_poll_is_that_of_polls_one_after_the_other() -> None:
    """The oracle draws polls one after the other, and looks at them at random moments."""
    dice = Random(7)

    def draw(purpose: str, limit: int) -> int:
        assert purpose == "poll"
        return dice.randrange(limit + 1)

    ends, at = [], 0
    while at < 2_000_000_000:
        at += whole_poll(Client(config=ONE, draw=draw))
        ends.append(at)
    lasts = [end - begin for begin, end in pairwise(ends)]
    assert (min(lasts) // 1000, max(lasts) // 1000) == (POLL_MS - SPREAD_MS, POLL_MS - 1)
    moments = sorted(dice.randrange(ends[0], ends[-1]) for _ in range(4000))
    rests, place = [], 0
    for moment in moments:
        while ends[place] <= moment:
            place += 1
        rests.append(ends[place] - moment)
    drawn = [rest_of_poll(Client(config=ONE, draw=draw)) for _ in range(4000)]
    for tenth in range(1, 10):
        one, other = (sorted(each)[400 * tenth] for each in (rests, drawn))
        assert one == pytest.approx(other, abs=5000)


def test_polls_of_one_length_are_drawn_as_before() -> None:
    even, limits = replace(ONE, poll_spread_ms=0), []

    def draw(purpose: str, limit: int) -> int:
        limits.append((purpose, limit))
        return limit

    client = Client(config=even, draw=draw)
    assert rest_of_poll(client) == whole_poll(client) == 1000 * POLL_MS
    assert limits == [("poll", 1000 * POLL_MS)]


def rest_of_poll(client: Client) -> int:
    """Return how long the poll that is going on still takes, in microseconds."""
    client.poll_later()
    return last_time(client)


def whole_poll(client: Client) -> int:
    """Return how long a poll takes that begins now, in microseconds."""
    client.poll_to_its_end("poll")
    return last_time(client)


def last_time(client: Client) -> int:
    scheduled = client.out[-1]
    assert isinstance(scheduled, Schedule)
    return scheduled.after_us


def test_a_poll_shorter_than_nothing_is_refused() -> None:
    scenario = group("java/range", 0, 0)
    wrong = replace(scenario.members[1], poll_spread_ms=POLL_MS + 1)
    members = (scenario.members[0], wrong)
    with pytest.raises(DocumentError, match="150 ms is not 151 ms shorter") as refused:
        require_possible(replace(scenario, members=members, plan=()))
    assert refused.value.path == "members[1].poll_spread_ms"

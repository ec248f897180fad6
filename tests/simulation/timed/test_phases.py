"""When heartbeats come in a group that has been at rest for long, and how late, by client."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from assignors.simulation.timed.dialects.timing import JAVA, LIBRDKAFKA, Timing
from assignors.simulation.timed.monitors.rules import Seen
from assignors.simulation.timed.protocols.effects import Send
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.scenario.defaults import defaults
from assignors.simulation.timed.simulation import simulate
from tests.simulation.timed.groups import EXACT, SETTLED_MS, group

EVERY_US = {GroupProtocol.CLASSIC: 3_000_000, GroupProtocol.CONSUMER: 5_000_000}


def exact(protocol: GroupProtocol) -> Scenario:
    shop = replace(group(), protocol=protocol, until_ms=SETTLED_MS + 60_000)
    return replace(shop, members=tuple(replace(each, **EXACT) for each in shop.members))


def beats(scenario: Scenario) -> dict[str, list[int]]:
    """When each member sent heartbeats from the moment on at which costs are counted."""
    found: dict[str, list[int]] = {each.name: [] for each in scenario.members}

    def observe(seen: Seen) -> None:
        is_sent = any(isinstance(effect, Send) for effect in seen.effects)
        if seen.member is not None and is_sent and seen.at_us > 1000 * SETTLED_MS:
            found[seen.member].append(seen.at_us)

    simulate(scenario, observe=observe, queues_heartbeats=True)
    return found


@pytest.mark.parametrize("protocol", EVERY_US)
def test_members_of_a_group_long_at_rest_beat_at_moments_of_their_own(
    protocol: GroupProtocol,
) -> None:
    every = EVERY_US[protocol]
    phases = sorted(times[0] % every for times in beats(exact(protocol)).values())
    assert phases[-1] - phases[0] > every / 2
    for times in beats(exact(protocol)).values():
        assert {after - before for before, after in pairwise(times)} == {every}


def test_heartbeats_stay_in_step_if_a_scenario_asks_for_it() -> None:
    in_step = replace(exact(GroupProtocol.CLASSIC), has_rested=False)
    phases = sorted(times[0] % 3_000_000 for times in beats(in_step).values())
    assert phases[-1] - phases[0] < 20_000


def test_each_member_is_late_by_a_time_of_its_own() -> None:
    scenario = exact(GroupProtocol.CLASSIC)
    late = tuple(replace(each, timing=None) for each in scenario.members)
    apart = [times[1] - times[0] for times in beats(replace(scenario, members=late)).values()]
    assert len(set(apart)) == len(apart)
    assert all(0 <= each - 3_000_000 <= 2 * JAVA.heartbeat_late_us for each in apart)


def test_times_follow_from_the_client_unless_the_scenario_gives_others() -> None:
    one = group().members[0]
    assert one.times == JAVA
    assert replace(one, client="librdkafka-2.16.0").times == LIBRDKAFKA
    assert replace(one, client="librdkafka-2.16.0", timing=Timing()).times == Timing()


def test_each_default_has_a_source() -> None:
    assert all(each.source for each in defaults())
    assert {each.client for each in defaults()} == {
        "",
        "java",
        "librdkafka",
        "kafka-python",
        "others",
    }

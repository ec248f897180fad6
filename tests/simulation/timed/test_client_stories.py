"""Groups of clients that write and read different bytes: what becomes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assignors.assignor import UserData
from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.dialects.leading import refuses_plan
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.rules import Monitoring, Seen
from assignors.simulation.timed.protocols.effects import Answered
from assignors.simulation.timed.protocols.kafka.messages import JoinGroupResponse
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import Action, Claims, MemberConfig, Scenario, Verb
from assignors.simulation.timed.simulation import simulate
from wire import TopicPartitions

OURS, KAFKAS = "optimal/cooperative-sticky", "java/cooperative-sticky"


def result(scenario: Scenario) -> TimedResult:
    """Return the figures of a run."""
    return simulate(scenario).result


def mixed(*clients: str | None, assignors: tuple[str, ...] = (OURS,), **changes: Any) -> Scenario:
    """Return a group of one member of each client on three topics; the first one leads."""
    members = tuple(
        MemberConfig(
            name=f"c{number}",
            client=client,
            assignors=assignors,
            topics=("ta", "tb", "tc"),
            starts_at_ms=2000 * number,
        )
        for number, client in enumerate(clients)
    )
    given: dict[str, Any] = {
        "until_ms": 60_000,
        "topics": {"ta": 6, "tb": 5, "tc": 3},
        "members": members,
    }
    return Scenario(**{**given, **changes})


def test_all_clients_of_cooperative_sticky_form_one_group() -> None:
    clients = [name for name, each in DIALECTS.items() if UserData.COOPERATIVE in each.forms]
    safe = [name for name in clients if not DIALECTS[name].reads_user_data_first]
    for leader in safe:
        played = result(mixed(leader, *(name for name in clients if name != leader)))
        assert played.is_settled, leader
        assert played.double_partition_ms == 0, leader


@pytest.mark.parametrize(("leader", "doubles"), [("java-3.1.2", True), ("java-4.4.0", False)])
def test_java_3_1_gives_partitions_away_that_are_still_consumed(
    leader: str, *, doubles: bool
) -> None:
    # It takes the number of topics in franz-go's UserData for a generation, and drops the claims.
    group = mixed(leader, "franz-go-1.22.2", "java-4.4.0", "java-4.4.0")
    slow = tuple(replace(each, sync_delay_us=500_000) for each in group.members)
    plan = (Action(at_ms=30_000, do=Verb.STOP, member="c3"),)
    double = result(replace(group, members=slow, plan=plan)).double_partition_ms
    assert (double > 100) == doubles


@pytest.mark.parametrize("follower", ["franz-go-1.22.2", "sarama-1.61.1"])
def test_librdkafka_names_a_topic_twice_and_its_followers_never_rest(follower: str) -> None:
    plan = (Action(at_ms=30_000, do=Verb.STOP, member="c2"),)
    played = result(mixed("librdkafka-2.16.0", follower, follower, plan=plan))
    assert not played.is_settled
    assert played.unowned > 0
    rested = result(mixed("librdkafka-2.16.0", "java-4.4.0", "java-4.4.0", plan=plan))
    assert rested.is_settled


@pytest.mark.parametrize("assignor", [OURS, KAFKAS])
@pytest.mark.parametrize("claims", Claims)
def test_false_claims_never_give_a_partition_to_two(claims: Claims, assignor: str) -> None:
    group = mixed(None, None, None, None, assignors=(assignor,))
    members = group.members
    liar = replace(members[2], claims=claims)
    plan = (
        Action(at_ms=20_000, do=Verb.SUBSCRIBE, member="c2", topics=("ta",)),
        Action(at_ms=30_000, do=Verb.STOP, member="c3"),
    )
    played = result(replace(group, members=(*members[:2], liar, members[3]), plan=plan))
    assert played.double_partition_ms == 0
    # What is claimed by a member of the newest generation stays withheld: it may be true.
    assert played.unowned == 0 or claims in {Claims.EVERYTHING, Claims.STALE}


def test_kafka_python_claims_what_it_does_not_subscribe_to_and_nobody_reads_it() -> None:
    # It claims its last assignment: the leader withholds that, and nobody has to revoke it.
    plan = (Action(at_ms=30_000, do=Verb.SUBSCRIBE, member="c0", topics=("ta",)),)
    topics = {"ta": 4, "tb": 1}
    for client, left in (("kafka-python-3.0.12", 1), ("java-4.4.0", 0)):
        group = mixed(client, "java-4.4.0", assignors=(KAFKAS,), topics=topics, plan=plan)
        assert result(group).unowned == left


def test_only_a_leader_of_java_2_8_ends_over_stale_claims() -> None:
    # KAFKA-13406: what is claimed by a member that has lost it goes to another one, and it throws.
    scenario = named("stale-claims")
    for leader, rounds in (("java-2.8.1", 4), ("java-4.4.0", 2)):
        members = (replace(scenario.members[0], client=leader), *scenario.members[1:])
        played = simulate(replace(scenario, members=members), keeps_history=True)
        ended = [each.member_id for each in played.changes if each.reason == "ended by an error"]
        assert (ended, played.result.rounds) == (["c1"] if rounds == 4 else [], rounds)


@pytest.mark.parametrize(
    ("story", "off", "is_false_alarm"),
    [("stale-claims", "java-4.4.0", True), ("generation-from-user-data", "java-3.1.2", False)],
)
def test_the_check_of_plans_in_its_three_strengths(
    story: str, off: str, *, is_false_alarm: bool
) -> None:
    """KAFKA-13406: a leader of 2.8.1 checks claims, later ones nothing, and a monitor the ledger.

    The first ends a leader over claims that are old, but also before a plan that does harm.
    """
    scenario = named(story)

    def led_by(client: str) -> tuple[bool, int]:
        """Whether the leader ends, and how often a plan gives away what somebody consumes."""
        first, *others = scenario.members
        members = (replace(first, client=client), *others)
        changed = replace(scenario, members=members)
        played = simulate(changed, keeps_history=True, monitoring=Monitoring.FULL)
        found = [each for each in played.violations if each.monitor == "given-while-owned"]
        return any(each.reason == "ended by an error" for each in played.changes), len(found)

    ends, harm = led_by("java-2.8.1")
    assert (ends, harm) == (True, 0)
    ends, harm = led_by(off)
    assert not ends
    assert (harm == 0) == is_false_alarm


@pytest.mark.parametrize("seed", range(3))
def test_each_client_of_a_mixed_group_leads_all_others(seed: int) -> None:
    scenario = named("mixed-clients", seed=seed)
    led: set[str] = set()

    def see(each: Seen) -> None:
        if each.member is not None and isinstance(each.event, Answered):
            response = each.event.response
            if isinstance(response, JoinGroupResponse) and len(response.members) == 4:
                led.add(each.member)

    simulate(scenario, observe=see)
    assert led == {each.name for each in scenario.members}


def test_a_plan_is_refused_for_what_is_claimed_and_moves() -> None:
    claims: dict[str, TopicPartitions] = {"a": {"t": (0, 1)}, "b": {"t": (1,)}}
    assert not refuses_plan({"a": {"t": (0,)}, "b": {"t": (1,)}}, claims)
    assert refuses_plan({"a": {"t": (0,)}, "b": {}, "c": {"t": (1,)}}, claims)
    assert not refuses_plan({"a": {}, "b": {}, "c": {"t": (2,)}}, claims)

"""Groups that migrate between the protocols, patterns of topics, and the choice of an assignor."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.documents.values import DocumentError
from assignors.simulation.timed.explore.random_scenarios import PLAIN
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.protocols.effects import Arrived, Committed, Effect, Fired, Reply
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
    JoinGroup,
    JoinGroupResponse,
    Protocol,
)
from assignors.simulation.timed.protocols.kafka.records import (
    GroupEpochRecord,
    GroupRecord,
    MemberRecord,
    TargetRecord,
)
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    MigrationPolicy,
    Scenario,
    Verb,
)
from assignors.simulation.timed.scenario_document import (
    document_from_scenario,
    scenario_from_document,
)
from assignors.simulation.timed.sides import sides_of
from assignors.simulation.timed.simulation import Played, simulate
from tests.conftest import cases
from tests.simulation.timed.drawn import scenarios
from wire import Subscription, encode_subscription

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
SECOND = 1000


def bounced(
    policy: MigrationPolicy, first: GroupProtocol, assignor: str = "java/range", *, static: bool
) -> Scenario:
    """Four members, each of which comes back with the other protocol."""
    other = CONSUMER if first is CLASSIC else CLASSIC
    plan = [
        Action(at_ms=60_000 + 20_000 * i + after, do=verb, member=f"c{i}", protocol=protocol)
        for i in range(4)
        for after, verb, protocol in ((0, Verb.STOP, None), (8000, Verb.START, other))
    ]
    return Scenario(
        until_ms=250_000,
        protocol=first,
        topics={"t": 12},
        members=tuple(
            MemberConfig(
                name=f"c{i}",
                topics=("t",),
                assignors=(assignor,),
                instance_id=f"i{i}" if static else None,
            )
            for i in range(4)
        ),
        plan=tuple(plan),
        broker=BrokerConfig(migration_policy=policy),
    )


def kinds(played: Played) -> list[GroupProtocol]:
    """The kinds of the group, one after the other, as its records have them."""
    found: list[GroupProtocol] = []
    for _, record in played.records:
        if isinstance(record, GroupRecord) and record.members:
            kind = CLASSIC
        elif isinstance(record, GroupEpochRecord) and record.epoch is not None:
            kind = CONSUMER
        else:
            continue
        if found[-1:] != [kind]:
            found.append(kind)
    return found


@pytest.mark.parametrize("first", [CLASSIC, CONSUMER])
@pytest.mark.parametrize("policy", MigrationPolicy)
def test_a_group_migrates_as_far_as_the_policy_allows_and_no_partition_has_two_consumers(
    policy: MigrationPolicy, first: GroupProtocol
) -> None:
    for assignor, static in product(("java/range", "java/cooperative-sticky"), (False, True)):
        played = simulate(bounced(policy, first, assignor, static=static), keeps_history=True)
        result = played.result
        assert result.double_partition_ms == 0
        assert result.violations == 0
        assert result.is_settled
        goes_back = first is CONSUMER and policy.allows_downgrade
        other = CONSUMER if first is CLASSIC else CLASSIC
        # An empty group may change under every policy; static members keep theirs.
        empties = not static and (policy is MigrationPolicy.DISABLED or first is CLASSIC)
        changes = goes_back or (first is CLASSIC and policy.allows_upgrade) or empties
        assert kinds(played) == ([first, other] if changes else [first])


@st.composite
def mixed(draw: st.DrawFn) -> Scenario:
    """A plain scenario in which some members speak the other protocol, or change theirs."""
    scenario = draw(scenarios(replace(PLAIN, protocols=(CLASSIC, CONSUMER))))
    protocols = st.sampled_from([None, CLASSIC, CONSUMER])
    return replace(
        scenario,
        faults=(),
        members=tuple(replace(each, protocol=draw(protocols)) for each in scenario.members),
        plan=tuple(
            replace(each, protocol=draw(protocols)) if each.do is Verb.START else each
            for each in scenario.plan
        ),
        broker=replace(
            scenario.broker, migration_policy=draw(st.sampled_from(list(MigrationPolicy)))
        ),
    )


@cases(40)
@given(mixed())
def test_no_monitor_finds_anything_in_a_group_that_migrates(scenario: Scenario) -> None:
    """But for two faults of Kafka 4.4.0 (`test_migration_faults_live`).

    A JoinGroup with an unknown id removes an empty group and writes no tombstones, so that the next
    coordinator finds the group in the log. And heartbeats of the classic protocol make no target:
    where the last member of the other one goes and the group stays as it is, nobody rebalances.
    """
    found = simulate(scenario, monitoring=Monitoring.FULL).violations
    logs = [each for each in found if each.monitor == "log-differs-from-state"]
    assert all(each.text.endswith("None in the state") for each in logs)
    stays = not scenario.broker.migration_policy.allows_downgrade
    known = {"partition-without-owner", "balance-can-improve"} if stays else set()
    assert {each.monitor for each in found} <= {"log-differs-from-state", *known}


def test_a_process_that_comes_back_with_the_other_protocol_has_an_id_of_its_own() -> None:
    """Both protocols once made the same ids: who had crashed took its own place, and got nothing.

    Found by the property above. `c0` crashes while it joins, and comes back after the barrier.
    """
    scenario = bounced(MigrationPolicy.BIDIRECTIONAL, CLASSIC, static=False)
    (member,) = [each for each in scenario.members if each.name == "c0"]
    plan = (
        Action(at_ms=0, do=Verb.START, member="c0"),
        Action(at_ms=1000, do=Verb.CRASH, member="c0"),
        Action(at_ms=3100, do=Verb.START, member="c0", protocol=CONSUMER),
    )
    played = simulate(
        replace(scenario, members=(member,), plan=plan),
        monitoring=Monitoring.FULL,
        keeps_history=True,
    )
    assert not played.violations
    ids = {each.member_id for _, each in played.records if isinstance(each, MemberRecord)}
    assert len(ids) == 2


def test_a_dynamic_group_moves_no_more_than_in_a_rolling_restart_of_one_protocol() -> None:
    mixed = simulate(
        bounced(MigrationPolicy.BIDIRECTIONAL, CLASSIC, "java/cooperative-sticky", static=False)
    )
    alone = bounced(MigrationPolicy.BIDIRECTIONAL, CONSUMER, static=False)
    plan = tuple(replace(each, protocol=None) for each in alone.plan)
    assert mixed.result.moves <= simulate(replace(alone, plan=plan)).result.moves


def test_a_group_that_has_chosen_no_assignor_answers_its_joins_and_cannot_be_converted() -> None:
    """Kafka 4.4.0: the one that comes gets UNKNOWN_SERVER_ERROR, and those that wait start anew."""
    sides = sides_of(bounced(MigrationPolicy.UPGRADE, CLASSIC, static=True))
    blob = encode_subscription(Subscription(version=1, topics=("t",)))
    join = JoinGroup("c0", "", "i0", 45_000, 60_000, (Protocol("range", blob),))
    assert replies(sides.step_coordinator(0, Arrived(1, join))) == []
    heartbeat = ConsumerHeartbeat("c1-x", 0, None, None, 60_000, ("t",), {}, "c1")
    answers = replies(sides.step_coordinator(1, Arrived(2, heartbeat)))
    waiting, refused = (each.response for each in answers)
    assert isinstance(waiting, JoinGroupResponse)
    assert waiting.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert isinstance(refused, ConsumerHeartbeatResponse)
    assert refused.error is ErrorCode.UNKNOWN_SERVER_ERROR


def replies(effects: list[Effect]) -> list[Reply]:
    return [each for each in effects if isinstance(each, Reply)]


def test_most_members_choose_the_assignor_of_the_broker() -> None:
    """Range gives the first partitions of every topic to the first member; uniform does not."""
    group = Scenario(
        until_ms=60_000,
        protocol=CONSUMER,
        topics={f"t{i}": 3 for i in range(6)},
        members=tuple(
            MemberConfig(name=f"c{i}", topics=tuple(f"t{i}" for i in range(6))) for i in range(2)
        ),
    )
    loads = {}
    for asked in (None, "uniform", "range"):
        members = tuple(replace(each, remote_assignor=asked) for each in group.members)
        records = simulate(replace(group, members=members), keeps_history=True).records
        last = {r.member_id: r.partitions or {} for _, r in records if isinstance(r, TargetRecord)}
        loads[asked] = sorted(sum(map(len, each.values())) for each in last.values())
    assert loads == {None: [9, 9], "uniform": [9, 9], "range": [6, 12]}


def test_an_assignor_that_the_broker_does_not_have_is_refused() -> None:
    scenario = bounced(MigrationPolicy.UPGRADE, CONSUMER, static=False)
    members = tuple(replace(each, remote_assignor="sticky") for each in scenario.members)
    played = simulate(replace(scenario, members=members, plan=()), keeps_history=True)
    assert played.records == []
    heartbeat = ConsumerHeartbeat("c0-x", 0, None, None, 1, ("t",), {}, assignor="sticky")
    (answer,) = replies(sides_of(scenario).step_coordinator(0, Arrived(1, heartbeat)))
    assert isinstance(answer.response, ConsumerHeartbeatResponse)
    assert answer.response.error is ErrorCode.UNSUPPORTED_ASSIGNOR


def test_a_malformed_pattern_is_refused_and_changes_nothing() -> None:
    sides = sides_of(bounced(MigrationPolicy.UPGRADE, CONSUMER, static=False))
    for pattern in ("(", r"(a)\1", "(?=a)", "a++"):
        heartbeat = ConsumerHeartbeat("c0-x", 0, None, None, 1, None, {}, pattern=pattern)
        (answer,) = replies(sides.step_coordinator(0, Arrived(1, heartbeat)))
        assert isinstance(answer.response, ConsumerHeartbeatResponse)
        assert answer.response.error is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_a_pattern_matches_nothing_until_the_background_thread_has_looked() -> None:
    sides = sides_of(bounced(MigrationPolicy.UPGRADE, CONSUMER, static=False))
    join = ConsumerHeartbeat("c0-x", 0, None, None, 1, None, {}, "c0", pattern="t.*")
    epochs = []
    for at_ms, event in (
        (0, Arrived(1, join)),
        (0, Committed(1)),
        (10, Fired(("lookup", ""), 0)),
        (10, Committed(2)),
        (5000, Arrived(2, join._replace(epoch=1, pattern=None, owned=None))),
        (5000, Committed(3)),
    ):
        for reply in replies(sides.step_coordinator(at_ms * 1000, event)):
            assert isinstance(reply.response, ConsumerHeartbeatResponse)
            epochs.append((reply.response.epoch, reply.response.assignment))
    assert epochs == [(1, {}), (2, {"t": tuple(range(12))})]


@pytest.mark.parametrize("pattern", [None, "[tu]"])
@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
def test_a_deleted_topic_is_given_up_and_may_come_again(
    protocol: GroupProtocol, pattern: str | None
) -> None:
    plan = (
        Action(at_ms=60_000, do=Verb.DELETE, topic="u"),
        Action(at_ms=120_000, do=Verb.CREATE, topic="u", partitions=3),
    )
    topics = () if pattern else ("t", "u")
    scenario = Scenario(
        until_ms=200_000,
        count_from_ms=61_000,
        protocol=protocol,
        topics={"t": 6, "u": 6},
        members=tuple(
            MemberConfig(name=f"c{i}", topics=topics, pattern=pattern, metadata_age_ms=5000)
            for i in range(3)
        ),
        plan=plan,
    )
    played = simulate(scenario, monitoring=Monitoring.FULL, keeps_history=True)
    assert played.violations == []
    assert played.result.is_settled
    assert (played.result.unowned, played.result.double_partition_ms) == (0, 0)
    assert played.result.longest_gap_ms <= 10 * SECOND
    between = {each.member_id: each.owned for each in played.changes if each.at <= 119_000_000}
    assert sum(len(owned.get("t", ())) for owned in between.values()) == 6
    assert not any("u" in owned for owned in between.values())


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
def test_a_new_topic_is_read_when_the_first_one_has_looked(protocol: GroupProtocol) -> None:
    for seed, age_ms in product(range(4), (2_000, 60_000)):
        scenario = named("new-topic-for-a-pattern", seed=seed, protocol=protocol)
        members = tuple(replace(each, metadata_age_ms=age_ms) for each in scenario.members)
        result = simulate(replace(scenario, members=members)).result
        # Then the others join at their next heartbeats; under KIP-848 the coordinator looks.
        latest = age_ms + 3 * SECOND if protocol is CLASSIC else 5 * SECOND
        assert result.longest_gap_ms <= latest + 500 + 2 * SECOND  # two polls
        assert result.unowned == 0


def test_a_scenario_of_migration_and_patterns_is_read_as_it_was_written() -> None:
    scenario = bounced(MigrationPolicy.DOWNGRADE, CONSUMER, static=True)
    one, *others = scenario.members
    one = replace(one, protocol=CLASSIC, pattern="t.*", remote_assignor="range")
    create = Action(at_ms=5, do=Verb.CREATE, topic="u", partitions=2)
    whole = replace(scenario, members=(one, *others), plan=(*scenario.plan, create))
    text = json.dumps(document_from_scenario(whole))
    assert scenario_from_document(json.loads(text)) == whole


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"members": [{"name": "a", "topics": [], "pattern": "("}]}, "members[0].pattern"),
        ({"members": [{"name": "a", "topics": [], "pattern": "(?=x)"}]}, "members[0].pattern"),
        ({"members": [{"name": "a", "topics": ["t"], "protocol": "x"}]}, "members[0].protocol"),
        ({"broker": {"migration_policy": "sideways"}}, "broker.migration_policy"),
        ({"broker": {"further_assignors": ["nobody/x"]}}, "broker.further_assignors[0]"),
        ({"plan": [{"at_ms": 1, "do": "create", "topic": "t", "partitions": 1}]}, "plan[0].topic"),
        ({"plan": [{"at_ms": 1, "do": "create", "partitions": 1}]}, "plan[0].topic"),
        ({"plan": [{"at_ms": 1, "do": "create", "topic": "u"}]}, "plan[0].partitions"),
        ({"plan": [{"at_ms": 1, "do": "delete", "topic": "u"}]}, "plan[0].topic"),
    ],
)
def test_a_scenario_that_cannot_be_is_refused_with_its_place(
    changed: dict[str, object], path: str
) -> None:
    member = {"name": "a", "topics": ["t"]}
    document = {"version": 1, "until_ms": 1000, "topics": {"t": 1}, "members": [member]}
    with pytest.raises(DocumentError) as refused:
        scenario_from_document({**document, **changed})
    assert path in str(refused.value)


def test_a_classic_member_whose_instance_id_is_taken_in_a_consumer_group_is_a_zombie() -> None:
    """The broker makes its member id, without the client id in front."""
    played = simulate(
        Scenario(
            until_ms=40_000,
            protocol=CONSUMER,
            topics={"t": 2},
            members=(
                MemberConfig(name="a", topics=("t",), instance_id="i", protocol=CLASSIC),
                MemberConfig(name="b", topics=("t",), starts_at_ms=0),
                MemberConfig(
                    name="c", topics=("t",), instance_id="i", protocol=CLASSIC, starts_at_ms=None
                ),
            ),
            plan=(Action(at_ms=20_000, do=Verb.START, member="c"),),
            broker=BrokerConfig(migration_policy=MigrationPolicy.BIDIRECTIONAL),
        ),
        monitoring=Monitoring.FULL,
    )
    assert not played.violations
    assert [each.member for each in played.zombies] == ["a"]

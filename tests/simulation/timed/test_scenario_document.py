"""Timed scenarios as JSON: read back as written, and refused with the path of what is wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from assignors.documents.values import DocumentError
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    ProcessingConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.scenario_document import (
    brief_document,
    document_from_scenario,
    scenario_from_document,
    scenario_hash,
)

WHOLE = Scenario(
    name="whole",
    seed=-(2**62),
    until_ms=10,
    protocol=GroupProtocol.CONSUMER,
    topics={"t": 3, "u": 0},
    members=(
        MemberConfig(name="a", topics=("t",), assignors=("java/range", "java/sticky")),
        MemberConfig(name="b", topics=("t", "u"), instance_id="i", rack_id="r", starts_at_ms=5),
        MemberConfig(name="c", topics=("t",), starts_at_ms=None),
        MemberConfig(name="m", topics=(), assign={"t": (0, 2)}, commits_on_revoke=False),
    ),
    plan=(
        Action(at_ms=1, do=Verb.CRASH, member="a"),
        Action(at_ms=2, do=Verb.GROW, topic="u", partitions=4),
        Action(at_ms=3, do=Verb.SUBSCRIBE, member="b", topics=("u",)),
    ),
    faults=(
        Fault(kind=FaultKind.FREEZE, member="a", from_ms=1, until_ms=9),
        Fault(kind=FaultKind.LOSS, from_ms=1, until_ms=9, percent=0.5),
    ),
    broker=BrokerConfig(assignor="server/range", append_us=1),
    processing=ProcessingConfig(records_per_second=1, topics={"t": 2}),
)
SMALL = {"version": 1, "until_ms": 1, "topics": {"t": 1}, "members": [{"name": "a", "topics": []}]}


def test_a_scenario_is_read_as_it_was_written() -> None:
    text = json.dumps(document_from_scenario(WHOLE))
    assert scenario_from_document(json.loads(text), protocols=tuple(GroupProtocol)) == WHOLE


def test_a_count_stands_for_so_many_members() -> None:
    member = {"name": "c", "count": 2, "topics": ["t"], "instance_id": "i"}
    scenario = scenario_from_document({**SMALL, "members": [member]})
    assert [(each.name, each.instance_id) for each in scenario.members] == [
        ("c0", "i0"),
        ("c1", "i1"),
    ]


def test_scenarios_that_differ_have_different_hashes() -> None:
    changed = [replace(WHOLE, seed=1), replace(WHOLE, until_ms=11), replace(WHOLE, plan=())]
    assert len({scenario_hash(each) for each in [WHOLE, *changed, replace(WHOLE)]}) == 4


MEMBER = {"name": "a", "topics": ["t"]}
ONE_NAME = ["java/cooperative-sticky", "range", "optimal/cooperative-sticky"]
TWICE = {**MEMBER, "assignors": ONE_NAME}
JOBS = {"member": {**MEMBER, "name": "job"}, "every_ms": 1000, "lifetime_ms": 5, "until_ms": 9}


def arriving(**member: object) -> dict[str, object]:
    return {"arrivals": [{**JOBS, "member": {**MEMBER, "name": "job", **member}}]}


def pushing(**settings: int) -> dict[str, object]:
    return {"protocol": "push", "broker": {"push": settings}}


def executing(**settings: object) -> dict[str, object]:
    return {"broker": {"execution": settings}}


def beside(**settings: object) -> dict[str, object]:
    return executing(model="two-stage", others=settings)


CUT = {"kind": "cut", "from_ms": 1, "until_ms": 9}
APPENDS = {**CUT, "kind": "append_failure"}
FREEZE = {"kind": "freeze", "member": "a", "from_ms": 1, "until_ms": 9}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"plan": [{"at_ms": 1, "do": "stop", "member": "a", "topic": "t"}]}, "plan[0].topic"),
        ({"plan": [{"at_ms": 1, "do": "grow", "topic": "t", "member": "a"}]}, "plan[0].member"),
        (
            {"plan": [{"at_ms": 1, "do": "stop", "member": "a", "protocol": "classic"}]},
            "plan[0].protocol",
        ),
        ({"version": 2}, "version"),
        ({"members": []}, "members"),
        ({"members": None}, "members"),
        ({"members": [MEMBER, MEMBER]}, "members[1].name"),
        ({"members": [{"name": "a"}]}, "members[0].topics"),
        ({"members": [{**MEMBER, "poll_ms": -1}]}, "members[0].poll_ms"),
        ({"members": [{**MEMBER, "pol_ms": 1}]}, "members[0].pol_ms"),
        ({"members": [TWICE]}, "members[0].assignors[2]"),
        (
            {"arrivals": [{**JOBS, "member": {**TWICE, "name": "j"}}]},
            "arrivals[0].member.assignors[2]",
        ),
        ({"members": [{**MEMBER, "commits_on_revoke": 1}]}, "members[0].commits_on_revoke"),
        ({"members": [{**MEMBER, "assign": {"t": [0]}}]}, "members[0].topics"),
        ({"members": [{**MEMBER, "topics": [], "assign": {"t": [1]}}]}, "members[0].assign.t"),
        ({"members": [{**MEMBER, "topics": [], "assign": {"t": [-1]}}]}, "members[0].assign.t[0]"),
        (
            {"members": [{**MEMBER, "auto_commit_ms": 1, "sync_commit_ms": 1}]},
            "members[0].sync_commit_ms",
        ),
        ({"processing": {"topics": {"u": 1}}}, "processing.topics.u"),
        ({"processing": {"topics": {"t": -1}}}, "processing.topics.t"),
        ({"broker": {"offsets_check_ms": 0}}, "broker.offsets_check_ms"),
        ({"members": [{**MEMBER, "session_timeout_ms": 3000}]}, "members[0].session_timeout_ms"),
        ({"members": [{**MEMBER, "heartbeat_interval_ms": 0}]}, "members[0].heartbeat_interval_ms"),
        ({"members": [{**MEMBER, "assignors": ["best"]}]}, "members[0].assignors[0]"),
        ({"members": [{**MEMBER, "assignors": []}]}, "members[0].assignors"),
        ({"members": [{**MEMBER, "count": 100_001}]}, "members[0].count"),
        ({"members": [{**MEMBER, "client": "java"}]}, "members[0].client"),
        ({"members": [{**MEMBER, "clock_ppm": 100_001}]}, "members[0].clock_ppm"),
        ({"arrivals": [{**JOBS, "every_ms": 0}]}, "arrivals[0].every_ms"),
        ({"arrivals": [{**JOBS, "every_ms": 1, "until_ms": 10**9}]}, "arrivals[0].every_ms"),
        ({"arrivals": [{**JOBS, "until_ms": 0}]}, "arrivals[0].until_ms"),
        ({"arrivals": [{**JOBS, "member": MEMBER}]}, "arrivals[0].member.name"),
        ({"arrivals": [{**JOBS, "member": {"name": "b"}}]}, "arrivals[0].member.topics"),
        (arriving(heartbeat_interval_ms=0), "arrivals[0].member.heartbeat_interval_ms"),
        (arriving(poll_spread_ms=1001), "arrivals[0].member.poll_spread_ms"),
        (arriving(assign={"t": [1]}), "arrivals[0].member.topics"),
        (arriving(protocol="push"), "protocol"),
        ({"protocol": "push", **arriving(pattern="t")}, "arrivals[0].member.pattern"),
        (
            {"protocol": "push", **arriving(client_model="in_poll")},
            "arrivals[0].member.client_model",
        ),
        (
            {"members": [{**MEMBER, "name": "j.0"}], **arriving(name="j")},
            "arrivals[0].member.name",
        ),
        ({"members": [{**MEMBER, "client": "kafkajs-2.2.4"}]}, "members[0].assignors[0]"),
        ({"members": [{**MEMBER, "claims": "some"}]}, "members[0].claims"),
        ({"members": [{**MEMBER, "subscription_hex": "0g"}]}, "members[0].subscription_hex"),
        ({"topics": {"t": "1"}}, "topics.t"),
        ({"topics": {"t": 10_000_001}}, "topics"),
        ({"protocol": "share"}, "protocol"),
        ({"seed": 2**63}, "seed"),
        ({"plan": [{"do": "stop", "member": "a"}]}, "plan[0].at_ms"),
        ({"plan": [{"at_ms": 1, "do": "stop", "member": "b"}]}, "plan[0].member"),
        ({"plan": [{"at_ms": 1, "do": "explode", "member": "a"}]}, "plan[0].do"),
        ({"plan": [{"at_ms": 1, "do": "grow", "topic": "v"}]}, "plan[0].topic"),
        ({"plan": [{"at_ms": 1, "do": "pause", "member": "a"}]}, "plan[0].topic"),
        ({"plan": [{"at_ms": 1, "do": "grow", "topic": "t"}]}, "plan[0].partitions"),
        ({"count_from_ms": 2}, "count_from_ms"),
        (
            {
                "topics": {"t": 3},
                "plan": [{"at_ms": 1, "do": "grow", "topic": "t", "partitions": 2}],
            },
            "plan[0].partitions",
        ),
        ({"faults": [{"kind": "cut", "until_ms": 1}]}, "faults[0].from_ms"),
        ({"faults": [{**CUT, "kind": "explosion"}]}, "faults[0].kind"),
        ({"faults": [{**CUT, "kind": "hanging_transaction"}]}, "faults[0].kind"),
        ({"faults": [{**CUT, "member": "b"}]}, "faults[0].member"),
        ({"faults": [{**CUT, "member": ""}]}, "faults[0].member"),
        ({"faults": [{**CUT, "kind": "freeze"}]}, "faults[0].member"),
        ({"faults": [{**CUT, "until_ms": 1}]}, "faults[0].until_ms"),
        ({"faults": [{"kind": "cut", "from_ms": 1}]}, "faults[0].until_ms"),
        ({"faults": [{**CUT, "by_ms": 5}]}, "faults[0].by_ms"),
        ({"faults": [{**CUT, "kind": "delay"}]}, "faults[0].by_ms"),
        ({"faults": [{**CUT, "kind": "loss"}]}, "faults[0].percent"),
        ({"faults": [{**CUT, "kind": "loss", "percent": 101}]}, "faults[0].percent"),
        ({"faults": [{**CUT, "kind": "loss", "percent": -1}]}, "faults[0].percent"),
        ({"faults": [{**CUT, "kind": "loss", "percent": float("nan")}]}, "faults[0].percent"),
        ({"faults": [{**CUT, "kind": "loss", "percent": True}]}, "faults[0].percent"),
        ({"faults": [FREEZE, {**FREEZE, "from_ms": 8}]}, "faults[1].from_ms"),
        ({"members": [{**MEMBER, "stops_without_answer": 1}]}, "members[0].stops_without_answer"),
        ({"broker": {"consumer_session_timeout_ms": 5000}}, "broker.consumer_session_timeout_ms"),
        ({"broker": {"assignor": "x"}}, "broker.assignor"),
        ({"broker": {"push": {"lease": 1}}}, "broker.push.lease"),
        ({"broker": {"push": {"has_epochs": 1}}}, "broker.push.has_epochs"),
        ({"broker": {"push": {"fetch_ms": -1}}}, "broker.push.fetch_ms"),
        ({"protocol": "push", "members": [{**MEMBER, "pattern": "t"}]}, "members[0].pattern"),
        (pushing(brokers=0), "broker.push.brokers"),
        (pushing(moves_per_second=1_000_001), "broker.push.moves_per_second"),
        (pushing(lease_ms=3000), "broker.push.lease_ms"),
        (
            {"protocol": "push", "broker": {"assignor": "java/cooperative-sticky"}},
            "broker.assignor",
        ),
        ({"network": []}, "network"),
        ({"broker": {"execution": "two-stage"}}, "broker.execution"),
        (executing(model="two-stages"), "broker.execution.model"),
        (executing(model=1), "broker.execution.model"),
        (executing(workers=0), "broker.execution.workers"),
        (executing(partitions=10_000_000), "broker.execution.partitions"),
        (executing(linger_ms=-2), "broker.execution.linger_ms"),
        (executing(timers_wait=1), "broker.execution.timers_wait"),
        (executing(check=1), "broker.execution.check"),
        (beside(groups=0), "broker.execution.others.groups"),
        (beside(per_second=1_000_001), "broker.execution.others.per_second"),
        (beside(checks_share=1.01), "broker.execution.others.checks_share"),
        (beside(changes_share=float("nan")), "broker.execution.others.changes_share"),
        (beside(changes_share=True), "broker.execution.others.changes_share"),
        (beside(from_ms=5, until_ms=5), "broker.execution.others.until_ms"),
        ({**executing(model="inline"), "faults": [APPENDS]}, "faults[0].percent"),
        (
            {**executing(model="inline"), "faults": [{**APPENDS, "percent": 1, "member": "a"}]},
            "faults[0].member",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_path(changes: dict[str, object], path: str) -> None:
    with pytest.raises(DocumentError) as refused:
        scenario_from_document({**SMALL, **changes})
    assert refused.value.path == path


def test_settings_of_an_execution_have_a_model_or_are_refused() -> None:
    without = {**SMALL, **executing(others={"per_second": 1})}
    with pytest.raises(DocumentError) as refused:
        scenario_from_document(without, protocols=(), models=("none",))
    assert refused.value.path == "broker.execution.others.per_second"
    scenario_from_document(without, protocols=(), models=("none", "blocking"))
    failing = {**without, "faults": [{**APPENDS, "percent": 5}]}
    assert scenario_from_document(failing, protocols=()).execution_model == "two-stage"


@pytest.mark.parametrize("name", GALLERY)
def test_a_brief_document_is_the_same_scenario(name: str) -> None:
    scenario = named(name)
    text = json.dumps(brief_document(scenario))
    assert scenario_from_document(json.loads(text)) == scenario
    assert len(text) < len(json.dumps(document_from_scenario(scenario))) / 2

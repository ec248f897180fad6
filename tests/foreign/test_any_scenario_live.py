"""Runs of any scenario against Kafka's coordinator: it answers and writes what ours does.

All that reaches our coordinator in a run goes to Kafka's, in the same order and at the same time:
requests of real clients, timers, replicated and failed appends, failovers, changes of topics.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.explore.random_scenarios import Document, edited
from assignors.simulation.timed.faults.live import OF_THE_COORDINATOR
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.scenario_document import brief_document, scenario_from_document
from tests.conftest import DEEP, cases
from tests.foreign import plays
from tests.foreign.judge import Judge
from tests.foreign.judged_runs import as_kafka_has_it, history, is_smaller_again
from tests.simulation.timed.drawn import documents

pytestmark = pytest.mark.foreign

EVENTS_MAX = 5_000 if DEEP == 1 else 20_000
"""Runs end after so many, and are judged as far as they have come."""


@cases(40 if DEEP == 1 else 150)
@given(document=documents())
def test_kafkas_coordinator_does_the_same_in_any_scenario(judge: Judge, document: Document) -> None:
    require_same(judge, document)


@st.composite
def with_a_model(draw: st.DrawFn) -> Document:
    """A document with an execution model: appends fail, or another coordinator loads the log."""
    document = draw(documents())
    execution = {"model": draw(st.sampled_from(sorted(POLICIES)))}
    document = edited(document, (("broker", "execution"), execution))
    for _ in range(draw(st.integers(1, 3))):
        from_ms = draw(st.sampled_from((0, 10, 3000, 10_000, 12_000, 20_000)))
        until_ms = from_ms + draw(st.sampled_from((1, 100, 3000, 20_000)))
        fault = {"kind": "append_failure", "from_ms": from_ms, "until_ms": until_ms}
        percent = draw(st.sampled_from((100, 50, 20)))
        document = edited(document, (("faults",), {**fault, "percent": percent}))
    if draw(st.booleans()):
        from_ms = draw(st.sampled_from((5, 1000, 3001, 10_000, 12_000)))
        kind = draw(st.sampled_from(sorted(OF_THE_COORDINATOR)))
        fault = {"kind": kind, "from_ms": from_ms, "until_ms": from_ms + 500}
        document = edited(document, (("faults",), fault))
    return document


@cases(8 if DEEP == 1 else 30)
@given(document=with_a_model())
def test_kafkas_coordinator_goes_on_from_what_is_written_as_ours_does(
    judge: Judge, document: Document
) -> None:
    require_same(judge, document)


def require_same(judge: Judge, document: Document) -> None:
    """`AssertionError` where Kafka's coordinator does anything else in the run of a document."""
    scenario = replace(scenario_from_document(document), event_limit=EVENTS_MAX)
    assume(GroupProtocol.PUSH not in scenario.protocols and not is_smaller_again(scenario))
    scenario = as_kafka_has_it(scenario)
    note(f"the smallest document: {json.dumps(brief_document(scenario))}")
    judged(judge, scenario)


ONE = {"name": "c0", "topics": ["t"]}
SHORT: Document = {"version": 1, "until_ms": 20_000, "topics": {"t": 3}, "members": [ONE]}
STOPS = {"at_ms": 10_000, "do": "stop", "member": "c0"}
FAILOVER = {"kind": "coordinator_crash", "from_ms": 10_000, "until_ms": 11_000}
APPENDS_FAIL = {"kind": "append_failure", "from_ms": 0, "until_ms": 10_000, "percent": 100}
HANGING = {"kind": "hanging_transaction", "from_ms": 9000, "until_ms": 12_000}


@pytest.mark.parametrize(
    ("changes", "ops"),
    [
        # the answer to the last member that leaves waits for the record of the empty group
        pytest.param({"plan": [STOPS]}, {"leave"}, id="last-member-leaves"),
        # an empty rack is a rack
        pytest.param(
            {"protocol": "consumer", "members": [{**ONE, "rack_id": ""}]}, set(), id="empty-rack"
        ),
        # a classic member that joins a consumer group gets an id of another form
        pytest.param(
            {
                "protocol": "consumer",
                "members": [{"name": "c0", "topics": ["t"]}, {**ONE, "protocol": "classic"}],
            },
            {"join", "consumer"},
            id="id-in-a-consumer-group",
        ),
        # nothing that was not replicated is in the log that the next coordinator reads
        pytest.param(
            {"faults": [FAILOVER], "broker": {"append_us": 3_000_000}},
            {"lose", "reload"},
            id="failover",
        ),
        # the same under an execution model, whose batch had not been replicated
        pytest.param(
            {
                "faults": [FAILOVER],
                "broker": {"append_us": 3_000_000, "execution": {"model": "two-stage"}},
            },
            {"lose", "reload"},
            id="failover-under-a-model",
        ),
        # a classic group whose first record was not written is gone
        pytest.param(
            {"faults": [APPENDS_FAIL], "broker": {"execution": {"model": "two-stage"}}},
            {"failed"},
            id="append-fails",
        ),
        # the usual model executes a run in which appends fail: timers wait for their turn
        pytest.param(
            {"faults": [APPENDS_FAIL], "broker": {"service_us": 1000}},
            {"failed"},
            id="append-fails-under-the-usual-model",
        ),
        # a group that a commit from outside has made is gone if that was not written
        pytest.param(
            {
                "faults": [APPENDS_FAIL, HANGING],
                "broker": {"execution": {"model": "inline"}},
                "processing": {"records_per_second": 5},
                "members": [{**ONE, "starts_at_ms": 15_000}],
            },
            {"failed", "commit"},
            id="append-of-a-commit-fails",
        ),
        # topics are looked at once more only if the epoch that they led to is lost
        pytest.param(
            {
                "members": [{**ONE, "topics": [], "starts_at_ms": 3000}, ONE, ONE],
                "faults": [{**APPENDS_FAIL, "from_ms": 3000}],
                "broker": {"execution": {"model": "per-group"}},
            },
            {"failed"},
            id="append-without-an-epoch-fails",
        ),
        # members whose records were not written have changed their place in Kafka's map
        pytest.param(
            {
                "members": [{**ONE, "assignors": ["optimal/sticky"]}] * 4,
                "faults": [{**APPENDS_FAIL, "from_ms": 10, "until_ms": 20_010}],
                "broker": {"execution": {"model": "blocking"}},
            },
            {"failed"},
            id="appends-of-members-fail",
        ),
        # a static member whose return is not written hears who leads
        pytest.param(
            {
                "members": [{**ONE, "instance_id": "i", "assignors": ["optimal/sticky"]}] * 2,
                "plan": [{"at_ms": 10_000, "do": "start", "member": "c0"}],
                "faults": [{**APPENDS_FAIL, "from_ms": 10_000, "until_ms": 10_100}],
                "broker": {"execution": {"model": "blocking"}},
            },
            set(),
            id="return-is-not-written",
        ),
        # an offset of an open transaction, and the end of that
        pytest.param(
            {"faults": [HANGING], "processing": {"records_per_second": 5}},
            {"commit", "fetch-offsets", "end-transaction"},
            id="hanging-transaction",
        ),
        # a static member of a classic group has the client id of the one that it replaced
        pytest.param({"members": [{**ONE, "instance_id": "i"}] * 2}, set(), id="one-instance"),
    ],
)
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_what_a_run_may_come_to_is_judged(
    judge: Judge, changes: Document, ops: set[str], protocol: str
) -> None:
    document = {"protocol": protocol, **SHORT, **changes}
    document["members"] = [
        {**each, "name": f"c{number}"} for number, each in enumerate(document["members"])
    ]
    if protocol == "consumer":
        for each in document["members"]:
            each.pop("assignors", None)  # the broker assigns
    met = judged(judge, as_kafka_has_it(scenario_from_document(document)))
    # A member of a consumer group leaves with a heartbeat.
    needed = (ops - {"leave"}) if protocol == "consumer" else ops
    assert met.keys() >= {"replicated", "topics"} | needed


def judged(judge: Judge, scenario: Scenario) -> Counter[str]:
    """Let Kafka's coordinator play a run; return how often each operation was met."""
    made, _ = history(scenario)
    answer = judge.ask(made.request(scenario))
    assert "steps" in answer, answer
    found = next(plays.differences(made.steps, answer["steps"]), None)
    assert found is None, found
    return Counter(each["op"] for each in made.ops)

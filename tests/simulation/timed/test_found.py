"""Scenarios in which something went wrong once, each as small as it gets.

All were found by drawing any field of a scenario (`any_field`): none must fail, and the run must be
the same whether heartbeats and rounds are events or computed.
"""

from __future__ import annotations

from typing import Any

import pytest

from assignors.simulation.timed.explore.history import history
from assignors.simulation.timed.scenario_document import scenario_from_document
from tests.simulation.timed.engines import require_same_run

RECORDS = {"records_per_second": 1}
DELETED = {"at_ms": 5000, "do": "delete", "topic": "t"}
CREATED = {"at_ms": 0, "do": "create", "topic": "new", "partitions": 1}
CUT = {"kind": "cut", "from_ms": 7000, "until_ms": 75_000}

FOUND: dict[str, dict[str, Any]] = {
    "a member's topic is deleted, and it revokes what it had": {
        "topics": {"t": 1},
        "members": [{"name": "c0", "topics": ["t"], "metadata_age_ms": 1}],
        "plan": [DELETED],
    },
    "a topic with records begins while the group runs": {
        "topics": {},
        "members": [{"name": "c0", "topics": ["new"]}],
        "protocol": "consumer",
        "plan": [CREATED],
        "processing": RECORDS,
    },
    "a member of KIP-848 in a group that may be classic hears nothing for a session": {
        "until_ms": 60_000,
        "topics": {"t": 1},
        "members": [{"name": "c0", "topics": ["t"], "protocol": "consumer"}],
        "faults": [CUT],
    },
    "a member commits between a topic's change and the heartbeat that computes the next target": {
        "until_ms": 4000,
        "topics": {"t": 1, "u": 1},
        "members": [{"name": "c0", "topics": ["t"], "sync_commit_ms": 20}],
        "protocol": "push",
        "plan": [DELETED | {"topic": "u", "at_ms": 160}],
        "processing": RECORDS,
    },
    "heartbeats are given up sooner than they are answered, after a fault that is over": {
        "until_ms": 30_000,
        "topics": {},
        "members": [
            {"name": "c0", "topics": [], "request_timeout_ms": 1},
            {"name": "c1", "topics": ["new"]},
        ],
        "protocol": "consumer",
        "plan": [{"at_ms": 16_720, "do": "subscribe", "member": "c1"}],
        "faults": [{"kind": "delay", "from_ms": 0, "until_ms": 1, "by_ms": 1}],
    },
    "a member moves to an epoch at rest, and the next coordinator has to read that in the log": {
        "until_ms": 50_000,
        "topics": {"t": 2},
        "members": [
            {"name": "c0", "topics": ["t"]},
            {"name": "c1", "topics": ["new"], "starts_at_ms": 20_000},
            {"name": "c2", "topics": ["t"]},
        ],
        "protocol": "consumer",
        "faults": [{"kind": "coordinator_crash", "from_ms": 36_000, "until_ms": 37_000}],
    },
    "whose heartbeat was to compute a target is cut off before it comes": {
        "until_ms": 14_000,
        "topics": {"t": 3},
        "members": [
            {"name": "c0", "topics": []},
            {"name": "c2", "topics": ["t"], "starts_at_ms": 1250},
            {"name": "c3", "topics": ["t"]},
        ],
        "protocol": "push",
        "plan": [
            {"at_ms": 10_000, "do": "delete", "topic": "t"},
            {"at_ms": 12_790, "do": "crash", "member": "c3"},
        ],
        "faults": [{"kind": "cut", "from_ms": 10_000, "until_ms": 30_000, "member": "c2"}],
    },
    "a consumer of its own partitions stands before the members of the group": {
        "topics": {"t": 5},
        "members": [
            {"name": "own", "topics": [], "assign": {"t": [0]}, "starts_at_ms": 5000},
            {"name": "c", "topics": ["t"], "count": 16},
        ],
        "plan": [{"at_ms": 10_000, "do": "stop", "member": "c3"}],
    },
    "a topic is deleted while the members that consumed it join again": {
        "topics": {"u": 1},
        "members": [
            {"name": "c1", "topics": ["u"]},
            {"name": "c3", "topics": []},
            {"name": "c5", "topics": [], "poll_ms": 4000},
        ],
        "plan": [
            {"at_ms": 10_000, "do": "subscribe", "member": "c3"},
            DELETED | {"topic": "u", "at_ms": 12_790},
        ],
    },
    "an eager member gives up a topic that is no more, and all others have nothing": {
        "until_ms": 17_500,
        "topics": {"t": 1},
        "members": [
            {"name": "c0", "topics": ["t"], "assignors": ["optimal/sticky"]},
            {"name": "c1", "topics": [], "assignors": ["optimal/sticky"]},
            {"name": "c2", "topics": [], "assignors": ["optimal/sticky"]},
        ],
        "plan": [DELETED | {"at_ms": 0}],
        "faults": [{"kind": "lost_generation", "from_ms": 10_000, "member": "c2"}],
        "seed": 1,
    },
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_once_stays_mended(name: str) -> None:
    scenario = scenario_from_document({"version": 1, "until_ms": 15_000, **FOUND[name]})
    require_same_run(scenario)


def test_a_history_says_that_a_member_asks_for_offsets_until_a_transaction_ends() -> None:
    hangs = {"kind": "hanging_transaction", "from_ms": 100, "until_ms": 9000}
    scenario = scenario_from_document(
        {
            "version": 1,
            "until_ms": 10_000,
            "topics": {"t": 1},
            "members": [{"name": "c0", "topics": ["t"]}],
            "faults": [hangs],
            "processing": RECORDS,
        }
    )
    assert any(line.endswith("asks for committed offsets once more") for line in history(scenario))

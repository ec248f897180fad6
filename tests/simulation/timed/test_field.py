"""Results that were wrong for groups as people have them, each with its smallest scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assignors.ownership.intervals import ownerships
from assignors.replay.decode.logged_records import logged_records
from assignors.replay.engines.python import replay_records
from assignors.replay.sources import open_source
from assignors.replay.sources.writing import write_records
from assignors.simulation.serving import raws_of
from assignors.simulation.timed.offsets_topic import log_entries
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario_document import scenario_from_document
from assignors.simulation.timed.simulation import Played, simulate

SECOND = 1000
START_MS = 1_767_225_600_000


def played(**document: Any) -> Played:
    scenario = scenario_from_document({"version": 1, **document})
    return simulate(scenario, keeps_history=True)


@pytest.mark.parametrize("protocol", ["classic", "consumer", "push"])
def test_a_process_that_ended_by_itself_starts_again_under_every_protocol(protocol: str) -> None:
    # PostHog/posthog#65809: a supervisor restarts a member that the group has no room for.
    late = {"name": "b", "topics": ["t"], "starts_at_ms": 10 * SECOND, "restarts_after_ms": 5000}
    result = played(
        until_ms=60 * SECOND,
        protocol=protocol,
        topics={"t": 2},
        broker={"max_size": 1},
        members=[{"name": "a", "topics": ["t"]}, late],
    ).result
    assert result.fatal_errors == {"GROUP_MAX_SIZE_REACHED": 10}


def test_a_member_that_the_plan_has_started_meanwhile_is_not_started_again() -> None:
    late = {"name": "b", "topics": ["t"], "starts_at_ms": 10 * SECOND, "restarts_after_ms": 20_000}
    result = played(
        until_ms=60 * SECOND,
        protocol="consumer",
        topics={"t": 2},
        broker={"max_size": 1},
        members=[{"name": "a", "topics": ["t"]}, late],
        plan=[
            {"at_ms": 20 * SECOND, "do": "crash", "member": "a"},
            {"at_ms": 25 * SECOND, "do": "start", "member": "b"},
        ],
    ).result
    # Refused at 10 and 25 s, as the session of the other one lasts; then at 45 s.
    assert result.members_failed == 3


def test_times_in_records_are_those_of_the_log(tmp_path: Path) -> None:
    # `currentStateTimestamp` was written in milliseconds since the run began: pauses of 56 years.
    run = played(
        until_ms=60 * SECOND,
        topics={"t": 2},
        members=[
            {
                "name": "c",
                "count": 2,
                "topics": ["t"],
                "assignors": ["java/range"],
                "auto_commit_ms": 5 * SECOND,
            }
        ],
        processing={"records_per_second": 1},
        plan=[{"at_ms": 30 * SECOND, "do": "stop", "member": "c1"}],
    )
    path = tmp_path / "log.jsonl"
    write_records(path, map(raws_of, log_entries(run.records, group="g", starts_at_ms=START_MS)))
    tables = replay_records(logged_records(open_source(path)))
    assert [row.pause_ms for row in tables.generations] == [None, 1, 0]
    assert all(START_MS <= row.at_ms <= START_MS + 60 * SECOND for row in tables.offsets)


def test_the_generation_of_a_deleted_group_begins_again_and_counts_for_itself() -> None:
    # tulios/kafkajs#1277: its offsets have expired before the member comes back.
    result = played(
        until_ms=700 * SECOND,
        count_from_ms=60 * SECOND,
        topics={"t": 1},
        members=[{"name": "c", "topics": ["t"], "commits_on_revoke": False}],
        processing={"records_per_second": 1},
        plan=[
            {"at_ms": 20 * SECOND, "do": "stop", "member": "c"},
            {"at_ms": 25 * SECOND, "do": "start", "member": "c"},
            {"at_ms": 70 * SECOND, "do": "stop", "member": "c"},
            {"at_ms": 650 * SECOND, "do": "start", "member": "c"},
        ],
    ).result
    assert result.rounds == 2


def test_a_fault_that_ends_later_belongs_to_the_way_to_rest() -> None:
    # fasten-project/fasten#183: a member is back at 110 s, and the other one polls at 400 s.
    result = played(
        until_ms=900 * SECOND,
        count_from_ms=60 * SECOND,
        topics={"t": 4},
        members=[
            {
                "name": "c",
                "count": 2,
                "topics": ["t"],
                "assignors": ["java/range"],
                "rebalance_timeout_ms": 600 * SECOND,
            }
        ],
        plan=[
            {"at_ms": 100 * SECOND, "do": "crash", "member": "c0"},
            {"at_ms": 110 * SECOND, "do": "start", "member": "c0"},
        ],
        faults=[
            {
                "kind": "long_poll",
                "member": "c1",
                "from_ms": 90 * SECOND,
                "until_ms": 400 * SECOND,
            }
        ],
    ).result
    assert result.convergence_ms == pytest.approx(290 * SECOND, abs=SECOND / 2)


@pytest.mark.parametrize(
    ("client", "is_read"),
    [("java-2.8.1", False), ("java-3.1.2", False), ("java-4.4.0", True), (None, True)],
)
def test_a_static_leader_of_an_old_client_comes_back_and_does_not_know_that_it_leads(
    client: str | None, *, is_read: bool
) -> None:
    # KAFKA-13435: its JoinGroup is older than version 9, so the coordinator names as the leader
    # the id that it had before. Nobody looks for new partitions then.
    run = played(
        until_ms=600 * SECOND,
        topics={"foo": 3},
        members=[
            {
                "name": "s",
                "count": 3,
                "topics": ["foo"],
                "assignors": ["java/range"],
                "instance_id": "inst-",
                "session_timeout_ms": 60 * SECOND,
                "metadata_age_ms": 30 * SECOND,
                **({} if client is None else {"client": client}),
            }
        ],
        plan=[
            {"at_ms": 100 * SECOND, "do": "stop", "member": "s1"},
            {"at_ms": 115 * SECOND, "do": "start", "member": "s1"},
            {"at_ms": 150 * SECOND, "do": "grow", "topic": "foo", "partitions": 6},
        ],
    )
    new = [each for each in ownerships(run.changes) if each.partition >= 3]
    assert run.result.unowned == (0 if is_read else 3)
    assert len(new) == (3 if is_read else 0)
    assert all(each.start <= 180 * SECOND * MILLISECOND for each in new)

"""Verbs of a plan: one entry that becomes the actions a script would have written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from assignors.documents.values import DocumentError
from assignors.simulation.timed.scenario import RollingRestart, Scenario
from assignors.simulation.timed.scenario_document import scenario_from_document


def read(*plan: dict[str, Any], **more: Any) -> Scenario:
    members = more.pop("members", [{"name": "c", "count": 3, "topics": ["t"]}])
    return scenario_from_document(
        {"version": 1, "until_ms": 1000, "topics": {"t": 6}, "members": members, "plan": [*plan]}
        | more
    )


def told(scenario: Scenario) -> list[tuple[int, str, str | None]]:
    return [(each.at_ms, each.do.value, each.member) for each in scenario.plan]


def test_a_rolling_restart_stops_and_starts_every_member_in_turn() -> None:
    scenario = read({"at_ms": 100, "do": "rolling_restart", "away_ms": 7, "every_ms": 20})
    assert told(scenario) == [
        (100, "stop", "c0"),
        (107, "start", "c0"),
        (120, "stop", "c1"),
        (127, "start", "c1"),
        (140, "stop", "c2"),
        (147, "start", "c2"),
    ]


def test_a_rolling_restart_can_be_an_upgrade_of_some_members() -> None:
    settings = {"away_ms": 7, "every_ms": 20, "members": ["c2", "c0"], "protocol": "consumer"}
    scenario = read({"at_ms": 0, "do": "rolling_restart", **settings})
    assert [each.member for each in scenario.plan] == ["c2", "c2", "c0", "c0"]
    assert [each.protocol for each in scenario.plan[:2]] == [None, "consumer"]


def test_a_rolling_restart_leaves_out_members_that_only_the_plan_starts() -> None:
    late = {"name": "late", "topics": ["t"], "starts_at_ms": None}
    members = [{"name": "c", "topics": ["t"]}, late]
    scenario = read(
        {"at_ms": 0, "do": "rolling_restart", "away_ms": 1, "every_ms": 2}, members=members
    )
    assert {each.member for each in scenario.plan} == {"c"}


def test_a_crash_loop_crashes_one_member_several_times() -> None:
    loop = {"member": "c1", "away_ms": 5, "every_ms": 50, "times": 2}
    scenario = read({"at_ms": 100, "do": "crash_loop", **loop})
    assert told(scenario) == [
        (100, "crash", "c1"),
        (105, "start", "c1"),
        (150, "crash", "c1"),
        (155, "start", "c1"),
    ]


def test_a_scale_out_adds_members_whose_names_are_numbered_on() -> None:
    members = [{"name": "c", "count": 2, "topics": ["t"], "instance_id": "i-c", "poll_ms": 9}]
    scenario = read({"at_ms": 10, "do": "scale_out", "count": 2, "every_ms": 5}, members=members)
    assert [(each.name, each.instance_id) for each in scenario.members[2:]] == [
        ("c2", "i-c2"),
        ("c3", "i-c3"),
    ]
    assert {(each.starts_at_ms, each.poll_ms) for each in scenario.members[2:]} == {(None, 9)}
    assert told(scenario) == [(10, "start", "c2"), (15, "start", "c3")]


def test_members_with_a_count_can_be_numbered_from_any_number_and_start_in_turn() -> None:
    entry = {"name": "c", "count": 2, "topics": ["t"], "numbered_from": 5, "starts_every_ms": 30}
    scenario = read(members=[entry])
    assert [(each.name, each.starts_at_ms) for each in scenario.members] == [("c5", 0), ("c6", 30)]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"at_ms": 0, "do": "rolling_restart", "away": 1},
            "'away' is no key here; did you mean 'away_ms'? at plan[0]",
        ),
        (
            {"at_ms": 0, "do": "rolling_restart", "away_ms": 1},
            "'every_ms' is missing at plan[0]",
        ),
        (
            {"do": "rolling_restart", "away_ms": 1, "every_ms": 1},
            "'at_ms' is missing at plan[0]",
        ),
        (
            {"at_ms": 0, "do": "rolling_restrat", "away_ms": 1, "every_ms": 1},
            (
                "'rolling_restrat' is none of start, stop, crash, subscribe, delete, pause, resume,"
                " create, grow, rolling_restart, crash_loop, scale_out; did you mean"
                " 'rolling_restart'? at plan[0].do"
            ),
        ),
        (
            {
                "at_ms": 0,
                "do": "crash_loop",
                "member": "d0",
                "away_ms": 1,
                "every_ms": 1,
                "times": 1,
            },
            "there is no member 'd0'; known: c0, c1, c2 at plan[0].member",
        ),
        (
            {"at_ms": 0, "do": "scale_out", "count": 100_000, "every_ms": 1},
            "more than 100000 members at plan[0].count",
        ),
        (
            {"at_ms": 0, "do": "scale_out", "count": 1, "every_ms": 1, "like": "d"},
            "there is no member 'd'; known: c0, c1, c2 at plan[0].like",
        ),
    ],
)
def test_what_a_verb_cannot_mean_is_refused_with_its_place(
    entry: dict[str, Any], message: str
) -> None:
    with pytest.raises(DocumentError) as error:
        read(entry)
    assert str(error.value) == message


def test_numbers_of_one_member_are_refused() -> None:
    with pytest.raises(DocumentError, match=r"need a count at members\[0\]"):
        read(members=[{"name": "c", "topics": ["t"], "numbered_from": 1}])


def test_an_error_has_the_place_in_the_document_not_that_of_the_action_or_member_it_becomes() -> (
    None
):
    restart = {"at_ms": 0, "do": "rolling_restart", "away_ms": 1, "every_ms": 2}
    with pytest.raises(DocumentError) as error:
        read(restart, {"at_ms": 0, "do": "stop", "member": "d"})
    assert error.value.path == "plan[1].member"
    members = [
        {"name": "c", "count": 3, "topics": ["t"]},
        {"name": "d", "count": 2, "topics": ["t"], "session_timeout_ms": 5},
    ]
    with pytest.raises(DocumentError) as error:
        read(members=members)
    assert error.value.path == "members[1].session_timeout_ms"


def test_python_has_the_same_entries() -> None:
    scenario = read()
    restart = RollingRestart(at_ms=100, away_ms=7, every_ms=20)
    written = replace(scenario, plan=cast("Any", (restart,)))
    assert written == read({"at_ms": 100, "do": "rolling_restart", "away_ms": 7, "every_ms": 20})

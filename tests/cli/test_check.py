from __future__ import annotations

import json

from tests.cli.running import GROUP, answer, answers


def line(**more: object) -> str:
    return json.dumps({**GROUP, **more}) + "\n"


def test_a_report_reads_as_documented() -> None:
    twice = {"a": {"t": [0, 1, 2]}, "b": {"t": [2, 3]}}
    document = answer("check", given=line(assignment=twice))
    gaps = document.pop("gaps")
    assert document == {
        "schema": 2,
        "violations": [
            {"rule": "assigned-twice", "topic": "t", "partition": 2, "members": ["a", "b"]}
        ],
        "error": None,
        "error_kind": None,
    }
    assert "balance_gap" in gaps


def test_the_exit_code_is_the_worst_that_was_found() -> None:
    good = line(assignment={"a": {"t": [0, 1]}, "b": {"t": [2, 3]}})
    bad = line(assignment={"a": {"t": [0, 1]}, "b": {}})
    assert answers("check", given=good)[1] == 0
    assert answers("check", given=bad + good)[1] == 1
    assert answers("check", given=bad + "nonsense\n" + good)[1] == 2


def test_the_same_assignment_is_right_for_eager_members_and_too_early_for_cooperative_ones() -> (
    None
):
    assignment = {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    eager = answer("check", given=line(assignment=assignment))
    assert eager["violations"] == []
    early = answer("check", given=line(assignment=assignment, protocol="cooperative"))
    assert [found["rule"] for found in early["violations"]] == ["given-too-early"] * 2


def test_withheld_partitions_are_not_missing() -> None:
    waiting = line(
        assignment={"a": {"t": [0, 1]}, "b": {}}, withheld={"t": [2, 3]}, protocol="cooperative"
    )
    document = answer("check", given=waiting)
    assert (document["violations"], document["gaps"]["follow_up"]) == ([], False)


def test_nonsense_is_judged_not_refused() -> None:
    nonsense = {"nobody": {"t": [-5, 99, 99], "phantom": [0]}}
    (document,), code = answers("check", given=line(assignment=nonsense))
    assert document["error"] is None
    assert code == 1
    rules = {found["rule"] for found in document["violations"]}
    assert rules >= {"missing-entry", "unknown-member", "unknown-topic", "unassigned"}

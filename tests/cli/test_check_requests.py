"""`assign | check`: an answer and its group, in one document or in two files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.registry import ASSIGNORS
from tests.cli.running import GROUP, answers
from tests.cli.test_given_groups import GROUPS, MEMBERS

THREE = [{**GROUP, "id": n, "topics": {"t": n}} for n in (4, 6, 8)]


def lines(documents: list[dict[str, Any]]) -> str:
    """Return documents as lines."""
    return "".join(json.dumps(document) + "\n" for document in documents)


def file_of(folder: Path, name: str, documents: list[dict[str, Any]]) -> str:
    """Write documents as lines and return the file's path."""
    path = folder / name
    path.write_text(lines(documents), "utf-8")
    return str(path)


@pytest.mark.parametrize("name", ASSIGNORS)
def test_what_an_assignor_answers_is_checked_by_its_own_rules(name: str, tmp_path: Path) -> None:
    groups = file_of(tmp_path, "groups.jsonl", THREE)
    kept, _ = answers("assign", "--assignor", name, "--with-group", groups)
    piped, code = answers("check", given=lines(kept))
    assert (code, [document["id"] for document in piped]) == (0, [4, 6, 8])
    bare, _ = answers("assign", "--assignor", name, groups)
    assert "members" not in bare[0]
    joined, code = answers("check", groups, "-", given=lines(bare))
    assert code == 0
    assert joined == piped


def test_a_cooperative_answer_is_judged_as_one() -> None:
    """Given to `check` as it was, an answer that hands over too early passed as an eager one."""
    (answer,), _ = answers(
        "assign", "--assignor", "cooperative-sticky", "--with-group", given=json.dumps(GROUP)
    )
    assert (answer["assignor"], answer["protocol"]) == ("optimal/cooperative-sticky", "cooperative")
    early = {**answer, "withheld": {}, "assignment": {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}}
    (judged,), code = answers("check", given=json.dumps(early))
    assert code == 1
    assert {found["rule"] for found in judged["violations"]} == {"given-too-early"}


def test_described_groups_are_joined_too(tmp_path: Path) -> None:
    assign = ("assign", "--assignor", "range", MEMBERS)
    kept, _ = answers(*assign, "--with-group")
    piped, code = answers("check", given=lines(kept))
    assert (code, [document["id"] for document in piped]) == (0, GROUPS)
    bare, _ = answers(*assign)
    joined, code = answers("check", MEMBERS, "-", given=lines(bare))
    assert code == 0
    assert [(one["id"], one["gaps"]) for one in joined] == [
        (one["id"], one["gaps"]) for one in piped
    ]
    assert joined[0]["gaps"]["moved"] == 6
    shop, _ = answers(*assign, "--group", "shop")
    (one,), _ = answers("check", MEMBERS, file_of(tmp_path, "a.jsonl", shop), "--group", "shop")
    assert one["gaps"]["moved"] == 8


def test_explain_and_simulate_read_an_answer_with_its_group() -> None:
    assign = ("assign", "--assignor", "java/sticky")
    (answer,), _ = answers(*assign, "--with-group", given=lines([GROUP]))
    (reason,), code = answers("explain", "--partition", "t:3", given=json.dumps(answer))
    assert (code, reason["given"]) == (0, None)
    again, code = answers(*assign, given=json.dumps(answer))
    assert (code, again[0]["assignment"]) == (0, answer["assignment"])
    played, code = answers("what-if", "-", "join:1", given=json.dumps(answer))
    assert (code, played[0]["error"]) == (0, None)


def test_an_answer_takes_the_place_of_an_assignment_beside_the_group(tmp_path: Path) -> None:
    whole = {**GROUP, "protocol": "cooperative", "assignment": {"a": {"t": [0, 1, 2, 3]}, "b": {}}}
    groups = file_of(tmp_path, "groups.jsonl", [whole, whole])
    early = json.dumps({"assignment": {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}})
    (judged, missing), code = answers("check", groups, "-", given=early + '\n{"withheld": {}}\n')
    assert code == 2
    assert missing["error"]["text"] == "'assignment' is missing"
    assert [found["rule"] for found in judged["violations"]] == ["given-too-early"] * 2


def test_two_files_of_whole_requests_are_read_one_after_the_other(tmp_path: Path) -> None:
    whole = {**GROUP, "assignment": {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}}
    first, second = (file_of(tmp_path, f"{n}.jsonl", [whole] * n) for n in (1, 2))
    documents, code = answers("check", first, second)
    assert (code, len(documents)) == (0, 3)
    documents, code = answers("check", MEMBERS, first)
    assert (code, len(documents)) == (0, 6)
    documents, code = answers("check", first, "-", given="")
    assert (code, len(documents)) == (0, 1)


def test_an_answer_without_its_group_says_how_to_keep_it() -> None:
    bare, _ = answers("assign", "--assignor", "range", given=lines([GROUP]))
    (refused,), code = answers("check", given=lines(bare))
    assert (code, refused["error"]["kind"]) == (2, "missing")
    assert "--with-group" in refused["error"]["text"]
    (failed,), _ = answers(
        "assign", "--assignor", "java/sticky", given='{"topics": {"t": 1}, "members": []}'
    )
    (refused,), code = answers("check", given=json.dumps(failed))
    assert code == 2
    assert refused["error"]["text"].startswith("the answer is an error: Java fails: ")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda given: given[:2], "no answer is left for this group"),
        (lambda given: [*given, given[0]], "no group is left for this answer"),
        (lambda given: [given[1], given[0], given[2]], "it is about 6, not 4"),
        (lambda given: [*given[:2], {**given[2], "assignment": {"a": 5}}], "assignment.a"),
        (lambda given: [*given[:2], {**given[2], "assinment": {}}], "'assinment' is no key here"),
        (lambda given: [*given[:2], {**given[2], "error": {"text": "no"}}], "is an error: no"),
        (lambda given: [*given[:2], {"assignment": None}], "'assignment' is missing"),
        (lambda given: [*given[:2], {"withheld": {}}], "'assignment' is missing"),
        (lambda given: [*given[:2], "x"], "in the answer, line 3 of -: expected an object"),
    ],
)
def test_what_does_not_fit_together_is_an_error_and_the_others_are_checked(
    change: Any, words: str, tmp_path: Path
) -> None:
    groups = file_of(tmp_path, "groups.jsonl", THREE)
    bare, _ = answers("assign", "--assignor", "sticky", groups)
    documents, code = answers("check", groups, "-", given=lines(change(bare)))
    assert code == 2
    errors = [
        one["error"]["text"] + one["error"].get("path", "") for one in documents if one["error"]
    ]
    assert 1 <= len(errors) <= 2
    assert words in errors[0]
    assert any(one["violations"] == [] for one in documents)


def test_with_group_has_no_effect_on_a_comparison() -> None:
    arguments = ["assign", "--compare", "range,sticky", "--with-group", MEMBERS]
    refused = CliRunner().invoke(command, arguments)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--with-group is for --assignor" in refused.stderr

"""`assign --with-group | check`: an answer with its group in one document."""

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


def test_an_answer_to_a_described_group_is_checked() -> None:
    assign = ("assign", "--assignor", "range", MEMBERS)
    kept, _ = answers(*assign, "--with-group")
    piped, code = answers("check", given=lines(kept))
    assert (code, [document["id"] for document in piped]) == (0, GROUPS)


def test_explain_and_what_if_read_an_answer_with_its_group() -> None:
    assign = ("assign", "--assignor", "java/sticky")
    (answer,), _ = answers(*assign, "--with-group", given=lines([GROUP]))
    (reason,), code = answers("explain", "--partition", "t:3", given=json.dumps(answer))
    assert (code, reason["given"]) == (0, None)
    again, code = answers(*assign, given=json.dumps(answer))
    assert (code, again[0]["assignment"]) == (0, answer["assignment"])
    played, code = answers("what-if", "-", "join:1", given=json.dumps(answer))
    assert (code, played[0]["error"]) == (0, None)


def test_an_answer_without_its_group_says_how_to_keep_it() -> None:
    bare, _ = answers("assign", "--assignor", "range", given=lines([GROUP]))
    (refused,), code = answers("check", given=lines(bare))
    assert (code, refused["error_kind"]) == (2, "missing")
    assert "--with-group" in refused["error"]
    (failed,), _ = answers(
        "assign", "--assignor", "java/sticky", given='{"topics": {"t": 1}, "members": []}'
    )
    (refused,), code = answers("check", given=json.dumps(failed))
    assert code == 2
    assert refused["error"].startswith("the answer is an error: Java fails: ")


def test_with_group_has_no_effect_on_a_comparison() -> None:
    arguments = ["assign", "--compare", "range,sticky", "--with-group", MEMBERS]
    refused = CliRunner().invoke(command, arguments)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--with-group is for --assignor" in refused.stderr

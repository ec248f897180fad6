"""Groups out of `kafka-consumer-groups.sh` in place of JSON lines, through the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from tests.cli.running import GROUP, ROOT, answers

OUTPUTS = ROOT / "tests" / "described" / "outputs"
MEMBERS = str(OUTPUTS / "4.3.0-members-verbose.txt")
OFFSETS = str(OUTPUTS / "4.3.0-offsets.txt")
GROUPS = ["billing", "gone", "moving", "night jobs", "shop"]


def only(documents: list[dict[str, Any]], group: str) -> dict[str, Any]:
    """Return the answer about one group."""
    (found,) = [document for document in documents if document.get("id") == group]
    return found


def test_what_the_tool_prints_is_assigned_group_by_group() -> None:
    documents, code = answers("assign", "--assignor", "sticky", MEMBERS)
    assert (code, [document["id"] for document in documents]) == (0, GROUPS)
    assert all(document["stats"]["moved"] == 0 for document in documents)
    codes = [note["code"] for note in only(documents, "shop")["notes"]]
    assert codes[:2] == ["subscriptions-assumed", "partition-counts-assumed"]
    assert all(note["member"] is None for note in only(documents, "shop")["notes"])
    piped, _ = answers("assign", "--assignor", "sticky", given=Path(MEMBERS).read_bytes())
    assert piped == documents


def test_what_the_tool_prints_is_checked_compared_and_explained() -> None:
    checked, code = answers("check", MEMBERS)
    assert (code, [document["id"] for document in checked]) == (0, GROUPS)
    assert not any(document["violations"] for document in checked)
    assert only(checked, "moving")["gaps"]["load_max"] == 5
    compared, _ = answers("assign", "--compare", "range,sticky", MEMBERS)
    assert [document["id"] for document in compared] == GROUPS
    explained, _ = answers("explain", "--partition", "payments:2", MEMBERS)
    assert only(explained, "shop")["verdict"] == "stays"
    assert "no topic 'payments'" in only(explained, "billing")["error"]
    assert only(explained, "shop")["notes"]


def test_a_partition_that_nobody_has_is_found_once_the_count_is_known() -> None:
    """The tool prints what is assigned: partitions that were added since are nowhere in it."""
    found, code = answers("check", "--topic", "orders:7", MEMBERS)
    assert code == 1
    assert only(found, "shop")["violations"] == [
        {"rule": "unassigned", "topic": "orders", "partition": 6, "members": []}
    ]
    assert only(found, "night jobs")["violations"] == []


def test_subscriptions_are_assumed_as_asked() -> None:
    alike, _ = answers("assign", "--assignor", "range", MEMBERS)
    own, _ = answers("assign", "--assignor", "range", "--assume-subscriptions", "assigned", MEMBERS)
    first = "kTLla9K9R5qZ2O8dqthKHg"
    assert set(only(alike, "billing")["assignment"][first]) == {"audit.log", "orders"}
    assert set(only(own, "billing")["assignment"][first]) == {"orders"}


def test_a_bad_line_of_one_group_leaves_the_others(tmp_path: Path) -> None:
    text = Path(MEMBERS).read_text("utf-8").replace("orders:2,5;payments:1", "orders:2,5")
    file = tmp_path / "groups.txt"
    file.write_text(text, "utf-8")
    documents, code = answers("assign", "--assignor", "sticky", str(file))
    assert code == 2
    found = only(documents, "shop")
    assert found["error_kind"] == "bad-text"
    assert "line " in found["error"]
    assert [document["error"] for document in documents[:4]] == [None] * 4


def test_files_of_both_kinds_follow_one_another(tmp_path: Path) -> None:
    file = tmp_path / "group.jsonl"
    file.write_text(json.dumps(GROUP) + "\nx\n", "utf-8")
    documents, code = answers("assign", "--assignor", "sticky", str(file), OFFSETS, str(file))
    assert code == 2
    assert [document.get("id") for document in documents] == [None, None, *GROUPS, None, None]
    assert documents[0]["assignment"] == documents[7]["assignment"]


def test_a_count_is_for_json_lines_too() -> None:
    assign, line = ("assign", "--assignor", "sticky", "--topic"), json.dumps(GROUP)
    (grown,), _ = answers(*assign, "t:6", given=line)
    assert sum(len(owned.get("t", ())) for owned in grown["assignment"].values()) == 6
    (wrong,), code = answers(*assign, "tt:6", given=line)
    assert (code, wrong["error_kind"]) == (2, "unknown")
    racks = {**GROUP, "topics": {"t": {"partitions": 1, "racks": [["r"]]}}}
    (uneven,), _ = answers(*assign, "t:2", given=json.dumps(racks))
    assert uneven["error_at"]["path"] == "topics.t.racks"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--topic", "order:8"), "no group has 'order'; did you mean 'orders'?"),
        (("--topic", "orders:8", "--topic", "orders:9"), "orders has two counts, 8 and 9"),
        (("--topic", "orders"), "not topic:count"),
        (("--topic", "orders:-1"), "not topic:count"),
        (("--topic", "orders:99999999999"), "not topic:count"),
    ],
)
def test_a_count_that_cannot_be_meant_is_refused(arguments: tuple[str, ...], words: str) -> None:
    result = CliRunner().invoke(command, ["assign", "--assignor", "range", *arguments, MEMBERS])
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_that_there_were_no_groups_is_said(tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.touch()
    for arguments, where in (([], "standard input"), ([str(empty)], str(empty))):
        result = CliRunner().invoke(command, ["check", *arguments], input="")
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == f"note: {where} is empty: no groups\n"


def test_a_count_below_what_the_tool_prints_is_said_as_what_it_is() -> None:
    asked = ("assign", "--assignor", "range", "--group", "shop", "--topic", "orders:1", MEMBERS)
    (wrong,), code = answers(*asked)
    assert (code, wrong["error_at"]["path"]) == (2, "topics.orders")
    assert wrong["error"].startswith("1 partitions given, and the text has partition ")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_what_powershell_has_saved_is_named(encoding: str) -> None:
    for text in (json.dumps(GROUP), Path(MEMBERS).read_text()):
        given = f"\ufeff{text}".encode(encoding)
        documents, code = answers("assign", "--assignor", "range", given=given)
        assert (code, documents[0]["error_kind"]) == (2, "bad-utf8")
        assert "this is UTF-16" in documents[0]["error"]


def test_tables_name_the_group_and_print_what_was_assumed() -> None:
    for arguments in (["check"], ["assign", "--assignor", "range"]):
        result = CliRunner().invoke(command, [*arguments, "-o", "table", MEMBERS])
        assert "group night jobs" in result.stdout
        assert "note: the tool prints no subscriptions" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("assign", "--assignor", "range"),
        ("check",),
        ("explain", "--partition", "orders:1"),
    ],
)
def test_the_sample_is_read_in_place_of_a_file(arguments: tuple[str, ...]) -> None:
    file = str(ROOT / "assignors" / "documents" / "sample" / "shop.txt")
    sampled, of_file = answers(*arguments, "--sample"), answers(*arguments, file)
    for document in (*sampled[0], *of_file[0]):
        document.pop("cpu_ms", None)
    assert sampled == of_file
    assert sampled[1] == 0
    refused = CliRunner().invoke(command, [*arguments, "--sample", file])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--sample takes the place of FILE" in refused.stderr

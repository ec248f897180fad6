"""Files that are neither JSON nor a known table: one error a file, which says what they are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assignors.cli.inputs.given_groups import MISTAKES_MAX
from tests.cli.running import GROUP, ROOT, answers, called

LOG = (ROOT / "tests" / "replay" / "data" / "pasted" / "broker.log").read_bytes()
DUMP = (ROOT / "tests" / "replay" / "data" / "pasted" / "dump-log.txt").read_bytes()
KUBECTL = b"If you don't see a command prompt, try pressing enter.\n"
PODS = b"NAME    READY   STATUS    RESTARTS   AGE\nkafka-0   1/1   Running   0   4d\n" * 2
DOCUMENT = {**GROUP, "assignment": {"a": {"t": [0, 1, 2, 3]}, "b": {}}}
LINE = json.dumps(DOCUMENT).encode()

COMMANDS = (
    ("check",),
    ("assign", "--assignor", "range"),
    ("explain", "--partition", "t:0"),
    ("what-if",),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (LOG, "text of a log4j file"),
        (DUMP, "output of kafka-dump-log"),
        (PODS, "another table"),
        (b"| GROUP | CONSUMER-ID | HOST |\n|---|---|---|\n| shop | a | /1 |\n", "another table"),
        (b"GROUP,CONSUMER-ID,HOST\nshop,a,/1\n", "another table"),
        (b"> GROUP  CONSUMER-ID  HOST\n> shop  a  /1\n", "another table"),
        (
            b"Error: Executing consumer group command failed\n\tat a.B(B.java:1)\n",
            "a failure's text",
        ),
        (b"java.util.concurrent.ExecutionException: timed out\n", "a failure's text"),
        (gzip.compress(LOG), "compressed with gzip: gunzip it"),
        (b"broker.id=0\nlog.dirs=/data\n", "a file of settings"),
        (b"\x00" * 8 + b"\x00\x00\x01\x2c\x00\x00\x00\x00\x02" + b"\n\x01" * 90, "a segment file"),
        (b"\x7fELF" + bytes(20) + b"\n{\n", "not text"),
        (b"some words\n" * (MISTAKES_MAX + 1), "text and no JSON"),
        (KUBECTL, "text and no JSON"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_text_of_another_kind_is_one_error_that_says_which_forms_are_read(
    words: tuple[str, ...], data: bytes, kind: str, tmp_path: Path
) -> None:
    file = tmp_path / "given"
    file.write_bytes(data)
    (document,), code = answers(*words, str(file))
    assert code == 2
    assert document["error_kind"] == "bad-text"
    text = document["error"]
    assert text.startswith(f"{file}: {kind}")
    assert "groups are read as JSON, and as kafka-consumer-groups --describe" in text
    (piped,), _ = answers(*words, *(["-"] if words[0] == "what-if" else []), given=data)
    assert piped["error"].startswith(f"standard input: {kind}")


def test_a_file_of_another_kind_among_others_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(LOG)
    (tmp_path / "good").write_bytes(LINE)
    found, _ = answers("check", *(str(tmp_path / name) for name in ("good", "log", "good")))
    assert [document["error"] is None for document in found] == [True, False, True]


def test_a_few_lines_may_be_mistakes_and_are_answered_one_by_one() -> None:
    found, _ = answers("check", given=b"oops\n" * MISTAKES_MAX)
    assert [document["error_at"]["line"] for document in found] == list(range(1, MISTAKES_MAX + 1))


def test_lines_of_a_terminal_around_json_are_skipped_and_those_before_are_noted() -> None:
    around = KUBECTL + LOG + LINE + b'\npod "kc" deleted\n' + LINE + b"\n" + LOG
    result = called("check", "-o", "jsonl", given=around)
    assert [json.loads(line)["error"] for line in result.stdout.splitlines()] == [None, None]
    assert b'note: standard input: 7 lines before the first group are not read: "If' in (
        result.stderr
    )
    found, _ = answers("check", given=KUBECTL + b"\n" + LINE)
    assert [document["error"] for document in found] == [None]
    result = called("check", "-o", "jsonl", given=LINE)
    assert b"note" not in result.stderr


@pytest.mark.parametrize("name", ["kubectl", "kminion", "rpk"])
@pytest.mark.parametrize("words", COMMANDS[:2], ids=lambda words: words[0])
def test_tables_as_people_paste_them_are_answered(name: str, words: tuple[str, ...]) -> None:
    file = ROOT / "tests" / "described" / "pasted" / f"{name}.txt"
    (document,), code = answers(*words, str(file))
    assert document["error"] is None
    assert code < 2


def test_the_note_of_replay_on_what_it_skips_goes_to_standard_error() -> None:
    file = ROOT / "tests" / "replay" / "data" / "pasted" / "kubectl-formatter.txt"
    for result in (
        called("replay", "-o", "jsonl", str(file)),
        called("replay", "-o", "jsonl", "-", given=file.read_bytes()),
    ):
        assert b"1 line before the first record is not read" in result.stderr
        row = json.loads(result.stdout.splitlines()[0])["row"]
        assert (row["group"], row["commit_count"]) == ("billing", 1)


def test_replay_of_standard_input_without_records_is_one_error() -> None:
    result = called("replay", "-", given=LOG)
    assert result.returncode == 2
    assert b"standard input: text of a log4j file, not a segment" in result.stderr
    assert result.stderr.count(b"\n") == 1


@pytest.mark.parametrize("kind", ["subscription", "offsets-record"])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (KUBECTL + b"GROUP TOPIC PARTITION CONSUMER-ID\ng t 0 -\ng t 1 -\n", "a table of groups"),
        (LOG, "text of a log4j file"),
        (DUMP, "output of kafka-dump-log"),
        (PODS, "another table"),
    ],
    ids=["table", "log", "dump", "pods"],
)
def test_decode_names_what_holds_no_bytes_once(data: bytes, words: str, kind: str) -> None:
    (document,), code = answers("decode", kind, given=data)
    assert code == 2
    assert document["error"].startswith(f"{words}, and no bytes; check and assign read")


def test_decode_reads_each_file_on_its_own(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(LOG)
    (tmp_path / "good").write_bytes(b"000000000000ffffffff\n")
    files = (str(tmp_path / name) for name in ("log", "good", "log", "good"))
    found, _ = answers("decode", "subscription", *files)
    assert [document["error"] is None for document in found] == [False, True, False, True]

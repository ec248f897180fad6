"""The command `replay` says the same on both engines, to the byte, and fails as well."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from assignors.replay.tables.rows import TABLES
from tests.spark import command_job
from tests.spark.conftest import SparkAnswers
from tests.spark.dumps import some_groups

Answer = tuple[int, str, str]

EVERY_TABLE = [argument for name in TABLES for argument in ("--table", name)]


def asked(
    folder: Path, asks: list[list[str]], engine: str, spark_answers: SparkAnswers
) -> list[Answer]:
    """What the command answers: exit code, standard output and error."""
    arguments = [["replay", *ask, "--engine", engine] for ask in asks]
    (folder / "asked.json").write_text(json.dumps(arguments))
    if engine == "spark":
        answers = spark_answers("command_job", "classic", folder)
    else:
        command_job.main(folder)
        answers = json.loads((folder / "answers.json").read_text())
    return [(code, out, error) for code, out, error in answers]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("java")
def test_both_engines_print_and_write_the_same_rows_under_the_same_labels(
    tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    dump = tmp_path / "dump.jsonl.gz"
    dump.write_bytes(gzip.compress(some_groups()))
    out = {engine: tmp_path / engine for engine in ("python", "spark")}
    (plain,), (spark,) = (
        asked(
            tmp_path,
            [[str(dump), "--redact", *EVERY_TABLE, "--what-if", "sticky", "--out", str(folder)]],
            engine,
            spark_answers,
        )
        for engine, folder in out.items()
    )
    assert spark[0] == plain[0] == 1
    assert spark[1].splitlines() == plain[1].splitlines()
    assert {json.loads(line)["table"] for line in spark[1].splitlines()} == {*TABLES}
    for name in TABLES:
        ours, theirs = (
            sorted(map(str, pq.read_table(folder / f"{name}.parquet").to_pylist()))
            for folder in out.values()
        )
        assert ours == theirs, name


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("java")
def test_what_cannot_be_read_is_the_same_one_line_on_both_engines(
    tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    foreign = json.dumps({"key": b64encode(b"order-17").decode(), "value": None}).encode()
    contents = {
        "empty.jsonl": b"",
        "wrong.jsonl": foreign,
        "notes.txt": b"x",
        "good.jsonl": some_groups(),
    }
    text = tmp_path / "text" / "base64.jsonl"
    text.parent.mkdir()
    twice = b64encode(b64encode(b"\0\2\0\1g")).decode()
    contents[str(text)] = json.dumps({"key": twice, "value": None}).encode()
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    names = ("empty.jsonl", "wrong.jsonl", "notes.txt", "none.jsonl", str(text))
    asks = [[str(tmp_path / name)] for name in names]
    asks += [[str(tmp_path)], [str(tmp_path / "good.jsonl"), "--group", "nobody"]]
    ours, theirs = (asked(tmp_path, asks, engine, spark_answers) for engine in ("python", "spark"))
    for (code, _, said), (code_, _, said_) in zip(ours, theirs, strict=True):
        assert code == code_ == 2
        # What is wrong with the first record is told in other words.
        assert said.partition("__consumer_offsets:")[0] == said_.partition("__consumer_offsets:")[0]
        assert said.count("\n") == 1
        assert said.partition("; ")[2] == said_.partition("; ")[2]

"""The tables as a whole: their schemas, their reasons, their Parquet, and what ties them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignors.arrow.schemas import schema_of
from assignors.registry import assignor_named
from assignors.replay.decode.logged_records import logged_records
from assignors.replay.engines.python import replay_records
from assignors.replay.sample import incident
from assignors.replay.settings import Settings
from assignors.replay.sources import Raw, open_source
from assignors.replay.tables.arrow import as_arrow, write_tables
from assignors.replay.tables.columns import ESTIMATED, NOT_RECORDED
from assignors.replay.tables.rows import TABLES, Row, Tables, table_of
from tests.replay.histories import DATA, captured


@pytest.fixture(scope="module")
def tables() -> Tables:
    settings = Settings(assignors=(assignor_named("optimal/cooperative-sticky"),))
    return replay_records(captured("real"), settings)


def test_every_column_that_is_always_null_has_its_reason(tables: Tables) -> None:
    """Of a column that is null in every row, the reason must be written down."""
    for name, table in TABLES.items():
        listed = getattr(tables, name)
        for field in fields(table):
            column = field.name
            is_null = all(getattr(row, column) is None for row in listed)
            assert "None" in str(field.type) or not is_null
            # Old versions have expiry, and these outcomes went well: nothing to explain.
            if is_null and column not in {"expire_ms", "error", "error_kind"}:
                assert (name, column) in NOT_RECORDED


@pytest.mark.parametrize("name", list(TABLES))
def test_one_table_alone_has_the_same_rows(name: str) -> None:
    """Findings are always there: they decide the exit code. Outcomes are those of assignors."""
    everything, alone = (
        replay_records(incident()),
        replay_records(incident(), Settings(tables={name})),
    )
    kept = {name, "findings"}
    assert {each for each in TABLES if getattr(alone, each)} <= kept
    assert all(getattr(alone, each) == getattr(everything, each) for each in kept)


def test_reasons_and_models_are_of_columns_that_exist() -> None:
    known = {(name, column.name) for name, table in TABLES.items() for column in fields(table)}
    assert {*NOT_RECORDED, *ESTIMATED} <= known
    assert not set(NOT_RECORDED) & set(ESTIMATED)


def test_columns_of_a_table_are_those_of_its_rows_one_by_one(tables: Tables) -> None:
    odd = replace(
        tables.members[0],
        member_id="\udcff",
        at_ms=1 << 70,
        topics=("\udcff", "t"),
        claimed={"\udcff": (), "t": (2, -1)},
        target=None,
    )
    for name, table in TABLES.items():
        rows = [*getattr(tables, name), *([odd] if name == "members" else [])]
        found = as_arrow(table, rows)
        found.validate(full=True)
        one_by_one = [plainly(row) for row in rows]
        assert found.equals(pa.Table.from_pylist(one_by_one, schema=schema_of(table)))


def plainly(row: Row) -> dict[str, Any]:
    """A row as Arrow takes it: partitions as structs, text that UTF-8 can encode, 64 bits."""

    def plain(value: Any) -> Any:
        if isinstance(value, str):
            return value.encode("utf-8", "replace").decode()
        if type(value) is int:
            return max(-(2**63), min(value, 2**63 - 1))
        if isinstance(value, tuple):
            return [plain(entry) for entry in value]
        if isinstance(value, Mapping):
            return [{"topic": plain(topic), "partitions": [*n]} for topic, n in value.items()]
        return value

    return {name: plain(getattr(row, name)) for name in schema_of(table_of(row)).names}


def test_the_tables_agree_with_each_other(tables: Tables) -> None:
    members = Counter((r.group, r.life, r.generation) for r in tables.members)
    for row in tables.generations:
        assert row.member_count == members[row.group, row.life, row.generation]
    generations = Counter((r.group, r.life) for r in tables.generations)
    findings = Counter((r.group, r.life) for r in tables.findings)
    for group in tables.groups:
        assert group.generation_count == generations[group.group, group.life]
        assert group.finding_count == findings[group.group, group.life]
    tombstones = sum(row.offset is None for row in tables.offsets)
    assert sum(group.tombstone_count for group in tables.groups) == tombstones > 0
    assert sum(group.commit_count for group in tables.groups) == len(tables.offsets) - tombstones
    joined = sum(len(row.joined) for row in tables.generations)
    assert joined == sum(row.is_new for row in tables.members)


def test_each_generation_ends_where_the_next_begins(tables: Tables) -> None:
    for one, after in pairwise(tables.generations):
        if (one.group, one.life) == (after.group, after.life):
            assert one.until_ms == after.at_ms
            assert one.generation < after.generation


def test_holders_of_commits_held_the_partition_then(tables: Tables) -> None:
    held: dict[tuple[str, str, int, str], list[tuple[int, int | None]]] = {}
    for row in tables.assignments:
        key = (row.group, row.topic, row.partition, row.member_id)
        held.setdefault(key, []).append((row.from_ms, row.to_ms))
    known = 0
    for commit in tables.offsets:
        if commit.holder_id is not None:
            key = (commit.group, commit.topic, commit.partition, commit.holder_id)
            assert any(
                start <= commit.at_ms and (end is None or commit.at_ms < end)
                for start, end in held[key]
            )
            known += 1
    assert known > 3000


def test_members_that_commit_under_their_own_name_are_found_as_holders(tables: Tables) -> None:
    """franz-go writes its member id into the metadata: the estimate is right nearly always."""
    named = [
        (row.metadata, row.holder_id)
        for row in tables.offsets
        if row.holder_id and row.metadata and "franz" in row.metadata and len(row.metadata) > 40
    ]
    right = sum(metadata == holder for metadata, holder in named)
    assert len(named) > 50
    assert right / len(named) > 0.97


def test_parquet_gives_back_what_was_written(tables: Tables, tmp_path: Path) -> None:
    paths = write_tables(tables, tmp_path / "deep" / "out")
    assert [path.stem for path in paths] == list(TABLES)
    for path in paths:
        table = TABLES[path.stem]
        read = pq.read_table(path)
        assert read.schema.equals(schema_of(table))
        assert read.to_pylist() == [plainly(row) for row in getattr(tables, path.stem)]


def test_empty_tables_have_their_columns() -> None:
    for table in TABLES.values():
        assert as_arrow(table, []).schema.names == [column.name for column in fields(table)]


def test_a_name_that_utf8_cannot_carry_is_replaced() -> None:
    row = replay_records(incident()).findings[0]
    odd = replace(row, group="g\ud800")
    assert as_arrow(type(row), [odd])["group"].to_pylist() == ["g?"]


def test_a_source_gives_the_tables_of_its_records() -> None:
    given = replay_records(logged_records(open_source(DATA / "real.jsonl.gz")))
    assert given == replay_records(captured("real"))


def test_what_a_source_could_not_read_is_a_finding_with_its_place() -> None:
    (entry,) = logged_records([Raw(error="x.log: byte 17: bad checksum")])
    (row,) = replay_records([*incident(), entry]).findings[:1]
    assert (row.group, row.kind) == ("", "unreadable")
    assert "x.log: byte 17: bad checksum" in row.evidence


def test_commits_of_labelled_transactions_say_whether_they_were_taken_back() -> None:
    raw = [r for r in open_source(DATA / "real.jsonl.gz") if (r.key or b"")[:2] == b"\x00\x01"][:3]
    fates = ("aborted", "committed", None)
    labelled = [
        Raw(
            key=r.key,
            value=r.value,
            partition=r.partition,
            offset=r.offset,
            timestamp_ms=r.timestamp_ms,
            transaction=fate,
        )
        for r, fate in zip(raw, fates, strict=True)
    ]
    tables = replay_records(logged_records(labelled))
    is_aborted = {row.record_offset: row.is_aborted for row in tables.offsets}
    assert [is_aborted[r.offset] for r in raw] == [True, False, None]
    # What was taken back is no commit of the group's.
    assert sum(row.commit_count + row.tombstone_count for row in tables.groups) == 2

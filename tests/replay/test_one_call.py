"""`replay(...)` in Python: the rows of the command, as Arrow, pandas and Polars."""

from __future__ import annotations

import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignors import assignor_named
from assignors.replay import replay
from assignors.replay.sample import incident, incident_file
from assignors.replay.sources import open_source
from assignors.replay.sources.arrow import batched, write_parquet
from assignors.replay.tables.rows import TABLES
from tests.cli.running import ROOT, answers
from tests.replay.histories import DATA

REAL = str(DATA / "real.jsonl.gz")

SINCE = datetime(2026, 11, 21, 0, 21, 10, tzinfo=UTC)

OPTIONS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "group": ({"group": "migrate"}, ("--group", "migrate")),
    "what_if": (
        {"group": "15-aio", "what_if": ["sticky", assignor_named("server/uniform")]},
        ("--group", "15-aio", "--what-if", "sticky", "--what-if", "server/uniform"),
    ),
    "every group": ({"min_severity": "note"}, ("--min-severity", "note")),
    "findings": (
        {"kinds": ["needless-moves", "client-layout"], "thresholds": {"needless_moves": 3}},
        ("--kind", "needless-moves", "--kind", "client-layout", "--threshold", "needless_moves=3"),
    ),
    "time": (
        {"group": "shop.[12]", "since": SINCE, "until": 1795220800000},
        ("--group", "shop.[12]", "--since", SINCE.isoformat(), "--until", "1795220800000"),
    ),
    "redact": ({"group": "15-aio", "redact": True}, ("--group", "15-aio", "--redact")),
}
"""Keywords, and the options of the command that mean the same."""


def printed(*options: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows that the command prints, by table."""
    shown = [word for name in TABLES for word in ("--table", name)]
    documents, code = answers("replay", REAL, *options, *shown)
    assert code in {0, 1}
    return {name: [each["row"] for each in documents if each["table"] == name] for name in TABLES}


def plain(value: Any) -> Any:
    """Return a value of any of the three libraries as JSON has it."""
    if isinstance(value, dict) and set(value) == {"topic", "partitions"}:
        return [value["topic"], plain(value["partitions"])]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | np.ndarray):
        return [plain(each) for each in value]
    return None if value is pd.NA or value != value else value  # noqa: PLR0124 - pandas' NaN


@pytest.mark.parametrize("name", list(OPTIONS))
def test_the_rows_are_those_of_the_command(name: str) -> None:
    keywords, options = OPTIONS[name]
    found, expected = replay(REAL, **keywords), printed(*options)
    for table in TABLES:
        made = getattr(found, table)
        assert plain(made.to_arrow().to_pylist()) == expected[table]
        assert plain(made.to_polars().to_dicts()) == expected[table]
        assert plain(made.to_pandas().to_dict("records")) == expected[table]
        assert len(made) == len(expected[table])
    assert sum(map(len, expected.values())) > 50


def test_partition_counts_are_a_mapping() -> None:
    inferred = replay(incident()).generations[5]
    known = replay(incident(), partitions={"ta": 50}).generations[5]
    assert known.unassigned - inferred.unassigned == 50 - 6


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample as Parquet."""
    path = tmp_path_factory.mktemp("dump") / "dump.parquet"
    write_parquet(batched(open_source(str(incident_file()))), path)
    return path


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars", "path"])
def test_a_table_in_memory_is_a_source(library: str, dump: Path) -> None:
    sources: dict[str, Any] = {
        "pyarrow": lambda: pq.read_table(dump),
        "pandas": lambda: pd.read_parquet(dump),
        "polars": lambda: pl.read_parquet(dump),
        "path": lambda: dump,
    }
    given, expected = replay(sources[library]()), replay(incident())
    for table in TABLES:
        assert list(getattr(given, table)) == list(getattr(expected, table))


def test_a_library_of_arrow_takes_a_table_as_it_is() -> None:
    found = replay(incident()).members
    assert pl.DataFrame(found).shape == pa.table(found).shape == found.to_pandas().shape
    assert pl.DataFrame(found).equals(found.to_polars())


def test_whole_numbers_stay_whole_where_some_are_null() -> None:
    """`to_ms` is null while a group lasts; floats would show epochs as 1.795221e+12."""
    frame = replay(incident()).groups.to_pandas()
    assert frame["to_ms"].isna().any()
    assert {str(frame[name].dtype) for name in ("from_ms", "to_ms", "moved")} == {"Int64"}


def test_a_table_without_rows_has_its_columns() -> None:
    outcomes = replay(incident()).outcomes
    assert len(outcomes) == outcomes.to_polars().height == len(outcomes.to_pandas()) == 0
    assert outcomes.to_arrow().schema.names == list(TABLES["outcomes"].__annotations__)


def test_a_notebook_shows_groups_and_findings(tmp_path: Path) -> None:
    found = replay(incident())
    assert repr(found).startswith("<replay of the records: groups 6, offsets 275,")
    html = found._repr_html_()
    assert found.groups[0].group in html
    assert found.findings[0].kind in html
    first_rows = found.members._repr_html_()
    assert "268 rows, the first 10 of them" in first_rows
    assert first_rows.count("<tr>") == 11

    found.write_report(tmp_path / "page.html")
    assert "<!doctype html>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    names = [path.stem for path in found.write_tables(tmp_path)]
    assert names == list(TABLES)
    assert pq.read_table(tmp_path / "members.parquet").equals(found.members.to_arrow())


def test_names_are_escaped_in_a_notebook() -> None:
    groups = replay(incident()).groups
    named = replace(groups, rows=[replace(groups[0], group="<script>", protocol="x" * 500)])
    html = named._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    assert "x" * 121 not in html


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no file": ("nowhere.log", {}, "nowhere.log: no such file or folder"),
    "nothing": (None, {}, "name a source, or a cluster: bootstrap"),
    "no source": (7, {}, "source: int is no path, no table and no records"),
    "other rows": ([1, 2], {}, "source: int is no record"),
    "no records": ([], {}, "the records: no records: is it empty?"),
    "no key": (pa.table({"value": [b""]}), {}, "the table: no column key among value"),
    "other bytes": (
        pa.table({"key": [b"?"], "value": [b""]}),
        {},
        "the table: no record is one of __consumer_offsets: [^;]*$",
    ),
    "base64": (
        pa.table({"key": [b64encode(b"\0\2\0\1g").decode()], "value": [None]}),
        {},
        "type 16705 is not known.*; the keys are base64 text: decode keys and values first$",
    ),
    "no group": (REAL, {"group": "nobody"}, "no group matches 'nobody'"),
    "no pattern": (REAL, {"group": "("}, r"group: '\(' is no regular expression: missing \)"),
    "no count": (REAL, {"partitions": {"orders": -1}}, "partition_count: -1 is negative"),
    "no kind": (REAL, {"kinds": "odd-byte"}, "no kind 'odd-byte'; did you mean 'odd-bytes'"),
    "no severity": (REAL, {"min_severity": "bad"}, "no severity 'bad'; known: critical, high"),
    "no time": (REAL, {"since": "yesterday"}, "since: 'yesterday' is no datetime and no epoch"),
    "no time zone": (REAL, {"since": datetime(2026, 11, 21)}, "since: .* has no time zone"),  # noqa: DTZ001 - refused
    "no threshold": (REAL, {"thresholds": {"storms": 3}}, "storms"),
    "no assignor": (REAL, {"what_if": "stiky"}, "stiky"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_cannot_be_replayed_is_refused_in_one_line(name: str) -> None:
    source, options, words = REFUSED[name]
    with pytest.raises(ValueError, match=words.replace("?", r"\?")) as caught:
        replay(source, **options)
    assert "\n" not in str(caught.value)


def test_a_damaged_value_costs_its_row_alone(dump: Path) -> None:
    """A partition beyond 32 bits in one row of a table: the others are read."""
    table = pq.read_table(dump)
    numbers = table["partition"].to_pylist()
    numbers[5] = 2**40
    place = table.schema.get_field_index("partition")
    found = replay(table.set_column(place, "partition", pa.array(numbers, pa.int64())))
    (row,) = (row for row in found.findings if row.kind == "unreadable")
    assert "the table: row 5: column partition" in row.evidence


def test_the_import_of_the_function_needs_no_arrow() -> None:
    """`import assignors.replay` is part of every command's start; pyarrow takes 0.1 s."""
    code = "import sys; from assignors.replay import replay; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT, text=True
    )
    tops = {name.partition(".")[0] for name in done.stdout.split()}
    assert tops.isdisjoint({"pyarrow", "pandas", "polars", "jinja2", "click"})

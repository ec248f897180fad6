"""The tables on Spark: the same rows as `engines.python.replay` gives, for topics of any size.

Nearly all records of the topic are commits, and nearly all that a group's history needs is in
the others. So the two go different ways. What is no commit is grouped by group id, and each
group is analysed by the functions of plain Python; of the commits only the first of each key
and topic id goes with them, which names topics and shows how many partitions there are. The
commits themselves are decoded in columns where they are, and joined (`commits`).

A worker holds the records of one group, commits aside; with hidden names also all names of one
kind. Nothing is collected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from assignors.arrow.schemas import schema_of
from assignors.replay.analysis.commits import sole_owners, spans
from assignors.replay.analysis.group_analysis import GroupAnalysis
from assignors.replay.engines.python import DEFAULT, Settings, analysis_and_outcomes, tables_of
from assignors.replay.engines.spark.commits import (
    LIVES,
    SOLE_OWNERS,
    offsets,
    with_commit_counts,
)
from assignors.replay.engines.spark.groups import histories_of
from assignors.replay.engines.spark.names import label_of, numbered_names
from assignors.replay.engines.spark.selection import history_records
from assignors.replay.history.timeline import NO_GROUP
from assignors.replay.sources import SourceError
from assignors.replay.tables.arrow import arrow_row
from assignors.replay.tables.rows import TABLES
from assignors.spark import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ANALYSED = tuple(name for name in TABLES if name != "offsets")
"""The tables whose rows follow from a group's history; the offsets are joined with it."""

ANALYSIS = pa.schema(
    [
        *((name, pa.struct(list(schema_of(TABLES[name])))) for name in ANALYSED),
        ("sole_owners", SOLE_OWNERS),
        ("lives", LIVES),
    ]
)
"""One column a table; of every row one is not null."""


def analysed_groups(
    frame: DataFrame,
    settings: Settings = DEFAULT,
    *,
    topic_names: Mapping[str, str] | None = None,
    hide_names: bool = False,
) -> DataFrame:
    """Return the analysis of every group, as `ANALYSIS` has it: the source of all tables.

    `frame` has raw records, at least `key`, `value`, `partition`, `offset` and `timestamp`;
    raises `SourceError` where one is missing. Persist the result to compute several tables of
    it. `topic_names` (id -> name) adds to what each group's own records contain;
    `names.topic_names` gives those of all records. `hide_names` numbers whatever `redact` hides,
    as `engines.python.replay` does, however the frame is partitioned. One shuffle, of what is no
    commit; with hidden names two, and two of the names.
    """
    needed = ("key", "value", "partition", "offset", "timestamp")
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise SourceError(f"no column {', '.join(missing)} among {', '.join(frame.columns)}")
    names = dict(topic_names or {})

    def analyse(records: pa.Table) -> pa.Table:
        return pa.Table.from_pylist(list(_analysis(records, settings, names)), schema=ANALYSIS)

    def analyse_hidden(records: pa.Table, numbers: pa.Table) -> pa.Table:
        hidden = replace(settings, label=label_of(numbers))
        return pa.Table.from_pylist(list(_analysis(records, hidden, names)), schema=ANALYSIS)

    records = history_records(frame)
    groups = records.groupBy("group")
    if not hide_names:
        return groups.applyInArrow(analyse, spark_schema(ANALYSIS))
    numbered = numbered_names(records).groupBy("group")
    return groups.cogroup(numbered).applyInArrow(analyse_hidden, spark_schema(ANALYSIS))


def table(analysed: DataFrame, name: str) -> DataFrame:
    """Return one table of `analysed_groups`; `ValueError` for a name it does not have.

    The offsets are not among them: `tables` has them, or `commits.offsets`.
    """
    if name not in ANALYSED:
        raise ValueError(f"no table {name!r} here; there are {', '.join(ANALYSED)}")
    found = _column(analysed, name)
    return _nameless_joined(found) if name == "anomalies" else found


def tables(
    frame: DataFrame,
    settings: Settings = DEFAULT,
    *,
    topic_names: Mapping[str, str] | None = None,
    hide_names: bool = False,
    persist: bool = False,
) -> dict[str, DataFrame]:
    """Return every table by its name, each a frame of its own, none computed yet.

    The arguments are those of `analysed_groups`. Groups are analysed anew for each table that is
    computed, unless `persist` has Spark keep the analysis: then the first table pays for all.
    """
    analysed = analysed_groups(frame, settings, topic_names=topic_names, hide_names=hide_names)
    if persist:
        analysed = analysed.persist()
    found = {name: table(analysed, name) for name in ANALYSED}
    commits = offsets(
        frame,
        _column(analysed, "sole_owners"),
        _column(analysed, "lives"),
        hide_metadata=hide_names or settings.label is not None,
    )
    found["groups"] = with_commit_counts(found["groups"], commits)
    found["offsets"] = commits.drop("life")
    return {name: found[name] for name in TABLES}


def _column(analysed: DataFrame, name: str) -> DataFrame:
    """Return the rows that are in one column of `ANALYSIS`."""
    from pyspark.sql.functions import col  # noqa: PLC0415 - the extra `spark`

    return analysed.where(col(name).isNotNull()).select(f"{name}.*")


def _nameless_joined(anomalies: DataFrame) -> DataFrame:
    """Return the findings, of records that name no group one: several workers had such records.

    As `findings.causes` joins what one worker has: counts are added, the first one is shown.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    is_nameless = (f.col("group") == NO_GROUP) & f.col("generation").isNull()
    joined = {
        "at_ms": f.min("at_ms"),
        "until_ms": f.max("until_ms"),
        "count": f.sum("count"),
        "occurrences": f.sum("occurrences"),
        "last_ms": f.max("last_ms"),
    }
    first = f.min_by(f.struct(*anomalies.columns), f.struct("at_ms", "evidence")).alias("first")
    listed = anomalies.where(is_nameless).groupBy("life", "kind")
    made = listed.agg(first, *(column.alias(name) for name, column in joined.items()))
    columns = [f.col(name if name in joined else f"first.{name}") for name in anomalies.columns]
    return anomalies.where(~is_nameless).unionByName(made.select(*columns))


def _analysis(
    records: pa.Table, settings: Settings, topic_names: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one group's tables, each under the name of its table."""
    for history in histories_of(records, topic_names):
        analysis, outcomes = analysis_and_outcomes(history, settings)
        made = tables_of(analysis, outcomes, settings)
        for name in ANALYSED:
            yield from ({name: arrow_row(row)} for row in getattr(made, name))
        yield from _intervals(history.group, analysis)


def _intervals(key: str, analysis: GroupAnalysis) -> Iterator[dict[str, Any]]:
    """Yield what the commits of a group are joined with."""
    for span in spans(analysis.history.lives):
        yield {"lives": {"key": key, "group": analysis.history.group, **asdict(span)}}
    for holding in sole_owners(analysis):
        yield {
            "sole_owners": {
                "key": key,
                "topic": holding.topic,
                "partition": holding.partition,
                "member_id": holding.member_id,
                "from_ms": holding.start,
                "to_ms": holding.until,
            }
        }

"""Simulations and the column functions in a Spark session; what they answer as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assignors.simulation import spark
from assignors.simulation.timed.sweeps.sweep import sweep_from_document
from assignors.spark import column_functions, register
from tests.spark.simulations import CASES, SWEEP, Case

BLOB = "X'000100000001000174ffffffff'"
FRESH = "X'0003000000010001740000000000000000ffffffffffff'"


def where_from(session: Any) -> list[str]:
    """From where the workers import the package."""

    def imported(batches: Any) -> Any:
        import pyarrow as pa  # noqa: PLC0415

        import assignors  # noqa: PLC0415

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"path": [assignors.__file__] * batch.num_rows})

    frame = session.range(4, numPartitions=2).mapInArrow(imported, "path string")
    return sorted({row.path for row in frame.collect()})


def main(session: Any, folder: Path) -> None:
    """Run the job and write its answers."""
    register(session)
    decode = column_functions()["kafka_decode_subscription"]
    blobs = session.createDataFrame([(bytes.fromhex("0001"),), (None,)], "blob binary")
    answers = {
        "cases": {name: rows_of(simulated(session, case)) for name, case in CASES.items()},
        "swept": rows_of(
            spark.sweep_points(session, sweep_from_document(SWEEP)).transform(
                spark.simulate_coordinators
            )
        ),
        **summaries(session, folder),
        "columns": rows_of(blobs.select(decode("blob").alias("value"))),
        "sql": rows_of(
            session.sql(f"""
            SELECT kafka_decode_subscription({BLOB}) AS subscription,
                   kafka_decode_assignment(X'000100000000ffffffff') AS assignment,
                   kafka_decode_sticky_user_data(X'ffffffff') AS sticky,
                   kafka_decode_cooperative_user_data(X'00000007') AS cooperative""")
        ),
        "assign": rows_of(
            session.sql(f"""
            WITH input AS (
              SELECT map('t', 3) AS topics, array(named_struct(
                'id', 'a', 'instance', CAST(NULL AS string), 'subscription', {FRESH})) AS members),
            answered AS (
              SELECT *, kafka_assign(topics, members, 'sticky') AS answer,
                     kafka_assign(topics, members, 'no-such') AS refused FROM input)
            SELECT answer, refused,
                   kafka_check(topics, members, answer.assignment, 'eager') AS checked,
                   kafka_check(topics, members, answer.assignment, 'cooperative',
                               answer.withheld) AS cooperative,
                   kafka_check(topics, members, array(), 'cooperative',
                               array(named_struct('topic', 't', 'partitions', array(0, 1, 2)))
                   ) AS waiting,
                   kafka_check(topics, members, array(), 'eager') AS bad,
                   kafka_check(map('t', -1), members, array(), 'eager') AS wrong
            FROM answered""")  # noqa: S608 - constants of this file
        ),
        "paths": where_from(session),
    }
    (folder / "answers.json").write_text(json.dumps(answers, default=str))


def simulated(session: Any, case: Case) -> Any:
    """What Spark makes of the rows of a case."""
    rows = [tuple(row.values()) for row in case.rows()]
    frame = session.createDataFrame(rows, case.ddl).repartition(3)
    return frame.transform(getattr(spark, case.function), **case.options)


def summaries(session: Any, folder: Path) -> dict[str, Any]:
    """The summary of results that were written and read, and what is said of other frames."""
    simulated(session, CASES["timed"]).write.parquet(str(folder / "results"))
    written = session.read.parquet(str(folder / "results"))
    refused = ""
    try:
        session.range(1).transform(spark.summary, by=("SCENARIO",))
    except ValueError as error:
        refused = str(error)
    summary = written.transform(spark.summary, by=("scenario", "factor"))
    return {"summary": rows_of(summary), "refused": refused}


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows as plain data."""
    return [row.asDict(recursive=True) for row in frame.collect()]

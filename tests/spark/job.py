"""The simulation and the column functions in a Spark session; what they answer as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assignors.simulation.spark import simulate_rounds
from assignors.spark import column_functions, register
from tests.spark.scenarios import ASSIGNORS, GROUPS_DDL, SIZES_DDL, group_rows, size_rows

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
    sizes = session.createDataFrame(size_rows(), SIZES_DDL).repartition(3)
    groups = session.createDataFrame(group_rows(), GROUPS_DDL)
    decode = column_functions()["kafka_decode_subscription"]
    blobs = session.createDataFrame([(bytes.fromhex("0001"),), (None,)], "blob binary")
    answers = {
        "sizes": rows_of(sizes.transform(simulate_rounds, assignors=ASSIGNORS)),
        "groups": rows_of(groups.transform(simulate_rounds, assignors=ASSIGNORS)),
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


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows as plain data."""
    return [row.asDict(recursive=True) for row in frame.collect()]

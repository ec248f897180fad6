"""The main job on bundled data, on local Spark: `python -m assignors.simulation.demo`.

It prints three tables: Subscriptions that real clients wrote, decoded, with what is odd in
them; what cooperative-sticky answers to the rounds of one real group; and what a few hundred
simulated groups cost under each assignor.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from assignors.names.assignor_names import BEST
from assignors.simulation.spark import simulate_rounds
from assignors.spark import local_session, register

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ASSIGNORS = tuple(BEST)
SCENARIO_COUNT = 400


def main(scenario_count: int = SCENARIO_COUNT) -> None:
    """Run the job and print its tables."""
    _say(f"Starting Spark; then {scenario_count} groups under {len(ASSIGNORS)} assignors ...")
    session = local_session()
    session.sparkContext.setLogLevel("ERROR")
    register(session)
    captured = session.createDataFrame(sample(), "client string, protocol string, blob binary")
    captured.createOrReplaceTempView("captured")
    _table(
        "Subscriptions of real clients, decoded: what is odd has a note",
        ("CLIENT", "VERSIONS", "COUNT", "NOTES"),
        [tuple(row) for row in decoded(session).collect()],
    )
    _table(
        "A real group that rebalanced without end, as one client misread its assignment:\n"
        "what cooperative-sticky answers to the same bytes, round by round",
        ("GENERATION", "MEMBERS", "PARTITIONS", "LOAD MIN", "LOAD MAX", "WITHHELD", "FOLLOW-UP"),
        [tuple(row) for row in assigned(session).collect()],
    )
    rows = played(session, scenario_count).collect()
    _table(
        f"{scenario_count} simulated groups: 12 members, 60 partitions, 5 events,\n"
        "each member subscribed to half the topics",
        (
            "ASSIGNOR",
            "ROUNDS",
            "MOVED",
            "TO BALANCE",
            "IMBALANCE",
            "UNASSIGNED",
            "VIOLATIONS",
            "ERRORS",
        ),
        [tuple(row) for row in rows],
    )
    _say(
        "ROUNDS: on average, for one event. MOVED: partitions that changed their owner. TO\n"
        "BALANCE: the fewest moves to a best balance; a worse one may take fewer, and\n"
        "cooperative-sticky needs a few\n"
        "more, as members with version 0 do not report what they own. IMBALANCE: events after\n"
        "which loads were less equal than possible. UNASSIGNED: partitions without an owner,\n"
        "summed over the rounds; that all members stop during an eager round is not counted.\n"
        "VIOLATIONS: partitions with two owners at once, and other broken rules."
    )
    session.stop()


def sample() -> list[tuple[str, str, bytes]]:
    """Return the bundled Subscriptions: client and version, protocol, bytes."""
    return [
        (
            f"{record['client']} {_number(record['version'])}",
            record["protocol"],
            bytes.fromhex(record["hex"]),
        )
        for record in _records("subscriptions.jsonl")
    ]


def real_rounds() -> list[tuple[int, dict[str, int], list[tuple[str, str | None, bytes]]]]:
    """Return the rounds of the bundled group: generation, partition counts, members."""
    return [
        (
            record["generation"],
            record["partitions"],
            [
                (member["id"], member["instance"], bytes.fromhex(member["subscription"]))
                for member in record["members"]
            ],
        )
        for record in _records("livelock.jsonl")
    ]


def decoded(session: SparkSession) -> DataFrame:
    """Return a row for each client: versions it writes, how many were captured, which notes."""
    return session.sql(
        """
        WITH read AS (
          SELECT client, kafka_decode_subscription(blob) AS value FROM captured)
        SELECT client,
               concat_ws(',', sort_array(collect_set(CAST(value.version AS string)))) AS versions,
               CAST(count(*) AS string) AS seen,
               concat_ws(', ', sort_array(array_distinct(flatten(
                   collect_list(value.notes.code))))) AS notes
        FROM read GROUP BY client ORDER BY client
        """
    )


def assigned(session: SparkSession) -> DataFrame:
    """Return a row for each real round: its smallest and largest load, and what is withheld."""
    schema = (
        "generation int, topics map<string, int>, "
        "members array<struct<id: string, instance: string, subscription: binary>>"
    )
    session.createDataFrame(real_rounds(), schema).createOrReplaceTempView("rounds")
    return session.sql(
        """
        WITH answered AS (
          SELECT *, kafka_assign(topics, members, 'cooperative-sticky') AS answer FROM rounds),
        loads AS (
          SELECT *, transform(answer.assignment, member ->
                   aggregate(member.partitions, 0, (sum, owned) -> sum + size(owned.partitions))
                 ) AS load FROM answered)
        SELECT generation, size(load),
               aggregate(map_values(topics), 0, (sum, count) -> sum + count),
               array_min(load), array_max(load),
               aggregate(answer.withheld, 0, (sum, topic) -> sum + size(topic.partitions)),
               answer.follow_up
        FROM loads ORDER BY generation
        """
    )


def played(session: SparkSession, scenario_count: int) -> DataFrame:
    """Return a row for each assignor: what the simulated groups cost under it."""
    scenarios = session.range(scenario_count, numPartitions=8).selectExpr(
        "id AS seed", "12 AS members", "6 AS topics", "60 AS partitions", "5 AS events"
    )
    scenarios = scenarios.selectExpr("*", "'half' AS subscription", "true AS wire")
    outcomes = scenarios.transform(simulate_rounds, assignors=ASSIGNORS)
    outcomes.createOrReplaceTempView("outcomes")
    return session.sql(
        """
        SELECT assignor, format_number(avg(rounds), 2), CAST(sum(moved) AS string),
               CAST(sum(moves_min) AS string),
               concat(format_number(
                   100 * avg(CAST(load_square_sum > optimum AS int)), 1), ' %'),
               CAST(sum(unassigned_partition_rounds) AS string),
               CAST(sum(violations) AS string), CAST(count(error) AS string)
        FROM outcomes GROUP BY assignor ORDER BY assignor
        """
    )


def _number(version: str) -> str:
    """Return the number in a client's version: some captures have its library's name there too."""
    found = re.search(r"[0-9][0-9.]*", version)
    return found[0] if found else version


def _records(name: str) -> list[dict[str, Any]]:
    text = files("assignors.simulation").joinpath(f"sample/{name}").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _table(title: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Print a table."""
    listed = [columns, *rows]
    widths = [max(len(str(row[i])) for row in listed) for i in range(len(columns))]
    lines = ("  ".join(map(str.ljust, map(str, row), widths)).rstrip() for row in listed)
    _say("\n".join(["", title, *lines]))


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

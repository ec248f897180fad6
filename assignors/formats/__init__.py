"""The lines that the command reads and writes, as JSON Schema.

>>> from assignors.formats import FORMATS
>>> FORMATS["check"].document()["$id"]
'urn:kafka-assignors:2:check'

A schema is what a reader may rely on: keys that it requires stay, of these types. More keys may
come, so objects that are written allow others. In the documentation these are
files, one a format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assignors.documents.schemas import Schema
from assignors.documents.values import SCHEMA
from assignors.formats import answers, conformance, groups, scenarios, sweeps, tables, traffic
from assignors.formats import bytes as decoded
from assignors.formats.lines import answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """The lines of one command, read or written."""

    name: str
    command: str
    """Which command reads or writes them."""
    is_read: bool
    text: str
    """What a line is."""
    schema: Schema

    def document(self) -> Schema:
        """Return the schema as a document of its own."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:kafka-assignors:{SCHEMA}:{self.name}",
            "title": f"kafka-assignors: {self.name}",
            "description": self.text,
            **self.schema,
        }


def _read(name: str, command: str, text: str, schema: Schema) -> Format:
    return Format(name=name, command=command, is_read=True, text=text, schema=schema)


def _written(name: str, command: str, text: str, schema: Schema) -> Format:
    return Format(name=name, command=command, is_read=False, text=text, schema=schema)


_ALL = (
    _read(
        "group",
        "assign, explain, what-if, simulate --set",
        "A group: topics, and members by their fields or by their Subscription bytes.",
        groups.GROUP,
    ),
    _read("check-request", "check", "A group, and the assignment to check.", groups.CHECK_REQUEST),
    _read(
        "weights",
        "assign, check, explain --weights",
        "Weights of partitions, for any group; more topics and members than a group may be there.",
        groups.WEIGHTS,
    ),
    _read("history", "histories", "A history to draw: a seed and sizes.", tables.SIZES),
    _read(
        "group-with-events",
        "what-if",
        "A group as it is, and the events that are asked for.",
        tables.GROUP_WITH_EVENTS,
    ),
    _read(
        "scenario",
        "simulate",
        "A scenario on a clock; also what --show writes.",
        scenarios.SCENARIO,
    ),
    _read(
        "sweep",
        "sweep",
        "Execution models of a coordinator, and the loads under which they are measured.",
        sweeps.SWEEP,
    ),
    _read(
        "traffic",
        "traffic",
        "Records that arrive at partitions, and members that process them.",
        traffic.TRAFFIC,
    ),
    _read(
        "record",
        "replay",
        "A record of a dump, with its bytes; also what dump and simulate --log write.",
        decoded.RAW_RECORD,
    ),
    _read(
        "partition-counts",
        "replay --partitions",
        "Partition counts by topic.",
        groups.PARTITION_COUNTS,
    ),
    _read(
        "log-ends",
        "replay --log-ends",
        "Where partitions ended at one moment; a line of the file.",
        groups.LOG_ENDS,
    ),
    _written("subscription", "decode subscription", "A Subscription.", decoded.SUBSCRIPTIONS),
    _written("assignment", "decode assignment", "An Assignment.", decoded.ASSIGNMENTS),
    _written(
        "sticky-userdata",
        "decode sticky-userdata",
        "UserData of the sticky assignor.",
        decoded.STICKY_DATA,
    ),
    _written(
        "cooperative-userdata",
        "decode cooperative-userdata",
        "UserData of the cooperative sticky assignor.",
        decoded.COOPERATIVE_DATA,
    ),
    _written(
        "offsets-record",
        "decode offsets-record",
        "A record of `__consumer_offsets`, in the JSON form of Kafka's own formatter.",
        decoded.OFFSETS_RECORDS,
    ),
    _written("assign", "assign --assignor", "The assignment of a group.", answers.ASSIGNED),
    _written("compare", "assign --compare", "Several assignors on one group.", answers.COMPARED),
    _written("check", "check", "What is wrong with an assignment.", answers.CHECKED),
    _written("explain", "explain", "Why a partition moves, stays or waits.", answers.EXPLAINED),
    _written(
        "assignors", "assignors", "An assignor of the registry.", answer(*answers.ASSIGNOR_KEYS)
    ),
    _written(
        "simulate",
        "histories, what-if",
        "The costs of one event under one assignor.",
        tables.PLAYED,
    ),
    _written("timed", "simulate", "The costs of one run on a clock.", tables.TIMED),
    _written("fuzz", "fuzz", "What random scenarios have shown.", tables.FUZZED),
    _written(
        "intervals",
        "simulate --intervals",
        "A time in which a member consumed a partition.",
        tables.INTERVALS,
    ),
    _written("scenarios", "simulate --list", "A named scenario.", tables.LISTED),
    _written(
        "sweep-point",
        "sweep",
        "What was measured of one execution model under one load.",
        sweeps.MEASURED,
    ),
    _written(
        "traffic-run",
        "traffic",
        "Loads, lags and moves of one run.",
        traffic.SIMULATED,
    ),
    _written("replay", "replay", "A row of a table.", tables.REPLAYED),
    _written(
        "conform",
        "conform",
        "A vector that failed, or the sums of a category.",
        conformance.CONFORMED,
    ),
)

FORMATS: Mapping[str, Format] = {each.name: each for each in _ALL}
"""Name -> format."""

__all__ = ["FORMATS", "Format"]

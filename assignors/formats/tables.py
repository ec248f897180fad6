"""Rows of `replay` and of `simulate`: their keys are the fields of the row classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from assignors.documents.schemas import (
    COUNT,
    INTEGER,
    NULL,
    NUMBER,
    STRING,
    Key,
    Schema,
    array,
    constant,
    known_keys,
    mapping,
    nullable,
    of_fields,
    one_of,
    pair,
    record,
)
from assignors.formats.answers import MEMBER_NOTE
from assignors.formats.groups import read_group
from assignors.formats.lines import ERROR, VERSION, answer
from assignors.replay.findings.table import FINDINGS, Severity
from assignors.replay.tables.rows import TABLES
from assignors.simulation.rounds.outcome import Outcome
from assignors.simulation.rounds.random_scenarios import Parameters, SubscriptionShape
from assignors.simulation.rounds.scenario import GroupEventKind
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.results import (
    EXPLAINING,
    FEATURE_TEXTS,
    FEATURES,
    OF_EVERY_RUN,
    TimedResult,
)
from assignors.simulation.timed.scenario import ClientModel, GroupProtocol
from assignors.simulation.timed.tables.rows import IntervalRow

CODES: Mapping[str, Mapping[str, Iterable[str]]] = {
    "groups": {"severity": Severity},
    "findings": {"kind": FINDINGS, "severity": Severity},
}
"""Table -> column -> the codes that it holds."""


def _table(name: str) -> Schema:
    columns = record(*of_fields(TABLES[name], CODES.get(name)))
    return {
        "title": name,
        **answer(
            Key("table", constant(name), "Name of the table."),
            Key("row", columns, "A row; null is a column that is not known."),
        ),
    }


REPLAYED: Schema = {
    "oneOf": [
        *map(_table, TABLES),
        {
            "title": "left out",
            **answer(
                Key("table", constant("offsets"), "Name of the table."),
                Key("row", NULL, "Null."),
                Key("left_out", COUNT, "So many commits are not shown."),
            ),
        },
    ]
}

# Simulated in rounds

PLAYED_ID = Key("id", nullable({"type": ["string", "integer"]}), "The `id` of the input line.")
_FIGURES = of_fields(Outcome, {"kind": GroupEventKind})
_NAMES = (
    Key("seed", INTEGER, "Of the history, where it was read.", is_optional=True),
    Key("assignor", STRING, "Full name of the assignor that failed.", is_optional=True),
)
_ASKED = (
    Key("seed", NULL, "Null: nothing was drawn."),
    Key("asked", nullable(STRING), "The event as it was asked for; null: the start."),
    Key("notes", array(MEMBER_NOTE), "At the start: what was assumed about the group."),
    Key("loads_before", mapping(COUNT), "Member id -> partitions before the event."),
    Key("loads_after", mapping(COUNT), "Member id -> partitions once the group has settled."),
)
PLAYED: Schema = {
    "oneOf": [
        {"title": "outcome", **answer(PLAYED_ID, *_FIGURES)},
        {
            "title": "asked for",
            **answer(PLAYED_ID, *(key for key in _FIGURES if key.name != "seed"), *_ASKED),
        },
        {
            "title": "failed",
            **record(VERSION, PLAYED_ID, *_NAMES, Key("error", ERROR)),
        },
    ]
}

SIZES = known_keys(
    record(
        Key("seed", INTEGER, "What the history is drawn from."),
        Key("id", {}, "Returned with each outcome.", is_optional=True),
        *(
            Key(key.name, nullable(key.type), key.text, is_optional=True)
            for key in of_fields(Parameters, {"subscription": SubscriptionShape})
        ),
    )
)

GROUP_WITH_EVENTS = read_group(
    Key("events", array(STRING), "What happens to it, in order: `join:5`, `leave:m3`."),
)

# Simulated on a clock

_RUN = (
    Key("scenario", STRING, "Name of the scenario."),
    Key("seed", INTEGER, "Of the run."),
    Key("protocol", one_of(GroupProtocol), "Of the group."),
    Key("coordinator_model", nullable(one_of(POLICIES)), "Its execution model; null: it has none."),
    Key("client_model", nullable(one_of(ClientModel)), "Of all members; null where it is not one."),
    Key(
        "assignor",
        nullable(STRING),
        "Of all members in a classic group, null where it is not one; else the broker's.",
    ),
    Key("scenario_hash", STRING, "Equal for the same scenario, seed and protocol included."),
    Key("package_version", STRING, "Of this package: another one may play a scenario otherwise."),
)


def _run(figures: Iterable[Key]) -> Schema:
    known = (replace(key, is_optional=True) for key in _RUN)
    return {
        "oneOf": [
            {"title": "result", **answer(*_RUN, *figures)},
            {"title": "failed", **record(VERSION, *known, Key("error", ERROR))},
        ]
    }


def _result() -> list[Key]:
    """Return the figures of a run: those of every run, then those of each feature."""
    keys = {key.name: key for key in of_fields(TimedResult)}
    return [
        *(keys[name] for name in OF_EVERY_RUN),
        *(
            Key(
                feature,
                record(*(keys[name] for name in names)),
                FEATURE_TEXTS[feature],
                is_optional=feature not in EXPLAINING,
            )
            for feature, names in FEATURES.items()
        ),
    ]


EXPECTED: Schema = {
    "anyOf": [{"type": ["number", "boolean", "string", "null"]}, pair(NUMBER, NUMBER)]
}
TIMED = _run(_result())
INTERVALS = _run(of_fields(IntervalRow))
COUNTS = mapping(COUNT)
FUZZED = answer(
    Key("first_seed", COUNT, "The seed of the first scenario; the others count up from it."),
    Key("scenarios", COUNT, "Scenarios that were played, up to the first violation."),
    Key("events", COUNT, "Events of all runs."),
    Key("stopped", COUNT, "Runs that ended early, as they had too many events."),
    Key("protocols", COUNTS, "Protocol -> scenarios in which the group or a member has it."),
    Key("clients", COUNTS, "Client model -> scenarios in which a member has it."),
    Key("executions", COUNTS, "Execution model of the coordinator -> scenarios."),
    Key("faults", COUNTS, "Kind of fault -> scenarios."),
    Key("actions", COUNTS, "Action of the plan -> scenarios."),
    Key("violations", COUNT, "1 for a violation, else 0."),
    Key("seed", nullable(COUNT), "The seed whose scenario violates a monitor."),
    Key("monitor", nullable(STRING), "That monitor."),
    Key("first_violation", nullable(STRING), "The violation in the smallest scenario."),
    Key("scenario", nullable({"type": "object"}), "The smallest scenario, as `simulate` reads."),
    Key("file", nullable(STRING), "The file that has it."),
    Key("again", nullable(STRING), "The command that plays it."),
)
LISTED = answer(
    Key("scenario", STRING, "Its name."),
    Key("protocols", array(one_of(GroupProtocol)), "Protocols that it is meant for."),
    Key("text", STRING, "What it shows."),
    Key(
        "expected",
        mapping(mapping(EXPECTED)),
        "Protocol -> figure -> value, or the least and the greatest.",
    ),
)

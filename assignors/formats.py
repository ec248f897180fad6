"""The lines that the command reads and writes, as JSON Schema.

>>> from assignors.formats import FORMATS
>>> FORMATS["check"].document()["$id"]
'urn:kafka-assignors:2:check'

A schema is what a reader may rely on: keys that it requires stay, of these types. More keys may
come, so objects that are written allow others. In the documentation these are files, one a format.
Keys and their meanings come from the classes that declare them (`assignors.documents.keys`), or
from the rows and messages that are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from assignors.conformance.outcomes import Status
from assignors.conformance.vectors import Judge
from assignors.documents import answers
from assignors.documents.groups import CheckKeys, EventKeys, GroupKeys, group_schema
from assignors.documents.keys import row_keys, schema_of
from assignors.documents.schemas import (
    ANY,
    BASE64,
    COUNT,
    INT32,
    INT64,
    INTEGER,
    NULL,
    NUMBER,
    STRING,
    Key,
    Schema,
    array,
    constant,
    mapping,
    nullable,
    one_of,
    pair,
    record,
)
from assignors.documents.values import SCHEMA, ErrorCode
from assignors.documents.weightings import WEIGHTS_FILE, WeightKeys
from assignors.replay.findings.table import FINDINGS, Severity
from assignors.replay.history.log_ends import LogEnds
from assignors.replay.tables.rows import TABLES
from assignors.simulation.rounds.outcome import Outcome
from assignors.simulation.rounds.random_scenarios import Parameters
from assignors.simulation.rounds.scenario import GroupEventKind
from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.measures import Measured
from assignors.simulation.timed.execution.policy import POLICIES, Settings
from assignors.simulation.timed.results import (
    EXPLAINING,
    FEATURE_TEXTS,
    FEATURES,
    OF_EVERY_RUN,
    TimedResult,
)
from assignors.simulation.timed.scenario import VERSION as SCENARIO_VERSION
from assignors.simulation.timed.scenario import ClientModel, GroupProtocol, Scenario
from assignors.simulation.timed.sweeps.rows import Derived
from assignors.simulation.timed.sweeps.sweep import FIELDS, MODEL, Sweep, Version
from assignors.simulation.timed.tables.rows import IntervalRow
from assignors.simulation.traffic.results import TrafficResult
from assignors.simulation.traffic.scenario import VERSION as TRAFFIC_VERSION
from assignors.simulation.traffic.scenario import TrafficScenario
from assignors.watch.events import Alert, WatchKind
from wire import (
    CooperativeUserData,
    ErrorKind,
    MemberAssignment,
    Note,
    StickyUserData,
    Subscription,
)
from wire.layout import ArrayOf, Field, Kind, Layout, Struct
from wire.records import RECORD_TYPES, RecordType


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """The lines of one command, read or written."""

    name: str
    command: str
    """Which command reads or writes them."""
    is_read: bool
    text: str
    """What a line is."""
    make: Callable[[], Schema]

    @property
    def schema(self) -> Schema:
        """Return the schema of a line."""
        return self.make()

    def document(self) -> Schema:
        """Return the schema as a document of its own."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:kafka-assignors:{SCHEMA}:{self.name}",
            "title": f"kafka-assignors: {self.name}",
            "description": self.text,
            **self.schema,
        }


# What every line has

ERROR_AT = record(
    Key("offset", COUNT, "Byte of the input.", is_optional=True),
    Key("path", STRING, "Path in the document.", is_optional=True),
    Key("line", COUNT, "Line of the input, from 1.", is_optional=True),
    Key("file", STRING, "File of that line; absent: standard input.", is_optional=True),
)
ERROR = (
    Key("error", STRING, "Why there is no answer, and where; a traceback of your assignor after."),
    Key("error_kind", one_of([*ErrorKind, *ErrorCode]), "The same as a code."),
    Key("error_at", ERROR_AT, "Where in the input.", is_optional=True),
)
NO_ERROR = (Key("error", NULL, "Null."), Key("error_kind", NULL, "Null."))
VERSION = Key("schema", constant(SCHEMA), "Version of the formats.")
NOTE = record(*row_keys(Note))
NOTES = Key("notes", array(NOTE), "What was odd in the bytes.")


def _answer(*keys: Key) -> Schema:
    """Return the schema of a line that always has an answer."""
    return record(VERSION, *keys, *NO_ERROR)


def _or_error(
    keys: Iterable[Key], beside: Iterable[Key] = (), *, absent: Iterable[str] = ()
) -> Schema:
    """Return the schema of a line: `keys`, or an error with the keys that every answer has, null.

    Keys of `beside` have their values there too; those of `absent` are null or absent.
    """
    answered = [*keys]
    kept = {key.name: key for key in beside}
    blank = [
        Key(key.name, NULL, is_optional=key.is_optional)
        for key in answered
        if key.name not in kept and (not key.is_optional or key.name in absent)
    ]
    refused = record(VERSION, *blank, *kept.values(), *ERROR)
    return {
        "oneOf": [
            {"title": "answered", **_answer(*answered)},
            {"title": "refused", **refused},
        ]
    }


def _or_failed(title: str, named: Iterable[Key], figures: Iterable[Key]) -> Schema:
    """Return the schema of a run: its figures, or an error beside the names that are known."""
    names = [*named]
    known = (replace(key, is_optional=True) for key in names)
    return {
        "oneOf": [
            {"title": title, **_answer(*names, *figures)},
            {"title": "failed", **record(VERSION, *known, *ERROR)},
        ]
    }


def _coded(keys: Iterable[Key], codes: Mapping[str, Iterable[str]]) -> list[Key]:
    """Return keys, those that hold codes with their values."""

    def type_of(key: Key) -> Schema:
        if key.name not in codes:
            return key.type
        code = one_of(codes[key.name])
        return code if key.type == STRING else nullable(code)

    return [replace(key, type=type_of(key)) for key in keys]


def _optional(keys: Iterable[Key], *names: str) -> list[Key]:
    return [replace(key, is_optional=key.is_optional or key.name in names) for key in keys]


def _after(schema: Schema, *keys: Key) -> Schema:
    """Return the schema of an object with some keys more, which come first."""
    first = record(*keys)
    return {
        **schema,
        "properties": {**first["properties"], **schema["properties"]},
        "required": [*first["required"], *schema["required"]],
    }


def _versioned(version: int, schema: Schema) -> Schema:
    """Return the schema of a document that says its version."""
    return _after(schema, Key("version", constant(version), "Version of this format."))


# Groups

GROUP_ID = Key("id", ANY, "The `id` of the document, or the group's name.", is_optional=True)
ASSIGNOR = (
    Key("assignor", STRING, "Full name of the assignor."),
    Key("protocol", one_of(("eager", "cooperative")), "Which rules of the hand-over it follows."),
)


def _keys(kind: type[Any]) -> list[Key]:
    """Return the keys of a class of answers."""
    schema = schema_of(kind, is_open=True)
    required = schema["required"]
    return [
        Key(name, one, is_optional=name not in required)
        for name, one in schema["properties"].items()
    ]


def _assigned() -> Schema:
    keys = _keys(answers.AssignAnswer)
    notes = next(key for key in keys if key.name == "notes")
    properties = schema_of(GroupKeys, WeightKeys)["properties"]
    given = [
        Key(name, kind, f"`--with-group`: {kind.get('description', '')}", is_optional=True)
        for name, kind in properties.items()
        if name not in {"state", "id"}
    ]
    answered = (*ASSIGNOR, *keys, GROUP_ID, *given)
    return _or_error(answered, (*ASSIGNOR, notes, GROUP_ID), absent=("lists", "order"))


def _about_group(kind: type[Any]) -> Schema:
    """Return the schema of an answer about a group that a tool described or that has an `id`."""
    own = _keys(kind)
    notes = Key(
        "notes",
        array(schema_of(answers.NoteRow, is_open=True)),
        "What was assumed.",
        is_optional=True,
    )
    beside = (GROUP_ID, notes)
    return _or_error([*(key for key in own if key.name != "notes"), *beside], beside)


# Bytes

DECODED: Mapping[str, tuple[str, list[Key]]] = {
    "subscription": (
        "A Subscription.",
        [key for key in row_keys(Subscription) if key.name != "owned_known"],
    ),
    "assignment": ("An Assignment.", row_keys(MemberAssignment)),
    "sticky-userdata": (
        "UserData of the sticky assignor.",
        _optional(row_keys(StickyUserData), "capacity"),
    ),
    "cooperative-userdata": (
        "UserData of the cooperative sticky assignor.",
        _optional(row_keys(CooperativeUserData), "owned", "capacity"),
    ),
}
FRAMED = ("subscription", "assignment")
"""Kinds that a whole message has in it."""


def _decoded(kind: str) -> Schema:
    value = record(*DECODED[kind][1])
    if kind not in FRAMED:
        return _or_error([Key("value", value), NOTES], [NOTES])
    part = record(
        Key("owner", STRING, "Member; in a JoinGroup request the assignor."),
        Key("start", COUNT, "Its first byte, in the whole."),
        Key("end", COUNT, "The byte behind its last."),
        Key("value", nullable(value), "As `value` of the line."),
        NOTES,
        *(replace(key, type=nullable(key.type)) for key in ERROR),
    )
    frame = record(
        Key("message", STRING, "JoinGroup or SyncGroup, request or response."),
        Key("versions", array(INTEGER), "Versions that have these bytes."),
        Key("start", COUNT, "Where its header begins."),
        Key("fields", mapping(ANY), "Its other fields."),
        Key("parts", array(part), "What is in it."),
    )
    words = "Only where the bytes are a whole JoinGroup or SyncGroup message."
    framed = Key("frame", frame, words, is_optional=True)
    return _or_error(
        [Key("value", nullable(value), "Null where `frame` has several."), NOTES, framed],
        [NOTES, framed],
    )


RAW_RECORD = record(
    Key("key", nullable(BASE64), "Bytes of the key; null where there is none."),
    Key("value", nullable(BASE64), "Bytes of the value; null is a tombstone."),
    *(
        Key(name, nullable(kind), text, is_optional=True)
        for name, kind, text in (
            ("topic", STRING, "Name of the topic."),
            ("partition", INT32, "Partition number."),
            ("offset", INT64, "Offset of the record."),
            ("timestamp", INT64, "Milliseconds since 1970-01-01 UTC."),
            ("timestampType", INT32, "0: of the client, 1: of the broker's log."),
        )
    ),
)
"""The columns of Spark's Kafka source."""

_BITS = {Kind.INT8: 8, Kind.INT16: 16, Kind.INT32: 32, Kind.INT64: 64}
_OTHERS: dict[Kind, Schema] = {
    Kind.UINT16: {"type": "integer", "minimum": 0, "maximum": 2**16 - 1},
    Kind.STRING: STRING,
    Kind.BYTES: BASE64,
    Kind.UUID: {"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$"},
}


def _inner(kind: str) -> Schema:
    """Return the schema of a part of a record that is decoded by itself."""
    value = record(*DECODED[kind][1])
    return {
        "oneOf": [
            record(Key("value", value), NOTES, *NO_ERROR),
            record(Key("value", NULL), NOTES, *ERROR),
        ]
    }


def of_layout(layout: Layout) -> Schema:
    """Return the schema of a message of any version, in the JSON form of Kafka's formatter.

    A key that some version does not have is optional, as is one of a tagged field.
    """
    return _struct(layout.fields, layout.versions)


def _struct(fields: tuple[Field, ...], versions: range) -> Schema:
    keys = []
    for field in fields:
        everywhere = all(field.is_in(version) for version in versions)
        kind = _element(field.type, versions)
        kind = nullable(kind) if field.nullable or field.default is None else kind
        keys.append(Key(field.name, kind, is_optional=field.tag is not None or not everywhere))
    return record(*keys)


def _element(kind: Kind | Struct | ArrayOf, versions: range) -> Schema:
    if isinstance(kind, Struct):
        return _struct(kind.fields, versions)
    if isinstance(kind, ArrayOf):
        return array(_element(kind.element, versions))
    if kind in _BITS:
        half = 2 ** (_BITS[kind] - 1)
        return {"type": "integer", "minimum": -half, "maximum": half - 1}
    return _OTHERS[kind]


def _record_of(one: RecordType) -> Schema:
    """Return what is special about a record of this type that could be read."""
    named = (
        Key("type", constant(one.number), "Number of the record type."),
        Key("name", constant(one.name), "Its name in Kafka's source."),
        Key("key", of_layout(one.key), "The key."),
        *NO_ERROR,
    )
    value = (
        Key("version", {"enum": list(one.value.versions)}, "Version of the value."),
        Key("value", of_layout(one.value), "The value."),
    )
    tombstone = (Key("version", NULL), Key("value", NULL, "Null: a tombstone."))
    return {
        "title": one.name,
        "oneOf": [record(*named, *value), {"title": "tombstone", **record(*named, *tombstone)}],
    }


def _offsets_records() -> Schema:
    members = record(
        Key("member_id", STRING, "Id of the member."),
        Key("protocol", nullable(STRING), "The protocol, whose name is the assignor's."),
        Key("subscription", _inner("subscription"), "Its Subscription."),
        Key("assignment", {"anyOf": [_inner("assignment"), NULL]}, "Its Assignment."),
        Key(
            "user_data",
            {"anyOf": [_inner("sticky-userdata"), _inner("cooperative-userdata"), NULL]},
            "UserData.",
        ),
    )
    refused = record(
        Key("type", nullable(INTEGER), "Number of the record type, where it was read."),
        Key("name", nullable(STRING), "Its name, `UNKNOWN` where Kafka 4.4 has none."),
        Key("key", {"type": ["object", "null"]}, "The key, where it was read."),
        Key("version", nullable(INTEGER), "Version of the value, where it was read."),
        Key("value", NULL, "Null."),
        *ERROR,
    )
    words = "With `--members`: what each member of the record wrote."
    return {
        **record(VERSION, NOTES, Key("members", array(members), words, is_optional=True)),
        "oneOf": [*map(_record_of, RECORD_TYPES), {"title": "refused", **refused}],
    }


# Rows of replay

CODES: Mapping[str, Mapping[str, Iterable[str]]] = {
    "groups": {"severity": Severity},
    "findings": {"kind": FINDINGS, "severity": Severity},
}
"""Table -> column -> the codes that it holds."""


def _replayed() -> Schema:
    def table(name: str) -> Schema:
        columns = record(*_coded(row_keys(TABLES[name]), CODES.get(name, {})))
        row = Key("row", columns, "A row; null is a column that is not known.")
        return {"title": name, **_answer(Key("table", constant(name), "Name of the table."), row)}

    left_out = _answer(
        Key("table", constant("offsets"), "Name of the table."),
        Key("row", NULL, "Null."),
        Key("left_out", COUNT, "So many commits are not shown."),
    )
    return {"oneOf": [*map(table, TABLES), {"title": "left out", **left_out}]}


# Simulations


def _watched() -> Schema:
    kinds: dict[str, Iterable[str]] = {"kind": [*FINDINGS, *WatchKind], "severity": Severity}
    alert = record(*_coded(row_keys(Alert), kinds))
    return _answer(Key("alert", alert, "An event of an alert; times are of the topic."))


def _played() -> Schema:
    own_id = Key("id", nullable({"type": ["string", "integer"]}), "The `id` of the input line.")
    figures = _coded(row_keys(Outcome), {"kind": GroupEventKind})
    named = (
        Key("seed", INTEGER, "Of the history, where it was read.", is_optional=True),
        Key("assignor", STRING, "Full name of the assignor that failed.", is_optional=True),
    )
    note = schema_of(answers.NoteRow, is_open=True)
    asked = (
        Key("seed", NULL, "Null: nothing was drawn."),
        Key("asked", nullable(STRING), "The event as it was asked for; null: the start."),
        Key("notes", array(note), "At the start: what was assumed about the group."),
        Key("loads_before", mapping(COUNT), "Member id -> partitions before the event."),
        Key("loads_after", mapping(COUNT), "Member id -> partitions once the group has settled."),
    )
    others = (key for key in figures if key.name != "seed")
    return {
        "oneOf": [
            {"title": "outcome", **_answer(own_id, *figures)},
            {"title": "asked for", **_answer(own_id, *others, *asked)},
            {"title": "failed", **record(VERSION, own_id, *named, *ERROR)},
        ]
    }


def _sizes() -> Schema:
    return _after(
        schema_of(Parameters),
        Key("seed", INTEGER, "What the history is drawn from."),
        Key("id", ANY, "Returned with each outcome.", is_optional=True),
    )


RUN = (
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


def _timed() -> Schema:
    """Return the figures of a run: those of every run, then those of each feature."""
    keys = {key.name: key for key in row_keys(TimedResult)}
    features = (
        Key(
            feature,
            record(*(keys[name] for name in names)),
            FEATURE_TEXTS[feature],
            is_optional=feature not in EXPLAINING,
        )
        for feature, names in FEATURES.items()
    )
    return _or_failed("result", RUN, [*(keys[name] for name in OF_EVERY_RUN), *features])


COUNTS = mapping(COUNT)
FUZZED = (
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
_VALUE: Schema = {"type": ["number", "boolean", "string", "null"]}
LISTED = (
    Key("scenario", STRING, "Its name."),
    Key("protocols", array(one_of(GroupProtocol)), "Protocols that it is meant for."),
    Key("text", STRING, "What it shows."),
    Key(
        "expected",
        mapping(mapping({"anyOf": [_VALUE, pair(NUMBER, NUMBER)]})),
        "Protocol -> figure -> value, or the least and the greatest.",
    ),
)


def _measured() -> Schema:
    texts = {key.name: key.text for kind in (Load, Settings) for key in row_keys(kind)}
    point = (
        Key("model", MODEL.schema(), "Name of the execution model."),
        *(
            Key(name, each.kind.schema(), texts.get(name, ""), is_optional=each.default is None)
            for name, each in FIELDS.items()
        ),
    )

    def figure(key: Key) -> Key:
        """Return a key that is left out where it would be null."""
        kind = key.type["type"]
        is_null = isinstance(kind, list)
        return replace(key, type={"type": kind[0]}, is_optional=True) if is_null else key

    figures = map(figure, (*row_keys(Measured), *row_keys(Derived)))
    return _or_failed("measured", point, figures)


def _simulated_traffic() -> Schema:
    run = (
        Key("scenario", STRING, "Name of the scenario."),
        Key("seed", INTEGER, "Seed of the run."),
        Key("assignor", STRING, "Name of the assignor."),
    )
    return _or_failed("simulated", run, row_keys(TrafficResult))


# Vectors

OBJECT: Schema = {"type": ["object", "null"]}


def _conformed() -> Schema:
    failed = _answer(
        Key("id", STRING, "Of the vector."),
        Key("category", STRING, "Of the vector."),
        Key("judge", one_of(Judge), "Which comparison applies."),
        Key("wrong", array(STRING), "What is wrong, in sentences."),
        Key("expected", OBJECT, "What Kafka's classes answered."),
        Key("answer", OBJECT, "What the program answered; null: nothing that is an answer."),
        Key("note", nullable(STRING), "What is special about the vector."),
    )
    category = _answer(
        Key("category", STRING, "Of vectors."),
        *(Key(one.value, COUNT, f"Vectors that {one.value}.") for one in Status),
        Key("reasons", mapping(COUNT), "Why vectors were skipped -> how many."),
    )
    return {"oneOf": [{"title": "failed", **failed}, {"title": "category", **category}]}


# All of them


def _assignors() -> Schema:
    return _answer(*_keys(answers.AssignorRow))


_READ: tuple[tuple[str, str, str, Callable[[], Schema]], ...] = (
    (
        "group",
        "assign, explain, what-if, simulate --set",
        "A group: topics, and members by their fields or by their Subscription bytes.",
        group_schema,
    ),
    (
        "check-request",
        "check",
        "A group, and the assignment to check.",
        lambda: group_schema(CheckKeys),
    ),
    (
        "weights",
        "assign, check, explain --weights",
        "Weights of partitions, for any group; more topics and members than a group may be there.",
        lambda: schema_of(*WEIGHTS_FILE),
    ),
    ("history", "histories", "A history to draw: a seed and sizes.", _sizes),
    (
        "group-with-events",
        "what-if",
        "A group as it is, and the events that are asked for.",
        lambda: group_schema(EventKeys),
    ),
    (
        "scenario",
        "simulate",
        "A scenario on a clock; also what --show writes.",
        lambda: _versioned(SCENARIO_VERSION, schema_of(Scenario)),
    ),
    (
        "sweep",
        "sweep",
        "Execution models of a coordinator, and the loads under which they are measured.",
        lambda: schema_of(Version, Sweep),
    ),
    (
        "traffic",
        "traffic",
        "Records that arrive at partitions, and members that process them.",
        lambda: _versioned(TRAFFIC_VERSION, schema_of(TrafficScenario)),
    ),
    (
        "record",
        "replay",
        "A record of a dump, with its bytes; also what dump and simulate --log write.",
        lambda: RAW_RECORD,
    ),
    (
        "partition-counts",
        "replay --partitions",
        "Partition counts by topic.",
        lambda: mapping(COUNT),
    ),
    (
        "log-ends",
        "replay --log-ends",
        "Where partitions ended at one moment; a line of the file.",
        lambda: schema_of(LogEnds),
    ),
)
_WRITTEN: tuple[tuple[str, str, str, Callable[[], Schema]], ...] = (
    *(
        (kind, f"decode {kind}", text, partial(_decoded, kind))
        for kind, (text, _) in DECODED.items()
    ),
    (
        "offsets-record",
        "decode offsets-record",
        "A record of `__consumer_offsets`, in the JSON form of Kafka's own formatter.",
        _offsets_records,
    ),
    ("assign", "assign --assignor", "The assignment of a group.", _assigned),
    (
        "compare",
        "assign --compare",
        "Several assignors on one group.",
        partial(_about_group, answers.CompareAnswer),
    ),
    (
        "check",
        "check",
        "What is wrong with an assignment.",
        partial(_about_group, answers.CheckAnswer),
    ),
    (
        "explain",
        "explain",
        "Why a partition moves, stays or waits.",
        partial(_about_group, answers.ExplainAnswer),
    ),
    ("assignors", "assignors", "An assignor of the registry.", _assignors),
    (
        "simulate",
        "histories, what-if",
        "The costs of one event under one assignor.",
        _played,
    ),
    ("timed", "simulate", "The costs of one run on a clock.", _timed),
    ("fuzz", "fuzz", "What random scenarios have shown.", lambda: _answer(*FUZZED)),
    (
        "intervals",
        "simulate --intervals",
        "A time in which a member consumed a partition.",
        lambda: _or_failed("result", RUN, row_keys(IntervalRow)),
    ),
    ("scenarios", "simulate --list", "A named scenario.", lambda: _answer(*LISTED)),
    (
        "sweep-point",
        "sweep",
        "What was measured of one execution model under one load.",
        _measured,
    ),
    ("traffic-run", "traffic", "Loads, lags and moves of one run.", _simulated_traffic),
    ("replay", "replay", "A row of a table.", _replayed),
    ("watch", "watch", "What happened to an alert.", _watched),
    ("conform", "conform", "A vector that failed, or the sums of a category.", _conformed),
)

FORMATS: Mapping[str, Format] = {
    name: Format(name=name, command=command, is_read=is_read, text=text, make=cache(make))
    for is_read, rows in ((True, _READ), (False, _WRITTEN))
    for name, command, text, make in rows
}
"""Name -> format."""

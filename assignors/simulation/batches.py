"""Arrow in, Arrow out: what Spark's workers run, and anything else that speaks Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from assignors.assignor import RebalanceProtocol
from assignors.checks import check
from assignors.documents.groups import group_from_document, partitions_from_document
from assignors.registry import assignor_named
from assignors.simulation.rounds.rows import outcome_rows
from wire import (
    Decoded,
    TopicPartitions,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
)

ROWS_A_BATCH = 2000

OUTCOME = pa.schema(
    [
        ("id", pa.string()),
        ("seed", pa.int64()),
        ("event", pa.int32()),
        ("kind", pa.string()),
        ("assignor", pa.string()),
        ("rounds", pa.int32()),
        ("moved", pa.int64()),
        ("moves_min", pa.int64()),
        ("withheld_rounds", pa.int32()),
        ("unassigned_partition_rounds", pa.int64()),
        ("withheld_left", pa.int64()),
        ("load_min", pa.int64()),
        ("load_max", pa.int64()),
        ("load_square_sum", pa.int64()),
        ("optimum", pa.int64()),
        ("violations", pa.int64()),
        ("is_settled", pa.bool_()),
        ("cpu_ms", pa.float64()),
        ("error", pa.string()),
    ]
)
"""One row a scenario, event and assignor; all null but the names where `error` is set."""

NOTES = pa.list_(pa.struct([("code", pa.string()), ("offset", pa.int64()), ("text", pa.string())]))
PARTITIONS = pa.list_(pa.struct([("topic", pa.string()), ("partitions", pa.list_(pa.int32()))]))

DECODED_SUBSCRIPTION = pa.struct(
    [
        ("version", pa.int32()),
        ("topics", pa.list_(pa.string())),
        ("user_data", pa.binary()),
        ("owned", PARTITIONS),
        ("generation", pa.int32()),
        ("rack", pa.string()),
        ("notes", NOTES),
        ("error", pa.string()),
    ]
)
DECODED_ASSIGNMENT = pa.struct(
    [
        ("version", pa.int32()),
        ("partitions", PARTITIONS),
        ("user_data", pa.binary()),
        ("notes", NOTES),
        ("error", pa.string()),
    ]
)
DECODED_USER_DATA = pa.struct(
    [
        ("owned", PARTITIONS),
        ("generation", pa.int32()),
        ("notes", NOTES),
        ("error", pa.string()),
    ]
)
ASSIGNED = pa.struct(
    [
        (
            "assignment",
            pa.list_(pa.struct([("member", pa.string()), ("partitions", PARTITIONS)])),
        ),
        ("withheld", PARTITIONS),
        ("follow_up", pa.bool_()),
        ("notes", pa.list_(pa.string())),
        ("error", pa.string()),
    ]
)
CHECKED = pa.struct(
    [
        (
            "violations",
            pa.list_(
                pa.struct(
                    [
                        ("rule", pa.string()),
                        ("topic", pa.string()),
                        ("partition", pa.int32()),
                        ("members", pa.list_(pa.string())),
                    ]
                )
            ),
        ),
        ("balance_gap", pa.int64()),
        ("moved", pa.int64()),
        ("moved_minimum", pa.int64()),
        ("error", pa.string()),
    ]
)


def simulate(
    batches: Iterable[pa.RecordBatch], *, assignors: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the outcome rows (`OUTCOME`) of scenario rows; see `rows.outcome_rows`.

    Memory: one input batch and `ROWS_A_BATCH` outcomes, whatever the number of rows.
    """
    rows = (row for batch in batches for row in _plain(batch))
    outcomes = outcome_rows(rows, assignors)
    while chunk := list(islice(outcomes, ROWS_A_BATCH)):
        yield pa.RecordBatch.from_pylist(chunk, schema=OUTCOME)


def decoded_subscriptions(blobs: pa.Array) -> pa.Array:
    """Return a binary column as `DECODED_SUBSCRIPTION` structs; null stays null."""
    return _decoded(blobs, decode_subscription, DECODED_SUBSCRIPTION, {"rack": "rack_id"})


def decoded_assignments(blobs: pa.Array) -> pa.Array:
    """Return a binary column as `DECODED_ASSIGNMENT` structs; null stays null."""
    return _decoded(blobs, decode_assignment, DECODED_ASSIGNMENT, {})


def decoded_sticky_user_data(blobs: pa.Array) -> pa.Array:
    """Return a binary column as `DECODED_USER_DATA` structs, read as the eager sticky layout."""
    return _decoded(blobs, decode_sticky_user_data, DECODED_USER_DATA, {})


def decoded_cooperative_user_data(blobs: pa.Array) -> pa.Array:
    """Return a binary column as `DECODED_USER_DATA` structs, read as the generation."""
    return _decoded(blobs, decode_cooperative_user_data, DECODED_USER_DATA, {})


def assigned_groups(topics: pa.Array, members: pa.Array, assignor: pa.Array) -> pa.Array:
    """Return an `ASSIGNED` struct for each group: topics, members and an assignor's name.

    `topics` is a map or structs of name and partitions; `members` are structs of id,
    instance and either subscription (bytes) or topics, owned, generation and rack.
    """
    answers = []
    for row in zip(topics.to_pylist(), members.to_pylist(), assignor.to_pylist(), strict=True):
        try:
            answers.append(_assigned(*row))
        except Exception as error:  # noqa: BLE001 - the assignor may be anybody's
            answers.append({"error": _said(error)})
    return pa.array(answers, type=ASSIGNED)


def checked_groups(
    topics: pa.Array, members: pa.Array, assignment: pa.Array, protocol: pa.Array
) -> pa.Array:
    """Return a `CHECKED` struct for each group and an assignment of it.

    `assignment` has structs of member and partitions, as `assigned_groups` gives them;
    `protocol` is `eager` or `cooperative`.
    """
    columns = [topics, members, assignment, protocol]
    answers = []
    for row in zip(*(column.to_pylist() for column in columns), strict=True):
        try:
            answers.append(_checked(*row))
        except Exception as error:  # noqa: BLE001 - one row's trouble stays its own
            answers.append({"error": _said(error)})
    return pa.array(answers, type=CHECKED)


def _plain(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Return the rows as dicts; maps, which Arrow gives as pairs, included."""
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def _decoded(
    blobs: pa.Array,
    decode: Callable[..., Decoded[Any]],
    shape: pa.DataType,
    renamed: dict[str, str],
) -> pa.Array:
    """Return a struct for each blob, its fields those of the decoded value."""
    names = [field.name for field in shape if field.name not in ("notes", "error")]
    structs: list[dict[str, Any] | None] = []
    for blob in blobs.to_pylist():
        if blob is None:
            structs.append(None)
            continue
        decoded = decode(blob)
        struct: dict[str, Any] = {
            "notes": [
                {"code": note.code.value, "offset": note.offset, "text": note.text}
                for note in decoded.notes
            ],
            "error": None if decoded.error is None else str(decoded.error),
        }
        if decoded.value is not None:
            for name in names:
                value = getattr(decoded.value, renamed.get(name, name))
                struct[name] = _pairs(value) if isinstance(value, dict) else value
        structs.append(struct)
    return pa.array(structs, type=shape)


def _assigned(topics: object, members: object, assignor: str) -> dict[str, Any]:
    group = group_from_document(_document(topics, members))
    answer = assignor_named(assignor).assign(group)
    return {
        "assignment": [
            {"member": member_id, "partitions": _pairs(partitions)}
            for member_id, partitions in answer.assignment.items()
        ],
        "withheld": _pairs(answer.withheld),
        "follow_up": answer.follow_up,
        "notes": [f"{note.member_id}: {note.code}: {note.text}" for note in answer.notes],
    }


def _checked(
    topics: object, members: object, assignment: list[Any], protocol: str | None
) -> dict[str, Any]:
    group = group_from_document(_document(topics, members))
    given = {
        entry["member"]: partitions_from_document(_lists(entry["partitions"]))
        for entry in assignment
    }
    report = check(group, given, protocol=RebalanceProtocol[(protocol or "eager").upper()])
    violations = [
        {
            "rule": found.rule.value,
            "topic": found.topic,
            "partition": found.partition,
            "members": list(found.members),
        }
        for found in report.violations
    ]
    gaps = {name: report.gaps[name] for name in ("balance_gap", "moved", "moved_minimum")}
    return {"violations": violations, **gaps}


def _document(topics: object, members: object) -> dict[str, Any]:
    """Return columns of a table as the JSON form of a group."""
    if not isinstance(topics, list) or not isinstance(members, list):
        raise ValueError("topics and members must not be null")
    counts = {}
    for entry in topics:
        name, count = (entry["name"], entry["partitions"]) if isinstance(entry, dict) else entry
        counts[name] = count
    described = []
    for member in members:
        fields = dict(member)
        for name in ("subscription", "user_data"):
            if fields.get(name) is not None:
                fields[name] = fields[name].hex()
        if fields.get("owned") is not None:
            fields["owned"] = _lists(fields["owned"])
        described.append(fields)
    return {"topics": counts, "members": described}


def _pairs(partitions: TopicPartitions) -> list[dict[str, Any]]:
    return [{"topic": topic, "partitions": list(n)} for topic, n in partitions.items()]


def _lists(partitions: list[dict[str, Any]]) -> list[list[Any]]:
    return [[entry["topic"], list(entry["partitions"])] for entry in partitions or []]


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

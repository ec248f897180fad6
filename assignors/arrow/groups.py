"""Columns of groups assigned and checked, a group a row.

A row that describes no group, or that an assignor refuses, is a struct with `error` set; its
neighbours are not concerned.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from assignors.arrow.codecs import partition_structs
from assignors.arrow.schemas import ASSIGNED, CHECKED
from assignors.assignor import RebalanceProtocol
from assignors.checks import check
from assignors.documents.groups import group_from_document, partitions_from_document
from assignors.registry import assignor_named


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


def _assigned(topics: object, members: object, assignor: str) -> dict[str, Any]:
    group = group_from_document(_document(topics, members))
    answer = assignor_named(assignor).assign(group)
    return {
        "assignment": [
            {"member": member_id, "partitions": partition_structs(partitions)}
            for member_id, partitions in answer.assignment.items()
        ],
        "withheld": partition_structs(answer.withheld),
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


def _lists(partitions: list[dict[str, Any]]) -> list[list[Any]]:
    return [[entry["topic"], list(entry["partitions"])] for entry in partitions or []]


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

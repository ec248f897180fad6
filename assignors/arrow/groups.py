"""Columns of groups assigned and checked, a group a row.

A row that describes no group, or that an assignor refuses, is a struct with `error` and
`error_kind` set; the other rows are not affected. Both are those of the JSON form of a group
(`assignors.documents.groups`): `expected a string, found null at members[0].topics[1]`.

`topics` is a map from name to partition count, or a list of structs (name, partitions).
`members` are structs of `id`, `instance` and either `subscription` (bytes) or `topics`, `owned`
(as `schemas.PARTITIONS`), `generation`, `rack_id` and `user_data` (bytes). All but `id`, and
`topics` where there is no Subscription, may be null or missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from assignors.arrow.codecs import partition_structs
from assignors.arrow.schemas import ASSIGNED, CHECKED
from assignors.assignor import Assignor, RebalanceProtocol
from assignors.checks import check
from assignors.documents.failures import error_columns
from assignors.documents.groups import MemberKeys, group_from_document
from assignors.documents.keys import keys_of
from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    Place,
    as_int32s,
    as_list,
    as_object,
    as_string,
    described,
)
from assignors.extras import imported_from
from assignors.group_bytes.subscriptions import read_members
from assignors.model import (
    Assignment,
    Group,
    MemberNote,
)
from assignors.registry import assignor_named
from wire import TopicPartitions

with imported_from("replay"):
    import pyarrow as pa

MEMBER = (*keys_of(MemberKeys), "rack")
"""Columns of a member that count; `rack` is the name before 0.3.0, which its reader refuses."""

GAPS = ("balance_gap", "moved", "moved_minimum", "topic_spread", "topic_spread_minimum")
"""The figures of a report that `CHECKED` has."""


def assigned_groups(topics: pa.Array, members: pa.Array, assignor: pa.Array) -> pa.Array:
    """Return an `ASSIGNED` struct for each group, from the assignor that its row names.

    `assignor` is a name of the registry, `sticky` or `java/sticky`: a name from data never
    imports a module. Cost: that of the assignors, and O(size of the columns).
    """
    return _answers(_assigned, ASSIGNED, topics, members, assignor)


def checked_groups(
    topics: pa.Array,
    members: pa.Array,
    assignment: pa.Array,
    protocol: pa.Array,
    withheld: pa.Array = None,  # PySpark accepts no optional type here
) -> pa.Array:
    """Return a `CHECKED` struct for each group and an assignment of it.

    `assignment` and `withheld` (what waits for the next round) are as `assigned_groups` gives
    them. `protocol` is `eager` or `cooperative`, null is eager: under `cooperative` a partition
    may only be given away once its owner has let go of it. A cooperative answer that withholds
    something is judged right only together with what it withholds; else that is `unassigned`.
    Cost: that of the optimal solver, and O(size of the columns).
    """
    columns = [topics, members, assignment, protocol]
    if withheld is not None:
        columns.append(withheld)
    return _answers(_checked, CHECKED, *columns)


def _answers(
    answer: Callable[..., dict[str, Any]], kind: pa.DataType, *columns: pa.Array
) -> pa.Array:
    """Return what `answer` returns for each row, or why it could not."""
    answers = []
    for row in zip(*(column.to_pylist() for column in columns), strict=True):
        try:
            answers.append(answer(*row))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a row stays in it
            answers.append(error_columns(error))
    return pa.array(answers, type=kind)


def _assigned(topics: object, members: object, assignor: object) -> dict[str, Any]:
    chosen = _registered(assignor)
    answer = chosen.assign(_group(topics, members))
    return {
        "assignment": [
            {"member": member_id, "partitions": partition_structs(partitions)}
            for member_id, partitions in answer.assignment.items()
        ],
        "withheld": partition_structs(answer.withheld),
        "follow_up": answer.follow_up,
        "notes": _notes(answer.notes),
    }


def _checked(
    topics: object,
    members: object,
    assignment: object,
    protocol: object,
    withheld: object = None,
) -> dict[str, Any]:
    report = check(
        _group(topics, members),
        _assignment(assignment),
        withheld=_partitions(withheld, ("withheld",)),
        protocol=_protocol(protocol),
    )
    violations = [
        {
            "rule": violation.rule.value,
            "topic": violation.topic,
            "partition": violation.partition,
            "members": list(violation.members),
        }
        for violation in report.violations
    ]
    gaps = {name: report.gaps[name] for name in GAPS}
    return {"violations": violations, **gaps, "notes": _notes(report.notes)}


def _notes(notes: Iterable[MemberNote]) -> list[str]:
    """Return each note as a text, behind the member that it is about, if it is about one."""
    return [
        f"{'' if note.member_id is None else f'{note.member_id}: '}{note.code}: {note.text}"
        for note in notes
    ]


def _registered(name: object) -> Assignor:
    """Return an assignor of the registry: names come from data, which must not import modules."""
    if isinstance(name, str) and ":" in name:
        words = f"no assignor {name!r} in the registry, and a column's names import nothing"
        raise ValueError(words)
    return assignor_named(as_string(name, ("assignor",)))


def _protocol(name: object) -> RebalanceProtocol:
    protocol = "EAGER" if name is None else as_string(name, ("protocol",)).upper()
    if protocol not in RebalanceProtocol.__members__:
        words = f'expected "eager" or "cooperative", found {described(name)}'
        raise DocumentError(ErrorCode.UNKNOWN, words, ("protocol",))
    return RebalanceProtocol[protocol]


def _group(topics: object, members: object) -> Group:
    """Return the group of a row: that of its JSON form.

    Subscriptions are read together where members have nothing else.
    """
    if not isinstance(topics, list) or not isinstance(members, list):
        raise ValueError("topics and members must not be null")
    listed = [_member(entry, ("members", position)) for position, entry in enumerate(members)]
    counts: dict[str, object] = {}
    for position, entry in enumerate(topics):
        here: Place = ("topics", position)
        name, count = _pair(entry, ("name", "partitions"), here)
        topic = as_string(name, (*here, 0))
        if topic in counts:
            raise DocumentError(ErrorCode.REPEATED, f"topic {topic!r} occurs twice", here)
        counts[topic] = count
    are_bytes = (
        isinstance(one, dict)
        and isinstance(one.get("subscription"), bytes)
        and one.keys() <= {"id", "instance", "subscription"}
        for one in listed
    )
    if not all(are_bytes):
        return group_from_document({"topics": counts, "members": listed})
    cluster = group_from_document({"topics": counts, "members": []}).cluster
    ids = [as_string(one.get("id"), ("members", n, "id")) for n, one in enumerate(listed)]
    _require_distinct(ids, "group", ("members",), "id")
    blobs = {name: one["subscription"] for name, one in zip(ids, listed, strict=True)}
    instances = {
        name: as_string(one["instance"], ("members", n, "instance"))
        for n, (name, one) in enumerate(zip(ids, listed, strict=True))
        if one.get("instance") is not None
    }
    return Group(cluster=cluster, members=read_members(blobs, instances))


def _member(entry: object, place: Place) -> dict[str, Any]:
    """Return the JSON form of a member; further columns of its struct have no effect."""
    if not isinstance(entry, dict):
        return entry  # type: ignore[return-value]  # its reader refuses it
    fields = {name: entry[name] for name in MEMBER if entry.get(name) is not None}
    owned = fields.get("owned")
    if isinstance(owned, list):
        pairs = [
            _pair(one, ("topic", "partitions"), (*place, "owned", n)) for n, one in enumerate(owned)
        ]
        fields["owned"] = [*map(list, pairs)]
    return fields


def _assignment(entries: object) -> Assignment:
    place: Place = ("assignment",)
    pairs = [
        _pair(entry, ("member", "partitions"), (*place, position))
        for position, entry in enumerate(as_list(entries, place))
    ]
    member_ids = [
        as_string(member_id, (*place, position, 0)) for position, (member_id, _) in enumerate(pairs)
    ]
    _require_distinct(member_ids, "assignment", place, 0)
    return {
        member_id: _partitions(partitions, (*place, position, 1))
        for position, (member_id, (_, partitions)) in enumerate(zip(member_ids, pairs, strict=True))
    }


def _partitions(entries: object, place: Place) -> TopicPartitions:
    """Return partitions by topic; a topic that is there twice is merged, in order."""
    if entries is None:
        return {}
    merged: dict[str, list[int]] = {}
    for position, entry in enumerate(as_list(entries, place)):
        here = (*place, position)
        name, listed = _pair(entry, ("topic", "partitions"), here)
        topic = as_string(name, (*here, 0))
        merged.setdefault(topic, []).extend(as_int32s(listed, (*here, 1)))
    return {topic: tuple(listed) for topic, listed in merged.items()}


def _pair(entry: object, columns: tuple[str, str], place: Place) -> tuple[object, object]:
    """Return key and value of an entry: of a map, where Arrow gives a pair, or of a struct."""
    if isinstance(entry, tuple):
        key, value = entry
        return key, value
    fields = as_object(entry, place)
    return fields.get(columns[0]), fields.get(columns[1])


def _require_distinct(member_ids: list[str], where: str, place: Place, column: str | int) -> None:
    """Raise `DocumentError` for the first member id that another member has, too."""
    known: set[str] = set()
    for position, member_id in enumerate(member_ids):
        if member_id in known:
            words = f"member {member_id!r} occurs twice in the {where}"
            raise DocumentError(ErrorCode.REPEATED, words, (*place, position, column))
        known.add(member_id)

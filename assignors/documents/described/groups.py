"""Join what the tool prints about each group, and make a group's document of it.

`--members --verbose` has members and who consumes what; `--offsets` the same by partition, and the
committed partitions that nobody has; `--state` whether the group rebalances. What no table has is
assumed, and each assumption is a note: subscriptions, partitions above the highest number seen,
generations, racks. The coordinator itself says who has what, so every member counts as one of the
last generation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from assignors.documents.described.rows import Described, Owned, read_rows
from assignors.documents.described.tables import (
    Remark,
    Table,
    at_line,
    by_group,
    lines_before_tables,
    read_tables,
    require_consumer_groups,
)
from assignors.documents.terminal import skipped_text
from assignors.documents.values import Document, DocumentError, ErrorCode

ASSUMED_GENERATION = 1
"""Generation of the group and of all members where the text has no epochs."""


class AssumptionCode(StrEnum):
    """Codes of notes on what was assumed about a group."""

    NO_MEMBERS = "no-members"
    """The group has no members."""
    RECONCILING = "reconciling"
    """The group is reconciling: what members own is not yet their target."""
    REBALANCING = "rebalancing"
    """The group was in a rebalance: what members own may be incomplete."""
    SUBSCRIPTIONS_ASSUMED = "subscriptions-assumed"
    """The tool prints no subscriptions; `--assume-subscriptions` says which."""
    PARTITION_COUNTS_ASSUMED = "partition-counts-assumed"
    """Partition counts are the highest number seen, plus one; `--topic` gives them."""
    MEMBERS_WITHOUT_PARTITIONS = "members-without-partitions"
    """The table lists no members without partitions; they are left out."""
    TOPICS_WITHOUT_MEMBER = "topics-without-member"
    """Offsets are committed for topics of which no member has a partition."""
    GENERATION_ASSUMED = "generation-assumed"
    """No generations are printed: all members count as of the last one."""
    RACKS_UNKNOWN = "racks-unknown"
    """The tool prints no racks: none are used."""
    RACKS_UNUSED = "racks-unused"
    """The simulation in rounds does not use the racks of partitions."""
    LINES_SKIPPED = "lines-skipped"
    """Lines before the first table are not read."""
    COUNT_DIFFERS = "count-differs"
    """A member has more partitions than its row counts; those that are listed are taken."""
    MEMBER_IDS_ASSUMED = "member-ids-assumed"
    """New members of a simulation have ids that are made up, and assignors may go by ids."""


class Assumed(StrEnum):
    """Which topics members subscribe to, as the tool does not print subscriptions."""

    EQUAL = "equal"
    """All topics that some member of the group has partitions of."""
    ASSIGNED = "assigned"
    """The topics that the member itself has partitions of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedGroup:
    """A group of the text: its document, or why it has none."""

    name: str | None
    """`None` where the text has no column GROUP."""
    document: Document = field(default_factory=dict)
    """As `documents.groups.group_from_document` takes it."""
    topics: Sequence[str] = ()
    """Topics that the text has of it, sorted."""
    assignment: Mapping[str, Owned] = field(default_factory=dict)
    """What the coordinator has decided, by member id: the target where one is printed."""
    notes: tuple[Document, ...] = ()
    """What was assumed: code and text."""
    error: DocumentError | None = None


def described_groups(
    text: str,
    *,
    assumed: Assumed = Assumed.EQUAL,
    partition_counts: Mapping[str, int] | None = None,
) -> list[DescribedGroup]:
    r"""Return the groups of the tool's output, in order; several tables of a group are joined.

    `partition_counts`, by topic, stands in place of what the text shows of those topics. A group
    that cannot be read has its `error`, with the number of the line, and the others are complete.
    Raises `DocumentError` if the text does not begin as the tool's output. Cost: linear in the
    text.

    >>> found, = described_groups(
    ...     "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT\n"
    ...     "shop  a           /h   c         2           orders(0,1)\n"
    ... )
    >>> found.name, found.document["topics"], found.document["members"][0]["owned"]
    ('shop', {'orders': 2}, {'orders': [0, 1]})
    """
    tables, remarks = read_tables(text)
    parts: dict[str | None, list[Table]] = {}
    for name, table in by_group(tables):
        parts.setdefault(name, []).append(table)
    said: dict[str | None, list[Remark]] = {}
    for remark in remarks:
        # Before 2.4 tables have no names: a remark is about the one group that there is.
        name = None if None in parts and remark.group not in parts else remark.group
        said.setdefault(name, []).append(remark)
        parts.setdefault(name, [])
    if not parts:
        raise DocumentError(ErrorCode.MISSING, "a header and no group below it")
    counts = partition_counts or {}
    groups = []
    for name in sorted(parts, key=lambda name: _first_line(parts[name], said.get(name, []))):
        remarked = said.get(name, [])
        groups.append(_group(name, parts[name], remarked, assumed=assumed, counts=counts))
    skipped = lines_before_tables(text)
    if not skipped:
        return groups
    note = assumption(AssumptionCode.LINES_SKIPPED, skipped_text(skipped, "the first table"))
    return [replace(group, notes=(note, *group.notes)) for group in groups]


def _first_line(tables: list[Table], remarks: list[Remark]) -> int:
    return min([table.line for table in tables] + [remark.line for remark in remarks])


def _group(
    name: str | None,
    tables: list[Table],
    remarks: list[Remark],
    *,
    assumed: Assumed,
    counts: Mapping[str, int],
) -> DescribedGroup:
    described = Described()
    try:
        for table in tables:
            require_consumer_groups(table)
            if table.error is not None:
                raise table.error
            read_rows(described, table)
        described.is_at_rest &= all(remark.says != "is rebalancing" for remark in remarks)
        current, target = _assignments(described, tables, remarks)
        return _with_document(name, described, current, target, assumed=assumed, counts=counts)
    except DocumentError as error:
        return DescribedGroup(name=name, error=error)


def _assignments(
    described: Described, tables: list[Table], remarks: list[Remark]
) -> tuple[dict[str, Owned], dict[str, Owned] | None]:
    """Return what each member has, and the target if there is one; an error if nobody says it."""
    missing = next((remark for remark in remarks if remark.says == "does not exist"), None)
    if missing is not None and not tables:
        words = f"the tool says that group {missing.group!r} does not exist"
        raise at_line(missing.line, words, ErrorCode.UNKNOWN)
    rows = described.members
    is_empty = any(remark.says == "has no active members" for remark in remarks)
    if not rows and not described.has_offsets and not is_empty:
        line = tables[0].line if tables else 1
        raise at_line(line, "no members here: add --members --verbose", ErrorCode.MISSING)
    if not rows:
        return _sorted(described.owners), None
    unsaid = next((row for row in rows.values() if row.owned is None), None)
    if unsaid is None:
        current = {member_id: row.owned or {} for member_id, row in rows.items()}
        targets = {member_id: row.target for member_id, row in rows.items()}
        is_known = any(target is not None for target in targets.values())
        filled = {member_id: target or {} for member_id, target in targets.items()}
        return current, filled if is_known else None
    if not described.has_offsets:
        words = "no assignment in this table: add --verbose, or the output of --offsets"
        if described.without_topics:
            words = (
                "this release of the tool prints assignments without their topics (3.9.0 does): "
                "add the output of --offsets"
            )
        raise at_line(unsaid.line, words, ErrorCode.MISSING)
    owners = _sorted(described.owners)
    return {member_id: owners.get(member_id, {}) for member_id in rows}, None


def _sorted(owners: Mapping[str, Mapping[str, Sequence[int]]]) -> dict[str, Owned]:
    """Return partitions sorted by topic and number: `--offsets` prints them in any order."""
    return {
        member_id: {topic: tuple(sorted(owned[topic])) for topic in sorted(owned)}
        for member_id, owned in owners.items()
    }


def _with_document(
    name: str | None,
    described: Described,
    current: dict[str, Owned],
    target: dict[str, Owned] | None,
    *,
    assumed: Assumed,
    counts: Mapping[str, int],
) -> DescribedGroup:
    wanted = target or {}
    seen = _highest(described, current, wanted)
    topics = {topic: counts.get(topic, highest + 1) for topic, highest in seen.items()}
    for topic, highest in seen.items():
        if topics[topic] <= highest:
            words = f"{topics[topic]} partitions given, and the text has partition {highest}"
            error = DocumentError(ErrorCode.OUT_OF_RANGE, words, ("topics", topic))
            return DescribedGroup(name=name, topics=tuple(topics), error=error)
    consumed = sorted({topic for owned in (*current.values(), *wanted.values()) for topic in owned})
    epochs = {row.epoch for row in described.members.values() if row.epoch is not None}
    generation = max(epochs, default=ASSUMED_GENERATION)
    members: list[Document] = []
    for member_id, owned in current.items():
        own = sorted({*owned, *wanted.get(member_id, {})})
        member: Document = {
            "id": member_id,
            "topics": consumed if assumed is Assumed.EQUAL else own,
            "owned": {topic: list(numbers) for topic, numbers in owned.items()},
            "generation": generation,
        }
        if member_id in described.instances:
            member["instance"] = described.instances[member_id]
        members.append(member)
    notes = [*_notes(described, seen, consumed, assumed, counts)]
    if not members:
        notes = [assumption(AssumptionCode.NO_MEMBERS, "the group has no members")]
    if not described.is_at_rest:
        text = "the group is rebalancing: what members own may be incomplete"
        notes.append(assumption(AssumptionCode.REBALANCING, text))
    if target is not None and target != current:
        text = "the group is reconciling: members own CURRENT-ASSIGNMENT, the target is another"
        notes.append(assumption(AssumptionCode.RECONCILING, text))
    return DescribedGroup(
        name=name,
        topics=tuple(topics),
        document={"topics": topics, "generation": generation, "members": members},
        assignment=target or current,
        notes=tuple(notes),
    )


def _highest(
    described: Described, current: Mapping[str, Owned], target: Mapping[str, Owned]
) -> dict[str, int]:
    """Return topic -> the highest partition number in any table, topics sorted."""
    numbers: dict[str, int] = {}
    committed = ({topic: tuple(found) for topic, found in described.committed.items()},)
    for owned in (*current.values(), *target.values(), *committed):
        for topic, listed in owned.items():
            numbers[topic] = max(numbers.get(topic, -1), *listed)
    return dict(sorted(numbers.items()))


def _notes(
    described: Described,
    seen: Mapping[str, int],
    consumed: list[str],
    assumed: Assumed,
    counts: Mapping[str, int],
) -> Iterator[Document]:
    """Yield what was assumed about a group that has members."""
    whom = {
        Assumed.EQUAL: "every member is taken to subscribe to all topics of the group",
        Assumed.ASSIGNED: "every member is taken to subscribe to the topics it has partitions of",
    }
    yield assumption(
        AssumptionCode.SUBSCRIPTIONS_ASSUMED, f"the tool prints no subscriptions: {whom[assumed]}"
    )
    guessed = [f"{topic} {highest + 1}" for topic, highest in seen.items() if topic not in counts]
    if guessed:
        text = f"partition counts are the highest number seen, plus one: {', '.join(guessed)}"
        yield assumption(AssumptionCode.PARTITION_COUNTS_ASSUMED, text)
    if not described.members:
        text = "--offsets lists no members without partitions: if there are any, they are left out"
        yield assumption(AssumptionCode.MEMBERS_WITHOUT_PARTITIONS, text)
    unused = [topic for topic in seen if topic not in consumed]
    if unused:
        text = f"offsets are committed, but no member has a partition: {', '.join(unused)}"
        yield assumption(AssumptionCode.TOPICS_WITHOUT_MEMBER, text)
    for member_id, count in described.counted.items():
        text = (
            f"member {member_id}: #PARTITIONS says {count}, the assignment has more, and is taken"
        )
        yield assumption(AssumptionCode.COUNT_DIFFERS, text)
    if all(row.epoch is None for row in described.members.values()):
        yield assumption(
            AssumptionCode.GENERATION_ASSUMED,
            "no generations are printed: all members are taken to be of the last one",
        )
    yield assumption(AssumptionCode.RACKS_UNKNOWN, "the tool prints no racks: none are used")


def assumption(code: AssumptionCode, text: str) -> Document:
    """Return a note on the whole group, in the shape of a member's note."""
    return {"member": None, "code": code.value, "text": text}

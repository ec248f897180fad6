"""Hides names in a group's history, so that tables and reports can be given to others.

Hidden are group names, hosts, client ids, and the member and instance ids that are made from them;
the metadata of commits too, which is free text. Topic names stay, and so do numbers and times. A
name has the same label in all tables and in all evidence, as names are replaced before figures,
rows and findings are made. Outcomes alone are computed before, as assignors break ties by member
id; so is the guess of a leader's library, which goes by its client id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from assignors.replay.history.model import (
    Generation,
    GroupHistory,
    Life,
    Participant,
    Takeover,
)
from assignors.replay.tables.rows import OffsetRow, OutcomeRow


class Hidden(StrEnum):
    """What kind of name is hidden; the value is the first part of a label."""

    GROUP = "group"
    CLIENT = "client"
    HOST = "host"
    MEMBER = "member"
    INSTANCE = "instance"


Label = Callable[[Hidden, str], str]
"""From the kind of a name, and the name, to its label."""

METADATA_HIDDEN = "(hidden)"


@dataclass(frozen=True, slots=True)
class Numbered:
    """Labels that count: `member-1` is the first member of the records."""

    numbers: Mapping[tuple[Hidden, str], int]

    def __call__(self, what: Hidden, name: str) -> str:
        """Return the label of a name that was numbered; an empty one stays empty."""
        return f"{what.value}-{self.numbers[what, name]}" if name else name


def numbered(names: Iterable[tuple[Hidden, str]]) -> Numbered:
    """Return labels that number names among those of their kind, in the order they occur in.

    >>> label = numbered([(Hidden.HOST, "b"), (Hidden.HOST, "a"), (Hidden.HOST, "b")])
    >>> label(Hidden.HOST, "a"), label(Hidden.HOST, "")
    ('host-2', '')
    """
    numbers: dict[tuple[Hidden, str], int] = {}
    counts = dict.fromkeys(Hidden, 0)
    for what, name in names:
        if name and (what, name) not in numbers:
            counts[what] += 1
            numbers[what, name] = counts[what]
    return Numbered(numbers)


def names_of(history: GroupHistory) -> Iterator[tuple[Hidden, str]]:
    """Return every name in a history with its kind, each once, in the order of the records."""
    found: dict[tuple[Hidden, str], None] = {}

    def noted(what: Hidden, name: str) -> str:
        found[what, name] = None
        return name

    redacted(replace(history, commits=()), noted)  # their names are those of members
    return iter(found)


def keyed(key: bytes) -> Label:
    """Return labels that are keyed hashes of names: the same on every machine that has the key.

    `key` has up to 64 bytes; the rest is ignored. Whoever has it can test guesses of names, so keep
    it secret.

    >>> keyed(b"secret")(Hidden.GROUP, "orders") == keyed(b"secret")(Hidden.GROUP, "orders")
    True
    """
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, and no other label needs it

    def label(what: Hidden, name: str) -> str:
        if not name:
            return name
        mark = blake2b(name.encode("utf-8", "surrogatepass"), key=key[:64], digest_size=6)
        return f"{what.value}-{mark.hexdigest()}"

    return label


def redacted(history: GroupHistory, label: Label) -> GroupHistory:
    """Return a history with every name replaced by its label. Cost: linear."""
    return replace(
        history,
        group=label(Hidden.GROUP, history.group),
        lives=tuple(_life(life, label) for life in history.lives),
        commits=tuple(_commit(commit, label) for commit in history.commits),
    )


def redacted_outcome(row: OutcomeRow, group: str) -> OutcomeRow:
    """Return an outcome under the group's label; of an error only its type is left.

    The text of an assignor's error may contain names.
    """
    error = None if row.error is None else row.error.partition(": ")[0]
    return replace(row, group=group, error=error)


def _life(life: Life, label: Label) -> Life:
    return replace(
        life,
        generations=tuple(_generation(generation, label) for generation in life.generations),
        replaced=tuple(_member(member, label) for member in life.replaced),
        takeovers=tuple(_takeover(one, label) for one in life.takeovers),
        changes=tuple(
            replace(change, member_id=label(Hidden.MEMBER, change.member_id))
            for change in life.changes
        ),
    )


def _generation(generation: Generation, label: Label) -> Generation:
    leader_id = generation.leader_id
    return replace(
        generation,
        leader_id=None if leader_id is None else label(Hidden.MEMBER, leader_id),
        members=tuple(_member(member, label) for member in generation.members),
    )


def _member(member: Participant, label: Label) -> Participant:
    instance_id = member.instance_id
    return replace(
        member,
        group=label(Hidden.GROUP, member.group),
        member_id=label(Hidden.MEMBER, member.member_id),
        client_id=label(Hidden.CLIENT, member.client_id),
        host=label(Hidden.HOST, member.host),
        instance_id=None if instance_id is None else label(Hidden.INSTANCE, instance_id),
    )


def _takeover(one: Takeover, label: Label) -> Takeover:
    return replace(
        one,
        instance_id=label(Hidden.INSTANCE, one.instance_id),
        before=_member(one.before, label),
        after=_member(one.after, label),
    )


def _commit(commit: OffsetRow, label: Label) -> OffsetRow:
    holder = commit.holder_id
    return replace(
        commit,
        group=label(Hidden.GROUP, commit.group),
        holder_id=None if holder is None else label(Hidden.MEMBER, holder),
        metadata=METADATA_HIDDEN if commit.metadata else commit.metadata,
    )

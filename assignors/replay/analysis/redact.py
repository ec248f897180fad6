"""Hides names in a group's analysis, so that tables and reports can be given to others.

Hidden are group names, hosts, client ids, and the member and instance ids that are made from them;
the metadata of commits too, which is free text. Topic names stay, and so do numbers and times. A
name has the same label in all tables and in all evidence, as names are replaced before rows and
findings are made.

Outcomes are computed before names are hidden, as assignors break ties by member id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from assignors.ownership.changes import Change
from assignors.ownership.double import Overlap
from assignors.ownership.intervals import Ownership
from assignors.replay.analysis.drops import drops_of
from assignors.replay.analysis.figures import Figures
from assignors.replay.analysis.group_analysis import GenerationAnalysis, GroupAnalysis, LifeAnalysis
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


def numbered(histories: Iterable[GroupHistory]) -> Numbered:
    """Return labels for every name in the histories, numbered in the order of `names_of`."""
    return Numbered(numbers_of(name for history in histories for name in names_of(history)))


def numbers_of(names: Iterable[tuple[Hidden, str]]) -> dict[tuple[Hidden, str], int]:
    """Return each name with its number among those of its kind, in the order they occur in.

    Empty names have none.

    >>> host = Hidden.HOST
    >>> list(numbers_of([(host, "b"), (host, ""), (host, "a"), (host, "b")]).values())
    [1, 2]
    """
    numbers: dict[tuple[Hidden, str], int] = {}
    counts = dict.fromkeys(Hidden, 0)
    for what, name in names:
        if name and (what, name) not in numbers:
            counts[what] += 1
            numbers[what, name] = counts[what]
    return numbers


def names_of(history: GroupHistory) -> Iterator[tuple[Hidden, str]]:
    """Yield every name in a history with its kind, in the order of the records."""
    yield Hidden.GROUP, history.group
    for life in history.lives:
        for generation in life.generations:
            yield Hidden.MEMBER, generation.leader_id or ""
            yield from _names_of(generation.members)
        yield from _names_of(life.replaced)
        for change in life.changes:
            yield Hidden.MEMBER, change.member_id


def _names_of(members: Iterable[Participant]) -> Iterator[tuple[Hidden, str]]:
    for member in members:
        yield Hidden.MEMBER, member.member_id
        yield Hidden.CLIENT, member.client_id
        yield Hidden.HOST, member.host
        yield Hidden.INSTANCE, member.instance_id or ""


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


def redacted(analysis: GroupAnalysis, label: Label) -> GroupAnalysis:
    """Return the analysis of a group with every name replaced by its label. Cost: linear."""
    history = analysis.history
    lives = tuple(_life(life_analysis, label) for life_analysis in analysis.lives)
    commits = tuple(_commit(commit, label) for commit in history.commits)
    return replace(
        analysis,
        history=replace(
            history,
            group=label(Hidden.GROUP, history.group),
            lives=tuple(life_analysis.life for life_analysis in lives),
            commits=commits,
        ),
        lives=lives,
        drops=tuple(drops_of(commits)),
    )


def redacted_outcome(row: OutcomeRow, group: str) -> OutcomeRow:
    """Return an outcome under the group's label; of an error only its type is left.

    The text of an assignor's error may contain names.
    """
    error = None if row.error is None else row.error.partition(": ")[0]
    return replace(row, group=group, error=error)


def _life(analysis: LifeAnalysis, label: Label) -> LifeAnalysis:
    generations = tuple(_analysed(analysed, label) for analysed in analysis.generations)
    hidden: dict[int, Ownership] = {
        id(interval): replace(interval, member_id=label(Hidden.MEMBER, interval.member_id))
        for interval in analysis.ownerships
    }
    life: Life = replace(
        analysis.life,
        generations=tuple(analysed.generation for analysed in generations),
        replaced=tuple(_member(member, label) for member in analysis.life.replaced),
        takeovers=tuple(_takeover(one, label) for one in analysis.life.takeovers),
        changes=tuple(_change(change, label) for change in analysis.life.changes),
    )
    return LifeAnalysis(
        life=life,
        generations=generations,
        ownerships=tuple(hidden[id(interval)] for interval in analysis.ownerships),
        overlaps=tuple(
            Overlap(
                first=hidden[id(overlap.first)],
                second=hidden[id(overlap.second)],
                start=overlap.start,
                end=overlap.end,
            )
            for overlap in analysis.overlaps
        ),
    )


def _analysed(analysed: GenerationAnalysis, label: Label) -> GenerationAnalysis:
    before = analysed.before
    return GenerationAnalysis(
        generation=_generation(analysed.generation, label),
        before=None if before is None else _generation(before, label),
        figures=_figures(analysed.figures, label),
        writer=analysed.writer,
        lag=analysed.lag,
        rates=analysed.rates,
        uses=analysed.uses,
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


def _figures(counted: Figures, label: Label) -> Figures:
    return replace(
        counted,
        joined=tuple(label(Hidden.MEMBER, name) for name in counted.joined),
        left=tuple(label(Hidden.MEMBER, name) for name in counted.left),
        fair={label(Hidden.MEMBER, name): bounds for name, bounds in counted.fair.items()},
    )


def _change(change: Change, label: Label) -> Change:
    return replace(change, member_id=label(Hidden.MEMBER, change.member_id))


def _commit(commit: OffsetRow, label: Label) -> OffsetRow:
    holder = commit.holder_id
    return replace(
        commit,
        group=label(Hidden.GROUP, commit.group),
        holder_id=None if holder is None else label(Hidden.MEMBER, holder),
        metadata=METADATA_HIDDEN if commit.metadata else commit.metadata,
    )

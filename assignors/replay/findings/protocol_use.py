"""Bytes that do not follow the protocol, and claims that a member never makes.

A note of the decoder on a Subscription is about the member's client, one on an Assignment about
the leader's. Two notes are left out, as nothing follows from them: UserData of length zero for
none, and a rack of length zero for none; librdkafka writes both in every message.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from assignors.replay.analysis.group_analysis import (
    GenerationAnalysis,
    GroupAnalysis,
    LifeAnalysis,
)
from assignors.replay.findings.finding import Finding, each_life, runs, span, times
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.history.classic import CONSUMER_PROTOCOL
from assignors.replay.history.model import Generation, GroupHistory, Oddity, Participant
from assignors.replay.history.subscriptions import CLAIMS_STAND_IN
from wire import NoteCode
from wire.records import UNKNOWN

HARMLESS = frozenset({NoteCode.USER_DATA_EMPTY, NoteCode.RACK_EMPTY})

CLIENT_LAYOUTS = frozenset({("user-data", NoteCode.STICKY_LAYOUT)})
"""What was decoded, and the code: the normal layout of some clients, librdkafka and franz-go."""


@dataclass(slots=True, kw_only=True)
class _Seen:
    """How often something was found, and where first."""

    generation: int
    at_ms: int
    until_ms: int
    member_id: str
    text: str
    count: int = 0
    members: dict[str, None] = field(default_factory=dict)


def odd_bytes(analysis: LifeAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield notes on bytes that differ from the protocol."""
    return _noted(analysis, lambda note: note not in CLIENT_LAYOUTS)


def client_layouts(analysis: LifeAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield notes on bytes that some clients write as they are."""
    return _noted(analysis, lambda note: note in CLIENT_LAYOUTS)


def _noted(
    analysis: LifeAnalysis, is_wanted: Callable[[tuple[str, NoteCode]], bool]
) -> Iterator[Finding]:
    """Yield, for each client and kind of note, how often its bytes had it."""
    seen: dict[tuple[str, str, NoteCode], _Seen] = {}
    for analysed in analysis.generations:
        generation = analysed.generation
        leader = next((m for m in generation.members if m.member_id == generation.leader_id), None)
        for member in generation.members:
            for oddity in member.oddities:
                # The leader may not be in the record; then the writer of an Assignment is unknown.
                writer = leader if oddity.blob == "assignment" else member
                if oddity.code in HARMLESS or writer is None or member.error is not None:
                    continue
                if not is_wanted((oddity.blob, oddity.code)):
                    continue
                if oddity.blob == "assignment" and not member.assignment_bytes:
                    continue  # `left_out`
                _count(
                    seen, (writer.client_id, oddity.blob, oddity.code), generation, writer, oddity
                )
    for (client_id, blob, code), found in seen.items():
        yield Finding(
            cause=f"{blob} {code.value}",
            generation=found.generation,
            at_ms=found.at_ms,
            until_ms=found.until_ms,
            member_id=found.member_id,
            members=tuple(found.members),
            client_id=client_id,
            is_by_leader=blob == "assignment",
            count=found.count,
            evidence=f"{blob} {code.value}, {times(found.count)}: {found.text}",
        )


def unreadable(analysis: GroupAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield members whose Subscription cannot be read, and records that cannot be read."""
    yield from each_life(_unreadable_members)(analysis, thresholds)
    yield from _unreadable_records(analysis.history)


def _unreadable_members(analysis: LifeAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield members whose Subscription cannot be read at all."""
    seen: dict[str, _Seen] = {}
    for analysed in analysis.generations:
        generation = analysed.generation
        for member in generation.members:
            if member.error is None:
                continue
            found = seen.setdefault(
                member.member_id,
                _Seen(
                    generation=generation.number,
                    at_ms=generation.at_ms,
                    until_ms=generation.at_ms,
                    member_id=member.member_id,
                    text=member.error,
                ),
            )
            found.count += 1
            found.until_ms = generation.at_ms
    for found in seen.values():
        yield Finding(
            cause="member",
            generation=found.generation,
            at_ms=found.at_ms,
            until_ms=found.until_ms,
            member_id=found.member_id,
            count=found.count,
            evidence=f"its Subscription cannot be read: {found.text}",
        )


def _unreadable_records(history: GroupHistory) -> Iterator[Finding]:
    """Yield each record that cannot be read, in the life into which it falls."""
    starts = [life.from_ms for life in history.lives]
    for record in history.unreadable:
        begun = bisect_right(starts, record.at_ms)
        where = "" if record.offset is None else f" at offset {record.offset}"
        if where and record.partition is not None:
            where += f" of partition {record.partition}"
        # Of a line or a file that is no record there is no name, and no key.
        name = "record" if record.name in {None, UNKNOWN} else record.name
        what = f"{name}{where}" if where or record.is_record else "source"
        yield Finding(
            life=history.lives[begun - 1].number if begun else 1,
            cause="record",
            generation=None,
            at_ms=record.at_ms,
            until_ms=record.at_ms,
            evidence=f"{what}: {record.text}",
        )


def never_claims(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield members that owned partitions before several rebalances and never claimed any.

    Only under protocols that use claims. A chance to claim is a generation that follows one in
    which the member was assigned something.
    """
    chances: dict[str, list[bool]] = {}
    first: dict[str, Generation] = {}
    last: dict[str, Generation] = {}
    for analysed in analysis.generations:
        for member in _with_a_chance(analysed):
            claims = member.claims_known and any(member.claimed.values())
            chances.setdefault(member.member_id, []).append(claims)
            first.setdefault(member.member_id, analysed.generation)
            last[member.member_id] = analysed.generation
    for member_id, taken in chances.items():
        if any(taken) or len(taken) < thresholds.claims_missed:
            continue
        yield Finding(
            generation=first[member_id].number,
            at_ms=first[member_id].at_ms,
            until_ms=last[member_id].at_ms,
            member_id=member_id,
            count=len(taken),
            evidence=f"owned partitions before {len(taken)} rebalances and claimed none in any",
        )


def other_protocols(analysis: LifeAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield protocol types whose assignments are not read, such as Kafka Connect's."""

    def other(analysed: GenerationAnalysis) -> list[str]:
        name = analysed.generation.other_protocol
        return [name] if name is not None and analysed.generation.members else []

    for name, run in runs(analysis.generations, other):
        generation = run[0].generation
        yield Finding(
            cause=name,
            generation=generation.number,
            at_ms=generation.at_ms,
            until_ms=run[-1].generation.until_ms,
            count=len(run),
            evidence=(
                f"protocol type {name} in {span(run)}: what its members are assigned, such as "
                "tasks, is not read; loads, moves and other assignors are left out"
            ),
        )


def _with_a_chance(analysed: GenerationAnalysis) -> Iterator[Participant]:
    generation, before = analysed.generation, analysed.before
    if before is None or generation.missing_before or generation.protocol not in CLAIMS_STAND_IN:
        return
    if generation.protocol_type != CONSUMER_PROTOCOL:
        return
    had = {member.member_id for member in before.members if any(member.assigned.values())}
    yield from (member for member in generation.members if member.member_id in had)


def _count(
    seen: dict[tuple[str, str, NoteCode], _Seen],
    key: tuple[str, str, NoteCode],
    generation: Generation,
    writer: Participant,
    oddity: Oddity,
) -> None:
    found = seen.setdefault(
        key,
        _Seen(
            generation=generation.number,
            at_ms=generation.at_ms,
            until_ms=generation.at_ms,
            member_id=writer.member_id,
            text=f"{oddity.text}, at byte {oddity.offset}",
        ),
    )
    found.count += 1
    found.until_ms = generation.at_ms
    found.members[writer.member_id] = None

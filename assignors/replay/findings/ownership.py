"""Partitions with two owners, with none, or with an owner that does not subscribe to the topic.

A partition that two members of one generation were assigned has two owners for as long as the
assignments say so. Under a cooperative protocol there is a second way: the partition is assigned to
its new owner in the round in which the old one still owns it. Then no generation assigns it twice,
and no record says when the old owner revoked it; so that is a finding of its own kind, and no time
is counted for it. A partition that is withheld until its old owner has revoked it has no owner for
one round, as it should be. One that is unassigned for longer, or for no such reason, is a finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assignors.ownership.changes import TopicPartition, pairs
from assignors.replay.analysis.figures import intended, is_cooperative
from assignors.replay.analysis.group_analysis import (
    GenerationAnalysis,
    GroupAnalysis,
    LifeAnalysis,
    subscribed_ms,
)
from assignors.replay.analysis.ownership import given_too_early
from assignors.replay.findings.finding import (
    Finding,
    amount,
    is_transient,
    numbers_shown,
    runs,
    seconds,
    span,
)
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.history.model import Kind, Participant


def double_ownership(analysis: LifeAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield where two members owned one partition at a time."""
    for overlap in analysis.overlaps:
        first, second = overlap.first, overlap.second
        lasted = (
            "to the end of the records"
            if overlap.end is None
            else f"for {seconds(overlap.end - overlap.start)}"
        )
        yield Finding(
            generation=second.from_generation,
            at_ms=overlap.start,
            until_ms=overlap.end,
            member_id=second.member_id,
            topic=second.topic,
            partition=second.partition,
            partitions={second.topic: (second.partition,)},
            members=(first.member_id,),
            count=2,
            evidence=(
                f"{second.topic}-{second.partition} was owned by {first.member_id} and "
                f"{second.member_id} {lasted}"
            ),
        )


def early_handovers(analysis: LifeAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield partitions assigned to a member while another member still owned them.

    Only where the record itself says so: the old owner had the partition in the generation
    before, is still in the group, and claims it in this one. It revokes the partition before it
    joins again, and no record says when. The finding lasts until the first round in which that
    member has left or no longer claims the partition, which is the latest it can be.
    """
    if analysis.life.kind is not Kind.CLASSIC:
        return
    early = [
        list(given_too_early(analysed.generation, analysed.before))
        for analysed in analysis.generations
    ]
    if not any(early):
        return
    found: list[list[Finding]] = []
    # Member -> what it claims in the round after -> when it no longer does. From the last round to
    # the first, so that each claim is looked at once.
    until: dict[str, dict[TopicPartition, int | None]] = {}
    next_ms: int | None = None
    for analysed, given in zip(reversed(analysis.generations), reversed(early), strict=True):
        found.append(
            [
                _too_early_finding(
                    analysed, place, old, new, until.get(old, {}).get(place, next_ms)
                )
                for place, old, new in given
            ]
        )
        until = {
            member.member_id: {
                place: until.get(member.member_id, {}).get(place, next_ms)
                for place in pairs(member.claimed)
            }
            for member in analysed.generation.members
        }
        next_ms = analysed.generation.at_ms
    for listed in reversed(found):
        yield from listed


def unassigned(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield partitions of subscribed topics that nobody was assigned, for long or to the end.

    Those of the same generations are one finding.
    """
    missing: dict[tuple[int, int, int], dict[str, list[int]]] = {}
    found: dict[tuple[int, int, int], Sequence[GenerationAnalysis]] = {}
    awaited: dict[int, dict[TopicPartition, None]] = {}
    for (topic, number), run in runs(
        analysis.generations, lambda analysed: pairs(analysed.figures.unassigned)
    ):
        since_ms = subscribed_ms(run[0].generation, topic)
        if _is_withheld(analysis, run, (topic, number), awaited) or is_transient(
            analysis, run, thresholds, since_ms
        ):
            continue
        key = (run[0].generation.number, len(run), since_ms)
        missing.setdefault(key, {}).setdefault(topic, []).append(number)
        found[key] = run
    for key, by_topic in missing.items():
        yield _unassigned_finding(found[key], by_topic, since_ms=key[2])


def _unassigned_finding(
    run: Sequence[GenerationAnalysis], by_topic: Mapping[str, Sequence[int]], *, since_ms: int
) -> Finding:
    until_ms = run[-1].generation.until_ms
    lasted = (
        "at the end of the records" if until_ms is None else f"for {seconds(until_ms - since_ms)}"
    )
    count = sum(map(len, by_topic.values()))
    topic, numbers = next(iter(by_topic.items()))
    named = [f"{name}[{numbers_shown(listed)}]" for name, listed in by_topic.items()]
    is_late = since_ms != run[0].generation.at_ms
    why = ": a static member that came back subscribed to it, and no rebalance followed"
    return Finding(
        generation=run[0].generation.number,
        at_ms=since_ms,
        until_ms=until_ms,
        topic=topic if len(by_topic) == 1 else None,
        partition=numbers[0] if count == 1 else None,
        partitions={name: tuple(listed) for name, listed in by_topic.items()},
        count=count,
        evidence=(
            f"{numbers_shown(named, limit=4)} unassigned in {span(run)}, {lasted}"
            f"{why if is_late else ''}"
        ),
    )


def foreign_topics(analysis: LifeAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield members that were assigned topics they do not subscribe to."""
    given: dict[tuple[int, str], Participant] = {}

    def foreign(analysed: GenerationAnalysis) -> Iterator[tuple[str, str]]:
        for member in analysed.generation.members:
            topics = _foreign(member)
            if topics:
                given[id(analysed), member.member_id] = member
            yield from ((member.member_id, topic) for topic in topics)

    if analysis.life.kind is Kind.STREAMS:
        return  # their members name no topics
    for (member_id, topic), run in runs(analysis.generations, foreign):
        member = given[id(run[0]), member_id]
        numbers = intended(member)[topic]
        yield Finding(
            generation=run[0].generation.number,
            at_ms=run[0].generation.at_ms,
            until_ms=run[-1].generation.until_ms,
            member_id=member_id,
            topic=topic,
            partition=numbers[0] if len(numbers) == 1 else None,
            partitions={topic: numbers},
            count=len(numbers),
            evidence=f"was assigned {topic}[{numbers_shown(numbers)}] and subscribes to "
            f"{numbers_shown(member.topics) or 'nothing'}, in {span(run)}",
        )


def left_out(analysis: LifeAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield members that got zero bytes: the leader's assignment does not have them."""

    def without(analysed: GenerationAnalysis) -> Iterator[str]:
        generation = analysed.generation
        if generation.other_protocol is None and not generation.is_from_broker:
            yield from (m.member_id for m in generation.members if m.assignment_bytes == b"")

    for member_id, run in runs(analysis.generations, without):
        generation = run[0].generation
        yield Finding(
            generation=generation.number,
            at_ms=generation.at_ms,
            until_ms=run[-1].generation.until_ms,
            member_id=member_id,
            count=len(run),
            evidence=(
                f"the assignment of the leader {generation.leader_id} leaves out {member_id}, in "
                f"{span(run)}: it got 0 bytes, on which Java's client throws"
            ),
        )


def never_assigned(analysis: GroupAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield subscribed topics of which no partition is known."""

    def unknown(analysed: GenerationAnalysis) -> Iterator[tuple[str, str]]:
        for member in analysed.generation.members:
            for topic in member.topics:
                if topic not in analysis.partition_counts:
                    yield member.member_id, topic

    for life_analysis in analysis.lives:
        members: dict[str, dict[str, None]] = {}
        for analysed in life_analysis.generations:
            for member, topic in unknown(analysed):
                members.setdefault(topic, {})[member] = None
        if not members:
            continue
        for topic, run in runs(
            life_analysis.generations, lambda analysed: (one for _, one in unknown(analysed))
        ):
            yield Finding(
                life=life_analysis.life.number,
                generation=run[0].generation.number,
                at_ms=subscribed_ms(run[0].generation, topic),
                until_ms=run[-1].generation.until_ms,
                members=tuple(members[topic]),
                topic=topic,
                evidence=(
                    f"nobody ever had a partition of {topic}, to which "
                    f"{amount(len(members[topic]), 'member')} subscribed: whether it has any "
                    f"is not in the records (--partitions); in {span(run)}"
                ),
            )


def _too_early_finding(
    analysed: GenerationAnalysis, place: TopicPartition, old: str, new: str, until_ms: int | None
) -> Finding:
    generation = analysed.generation
    lasted = (
        "to the end of the records"
        if until_ms is None
        else f"for {seconds(until_ms - generation.at_ms)} at most"
    )
    return Finding(
        generation=generation.number,
        at_ms=generation.at_ms,
        until_ms=until_ms,
        member_id=new,
        topic=place[0],
        partition=place[1],
        partitions={place[0]: (place[1],)},
        members=(old,),
        count=2,
        evidence=(
            f"{place[0]}-{place[1]} was assigned to {new} while {old} owned and claimed it: "
            f"both consume until {old} revokes it, {lasted}"
        ),
    )


def _foreign(member: Participant) -> list[str]:
    is_silent = member.subscription_version is None and not member.topics
    if is_silent:
        return []  # no Subscription to compare with
    topics = frozenset(member.topics)
    return [topic for topic, given in intended(member).items() if given and topic not in topics]


def _is_withheld(
    analysis: LifeAnalysis,
    run: Sequence[GenerationAnalysis],
    place: TopicPartition,
    awaited: dict[int, dict[TopicPartition, None]],
) -> bool:
    """Return whether a partition without owner is withheld until its old owner has revoked it.

    A broker's target withholds nothing: members reach it one by one. `awaited` caches what is
    awaited in each generation.
    """
    analysed, kind = run[0], analysis.life.kind
    if len(run) > 1 or kind is not Kind.CLASSIC or not is_cooperative(kind, analysed.generation):
        return False
    if id(analysed) not in awaited:
        awaited[id(analysed)] = _awaited(analysed)
    return place in awaited[id(analysed)]


def _awaited(analysed: GenerationAnalysis) -> dict[TopicPartition, None]:
    """Return the partitions that a member still claims, or owned until now."""
    waiting = pairs(analysed.figures.waiting)
    for member in analysed.generation.members:
        waiting.update(pairs(member.claimed))
    return waiting

"""Explain why one partition moved, stayed or waits.

Nothing is decided here. The assignment is the assignor's own; the reasons come from the same
claims that it read, and from the hand-over rule, stated once more for a single partition. An
answer does not contain the member that a waiting partition will go to, so the next round is
computed: every member then claims what it got in this one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from assignors.assignor import Assignor, UserData
from assignors.checks import Violation, judged
from assignors.checks.distance import distance
from assignors.checks.verdicts import SENTENCES, Clause, Verdict
from assignors.claims import (
    Claim,
    Claims,
    claims_of,
    favoured_owners,
    read_claim,
    unknown_claims_text,
)
from assignors.model import NO_GENERATION, Group
from assignors.names.nearest import suggestion
from assignors.own_assignors.answers import with_checked_answers
from assignors.problem import NOBODY, Int32, Problem, problem_of
from assignors.rebalance import Rebalance
from assignors.weighted.sticky import WEIGHTED

if TYPE_CHECKING:
    from assignors.checks.weight_reasons import WeightReason, WeightReasons

SERVER = "server"
"""The family of the broker's assignors: no member revokes anything before they are asked."""

UNCLAIMED = ", as no claim to it counts"
STICKY_ON_SERVER = frozenset({"server/uniform", "server/simple"})
"""The broker's assignors that read the current assignment, which is no UserData."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedClaim:
    """One member's claim of the partition, whether it counts, and why."""

    member_id: str
    generation: int
    is_believed: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What happens to a partition, and the claims that explain it."""

    topic: str
    partition: int
    verdict: Verdict
    clause: Clause
    text: str
    favoured: str | None
    """The member that stickiness favours."""
    target: str | None
    """The member that gets it now, or in the next round if it waits."""
    given: str | None
    """The member that gets it in this round."""
    last_generation: int
    claims: tuple[ExplainedClaim, ...]
    topic_spread: int | None = None
    """Of the whole answer, as `checks.check` reports it; `None` while a partition waits."""
    topic_spread_minimum: int | None = None
    """The least of all assignments that are best in balance, racks and moves."""
    by_weight: WeightReason | None = None
    """What weights have to do with it, under an assignor by weight in a group that has some."""
    violations: tuple[Violation, ...] = ()
    """Rules that the whole answer breaks, of an assignor from outside this package."""


def explain(group: Group, assignor: Assignor, topic: str, partition: int) -> Explanation:
    """Return why `assignor` does what it does with one partition of `group`.

    Raises `ValueError` if the cluster has no such partition, and for what is no assignor.
    Cost: that of the assignor, twice if the partition waits, and of the optimal solver.

    >>> from assignors import Cluster, Member, assignor_named
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1)}, generation=4),
    ...     Member(member_id="b", topics=("t",)),
    ... )
    >>> group = Group(cluster=Cluster.of({"t": 2}), members=members)
    >>> explain(group, assignor_named("cooperative-sticky"), "t", 1).text
    't:1 waits: it is to move from a to b, but somebody else may still consume it and must let go first'
    """  # noqa: E501  # the sentence is one line
    described = group.cluster.topics.get(topic)
    if described is None or not 0 <= partition < described.partition_count:
        words = "" if described else suggestion(topic, group.cluster.topics)
        raise ValueError(f"the cluster has no partition {partition} of topic {topic!r}{words}")
    checked = with_checked_answers(assignor)
    known = evidence(group, checked)
    given = _holder(known.rebalance, topic, partition)
    target = given
    if partition in known.rebalance.withheld.get(topic, ()):
        following = _next_round(group, known.rebalance, known.claims.last)
        target = _holder(checked.assign(following), topic, partition)
    found = explanation(known, topic, partition, given=given, target=target)
    gaps = distance(group, known.rebalance.assignment, _claims_read_from(assignor))
    spread, least = gaps["topic_spread"], gaps["topic_spread_minimum"]
    return replace(
        found,
        topic_spread=cast("int | None", spread),
        topic_spread_minimum=cast("int | None", least),
        violations=judged(group, checked, known.rebalance),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """An assignment and the claims it was computed from."""

    assignor: Assignor
    rebalance: Rebalance
    problem: Problem
    claims: Claims[Int32]
    read: tuple[Claim, ...]
    """M claims, in the order of `problem.members`, as the assignor reads them."""
    favoured: Int32
    """int32[P]: whom stickiness favours."""
    by_weight: WeightReasons | None
    """Under an assignor by weight, in a group with weights."""


def evidence(group: Group, assignor: Assignor) -> Evidence:
    """Return the result of `assignor` and the claims it reads.

    Raises what the assignor raises. Cost: that of the assignor, twice by weight.
    """
    answering = with_checked_answers(assignor)
    problem = problem_of(group)
    kind = _claims_read_from(assignor)
    claims = claims_of(problem, group, kind)
    favoured = favoured_owners(claims)
    by_weight = None
    if assignor.family == WEIGHTED.family and group.weighting is not None:
        from assignors.checks.weight_reasons import weight_reasons  # noqa: PLC0415 - it needs the search

        by_weight = weight_reasons(problem, group.weighting, favoured)
    return Evidence(
        assignor=assignor,
        rebalance=answering.assign(group),
        problem=problem,
        claims=claims,
        read=tuple(read_claim(member, kind) for member in problem.members),
        favoured=favoured,
        by_weight=by_weight,
    )


def explanation(
    known: Evidence, topic: str, partition: int, *, given: str | None, target: str | None
) -> Explanation:
    """Return why a partition goes to `given` now, and is to go to `target`.

    Both are member ids, `None` for no member. The topic is one of the cluster, whether or not a
    member subscribes to it. Cost: O(M).
    """
    problem, last = known.problem, known.claims.last
    favoured: str | None = None
    explained: tuple[ExplainedClaim, ...] = ()
    by_weight: WeightReason | None = None
    if topic in problem.topics:
        place = int(problem.first[problem.topics.index(topic)]) + partition
        owner = int(known.favoured[place])
        favoured = None if owner == NOBODY else problem.members[owner].member_id
        explained = _claims(known, topic, partition, favoured=favoured)
        if known.by_weight is not None:
            by_weight = known.by_weight.of(place, owner, target)
    waits = partition in known.rebalance.withheld.get(topic, ())
    verdict = _verdict(given, favoured, waits=waits)
    if verdict is Verdict.UNASSIGNED:
        is_asked_for = topic in problem.topics
        clause = Clause.LEFT_OUT if is_asked_for else Clause.NOBODY_SUBSCRIBES
    elif known.assignor.family == SERVER:
        clause = Clause.AS_REFERENCE
    elif not known.assignor.is_cooperative:
        clause = Clause.EAGER
    elif known.assignor.keeps_lists:
        clause = Clause.AS_REFERENCE
    else:
        clause = _clause(target, explained, last, is_known=not known.claims.unknown)
    grounds = _grounds(verdict, favoured, target, known) if by_weight is None else by_weight.text
    sentence = _sentence(verdict, SENTENCES[clause], favoured, target, grounds)
    return Explanation(
        topic=topic,
        partition=partition,
        verdict=verdict,
        clause=clause,
        text=f"{topic}:{partition} {sentence}",
        favoured=favoured,
        target=target,
        given=given,
        last_generation=last,
        claims=explained,
        by_weight=by_weight,
    )


def _claims_read_from(assignor: Assignor) -> UserData:
    """Return the field that has the claims which this assignor reads."""
    if assignor.full_name in STICKY_ON_SERVER:
        return UserData.COOPERATIVE
    return assignor.user_data


def _holder(rebalance: Rebalance, topic: str, partition: int) -> str | None:
    """Return the member that gets the partition."""
    for member_id, given in rebalance.assignment.items():
        if partition in given.get(topic, ()):
            return member_id
    return None


def _next_round(group: Group, rebalance: Rebalance, last: int) -> Group:
    """Return the group after this round: every member claims what was assigned to it."""
    members = tuple(
        replace(
            member,
            version=None,
            owned=rebalance.assignment[member.member_id],
            generation=last + 1,
            user_data=None,
            owned_known=True,
        )
        for member in group.members
    )
    return replace(group, members=members, generation=last + 1)


def _claims(
    known: Evidence, topic: str, partition: int, *, favoured: str | None
) -> tuple[ExplainedClaim, ...]:
    """Return every claim of the partition, and whether it counts."""
    last = known.claims.last
    claiming = [
        (member, claim, topic in member.topics)
        for member, claim in zip(known.problem.members, known.read, strict=True)
        if not claim.is_known or partition in claim.owned.get(topic, ())
    ]
    highest = max(
        (
            _counted(claim.generation, last)
            for _, claim, is_subscribed in claiming
            if is_subscribed and partition in claim.owned.get(topic, ())
        ),
        default=NO_GENERATION,
    )
    explained = []
    for member, claim, is_subscribed in claiming:
        is_believed = member.member_id == favoured
        if not claim.is_known and partition not in claim.owned.get(topic, ()):
            reason = unknown_claims_text(member)
        elif not is_subscribed:
            reason = "it does not subscribe to the topic"
        elif is_believed:
            reason = "it has the highest generation"
        elif claim.generation > last:
            reason = f"its generation is above the group's last, {last}, and counts as none"
        elif _counted(claim.generation, last) < highest:
            reason = "another claim has a higher generation"
        else:
            reason = "another claim has the same generation"
        explained.append(
            ExplainedClaim(
                member_id=member.member_id,
                generation=claim.generation,
                is_believed=is_believed,
                reason=reason,
            )
        )
    return tuple(explained)


def _counted(generation: int, last: int) -> int:
    """Return what a claim's generation counts for: one from the future counts as none."""
    return generation if generation <= last else NO_GENERATION


def _verdict(given: str | None, favoured: str | None, *, waits: bool) -> Verdict:
    if waits:
        return Verdict.WAITS
    if given is None:
        return Verdict.UNASSIGNED
    if favoured is None:
        return Verdict.STARTS
    return Verdict.STAYS if given == favoured else Verdict.MOVES


def _clause(
    target: str | None,
    claims: tuple[ExplainedClaim, ...],
    last: int,
    *,
    is_known: bool,
) -> Clause:
    """Return which clause of the hand-over rule (`handover`) decides for one partition."""
    current = [claim.member_id for claim in claims if claim.generation == last >= 0]
    if current == [target]:
        return Clause.ALONE_IN_LAST_GENERATION
    if not is_known:
        return Clause.CLAIMS_NOT_KNOWN
    if any(claim.member_id != target for claim in claims):
        return Clause.OTHERS_CLAIM
    return Clause.NOBODY_ELSE_CLAIMS


def _grounds(
    verdict: Verdict, favoured: str | None, target: str | None, known: Evidence
) -> str | None:
    """Return why a partition goes where it goes, in a group without weights."""
    if verdict is Verdict.MOVES:
        return (
            f"balance comes before staying (they hold {_load(known.rebalance, favoured)} and "
            f"{_load(known.rebalance, target)} partitions now)"
        )
    if verdict is Verdict.STARTS:
        reads_none = _claims_read_from(known.assignor) is UserData.NONE
        return "the assignor does not read who owned it" if reads_none else None
    return None


def _sentence(
    verdict: Verdict, why: str, favoured: str | None, target: str | None, grounds: str | None
) -> str:
    """Return what happens to the partition and why, without its name."""
    if verdict is Verdict.UNASSIGNED:
        return f"goes to nobody: {why}"
    if verdict is Verdict.WAITS:
        if target is None:
            return f"waits: {why}"
        goal = f"stay with {target}" if favoured == target else f"go to {target}"
        if favoured not in {None, target}:
            goal = f"move from {favoured} to {target}" + (f" ({grounds})" if grounds else "")
        return f"waits: it is to {goal}, but {why}"
    if verdict is Verdict.STAYS:
        return f"stays with {target}: {f'{grounds}; ' if grounds else ''}{why}"
    if verdict is Verdict.STARTS:
        return f"goes to {target}{f': {grounds}' if grounds else UNCLAIMED}; {why}"
    return f"moves from {favoured} to {target}: {grounds}; {why}"


def _load(rebalance: Rebalance, member_id: str | None) -> int:
    return sum(map(len, rebalance.assignment.get(member_id or "", {}).values()))

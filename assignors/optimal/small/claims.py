"""The claims of a small group, read as `assignors.claims` reads them, in lists.

Almost every partition has at most one claimant, and one list holds those. Partitions with several
stand in a dictionary beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from assignors.arrays import INT64
from assignors.assignor import UserData
from assignors.claims import (
    READERS,
    Claim,
    byte_notes,
    future_generation_note,
    last_generation,
    out_of_range_note,
    unknown_claims_note,
    unknown_topic_note,
)
from assignors.group_bytes.in_turn import plain_sticky_user_data, topic_headers
from assignors.model import NO_GENERATION, Group, Member, MemberNote
from assignors.optimal.small.problem import SmallProblem
from assignors.problem import NOBODY


@dataclass(slots=True, kw_only=True)
class SmallClaims:
    """All claims of a group. Lengths: M members, P partitions."""

    claimant: list[int]
    """P: the first member that claims the partition, -1 for none."""
    contested: dict[int, list[int]]
    """Partition -> its claimants, for those that have several."""
    unsubscribed: set[tuple[int, int]]
    """(partition, member) for claims of topics that the member does not subscribe to."""
    generation: list[int]
    """M: of each member's claims, -1 for none or for one above the group's last."""
    last: int
    """The group's last completed generation, -1 when nobody knows one."""
    has_unknown: bool
    """Whether the claims of some member are not known."""
    notes: tuple[MemberNote, ...]

    def may_count(self, partition: int, member: int) -> bool:
        """Return whether a member that claims a partition subscribes to its topic."""
        return not self.unsubscribed or (partition, member) not in self.unsubscribed


def small_claims(problem: SmallProblem, group: Group, kind: UserData) -> SmallClaims:
    """Return the claims of all members, with the notes of `assignors.claims.claims_of`.

    Cost: O(number of claimed partitions + number of claimed topics).
    """
    read = _read(problem, kind)
    last = last_generation(group, read)
    has_unknown = False in [claim.is_known for claim in read]
    generation, notes = _generations(problem.members, read, last, has_unknown=has_unknown)
    claims = SmallClaims(
        claimant=[],
        contested={},
        unsubscribed=set(),
        generation=generation,
        last=last,
        has_unknown=has_unknown,
        notes=(),
    )
    unknown, wrong = _enter(problem, claims, read)
    known = group.cluster.topics
    notes += [
        unknown_topic_note(problem.members[member], topic, len(read[member].owned[topic]))
        for member, topic in unknown
        if topic not in known
    ]
    for (member, t), numbers in sorted(wrong.items()):
        size = problem.first[t + 1] - problem.first[t]
        fitting = [min(max(number, int(INT64.min)), int(INT64.max)) for number in numbers]
        notes.append(out_of_range_note(problem.members[member], problem.topics[t], size, fitting))
    claims.notes = tuple(notes)
    return claims


def favoured_members(claims: SmallClaims) -> list[int]:
    """Return whom stickiness favours for each partition, as `assignors.claims.favoured_owners`.

    The list may be `claims.claimant` itself. Cost: O(P), less where nothing is contested.
    """
    if not claims.contested and not claims.unsubscribed:
        return claims.claimant
    favoured = claims.claimant.copy()
    for partition, _ in claims.unsubscribed:
        favoured[partition] = NOBODY
    for partition, several in claims.contested.items():
        newest = [member for member in several if claims.may_count(partition, member)]
        if newest:
            best = max(claims.generation[member] for member in newest)
            newest = [member for member in newest if claims.generation[member] == best]
        favoured[partition] = newest[0] if len(newest) == 1 else NOBODY
    return favoured


def _read(problem: SmallProblem, kind: UserData) -> list[Claim]:
    """Return everybody's claim: `read_claim` of each member."""
    reader = READERS[kind]
    if kind is not UserData.STICKY:
        return list(map(reader, problem.members))
    names = topic_headers(problem.topics)
    claims = []
    for member in problem.members:
        data = member.user_data
        plain = None if data is None else plain_sticky_user_data(data, names)
        if plain is None:
            claims.append(reader(member))
        else:
            claims.append(Claim(owned=plain[0], generation=max(plain[1], NO_GENERATION)))
    return claims


def _generations(
    members: Sequence[Member], read: Sequence[Claim], last: int, *, has_unknown: bool
) -> tuple[list[int], list[MemberNote]]:
    """Return the generation of each member's claims, those above `last` as none, and the notes."""
    generation = [claim.generation for claim in read]
    notes = byte_notes(members)
    if not has_unknown and max(generation) <= last:
        return generation, notes
    for position, (member, claim) in enumerate(zip(members, read, strict=True)):
        if claim.generation > last:
            generation[position] = NO_GENERATION
            notes.append(future_generation_note(member, claim.generation, last))
        if not claim.is_known:
            notes.append(unknown_claims_note(member))
    return generation, notes


def _enter(
    problem: SmallProblem, claims: SmallClaims, read: Sequence[Claim]
) -> tuple[list[tuple[int, str]], dict[tuple[int, int], list[int]]]:
    """Enter all claims; return those of no topic of the group, and numbers beyond a topic.

    The first as (member, topic), the second as (member, topic's number) -> numbers.
    """
    takes = problem.takes
    rows = [
        [NOBODY] * (end - begin)
        for begin, end in zip(problem.first, problem.first[1:], strict=False)
    ]
    place = {topic: (t, rows[t], len(rows[t])) for t, topic in enumerate(problem.topics)}
    elsewhere = []
    wrong: dict[tuple[int, int], list[int]] = {}
    for member, claim in enumerate(read):
        for topic, numbers in claim.owned.items():
            if topic not in place:
                elsewhere.append((member, topic))
                continue
            t, row, size = place[topic]
            for number in numbers:
                if not 0 <= number < size:
                    wrong.setdefault((member, t), []).append(number)
                elif (claimant := row[number]) == NOBODY:
                    row[number] = member
                elif claimant != member:
                    _contest(claims, problem.first[t] + number, claimant, member)
            if takes is not None and topic not in takes[member]:
                begin = problem.first[t]
                claims.unsubscribed.update(
                    (begin + number, member) for number in numbers if 0 <= number < size
                )
    claims.claimant = list(chain.from_iterable(rows))
    return elsewhere, wrong


def _contest(claims: SmallClaims, partition: int, first: int, member: int) -> None:
    """Enter one more claimant of a partition that `first` claims."""
    several = claims.contested.setdefault(partition, [first])
    if several[-1] != member:  # members come one after the other
        several.append(member)

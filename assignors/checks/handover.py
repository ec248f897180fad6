"""Check the hand-over rule, partition by partition, on dictionaries rather than arrays.

This is on purpose not the code that assigns (`assignors.handover`): a check that calls the
function it checks can only agree with it. What both share is how claims are read from bytes
and which generation is the group's last; what follows from the claims is stated here a second time.
"""

from __future__ import annotations

from dataclasses import dataclass

from assignors.assignor import UserData
from assignors.checks.violation import Rule, Violation
from assignors.claims import Claim, last_generation, read_claim
from assignors.model import Assignment, Group
from wire import TopicPartitions


@dataclass(frozen=True, slots=True)
class Claimants:
    """The claimants of one partition, and those of them in the group's last generation."""

    everybody: tuple[str, ...]
    of_last_generation: tuple[str, ...]


def handover(
    group: Group, assignment: Assignment, withheld: TopicPartitions
) -> tuple[list[Violation], list[Violation]]:
    """Return partitions given away while another member claims them, or withheld idly.

    Then those that nobody else claims, given while the claims of some member are not known: it may
    consume them, and it may not. Cost: O(claims + size of assignment and withheld).

    >>> from assignors.model import Cluster, Member
    >>> owner = Member(member_id="a", topics=("t",), owned={"t": (0,)}, generation=3)
    >>> group = Group(
    ...     cluster=Cluster.of({"t": 1}), members=(owner, Member(member_id="b", topics=("t",)))
    ... )
    >>> [(found.rule.value, found.members) for found in handover(group, {"b": {"t": (0,)}}, {})[0]]
    [('given-too-early', ('b', 'a'))]
    """
    claims = {
        member.member_id: read_claim(member, UserData.COOPERATIVE) for member in group.members
    }
    unknown = tuple(member_id for member_id, claim in claims.items() if not claim.is_known)
    claimants = _claimants(group, claims)
    nobody = Claimants((), ())
    found: list[Violation] = []
    in_doubt: list[Violation] = []
    for member_id, partitions in assignment.items():
        for topic, numbers in partitions.items():
            for partition in numbers:
                here = claimants.get((topic, partition), nobody)
                if here.of_last_generation == (member_id,):
                    continue  # it owns it, and every other claimant had to revoke it since
                others = tuple(other for other in here.everybody if other != member_id)
                rivals = others or tuple(other for other in unknown if other != member_id)
                if rivals or unknown:
                    violation = Violation(
                        rule=Rule.GIVEN_TOO_EARLY,
                        topic=topic,
                        partition=partition,
                        members=(member_id, *rivals),
                    )
                    (found if others else in_doubt).append(violation)
    found += [
        Violation(rule=Rule.WITHHELD_WITHOUT_REASON, topic=topic, partition=partition)
        for topic, numbers in withheld.items()
        for partition in numbers
        if (topic, partition) not in claimants and not unknown
    ]
    return found, in_doubt


def needs_follow_up(group: Group, withheld: TopicPartitions) -> bool:
    """Return whether a partition waits that no member is sure to revoke, and so to rejoin.

    Only a subscribed member that says it owned the partition in the last generation has to revoke
    it and rejoin; any other claim may be stale.
    """
    claims = {
        member.member_id: read_claim(member, UserData.COOPERATIVE) for member in group.members
    }
    asked = {member.member_id: frozenset(member.topics) for member in group.members}
    claimants = _claimants(group, claims)
    nobody = Claimants((), ())
    return any(
        not any(
            topic in asked[member_id] and claims[member_id].is_known
            for member_id in claimants.get((topic, partition), nobody).of_last_generation
        )
        for topic, numbers in withheld.items()
        for partition in numbers
    )


def _claimants(group: Group, claims: dict[str, Claim]) -> dict[tuple[str, int], Claimants]:
    """Return who claims each partition that anybody claims."""
    last = last_generation(group, claims.values())
    everybody: dict[tuple[str, int], list[str]] = {}
    of_last: dict[tuple[str, int], list[str]] = {}
    for member_id, claim in claims.items():
        for topic, numbers in claim.owned.items():
            for partition in dict.fromkeys(numbers):
                everybody.setdefault((topic, partition), []).append(member_id)
                if 0 <= claim.generation == last:
                    of_last.setdefault((topic, partition), []).append(member_id)
    return {
        place: Claimants(tuple(members), tuple(of_last.get(place, ())))
        for place, members in everybody.items()
    }

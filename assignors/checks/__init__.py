"""Check the assignment of any assignor: which rules it breaks, how far it is from the best.

>>> from assignors import Cluster, Group, Member
>>> members = (Member(member_id="a", topics=("t",)), Member(member_id="b", topics=("t",)))
>>> group = Group(cluster=Cluster.of({"t": 2}), members=members)
>>> report = check(group, {"a": {"t": (0, 1)}, "b": {}})
>>> report.violations, report.gaps["balance_gap"]
((), 2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assignors.assignor import Assignor, RebalanceProtocol, UserData
from assignors.checks.distance import distance
from assignors.checks.handover import handover, needs_follow_up
from assignors.checks.validity import validity
from assignors.checks.violation import Report, Rule, Violation, summary
from assignors.claims import counted_kind, is_claim_known, unknown_claims_note
from assignors.model import Assignment, Group, MemberNote, MemberNoteCode, require_group
from assignors.names.sequences import as_partitions
from assignors.own_assignors.answers import is_from_outside
from assignors.rebalance import Rebalance
from wire import TopicPartitions


def check(
    group: Group,
    assignment: Assignment,
    *,
    withheld: TopicPartitions | None = None,
    protocol: RebalanceProtocol = RebalanceProtocol.EAGER,
    user_data: UserData | None = None,
) -> Report:
    """Return every rule that the assignment breaks, and its distance from the best.

    `withheld` are the partitions that wait in this round. `protocol` decides whether the hand-over
    rule applies: eager members have revoked everything before the round. Moves are counted from
    the claims that `user_data` names, else from owned partitions, or from UserData of the sticky
    assignor where an eager group has no others. Gaps are those of
    `distance.distance`, and `follow_up`: whether the leader must start another round itself.
    Never raises for an assignment, however wrong it is; `ValueError` for what is none: partitions
    that are no numbers, a `Rebalance` in place of its `assignment`, a document in place of a group.
    Cost: that of the optimal solver, plus O(size of the input).
    """
    require_group(group)
    if not isinstance(assignment, Mapping):
        words = "expected member id -> topic -> partitions; a Rebalance has it as .assignment"
        raise ValueError(f"assignment: {words}, found {type(assignment).__name__}")
    assignment = {
        member_id: as_partitions(share, f"assignment of {member_id!r}")
        for member_id, share in assignment.items()
    }
    if not isinstance(protocol, RebalanceProtocol):
        raise ValueError(f"protocol: expected a RebalanceProtocol, found {protocol!r}")
    waiting = as_partitions({} if withheld is None else withheld, "withheld")
    violations, in_doubt = _broken_rules(group, assignment, waiting, protocol)
    is_cooperative = protocol is RebalanceProtocol.COOPERATIVE
    if user_data is None:
        user_data = UserData.COOPERATIVE if is_cooperative else counted_kind(group, UserData.NONE)
    gaps: dict[str, int | float | bool | None] = distance(group, assignment, user_data)
    gaps["follow_up"] = is_cooperative and needs_follow_up(group, waiting)
    return Report(
        violations=violations,
        in_doubt=in_doubt,
        notes=_notes(group, in_doubt) if is_cooperative else (),
        gaps=gaps,
    )


def _broken_rules(
    group: Group, assignment: Assignment, withheld: TopicPartitions, protocol: RebalanceProtocol
) -> tuple[tuple[Violation, ...], tuple[Violation, ...]]:
    """Return every rule that the assignment breaks, and where nobody knows whether it does."""
    found = validity(group, assignment, withheld)
    if protocol is RebalanceProtocol.COOPERATIVE:
        broken, in_doubt = handover(group, assignment, withheld)
        return (*found, *broken), tuple(in_doubt)
    idle = [
        Violation(rule=Rule.WITHHELD_WITHOUT_REASON, topic=topic, partition=partition)
        for topic, numbers in withheld.items()
        for partition in numbers
    ]
    return (*found, *idle), ()


def _notes(group: Group, in_doubt: Sequence[Violation]) -> tuple[MemberNote, ...]:
    """Return why claims are not known, and which partitions are in doubt because of that."""
    notes = [unknown_claims_note(each) for each in group.members if not is_claim_known(each)]
    if in_doubt:
        shown = ", ".join(f"{each.topic}:{each.partition}" for each in in_doubt[:PARTITIONS_NAMED])
        more = ", ..." if len(in_doubt) > PARTITIONS_NAMED else ""
        words = "given though a member with unknown claims may own them; nobody else claims them"
        text = f"{words}: {shown}{more}"
        notes.append(MemberNote(code=MemberNoteCode.CLAIMS_NOT_KNOWN.value, text=text))
    return tuple(notes)


PARTITIONS_NAMED = 10


def judged(group: Group, assignor: Assignor, answer: Rebalance) -> tuple[Violation, ...]:
    """Return the rules that the answer of an assignor breaks, if it is from outside this package.

    Answers of this package's assignors are right by their own tests. Cost: O(claims + its size
    + partitions of subscribed topics).
    """
    if not is_from_outside(assignor):
        return ()
    found, _ = _broken_rules(group, answer.assignment, answer.withheld, protocol_of(assignor))
    return found


def protocol_of(assignor: Assignor) -> RebalanceProtocol:
    """Return the protocol whose hand-over rule the answers of an assignor have to keep."""
    return RebalanceProtocol.COOPERATIVE if assignor.is_cooperative else RebalanceProtocol.EAGER


__all__ = [
    "Report",
    "Rule",
    "Violation",
    "check",
    "judged",
    "protocol_of",
    "summary",
    "validity",
]

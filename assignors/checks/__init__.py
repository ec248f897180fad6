"""Check the assignment of any assignor: which rules it breaks, how far it is from the best.

>>> from assignors import Cluster, Group, Member
>>> members = (Member(member_id="a", topics=("t",)), Member(member_id="b", topics=("t",)))
>>> group = Group(cluster=Cluster.of({"t": 2}), members=members)
>>> report = check(group, {"a": {"t": (0, 1)}, "b": {}})
>>> report.violations, report.gaps["balance_gap"]
((), 2)
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.assignor import Assignor, RebalanceProtocol, UserData
from assignors.checks.distance import distance
from assignors.checks.handover import handover, needs_follow_up
from assignors.checks.validity import validity
from assignors.checks.violation import Report, Rule, Violation, summary
from assignors.model import Assignment, Group, require_group
from assignors.names.sequences import as_partitions
from assignors.own_assignors.answers import is_from_outside
from assignors.rebalance import Rebalance
from wire import TopicPartitions

CLAIMS_READ_FROM: dict[RebalanceProtocol, UserData] = {
    RebalanceProtocol.EAGER: UserData.STICKY,
    RebalanceProtocol.COOPERATIVE: UserData.COOPERATIVE,
}


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
    rule applies: eager members have revoked everything before the round. It also decides where
    claims are read, unless `user_data` does: moves are counted from them. Gaps are those of
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
    if protocol not in CLAIMS_READ_FROM:
        raise ValueError(f"protocol: expected a RebalanceProtocol, found {protocol!r}")
    waiting = as_partitions({} if withheld is None else withheld, "withheld")
    violations = broken_rules(group, assignment, waiting, protocol)
    kind = CLAIMS_READ_FROM[protocol] if user_data is None else user_data
    gaps: dict[str, int | float | bool | None] = distance(group, assignment, kind)
    is_cooperative = protocol is RebalanceProtocol.COOPERATIVE
    gaps["follow_up"] = is_cooperative and needs_follow_up(group, waiting)
    return Report(violations=violations, gaps=gaps)


def broken_rules(
    group: Group, assignment: Assignment, withheld: TopicPartitions, protocol: RebalanceProtocol
) -> tuple[Violation, ...]:
    """Return every rule that the assignment breaks, the hand-over's where members hand over.

    Cost: O(claims + size of assignment and withheld + partitions of subscribed topics).
    """
    found = validity(group, assignment, withheld)
    if protocol is RebalanceProtocol.COOPERATIVE:
        return (*found, *handover(group, assignment, withheld))
    idle = [
        Violation(rule=Rule.WITHHELD_WITHOUT_REASON, topic=topic, partition=partition)
        for topic, numbers in withheld.items()
        for partition in numbers
    ]
    return (*found, *idle)


def judged(group: Group, assignor: Assignor, answer: Rebalance) -> tuple[Violation, ...]:
    """Return the rules that the answer of an assignor breaks, if it is from outside this package.

    Answers of this package's assignors are right by their own tests. Cost: that of `broken_rules`.
    """
    if not is_from_outside(assignor):
        return ()
    return broken_rules(group, answer.assignment, answer.withheld, protocol_of(assignor))


def protocol_of(assignor: Assignor) -> RebalanceProtocol:
    """Return the protocol whose hand-over rule the answers of an assignor have to keep."""
    return RebalanceProtocol.COOPERATIVE if assignor.is_cooperative else RebalanceProtocol.EAGER


__all__ = [
    "Report",
    "Rule",
    "Violation",
    "broken_rules",
    "check",
    "judged",
    "protocol_of",
    "summary",
    "validity",
]

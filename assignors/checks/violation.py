"""The rules that a check knows, and the violations it reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from assignors.model import MemberNote


class Rule(StrEnum):
    """The rules an assignment can break, one sentence each."""

    MISSING_ENTRY = "missing-entry"
    """Every member has an entry: the broker sends zero bytes to one that has none."""
    UNKNOWN_MEMBER = "unknown-member"
    """Only members of the group have an entry."""
    UNKNOWN_TOPIC = "unknown-topic"
    """Only topics that the cluster knows are assigned or withheld."""
    UNKNOWN_PARTITION = "unknown-partition"
    """Only partitions that the topic has are assigned or withheld."""
    NOT_SUBSCRIBED = "not-subscribed"
    """A member gets partitions only of topics it subscribes to."""
    ASSIGNED_TWICE = "assigned-twice"
    """A partition goes to one member, once."""
    UNASSIGNED = "unassigned"
    """Every partition of a subscribed topic is assigned or withheld."""
    WITHHELD_AND_ASSIGNED = "withheld-and-assigned"
    """A withheld partition is not assigned."""
    WITHHELD_WITHOUT_REASON = "withheld-without-reason"
    """A partition is withheld only while a member may still consume it."""
    GIVEN_TOO_EARLY = "given-too-early"
    """Under the cooperative protocol a partition is given to X only if nobody else claims it,
    or if X claims it with the last generation and nobody else does with that one. One that nobody
    else claims is a note where the claims of a member are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One broken rule: the partition, and the members that show it."""

    rule: Rule
    topic: str | None = None
    partition: int | None = None
    members: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The rule, the partition and the members, as words; of many members the first."""
        shown = [*self.members[:MEMBERS_NAMED], "..."][: len(self.members)]
        place = "" if self.topic is None else f" {self.topic}:{self.partition}"
        return f"{self.rule}{place}" + (f" ({', '.join(shown)})" if shown else "")


MEMBERS_NAMED = 5


def summary(violations: Sequence[Violation]) -> str | None:
    """Return the first violation in words, and how many there are; `None` where there is none.

    >>> twice = Violation(rule=Rule.ASSIGNED_TWICE, topic="t", partition=0, members=("a", "b"))
    >>> summary([twice]), summary([twice, Violation(rule=Rule.UNASSIGNED, topic="t", partition=1)])
    ('assigned-twice t:0 (a, b)', 'assigned-twice t:0 (a, b), and 1 more')
    """
    if not violations:
        return None
    rest = len(violations) - 1
    return violations[0].text + (f", and {rest} more" if rest else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What `check` found."""

    violations: tuple[Violation, ...] = ()
    in_doubt: tuple[Violation, ...] = ()
    """Partitions that nobody else claims, given while the claims of some member are not known."""
    notes: tuple[MemberNote, ...] = ()
    """The members whose claims are not known, and why; then what is in doubt because of them."""
    gaps: Mapping[str, int | float | bool | None] = field(default_factory=dict)
    """How far the assignment is from the best possible; see `distance.distance` for the keys."""

"""The leader behind a finding, and the findings of each leader.

In a classic group the leader computes the assignment. So a bad assignment is the doing of the
leader's client, whichever member received it. Findings that the leader causes name it, and those
that leaders of one client library cause have one cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assignors.replay.analysis.group_analysis import LifeAnalysis
from assignors.replay.findings.table import ORDER, RANK
from assignors.replay.history.fingerprint import BROKER
from assignors.replay.tables.rows import FindingRow

LEADERS_CLIENT = "the leader's client"
"""What advice in `FINDINGS` calls the client to update; a row's advice has its name behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """The member that computed the assignment of a generation."""

    member_id: str
    client_id: str | None
    """`None`, as is the host, where the record has no such member."""
    host: str | None
    guess: str | None
    """Client library and version, see `history.fingerprint`."""

    @property
    def cause(self) -> str:
        """What findings of one cause have in common: the library, else the client id."""
        return self.guess or self.client_id or self.member_id

    def __str__(self) -> str:
        """Return it in words."""
        where = f" at {self.host}" if self.host else ""
        guess = f", guessed to be {self.guess}" if self.guess else ""
        return f"{self.client_id or self.member_id}{where}{guess}"


def leaders_of(analysis: LifeAnalysis) -> Mapping[int, Leader]:
    """Return generation -> its leader, for the generations whose record has one.

    Where the bytes of a generation fit no library, the guess is that of the leader's other
    generations. Cost: linear in the members of all generations.
    """
    generations = [analysed.generation for analysed in analysis.generations]
    guesses: dict[str | None, str] = {}
    for generation in generations:
        if generation.writer is not None:
            guesses.setdefault(generation.leader_id, generation.writer)
    found = {}
    for generation in generations:
        leader_id = generation.leader_id
        if leader_id is not None and generation.writer != BROKER:
            member = next((m for m in generation.members if m.member_id == leader_id), None)
            found[generation.number] = Leader(
                member_id=leader_id,
                client_id=None if member is None else member.client_id,
                host=None if member is None else member.host,
                guess=generation.writer or guesses.get(leader_id),
            )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderFindings:
    """The findings that leaders of one library cause; where the library is unknown, one client."""

    guess: str | None
    findings: Sequence[FindingRow]

    @property
    def severities(self) -> Mapping[str, int]:
        """Severity -> how many findings have it, worst first."""
        counts = Counter(row.severity for row in self.findings)
        return {severity: counts[severity] for severity in RANK}

    @property
    def groups(self) -> Sequence[str]:
        """The groups that have them."""
        return [*dict.fromkeys(row.group for row in self.findings)]

    @property
    def kinds(self) -> Sequence[str]:
        """Their kinds, worst first."""
        return sorted({row.kind for row in self.findings}, key=ORDER.__getitem__)

    @property
    def client_ids(self) -> Sequence[str]:
        """The client ids of the leaders, or member ids where no record has one."""
        clients = (row.leader_client_id or row.leader_id for row in self.findings)
        return [*dict.fromkeys(client for client in clients if client)]


def findings_by_leader(rows: Iterable[FindingRow]) -> list[LeaderFindings]:
    """Return the findings that leaders cause, joined by leader, worst first. Cost: linear."""
    found: dict[str, list[FindingRow]] = {}
    for row in rows:
        cause = row.leader_guess or row.leader_client_id or row.leader_id
        if cause is not None:
            found.setdefault(cause, []).append(row)
    listed = [
        LeaderFindings(guess=rows_[0].leader_guess, findings=rows_) for rows_ in found.values()
    ]
    return sorted(listed, key=lambda one: [-count for count in one.severities.values()])

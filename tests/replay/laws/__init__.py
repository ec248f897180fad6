"""What must hold between the figures of a replay, whatever the records were.

Each law is a function from tables to sentences, one for each place where it does not hold. They
use the tables alone, and nothing of how these were made. `python -m tests.replay.laws DUMP...`
checks any dump.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from assignors.registry import assignor_named
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.engines.python import replay_records
from assignors.replay.settings import Settings
from assignors.replay.tables.rows import Tables
from tests.replay.laws import counts, outcomes, ownership

Law = Callable[[Tables], Iterator[str]]

LAWS: tuple[Law, ...] = (
    counts.lives_follow_on_each_other,
    counts.totals_of_groups_are_sums_of_generations,
    counts.every_commit_is_counted_once,
    counts.generations_take_turns,
    counts.whoever_is_there_stayed_or_joined,
    counts.figures_of_a_generation_fit_its_members,
    counts.moves_and_gaps_are_possible,
    counts.findings_fall_into_their_lives,
    counts.findings_are_counted_with_their_group,
    ownership.intervals_end_after_they_begin,
    ownership.a_member_owns_a_partition_once_at_a_time,
    ownership.what_moved_has_a_next_owner_at_once,
    ownership.two_owners_are_a_finding_and_nothing_else_is,
    ownership.what_is_double_owned_is_measured_by_its_findings,
    ownership.what_members_are_assigned_is_what_they_own,
    outcomes.what_happened_is_the_same_beside_every_assignor,
    outcomes.outcomes_are_possible,
    outcomes.outcomes_add_up,
)

TRIED = ("optimal/cooperative-sticky", "java/sticky", "server/uniform")


def tables_of(given: Iterable[LoggedRecord]) -> Tables:
    """The tables of these records, with one assignor of each family tried."""
    return replay_records(given, Settings(assignors=tuple(map(assignor_named, TRIED))))


def broken(tables: Tables) -> list[str]:
    """Every law that does not hold, and where."""
    return [f"{law.__name__}: {said}" for law in LAWS for said in law(tables)]

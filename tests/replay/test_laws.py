"""The figures of a replay agree with each other, in everything that was captured.

`test_nonsense` holds random records against the same laws. Each law is seen to fail here, on
tables that are made to contradict themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assignors.replay.sample import incident
from assignors.replay.tables.rows import Tables
from tests.replay.histories import captured
from tests.replay.laws import LAWS, broken, tables_of

SOURCES: dict[str, Callable[[], Any]] = {
    "real": lambda: captured("real"),
    "java-plans": lambda: captured("java-plans"),
    "incident": incident,
}

FALSE: dict[str, tuple[str, str, Any]] = {
    "lives_follow_on_each_other": ("groups", "life", 9),
    "totals_of_groups_are_sums_of_generations": ("groups", "moved", 10_000),
    "every_commit_is_counted_once": ("groups", "commit_count", -1),
    "generations_take_turns": ("generations", "until_ms", 5),
    "whoever_is_there_stayed_or_joined": ("generations", "joined", ("nobody",)),
    "figures_of_a_generation_fit_its_members": ("generations", "load_max", 99),
    "moves_and_gaps_are_possible": ("generations", "moved", 99),
    "findings_fall_into_their_lives": ("findings", "generation", 99_999),
    "findings_are_counted_with_their_group": ("groups", "finding_count", -1),
    "intervals_end_after_they_begin": ("assignments", "to_ms", 7),
    "a_member_owns_a_partition_once_at_a_time": ("assignments", "to_ms", None),
    "what_moved_has_a_next_owner_at_once": ("assignments", "to_ms", 7),
    "two_owners_are_a_finding_and_nothing_else_is": ("assignments", "to_ms", None),
    "what_is_double_owned_is_measured_by_its_findings": ("groups", "double_owned_ms", 1),
    "what_members_are_assigned_is_what_they_own": ("assignments", "from_generation", 99_999),
    "what_happened_is_the_same_beside_every_assignor": ("outcomes", "actual_moved", 77),
    "outcomes_are_possible": ("outcomes", "load_max", 10_000),
    "outcomes_add_up": ("outcomes", "rounds", 10_000),
}
"""Law -> a table, a column of it, and what would break the law if it stood in every row."""


@pytest.fixture(scope="module", params=SOURCES)
def tables(request: pytest.FixtureRequest) -> Tables:
    return tables_of(SOURCES[request.param]())


def test_every_law_holds(tables: Tables) -> None:
    assert broken(tables) == []


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_law_can_be_broken(law: Callable[[Tables], Any], incident_tables: Tables) -> None:
    name, column, value = FALSE[law.__name__]
    rows: Any = tuple(replace(row, **{column: value}) for row in getattr(incident_tables, name))
    changed: Any = {name: rows}
    false = replace(incident_tables, **changed)
    assert list(law(incident_tables)) == []
    assert list(law(false)) != []


@pytest.fixture(scope="module")
def incident_tables() -> Tables:
    return tables_of(incident())

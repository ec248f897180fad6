"""The strategies make what they promise: every kind of claim, every event, nothing impossible."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import Phase, given, settings

from assignors import Group
from assignors.registry import assignor_named
from assignors.simulation.rounds import GroupEventKind, Scenario, rounds
from assignors.testing import ClaimKind, claim_kinds, event_kinds, groups, scenarios

# Generated alone: no example of an earlier failure, and the same ones every time.
COUNTING = settings(max_examples=300, derandomize=True, database=None, phases=[Phase.generate])


@pytest.mark.parametrize("truthful", [False, True])
def test_every_kind_of_claim_occurs(truthful: bool) -> None:  # noqa: FBT001
    seen: Counter[ClaimKind] = Counter()
    unknown_generation = 0

    @COUNTING
    @given(groups(truthful=truthful))
    def draw(group: Group) -> None:
        nonlocal unknown_generation
        seen.update(set(claim_kinds(group)))
        unknown_generation += group.generation is None

    draw()
    kinds = set(ClaimKind) - ({ClaimKind.CONTESTED} if truthful else set())
    assert {kind for kind in kinds if seen[kind] >= 5} == kinds, seen
    assert truthful == (unknown_generation == 0)
    assert truthful == (seen[ClaimKind.CONTESTED] == 0)


def test_every_event_occurs_and_only_what_can_happen() -> None:
    seen: Counter[GroupEventKind] = Counter()
    versions: Counter[int | None] = Counter()
    remembering = stale = 0

    @COUNTING
    @given(scenarios())
    def draw(scenario: Scenario) -> None:
        nonlocal remembering, stale
        for _ in rounds(scenario, assignor_named("range")):
            pass  # an event that cannot happen raises
        seen.update(set(event_kinds(scenario)))
        joined = [happened.member for happened in scenario.events if happened.member]
        for spec in (*scenario.members, *joined):
            versions[spec.version] += 1
            remembering += spec.remembers
            stale += bool(spec.owned)

    draw()
    assert {kind for kind in GroupEventKind if seen[kind] >= 5} == set(GroupEventKind), seen
    assert min(versions[version] for version in (None, 0, 1, 2, 3)) >= 5
    assert min(remembering, stale) >= 5

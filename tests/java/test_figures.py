"""The figures of a cooperative answer count what waits, and moves to where it will go."""

from __future__ import annotations

from hypothesis import given

from assignors import Group, OnFailure, Options, assignor_named
from assignors.testing import groups

REPAIR = Options(on_failure=OnFailure.REPAIR)
COOPERATIVE = assignor_named("java/cooperative-sticky").configured(REPAIR)
EAGER = assignor_named("java/sticky").configured(REPAIR)


@given(group=groups())
def test_figures_count_what_is_withheld_and_moves_beyond_it(group: Group) -> None:
    answer = COOPERATIVE.assign(group)
    waits = sum(len(numbers) for numbers in answer.withheld.values())
    assert answer.stats["withheld"] == waits
    assert answer.stats["unassigned"] >= waits
    # The same algorithm without withholding: what moves, stays and spreads is the same.
    target = EAGER.assign(group)
    for figure in ("moved", "kept", "topic_spread_max"):
        assert answer.stats[figure] == target.stats[figure], figure

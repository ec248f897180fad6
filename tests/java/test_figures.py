"""The figures of a cooperative answer count what waits."""

from __future__ import annotations

from hypothesis import given

from assignors import Group, OnFailure, Options, assignor_named
from assignors.testing import groups

REPAIR = Options(on_failure=OnFailure.REPAIR)
COOPERATIVE = assignor_named("java/cooperative-sticky").configured(REPAIR)


@given(group=groups())
def test_figures_count_what_is_withheld(group: Group) -> None:
    answer = COOPERATIVE.assign(group)
    waits = sum(len(numbers) for numbers in answer.withheld.values())
    assert answer.stats["withheld"] == waits
    assert answer.stats["unassigned"] >= waits

"""The claims of the debate hold in the regions that the table names, and nowhere else."""

from __future__ import annotations

import pytest

from tests.lab.coordinators.debate import CLAIMS, Claim


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text[:40])
def test_a_claim_holds_in_the_region_that_the_table_names(claim: Claim) -> None:
    found = list(claim.measured())
    holds = tuple(each.value for each in found if each.holds)
    assert holds == claim.holds_at, [(each.value, each.text, each.holds) for each in found]


def test_every_claim_is_measured_at_several_values_and_some_fail_beyond_a_border() -> None:
    assert all(len(claim.values) >= 3 for claim in CLAIMS)
    assert sum(claim.holds_at != claim.values for claim in CLAIMS) >= 7
    assert all(claim.holds_at for claim in CLAIMS)

"""The claims of the debate hold where the table says so, and loads are the same for everybody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assignors.simulation.timed.coordinator.claims import BASE, CLAIMS, Claim
from assignors.simulation.timed.coordinator.load import Load, draws
from assignors.simulation.timed.coordinator.policy import POLICIES
from assignors.simulation.timed.coordinator.run import measure
from assignors.simulation.timed.coordinator.settings import Settings


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text[:40])
def test_a_claim_holds_where_the_table_says_so(claim: Claim) -> None:
    evidence = claim.measured()
    assert evidence.holds, evidence.text


def test_the_same_load_is_played_the_same_way() -> None:
    load = replace(BASE, requests=2000, check_us=500, is_steady=False, seed=7)
    assert measure(POLICIES["inline"], load) == measure(POLICIES["inline"], load)
    assert measure(POLICIES["inline"], load) != measure(POLICIES["inline"], replace(load, seed=8))


def test_another_duration_of_checks_changes_no_other_draw() -> None:
    one, other = draws(BASE), draws(replace(BASE, check_us=900))
    assert np.array_equal(one.at_us, other.at_us)
    assert np.array_equal(one.group, other.group)


@pytest.mark.parametrize("name", POLICIES)
def test_a_lone_request_takes_its_check_its_service_and_the_replication(name: str) -> None:
    load = Load(requests=50, per_second=10, check_us=3000, service_us=100, replication_us=2000)
    measured = measure(POLICIES[name], load, Settings(workers=1, partitions=1))
    assert measured.p50_ms == pytest.approx(5.1)

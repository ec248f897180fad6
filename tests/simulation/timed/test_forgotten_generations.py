"""Commits that are refused amid a rebalance: no harm, unless the client forgets its generation.

librdkafka's issues 4059 and 3891: "Partitions get revoked and assigned multiple times on other
consumer on shut down of one consumer for cooperative sticky assignment strategy".
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from assignors.ownership.intervals import ownerships
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import Played, simulate
from tests.simulation.timed.groups import with_members


def played(seed: int, *, forgets: bool) -> Played:
    scenario = named("commits-during-a-rebalance", seed=seed)
    changed = with_members(scenario, forgets_generation=forgets)
    return simulate(changed, keeps_history=True)


def lost(run: Played) -> int:
    """How often a member lost a partition and was the next one to consume it."""
    spans = sorted(ownerships(run.changes), key=lambda each: (each.partition, each.start))
    return sum(
        one.ended_by == "lost" and one.member_id == other.member_id
        for one, other in pairwise(spans)
        if one.partition == other.partition
    )


@pytest.mark.parametrize("seed", range(2))
def test_members_give_up_again_and_again_what_nobody_else_wants(seed: int) -> None:
    forgets, mended = played(seed, forgets=True), played(seed, forgets=False)
    assert min(forgets.result.fenced_commits, mended.result.fenced_commits) > 0
    assert (mended.result.rounds, mended.result.gaps, lost(mended)) == (1, 1, 0)
    assert forgets.result.rounds > 1
    assert lost(forgets) > 0
    for each in (forgets, mended):
        assert each.result.is_settled
        assert each.result.double_partition_ms == 0
        assert each.result.violations == 0


def test_others_do_not_forget() -> None:
    """A group of KIP-848 and a member that does not commit have nothing to forget."""
    scenario = named("commits-during-a-rebalance")
    silent = with_members(scenario, auto_commit_ms=0)
    assert simulate(silent).result.rounds == 1
    assert simulate(replace(scenario, protocol=GroupProtocol.CONSUMER)).result.gaps == 1

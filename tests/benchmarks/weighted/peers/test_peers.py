"""The ports do what their originals say of themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assignors.arrays import Int64
from tests.benchmarks.weighted.peers.all_peers import PEERS, kcl_runs
from tests.benchmarks.weighted.peers.count_sticky import count_sticky
from tests.benchmarks.weighted.peers.dicer import dicer
from tests.benchmarks.weighted.peers.guyozeri import guyozeri
from tests.benchmarks.weighted.peers.kcl import kcl
from tests.benchmarks.weighted.peers.lag_based import lag_based
from tests.benchmarks.weighted.peers.lpt import lpt
from tests.benchmarks.weighted.peers.task import Peer, Task


def task(weight: list[int], owner: list[int], members: int) -> Task:
    """Return a decision about partitions of one topic."""
    return Task(
        weight=np.array(weight),
        owner=np.array(owner, dtype=np.int32),
        member_count=members,
        topic_of=np.zeros(len(weight), dtype=np.int32),
    )


def drawn(seed: int) -> Task:
    """Return a decision about a group drawn at random: some partitions belong to nobody."""
    random = np.random.default_rng(seed)
    members, count = int(random.integers(1, 9)), int(random.integers(1, 60))
    owner = random.integers(0, members, count).astype(np.int32)
    owner[random.random(count) < 0.1] = -1
    return Task(
        weight=(random.lognormal(0, 1, count) * 1000).astype(np.int64),
        owner=owner,
        member_count=members,
        topic_of=np.sort(random.integers(0, 4, count)).astype(np.int32),
        seed=seed,
    )


def loads(given: Task, peer: Peer) -> Int64:
    """Return what each member has after a peer's decision."""
    return replace(given, owner=peer(given)).loads()


@pytest.mark.parametrize("name", list(PEERS))
def test_every_partition_gets_a_member(name: str) -> None:
    for seed in range(60):
        given = drawn(seed)
        owner, again = PEERS[name](given), PEERS[name](given)
        assert (owner >= 0).all()
        assert (owner < given.member_count).all()
        assert (owner == again).all()


def test_lag_based_gives_the_example_of_its_description() -> None:
    assert lag_based(task([100_000, 50_000, 60_000], [-1] * 3, 2)).tolist() == [0, 1, 1]


def test_lag_based_balances_counts_topic_by_topic() -> None:
    given = replace(task([9, 1, 9, 1], [-1] * 4, 2), topic_of=np.array([0, 0, 1, 1], np.int32))
    assert lag_based(given).tolist() == [0, 1, 0, 1]


def test_longest_processing_time_first() -> None:
    assert sorted(loads(task([5, 4, 3, 3, 3], [-1] * 5, 2), lpt)) == [8, 10]


def test_sticky_by_count_moves_what_is_too_much() -> None:
    assert count_sticky(task([9, 1, 1, 1], [0, 0, 0, 1], 2)).tolist() == [0, 0, 1, 1]


def test_the_weighted_assignor_undoes_its_own_work() -> None:
    given = task([90, 10, 10, 10, 10, 10], [0, 1, 0, 1, 0, 1], 2)
    owner = guyozeri(given)
    assert sorted(replace(given, owner=owner).loads()) == [50, 90]
    again = replace(given, owner=count_sticky(replace(given, owner=owner)))
    assert sorted(again.loads()) == [30, 110]


def test_the_weighted_assignor_comes_within_its_tolerance() -> None:
    random = np.random.default_rng(1)
    given = task(random.integers(1, 100, 400).tolist(), (np.arange(400) % 8).tolist(), 8)
    found = loads(given, guyozeri)
    assert found.max() - found.min() <= 0.05 * found.mean()


def test_kcl_takes_sixty_percent_of_what_is_above_the_mean() -> None:
    given = task([1] * 300, [0] * 200 + [1] * 100, 2)
    assert loads(given, kcl).tolist() == [171, 129]  # 29 of 50: the rest stays below 30 above
    assert loads(given, kcl_runs).max() <= 1.1 * 150


def test_kcl_leaves_members_within_ten_percent_alone() -> None:
    given = task([1] * 210, [0] * 109 + [1] * 101, 2)
    assert (kcl(given) == given.owner).all()


def test_dicer_keeps_to_its_band_and_fills_newcomers() -> None:
    given = task([1] * 200, [0] * 108 + [1] * 92, 2)
    assert (dicer(given) == given.owner).all()
    joined = replace(given, member_count=3)
    found = loads(joined, dicer)
    assert found.min() >= 0.9 * found.mean()
    assert found.max() <= 1.1 * found.mean() + 1

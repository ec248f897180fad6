"""Few moves: a heavy partition that nobody has room for, and room that is kept for heavy ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from assignors.weighted.removal import removal_of
from assignors.weighted.search.budget import _while_better
from assignors.weighted.search.relay import relay_for
from assignors.weighted.search.relieve import relief
from assignors.weighted.search.state import State, state_of
from assignors.weighted.search.table import Table
from assignors.weighted.solve import Search, solve
from assignors.weighting import Balance
from tests.benchmarks.weighted.peers.task import Task
from tests.benchmarks.weighted.workloads import drawn, moves, search_of, without_giants
from tests.weighted.exact import FILE, read

TOLERANCE = Fraction(1, 20)


def asked(weight: list[int], owner: list[int], members: int) -> Search:
    """A group of equal members that take everything."""
    return Search(
        first=np.array([0, len(weight)]),
        takes=np.array([[True]]),
        class_of=np.zeros(members, dtype=np.int32),
        owner=np.array(owner, dtype=np.int32),
        weight=np.array(weight),
        capacity=np.ones(members, dtype=np.int64),
        balance=Balance(tolerance=TOLERANCE, trigger=TOLERANCE),
    )


def begun(task: Task, limit: int) -> State:
    """The state in which a search begins, where every member has one limit."""
    count, members = len(task.weight), task.member_count
    mean = np.full(members, task.weight.sum() / members)
    table = Table(
        weight=task.weight,
        cost=np.ones(count, dtype=np.int64),
        row_of=np.zeros(count, dtype=np.int32),
        takes=np.array([[True]]),
        class_of=np.zeros(members, dtype=np.int32),
        capacity=np.ones(members, dtype=np.int64),
        wide=mean,
        fair=mean,
        owner=task.owner,
        load=np.bincount(task.owner, task.weight, members).astype(np.int64),
    )
    state = state_of(table, has_costs=False)
    state.set_limit([limit])
    return state


def test_a_heavy_partition_goes_to_a_member_that_hands_one_on() -> None:
    """No member has room for 60 beside what it has: two moves do what twelve light ones would."""
    search = asked(weight=[60, *[5] * 12, 30, *[5] * 6], owner=[*[0] * 13, 1, *[2] * 6], members=3)
    found = solve(search)
    assert np.bincount(found.owner, search.weight).tolist() == [60, 60, 60]
    assert int((found.owner != search.owner).sum()) == 2


def test_a_relay_leaves_all_that_it_touches_within_their_limits_and_saves_moves() -> None:
    found = 0
    for seed in range(60):
        task = drawn(20, 800, seed=seed)
        load = np.bincount(task.owner, task.weight, 20).astype(np.int64)
        limit = int(1.05 * float(load.mean()))
        state = begun(task, limit)
        for giver in np.flatnonzero(load > limit).tolist():
            relay = relay_for(state, giver)
            assert state.load == load.tolist(), "looking for a relay changes nothing"
            if relay is None:
                continue
            found += 1
            other = state.copy([limit])
            for move in relay:
                other.move(move)
            touched = {one for move in relay for one in (move.giver, move.receiver)}
            assert all(other.excess(member) <= 0 for member in touched), seed
            light = np.sort(task.weight[task.owner == giver])[::-1]
            light = light[light <= limit - load.min()]
            needed = int(np.searchsorted(np.cumsum(light), load[giver] - limit)) + 1
            assert len(relay) < needed, seed
    assert found >= 10


def test_moves_stay_near_the_fewest_that_members_have_to_give_up() -> None:
    """Frozen: the sums of four groups each, at a tolerance of 5 %."""
    for members, partitions, most in ((20, 200, 1.42), (100, 1000, 1.48), (100, 2000, 1.26)):
        done = least = 0
        for seed in range(4):
            task = without_giants(drawn(members, partitions, seed=seed))
            search = search_of(task, tolerance=TOLERANCE)
            owner = solve(search).owner
            done += moves(task, owner)
            use = Fraction(int(np.bincount(owner, task.weight).max()))
            least += removal_of(task.weight, task.owner, search.capacity).moves_to(use)
        assert done <= most * least, (members, partitions, done, least)


def test_what_a_budget_leaves_is_done_by_larger_ones() -> None:
    """`deferred` is worked out when it is read, and what moves then is what moves next."""
    task = without_giants(drawn(20, 400, seed=1))
    search = search_of(task, tolerance=TOLERANCE, budget=3)
    found = solve(search)
    assert "deferred" not in vars(found)
    first = set(found.deferred.tolist())
    again = solve(replace(search, owner=found.owner, budget=None))
    moved = set(np.flatnonzero(again.owner != found.owner).tolist())
    assert first
    assert len(moved) <= len(first)


def test_no_search_that_is_ended_early_would_have_led_to_a_lower_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = map(read, FILE.read_text(encoding="utf-8").splitlines())
    asked_for = [one.search for one in known if not one.is_mixed and one.search.budget]

    def uses() -> list[int]:
        found = [solve(search).owner for search in asked_for]
        pairs = zip(found, asked_for, strict=True)
        return [int(np.bincount(owner, search.weight).max()) for owner, search in pairs]

    early = uses()
    monkeypatch.setattr(
        "assignors.weighted.search.budget._while_better", lambda _state, _use, steps: steps
    )
    assert uses() == early


def test_a_search_that_leads_below_a_use_is_not_ended() -> None:
    steps_done = 0
    for seed in range(20):
        task = drawn(6, 60, seed=seed)
        state = begun(task, int(task.weight.sum()) // 6)
        whole = state.copy(state.limit)
        count = len(list(relief(whole, chains=False)))
        tried = state.copy(state.limit)
        slightly_more = whole.largest * (1 + 1e-9)
        done = list(_while_better(tried, slightly_more, relief(tried, chains=False)))
        assert len(done) == count, seed
        assert tried.largest == whole.largest
        ended = state.copy(state.limit)
        list(_while_better(ended, 0.5 * whole.largest, relief(ended, chains=False)))
        assert ended.load == state.load, "nothing leads there"
        steps_done += count
    assert steps_done > 100

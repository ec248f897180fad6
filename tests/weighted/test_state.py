"""What the state of a search says of its members, against looking at all of them."""

from __future__ import annotations

import numpy as np
import pytest

from assignors.weighted.search import facts
from assignors.weighted.search.state import BELOW, State, state_of
from assignors.weighted.search.table import Move, Table
from tests.weighted.groups import Drawn, drawn, lawful, loads, may

MIXED = Drawn(members=(3, 12))
ALIKE = Drawn(members=(1, 12), is_mixed=False, has_capacities=False)


def begun(seed: int, kind: Drawn = MIXED) -> tuple[State, Table]:
    """A random group with limits around what members have."""
    search = lawful(drawn(seed, kind))
    random = np.random.default_rng(seed)
    topic = np.repeat(np.arange(len(search.first) - 1), np.diff(search.first))
    table = Table(
        weight=search.weight,
        cost=np.ones(len(search.weight), dtype=np.int64),
        row_of=topic.astype(np.int32),
        takes=search.takes.T,
        class_of=search.class_of,
        capacity=search.capacity,
        wide=(search.capacity * 1000.0).astype(np.float64),
        fair=(search.capacity * 900.0).astype(np.float64),
        owner=search.owner.copy(),
        load=loads(search, search.owner),
    )
    state = state_of(table, has_costs=False)
    state.set_limit([int(random.integers(0, 5000)) for _ in state.limit])
    allowed = may(search)
    for _ in range(int(random.integers(0, 12))):
        owned = np.flatnonzero((table.owner >= 0) & (table.weight > 0))
        if not len(owned):
            break
        partition = int(random.choice(owned))
        receiver = int(random.choice(np.flatnonzero(allowed[partition])))
        giver = int(table.owner[partition])
        if receiver != giver:
            state.move(Move(partition, giver, receiver))
            table.owner[partition] = receiver
    np.copyto(table.load, loads(search, table.owner))
    return state, table


def limits(state: State) -> list[int]:
    """The limit of each member."""
    return [state.limit[kind] for kind in state.facts.kind_of]


@pytest.mark.parametrize("at_once", [facts.AT_ONCE, 0], ids=["small", "large"])
def test_moves_are_in_every_part_of_a_state(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions of a large group are sorted by weight member by member."""
    monkeypatch.setattr(facts, "AT_ONCE", at_once)
    for seed in range(100):
        state, table = begun(seed)
        assert state.load == table.load.tolist(), seed
        assert state.owners().tolist() == table.owner.tolist()
        assert state.largest == (table.load / table.capacity).max()
        everybody = sorted(pair for members in state.ranked for pair in members)
        assert everybody == sorted((load, member) for member, load in enumerate(state.load))
        for member in range(len(state.load)):
            held = np.flatnonzero((table.owner == member) & (table.weight > 0))
            held = held[np.argsort(table.weight[held], kind="stable")]
            weights, partitions = state.held(member)
            assert list(partitions) == held.tolist(), seed
            assert list(weights) == table.weight[held].tolist()


def test_a_copy_is_not_moved_with_the_state() -> None:
    for seed in range(100):
        state, table = begun(seed)
        other = state.copy(state.limit)
        fullest = state.fullest()
        weights, partitions = other.held(fullest)
        if partitions:
            receiver = (fullest + 1) % len(state.load)
            other.move(Move(partitions[0], fullest, receiver))
            assert other.load[fullest] == state.load[fullest] - weights[0]
        assert state.load == table.load.tolist(), seed
        assert state.owners().tolist() == table.owner.tolist()


def test_the_receiver_and_its_room_are_those_of_looking_at_everybody() -> None:
    found = 0
    for seed in range(200):
        state, table = begun(seed)
        fill = table.load / table.wide
        assert state.fullest() == int(np.argmax(fill)), seed
        giver = state.fullest()
        below = np.floor(state.largest * table.capacity * BELOW).astype(np.int64)
        room = np.minimum(limits(state), below) - table.load
        room[giver] = -1
        held = state.held(giver)
        takers = [np.flatnonzero(table.takes[table.row_of[one], table.class_of]) for one in held[1]]
        fits = [
            place
            for place, (weight, members) in enumerate(zip(held[0], takers, strict=True))
            if weight <= room[members].max()
        ]
        assert list(state.fitting(held, giver)) == fits, seed
        for place in fits:
            members = takers[place][room[takers[place]] >= held[0][place]]
            best = members[np.argmin((table.load[members] + held[0][place]) / table.wide[members])]
            assert state.receiver_of(held[1][place], held[0][place], giver) == best, seed
            fullest = members[
                np.argmax((table.load[members] + held[0][place]) / table.wide[members])
            ]
            assert state.fullest_receiver_of(held[1][place], held[0][place]) == fullest, seed
            found += 1
    assert found > 300


def test_where_all_are_alike_the_room_is_that_of_the_emptiest_other_one() -> None:
    found = 0
    for seed in range(100):
        state, table = begun(seed, ALIKE)
        most = min(state.limit[0], int(np.floor(state.largest * BELOW)))
        for member in range(len(table.load)):
            room = most - min(np.delete(table.load, member).tolist(), default=most + 1)
            held = state.held(member)
            fits = [place for place, weight in enumerate(held[0]) if weight <= room]
            assert list(state.fitting(held, member)) == fits, seed
            found += bool(fits)
    assert found > 100


def test_the_emptiest_are_those_of_looking_at_everybody() -> None:
    for seed in range(200):
        state, table = begun(seed)
        kinds = [kind for kind in range(len(state.limit)) if (seed + kind) % 3]
        members = [one for one, kind in enumerate(state.facts.kind_of) if kind in kinds]
        for count in (1, 3, 6):
            others = [one for one in members if one != members[0]]
            fill = (table.load / table.wide)[others]
            first = np.array(others, dtype=np.int64)[np.argsort(fill, kind="stable")[:count]]
            assert state.emptiest(kinds, count, members[0]) == first.tolist(), seed


def test_the_fullest_receiver_has_room_for_exactly_what_it_gets() -> None:
    """A member whose limit is what it would come to is chosen; with one less it is not."""
    for seed in range(60):
        state, table = begun(seed)
        giver = state.fullest()
        state.set_limit([0 for _ in state.limit])
        weights, partitions = state.held(giver)
        for weight, partition in zip(weights, partitions, strict=True):
            takers = np.flatnonzero(table.takes[table.row_of[partition], table.class_of])
            for member in takers.tolist():
                kind, load = state.facts.kind_of[member], state.load[member] + weight
                if load / table.capacity[member] >= state.largest or member == giver:
                    continue
                state.set_limit([load if kind == one else -1 for one in range(len(state.limit))])
                chosen = state.fullest_receiver_of(partition, weight)
                assert state.load[chosen] == state.load[member], seed
                if state.ranked[kind][0][0] < state.load[member]:
                    state.set_limit([one - 1 for one in state.limit])
                    chosen = state.fullest_receiver_of(partition, weight)
                    assert state.load[chosen] < state.load[member], seed

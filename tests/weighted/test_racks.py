"""Racks under weights: who is local, and that a local member comes before an emptier one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assignors.arrays import Int32
from assignors.weighted.search.state import BELOW, state_of
from assignors.weighted.search.table import Places, Table
from assignors.weighted.solve import Search, solve
from tests.weighted.groups import Drawn, drawn, largest, lawful, loads, may


def drawn_places(seed: int, members: int, partitions: int) -> Places:
    """Three racks, members without one, and replicas in one or two of them."""
    random = np.random.default_rng(seed)
    return Places(
        rack=random.integers(-1, 3, members).astype(np.int32),
        replica_set=random.integers(0, 4, partitions).astype(np.int32),
        replica_racks=np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]], dtype=np.bool_),
    )


def is_local(places: Places, partition: int, member: int) -> bool:
    rack = int(places.rack[member])
    return rack == -1 or bool(places.replica_racks[places.replica_set[partition]][rack])


def test_local_is_who_has_no_rack_or_that_of_a_replica() -> None:
    for seed in range(20):
        places = drawn_places(seed, 6, 8)
        for partition in range(8):
            found = places.local(partition, np.arange(6))
            assert found.tolist() == [is_local(places, partition, one) for one in range(6)]


def test_the_receiver_is_the_emptiest_local_member_with_room_or_else_of_all() -> None:
    met = set()
    for seed in range(150):
        search = lawful(drawn(seed, Drawn(members=(3, 9))))
        members, partitions = len(search.class_of), len(search.owner)
        places = drawn_places(seed, members, partitions)
        topic = np.repeat(np.arange(len(search.first) - 1), np.diff(search.first))
        fair = (search.capacity * 1000.0).astype(np.float64)
        state = state_of(
            Table(
                weight=search.weight,
                cost=np.ones(partitions, dtype=np.int64),
                row_of=topic.astype(np.int32),
                takes=search.takes.T,
                class_of=search.class_of,
                capacity=search.capacity,
                wide=fair,
                fair=fair,
                owner=search.owner.copy(),
                load=loads(search, search.owner),
                places=places,
            ),
            has_costs=False,
        )
        state.set_limit([int(fair.max()) * 3] * len(state.limit))
        load, allowed, giver = np.array(state.load), may(search), state.fullest()
        room = np.minimum(3 * fair.max(), np.floor(state.largest * search.capacity * BELOW)) - load
        for partition in np.flatnonzero(search.owner == giver).tolist():
            weight = int(search.weight[partition])
            able = [m for m in np.flatnonzero(allowed[partition]).tolist() if room[m] >= weight]
            able = [m for m in able if m != giver]
            if not able or not weight:
                continue
            near = [m for m in able if is_local(places, partition, m)]
            met.add(bool(near))
            fill = {m: (load[m] + weight) / fair[m] for m in near or able}
            best = min(fill, key=lambda m: (fill[m], m))
            assert state.receiver_of(partition, weight, giver) == best, seed
            fullest = min(fill, key=lambda m: (-fill[m], m))
            assert state.fullest_receiver_of(partition, weight) == fullest, seed
    assert met == {True, False}


def test_equal_partitions_without_an_owner_are_placed_in_their_racks() -> None:
    rack: Int32 = np.array([0, 1, 2, 0, 1, 2], dtype=np.int32)
    places = Places(
        rack=rack,
        replica_set=np.repeat(np.arange(3), 8).astype(np.int32),
        replica_racks=np.eye(3, dtype=np.bool_),
    )
    search = Search(
        first=np.array([0, 24]),
        takes=np.array([[True]]),
        class_of=np.zeros(6, dtype=np.int32),
        owner=np.full(24, -1, dtype=np.int32),
        weight=np.full(24, 5),
        capacity=np.ones(6, dtype=np.int64),
        places=places,
    )
    found = solve(search).owner
    assert np.bincount(found).max() <= 5
    assert (rack[found] == places.replica_set).all()


def test_racks_never_make_the_largest_use_worse_than_what_was_held() -> None:
    for seed in range(40):
        search = drawn(seed)
        places = drawn_places(seed, len(search.class_of), len(search.owner))
        search = replace(search, places=places)
        found = solve(search)
        assert largest(search, found.owner) <= largest(search, found.placed), seed

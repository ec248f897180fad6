"""Queues: nothing is lost, nobody does more than it can, nobody rests while records wait."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assignors.simulation.traffic.run import Queues

MEMBERS = 3
numbers = st.integers(0, 50).map(float)
partitions = st.lists(
    st.tuples(numbers, numbers, st.integers(-1, MEMBERS - 1)), min_size=1, max_size=8
)
of_members = st.lists(numbers, min_size=MEMBERS, max_size=MEMBERS)


def floats(values: object) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)


@given(partitions, of_members, of_members)
def test_a_step_is_what_each_member_would_do_by_itself(
    given_partitions: list[tuple[float, float, int]], room: list[float], warm_up: list[float]
) -> None:
    lag, arriving, owner = map(list, zip(*given_partitions, strict=True))
    queues = Queues(lag=floats(lag), warm_up=floats(warm_up))
    done = queues.serve(floats(arriving), np.array(owner, dtype=np.int32), floats(room))
    for member in range(MEMBERS):
        mine = [place for place, one in enumerate(owner) if one == member]
        waiting = sum(lag[place] + arriving[place] for place in mine)
        left = room[member] - min(room[member], warm_up[member])
        worked = min(left, waiting)
        assert np.isclose(sum(done[mine]), worked)
        assert np.isclose(queues.warm_up[member], max(0.0, warm_up[member] - room[member]))
        for place in mine:
            part = (lag[place] + arriving[place]) / waiting if waiting else 0
            assert np.isclose(done[place], worked * part)
    assert np.allclose(queues.lag, floats(lag) + floats(arriving) - done)
    assert all(done[place] == 0 for place, one in enumerate(owner) if one == -1)
    assert (queues.lag >= 0).all()


def test_a_partition_that_is_started_costs_its_new_member_its_work() -> None:
    queues = Queues(lag=np.zeros(3), warm_up=np.zeros(2))
    queues.start(np.array([0, 2]), np.array([1, 0, 1], dtype=np.int32), floats([5, 100, 7]))
    assert queues.warm_up.tolist() == [0, 12]

"""Small groups, everything that can happen to them: no monitor is violated, none is stuck."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.explore import steps
from assignors.simulation.timed.explore.cases import Case, model_of
from assignors.simulation.timed.explore.merging import merge_coordinator, merge_member
from assignors.simulation.timed.explore.moves import moves
from assignors.simulation.timed.explore.search import _reaching, explore
from assignors.simulation.timed.explore.world import (
    Model,
    World,
    put,
)
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup
from assignors.simulation.timed.protocols.state_values import cloned, key_of
from assignors.simulation.timed.scenario import GroupProtocol
from tests.conftest import cases
from tests.simulation.timed.exhaust import LONG, QUICK, exhaust, is_expected

EXHAUSTED = (Path(__file__).parent / "EXHAUSTED.md").read_text(encoding="utf-8")


def row_of(name: str) -> list[str]:
    """Return the cells of a case's row in `EXHAUSTED.md`."""
    (row,) = [line for line in EXHAUSTED.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in row.split("|")]


def written(name: str) -> tuple[int, ...]:
    """Return the states, moves, settled and stuck ones of a case as they are written down."""
    cells = row_of(name)
    return tuple(int(cells[at].replace(",", "")) for at in (9, 10, 12, 13))


@pytest.mark.parametrize("name", QUICK)
def test_every_order_of_everything_is_safe_and_ends_settled(name: str) -> None:
    found = exhaust(QUICK[name])
    assert is_expected(QUICK[name], found), (found.broken, found.stuck_first)
    assert (found.worlds, found.moves, found.settled, found.stuck) == written(name)


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["eager-2x2-fault", "consumer-2x2-faults", "mixed-cooperative-2x2-stop"]
)
def test_larger_cases_give_what_is_written_down(name: str) -> None:
    found = exhaust(LONG[name])
    assert is_expected(LONG[name], found), (found.broken, found.stuck_first)
    assert (found.worlds, found.moves, found.settled, found.stuck) == written(name)


@pytest.mark.parametrize("name", [*QUICK, *LONG])
def test_what_is_expected_of_a_case_is_what_is_written_down(name: str) -> None:
    *_, is_complete, _, _, broken, _, _, _ = row_of(name)
    row = {**QUICK, **LONG}[name]
    assert is_complete == "yes"
    assert (written(name)[-1] > 0) == row.is_stuck
    assert set(broken.split(", ")) == (row.broken or {"none"})


@pytest.mark.parametrize(
    ("protocol", "members", "faults"),
    [
        (GroupProtocol.CLASSIC, 2, 0),
        (GroupProtocol.CONSUMER, 2, 0),
        (GroupProtocol.CONSUMER, 1, 1),
        pytest.param(GroupProtocol.CONSUMER, 2, 1, marks=pytest.mark.deep),
    ],
)
def test_worlds_that_are_merged_are_those_that_differ_in_what_nobody_reads(
    protocol: GroupProtocol, members: int, faults: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignor = "server/uniform" if protocol is GroupProtocol.CONSUMER else "java/range"
    case = Case(protocol=protocol, assignor=assignor, members=members, partitions=1, faults=faults)
    merged = _all_worlds(*model_of(case))
    for name in ("merge_member", "merge_coordinator"):
        monkeypatch.setattr(steps, name, lambda _: None)
    model, start = model_of(case)
    gone, model.gone = model.gone, (None, None)  # type: ignore[assignment]
    monkeypatch.setattr(steps, "put", _put_unless_gone)
    apart = _all_worlds(model, start, gone)
    assert merged == apart


def _put_unless_gone(listed: tuple[Any, ...], position: int, value: object) -> tuple[Any, ...]:
    return listed if value is None else put(listed, position, value)


def _all_worlds(
    model: Model, start: World, gone: tuple[int, ...] | None = None
) -> set[tuple[object, ...]]:
    """Every world that can be reached, by what its states are; merged here where they were not."""
    worlds = [start]
    met = {start}
    for world in worlds:
        for move in moves(model, world):
            if move.world not in met:
                met.add(move.world)
                worlds.append(move.world)
    found = set()
    for world in worlds:
        coordinator = cloned(model.coordinators.values[world.coordinator])
        merge_coordinator(coordinator)
        states = []
        for member, number in enumerate(world.members):
            state = cloned(model.members.values[number])
            if gone is not None and not (state.is_up or world.starts[member]):
                state = cloned(model.members.values[gone[member]])
            merge_member(state)
            states.append(key_of(state))
        found.add(
            (
                key_of(coordinator),
                tuple(states),
                key_of(model.logs.values[world.log]),
                tuple(key_of(model.does.values[number]) for number in world.does),
                *(
                    tuple((own, key_of(model.messages.values[each])) for own, each in way)
                    for ways in (world.requests, world.answers)
                    for way in ways
                ),
                *world[6:],
            )
        )
    return found


@pytest.mark.parametrize("protocol", [GroupProtocol.CLASSIC, GroupProtocol.CONSUMER])
def test_two_searches_visit_the_same_worlds(protocol: GroupProtocol) -> None:
    assignor = "server/uniform" if protocol is GroupProtocol.CONSUMER else "java/range"
    case = Case(protocol=protocol, assignor=assignor, members=2, partitions=1)
    assert explore(*model_of(case), worlds_max=10_000) == explore(
        *model_of(case), worlds_max=10_000
    )


@pytest.mark.parametrize("name", ["eager-2x2", "consumer-2x2-cut"])
def test_states_that_share_parts_are_never_changed_by_a_step_of_another_one(name: str) -> None:
    model, start = model_of(QUICK[name].case)
    explore(model, start, worlds_max=10_000)
    for kept in (model.coordinators, model.members, model.does, model.messages, model.logs):
        assert [*map(key_of, kept.values)] == [*kept.numbers]
        assert [*kept.numbers.values()] == [*range(len(kept.values))]


MOVES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=8, max_size=25)


@cases(100)
@given(MOVES, st.sets(st.integers(0, 9), min_size=1, max_size=2))
def test_what_is_alive_is_what_some_moves_bring_to_a_settled_state(
    listed: list[tuple[int, int]], settled: set[int]
) -> None:
    alive = set(settled)
    for _ in range(10):
        alive |= {one for one, other in listed if other in alive}
    ends = np.array(listed, dtype=np.int32).reshape(-1, 2)
    found = _reaching(10, ends[:, 0], ends[:, 1], np.array(sorted(settled), dtype=np.int32))
    assert set(np.flatnonzero(found).tolist()) == alive


def test_a_search_that_is_cut_says_so() -> None:
    found = exhaust(QUICK["eager-2x2"], worlds_max=50)
    assert (found.worlds, found.is_complete) == (50, False)


def test_a_copy_of_a_state_changes_alone_and_has_the_key_of_its_original() -> None:
    case = Case(protocol=GroupProtocol.CLASSIC, assignor="java/range", members=1, partitions=1)
    model, world = model_of(case)
    state = model.coordinators.values[world.coordinator]
    copy = cloned(state)
    assert key_of(copy) == key_of(state)
    copy.group = ClassicGroup()
    assert key_of(copy) != key_of(state)
    again = cloned(copy)
    again.group.pending_ids.add("x")
    assert key_of(again) != key_of(copy)
    assert not copy.group.pending_ids

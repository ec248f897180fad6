"""Moves that are taken at once: a reduced search finds what one finds that takes none at once."""

from __future__ import annotations

from typing import Any

import pytest

from assignors.simulation.timed.exhaustion.cases import Case, model_of
from assignors.simulation.timed.exhaustion.search import explore, reach
from assignors.simulation.timed.exhaustion.world import Model, World, view
from assignors.simulation.timed.monitors.moment import Consumption
from assignors.simulation.timed.protocols.kafka.classic_member_state import MemberState
from assignors.simulation.timed.protocols.state_values import key_of
from assignors.simulation.timed.scenario import GroupProtocol
from tests.simulation.timed.exhaust import LONG, QUICK, whole_model

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
RESTARTS = {"starts": 2, "stops": 1}
FEW = [
    (protocol, assignor, 1, what)
    for protocol, assignor in ((CLASSIC, "java/sticky"), (CLASSIC, "java/cooperative-sticky"))
    for what in ({"faults": 1}, {"cuts": 1}, {"failovers": 1}, RESTARTS)
] + [
    (CONSUMER, "server/uniform", members, what)
    for members, what in (
        (1, {"faults": 1}),
        (2, {"cuts": 1}),
        (2, {"failovers": 1}),
        (1, RESTARTS),
    )
]
MORE = [
    (CLASSIC, assignor, 2, what)
    for assignor in ("java/sticky", "java/cooperative-sticky")
    for what in ({"faults": 1}, {"failovers": 1}, {"stops": 1}, RESTARTS)
] + [(CONSUMER, "server/uniform", 2, what) for what in ({"faults": 1}, RESTARTS)]


@pytest.mark.parametrize(("protocol", "assignor", "members", "what"), FEW)
def test_moves_that_are_taken_at_once_hide_nothing_from_monitors(
    protocol: GroupProtocol, assignor: str, members: int, what: dict[str, Any]
) -> None:
    case = Case(protocol=protocol, assignor=assignor, members=members, partitions=1, **what)
    _assert_hides_nothing(case)


TWINS, STATIC = {"instances": ("i", "i")}, {"instances": ("i",)}
BOTH, SWITCH = {"speaks": (CLASSIC, CONSUMER)}, {"is_switching": True, **RESTARTS}
OTHERS: list[tuple[GroupProtocol, int, dict[str, Any]]] = [
    (CLASSIC, 2, TWINS),
    (CONSUMER, 2, TWINS),
    (CLASSIC, 1, {**STATIC, **RESTARTS}),
    (CLASSIC, 1, {**STATIC, "starts": 2, "faults": 1}),
    (CLASSIC, 2, BOTH),
    (CLASSIC, 1, SWITCH),
]
MORE_OTHERS: list[tuple[GroupProtocol, int, dict[str, Any]]] = [
    (CLASSIC, 1, {**STATIC, "cuts": 1}),
    (CONSUMER, 2, {**STATIC, **RESTARTS}),
    (CONSUMER, 1, SWITCH),
    (CLASSIC, 1, {**SWITCH, "stops": 0, "faults": 1}),
    (CLASSIC, 1, {**SWITCH, "cuts": 1}),
    (CLASSIC, 2, {**BOTH, "stops": 1}),
]


def _other(protocol: GroupProtocol, members: int, what: dict[str, Any]) -> Case:
    is_consumer = protocol is CONSUMER and "is_switching" not in what
    assignor = "server/uniform" if is_consumer else "java/cooperative-sticky"
    return Case(protocol=protocol, assignor=assignor, members=members, partitions=1, **what)


@pytest.mark.parametrize(("protocol", "members", "what"), OTHERS)
def test_nor_do_they_in_groups_with_static_members_or_of_both_protocols(
    protocol: GroupProtocol, members: int, what: dict[str, Any]
) -> None:
    _assert_hides_nothing(_other(protocol, members, what))


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "members", "what"), MORE_OTHERS)
def test_nor_do_they_in_larger_groups_of_these_kinds(
    protocol: GroupProtocol, members: int, what: dict[str, Any]
) -> None:
    _assert_hides_nothing(_other(protocol, members, what))


@pytest.mark.parametrize(
    "name",
    [
        *("eager-2x2", "cooperative-2x3"),
        pytest.param("cooperative-2x2-cut", marks=[pytest.mark.deep, pytest.mark.slow]),
    ],
)
def test_a_reduced_case_is_the_whole_one_to_monitors(name: str) -> None:
    _assert_hides_nothing({**QUICK, **LONG}[name].case)


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "assignor", "members", "what"), MORE)
def test_larger_cases_hide_nothing_from_monitors_either(
    protocol: GroupProtocol, assignor: str, members: int, what: dict[str, Any]
) -> None:
    case = Case(protocol=protocol, assignor=assignor, members=members, partitions=1, **what)
    _assert_hides_nothing(case)


DEEP = [pytest.mark.deep, pytest.mark.slow]


@pytest.mark.parametrize(
    ("members", "partitions", "what"),
    [
        (2, 1, {"faults": 1}),
        (2, 2, {"cuts": 1}),
        (2, 1, {**TWINS, **RESTARTS}),
        (3, 1, {}),
        pytest.param(2, 1, {"stops": 2}, marks=DEEP),
        pytest.param(2, 1, {**STATIC, **RESTARTS}, marks=DEEP),
        pytest.param(2, 2, {"faults": 1, "stops": 1}, marks=DEEP),
        pytest.param(2, 1, {"faults": 1, "cuts": 1}, marks=DEEP),
        pytest.param(3, 1, {"cuts": 1}, marks=DEEP),
    ],
)
def test_remembered_moves_are_those_found_in_each_world(
    members: int, partitions: int, what: dict[str, Any]
) -> None:
    settings: dict[str, Any] = {"protocol": CONSUMER, "assignor": "server/uniform", **what}
    case = Case(members=members, partitions=partitions, **settings)
    remembered = explore(*model_of(case), worlds_max=400_000)
    assert remembered.is_complete
    assert remembered == explore(*model_of(case), worlds_max=400_000, remembers=False)


def _assert_hides_nothing(case: Case) -> None:
    """Check a search against one whose every move is a world of its own."""
    model, start = model_of(case)
    found, moments = explore(model, start, worlds_max=400_000), _moments(model, start)
    model, start = whole_model(case)
    whole = explore(model, start, worlds_max=400_000)
    assert found.is_complete
    assert whole.is_complete
    assert found.worlds < whole.worlds
    assert found.broken.keys() == whole.broken.keys()
    assert (found.stuck > 0, found.settled > 0) == (whole.stuck > 0, whole.settled > 0)
    assert moments == _moments(model, start)


def _moments(model: Model, start: World) -> set[tuple[object, ...]]:
    """Every moment of a case as monitors see it: who owns and does nothing is not compared."""
    packing, reached = reach(model, start, worlds_max=400_000)
    found: set[tuple[object, ...]] = set()
    for world in map(packing.unpack, reached.worlds):
        if _is_quiet(model, world):
            found.add(("quiet", *_quiet_moment(model, world)))
        seen, members = view(model, world.coordinator), []
        for state, number in zip(world.members, world.does, strict=True):
            member, does = model.members.values[state], model.does.values[number]
            is_seen = member.is_up and (member.owned or does != Consumption())
            who = (member.member_id, member.generation, key_of(member.owned)) if is_seen else ()
            members.append((*who, key_of(does)))
        has = (seen.generation, key_of(seen.known), key_of(seen.target), seen.target_epoch)
        found.add((*has, seen.unstable, *members))
    return found


def _is_quiet(model: Model, world: World) -> bool:
    """Return whether nothing is on its way, so that no move is to come that is taken at once."""
    if any(world.requests) or any(world.answers) or world.appends:
        return False
    states = [model.members.values[number] for number in world.members]
    return not any(
        getattr(state, "state", None) is MemberState.SYNCING or (number == gone and starts)
        for state, number, gone, starts in zip(
            states, world.members, model.gone, world.starts, strict=True
        )
    )


def _quiet_moment(model: Model, world: World) -> tuple[object, ...]:
    """What a search without moves taken at once has found too: all of the moment."""
    seen = view(model, world.coordinator)
    states = [model.members.values[number] for number in world.members]
    return (
        *(seen.generation, key_of(seen.known), key_of(seen.target), seen.target_epoch),
        *((each.is_up, each.is_up and each.member_id) for each in states),
        *(key_of(each.owned) for each in states if each.is_up),
        *(key_of(model.does.values[number]) for number in world.does),
        *(world.starts, world.cuts, world.stops, world.failovers),
    )

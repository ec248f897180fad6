"""What monitors read in a coordinator, and what they take a member's step for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from assignors.simulation.timed.monitors.coordinators import view_of
from assignors.simulation.timed.monitors.rules import Consumption, consumption_after, without
from assignors.simulation.timed.protocols.effects import Consume, Fired
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup, GroupState
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from wire import encode_assignment


def classic(state: GroupState) -> GroupCoordinator:
    group = ClassicGroup(state=state, generation=3)
    coordinator = GroupCoordinator(new_id=str, new_uuid=str, group=group)
    members: Any = group.members
    share = encode_assignment({"t": (0,)})
    members["a"] = SimpleNamespace(member_id="a", generation=3, assignment=share)
    return coordinator


def test_a_classic_group_has_given_what_its_members_have_once_it_is_stable() -> None:
    assert view_of(classic(GroupState.STABLE)).target == {"a": {"t": (0,)}}
    assert view_of(classic(GroupState.PREPARING_REBALANCE)).target == {}
    assert view_of(classic(GroupState.COMPLETING_REBALANCE)).target == {}


def test_committed_offsets_are_in_the_log_of_a_group_whose_records_are_written() -> None:
    for state, is_written in ((GroupState.STABLE, True), (GroupState.PREPARING_REBALANCE, False)):
        coordinator = classic(state)
        committed: Any = coordinator.offsets.table.committed
        committed["t", 0] = SimpleNamespace(offset=7)
        logged = view_of(coordinator).logged
        assert (logged is not None) is is_written
        assert logged is None or logged["offset", "t", "0"] == 7


def test_who_gives_up_without_a_callback_commits_nothing() -> None:
    did = Consumption(consumed={"t": (0,)})
    does = consumption_after(did, Fired(("poll",), 0), [Consume({}, "revoked")])
    assert (does.consumed, does.committing) == ({}, {})


def test_a_topic_of_which_all_is_taken_is_not_left() -> None:
    assert without({"t": (0, 1), "u": (0,)}, {"t": (1, 0)}) == {"u": (0,)}

"""What people call an assignor: as it stands in a file of theirs, or misspelt."""

from __future__ import annotations

import pytest

from assignors import ASSIGNORS, assignor_named
from assignors.names.assignor_names import ALIASES, BEST, BROKER_PACKAGE, CLIENT_PACKAGE, names_in
from assignors.names.nearest import nearest, suggestion


@pytest.mark.parametrize(
    ("written", "full_name"),
    [
        (CLIENT_PACKAGE + "CooperativeStickyAssignor", "java/cooperative-sticky"),
        (CLIENT_PACKAGE + "RangeAssignor", "java/range"),
        (CLIENT_PACKAGE + "RoundRobinAssignor", "java/roundrobin"),
        (CLIENT_PACKAGE + "StickyAssignor", "java/sticky"),
        (BROKER_PACKAGE + "UniformAssignor", "server/uniform"),
        (BROKER_PACKAGE + "RangeAssignor", "server/range"),
        (BROKER_PACKAGE + "SimpleAssignor", "server/simple"),
        ("RangeAssignor", "java/range"),
        ("UniformAssignor", "server/uniform"),
        ("uniform", "server/uniform"),
        ("partition.assignment.strategy=cooperative-sticky", "optimal/cooperative-sticky"),
        ("partition.assignment.strategy: [range]", "java/range"),
        (f"partition.assignment.strategy = [class {CLIENT_PACKAGE}StickyAssignor]", "java/sticky"),
        ("group.remote.assignor=range", "server/range"),
        (f"group.consumer.assignors={BROKER_PACKAGE}UniformAssignor", "server/uniform"),
    ],
)
def test_what_a_file_of_kafka_holds_names_an_assignor(written: str, full_name: str) -> None:
    assert assignor_named(written) is ASSIGNORS[full_name]


def test_every_other_name_leads_to_the_registry_and_hides_none_of_it() -> None:
    assert set(ALIASES.values()) <= set(ASSIGNORS)
    assert not set(ALIASES) & {*ASSIGNORS, *BEST}


def test_a_list_is_several_assignors_of_which_one_call_takes_one() -> None:
    text = "partition.assignment.strategy=cooperative-sticky,range"
    assert names_in(text) == ["cooperative-sticky", "range"]
    with pytest.raises(ValueError, match="names 2 assignors; choose one of cooperative-sticky, r"):
        assignor_named(text)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("stiky", "sticky"),
        ("Cooperative-Sticky", "cooperative-sticky"),
        ("java/stickey", "java/sticky"),
        (CLIENT_PACKAGE + "CooperativeStikyAssignor", CLIENT_PACKAGE + "CooperativeStickyAssignor"),
    ],
)
def test_a_typing_error_gets_the_nearest_name(typed: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        assignor_named(typed)


def test_nearest_is_not_far() -> None:
    assert nearest("zebra", BEST) is None
    assert nearest("STICKY", BEST) == "sticky"
    assert suggestion("zebra", map(str, range(100))) == ""
    assert suggestion("zebra", []) == ""

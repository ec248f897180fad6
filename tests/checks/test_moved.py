"""`moved` is one number, whoever counts it: the assignor, `check`, or a comparison."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from assignors import Assignor, Cluster, Group, JavaFailure, Member, assignor_named
from assignors.checks import Rule, check, protocol_of
from assignors.checks.compare import compare
from assignors.registry import ASSIGNORS
from assignors.testing import groups
from tests.cli.running import answer

COUNTED = [ASSIGNORS[name] for name in ASSIGNORS if name != "server/simple"]
"""A share group's partition has several members, so it counts partitions by member."""


@pytest.mark.parametrize("assignor", COUNTED, ids=lambda each: each.full_name)
@given(group=groups())
def test_an_answer_and_its_check_count_the_same_moves(assignor: Assignor, group: Group) -> None:
    try:
        found = assignor.assign(group)
    except JavaFailure:
        return
    report = check(
        group,
        found.assignment,
        withheld=found.withheld,
        protocol=protocol_of(assignor),
        user_data=assignor.user_data if assignor.user_data.value != "none" else None,
    )
    if Rule.ASSIGNED_TWICE in {each.rule for each in report.violations}:
        return  # who has the partition is a matter of taste
    assert found.stats["moved"] == report.gaps["moved"]
    (column,) = compare(group, [assignor]).columns
    assert column.gaps["moved"] == found.stats["moved"]


def test_a_partition_that_waits_has_moved_in_the_round_that_takes_it_from_its_owner() -> None:
    members = (
        Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=1),
        Member(member_id="b", topics=("t",)),
    )
    group = Group(cluster=Cluster.of({"t": 4}), members=members)
    found = assignor_named("cooperative-sticky").assign(group)
    assert (found.stats["withheld"], found.stats["moved"], found.stats["kept"]) == (2, 2, 2)
    (column,) = compare(group, [assignor_named("cooperative-sticky")]).columns
    assert column.gaps["moved"] == 2


@pytest.mark.parametrize(
    "name",
    ["range", "sticky", "cooperative-sticky", "server/uniform", "weighted", "cooperative-weighted"],
)
def test_assign_and_check_write_one_number(name: str) -> None:
    group = {
        "topics": {"t": 4},
        "weights": {"t": [9, 5, 3, 1]},
        "members": [
            {"id": "b", "topics": ["t"], "owned": {"t": [0, 1, 2, 3]}, "generation": 3},
            {"id": "a", "topics": ["t"]},
        ],
    }
    made = answer("assign", "--with-group", "--assignor", name, given=json.dumps(group))
    gaps = answer("check", given=json.dumps(made))["gaps"]
    assert gaps["moved"] == made["stats"]["moved"] > 0
    if "weighted" in name:
        assert gaps["weight_moved"] == made["stats"]["weight_moved"] > 0

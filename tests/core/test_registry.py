"""Names and assignors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assignors import ASSIGNORS, RebalanceProtocol, assignor_named
from assignors.checks import check
from assignors.leader import REPAIR
from assignors.model import Group
from assignors.names.assignor_names import BEST
from assignors.options import Options
from assignors.own_assignors.answers import FAMILIES, with_checked_answers
from assignors.rebalance import Rebalance
from assignors.registry import replacement_of


def test_a_bare_name_is_the_best_of_its_kind() -> None:
    for bare, full in BEST.items():
        assert assignor_named(bare) is ASSIGNORS[full] is assignor_named(full)
        assert assignor_named(bare).name == bare, "the name on the wire"


def test_only_cooperative_assignors_let_members_keep_on_consuming() -> None:
    cooperative = [name for name, found in ASSIGNORS.items() if found.is_cooperative]
    assert cooperative == [
        "java/cooperative-sticky",
        "optimal/cooperative-sticky",
        "weighted/cooperative-weighted",
    ]
    assert all(RebalanceProtocol.EAGER in found.protocols for found in ASSIGNORS.values())


def test_your_own_assignor_is_found_by_import() -> None:
    found = assignor_named("assignors.optimal.sticky:STICKY")
    assert found is ASSIGNORS["optimal/sticky"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("stickyy", "known: range, roundrobin, sticky, cooperative-sticky, java/range"),
        ("no.such.module:thing", "cannot import"),
        ("assignors.registry:nothing", "cannot import"),
        (":", "cannot import"),
        ("assignors.registry:BEST", "is dict, not an assignors.Assignor"),
        ("assignors.registry:assignor_named", "wrap it: Assignor"),
        ("weighted.py:WEIGHTED", "a module is named without .py: weighted:WEIGHTED"),
    ],
)
def test_a_name_that_names_nothing_says_what_would(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        assignor_named(name)


@pytest.mark.parametrize("name", ["optimal/sticky", "optimal/cooperative-sticky"])
def test_a_changed_copy_of_an_assignor_stays_changed_under_a_leaders_options(name: str) -> None:
    """A leader asks for repair, which is nothing to the optimal family: `assign` is the copy's."""

    def mine(group: Group) -> Rebalance:
        return assignor_named(name).assign(group)

    changed = replace(assignor_named(name), assign=mine)
    assert changed.configured(REPAIR) is changed
    assert changed.configured(Options(limit=1)).assign is not mine


def test_answers_of_the_registry_are_taken_as_they_are() -> None:
    """A family that is forgotten here is checked at every round, for up to half of its time."""
    assert {assignor.family for assignor in ASSIGNORS.values()} == FAMILIES
    assert all(with_checked_answers(assignor) is assignor for assignor in ASSIGNORS.values())


@pytest.mark.parametrize("name", ASSIGNORS)
def test_a_dictionary_in_place_of_a_group_is_told_as_such(name: str) -> None:
    described: Any = {"topics": {"t": 1}, "members": [{"id": "a", "topics": ["t"]}]}
    words = r"group: expected a Group; documents.groups.group_from_document .*, found dict$"
    with pytest.raises(ValueError, match=words):
        ASSIGNORS[name].assign(described)
    with pytest.raises(ValueError, match=words):
        check(described, {})
    with pytest.raises(ValueError, match=r"group: expected a Group; .*, found list$"):
        ASSIGNORS[name].assign([described])  # type: ignore[arg-type]


def test_what_cooperates_or_claims_so_is_replaced_by_what_cooperates() -> None:
    """Either is enough: members that keep partitions are not led by an eager assignor."""
    cooperative, eager = ASSIGNORS["java/cooperative-sticky"], ASSIGNORS["java/range"]
    no_claims = replace(cooperative, user_data=eager.user_data)
    claims = replace(eager, user_data=cooperative.user_data)
    assert no_claims.is_cooperative > claims.is_cooperative
    for assignor in (cooperative, no_claims, claims):
        assert replacement_of(assignor).is_cooperative
    assert not replacement_of(eager).is_cooperative

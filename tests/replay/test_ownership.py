"""Partitions with two owners, and with none: what is found, and what is counted.

A partition that a plan gives to two has two owners as long as the plans say so. One that is
given away while its owner claims it has two as well, and no record says for how long.
"""

from __future__ import annotations

import pytest

from assignors.replay.engines.python import replay_records
from assignors.replay.findings import Thresholds
from assignors.replay.settings import Settings
from tests.replay.findings import COOPERATIVE, found, kinds, lower, upper
from tests.replay.histories import (
    Says,
    classic,
    commit,
    current,
    epoch,
    in_order,
    member,
    target,
    target_of,
)

ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def test_a_partition_in_two_plans_has_two_owners_as_long_as_it_lasts() -> None:
    (row,) = found(
        classic(1, 1, {"a": lower(), "b": Says(gets={"t": (1, 2, 3)})}),
        classic(801, 2, {"a": lower(), "b": upper()}),
        thresholds=Thresholds(balance_gap=9, needless_moves=9),
    )
    assert (row.kind, row.topic, row.partition) == ("double-ownership", "t", 1)
    assert (row.at_ms, row.until_ms) == (1, 801)
    assert "a and b for 800 ms" in row.evidence


def test_a_partition_given_away_while_its_owner_claims_it_has_two_owners() -> None:
    """The leader hands over in the round in which the owner still consumes."""
    before = classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)})}, protocol=COOPERATIVE)
    early = classic(
        5_000,
        2,
        {"a": lower(owns={"t": (0, 1, 2, 3)}, generation=1), "b": upper()},
        protocol=COOPERATIVE,
    )
    rows = found(before, early)
    (row,) = rows
    assert (row.kind, row.occurrences, row.member_id) == ("given-too-early", 2, "b")
    assert (row.partitions, row.until_ms) == ({"t": (2, 3)}, None)
    let_go = classic(
        5_000,
        2,
        {"a": lower(owns={"t": (0, 1)}, generation=1), "b": upper()},
        protocol=COOPERATIVE,
    )
    assert found(before, let_go) == []


def test_what_is_given_too_early_lasts_until_its_owner_is_seen_without_it_at_most() -> None:
    """The old owner claims both in generation 3 as well, one in 4, and none in 5."""
    owned = {2: (0, 1, 2, 3), 3: (0, 1, 2, 3), 4: (0, 1, 3), 5: (0, 1)}
    rows = found(
        classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)})}, protocol=COOPERATIVE),
        *(
            classic(
                1_000 * number,
                number,
                {"a": lower(owns={"t": owns}, generation=number - 1), "b": upper()},
                protocol=COOPERATIVE,
            )
            for number, owns in owned.items()
        ),
    )
    (early,) = [row for row in rows if row.kind == "given-too-early"]
    assert (early.partitions, early.at_ms, early.until_ms) == ({"t": (2, 3)}, 2_000, 5_000)
    assert "t-3 was assigned to b" in early.evidence
    assert "for 3.0 s at most" in early.evidence


def test_no_time_is_counted_for_what_is_given_too_early() -> None:
    entries = [
        classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)})}, protocol=COOPERATIVE),
        classic(
            5_000,
            2,
            {"a": lower(owns={"t": (0, 1, 2, 3)}, generation=1), "b": upper()},
            protocol=COOPERATIVE,
        ),
    ]
    tables = replay_records(in_order(entries))
    assert kinds(list(tables.findings)) == ["given-too-early"]
    assert [row.double_owned_ms for row in tables.groups] == [None], "not 0: it is not recorded"


@pytest.mark.parametrize(
    ("ends", "expected"), [((), None), ((900,), 800 + 800), ((500, 900), 400 + 800)]
)
def test_a_moment_with_three_holders_counts_once_and_one_without_end_is_not_known(
    ends: tuple[int, ...], expected: int | None
) -> None:
    """Three members own t-0 and t-1 from 100 ms on; `ends` has when t-0 and t-1 are settled."""
    both = {name: Says(gets={"t": (0, 1)}) for name in "abc"}
    steps = [{**both}]
    if len(ends) == 2:
        steps.append({"a": Says(gets={"t": (0, 1)}), **dict.fromkeys("bc", Says(gets={"t": (1,)}))})
    if ends:
        steps.append({"a": Says(gets={"t": (0, 1)}), "b": Says(), "c": Says()})
    entries = [
        classic(at_ms, number, plan)
        for number, (at_ms, plan) in enumerate(zip((100, *ends), steps, strict=True), start=1)
    ]
    tables = replay_records(in_order(entries))
    assert {row.kind for row in tables.findings} >= {"double-ownership"}
    assert [row.double_owned_ms for row in tables.groups] == [expected]


def test_two_members_of_a_kip_848_group_with_one_partition() -> None:
    rows = found(
        commit(0, "t", 0, 1, topic_id=ID),
        member(1, "a", ("t",)),
        member(1, "b", ("t",)),
        epoch(1, 2),
        target_of(1, "a", {ID: (0, 1)}),
        target_of(1, "b", {ID: (2, 3)}),
        target(1, 2),
        current(1, "a", 2, {ID: (0, 1)}),
        current(2, "b", 2, {ID: (1, 2, 3)}),
        current(9, "b", 2, {ID: (2, 3)}),
    )
    assert [(row.kind, row.partition, row.at_ms, row.until_ms) for row in rows] == [
        ("double-ownership", 1, 2, 9)
    ]


def test_unassigned_partitions_are_one_finding_however_long_it_lasts() -> None:
    plan = {"a": Says(gets={"t": (0, 1)}), "b": Says(gets={"t": (2,)})}
    (row,) = found(classic(0, 1, plan), classic(90_000, 2, plan), classic(180_000, 3, {}))
    assert (row.kind, row.generation, row.at_ms, row.until_ms) == ("unassigned", 1, 0, 180_000)
    assert (row.topic, row.partition, row.count) == ("t", 3, 1)


@pytest.mark.parametrize(("lasted_ms", "is_found"), [(0, False), (999, False), (1_000, True)])
def test_unassigned_for_less_than_a_second_is_no_finding(
    lasted_ms: int,
    is_found: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """A leader that knows no topics yet deals an empty plan, and the right one at once."""
    entries = [
        classic(0, 1, {"a": Says()}),
        classic(lasted_ms, 2, {"a": Says(gets={"t": (0, 1, 2, 3)})}),
        classic(90_000, 3, {}),
    ]
    assert kinds(found(*entries)) == (["unassigned"] if is_found else [])
    (group,) = replay_records(in_order(entries), Settings(partition_counts={"t": 4})).groups
    assert group.unassigned_partition_ms == 4 * lasted_ms


def test_where_records_have_no_times_unassigned_is_always_a_finding() -> None:
    uneven = {"a": Says(gets={"t": (0, 1, 2)}), "b": Says()}
    rows = found(classic(0, 1, uneven), classic(0, 2, {}))
    assert sorted(kinds(rows)) == ["unassigned"]


def test_a_partition_that_waits_a_second_round_is_unassigned() -> None:
    first = classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)})}, protocol=COOPERATIVE)
    waits = [
        classic(
            1_000 * number,
            number,
            {"a": lower(owns={"t": (0, 1, 2, 3)}, generation=number - 1), "b": Says()},
            protocol=COOPERATIVE,
        )
        for number in (2, 3)
    ]
    assert found(first, waits[0]) == []
    (row,) = found(first, *waits)
    assert (row.kind, row.count) == ("unassigned", 2)
    assert "at the end of the records" in row.evidence


@pytest.mark.parametrize(("at_ms", "is_found"), [(5_999, False), (6_000, True), (None, True)])
def test_an_epoch_that_gets_no_target_leaves_partitions_unassigned(
    at_ms: int | None,
    is_found: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """One member is gone, the other is static and away: nobody asks the broker for its target."""
    away = [
        commit(0, "t", 3, 1, topic_id=ID),
        member(1, "a", ("t",)),
        member(1, "b", ("t",)),
        epoch(1, 2),
        target_of(1, "a", {ID: (0, 1)}),
        target_of(1, "b", {ID: (2, 3)}),
        target(1, 2),
        current(1, "a", 2, {ID: (0, 1)}),
        current(1, "b", 2, {ID: (2, 3)}),
        member(5_000, "b", None),
        epoch(5_000, 3),
    ]
    gone = [] if at_ms is None else [member(at_ms, "a", None), epoch(at_ms, 4)]
    rows = [row for row in found(*away, *gone) if row.kind == "unassigned"]
    assert [(row.count, row.at_ms, row.until_ms) for row in rows] == (
        [(2, 5_000, at_ms)] if is_found else []
    )


def test_a_share_without_partitions_is_no_foreign_topic() -> None:
    plan = {"a": Says(gets={"t": (0, 1, 2, 3), "u": ()})}
    assert found(classic(0, 1, plan)) == []

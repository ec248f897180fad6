"""Each kind of finding: a history that has it, and its neighbour that has not.

A healthy history is found healthy first: every other test changes one thing.
"""

from __future__ import annotations

import pytest

from assignors.replay.analysis.group_analysis import analysed_group
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.findings import FINDINGS, Thresholds, findings
from assignors.replay.findings.selection import EVERYTHING
from assignors.replay.history.fold import histories, learned_names
from tests.replay.findings import COOPERATIVE, found, kinds, lower, upper
from tests.replay.histories import (
    Says,
    captured,
    classic,
    record,
)
from wire import encode_cooperative_user_data, encode_subscription
from wire.protocol.subscription import Subscription


def test_a_healthy_history_has_no_findings() -> None:
    """One member, a second one joins, the first leaves."""
    rows = found(
        classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)})}, protocol="sticky"),
        classic(
            90_000,
            2,
            {
                "a": lower(owns={"t": (0, 1, 2, 3)}, generation=1),
                "b": upper(),
            },
        ),
        classic(180_000, 3, {"b": Says(gets={"t": (0, 1, 2, 3)})}),
        classic(270_000, 4, {}),
    )
    assert rows == []


def test_a_healthy_cooperative_handover_has_no_findings() -> None:
    """What moves waits one round: with nobody, and not unassigned."""
    rows = found(
        classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)})}, protocol=COOPERATIVE),
        classic(
            5_000,
            2,
            {"a": lower(owns={"t": (0, 1, 2, 3)}, generation=1), "b": Says()},
            protocol=COOPERATIVE,
        ),
        classic(
            6_000,
            3,
            {"a": lower(owns={"t": (0, 1)}, generation=2), "b": upper()},
            protocol=COOPERATIVE,
        ),
    )
    assert rows == []


def test_a_topic_the_member_does_not_subscribe_to() -> None:
    plan = {"a": Says(gets={"t": (0, 1, 2, 3), "u": (0,)}), "b": Says(topics=("u",))}
    rows = found(classic(0, 1, plan), counts={"t": 4, "u": 1})
    assert sorted(kinds(rows)) == ["foreign-topic", "unassigned"]
    assert "was assigned u[0] and subscribes to t" in rows[0].evidence + rows[1].evidence


@pytest.mark.parametrize(("length", "is_loop"), [(4, False), (5, True), (9, True)])
def test_a_loop_is_five_rebalances_without_a_reason(
    length: int,
    is_loop: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    plan = {"a": lower(), "b": upper()}
    entries = [classic(30_000 * number, number, plan) for number in range(1, length + 1)]
    rows = found(*entries)
    assert kinds(rows) == (["rebalance-loop"] if is_loop else [])
    if is_loop:
        assert rows[0].count == length
        assert rows[0].evidence.partition("; the leader")[0] == (
            f"{length} generations in {30 * (length - 1)} s, generations 1 to {length}, with the "
            f"same 2 members and subscriptions; none of the {length - 1} rebalances after the "
            "first changed the assignment, and 0 partitions moved from members that stayed"
        )


def test_a_storm_is_ten_generations_in_a_minute() -> None:
    def history(step_ms: int, length: int) -> list[LoggedRecord]:
        return [
            classic(
                step_ms * number,
                number,
                {"a": lower(), f"b{number}": upper()},
            )
            for number in range(1, length + 1)
        ]

    quiet = Thresholds(needless_moves=99)
    assert found(*history(6_700, 30), thresholds=quiet) == []
    (row,) = found(*history(6_600, 30), thresholds=quiet)
    assert (row.kind, row.count, row.generation) == ("rebalance-storm", 30, 1)
    assert found(*history(100, 9), thresholds=quiet) == []


def test_two_storms_with_a_calm_between_are_one_finding_that_occurs_twice() -> None:
    times = [*range(0, 1000, 100), *range(500_000, 501_000, 100)]
    entries = [
        classic(at_ms, number, {"a": lower(), f"b{number}": upper()})
        for number, at_ms in enumerate(times, 1)
    ]
    (row,) = [row for row in found(*entries) if row.kind == "rebalance-storm"]
    assert (row.at_ms, row.last_ms, row.until_ms) == (0, 500_000, 500_900)
    assert (row.occurrences, row.count, row.generations) == (2, 20, (1, 11))


def test_a_loop_that_turns_fast_is_no_storm_as_well() -> None:
    plan = {"a": lower(), "b": upper()}
    entries = [classic(100 * number, number, plan) for number in range(1, 31)]
    assert kinds(found(*entries)) == ["rebalance-loop"]


def test_two_crowded_windows_with_one_generation_in_both_are_one_storm() -> None:
    """The third of five generations ends the first window and begins the second."""
    entries = [
        classic(at_ms, number, {"a": lower(), f"b{number}": upper()})
        for number, at_ms in enumerate((1, 11, 101, 196, 201), 1)
    ]
    few = Thresholds(storm_generations=3, storm_window_ms=100)
    rows = [row for row in found(*entries, thresholds=few) if row.kind == "rebalance-storm"]
    assert [(row.at_ms, row.until_ms, row.count) for row in rows] == [(1, 201, 5)]


def test_a_member_that_never_claims_what_it_owns() -> None:
    def history(owns: dict[str, tuple[int, ...]]) -> list[LoggedRecord]:
        return [
            classic(
                90_000 * number,
                number,
                {"a": lower(owns=owns, generation=number - 1), f"b{number}": upper()},
                protocol=COOPERATIVE,
            )
            for number in (1, 2, 3)
        ]

    silent = found(*history({}))
    assert [(row.kind, row.member_id, row.count) for row in silent] == [("never-claims", "a", 2)]
    assert found(*history({"t": (0, 1)})) == []


def test_loads_further_apart_than_they_need_be() -> None:
    rows = found(classic(0, 1, {"a": Says(gets={"t": (0, 1, 2)}), "b": Says(gets={"t": (3,)})}))
    (row,) = rows
    assert (row.kind, row.member_id, row.members) == ("imbalance", "a", ("a", "b"))
    assert row.evidence.partition("; the leader")[0] == (
        "loads from 1 to 3 in generation 1, best possible maximum load 2; 1 member had less and "
        "1 had more than in any balanced assignment; uneven in generation 1"
    )


def test_of_uneven_loads_only_those_outside_of_any_balanced_assignment_are_named() -> None:
    """Five partitions for three members: one or two are fair."""
    plan = {
        "a": Says(gets={"t": (0, 1, 2)}),
        "b": Says(gets={"t": (3,)}),
        "c": Says(gets={"t": (4,)}),
    }
    (row,) = found(classic(0, 1, plan), counts={"t": 5})
    assert (row.member_id, row.members) == ("a", ("a",))
    assert "0 members had less and 1 had more" in row.evidence


@pytest.mark.parametrize(("lasted_ms", "is_found"), [(0, False), (999, False), (1_000, True)])
def test_loads_that_are_even_within_a_second_are_no_finding(
    lasted_ms: int,
    is_found: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    rows = found(
        classic(0, 1, {"a": Says(gets={"t": (0, 1, 2)}), "b": Says(gets={"t": (3,)})}),
        classic(lasted_ms, 2, {"a": lower(), "b": upper()}),
        classic(90_000, 3, {}),
    )
    assert kinds(rows) == (["imbalance"] if is_found else [])


def test_loads_that_subscriptions_force_are_no_finding() -> None:
    plan = {"a": Says(gets={"t": (0, 1, 2, 3)}), "b": Says(topics=())}
    assert found(classic(0, 1, plan)) == []


def test_moves_that_were_not_necessary() -> None:
    rows = found(
        classic(0, 1, {"a": lower(), "b": upper()}),
        classic(90_000, 2, {"a": upper(), "b": lower()}),
    )
    assert [(row.kind, row.generation, row.count) for row in rows] == [("needless-moves", 2, 4)]


def test_moves_over_missing_generations_are_nobodys_fault() -> None:
    assert (
        found(
            classic(0, 1, {"a": lower(), "b": upper()}),
            classic(90_000, 4, {"a": upper(), "b": lower()}),
        )
        == []
    )


def test_odd_bytes_are_one_finding_a_client_with_how_often() -> None:
    odd = encode_subscription(Subscription(topics=("t",))) + b"\xff"
    plan = {
        "a-1": lower(subscription=odd, client_id="odd"),
        "b-1": upper(client_id="even"),
    }
    rows = found(*(classic(90_000 * number, number, plan) for number in (1, 2, 3)))
    assert [(row.kind, row.client_id, row.count) for row in rows] == [("odd-bytes", "odd", 3)]
    assert "trailing-bytes" in rows[0].evidence


def test_an_odd_assignment_is_its_leaders() -> None:
    plan = {
        "a": lower(client_id="leads"),
        "b": Says(gets={}, assignment=b"\x00\x09" + 4 * b"\x00" + 4 * b"\xff", client_id="led"),
    }
    rows = found(classic(0, 1, plan), counts={"t": 2}, thresholds=Thresholds(balance_gap=99))
    assert [(row.kind, row.client_id) for row in rows] == [("odd-bytes", "leads")]


def test_empty_user_data_and_empty_racks_harm_nobody() -> None:
    harmless = encode_subscription(Subscription(topics=("t",), user_data=b"", rack_id=""))
    assert found(classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)}, subscription=harmless)})) == []
    layout = encode_subscription(
        Subscription(topics=("t",), user_data=encode_cooperative_user_data(3) + b"\x00")
    )
    full = {"a": Says(gets={"t": (0, 1, 2, 3)}, subscription=layout)}
    assert kinds(found(classic(0, 1, full, protocol=COOPERATIVE))) == ["odd-bytes"]


def test_a_member_whose_bytes_hold_nothing_and_a_record_that_holds_too_much() -> None:
    empty = {"a": Says(subscription=b"")}
    assert kinds(found(classic(0, 1, empty))) == ["unreadable"]
    whole = record(5, "GROUP_METADATA", {"group": "g"}, None).record
    from wire.records import decode_record  # noqa: PLC0415 - only here

    broken = LoggedRecord(record=decode_record(whole.key_bytes, b"\x00\x03\x00"), at_ms=5)
    rows = found(classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)})}), broken)
    assert kinds(rows) == ["unreadable"]
    assert "GROUP_METADATA at offset 1 of partition 0" in rows[0].evidence


def test_every_kind_is_found_in_the_captured_topics() -> None:
    """Every kind, but a plan with two owners, and those that `test_field_findings` has.

    No group ends as one that is classic-only.
    """
    seen: set[str] = set()
    for name in ("real", "java-plans"):
        entries = captured(name)
        for history in histories(entries, topic_names=learned_names(entries)):
            seen |= set(kinds(findings(analysed_group(history), selection=EVERYTHING)))
    elsewhere = {"fenced-instance", "offsets-removed", "streams-probing", "worker-rebalances"}
    unseen = {"double-ownership", "classic-only", *elsewhere}
    assert seen == FINDINGS.keys() - unseen


def test_a_quiet_group_of_java_members_is_found_quiet() -> None:
    entries = captured("real")
    (history,) = [h for h in histories(entries) if h.group == "shop.01-java44"]
    assert len(history.lives) == 2
    assert findings(analysed_group(history)) == []


def test_what_a_member_gets_is_not_foreign_where_nobody_knows_what_it_asked_for() -> None:
    entries = [classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)}, subscription=b"")})]
    assert kinds(found(*entries)) == ["unreadable"]

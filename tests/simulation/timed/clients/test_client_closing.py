"""Closing: which commits each order of the last steps can lose."""

from __future__ import annotations

import pytest

from assignors.simulation.timed.clients.closing import (
    ORDERS,
    Amid,
    Fate,
    Pending,
    Step,
    losses,
    outcomes,
)

ALL = frozenset(Pending)


@pytest.mark.parametrize(
    ("order", "lost"),
    [
        ("document", ALL),
        ("java", frozenset()),
        ("commit without waiting", ALL),
        ("leave first", ALL - {Pending.IN_FLIGHT}),
        ("stop at once", ALL),
    ],
)
def test_what_an_order_may_lose(order: str, lost: frozenset[Pending]) -> None:
    assert losses(ORDERS[order]) == lost


def test_the_documents_order_never_learns_what_became_of_its_last_commit() -> None:
    """It commits after the loop: nobody is left to read the answer."""
    assert Fate.ACCEPTED not in outcomes(ORDERS["document"])[Pending.PROCESSED]


def test_javas_order_reads_the_answer_to_every_commit() -> None:
    assert set(outcomes(ORDERS["java"]).values()) == {frozenset({Fate.ACCEPTED})}


def test_who_leaves_first_is_refused() -> None:
    assert outcomes(ORDERS["leave first"])[Pending.PROCESSED] == {Fate.REFUSED}


def test_waiting_is_what_saves_a_commit() -> None:
    without = tuple(step for step in ORDERS["java"] if step is not Step.AWAIT)
    assert without == ORDERS["commit without waiting"]
    assert losses(without) == ALL
    document = (Step.STOP, Step.POLL, Step.COMMIT, Step.CALLBACK, Step.AWAIT)
    assert losses(document) == frozenset()


def test_closing_amid_a_classic_rebalance_may_lose_every_commit_whatever_the_order() -> None:
    """Once all members have joined commits are refused; and Java calls partitions lost then."""
    for order in ORDERS.values():
        assert losses(order, Amid.CLASSIC) == ALL
    fates = outcomes(ORDERS["java"], Amid.CLASSIC)
    assert fates[Pending.PROCESSED] == {Fate.ACCEPTED, Fate.IN_REBALANCE}
    assert fates[Pending.IN_CALLBACK] == {Fate.NOT_SENT}


@pytest.mark.parametrize("order", ORDERS)
def test_closing_amid_a_rebalance_of_kip_848_loses_what_closing_at_rest_does(order: str) -> None:
    assert losses(ORDERS[order], Amid.CONSUMER) == losses(ORDERS[order])

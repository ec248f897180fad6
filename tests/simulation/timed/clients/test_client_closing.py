"""Closing: which commits each order of the last steps can lose."""

from __future__ import annotations

import pytest

from assignors.simulation.timed.clients.closing import ORDERS, Fate, Pending, Step, losses, outcomes

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
    assert losses((Step.STOP, Step.POLL, Step.COMMIT, Step.AWAIT)) == frozenset()

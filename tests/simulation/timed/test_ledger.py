"""What a ledger counts: time without a consumer, and time with two."""

from __future__ import annotations

from assignors.simulation.timed.ledger import Ledger


def test_gaps_and_double_consumption_are_counted_from_their_time_on() -> None:
    """A topic that is deleted had its last gap; one that nobody has ever consumed had none."""
    ledger = Ledger(count_from=5)
    ledger.grow(0, "t", 1)
    ledger.consume(10, "a", {"t": (0,)}, "assigned")
    ledger.consume(12, "b", {"t": (0,)}, "assigned")
    ledger.consume(15, "a", {}, "revoked")
    ledger.consume(20, "b", {}, "revoked")
    ledger.drop(26, "t")
    ledger.grow(30, "u", 1)
    ledger.drop(40, "u")
    ledger.grow(50, "v", 1)
    ledger.consume(50, "a", {"v": (0,)}, "assigned")
    ledger.consume(60, "a", {}, "revoked")
    assert ledger.close(60, {"v"}) == 1
    assert (ledger.unavailable, ledger.gaps, ledger.longest_gap) == (5 + 6, 2, 6)
    assert (ledger.double, ledger.longest_double, ledger.changes) == (3, 3, [])

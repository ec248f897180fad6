"""Who gives up everything, and may take it again, is not looked at: the costs are the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.ledger import Ledger
from tests.conftest import cases
from wire import TopicPartitions

WHAT: list[TopicPartitions | str | None] = [
    *(None, None, None, "again", "again", "again"),
    *({"t": (0, 1)}, {"t": (1, 5)}, {"t": (2,)}, {"t": (3,), "u": ()}, "drop"),
]
STEPS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from("abc"),
        st.sampled_from(WHAT),
    ),
    min_size=8,
    max_size=20,
)
"""Microseconds, a member, and what it consumes from then on; `None`: it gives up everything."""


def played(steps: list[tuple[int, str, TopicPartitions | str | None]], *, looks: bool) -> object:
    """Return the ledger at the end; if it `looks`, at every partition that is given up."""
    ledger = Ledger(count_from=8)
    ledger.grow(0, "t", 4)
    ledger.grow(0, "u", 1)
    last: dict[str, TopicPartitions] = {}
    costs: list[object] = []
    at = 0
    for after, member, what in steps:
        at += after
        if what is None and looks:
            ledger.consume(at, member, {}, "revoked")
        elif what is None:
            ledger.give_up([at], [member])
        elif what == "drop":
            if "u" in ledger.partitions:
                ledger.drop(at, "u")
        else:
            owned = last.get(member, {}) if isinstance(what, str) else what
            ledger.consume(at, member, owned, "assigned")
            last[member] = ledger.consumed[member]
        costs.append((ledger.unavailable, ledger.gaps, ledger.moves, ledger.longest_gap))
        costs.append((ledger.consumed_count, ledger.double, ledger.changed_at, set(ledger.doubled)))
    ended = ledger.close(at + 1, {"t"})
    for listed in ledger.partitions.values():
        for each in listed:
            each.since = each.since if not each.consumers else 0  # until then it says nothing
    consumed = {member: owned for member, owned in ledger.consumed.items() if owned}
    return costs, consumed, ledger.partitions, ended, ledger.unavailable, ledger.double


@cases(200)
@given(STEPS)
def test_what_is_given_up_and_taken_again_costs_the_same(
    steps: list[tuple[int, str, TopicPartitions | str | None]],
) -> None:
    assert played(steps, looks=False) == played(steps, looks=True)


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

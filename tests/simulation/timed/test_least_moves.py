"""The fewest moves between two moments at rest, against every assignment tried."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.costs.meter import least_moves
from tests.conftest import cases

Owners = dict[tuple[str, int], str | None]

TOPICS = {"t": 3, "u": 2}
PLACES = [(topic, number) for topic, count in TOPICS.items() for number in range(count)]


def shares(owners: Owners) -> dict[str, dict[str, tuple[int, ...]]]:
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    for (topic, number), name in owners.items():
        if name is not None:
            mine = found.setdefault(name, {})
            mine[topic] = (*mine.get(topic, ()), number)
    return found


def assignments(asked: dict[str, tuple[str, ...]]) -> Iterator[Owners]:
    choices = [[name for name, topics in asked.items() if place[0] in topics] for place in PLACES]
    wanted = [(place, names) for place, names in zip(PLACES, choices, strict=True) if names]
    for chosen in product(*(names for _, names in wanted)):
        yield dict(zip((place for place, _ in wanted), chosen, strict=True))


def fewest_by_trial(had: Owners, asked: dict[str, tuple[str, ...]]) -> int:
    """Try every assignment: among those with the best balance, the one that moves the fewest."""
    costs = []
    for owners in assignments(asked):
        loads = [sum(owner == name for owner in owners.values()) for name in asked]
        moves = sum(had[place] not in {None, owner} for place, owner in owners.items())
        costs.append((sum(load * load for load in loads), moves))
    return min(costs)[1]


subscriptions = st.lists(st.sampled_from([("t", "u"), ("t",), ("u",)]), min_size=1, max_size=3)
same = st.integers(1, 3).map(lambda count: [("t", "u")] * count)
owned = st.lists(st.sampled_from([None, "m0", "m1", "m2", "gone"]), min_size=5, max_size=5)


@cases(60)
@given(owned, same | subscriptions)
def test_no_assignment_of_the_best_balance_moves_fewer(
    owners: list[str | None], topics: list[tuple[str, ...]]
) -> None:
    had = dict(zip(PLACES, owners, strict=True))
    asked = {f"m{number}": listed for number, listed in enumerate(topics)}
    assert least_moves(shares(had), asked, TOPICS) == fewest_by_trial(had, asked)


def test_nobody_moves_anything_where_nobody_subscribes() -> None:
    assert least_moves({"a": {"t": (0,)}}, {"a": ("v",)}, TOPICS) == 0
    assert least_moves({"a": {"t": (0,)}}, {}, TOPICS) == 0

"""What is made when somebody first reads it: figures, assignments by name, owned partitions."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from assignors import Cluster, Group, Member, Weighting, assignor_named, lead
from assignors.rebalance import ComputedMapping
from assignors.weighted.figures import weight_figures
from wire import Subscription, encode_subscription

STICKY = assignor_named("sticky")

MEMBERS = (
    Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}),
    Member(member_id="b", topics=("t", "u")),
)
GROUP = Group(cluster=Cluster.of({"t": 5, "u": 2}), members=MEMBERS)


def test_they_are_computed_once_and_only_where_somebody_reads() -> None:
    calls: list[int] = []

    def compute() -> dict[str, int]:
        calls.append(1)
        return {"moved": 2}

    figures = ComputedMapping(compute)
    assert not calls
    assert figures == {"moved": 2}
    assert (list(figures), len(figures), repr(figures)) == (["moved"], 1, "{'moved': 2}")
    assert calls == [1]


@pytest.mark.parametrize(
    "name",
    [
        *("server/uniform", "server/range", "server/simple", "java/range", "java/roundrobin"),
        *("java/sticky", "java/cooperative-sticky", "sticky", "cooperative-sticky"),
    ],
)
def test_an_answer_whose_figures_nobody_has_read_can_be_copied_and_compared(name: str) -> None:
    answer = assignor_named(name).assign(GROUP)
    copied = pickle.loads(pickle.dumps(answer.stats))  # noqa: S301 - our own bytes
    assert copied == answer.stats
    assert answer.stats["member_count"] == 2
    assert answer.stats["load_square_sum"] == sum(
        sum(map(len, share.values())) ** 2 for share in answer.assignment.values()
    )


@pytest.mark.parametrize("partition_count", [40, 4_000], ids=["small", "large"])
def test_answers_are_pickled_as_dictionaries(partition_count: int) -> None:
    """Whether or not anybody has read them; nothing is lost."""
    joining = {f"m{n:02}": encode_subscription(Subscription(topics=("t",))) for n in range(40)}
    cluster = Cluster.of({"t": partition_count})
    unread, read = (lead(STICKY, cluster, joining).rebalance.assignment for _ in range(2))
    entries = [*read.items()]
    for each in (unread, read):
        copied = pickle.loads(pickle.dumps(each))  # noqa: S301 - our own bytes
        assert [*copied.items()] == entries
        assert type(copied) is dict
        assert {type(share) for share in copied.values()} == {dict}


@pytest.mark.parametrize("name", ["weighted", "cooperative-weighted"])
def test_a_leader_by_weight_computes_bounds_only_where_somebody_reads_figures(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leader asks in its client's own thread whether a round would move anything."""
    calls: list[int] = []

    def counted(*given: Any, **options: Any) -> object:
        calls.append(1)
        return weight_figures(*given, **options)

    monkeypatch.setattr("assignors.weighted.sticky.weight_figures", counted)
    weighting = Weighting(weights={"t": (9, 1, 1, 1, 1)})
    answer = assignor_named(name).assign(replace(GROUP, weighting=weighting))
    assert answer.assignment["a"]
    assert not calls
    assert answer.stats["use_bound"] == 9
    assert calls == [1]

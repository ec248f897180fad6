"""The weights of a round: those found last; missing or old ones move nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, Group, Member, assignor_named
from assignors.weighting import MustHold, Weighting
from assignors.workload import Snapshot, weighting_at

NOW_MS = 1_000_000
FRESH = Snapshot(at_ms=NOW_MS - 30_000, weights={"t": (60, 40, 5, 5, 5, 5)})
STALE = Snapshot(at_ms=NOW_MS - 301_000, weights=FRESH.weights)
NONE_FOUND = Snapshot(at_ms=NOW_MS, weights={})


def group(weighting: Weighting) -> Group:
    """Two members with two partitions each, and two partitions without an owner."""
    members = (
        Member(member_id="a", topics=("t",), owned={"t": (0, 1)}, generation=3),
        Member(member_id="b", topics=("t",), owned={"t": (2, 3)}, generation=3),
    )
    return Group(cluster=Cluster.of({"t": 6}), members=members, weighting=weighting)


def found(snapshot: Snapshot | None) -> Weighting:
    return weighting_at(snapshot, NOW_MS, partition_counts={"t": 6})


def test_fresh_weights_move_partitions() -> None:
    answer = assignor_named("weighted").assign(group(found(FRESH)))
    assert answer.assignment == {"a": {"t": (0,)}, "b": {"t": (1, 2, 3, 4, 5)}}
    assert "hold" not in answer.stats


def test_old_weights_move_nothing_and_still_place_what_nobody_owns() -> None:
    answer = assignor_named("weighted").assign(group(found(STALE)))
    assert answer.assignment == {"a": {"t": (0, 1)}, "b": {"t": (2, 3, 4, 5)}}
    assert (answer.stats["hold"], answer.stats["deferred"]) == ("stale", 0)
    assert not answer.deferred


def test_without_weights_nothing_moves_and_what_nobody_owns_is_placed_by_count() -> None:
    for snapshot in (None, NONE_FOUND):
        answer = assignor_named("weighted").assign(group(found(snapshot)))
        assert answer.assignment == {"a": {"t": (0, 1, 4)}, "b": {"t": (2, 3, 5)}}
        assert answer.stats["hold"] == "no-weights"


@given(
    st.dictionaries(
        st.sampled_from("tuv"), st.lists(st.integers(0, 1 << 49), max_size=4).map(tuple)
    ),
    st.dictionaries(st.sampled_from("tuvw"), st.integers(0, 5)),
    st.integers(0, 600_000),
)
def test_the_weights_of_a_round_are_those_of_its_partitions(
    weights: dict[str, tuple[int, ...]], counts: dict[str, int], age_ms: int
) -> None:
    """Topics come, go and grow between a sample and a round."""
    snapshot = Snapshot(at_ms=NOW_MS - age_ms, weights=weights)
    weighting = weighting_at(snapshot, NOW_MS, partition_counts=counts)
    weighting.require_fits(counts)
    for topic, numbers in weights.items():
        if weighting.weights:
            kept = weighting.weights.get(topic, ())[: len(numbers)]
            assert kept == numbers[: len(kept)]
    if weights:
        assert (weighting.must_hold is MustHold.STALE) == (age_ms > 300_000)
    else:
        assert weighting.must_hold is MustHold.NO_WEIGHTS

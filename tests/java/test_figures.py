"""The figures of a cooperative answer count what waits, which has moved."""

from __future__ import annotations

from assignors import Cluster, Group, Member, assignor_named


def test_figures_count_what_is_withheld_as_moved() -> None:
    owned = {"t": tuple(range(9))}
    members = (
        Member(member_id="a", topics=("t",), owned=owned, generation=1),
        Member(member_id="b", topics=("t",)),
        Member(member_id="c", topics=("t",)),
    )
    group = Group(cluster=Cluster.of({"t": 9}), members=members)
    answer = assignor_named("java/cooperative-sticky").assign(group)
    assert sum(len(numbers) for numbers in answer.withheld.values()) == 6
    figures = {"withheld": 6, "unassigned": 6, "moved": 6, "kept": 3, "topic_spread_max": 0}
    assert {name: answer.stats[name] for name in figures} == figures
    assert (answer.stats["load_max"], answer.stats["load_min"]) == (3, 0)

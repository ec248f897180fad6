"""Very large groups, which nobody means to have: twice the group takes twice the time.

Each case below once took four times as long, or more: for each member all members were gone
through, or for each partition all partitions.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from itertools import chain
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.analysis.group_analysis import analysed_group
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.engines.python import replay_records, replayed
from assignors.replay.findings import findings
from assignors.replay.history.fold import group_history, histories, learned_names
from assignors.replay.history.model import GroupHistory
from tests.replay.histories import (
    TOPIC_ID,
    Says,
    classic,
    commit,
    current,
    epoch,
    gone,
    in_order,
    member,
    record,
    target,
    target_of,
)
from wire.records import decode_record

TWICE_MAX = 2.8
"""Time for twice the size, by that for the size: 2 and some room for a busy machine."""

TRIES = 4


def classic_group(count: int) -> list[LoggedRecord]:
    """Two generations in which each member has a partition, and claims it."""
    plans = [{f"m{n}": ("t", n) for n in range(count)}] * 2
    return [
        classic(
            1000 * number,
            number,
            {
                key: Says(gets={topic: (n,)}, owns={topic: (n,)} if number > 1 else {})
                for key, (topic, n) in plan.items()
            },
            protocol="sticky",
        )
        for number, plan in enumerate(plans, start=1)
    ]


def consumer_group(count: int) -> list[LoggedRecord]:
    """A KIP-848 group whose topic nobody named: each member was given what it did not ask for."""
    topic = TOPIC_ID.format("Q")
    names = [f"m{n}" for n in range(count)]
    return [
        *(member(1, name, ("t",)) for name in names),
        epoch(2, 2),
        *(target_of(3, name, {topic: (n,)}) for n, name in enumerate(names)),
        target(4, 2),
        *(current(5, name, 2, {topic: (n,)}) for n, name in enumerate(names)),
    ]


def handed_over_too_early(count: int) -> list[LoggedRecord]:
    """Every partition goes to a member while another still claims it."""
    last = count - 1
    first = {f"m{n}": Says(gets={"t": (n,)}) for n in range(count)}
    then = {f"m{n}": Says(gets={"t": (last - n,)}, owns={"t": (n,)}) for n in range(count)}
    after = {f"m{n}": Says(gets={"t": (last - n,)}, owns={"t": (last - n,)}) for n in range(count)}
    return [
        classic(1000 * number, number, said, protocol="cooperative-sticky")
        for number, said in enumerate((first, then, after), start=1)
    ]


def nobody_has_anything(count: int) -> list[LoggedRecord]:
    """Every partition waits, as it seems: one round under a cooperative protocol."""
    had = {"a": Says(gets={"t": tuple(range(count))}), "b": Says()}
    none = {key: Says() for key in had}
    return [
        classic(1000 * number, number, said, protocol="cooperative-sticky")
        for number, said in enumerate((had, none, had), start=1)
    ]


def odd_plans(count: int) -> list[LoggedRecord]:
    """A leader that is the last of the record writes a byte too many for everybody."""
    plan = b"\0\0\0\0\0\0\xff\xff\xff\xff!"
    said = {f"m{n}": Says(assignment=plan) for n in range(count)}
    return [classic(1, 1, said, leader=f"m{count - 1}")]


def many_topics(count: int) -> list[LoggedRecord]:
    """A member asks for many topics, and is given as many others."""
    asked = tuple(f"asked-{n}" for n in range(count))
    return [
        classic(1, 1, {"a": Says(topics=asked, gets={f"given-{n}": (0,) for n in range(count)})})
    ]


def many_expressions(count: int) -> list[LoggedRecord]:
    """Every member of a KIP-848 group has a regular expression of its own."""
    return [
        *chain.from_iterable(
            (
                member(1, f"m{n}", (), regex=f"t{n}.*"),
                record(
                    1,
                    "CONSUMER_GROUP_REGULAR_EXPRESSION",
                    {"groupId": "g", "regularExpression": f"t{n}.*"},
                    {"topics": [f"t{n}-x"], "version": 1, "timestamp": 1},
                ),
            )
            for n in range(count)
        ),
        epoch(2, 2),
    ]


def many_lives(count: int) -> list[LoggedRecord]:
    """A group that comes and goes, and a bad record each time."""
    bad = decode_record(b"\0\2\0\1g", b"\0\x63")
    return [
        entry
        for n in range(count)
        for entry in (
            classic(3 * n, 1, {"a": Says()}),
            LoggedRecord(record=bad, at_ms=3 * n + 1),
            gone(3 * n + 2),
        )
    ]


Case = tuple[Callable[[int], list[LoggedRecord]], int, str | None]


def many_drops(count: int) -> list[LoggedRecord]:
    """Two members commit for one partition, by turns."""
    plan = {"a": Says(gets={"t": (0,)})}
    return [
        classic(1, 1, plan),
        *(commit(n, "t", 0, 100 * (n % 2)) for n in range(2, count + 2)),
    ]


def many_tombstones(count: int) -> list[LoggedRecord]:
    """Every generation has the offset of a topic of its own removed."""
    return [
        entry
        for n in range(count)
        for entry in (
            classic(2 * n, n + 1, {"a": Says(topics=(f"t{n}",))}),
            commit(2 * n + 1, f"t{n}", 0, None),
        )
    ]


def many_takeovers(count: int) -> list[LoggedRecord]:
    """A static member comes back under a new id, over and over."""
    return [classic(n, 1, {f"m{n}": Says(instance_id="i")}) for n in range(count)]


CASES: list[Case] = [
    (classic_group, 1500, None),
    (consumer_group, 5000, "foreign-topic"),
    (handed_over_too_early, 4000, "given-too-early"),
    (nobody_has_anything, 20_000, None),
    (odd_plans, 8000, "odd-bytes"),
    (many_topics, 6000, "foreign-topic"),
    (many_expressions, 1500, None),
    (many_lives, 3000, "unreadable"),
    (many_drops, 4000, "went-back"),
    (many_tombstones, 3000, "offsets-removed"),
    (many_takeovers, 2000, "fenced-instance"),
]


def joining_one_by_one(count: int) -> list[LoggedRecord]:
    """A KIP-848 group that starts an epoch for each member that comes."""
    return [e for n in range(count) for e in (member(n, f"m{n}", ("t",)), epoch(n, n + 2))]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12), st.integers(0, 20))
def test_the_newest_generations_are_kept_as_many_as_fit(
    sizes: list[tuple[int, bool]], member_rows_max: int
) -> None:
    entries = in_order(
        [
            gone(n) if is_gone else classic(n, n, {f"m{m}": Says() for m in range(size)})
            for n, (size, is_gone) in enumerate(sizes)
        ]
    )
    full = numbers(group_history("g", entries))
    history = group_history("g", entries, member_rows_max=member_rows_max)
    kept = numbers(history)
    assert kept == full[len(full) - len(kept) :]
    assert bool(full) == bool(kept)
    size_of = {n: size for n, (size, is_gone) in enumerate(sizes) if not is_gone}
    assert sum(size_of[n] for n in kept) <= max(member_rows_max, size_of[kept[-1]] if kept else 0)
    if len(kept) == len(full):
        assert history.unreadable == ()
        return
    (finding,) = history.unreadable
    before = full[len(full) - len(kept) - 1]
    assert sum(size_of[n] for n in [*kept, before]) > member_rows_max
    assert finding.offset == before
    assert finding.text.startswith(f"{len(full) - len(kept)} generations up to this one, with")


def numbers(history: GroupHistory) -> list[int]:
    """The numbers of all generations."""
    return [one.number for life in history.lives for one in life.generations]


def test_members_that_join_one_by_one_are_kept_from_the_newest_epoch_back() -> None:
    entries = in_order(joining_one_by_one(100))
    (life,) = group_history("g", entries, member_rows_max=300).lives
    assert [len(one.members) for one in life.generations] == [98, 99, 100]
    assert life.generations[0].missing_before == 97
    (finding,) = group_history("g", entries, member_rows_max=300).unreadable
    assert finding.text == (
        "97 generations up to this one, with 4,753 member rows, are not reported: "
        "only the newest 300 member rows of a group are"
    )


def name_of(part: object) -> str:
    """What a case is called in the name of its test."""
    return getattr(part, "__name__", str(part))


def seconds_of(entries: Iterable[LoggedRecord]) -> float:
    """CPU time of the findings of a group, ten times, and of its tables; garbage collection apart.

    Its passes go through all that other tests have left: their number, not the work, decided.
    """
    listed = in_order(entries)
    gc.collect()
    gc.disable()
    try:
        began = process_time()
        for history in histories(listed, topic_names=learned_names(listed)):
            replayed(history)
            analysis = analysed_group(history)
            for _ in range(10):
                findings(analysis)
        return process_time() - began
    finally:
        gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize(("group", "count", "finding"), CASES, ids=name_of)
def test_twice_the_size_takes_twice_the_time(
    group: Callable[[int], list[LoggedRecord]], count: int, finding: str | None
) -> None:
    once = twice = float("inf")
    for _ in range(TRIES):
        once, twice = (
            min(once, seconds_of(group(count))),
            min(twice, seconds_of(group(2 * count))),
        )
        if twice <= TWICE_MAX * once:
            break
    assert twice <= TWICE_MAX * once
    if finding is not None:
        assert finding in {row.kind for row in replay_records(in_order(group(40))).findings}

"""Rates and lag from committed offsets and log ends: exact where possible, never from later."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.documents.values import DocumentError
from assignors.replay.analysis.rates import SLOT_MS, WINDOW_MS, Known, known_at, observed
from assignors.replay.analysis.uses import uses
from assignors.replay.history.log_ends import LogEnds, log_ends_from_document
from assignors.replay.history.model import Generation, Participant
from assignors.replay.tables.rows import OffsetRow

END = 1_000_000


def commits(
    offsets: Iterable[tuple[int, int | None]], partition: int = 0, *, is_aborted: bool | None = None
) -> list[OffsetRow]:
    """Commits of (milliseconds before `END`, offset)."""
    where = OffsetRow(topic="t", partition=partition, at_ms=END, is_aborted=is_aborted)
    return [replace(where, at_ms=END - ago, offset=offset) for ago, offset in offsets]


def known(
    listed: Sequence[OffsetRow], log_ends: Sequence[LogEnds] = (), *, count: int = 2
) -> Known:
    seen = observed(listed, {"t": count}, log_ends)
    assert seen is not None
    found = known_at(seen, END)
    assert found is not None
    return found


def steady(per_s: int, partition: int = 0) -> list[OffsetRow]:
    """Commits every ten seconds of a partition with so many records a second."""
    return commits(((s * 1000, 5000 - per_s * s) for s in range(100, 0, -10)), partition)


def test_steady_commits_give_the_rate() -> None:
    found = known([*steady(30), *steady(7, 1)])
    assert found.rate.tolist() == [30.0, 7.0]
    assert found.work(1) == {"t": (9000, 2100)}
    assert found.lag_sum is None


def test_a_pause_that_is_longer_than_usual_counts() -> None:
    """Ten records a second for thirty seconds, then none for thirty: not ten a second."""
    found = known(commits([(60_000, 0), (50_000, 100), (40_000, 200), (30_000, 300)]))
    assert found.rate[0] == pytest.approx(300 / 50)


def test_what_is_not_committed_any_more_has_no_records() -> None:
    earlier = commits([(WINDOW_MS + 50_000, 10), (WINDOW_MS + 40_000, 20)], 1)
    assert known([*earlier, *steady(30)]).rate.tolist() == [30.0, 0.0]


def test_one_commit_gives_no_rate_and_the_median_of_the_topic_stands_for_it() -> None:
    found = known([*steady(30), *steady(10, 1), *commits([(5000, 3)], 2)], count=4)
    assert np.isnan(found.rate[2:]).all()
    assert found.rates == {"t": (30_000, 10_000, 10_000, 10_000)}


def test_offsets_that_go_back_are_no_negative_rate() -> None:
    assert known(commits([(20_000, 500), (10_000, 3)])).rate[0] == 0.0


def test_tombstones_aborted_commits_and_partitions_that_do_not_exist_do_not_count() -> None:
    odd = [
        *commits([(15_000, 90_000)], is_aborted=True),
        *commits([(14_000, None)]),
        *commits([(13_000, 7)], 9),
        OffsetRow(topic="other", partition=0, at_ms=END - 5, offset=4),
    ]
    assert known([*steady(30), *odd]).rate[0] == 30.0
    assert observed(odd, {"t": 2}) is None


def test_log_ends_are_the_rate_of_production_and_the_lag() -> None:
    """The member reads 30 a second of 50: the commits alone would hide what it leaves unread."""
    ends = [
        LogEnds(at_ms=END - ago, log_ends={"t": (end, None)})
        for ago, end in ((60_000, 6000), (10_000, 8500))
    ]
    found = known([*steady(30), *steady(7, 1)], ends)
    assert found.rate.tolist() == [50.0, 7.0]
    assert found.lag_sum == 8500 - (5000 - 30 * 10)
    assert found.work(1)["t"][0] == 50 * 300 + found.lag_sum


def test_one_moment_of_log_ends_is_lag_alone() -> None:
    found = known(steady(30), [LogEnds(at_ms=END - 500, log_ends={"t": (9000,)})])
    assert found.rate[0] == 30.0
    assert found.lag_sum == 9000 - 4700


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(-300_000, 300_000), st.integers(0, 10**6)),
        min_size=1,
        max_size=30,
    )
)
def test_what_comes_later_is_not_known_before(found: list[tuple[int, int, int]]) -> None:
    """The same is known as if the records had ended there.

    Where times go back in the log, a commit's place decides since when its partition is known, and
    nobody could say what comes later.
    """
    every = [
        OffsetRow(topic="t", partition=number, at_ms=END + after, offset=offset)
        for number, after, offset in sorted(found, key=lambda one: one[1])
    ]
    seen = observed(every, {"t": 3})
    assert seen is not None
    # Of a slot in which a moment falls nothing is known before it is over.
    moment = END // SLOT_MS * SLOT_MS
    cut = observed([one for one in every if one.at_ms < moment], {"t": 3})
    whole, before = known_at(seen, moment), None if cut is None else known_at(cut, moment)
    assert (whole is None) == (before is None)
    if whole is not None and before is not None:
        assert np.array_equal(whole.rate, before.rate, equal_nan=True)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=6),
    st.lists(st.booleans(), min_size=1, max_size=3),
)
def test_no_assignment_is_better_than_the_bound(weights: list[int], wide: list[bool]) -> None:
    """Against every assignment: some members take both topics, the others the first alone."""
    half = len(weights) // 2
    rates = {"t": tuple(weights[half:]), "u": tuple(weights[:half])}
    places = [(topic, n) for topic, listed in rates.items() for n in range(len(listed))]
    topics = [("t", "u") if one else ("t",) for one in wide]
    best = min(
        (
            max(
                sum(rates[t][n] for (t, n), owner in zip(places, owners, strict=True) if owner == m)
                for m in range(len(wide))
            )
            for owners in itertools.product(range(len(wide)), repeat=len(places))
            if all(t in topics[owner] for (t, _), owner in zip(places, owners, strict=True))
        ),
        default=None,
    )
    members = tuple(
        Participant(member_id=str(m), topics=names, assigned={"t": (0,)} if m == 0 else {})
        for m, names in enumerate(topics)
    )
    generation = Generation(number=1, at_ms=0, state="Stable", members=members)
    found = uses(generation, {topic: listed for topic, listed in rates.items() if listed})
    if found is None or best is None:
        return
    assert found.bound * 1000 <= best + 1e-9
    assert (found.busiest, found.most * 1000) == (0, rates["t"][0])


def test_log_ends_that_cannot_be_are_refused_with_their_place() -> None:
    for text, words in (
        ("[]", "expected an object, found a list of 0 at $"),
        ("{}", "'at_ms' is missing"),
        ('{"log_ends": {}}', "'at_ms' is missing"),
        ('{"at_ms": 1, "log_ends": {}, "when": 2}', "'when' is no key here"),
        ('{"at_ms": -1, "log_ends": {}}', "-1 is not from 0 to 2**63 - 1 at at_ms"),
        ('{"at_ms": 1.5, "log_ends": {}}', "expected a whole number, found 1.5 at at_ms"),
        ('{"at_ms": 1, "log_ends": []}', "expected an object, found a list of 0 at log_ends"),
        ('{"at_ms": 1, "log_ends": {"t": 7}}', "expected a list, found 7 at log_ends.t"),
        ('{"at_ms": 1, "log_ends": {"t": [-1]}}', "-1 is not from 0 to 2**63 - 1 at log_ends.t[0]"),
        ('{"at_ms": 1, "log_ends": {"t": ["7"]}}', 'found "7" at log_ends.t[0]'),
    ):
        with pytest.raises(DocumentError) as caught:
            log_ends_from_document(json.loads(text))
        assert words in str(caught.value)

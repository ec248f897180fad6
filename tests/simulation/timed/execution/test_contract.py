"""What every execution model keeps, over every kind of log: synchronous, asynchronous, failing.

What happens next is drawn, and so is how the coordinator is set up: lingers, snapshots. Of a
history in which something is wrong only what it needs for that is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.execution.policy import POLICIES, Applies, Holds, Policy
from assignors.simulation.timed.execution.port import Entry, Failure, fold
from tests.simulation.timed.execution import faults
from tests.simulation.timed.execution.histories import drawn, first_wrong, play
from tests.simulation.timed.execution.log import Log
from tests.simulation.timed.execution.world import (
    ASYNC,
    FAILING,
    REORDERING,
    SYNC,
    Appends,
    failures,
)

KINDS = {"sync": SYNC, "async": ASYNC, "failing": FAILING, "reordering": REORDERING}
POLICY = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
LOGS = pytest.mark.parametrize("appends", KINDS.values(), ids=KINDS)


@POLICY
@LOGS
def test_every_request_is_answered_once_after_the_high_watermark_and_nothing_is_lost(
    policy: Policy, appends: Appends
) -> None:
    assert not first_wrong(policy, appends)


@POLICY
@LOGS
def test_a_failover_loses_what_is_not_replicated_and_says_so_to_whoever_waits(
    policy: Policy, appends: Appends
) -> None:
    assert not first_wrong(policy, appends, fails_over=True)


@POLICY
def test_histories_meet_every_kind_of_failure(policy: Policy) -> None:
    met: set[Failure | None] = set()
    for settings, moves in islice(drawn(policy, fails_over=True), 200):
        met |= failures(play(policy, FAILING, settings, moves))
    assert met == {None, *Failure}


@given(st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(0, 9)))), st.data())
def test_what_a_cleaner_leaves_says_the_same(
    written: list[tuple[int, int | None]], data: st.DataObject
) -> None:
    log = Log()
    log.append(Entry(*each) for each in written)
    until = data.draw(st.integers(0, log.end))
    dropped = data.draw(st.integers(0, log.end))
    assert fold(log.compacted(until, dropped)) == fold(log.entries)


def test_a_high_watermark_never_falls_and_never_passes_the_end() -> None:
    log = Log()
    log.append([Entry("a", 1), Entry("a", 2)])
    log.replicate(1)
    for offset in (0, 3):
        with pytest.raises(ValueError, match="no high watermark"):
            log.replicate(offset)
    assert log.truncate() == 1
    assert log.entries == [Entry("a", 1)]


def test_a_state_that_changes_with_the_replication_is_held_until_then() -> None:
    for policy in POLICIES.values():
        late = policy.applies is Applies.REPLICATION
        assert late == (policy.in_replication is not Holds.NOTHING)


FAULTS: tuple[tuple[Callable[[pytest.MonkeyPatch], None], str, Appends, bool], ...] = (
    (faults.appends_outside_the_lock, "blocking", ASYNC, False),
    (faults.answers_early, "blocking", SYNC, False),
    (faults.answers_early, "two-stage", SYNC, False),
    (faults.forgets_to_revert, "pipelined", FAILING, False),
    (faults.keeps_what_was_made_on_top, "pipelined", FAILING, False),
    (faults.stays_locked, "per-group", FAILING, False),
    (faults.unlocks_twice, "two-stage", ASYNC, False),
    (faults.applies_as_appends_complete, "per-group", REORDERING, False),
)


@pytest.mark.parametrize(
    ("fault", "model", "appends", "fails_over"),
    FAULTS,
    ids=[f"{fault.__name__}-{model}" for fault, model, *_ in FAULTS],
)
def test_a_fault_in_a_step_is_found_and_its_history_is_short(
    monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[pytest.MonkeyPatch], None],
    model: str,
    appends: Appends,
    *,
    fails_over: bool,
) -> None:
    fault(monkeypatch)
    found = first_wrong(POLICIES[model], appends, fails_over=fails_over)
    print(f"\n{fault.__doc__}\n{found}")
    assert found
    assert len(found.splitlines()) < 20

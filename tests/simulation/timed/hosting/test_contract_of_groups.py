"""The contract of execution models, with real groups and the bytes of their records.

The same as in `tests/simulation/timed/execution`, where requests count: here they are those of
members of both protocols. A group is made of its records anew wherever an append has failed, so it
has to be what the log says, whatever was taken back.
"""

from __future__ import annotations

from typing import Any

import pytest

from assignors.simulation.timed.execution.policy import POLICIES, Policy
from assignors.simulation.timed.hosting import groups
from tests.simulation.timed.execution.faults import (
    answers_early,
    appends_outside_the_lock,
    forgets_to_revert,
)
from tests.simulation.timed.execution.world import ASYNC, FAILING, REORDERING, SYNC, Appends
from tests.simulation.timed.hosting.histories import first_wrong

KINDS = {"sync": SYNC, "async": ASYNC, "failing": FAILING, "reordering": REORDERING}
POLICY = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
LOGS = pytest.mark.parametrize("appends", KINDS.values(), ids=KINDS)


@POLICY
@LOGS
def test_groups_are_what_their_log_says_and_everybody_is_answered_once(
    policy: Policy, appends: Appends
) -> None:
    assert not first_wrong(policy, appends)


# Faults put into a step, of the model or of ours: each is found, and its history is short.


def forgets_that_groups_revert(patch: pytest.MonkeyPatch) -> None:
    """A group that runs is kept, whatever has become of its records."""
    patch.setattr(groups, "is_current", lambda *_: True)


def loses_who_waits(patch: pytest.MonkeyPatch) -> None:
    """A group is made anew, and nobody answers those who have waited for it."""
    patch.setattr(groups.Groups, "_give_up", lambda *_: None)


@pytest.mark.parametrize(
    ("mutate", "model", "appends"),
    [
        (appends_outside_the_lock, "blocking", ASYNC),
        (answers_early, "two-stage", SYNC),
        (forgets_to_revert, "pipelined", FAILING),
        (forgets_that_groups_revert, "pipelined", FAILING),
        (loses_who_waits, "two-stage", FAILING),
    ],
)
def test_a_fault_in_a_step_is_found_with_real_records_too(
    monkeypatch: pytest.MonkeyPatch, mutate: Any, model: str, appends: Appends
) -> None:
    mutate(monkeypatch)
    found = first_wrong(POLICIES[model], appends)
    print(found)
    assert found
    assert len(found.splitlines()) < 60

"""Three ways to divide a client among threads: every order of everything keeps every rule.

Then each decision is made wrongly, in each of the three models: what is found there, and where
nothing is, the division of the threads makes the mistake harmless.
"""

from __future__ import annotations

import pytest

from assignors.simulation.dice import Dice
from assignors.simulation.timed.clients.cases import CASES
from assignors.simulation.timed.clients.models import (
    BACKGROUND_THREAD,
    HEARTBEAT_THREAD,
    IN_POLL,
    MODELS,
    Duty,
    Model,
    Thread,
)
from assignors.simulation.timed.clients.search import walk
from assignors.simulation.timed.clients.world import RULES, Case, moves, started
from tests.simulation.timed.clients.searched import exhausted

LONG = Case(
    script=tuple(frozenset(each) for each in ({0}, {1}, {0, 1}, {1, 2}, {0}, {2}, {0, 2})),
    records=5,
    commits=4,
    reads=4,
)
EVERYWHERE = (True, True, True)
NOWHERE_BUT_IN_BACKGROUND = (False, False, True)

IN_ORDER: dict[str, tuple[dict[str, object], str, str, tuple[bool, bool, bool]]] = {
    # what is done wrongly: how, in which case, which rule that violates, and in which models
    "partitions are not paused before they are revoked": (
        {"pauses_before_revoking": False},
        "swap",
        "revoked-record",
        NOWHERE_BUT_IN_BACKGROUND,
    ),
    "buffered records are returned unchecked": (
        {"checks_when_collecting": False},
        "swap",
        "revoked-record",
        EVERYWHERE,
    ),
    "buffered records are returned unchecked, twice": (
        {"checks_when_collecting": False},
        "swap and back",
        "record-order",
        EVERYWHERE,
    ),
    "what is collected is committed": (
        {"commits_previous_polls": False},
        "two records",
        "unprocessed-commit",
        NOWHERE_BUT_IN_BACKGROUND,
    ),
    "any answer completes the commit that waits": (
        {"matches_commits": False},
        "two commits",
        "wrong-result",
        EVERYWHERE,
    ),
    "a revocation is acknowledged at once": (
        {"waits_for_callbacks": False},
        "swap",
        "early-acknowledgement",
        EVERYWHERE,
    ),
    "callbacks run newest first, none is waited for": (
        {"waits_for_callbacks": False, "calls_in_order": False},
        "swap",
        "callback-order",
        (False, True, True),
    ),
    "a commit in a callback, acknowledged at once": (
        {"waits_for_callbacks": False},
        "commit in a callback",
        "callback-commit",
        EVERYWHERE,
    ),
    "what a removed member held is called revoked": (
        {"calls_lost": False},
        "removed",
        "lost-callback",
        EVERYWHERE,
    ),
    "callbacks that were asked for before a removal still run": (
        {"drops_callbacks_when_fenced": False},
        "removed",
        "lost-callback",
        (False, True, True),
    ),
    "what was revoked is remembered until the rebalance goes on": (
        {"forgets_when_called": False},
        "removed",
        "callback-order",
        (False, True, True),
    ),
    "generation and owned partitions are read one after the other": (
        {"reads_identity_whole": False},
        "identity read at any time",
        "torn-identity",
        NOWHERE_BUT_IN_BACKGROUND,
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_order_of_threads_network_and_application_keeps_the_rules(
    model: Model, name: str
) -> None:
    found = exhausted(model, CASES[name])
    assert (found.broken, found.stuck_first) == ({}, ())
    assert found.settled > 0


@pytest.mark.parametrize("mistake", IN_ORDER)
def test_a_wrong_decision_is_found_where_the_threads_let_it_do_harm(mistake: str) -> None:
    wrongly, case, rule, expected = IN_ORDER[mistake]
    found = [exhausted(model._replace(**wrongly), CASES[case]).broken for model in MODELS]  # type: ignore[arg-type]  # rows of the table differ
    assert tuple(rule in broken for broken in found) == expected
    print("", f"{mistake}: {RULES[rule]}", *found[-1][rule], sep="\n    ")


@pytest.mark.parametrize("duty", [Duty.CALLBACK])
def test_callbacks_on_the_background_thread_are_found(duty: Duty) -> None:
    polling = tuple(each for each in BACKGROUND_THREAD.polling if each is not duty)
    model = BACKGROUND_THREAD._replace(polling=polling, other=(*BACKGROUND_THREAD.other, duty))
    broken = exhausted(model, CASES["swap"]).broken
    assert {"callback-thread", "revoked-record"} <= set(broken)
    assert broken["callback-thread"][-1] == "other thread: callback: revoked [0] is called"


def test_every_rule_has_a_mistake_that_violates_it() -> None:
    assert {row[2] for row in IN_ORDER.values()} | {"callback-thread"} == set(RULES)


def test_a_background_thread_that_waits_for_callbacks_can_end_a_commit_by_its_timeout_alone() -> (
    None
):
    """The callback waits for `poll`, the commit for the thread, the thread for the callback."""
    model = BACKGROUND_THREAD._replace(blocks_for_callbacks=True)
    found = exhausted(model, CASES["commit while a partition is revoked"])
    assert found.stuck > 0
    assert found.broken == {}
    assert "application: commit" in found.stuck_first
    assert found.stuck_first[-1] == "other thread: reconcile"


WAITING: dict[str, dict[tuple[Duty, ...], bool]] = {
    # what a thread does while it waits for a commit, by model: whether the commit may hang
    "in_poll": {(): True, (Duty.COMMIT,): True, (Duty.READ, Duty.COMMIT): False},
    "heartbeat_thread": {(): True, (Duty.COMMIT,): False, (Duty.READ, Duty.COMMIT): False},
    "background_thread": {(): False},
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_who_waits_for_a_commit_in_a_callback_must_send_it_and_somebody_read_its_answer(
    model: Model,
) -> None:
    """The heartbeat thread reads answers too, and sends no commits; the background does both."""
    case = CASES["commit in a callback"]
    for waiting, hangs in WAITING[model.name].items():
        found = exhausted(model._replace(waiting=waiting), case)
        assert (found.stuck > 0) == hangs, waiting
        if hangs:
            print("", *found.stuck_first, sep="\n    ")


def test_a_callback_that_commits_hangs_where_the_background_thread_waits_for_callbacks() -> None:
    model = BACKGROUND_THREAD._replace(blocks_for_callbacks=True)
    assert exhausted(model, CASES["commit in a callback"]).stuck == 0
    held = model._replace(blocks_in_callbacks=True)
    found = exhausted(held, CASES["commit in a callback"])
    assert found.stuck_first == ()
    assert found.stuck > 0, "from the very beginning on, only a timeout ends the callback"


def test_a_history_of_a_record_of_a_revoked_partition() -> None:
    model = BACKGROUND_THREAD._replace(pauses_before_revoking=False)
    assert exhausted(model, CASES["swap"]).broken["revoked-record"] == (
        "other thread: fetch: sends Fetch(partition=0, offset=0)",
        "application: poll",
        "clock: a heartbeat is due",
        "other thread: heartbeat: sends Heartbeat()",
        "network: News(target={1}) arrives",
        "other thread: read",
        "other thread: reconcile",
        "polling thread: callback: revoked [0] is called",
        "network: Record(partition=0, offset=0) arrives",
        "other thread: read",
        "polling thread: collect",
        "polling thread: leaves the call: poll returns Record(partition=0, offset=0)",
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_longer_random_histories_keep_the_rules(model: Model) -> None:
    for seed in range(10):
        found = walk(started(LONG), lambda w: moves(LONG, model, w), Dice(seed), steps=400)
        assert found is None, (seed, found)


def test_random_histories_find_a_mistake_too() -> None:
    model = BACKGROUND_THREAD._replace(pauses_before_revoking=False)
    found = [
        walk(started(LONG), lambda w: moves(LONG, model, w), Dice(seed), steps=400)
        for seed in range(10)
    ]
    assert {each[0] for each in found if each is not None} == {"revoked-record"}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_duty_belongs_to_a_thread(model: Model) -> None:
    assert set(model.polling) | set(model.other) == set(Duty)
    assert set(model.waiting) <= set(model.polling)
    assert (Duty.CALLBACK in model.polling, Duty.CALLBACK in model.other) == (True, False)


def test_only_the_heartbeat_threads_client_has_two_readers_of_the_network() -> None:
    readers = {
        model.name: [
            thread
            for thread, row in ((Thread.POLLING, model.polling), (Thread.OTHER, model.other))
            if Duty.READ in row
        ]
        for model in MODELS
    }
    assert readers == {
        IN_POLL.name: [Thread.POLLING],
        HEARTBEAT_THREAD.name: [Thread.POLLING, Thread.OTHER],
        BACKGROUND_THREAD.name: [Thread.OTHER],
    }

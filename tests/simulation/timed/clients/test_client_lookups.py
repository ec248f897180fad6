"""Look-ups of two threads under one lock: KAFKA-10793, KAFKA-13563, and what remains in 4.4.0."""

from __future__ import annotations

import pytest

from assignors.simulation.timed.clients.lookups import RELEASES, Release, exhausted

BEFORE, FIRST_CURE, SECOND_CURE = RELEASES


@pytest.mark.parametrize(
    ("release", "with_thread", "without_thread"),
    [(BEFORE, True, False), (FIRST_CURE, False, True), (SECOND_CURE, False, False)],
    ids=lambda each: each.name if isinstance(each, Release) else None,
)
def test_in_which_release_and_for_whom_the_coordinator_is_never_found_again(
    release: Release, *, with_thread: bool, without_thread: bool
) -> None:
    """The first cure ended the race, and left a client without a heartbeat thread to its fate."""
    stuck = [bool(exhausted(release, has_heartbeat_thread=has).stuck) for has in (True, False)]
    assert stuck == [with_thread, without_thread]


def test_the_race_of_10793_needs_a_failure_between_two_steps_of_the_heartbeat_thread() -> None:
    assert exhausted(BEFORE, has_heartbeat_thread=True).stuck_first == (
        "the coordinator is lost",
        "heartbeat thread: sends a look-up",
        "polling thread reads from the network: the look-up has failed",
    )


def test_the_fault_of_13563_needs_one_thread_alone() -> None:
    """KIP-945 gives it as a race of two threads; it is what nobody does that harms."""
    assert exhausted(FIRST_CURE, has_heartbeat_thread=False).stuck_first == (
        "the coordinator is lost",
        "polling thread: sends a look-up",
        "polling thread: keeps the future",
        "polling thread reads from the network: the look-up has failed",
    )


@pytest.mark.parametrize("release", [FIRST_CURE, SECOND_CURE], ids=lambda each: each.name)
def test_the_heartbeat_thread_lets_a_second_look_up_start(release: Release) -> None:
    broken = exhausted(release, has_heartbeat_thread=True).broken
    assert broken["one-look-up"][-2:] == (
        "heartbeat thread: forgets the future",
        "polling thread: sends a look-up",
    )
    assert not exhausted(release, has_heartbeat_thread=False).broken

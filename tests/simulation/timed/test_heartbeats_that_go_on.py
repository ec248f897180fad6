"""librdkafka's heartbeats keep their times over rebalances; Java's start anew with each generation.

Seen with real members (`tests/lab/calibrate`): in an eager group of ten the order and distances
in which librdkafka members revoked stayed the same over thirty rebalances, up to 1.3 s from the
first to the last; those of Java's client were milliseconds apart, as a round restarts them all.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.scenario import Action, MemberConfig, Scenario, Verb
from assignors.simulation.timed.simulation import Played, simulate
from tests.conftest import cases

JOINS_MS = (30_000, 45_000, 60_000)
HEARTBEAT_MS = 3000
NAMES = ("c0", "c1", "c2", "c3")


def played(starts: list[int], *, goes_on: bool, seed: int, slow: str = "") -> Played:
    """Play four eager members that start at these times, and three that join later."""
    members = [
        MemberConfig(name=name, topics=("t",), assignors=("java/range",), starts_at_ms=at)
        for name, at in zip(NAMES, starts, strict=True)
    ]
    members += [replace(members[0], name=f"n{at}", starts_at_ms=None) for at in JOINS_MS]
    return simulate(
        Scenario(
            seed=seed,
            until_ms=75_000,
            topics={"t": 12},
            members=tuple(
                replace(
                    one,
                    poll_ms=2500 * (one.name == slow),
                    poll_spread_ms=0,
                    timing=Timing(heartbeats_go_on=goes_on),
                )
                for one in members
            ),
            plan=tuple(Action(at_ms=at, do=Verb.START, member=f"n{at}") for at in JOINS_MS),
        ),
        keeps_history=True,
    )


def revoked_ms(run: Played, since_ms: int) -> dict[str, float]:
    """Return when each of the four revoked for the join at this time."""
    found: dict[str, float] = {}
    for change in run.changes:
        if change.at >= since_ms * 1000 and not change.owned and change.member_id in NAMES:
            found.setdefault(change.member_id, change.at / 1000)
    return found


@given(
    st.lists(st.integers(0, 20_000), min_size=4, max_size=4, unique=True),
    st.booleans(),
    st.integers(0, 1000),
)
@cases(25)
def test_members_revoke_together_only_if_a_round_restarts_their_heartbeats(
    starts: list[int],
    goes_on: bool,  # noqa: FBT001 - drawn
    seed: int,
) -> None:
    run = played(starts, goes_on=goes_on, seed=seed)
    assert run.result.is_settled
    for at in JOINS_MS:
        revoked = revoked_ms(run, at)
        assert revoked.keys() == set(NAMES)
        assert all(at <= moment <= at + HEARTBEAT_MS + 100 for moment in revoked.values())
        if not goes_on:
            assert all(distance(revoked[name], revoked["c0"]) < 50 for name in NAMES)
    if goes_on:
        first, *others = (revoked_ms(run, at) for at in JOINS_MS)
        for revoked in others:
            for name in NAMES:
                before, now = first[name] - first["c0"], revoked[name] - revoked["c0"]
                assert distance(before, now) < 50


def test_a_slow_member_sets_the_others_apart_only_if_their_heartbeats_go_on() -> None:
    """A newcomer's first heartbeat comes when its round ends: that is when the slow one polls."""
    starts = [9000, 0, 4500, 15_000]
    for goes_on in (False, True):
        run = played(starts, goes_on=goes_on, seed=1, slow="c2")
        for at in JOINS_MS:
            revoked = revoked_ms(run, at)
            apart = max(distance(revoked["c0"], revoked[name]) for name in ("c1", "c3"))
            assert (apart > 300) == goes_on


def distance(one: float, other: float) -> float:
    """Return how far two moments are apart within a heartbeat, which begins anew after its end."""
    off = abs(one - other) % HEARTBEAT_MS
    return min(off, HEARTBEAT_MS - off)

"""A static member restarts amid a hand-over, in a group that one of ours leads.

Its new process gets its part of the plan without a round (KIP-345). It has nothing to revoke, so it
does not join again, and what the old one was to give up would wait for a round that nobody starts:
members of other clients leave it so (`tests/foreign/exhausted/test_static_members_live.py`).
"""

from __future__ import annotations

import pytest

from tests.interop.conftest import MakeGroup
from tests.interop.group import SETTLES_S, LiveGroup
from tests.interop.odd_bytes import subscription
from tests.interop.raw import RawMember
from tests.waiting import wait

pytestmark = pytest.mark.interop

LEADER_SESSION_MS = 2000
STATIC_SESSION_MS = 60_000
"""Nobody is expelled: that would begin a round as well."""


def raw(group: LiveGroup, name: str, *, instance: str | None = None) -> RawMember:
    """A member of the first topic that claims what it has; it never joins by itself."""
    topic = group.topics[0]

    def says(member: RawMember) -> dict[str, bytes]:
        owned = [(topic, [number for _, number in sorted(member.owned)])]
        return {
            "cooperative-sticky": subscription(
                3, (topic,), owned=owned, generation=member.generation
            )
        }

    made = RawMember(
        group.broker.bootstrap,
        group.name,
        name,
        says,
        topics=(topic,),
        instance=instance,
        holds=True,
        session_timeout_ms=STATIC_SESSION_MS,
        events=group.events,
    )
    group.guests[name] = made
    made.start()
    return made


def wait_for(member: RawMember, count: int) -> None:
    wait(lambda: len(member.owned) == count, shows=lambda: (member.name, member.owned))


@pytest.mark.parametrize("leader", ["kpp", "aiop"])
def test_what_a_restarted_static_member_was_to_give_up_gets_an_owner(
    leader: str, make_group: MakeGroup
) -> None:
    """The leader has the second topic to itself, so that the static member alone has to revoke."""
    group = make_group({"s": 2, "l": 2}, session_timeout_ms=LEADER_SESSION_MS, heartbeat_ms=100)
    group.start(leader)
    group.settled(SETTLES_S, hold_s=0.3)
    before = raw(group, "before", instance="i")
    wait_for(before, 2)
    group.settled(SETTLES_S, hold_s=0.3)
    other = raw(group, "other")
    wait_for(before, 1)
    assert not other.owned
    before.vanish()
    del group.guests["before"]
    after = raw(group, "after", instance="i")
    wait_for(after, 1)
    assert after.rounds[0].generation == before.generation, "no round began"
    wait_for(other, 1)
    assert len(after.rounds) == 2
    # The broker goes on calling a static member by the client id that it had at first.
    assert {*other.owned, *after.owned} == {(group.topics[0], 0), (group.topics[0], 1)}
    assert group.leader() == f"{leader}-1"
    assert not group.judge().windows

"""A member that does not say what it owns, in a cooperative group that one of ours leads.

A kafkajs assigner, written as its documentation shows, says version 1 and leaves out what version
1 has: the owned partitions. Whether it consumes anything nobody can read from its bytes. Our
leader gives it nothing at first, what nobody else claims waits, and a second round, which the
leader starts itself, knows what the first one gave. From then on the leader's memory stands for
the claims, and the member keeps what it has.
"""

from __future__ import annotations

import pytest

from tests.interop.audit import rounds
from tests.interop.conftest import MakeGroup
from tests.interop.events import Partition
from tests.interop.group import DRAINS_S, SETTLES_S, LiveGroup

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("leader", ["kpp", pytest.param("aiop", marks=pytest.mark.deep)])
def test_a_member_that_claims_nothing_readable_gets_its_share_and_keeps_it(
    leader: str, make_group: MakeGroup
) -> None:
    group = make_group({"a": 8, "b": 4}, session_timeout_ms=4000)
    group.feed.start()
    first = group.start_one(leader)
    group.settled(SETTLES_S, hold_s=0.3)
    group.start("kpp", "kjs")
    settled = group.settled(SETTLES_S)
    assert sorted(settled.partition_counts.values()) == [4, 4, 4]
    had = group.members["kjs-1"].owned
    newcomer = group.start_one("kpp")
    settled = group.settled(SETTLES_S)
    assert sorted(settled.partition_counts.values()) == [3, 3, 3, 3]
    assert group.members["kjs-1"].owned < had
    had = group.members["kjs-1"].owned
    newcomer.close()
    group.settled(SETTLES_S)
    assert group.members["kjs-1"].owned > had
    assert group.leader() == first.name
    assert not first_gift(group), "nobody knows what it has"
    # Whoever leads next has no memory, and must come to rest all the same.
    first.kill()
    group.settled(SETTLES_S)
    group.drain(DRAINS_S)
    verdict = group.judge()
    assert verdict.is_clean, verdict


def first_gift(group: LiveGroup) -> frozenset[Partition]:
    """What the first round with the kafkajs member gave it."""
    found = rounds(group.broker.bootstrap, group.name)
    given = [one.gifts[name] for one in found for name in one.gifts if name.startswith("kjs-1-")]
    print("given to kafkajs round by round:", *map(len, given))
    return given[0]

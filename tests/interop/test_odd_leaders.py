"""A leader that writes what it likes: our members take it as far as it goes, and go on.

The leader is a socket. In each row it gives both our members odd bytes, then good ones: whatever
happened in between, nothing comes out of `poll()`, and the good ones are applied. What each client
does with the same bytes without our strategies stands in its row's comment, where it is worse.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from tests.interop.conftest import MakeGroup
from tests.interop.events import Partition
from tests.interop.members import Member
from tests.interop.odd_bytes import NOTHING, assignment, subscription
from tests.interop.raw import RawMember, Round
from tests.interop.test_odd_members import errors_of_ours

pytestmark = pytest.mark.interop

TAKES_S = 60.0
Topics = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Odd:
    """What the leader writes, and what our members make of it."""

    writes: Callable[[Topics], bytes | None]
    """Assignment bytes; None to leave the member out."""
    applied: frozenset[tuple[int, int]] | None
    """What a member has then, by topic's place and number; None: kafka-python refuses it all."""


def takes(*numbers: int) -> frozenset[tuple[int, int]]:
    return frozenset((0, number) for number in numbers)


ODD = {
    "version 0": Odd(writes=lambda t: assignment(0, [(t[0], [2, 3])]), applied=takes(2, 3)),
    "version 3": Odd(writes=lambda t: assignment(3, [(t[0], [2, 3])]), applied=takes(2, 3)),
    "400 kB of user data": Odd(
        writes=lambda t: assignment(1, [(t[0], [2, 3])], user_data=b"\xab" * 400_000),
        applied=takes(2, 3),
    ),
    # kafka-python 3.0.12: struct.error, and it consumes on what it had; aiokafka 0.14.0 ends.
    "no bytes": Odd(writes=lambda _: b"", applied=takes()),
    "left out": Odd(writes=lambda _: None, applied=takes()),
    "user data cut off": Odd(
        writes=lambda t: assignment(1, [(t[0], [2, 3])])[:-4], applied=takes(2, 3)
    ),
    "cut in a number": Odd(writes=lambda t: assignment(1, [(t[0], [2, 3])])[:-6], applied=takes(2)),
    "topics null": Odd(writes=lambda _: assignment(1, None), applied=takes()),
    "numbers null": Odd(writes=lambda t: assignment(1, [(t[0], None)]), applied=takes()),
    "0xff for ever": Odd(writes=lambda _: b"\xff" * 40, applied=takes()),
    "version -1": Odd(writes=lambda t: assignment(-1, [(t[0], [2, 3])]), applied=takes(2, 3)),
    "version 9 and a tail": Odd(
        writes=lambda t: assignment(9, [(t[0], [2, 3])]) + b"tail!", applied=takes(2, 3)
    ),
    "trailing bytes": Odd(
        writes=lambda t: assignment(1, [(t[0], [2, 3])]) + b"xx", applied=takes(2, 3)
    ),
    "a topic twice": Odd(
        writes=lambda t: assignment(1, [(t[0], [2]), (t[0], [3])]), applied=takes(2, 3)
    ),
    "a partition twice": Odd(
        writes=lambda t: assignment(1, [(t[0], [2, 2, 3])]), applied=takes(2, 3)
    ),
    # Both hosts take numbers on trust, and fetch from partitions that are not there.
    "partition 99": Odd(writes=lambda t: assignment(1, [(t[0], [2, 99])]), applied=takes(2, 99)),
    "partition -1": Odd(writes=lambda t: assignment(1, [(t[0], [2, -1])]), applied=takes(2, -1)),
    # kafka-python refuses the whole and joins again; aiokafka 0.14.0 ends.
    "a topic that does not exist": Odd(
        writes=lambda t: assignment(1, [(t[0], [2]), ("nowhere", [0])]), applied=None
    ),
    "a topic nobody asked for": Odd(
        writes=lambda t: assignment(1, [(t[0], [2]), (t[2], [0])]), applied=None
    ),
}


class Deal:
    """What the leader writes at present; the members of a round get it by their client's name."""

    def __init__(self, blobs: Mapping[str, bytes | None]) -> None:
        self.blobs = blobs

    def __call__(self, seen: Round) -> dict[str, bytes]:
        answers = {}
        for member_id in seen.subscriptions:
            name = next((name for name in self.blobs if member_id.startswith(name)), None)
            blob = NOTHING if name is None else self.blobs[name]
            if blob is not None:
                answers[member_id] = blob
        return answers


def has_in_time(member: Member, wanted: frozenset[Partition]) -> bool:
    return member.wait_for(lambda owned: owned == wanted, timeout_s=TAKES_S)


@pytest.mark.parametrize("protocol", ["cooperative-sticky", "range"])
def test_no_bytes_of_a_leader_stop_our_members(protocol: str, make_group: MakeGroup) -> None:
    group = make_group({"a": 4, "b": 2, "c": 2}, assignors=(protocol,), heartbeat_ms=100)
    one, other, _ = topics = group.topics
    good = {"kpp-1": assignment(1, [(one, [0, 1])]), "aiop-1": assignment(1, [(other, [0, 1])])}
    wanted = {
        "kpp-1": frozenset({(one, 0), (one, 1)}),
        "aiop-1": frozenset({(other, 0), (other, 1)}),
    }
    deal = Deal(good)
    blobs = {protocol: subscription(3, topics)}
    leader = RawMember(
        group.broker.bootstrap, group.name, "leader", blobs, plan=deal, events=group.events
    )
    group.guests["leader"] = leader
    leader.start()
    assert leader.wait_for_rounds(1)
    members = group.start("kpp", "aiop", topics=(one, other))
    found = [name for name in wanted if not has_in_time(group.members[name], wanted[name])]
    assert not found, "the good bytes arrive"
    for row, odd in ODD.items():
        blob = odd.writes(topics)
        deal.blobs = dict.fromkeys(good, blob)
        before = len(leader.rounds)
        leader.rejoin()
        assert leader.wait_for_rounds(before + 1), row
        found += wrong_with_odd(row, odd, topics, members)
        deal.blobs = good
        leader.rejoin()
        found += [
            f"{row}: {member.name} keeps {sorted(member.owned)}"
            for member in members
            if not has_in_time(member, wanted[member.name])
        ]
    assert not found
    for member in members:
        assert member.is_alive
        assert errors_of_ours(member) == []


def wrong_with_odd(row: str, odd: Odd, topics: Topics, members: list[Member]) -> list[str]:
    """What our members make of odd bytes that they should not."""
    if odd.applied is None:
        # Given what it refuses, kafka-python asks again and again: that is its host's way.
        time.sleep(1.0)
        foreign = {topics[2], "nowhere"}
        return [
            f"{row}: {member.name} has {sorted(member.owned)}"
            for member in members
            if {topic for topic, _ in member.owned} & foreign
        ]
    wanted = frozenset((topics[place], number) for place, number in odd.applied)
    return [
        f"{row}: {member.name} has {sorted(member.owned)}"
        for member in members
        if not has_in_time(member, wanted)
    ]

"""One odd member among normal ones, led by us: everybody works on, and the leader says who is odd.

The odd member is a socket: it joins with bytes that a client in the field was seen to write, or
that none should. A leader of ours must give everybody an assignment, let nothing out of `poll()`,
never lend a partition to two members, and name the odd one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice

import pytest

from tests.interop.conftest import MakeGroup
from tests.interop.group import LiveGroup, Unsettled
from tests.interop.members import Member
from tests.interop.odd_bytes import subscription
from tests.interop.raw import RawMember
from wire import Mode, decode_assignment, encode_sticky_user_data

pytestmark = [pytest.mark.interop, pytest.mark.xdist_group("interop")]

Topics = tuple[str, ...]

SETTLES_S = 15.0
HOLD_S = 0.8
SHARED = {"a": 8, "b": 7}

COMMIT_FAILED = re.compile(r"CommitFailed|RebalanceInProgress|IllegalGeneration|UnknownMemberId")
"""Errors of a commit in the middle of a rebalance: every client has them and commits again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Odd:
    """What an odd member says, and what may be expected of a leader of ours."""

    says: Callable[[Topics], bytes]
    """Subscription bytes for the group's two topics."""
    note: str | None
    """The code under which the leader names it; None where nothing is odd to us."""
    gets: bool
    """Whether it gets partitions: as long as one topic can be read."""
    recovers: bool = False
    """Whether it tells the truth from its second join on."""


def ok(topics: Topics) -> bytes:
    return subscription(3, topics)


def claims_all(version: int, generation: int) -> Callable[[Topics], bytes]:
    return lambda t: subscription(
        version, t, owned=[(t[0], range(8)), (t[1], range(7))], generation=generation
    )


ANY = {
    "no bytes": Odd(says=lambda _: b"", note="empty-blob", gets=False),
    "one byte": Odd(says=lambda _: b"\0", note="empty-blob", gets=False),
    "cut in a topic": Odd(says=lambda t: ok(t)[:9], note="cut", gets=False),
    "cut after a topic": Odd(says=lambda t: ok(t)[: 8 + len(t[0])], note="cut", gets=True),
    "v0": Odd(says=lambda t: subscription(0, t), note=None, gets=True),
    "v1 without owned": Odd(
        says=lambda t: subscription(1, t, fields=0), note="owned-missing", gets=True
    ),
    "v2 cut before the generation": Odd(
        says=lambda t: subscription(2, t, fields=1), note="generation-missing", gets=True
    ),
    "v3 without rack": Odd(
        says=lambda t: subscription(3, t, fields=2), note="rack-missing", gets=True
    ),
    "version -1": Odd(says=lambda t: subscription(-1, t), note="version-negative", gets=True),
    "version 9 and a tail": Odd(
        says=lambda t: subscription(9, t) + b"tail!", note="version-above-3", gets=True
    ),
    "v3 and a tail": Odd(says=lambda t: ok(t) + b"xx", note="trailing-bytes", gets=True),
    "topics null": Odd(says=lambda _: subscription(3, None), note="topics-null", gets=False),
    "a topic null": Odd(
        says=lambda t: subscription(3, [t[0], None, t[1]]), note="topic-null", gets=True
    ),
    "no topics": Odd(says=lambda _: subscription(3, []), note=None, gets=False),
    "a topic twice": Odd(
        says=lambda t: subscription(3, [*t, t[0]]), note="topic-repeated", gets=True
    ),
    "a topic that is no UTF-8": Odd(
        says=lambda t: subscription(3, [t[0], b"\xff\xfe", t[1]]), note="invalid-utf8", gets=True
    ),
    "a topic that does not exist": Odd(
        says=lambda t: subscription(3, [*t, "nowhere"]), note=None, gets=True
    ),
    "a topic with a name none can have": Odd(
        says=lambda t: subscription(3, [*t, "no such/topic", "."]), note=None, gets=True
    ),
    "two billion topics": Odd(
        says=lambda t: b"\0\3\x7f\xff\xff\xff" + ok(t)[6:], note="count-above-limit", gets=True
    ),
    "900 kB of user data": Odd(
        says=lambda t: subscription(3, t, user_data=b"\xab" * 900_000), note=None, gets=True
    ),
}

COOPERATIVE = {
    **ANY,
    "v0": Odd(says=lambda t: subscription(0, t), note="claims-not-known", gets=True),
    "owned null": Odd(says=lambda t: subscription(1, t, owned=None), note="owned-null", gets=True),
    "owned numbers null": Odd(
        says=lambda t: subscription(3, t, owned=[(t[0], None)]),
        note="partitions-null",
        gets=True,
    ),
    "owned cut": Odd(
        says=lambda t: subscription(1, t, owned=[(t[0], [0, 1])])[:-3],
        note="owned-cut",
        gets=True,
    ),
    "owns -1 and 99": Odd(
        says=lambda t: subscription(3, t, owned=[(t[0], [-1, 99])]),
        note="partition-out-of-range",
        gets=True,
    ),
    "owns of an unknown topic": Odd(
        says=lambda t: subscription(3, t, owned=[("nowhere", [0])]),
        note="unknown-topic",
        gets=True,
    ),
    "claims all, long ago": Odd(says=claims_all(3, 0), note=None, gets=True, recovers=True),
    "claims all, in the future": Odd(
        says=claims_all(3, 99_999), note="generation-in-the-future", gets=True, recovers=True
    ),
    "claims all, no generation": Odd(says=claims_all(1, -1), note=None, gets=True, recovers=True),
    "user data is garbage": Odd(
        says=lambda t: subscription(1, t, user_data=b"\xde\xad\xbe\xef\1"),
        note=None,
        gets=True,
    ),
}

STICKY = {
    **ANY,
    "user data of length 0": Odd(
        says=lambda t: subscription(1, t, user_data=b""), note="user-data-empty", gets=True
    ),
    "user data of four bytes": Odd(
        says=lambda t: subscription(1, t, user_data=b"\0\0\0\7"), note=None, gets=True
    ),
    "user data is garbage": Odd(
        says=lambda t: subscription(1, t, user_data=b"\xde\xad\xbe\xef\1"),
        note=None,
        gets=True,
    ),
    "user data claims all": Odd(
        says=lambda t: subscription(
            1,
            t,
            user_data=encode_sticky_user_data(
                {t[0]: tuple(range(8)), t[1]: tuple(range(7))}, 99_999
            ),
        ),
        note=None,
        gets=True,
    ),
}

TABLES = {"cooperative-sticky": COOPERATIVE, "sticky": STICKY, "range": ANY}


def errors_of_ours(member: Member) -> list[str]:
    """What came out of its `poll()`."""
    return [text for text in member.errors if not COMMIT_FAILED.search(text)]


def odd_member(group: LiveGroup, protocol: str, name: str, odd: Odd) -> RawMember:
    """A member that says it."""
    topics = group.topics
    blob = odd.says(topics)

    def says(member: RawMember) -> dict[str, bytes]:
        if not (odd.recovers and member.rounds):
            return {protocol: blob}
        owned = [(topic, [n for t, n in sorted(member.owned) if t == topic]) for topic in topics]
        return {protocol: subscription(3, topics, owned=owned, generation=member.generation)}

    return RawMember(
        group.broker.bootstrap, group.name, name, says, holds=odd.recovers, events=group.events
    )


def complaints(
    group: LiveGroup, leader: Member, protocol: str, batch: Mapping[str, Odd]
) -> list[str]:
    """What is wrong with how the group takes odd members in."""
    before = len(leader.events)
    guests = {name: odd_member(group, protocol, name, odd) for name, odd in batch.items()}
    group.guests.update(guests)
    for member in guests.values():
        member.start()
    found = []
    counts: Mapping[str, int] = {}
    try:
        counts = group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts
    except Unsettled as unsettled:
        found.append(str(unsettled))
    if group.leader() != leader.name:
        found.append(f"{group.leader()} leads")
    found += [f"{name} gets nothing" for name in group.members if not counts.get(name)]
    said = [event.text.rpartition(" ") for event in leader.events[before:] if event.kind == "note"]
    for name, odd in batch.items():
        member = guests[name]
        if bool(counts.get(name)) != odd.gets:
            found.append(f"{name} has {counts.get(name)}")
        notes = {code for member_id, _, code in said if member_id == member.member_id}
        if odd.note is not None and odd.note not in notes:
            found.append(f"the notes on {name} are {sorted(notes)}")
        found += [
            f"{name} was sent {seen.assignment!r}"
            for seen in member.rounds
            if decode_assignment(seen.assignment, mode=Mode.STRICT).error
        ]
    return found


@pytest.mark.parametrize("leader", ["kpp", "aiop"])
@pytest.mark.parametrize("protocol", sorted(TABLES))
def test_a_group_of_ours_works_on_whatever_a_member_says(
    protocol: str, leader: str, make_group: MakeGroup
) -> None:
    group = make_group(SHARED, assignors=(protocol,))
    (leading,) = group.start(leader)
    group.settled(SETTLES_S)
    followers = group.start("aiop" if leader == "kpp" else "kpp")
    group.settled(SETTLES_S)
    # Under the eager protocols nothing waits for anybody: several odd members at once save time.
    rows = iter(TABLES[protocol].items())
    found = []
    while batch := dict(islice(rows, 1 if protocol == "cooperative-sticky" else 5)):
        found += complaints(group, leading, protocol, batch)
        for name in batch:
            group.guests.pop(name).end()
    group.settled(SETTLES_S)
    assert not found
    assert not group.judge().windows
    for member in (leading, *followers):
        assert member.is_alive
        assert errors_of_ours(member) == []

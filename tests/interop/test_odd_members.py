"""One odd member among normal ones, led by us: everybody works on, and the leader says who is odd.

The odd member is a socket: it joins with bytes that a client in the field was seen to write, or
that none should. A leader of ours must give everybody an assignment, let nothing out of `poll()`,
never lend a partition to two members, and name the odd one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice

import pytest

from assignors.assignor import UserData
from assignors.membership import Membership, subscribe
from tests.conftest import DEEP
from tests.interop.conftest import MakeGroup
from tests.interop.events import Partition
from tests.interop.group import SETTLES_S, WINDOW_MS, LiveGroup, Unsettled
from tests.interop.ledger import owned_by
from tests.interop.members import Member
from tests.interop.odd_bytes import subscription
from tests.interop.odd_rows import SHARED, TABLES, Odd
from tests.interop.raw import RawMember
from tests.waiting import comes
from wire import Mode, decode_assignment

pytestmark = pytest.mark.interop

HOLD_S = 0.6
TRIES_MAX = 8
ROBBED_WITHIN_S = 3.0
"""Below the raw members' session timeout: while they wait they show no life."""

EVEN = {"a": 6, "b": 6}

COMMIT_FAILED = re.compile(r"CommitFailed|RebalanceInProgress|IllegalGeneration|UnknownMemberId")
"""Errors of a commit in the middle of a rebalance: every client has them and commits again."""


def errors_of_ours(member: Member) -> list[str]:
    """What came out of its `poll()`."""
    return [text for text in member.errors if not COMMIT_FAILED.search(text)]


def join_odd(group: LiveGroup, failure: Failure) -> None:
    """Let the odd member in."""
    odd = TABLES[failure.protocol][failure.says]
    member = odd_member(group, failure.protocol, "odd", odd)
    group.guests["odd"] = member
    member.start()


def shows(member: Member, pattern: str, *, timeout_s: float) -> bool:
    """Whether a member says this of its failure, in time."""

    def says() -> bool:
        said = [event.text for event in member.events if event.kind in {"error", "died"}]
        return any(re.search(pattern, text) for text in said)

    return comes(says, within_s=timeout_s)


def odd_member(group: LiveGroup, protocol: str, name: str, odd: Odd) -> RawMember:
    """A member that says it."""
    topics = group.topics
    blob = odd.says(topics)

    def says(member: RawMember) -> dict[str, bytes]:
        if not (odd.recovers and member.rounds):
            return {protocol: blob}
        owned = listed(member, topics)
        return {protocol: subscription(3, topics, owned=owned, generation=member.generation)}

    return RawMember(
        group.broker.bootstrap, group.name, name, says, holds=odd.recovers, events=group.events
    )


def listed(member: RawMember, topics: tuple[str, ...]) -> list[tuple[str, list[int]]]:
    """What it has, topic by topic."""
    return [(topic, [n for t, n in sorted(member.owned) if t == topic]) for topic in topics]


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
    group = make_group(SHARED, assignors=(protocol,), heartbeat_ms=100)
    (leading,) = group.start(leader)
    group.settled(SETTLES_S)
    followers = group.start("aiop" if leader == "kpp" else "kpp")
    group.settled(SETTLES_S)
    # Each of our leaders is shown every other row, and in `make deep` all.
    shown = list(TABLES[protocol].items())
    rows = iter(shown if DEEP > 1 else shown[leader == "aiop" :: 2])
    # Under the eager protocols nothing waits for anybody: several odd members at once save time.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """How somebody else's leader fails over one odd member."""

    leader: str
    protocol: str
    says: str
    """The row."""
    shows: str
    """What the leader shows for it: a pattern."""


FAILURES = (
    # kafka-clients 4.4.0 and 2.4.1: out of poll(), the end of a plain application.
    Failure(
        leader="java44",
        protocol="range",
        says="v1 without owned",
        shows="SchemaException: Malformed consumer protocol subscription",
    ),
    Failure(
        leader="java24",
        protocol="cooperative-sticky",
        says="v1 without owned",
        shows="owned_partitions.*BufferUnderflowException",
    ),
    Failure(
        leader="java44",
        protocol="cooperative-sticky",
        says="owns -1 and 99",
        shows="IllegalStateException: No more unfilled consumers to be assigned",
    ),
    # librdkafka 2.16.0: the process is gone.
    Failure(leader="ck", protocol="cooperative-sticky", says="v0", shows="exit code -11"),
    # Sarama 1.61.1 gives up the round and the lead; what shipped Python clients write.
    Failure(
        leader="sarama",
        protocol="sticky",
        says="user data of length 0",
        shows="insufficient data to decode packet",
    ),
    # kafka-python 3.0.12: out of poll(), until its session is over and somebody else leads.
    Failure(
        leader="kp",
        protocol="range",
        says="v1 without owned",
        shows="unpack requires a buffer of 4 bytes",
    ),
)


@pytest.mark.parametrize(
    "failure",
    # One failure a client; the first two are the same of another version or protocol.
    [*(pytest.param(one, marks=pytest.mark.deep) for one in FAILURES[:2]), *FAILURES[2:]],
    ids=lambda one: f"{one.leader} {one.says}",
)
def test_where_anothers_leader_fails_one_of_ours_takes_over(
    failure: Failure, make_group: MakeGroup
) -> None:
    """Expected of the neighbour in that version, and asserted to see when it changes."""
    group = make_group(SHARED, assignors=(failure.protocol,), session_timeout_ms=3000)
    (leading,) = group.start(failure.leader)
    group.settled(SETTLES_S, hold_s=HOLD_S)
    ours = group.start("kpp", "aiop")
    group.settled(SETTLES_S, hold_s=HOLD_S)
    assert group.leader() == leading.name
    join_odd(group, failure)
    assert shows(leading, failure.shows, timeout_s=SETTLES_S)
    # The next leader is the broker's choice: where that is the odd one, which cannot lead, or the
    # failing one again, the odd one leaves and comes back.
    for _ in range(TRIES_MAX):
        settled = group.settled(SETTLES_S)
        if group.leader() in {one.name for one in ours} and group.guests["odd"].is_alive:
            break
        group.guests.pop("odd").end()
        join_odd(group, failure)
    else:
        pytest.fail(f"{group.leader()} leads")
    assert settled.partition_counts["odd"] > 0
    for one in ours:
        assert settled.partition_counts[one.name] > 0
        assert errors_of_ours(one) == []
    assert not group.judge().windows


def as_shipped(member: RawMember, topics: tuple[str, ...]) -> bytes:
    """What kafka-python 3.0.12 writes: version 1, no generation anywhere."""
    return subscription(1, topics, owned=listed(member, topics), user_data=b"")


def as_ours(member: RawMember, topics: tuple[str, ...]) -> bytes:
    """What our members write."""
    owned = {topic: tuple(numbers) for topic, numbers in listed(member, topics)}
    seat = Membership(kind=UserData.COOPERATIVE)
    return subscribe(seat, topics, owned=owned, generation=member.generation)[1]


class Witness(RawMember):
    """A member that lets go of what it must once somebody else has it, or after a while.

    So a robbery is seen however slow the robber is, and who is not robbed had every chance to be.
    """

    def _own(self, partitions: frozenset[Partition]) -> None:
        """Wait for the robber, and a moment longer: short windows do not count."""
        lost = self.owned - partitions
        if lost:
            comes(
                lambda: not self.is_alive or self._is_held_elsewhere(lost),
                within_s=ROBBED_WITHIN_S,
            )
            if self._is_held_elsewhere(lost):
                time.sleep(2 * WINDOW_MS / 1000)
        super()._own(partitions)

    def _is_held_elsewhere(self, partitions: frozenset[Partition]) -> bool:
        return any(
            one.end is None and one.member_id != self.name and one.topic_partition in partitions
            for one in owned_by(tuple(self._events))
        )


@pytest.mark.parametrize(("writes", "is_robbed"), [(as_shipped, True), (as_ours, False)])
def test_a_java_3_1_leader_robs_those_who_do_not_write_as_we_do(
    writes: Callable[[RawMember, tuple[str, ...]], bytes],
    is_robbed: bool,  # noqa: FBT001 - a column of the table
    make_group: MakeGroup,
) -> None:
    """kafka-clients 3.1.2 takes the first four bytes of user data for a claim's generation.

    A member that sends none claims nothing as soon as somebody sends one: what it has is given
    away while it consumes on.
    """
    group = make_group(EVEN)
    for kind in ("java31", "kpp"):
        group.start(kind)
        group.settled(SETTLES_S, hold_s=HOLD_S)
    member = Witness(
        group.broker.bootstrap,
        group.name,
        "odd",
        lambda one: {"cooperative-sticky": writes(one, group.topics)},
        topics=group.topics,
        is_cooperative=True,
        events=group.events,
    )
    group.guests["odd"] = member
    member.start()
    group.settled(SETTLES_S, hold_s=HOLD_S)
    # Whoever is given the loot must hear of it before the next round begins, which the leader
    # itself starts at once: else nobody ever has it, and the next newcomer tries.
    for _ in range(TRIES_MAX if is_robbed else 2):
        (newcomer,) = group.start("java44")
        group.settled(SETTLES_S, hold_s=HOLD_S)
        if group.judge().windows:
            break
        newcomer.close()
        group.settled(SETTLES_S, hold_s=HOLD_S)
    assert group.leader() == "java31-1"
    robbed = {window.members[0] for window in group.judge().windows}
    assert robbed == ({"odd"} if is_robbed else set())


def test_what_a_member_consumes_is_safe_though_it_never_says_so(make_group: MakeGroup) -> None:
    """A version 0 member under cooperative-sticky claims nothing and keeps consuming: its leader
    remembers what it gave it, and what moves waits until it has let go."""
    group = make_group(EVEN)
    (leading,) = group.start("kpp")
    group.settled(SETTLES_S, hold_s=HOLD_S)
    group.start("java44")
    group.settled(SETTLES_S, hold_s=HOLD_S)
    blobs = {"cooperative-sticky": subscription(0, group.topics)}
    silent = RawMember(
        group.broker.bootstrap,
        group.name,
        "silent",
        blobs,
        holds=True,
        lets_go_s=0.3,
        events=group.events,
    )
    group.guests["silent"] = silent
    silent.start()
    assert group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts["silent"] == 4
    (joining,) = group.start("kpp")
    assert group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts["silent"] == 3
    joining.close()
    assert group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts["silent"] == 4
    group.start("aiop")
    assert group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts["silent"] == 3
    assert group.leader() == leading.name
    assert not group.judge().windows

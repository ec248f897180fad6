"""Messages that are lost, and their connection with them: when a member notices, and asks again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assignors.simulation.timed.scenario import (
    Fault,
    FaultKind,
    GroupProtocol,
    Scenario,
)
from assignors.simulation.timed.simulation import Played
from tests.simulation.timed.test_faults import (
    A_MOMENT,
    CLASSIC,
    FROM,
    HEARTBEAT,
    SECOND,
    SESSION,
    US,
    each_protocol,
    fault,
    group,
    is_between,
    nothing_happened,
    play,
)


@each_protocol
def test_a_lost_message_is_sent_again_when_its_time_is_over(protocol: GroupProtocol) -> None:
    # All of one second is lost: one heartbeat of each at most, and the connection with it.
    loss = [
        fault(FaultKind.LOSS, FROM + HEARTBEAT[protocol], member=name, percent=100)
        for name in ("c0", "c1", "c2")
    ]
    assert nothing_happened(play(group(protocol, loss)))
    late = play(group(protocol, loss, request_timeout_ms=100 * SECOND))
    if protocol is CLASSIC:
        # A classic member opens another connection after a session timeout without an answer, but
        # the coordinator has removed it by then; the one of KIP-848 waits for its request.
        assert {each.member for each in late.zombies} == {"c0", "c1", "c2"}
        assert max(each.until_us for each in late.zombies) < (FROM + SESSION + 10) * US
    else:
        assert len(late.zombies) == 3
        assert min(each.until_us for each in late.zombies) > (FROM + 100) * US


APPEND = 1
"""Seconds until the coordinator has written an assignment, and answers the SyncGroup."""
INITIAL = 3
"""Seconds that a group waits for more members at first, and when it has none any more."""
EAGER = frozenset({"aiokafka-0.14.0", "kafkajs-2.2.4"})
"""Clients without a cooperative assignor."""


def alone(client: str | None, request_timeout_ms: int, *, append: int = 0) -> Scenario:
    """Return a group of one member, whose first round waits for three seconds."""
    three = group(
        CLASSIC,
        request_timeout_ms=request_timeout_ms,
        rebalance_timeout_ms=60_000,
        client=client,
    )
    broker = replace(three.broker, append_us=append * US)
    one = three.members[0]
    if client in EAGER:
        one = replace(one, assignors=("java/range",))
    return replace(three, members=(one,), broker=broker)


def owned_from(scenario: Scenario, lost_from_ms: int) -> float:
    """Return when a member owns something whose messages are lost for a second, in seconds."""
    until_ms = lost_from_ms + SECOND
    lost = Fault(
        kind=FaultKind.LOSS, member="c0", from_ms=lost_from_ms, until_ms=until_ms, percent=100
    )
    played = play(replace(scenario, faults=(lost,)))
    return min(each.at for each in played.changes if each.owned) / US


@pytest.mark.parametrize(
    ("client", "request_timeout_ms", "seconds"),
    [
        (None, 10_000, 60 + 5),
        ("java-4.4.0", 10_000, 60 + 5),
        ("java-4.4.0", 90_000, 90),
        ("kafka-python-3.0.12", 10_000, 60 + 5),
        ("librdkafka-2.16.0", 10_000, 60 + 3),
        ("librdkafka-2.16.0", 90_000, 60 + 3),
        ("franz-go-1.22.2", 10_000, 60 + 10),
        ("franz-go-1.21.3", 90_000, 60 + 10),
        ("sarama-1.61.1", 10_000, 10),
        ("sarama-1.61.1-v3.6", 90_000, 90),
        ("aiokafka-0.14.0", 10_000, 10),
        ("aiokafka-0.14.0", 90_000, 90),
        ("kafkajs-2.2.4", 10_000, 60 + 5),
        ("kafkajs-2.2.4", 90_000, 90),
    ],
)
def test_how_long_a_member_waits_for_the_answer_to_its_join(
    client: str | None, request_timeout_ms: int, seconds: int
) -> None:
    """As the clients do behind a proxy that swallows the answer; then they join again.

    The answer leaves when the initial delay of three seconds is over. Who asks later than the
    session lasts is no longer in the group, and its first round waits once more.
    """
    found = owned_from(alone(client, request_timeout_ms), 2500)
    again = INITIAL if seconds > SESSION else 0
    assert found == pytest.approx(seconds + again, abs=A_MOMENT)


@pytest.mark.parametrize(
    ("client", "request_timeout_ms", "seconds"),
    [
        (None, 10_000, 10),
        (None, 90_000, SESSION),
        ("java-4.4.0", 90_000, SESSION),
        ("kafka-python-3.0.12", 10_000, 10),
        ("kafka-python-3.0.12", 90_000, 90),
        ("librdkafka-2.16.0", 10_000, SESSION + 3),
        ("librdkafka-2.16.0", 90_000, SESSION + 3),
        ("franz-go-1.22.2", 10_000, 60),
        ("franz-go-1.21.3", 90_000, 60),
        ("sarama-1.61.1", 10_000, 10),
        ("sarama-1.61.1-v3.6", 90_000, 90),
        ("aiokafka-0.14.0", 10_000, 10),
        ("aiokafka-0.14.0", 90_000, 90),
        ("kafkajs-2.2.4", 90_000, 90),
    ],
)
def test_how_long_a_member_waits_for_its_assignment(
    client: str | None, request_timeout_ms: int, seconds: int
) -> None:
    """As the clients do behind that proxy; then they join again.

    Java's sends heartbeats meanwhile, and opens another connection when none is answered for a
    session timeout; the others send none, so that nothing else ends the wait. Who asks later than
    the session lasts is no longer in the group, and its first round waits once more.
    """
    scenario = alone(client, request_timeout_ms, append=APPEND)
    found = owned_from(scenario, 3500)
    again = INITIAL if seconds > SESSION else 0
    assert found == pytest.approx(INITIAL + seconds + again + APPEND, abs=A_MOMENT)


@pytest.mark.parametrize(
    ("client", "owned"),
    [
        ("aiokafka-0.14.0", INITIAL + 10 + APPEND),
        # the member that it was is in the group for as long as a session lasts
        ("kafkajs-2.2.4", INITIAL + APPEND + SESSION + APPEND),
    ],
)
def test_kafkajs_joins_as_a_new_member_where_it_has_had_no_assignment(
    client: str, owned: int
) -> None:
    found = owned_from(alone(client, 10_000, append=APPEND), 3500)
    assert found == pytest.approx(owned, abs=A_MOMENT)


@pytest.mark.parametrize(
    ("client", "append", "then", "beats"),
    [
        (None, 10, 0, 3),
        (None, 2, 2, 1),
        ("librdkafka-2.16.0", 10, 0, 1),
        ("librdkafka-2.16.0", 2, 0, 0),
        ("kafka-python-3.0.12", 10, 0, 1),
        ("kafka-python-3.0.12", 2, 0, 0),
        ("sarama-1.61.1", 10, 0, 1),
        ("sarama-1.61.1", 2, 0, 1),
        ("kafkajs-2.2.4", 10, 0, 1),
        ("kafkajs-2.2.4", 2, 0, 0),
        *((client, 10, 0, 0) for client in ("franz-go-1.22.2", "aiokafka-0.14.0")),
        *((client, 2, 2, 0) for client in ("franz-go-1.22.2", "aiokafka-0.14.0")),
        *((client, 2, 3, 1) for client in ("franz-go-1.22.2", "aiokafka-0.14.0")),
    ],
)
def test_who_waits_for_its_assignment_alone_sends_the_heartbeat_that_is_due_after_it(
    client: str | None, append: int, then: int, beats: int
) -> None:
    """The first one is due three seconds after the answer to the JoinGroup.

    Sarama sends one with its assignment in any case, franz-go and aiokafka an interval after it.
    """
    scenario = alone(client, 30_000, append=append)
    scenario = replace(scenario, until_ms=(INITIAL + append + then) * SECOND + 500)
    assert play(scenario).result.requests.get("Heartbeat", 0) == beats


COMES, APPENDED = 60, 5
"""When a second member joins, and how long the coordinator takes to write the assignment."""


def amid_a_round(client: str | None, **fields: Any) -> Played:
    """Play a round of two members of which the first one's answer to SyncGroup is lost.

    It hears of the round within a heartbeat interval.
    """
    two = alone(client, 30_000, append=APPENDED)
    first = replace(two.members[0], **fields)
    second = replace(first, name="c1", client=None, starts_at_ms=COMES * SECOND)
    lost = fault(FaultKind.LOSS, COMES + 9, member="c0", percent=100)
    lost = replace(lost, from_ms=(COMES + 4) * SECOND)
    return play(replace(two, members=(first, second), faults=(lost,)))


def given_up(played: Played) -> list[tuple[float, str | None]]:
    """Return when and why the first member gave up all it had, in seconds."""
    return [
        (each.at / US, each.reason)
        for each in played.changes
        if each.member_id == "c0" and not each.owned
    ]


def test_who_waits_in_vain_keeps_its_partitions_and_joins_again() -> None:
    assert given_up(amid_a_round("kafka-python-3.0.12")) == []


@pytest.mark.parametrize(
    ("client", "runs_handlers"),
    [("sarama-1.61.1", False), ("sarama-1.61.1", True), (None, True)],
)
def test_sarama_gives_up_everything_in_peace_when_it_has_waited_in_vain(
    client: str | None, *, runs_handlers: bool
) -> None:
    """`Consume` returns with that error, and every handler with it."""
    ((at, reason),) = given_up(amid_a_round(client, runs_handlers=runs_handlers))
    assert reason == "revoked"
    assert is_between(COMES + 30, at, COMES + 30 + 3 + A_MOMENT)


def test_franz_go_loses_everything_when_it_has_waited_in_vain() -> None:
    """It waits for the rebalance timeout, and its session has run out ten seconds before."""
    played = amid_a_round("franz-go-1.22.2")
    ((at, reason),) = given_up(played)
    assert reason == "lost"
    assert is_between(COMES + 60, at, COMES + 60 + 3 + A_MOMENT)
    (zombie,) = played.zombies
    assert zombie.until_us == at * US


@pytest.mark.parametrize(("session_ms", "again"), [(90_000, 1), (60_200, 0), (60_300, 1)])
def test_franz_go_asks_for_its_assignment_again_within_its_session(
    session_ms: int, again: int
) -> None:
    """A quarter of a second after it has waited for the rebalance timeout.

    Then a third round follows, for what it has to give up, or else because it joins again.
    """
    played = amid_a_round("franz-go-1.22.2", session_timeout_ms=session_ms)
    assert len(given_up(played)) == 1 - again
    assert played.result.requests["SyncGroup"] == 1 + 2 + again + 2

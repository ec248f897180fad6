"""Messages that are lost, and their connection with them: when a member notices, and asks again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.scenario import (
    Action,
    Fault,
    FaultKind,
    GroupProtocol,
    Scenario,
    Verb,
)
from tests.conftest import cases
from tests.simulation.timed.engines import require_same_run, two_are_enough
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


def alone(client: str | None, request_timeout_ms: int, *, append: int = 0) -> Scenario:
    """Return a group of one member, whose first round waits for three seconds."""
    three = group(
        CLASSIC,
        request_timeout_ms=request_timeout_ms,
        rebalance_timeout_ms=60_000,
        client=client,
    )
    broker = replace(three.broker, append_us=append * US)
    return replace(three, members=three.members[:1], broker=broker)


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
    ],
)
def test_who_does_not_get_the_answer_to_its_join_waits_as_long_as_a_rebalance_may_take(
    client: str | None, request_timeout_ms: int, seconds: int
) -> None:
    """As Java's client, librdkafka and kafka-python do behind a proxy that swallows the answer.

    The answer leaves when the initial delay of three seconds is over.
    """
    found = owned_from(alone(client, request_timeout_ms), 2500)
    assert found == pytest.approx(seconds + 3, abs=A_MOMENT)


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
    ],
)
def test_how_long_a_member_waits_for_its_assignment(
    client: str | None, request_timeout_ms: int, seconds: int
) -> None:
    """As Java's client, librdkafka and kafka-python do behind that proxy; then they join again.

    Java's sends heartbeats meanwhile, and opens another connection when none is answered for a
    session timeout; the others send none, so that nothing else ends the wait. Who asks later than
    the session lasts is no longer in the group, and its first round waits once more.
    """
    scenario = alone(client, request_timeout_ms, append=APPEND)
    found = owned_from(scenario, 3500)
    again = 3 if seconds > SESSION else 0
    assert found == pytest.approx(3 + seconds + again + APPEND, abs=A_MOMENT)


@pytest.mark.parametrize(
    ("client", "append", "beats"),
    [
        (None, 10, 3),
        ("librdkafka-2.16.0", 10, 1),
        ("librdkafka-2.16.0", 2, 0),
        ("kafka-python-3.0.12", 10, 1),
        ("kafka-python-3.0.12", 2, 0),
    ],
)
def test_who_waits_for_its_assignment_alone_sends_the_heartbeat_that_is_due_after_it(
    client: str | None, append: int, beats: int
) -> None:
    """The first one is due three seconds after the answer to the JoinGroup."""
    scenario = alone(client, 30_000, append=append)
    scenario = replace(scenario, until_ms=(3 + append) * SECOND + 500)
    assert play(scenario).result.requests.get("Heartbeat", 0) == beats


CLIENTS = (None, "java-4.4.0", "librdkafka-2.16.0", "kafka-python-3.0.12")


@st.composite
def losses(draw: st.DrawFn) -> Scenario:
    """Members of three clients, and of none, wait seconds for an assignment, and lose messages."""
    clients = draw(st.lists(st.sampled_from(CLIENTS), min_size=3, max_size=6))
    names = [f"c{number}" for number in range(len(clients))]
    one = alone(None, draw(st.sampled_from([3000, 10_000, 90_000])), append=draw(st.integers(0, 9)))
    members = tuple(
        replace(one.members[0], name=name, client=client, session_timeout_ms=10_000)
        for name, client in zip(names, clients, strict=True)
    )
    stops = Action(at_ms=30 * SECOND, do=Verb.STOP, member=names[-1])
    faults = []
    for name in draw(st.lists(st.sampled_from(names), max_size=4, unique=True)):
        begins = draw(st.integers(2, 50)) * SECOND
        kind = draw(st.sampled_from([FaultKind.LOSS, FaultKind.CUT]))
        percent = 100 * (kind is FaultKind.LOSS)
        until_ms = begins + draw(st.integers(1, 20)) * SECOND
        faults.append(
            Fault(kind=kind, member=name, from_ms=begins, until_ms=until_ms, percent=percent)
        )
    return replace(
        one,
        until_ms=200 * SECOND,
        topics={"t": 12},
        members=members,
        plan=(stops,),
        faults=tuple(faults),
    )


@cases(20)
@given(losses())
def test_a_run_with_losses_is_the_same_by_events_alone(scenario: Scenario) -> None:
    with two_are_enough():
        require_same_run(scenario)

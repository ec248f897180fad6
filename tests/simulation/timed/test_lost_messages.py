"""Messages that are lost, and their connection with them: when a member notices, and asks again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assignors.simulation.timed.scenario import Fault, FaultKind, GroupProtocol
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


def asked_again_after(request_timeout_ms: int, client: str | None) -> float:
    """Return when a member owns something whose JoinGroup was answered to nobody, in seconds."""
    lost = Fault(kind=FaultKind.LOSS, member="c0", from_ms=2000, until_ms=4000, percent=100)
    three = group(
        CLASSIC,
        [lost],
        request_timeout_ms=request_timeout_ms,
        rebalance_timeout_ms=60_000,
        client=client,
    )
    played = play(replace(three, members=three.members[:1]))
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
    found = asked_again_after(request_timeout_ms, client)
    assert found == pytest.approx(seconds + 3, abs=A_MOMENT)

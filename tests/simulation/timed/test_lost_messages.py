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


def test_who_does_not_get_the_answer_to_its_join_waits_as_long_as_a_rebalance_may_take() -> None:
    """As Java's client, librdkafka and kafka-python do behind a proxy that swallows the answer.

    The answer leaves when the initial delay of three seconds is over.
    """
    lost = Fault(kind=FaultKind.LOSS, member="c0", from_ms=2000, until_ms=4000, percent=100)
    alone = group(CLASSIC, [lost], request_timeout_ms=10_000, rebalance_timeout_ms=60_000)
    played = play(replace(alone, members=alone.members[:1]))
    first = min(each.at for each in played.changes if each.owned)
    assert first / US == pytest.approx(60 + 5 + 3, abs=A_MOMENT)

"""What a session remembers of the rounds it led, and what it drops."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from assignors import Cluster
from assignors.clients.common.client_session import ClientSession, new_session
from assignors.leader import Memory
from wire import Subscription, decode_assignment, encode_subscription

LOGGER = logging.getLogger("test")
CLUSTER = Cluster.of({"t": 4})
SESSION_S = 45.0
SILENT = encode_subscription(Subscription(version=0, topics=("t",)))
"""It does not report what it owns: only the leader's memory does."""


def session() -> ClientSession:
    return new_session("cooperative-sticky", logger=LOGGER)


def led(
    leader: ClientSession, joined: int | None, claim: Subscription | None = None
) -> dict[str, dict[str, tuple[int, ...]]]:
    """One round led, applied and confirmed; what each member is given."""
    generation = -1 if joined is None else joined - 1
    blob = leader.join(["t"], owned=leader.membership.assigned, generation=generation)
    blobs = {"me": blob, "other": SILENT if claim is None else encode_subscription(claim)}
    answer = leader.lead(CLUSTER, blobs, instance_ids={}, joined=joined)
    given = {
        name: dict(decode_assignment(found).require().partitions) for name, found in answer.items()
    }
    leader.applied(given["me"], -1 if joined is None else joined)
    leader.confirmed()
    return given


def led_by_another(leader: ClientSession, generation: int) -> None:
    """One round in which our member only gets its part."""
    leader.join(["t"], owned=leader.membership.assigned, generation=generation - 1)
    leader.applied(leader.membership.assigned, generation)


def test_a_plan_is_not_relied_on_after_a_round_that_another_member_led() -> None:
    """Without numbers of generations nothing else shows that there was such a round."""
    leader = session()
    for _ in range(3):
        last = led(leader, None)
    assert len(last["other"]["t"]) == 2
    led_by_another(leader, -1)
    assert led(leader, None)["other"] == {}, "the other leader may have given it something else"


def test_a_follow_up_is_due_again_after_a_round_that_another_member_led() -> None:
    """The same claims were met before; whether the other leader's round left them is not known."""
    ghost = Subscription(topics=("u",), owned={"t": (3,)}, generation=-1)
    leader = session()
    must_follow_up: list[bool] = []
    leader.on_round = lambda led_round: must_follow_up.append(led_round.must_follow_up)
    for joined in (1, 2, 3):
        led(leader, joined, ghost)
    assert must_follow_up[1:] == [True, False]
    led_by_another(leader, 4)
    led(leader, 5, ghost)
    assert must_follow_up[-1]


def test_a_round_is_started_once_for_partitions_that_nobody_revokes() -> None:
    """As where a static member restarted before it knew (KIP-345): it joins no second time."""

    def keeps(joined: int, *numbers: int) -> Subscription:
        return Subscription(topics=("t",), owned={"t": numbers}, generation=joined - 1)

    leader = session()
    led(leader, 1, keeps(1, 0, 1, 2, 3))
    assert leader.wait_s(SESSION_S) == SESSION_S, "two of the four wait"
    assert leader.must_move()
    assert leader.wait_s(SESSION_S) is None, "it is asked for"
    led(leader, 2, keeps(2, 0, 1, 2, 3))
    assert leader.wait_s(SESSION_S) == SESSION_S
    assert not leader.must_move(), "another round would end as this one did"
    assert leader.wait_s(SESSION_S) is None
    led(leader, 3, keeps(3, 0, 1, 2))
    assert leader.must_move(), "the claims have changed"
    led(leader, 4, keeps(4, 0, 1))
    assert leader.wait_s(SESSION_S) is None, "nothing waits"
    assert not leader.must_move()


def test_nothing_is_started_for_partitions_that_wait_once_another_round_begins() -> None:
    leader = session()
    led(leader, 1, Subscription(topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=0))
    leader.join(["t"], owned=leader.membership.assigned, generation=1)
    assert leader.wait_s(SESSION_S) is None
    assert not leader.must_move()


@pytest.mark.parametrize("name", ["java/sticky", "optimal/cooperative-sticky"])
def test_what_an_assignor_remembers_is_kept_where_another_member_leads(name: str) -> None:
    """Java's sticky assignor is one object for as long as its consumer lives."""
    leader = new_session(name, logger=LOGGER)
    led(leader, 1)
    state = leader.memory.state
    led_by_another(leader, 2)
    assert leader.memory == replace(Memory(), state=state)

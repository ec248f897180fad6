"""What a member consumes, commits and runs after a step: tried for every small step."""

from __future__ import annotations

from itertools import product

from assignors.simulation.timed.monitors.rules import (
    ASSIGNED,
    REVOKED,
    Consumption,
    changes_consumption,
    consumption_after,
    without,
)
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Cancel,
    Command,
    Consume,
    Fired,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
)
from wire import TopicPartitions

POLL = ("poll",)
HELD: tuple[TopicPartitions, ...] = ({}, {"t": (0,)}, {"t": (0, 1)}, {"t": (1,), "u": (0,)})
ANSWER = Answered(1, HeartbeatResponse(ErrorCode.NONE))
EVENTS = (*Command, ANSWER, Fired(POLL, 0), Fired(REVOKED, 0), Fired(ASSIGNED, 0))
KEYS = (POLL, REVOKED, ASSIGNED)
EFFECTS: tuple[Consume | Schedule | Cancel | Send, ...] = (
    Send(1, Heartbeat("a", None, 3)),
    *(Consume(held, reason) for held in HELD for reason in ("revoked", "assigned", "lost")),
    *(Schedule(key, 1) for key in KEYS),
    *(Cancel(key) for key in KEYS),
)
BEFORE = [
    Consumption(consumed=held, callbacks=frozenset(callbacks))
    for held in HELD
    for callbacks in ((), (REVOKED,), (ASSIGNED,))
]


def test_a_step_of_which_nothing_is_expected_changes_nothing() -> None:
    for before, event, effect in product(BEFORE, EVENTS, EFFECTS):
        if not changes_consumption(before, event, [effect]):
            assert consumption_after(before, event, [effect]) is before, (before, event, effect)


def test_only_commands_callbacks_and_consumption_are_expected_to_change_anything() -> None:
    for before in BEFORE:
        for effect in (Schedule(POLL, 1), Cancel(POLL)):
            assert not changes_consumption(before, Fired(POLL, 0), [effect])
        for key in (REVOKED, ASSIGNED):
            assert changes_consumption(before, Fired(key, 0), []) is (key in before.callbacks)
            assert changes_consumption(before, Fired(POLL, 0), [Cancel(key)])


def test_what_is_left_is_what_is_not_taken() -> None:
    for held, taken in product(HELD, HELD):
        pairs = {(topic, number) for topic in held for number in held[topic]}
        gone = {(topic, number) for topic in taken for number in taken[topic]}
        left = without(held, taken)
        assert {(topic, number) for topic in left for number in left[topic]} == pairs - gone
        assert all(left.values())
        assert taken or left is held

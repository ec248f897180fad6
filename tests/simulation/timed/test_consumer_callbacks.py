"""When a member of a KIP-848 group runs its callbacks and reports: as Java's client does.

Real members were watched with five seconds between two polls (`tests/lab/calibrate`): the
callback for what is given up runs in the next poll, that for what is new in the one after it, even
where nothing is new, and the report goes out only then.
"""

from __future__ import annotations

from collections.abc import Iterable

from assignors.simulation.timed.protocols.effects import (
    Answered,
    Command,
    Consume,
    Fired,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient, step
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
)
from assignors.simulation.timed.scenario import MemberConfig
from wire import TopicPartitions

POLL_MS, WAIT_US = 5000, 1_234_000


def member(auto_commit_ms: int = 0) -> ConsumerClient:
    """Return a member that has joined, whose next poll is always `WAIT_US` away."""
    config = MemberConfig(
        name="c",
        topics=("t",),
        poll_ms=POLL_MS,
        poll_spread_ms=0,
        revoke_ms=20,
        assign_ms=5,
        auto_commit_ms=auto_commit_ms,
    )
    state = ConsumerClient(
        config=config,
        new_id=lambda name: f"{name}-id",
        draw=lambda _purpose, _limit: WAIT_US,
        heartbeat_interval_ms=5000,
    )
    step(state, Command.START)
    return state


def assign(state: ConsumerClient, partitions: TopicPartitions) -> list[tuple[str, int]]:
    """Answer the heartbeat that is under way; return the timers that start, but for the next."""
    assert state.in_flight is not None
    response = ConsumerHeartbeatResponse(ErrorCode.NONE, "c-id", 1, partitions)
    return timers(step(state, Answered(state.in_flight, response)))


def timers(effects: Iterable[object]) -> list[tuple[str, int]]:
    return [
        (each.key[0], each.after_us)
        for each in effects
        if isinstance(each, Schedule) and each.key != ("heartbeat",)
    ]


def fire(state: ConsumerClient, name: str) -> tuple[list[object], list[tuple[str, int]]]:
    """Let a timer run out; return what else happens, and the timers that start."""
    effects: list[object] = list(step(state, Fired((name,), 0)))
    return [each for each in effects if isinstance(each, Consume | Send)], timers(effects)


def test_what_is_new_is_consumed_from_the_next_poll_on_and_reported_then() -> None:
    state = member()
    assert assign(state, {"t": (0, 1)}) == [("take", WAIT_US)]
    assert fire(state, "take") == ([], [("assigned", 5000)])
    (consumed, report), then = fire(state, "assigned")
    assert consumed == Consume({"t": (0, 1)}, "assigned")
    assert isinstance(report, Send)
    assert isinstance(report.request, ConsumerHeartbeat)
    assert report.request.owned == {"t": (0, 1)}
    assert then == []


def test_what_is_given_up_is_reported_one_poll_after_its_callback() -> None:
    state = member()
    assign(state, {"t": (0, 1)})
    fire(state, "take")
    fire(state, "assigned")
    assert assign(state, {"t": (0,)}) == [("poll", WAIT_US)]
    assert fire(state, "poll") == ([Consume({"t": (0,)}, "revoked")], [("revoked", 20_000)])
    assert fire(state, "revoked") == ([], [("take", POLL_MS * 1000)])
    (report,), then = fire(state, "take")
    assert isinstance(report, Send)
    assert isinstance(report.request, ConsumerHeartbeat)
    assert report.request.owned == {"t": (0,)}
    assert then == []


def test_an_assignment_that_comes_meanwhile_waits_for_the_report() -> None:
    state = member()
    assign(state, {"t": (0, 1)})
    fire(state, "take")
    step(state, Fired(("heartbeat",), 0))
    assert assign(state, {"t": (1, 2)}) == []
    (consumed, _), then = fire(state, "assigned")
    assert consumed == Consume({"t": (0, 1)}, "assigned")
    assert then == [("poll", WAIT_US)]


def reported(effects: Iterable[object]) -> list[TopicPartitions | None]:
    """Return what heartbeats say the member owns."""
    return [
        each.request.owned
        for each in effects
        if isinstance(each, Send) and isinstance(each.request, ConsumerHeartbeat)
    ]


def test_a_change_that_is_taken_back_before_the_poll_is_acknowledged_at_once() -> None:
    """`test_consumer_members_live` watches a real member do this, and the next."""
    state = member(auto_commit_ms=5000)
    assign(state, {"t": (0,)})
    fire(state, "poll")
    fire(state, "assigned")
    assert assign(state, {"t": (0, 1)}) == [("poll", WAIT_US)]
    step(state, Fired(("heartbeat",), 0))
    assert state.in_flight is not None
    taken_back = ConsumerHeartbeatResponse(ErrorCode.NONE, "c-id", 3, {"t": (0,)})
    assert reported(step(state, Answered(state.in_flight, taken_back))) == [{"t": (0,)}]
    assert fire(state, "poll") == ([], [])
    assert state.is_at_rest


def test_a_change_that_is_taken_back_after_the_member_set_out_is_made_and_undone() -> None:
    state = member()
    assign(state, {"t": (0,)})
    fire(state, "take")
    fire(state, "assigned")
    assert assign(state, {"t": (0, 1)}) == [("take", WAIT_US)]
    step(state, Fired(("heartbeat",), 0))
    assert assign(state, {"t": (0,)}) == []
    fire(state, "take")
    effects, then = fire(state, "assigned")
    assert reported(effects) == [{"t": (0, 1)}]
    assert then == [("poll", WAIT_US)]


def test_a_first_assignment_of_nothing_is_called_back_for_and_acknowledged() -> None:
    """A broker's newcomer does: its callback has no partitions, and its next heartbeat is late."""
    state = member()
    assert assign(state, {}) == [("take", WAIT_US)]
    assert not state.is_at_rest
    effects, then = fire(state, "take")
    assert (reported(effects), then) == ([{}], [])
    assert assign(state, {}) == []
    assert state.is_at_rest


def test_an_assignment_that_answers_the_heartbeat_under_way_is_acknowledged_alone() -> None:
    """Java's client forgets that it has to acknowledge the one before it: RECONCILING again."""
    state = member()
    assign(state, {"t": (0,)})
    step(state, Fired(("heartbeat",), 0))
    fire(state, "take")
    effects, _ = fire(state, "assigned")
    assert reported(effects) == []
    assert state.in_flight is not None
    another = ConsumerHeartbeatResponse(ErrorCode.NONE, "c-id", 2, {"t": (0, 1)})
    then = step(state, Answered(state.in_flight, another))
    assert (reported(then), timers(then)) == ([], [("take", WAIT_US)])
    assert reported(step(state, Fired(("heartbeat",), 0))) == [{"t": (0,)}]


def test_an_answer_without_an_assignment_lets_a_member_acknowledge() -> None:
    state = member()
    assign(state, {"t": (0,)})
    step(state, Fired(("heartbeat",), 0))
    fire(state, "take")
    fire(state, "assigned")
    assert state.in_flight is not None
    nothing_new = ConsumerHeartbeatResponse(ErrorCode.NONE, "c-id", 1, None)
    assert reported(step(state, Answered(state.in_flight, nothing_new))) == [{"t": (0,)}]

"""Clients that divide their work among threads."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    SECOND,
    SETTLED_MS,
    Figures,
    Story,
    group,
    planned,
    with_members,
)
from assignors.simulation.timed.scenario import (
    Action,
    ClientModel,
    Fault,
    FaultKind,
    ProcessingConfig,
    Scenario,
    Verb,
)

STALL_MS = 60_000
"""Longer than a session."""
FROM_MS = SETTLED_MS + 10_000
AMID_MS = SETTLED_MS + 4000


def long_poll_in_one_thread() -> Scenario:
    """Let one of ten members take a minute for its records, all work of its client in poll.

    No heartbeat leaves meanwhile, so after 45 seconds its session is over and its partitions go to
    others, who process its records again. With `--client heartbeat_thread` or `--client
    background_thread` nothing happens: another thread sends the heartbeats.
    """
    return _stalled(_records(_group(ClientModel.IN_POLL)), FaultKind.LONG_POLL)


def stalled_background_thread() -> Scenario:
    """Let the background thread of one of ten clients stand still for a minute.

    Its application polls on and gets records that were fetched, but no heartbeat and no commit
    leaves. The member is evicted, and learns it only when the thread goes on: until then two
    process its partitions. A client with all its work in poll has no such thread.
    """
    return _stalled(_records(_group(ClientModel.BACKGROUND_THREAD)), FaultKind.STALLED_THREAD)


def application_stall_of_each_model() -> Scenario:
    """Stall the applications of three members for a minute, one with each client model.

    The one whose client does everything in poll is evicted. The others stay: what their members
    consume waits for them, and nobody else is given it before `max.poll.interval.ms` is over.
    """
    scenario = _group(None, count=3)
    members = tuple(
        replace(each, client_model=model)
        for each, model in zip(scenario.members, ClientModel, strict=True)
    )
    return replace(
        scenario,
        members=members,
        until_ms=FROM_MS + 3 * STALL_MS,
        faults=tuple(
            Fault(
                kind=FaultKind.LONG_POLL,
                member=each.name,
                from_ms=FROM_MS,
                until_ms=FROM_MS + STALL_MS,
            )
            for each in members
        ),
    )


def commit_in_a_callback() -> Scenario:
    """Let a member join a group whose members commit in their callbacks, commits taking a second.

    The callback for revoked partitions lasts until the coordinator has answered, and only then the
    member reports or joins again: partitions are handed over later, and no record is processed
    twice.
    """
    scenario = _records(_group(ClientModel.BACKGROUND_THREAD))
    slow = replace(scenario, broker=replace(scenario.broker, append_us=1_000_000))
    return _with_newcomer(slow)


def close_amid_a_rebalance() -> Scenario:
    """Close a member while the group waits for others to join again.

    Java's client of the classic protocol calls what it owns lost then, not revoked, so the
    application does not commit, and its records since the last commit are processed again. A
    background thread knows its epoch: its callback is that for revoked partitions, and commits.
    """
    scenario = _with_newcomer(_records(_group(ClientModel.HEARTBEAT_THREAD, poll_ms=10_000)))
    quick = tuple(
        replace(each, poll_ms=100) if each.name == "c1" else each for each in scenario.members
    )
    scenario = replace(scenario, members=quick)
    stop = Action(at_ms=AMID_MS, do=Verb.STOP, member="c1")
    return planned(scenario, (*scenario.plan, stop))


def handler_that_does_not_return() -> Scenario:
    """Let a handler of one of ten Sarama members not return for two minutes, eager, and one join.

    A rebalance ends the session of every member, and who has not seen all its handlers return joins
    no round. Nine members wait for the tenth with nothing to do, for `Consumer.Group.Rebalance
    .Timeout`, a minute. Then the round ends without it, and its handler goes on with a record of a
    partition that somebody else has by now.
    """
    return _with_stuck_handler(EAGER)


def handler_that_does_not_return_cooperative() -> Scenario:
    """Let a handler not return for two minutes in a cooperative group of Sarama's, and one join.

    The session survives, and only handlers of partitions that move have to return. So everything
    else is processed on, by the member with that handler too, and no more than the partitions that
    it gives up wait for it. After a minute it ends its session, and then waits for that handler all
    the same.
    """
    return _with_stuck_handler(COOPERATIVE)


TWICE: Figures = {
    "moves": 20,
    "double_partition_ms": (100 * SECOND, 300 * SECOND),
    "reprocessed_records": (10_000, 16_000),
}
"""Ten partitions go and come back, and two members process them meanwhile."""
STORIES = {
    "long-poll-in-one-thread": Story(
        scenario=long_poll_in_one_thread,
        expected={CLASSIC: {"rounds": 3}, CONSUMER: {"rounds": 2}},
        everywhere=TWICE,
    ),
    "stalled-background-thread": Story(
        scenario=stalled_background_thread,
        expected={CONSUMER: {"rounds": 2}, CLASSIC: {"rounds": 3}},
        everywhere=TWICE,
    ),
    "application-stall-of-each-model": Story(
        scenario=application_stall_of_each_model,
        expected={
            CLASSIC: {
                "rounds": (2, 4),
                "moves": (1, 70),
                "double_partition_ms": (0, 60 * SECOND),
            },
            CONSUMER: {
                "rounds": 2,
                "moves": (60, 70),
                "double_partition_ms": (20 * SECOND, 60 * SECOND),
            },
        },
    ),
    "commit-in-a-callback": Story(
        scenario=commit_in_a_callback,
        expected={
            CONSUMER: {"rounds": 1, "longest_gap_ms": (2.5 * SECOND, 13 * SECOND)},
            CLASSIC: {"rounds": 2, "longest_gap_ms": (2.5 * SECOND, 8 * SECOND)},
        },
        everywhere={"moves": 9, "reprocessed_records": 0, "fenced_commits": 0},
    ),
    "handler-that-does-not-return": Story(
        scenario=handler_that_does_not_return,
        expected={
            CLASSIC: {
                "rounds": 2,
                "gaps": 219,
                "longest_gap_ms": (59 * SECOND, 61 * SECOND),
                "unavailable_partition_ms": (6500 * SECOND, 6600 * SECOND),
                "double_partition_ms": (59 * SECOND, 61 * SECOND),
            }
        },
    ),
    "handler-that-does-not-return-cooperative": Story(
        scenario=handler_that_does_not_return_cooperative,
        expected={
            CLASSIC: {
                "rounds": 4,
                "moves": 30,
                "gaps": (19, 25),
                "unavailable_partition_ms": (560 * SECOND, 580 * SECOND),
                "double_partition_ms": (59 * SECOND, 61 * SECOND),
            }
        },
    ),
    "close-amid-a-rebalance": Story(
        scenario=close_amid_a_rebalance,
        expected={
            CLASSIC: {"rounds": 1, "moves": 10, "reprocessed_records": (5000, 8000)},
            CONSUMER: {"rounds": 2, "moves": (15, 20), "reprocessed_records": 0},
        },
    ),
}


def _with_stuck_handler(assignor: str) -> Scenario:
    """Return a group of members with handlers, which somebody joins; one handler takes long."""
    members = with_members(
        group(partitions=110, assignors=(assignor,)),
        runs_handlers=True,
        rebalance_timeout_ms=STALL_MS,
    )
    fault = Fault(
        kind=FaultKind.LONG_POLL,
        member="c1",
        from_ms=SETTLED_MS,
        until_ms=SETTLED_MS + 2 * STALL_MS,
    )
    return replace(_with_newcomer(members), faults=(fault,), until_ms=SETTLED_MS + 6 * STALL_MS)


def _group(model: ClientModel | None, *, count: int = 10, poll_ms: int = 1000) -> Scenario:
    """Return a settled group whose clients all have this model."""
    return with_members(group(count), client_model=model, poll_ms=poll_ms)


def _records(scenario: Scenario) -> Scenario:
    """Return the scenario with records, committed in callbacks alone."""
    return replace(scenario, processing=ProcessingConfig(records_per_second=10))


def _stalled(scenario: Scenario, kind: FaultKind) -> Scenario:
    fault = Fault(kind=kind, member="c1", from_ms=FROM_MS, until_ms=FROM_MS + STALL_MS)
    return replace(scenario, faults=(fault,), until_ms=FROM_MS + 3 * STALL_MS)


def _with_newcomer(scenario: Scenario) -> Scenario:
    newcomer = replace(scenario.members[0], name="c10", starts_at_ms=None)
    scenario = replace(scenario, members=(*scenario.members, newcomer))
    return planned(scenario, [Action(at_ms=SETTLED_MS, do=Verb.START, member="c10")])

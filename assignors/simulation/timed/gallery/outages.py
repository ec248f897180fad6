"""Networks and brokers that do not answer, and leaders that do not."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    PUSH,
    SECOND,
    SETTLED_MS,
    Story,
    group,
    planned,
    restarts,
    with_members,
)
from assignors.simulation.timed.scenario import (
    Action,
    Direction,
    Fault,
    FaultKind,
    ProcessingConfig,
    Scenario,
    Verb,
)

FROM_MS = SETTLED_MS + 10_000


def coordinator_away() -> Scenario:
    """Cut everybody off from the coordinator for 30 seconds: its broker restarts slowly.

    Members go on with what they have, and nobody's session is over. Nothing is rebalanced.
    """
    return _lasting(group(), Fault(kind=FaultKind.CUT, from_ms=FROM_MS, until_ms=FROM_MS + 30_000))


def coordinator_away_too_long() -> Scenario:
    """Cut everybody off from the coordinator for two minutes, longer than the session timeout.

    The coordinator evicts them all, one by one, and nobody is there to take over. Each goes on
    consuming alone, as nobody can hear of a new owner; when the cut is over all join again. Under
    the push protocol brokers fence every one of them: what makes zombies harmless makes this worse.
    """
    return _lasting(group(), Fault(kind=FaultKind.CUT, from_ms=FROM_MS, until_ms=FROM_MS + 120_000))


def answers_lost() -> Scenario:
    """Let no answer come back to one member of ten for two minutes, while its requests arrive.

    Heartbeats of a classic member keep its session until it has waited `request.timeout.ms` for
    the first answer and opens another connection, which needs both directions. A member of KIP-848
    sends no heartbeat before the last one is answered.
    """
    cut = Fault(
        kind=FaultKind.CUT,
        member="c3",
        from_ms=FROM_MS,
        until_ms=FROM_MS + 120_000,
        direction=Direction.ANSWERS,
    )
    return _lasting(group(), cut)


def requests_twice() -> Scenario:
    """Restart ten members over a network that delivers every second request twice.

    A second heartbeat, SyncGroup or commit changes nothing. But the second JoinGroup of a newcomer
    is given a member id of its own (KIP-394) that nobody joins with: a classic rebalance waits for
    it until the session timeout. Under KIP-848 members choose their ids, and join once.
    """
    busy = replace(
        restarts(with_members(group(), auto_commit_ms=SECOND)),
        processing=ProcessingConfig(records_per_second=10),
    )
    twice = Fault(kind=FaultKind.DUPLICATE, from_ms=0, until_ms=busy.until_ms, percent=50)
    return replace(busy, faults=(twice,))


def leader_never_syncs() -> Scenario:
    """Let a member leave while the leader's assignor hangs, under an eager assignor.

    Heartbeats go on, so the leader is alive for the coordinator. Everybody else has given up its
    partitions and waits for an assignment, until the leader is removed for not syncing within the
    rebalance timeout, a minute here, with the defaults five.
    """
    return _hanging(EAGER)


def leader_never_syncs_cooperative() -> Scenario:
    """Let a member leave while the leader's assignor hangs, under cooperative-sticky.

    The others wait as long, but go on consuming: what stops is the share of the one that left. The
    leader itself is removed, and a zombie until its assignor returns.
    """
    return _hanging(COOPERATIVE)


def slow_network() -> Scenario:
    """Restart ten members over a network that takes 300 ms longer for every message.

    A classic rebalance is a dozen messages one after the other, and everybody waits for the last
    of them. Under KIP-848 what moves waits for its own messages only.
    """
    slow = restarts(group())
    delay = Fault(kind=FaultKind.DELAY, from_ms=0, until_ms=slow.until_ms, by_ms=300)
    return replace(slow, faults=(delay,))


def lossy_network() -> Scenario:
    """Restart ten members while one message of two hundred is lost, and its connection with it.

    A member asks again when its request's time is over: `request.timeout.ms`, half a minute, for a
    SyncGroup, the rebalance timeout and five seconds for a JoinGroup. The coordinator does not wait
    so long: it drops who has been silent for a session timeout, so a lost JoinGroup holds up a
    classic round for 45 seconds, and its member may find out minutes later that it was dropped.
    """
    lossy = restarts(group())
    loss = Fault(kind=FaultKind.LOSS, from_ms=SETTLED_MS, until_ms=lossy.until_ms, percent=0.5)
    return replace(lossy, faults=(loss,), until_ms=lossy.until_ms + 400_000)


def slow_callback() -> Scenario:
    """Let a member join a group in which one member's callback takes twenty seconds.

    The callback for revoked partitions flushes what was processed. A classic group waits for it
    with its second round; under KIP-848 only the partitions that this member gives up wait.
    """
    growing = group(count=11, partitions=110)
    *others, last = growing.members
    late = replace(growing, members=(*others, replace(last, starts_at_ms=None)))
    fault = Fault(
        kind=FaultKind.SLOW_CALLBACK,
        member="c3",
        from_ms=SETTLED_MS,
        until_ms=SETTLED_MS + 60_000,
        by_ms=20_000,
    )
    start = Action(at_ms=SETTLED_MS, do=Verb.START, member=last.name)
    return replace(planned(late, [start]), faults=(fault,))


def hanging_transaction() -> Scenario:
    """Let a member leave while a producer's transaction has committed offsets and does not end.

    Those that keep their partitions notice nothing. Who gets one of the tenth that moves may not
    begin: its offset is not stable until the transaction is aborted. The group is balanced, every
    heartbeat is answered, and records pile up on ten partitions.
    """
    members = with_members(group(), auto_commit_ms=SECOND)
    busy = replace(members, processing=ProcessingConfig(records_per_second=10))
    stop = Action(at_ms=FROM_MS, do=Verb.STOP, member="c9")
    hanging = Fault(
        kind=FaultKind.HANGING_TRANSACTION, from_ms=SETTLED_MS, until_ms=FROM_MS + 120_000
    )
    return replace(planned(busy, [stop], settles_ms=60_000), faults=(hanging,))


STORIES: dict[str, Story] = {
    "hanging-transaction": Story(
        scenario=hanging_transaction,
        everywhere={"moves": 10, "gaps": 10, "lag_records": (6500, 8500)},
        expected={CLASSIC: {}, CONSUMER: {}, PUSH: {}},
    ),
    "coordinator-away": Story(
        scenario=coordinator_away,
        everywhere={"rounds": 0, "moves": 0, "gaps": 0},
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "coordinator-away-too-long": Story(
        scenario=coordinator_away_too_long,
        expected={
            CLASSIC: {"rounds": 2, "gaps": 100, "longest_gap_ms": (6 * SECOND, 6.2 * SECOND)},
            CONSUMER: {"rounds": 20, "moves": 180, "longest_gap_ms": (0, 5.2 * SECOND)},
            PUSH: {"rounds": 20, "longest_gap_ms": (70 * SECOND, 80 * SECOND)},
        },
    ),
    "answers-lost": Story(
        scenario=answers_lost,
        everywhere={"moves": 20, "gaps": 10},
        expected={
            CLASSIC: {"rounds": 3, "double_partition_ms": (400 * SECOND, 500 * SECOND)},
            CONSUMER: {"rounds": 2, "double_partition_ms": (700 * SECOND, 750 * SECOND)},
        },
    ),
    "requests-twice": Story(
        scenario=requests_twice,
        everywhere={"duplicate_records": 0},
        expected={
            CLASSIC: {"longest_gap_ms": (30 * SECOND, 150 * SECOND)},
            CONSUMER: {"rounds": 20, "moves": 200, "longest_gap_ms": (0, 6 * SECOND)},
        },
    ),
    "leader-never-syncs": Story(
        scenario=leader_never_syncs,
        expected={CLASSIC: {"gaps": 200, "longest_gap_ms": (60 * SECOND, 65 * SECOND)}},
    ),
    "leader-never-syncs-cooperative": Story(
        scenario=leader_never_syncs_cooperative,
        expected={
            CLASSIC: {
                "gaps": (15, 30),
                "longest_gap_ms": (60 * SECOND, 65 * SECOND),
                "double_partition_ms": (800 * SECOND, 1000 * SECOND),
            }
        },
    ),
    "slow-network": Story(
        scenario=slow_network,
        everywhere={"moves": 200, "gaps": 200},
        expected={
            CLASSIC: {"rounds": 30, "longest_gap_ms": (4 * SECOND, 6 * SECOND)},
            CONSUMER: {"rounds": 20, "longest_gap_ms": (5 * SECOND, 7 * SECOND)},
            PUSH: {"rounds": 20, "longest_gap_ms": (1 * SECOND, 2 * SECOND)},
        },
    ),
    "lossy-network": Story(
        scenario=lossy_network,
        everywhere={"double_partition_ms": (0, 8000 * SECOND)},
        expected={
            CLASSIC: {"longest_gap_ms": (10 * SECOND, 150 * SECOND)},
            CONSUMER: {"longest_gap_ms": (5 * SECOND, 150 * SECOND)},
        },
    ),
    "slow-callback": Story(
        scenario=slow_callback,
        everywhere={"moves": 10, "gaps": 10},
        expected={
            CLASSIC: {"unavailable_partition_ms": (190 * SECOND, 220 * SECOND)},
            CONSUMER: {"unavailable_partition_ms": (20 * SECOND, 120 * SECOND)},
        },
    ),
}


def _hanging(assignor: str) -> Scenario:
    """Return a group from which a member leaves while the leader cannot compute an assignment."""
    members = tuple(
        replace(each, rebalance_timeout_ms=60_000) for each in group(assignors=(assignor,)).members
    )
    stop = Action(at_ms=FROM_MS, do=Verb.STOP, member="c9")
    planned_ = planned(replace(group(), members=members), [stop], settles_ms=240_000)
    hang = Fault(
        kind=FaultKind.SLOW_ASSIGNOR,
        member="c0",
        from_ms=SETTLED_MS,
        until_ms=planned_.until_ms,
        by_ms=150_000,
    )
    return replace(planned_, faults=(hang,))


def _lasting(scenario: Scenario, fault: Fault) -> Scenario:
    """Return the scenario with a fault, and two minutes after it to settle."""
    return replace(scenario, faults=(fault,), until_ms=fault.until_ms + 120_000)

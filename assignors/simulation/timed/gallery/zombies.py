"""Members that go on although the group has gone on without them."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    CONSUMER,
    PUSH,
    SECOND,
    SETTLED_MS,
    Story,
    group,
    planned,
    with_members,
)
from assignors.simulation.timed.scenario import (
    Action,
    Claims,
    Fault,
    FaultKind,
    ProcessingConfig,
    Scenario,
    Verb,
)

FROM_MS = SETTLED_MS + 10_000


def frozen_member() -> Scenario:
    """Let one member of ten stand still for 100 seconds: a long pause of its garbage collector.

    After 45 seconds its partitions are given to others, and it does not know. When it wakes up it
    still believes that they are its own, until its first heartbeat is answered. The ledger counts
    the whole time as double: the process holds records that it will finish. Under the push protocol
    brokers fence a member before they serve the next one.
    """
    return _lasting(group(), FaultKind.FREEZE, 100_000)


def frozen_for_a_moment() -> Scenario:
    """Let one member of ten stand still for 30 seconds: less than the session timeout.

    Nothing happens. Its records wait for half a minute, and nobody rebalances.
    """
    return _lasting(group(), FaultKind.FREEZE, 30_000)


def zombie_of_kip_447() -> Scenario:
    """Let a member that commits every five seconds stand still for 100 seconds, with records.

    The five steps of KIP-447. A member processes records; it stops before it commits them; its
    partitions go to another member; that one reads the last commit and processes the same records;
    the first one wakes up and commits. The generation in its commit is too old, so the commit is
    refused: some records are done twice, but no position is set back.
    """
    busy = _busy(group(), auto_commit_ms=5000)
    return _lasting(busy, FaultKind.FREEZE, 100_000)


def goes_on_after_eviction() -> Scenario:
    """Cut one member of ten off from its coordinator, not from its partitions, for two minutes.

    It cannot hear that it was evicted, and reads on: two members process the same records, and
    its commits reach nobody. So it was with brod (issue 649), and so it is with Java's client.
    """
    return _lasting(_busy(group(), auto_commit_ms=5000), FaultKind.CUT, 120_000)


def stops_after_eviction() -> Scenario:
    """Cut a member off for two minutes that gives up when its session must be over.

    librdkafka counts the time since the last answer, the coordinator since the last heartbeat: the
    member stops before anybody else begins. What it did since the cut is done once more, as it
    could not commit, but nothing is done by two members at a time.
    """
    watchful = _busy(group(), auto_commit_ms=5000, stops_without_answer=True)
    return _lasting(watchful, FaultKind.CUT, 120_000)


def long_poll() -> Scenario:
    """Keep the application of one member of ten busy for six minutes, between two polls.

    `max.poll.interval.ms` is five minutes. The member leaves by itself, but the application works
    on: it is a zombie for the last minute. It commits in `poll()`, so nothing of the six minutes is
    committed, and another member does all of it again.
    """
    busy = _busy(group(), auto_commit_ms=5000)
    return _lasting(busy, FaultKind.LONG_POLL, 360_000)


def stuck_application() -> Scenario:
    """Let the application of one member of ten hang in its own code, for six minutes.

    Its client sends heartbeats, so the group is at rest by all that brokers see, and a tenth of the
    records wait. After `max.poll.interval.ms`, five minutes, the client leaves and others take
    over. A client without that limit, or one that somebody else polls, never leaves.
    """
    return _lasting(_busy(group(), auto_commit_ms=5000), FaultKind.STUCK, 360_000)


def eviction_storm() -> Scenario:
    """Give all members records that keep them busy for longer than `max.poll.interval.ms`.

    Each leaves the group while it works, comes back when it is done, and by both makes the others
    rebalance. The group never rests: every few seconds somebody goes or comes. A smaller
    `max.poll.records` or a longer interval helps, and more members do not.
    """
    return replace(
        _lasting(with_members(group(), rebalance_timeout_ms=10_000), FaultKind.LONG_POLL, 15_000),
        faults=tuple(
            Fault(
                kind=FaultKind.LONG_POLL,
                member=f"c{number}",
                from_ms=SETTLED_MS + 20_000 * turn + 2000 * number,
                until_ms=SETTLED_MS + 20_000 * turn + 2000 * number + 15_000,
            )
            for turn in range(6)
            for number in range(10)
        ),
    )


def stale_claims() -> Scenario:
    """Let a member that claims its last assignment come back after it was evicted.

    It claims what others own by now, with an old generation. A leader that compares generations
    drops such claims, and nothing is withheld or moved for them.
    """
    stale = group()
    first, *others = stale.members
    stale = replace(stale, members=(replace(first, claims=Claims.STALE), *others))
    return _lasting(stale, FaultKind.FREEZE, 100_000, member="c0")


def duplicate_instance_id() -> Scenario:
    """Start a second process with the instance id of a static member that still runs.

    A classic group believes the later one and fences the first; a consumer group refuses the later
    one with UNRELEASED_INSTANCE_ID. Either way one of them ends, and a supervisor that restarts it
    begins the same again.
    """
    static = group()
    members = tuple(replace(each, instance_id=f"i-{each.name}") for each in static.members)
    twin = replace(members[3], name="twin", starts_at_ms=None)
    return planned(
        replace(static, members=(*members, twin)),
        [Action(at_ms=FROM_MS, do=Verb.START, member="twin")],
    )


def assign_in_a_live_group() -> Scenario:
    """Let somebody's script read five partitions by `assign()`, with the group id of ten members.

    It is in no group, so nobody makes room for it: two process the same records, and each of its
    commits is refused as long as the group has members. Then all of these are stopped, and the
    script's commits count: the members come back and begin where the script is. The monitor of
    double consumption reports it, as one of the two is no zombie.
    """
    busy = _busy(group(), auto_commit_ms=5000)
    script = replace(
        busy.members[0],
        name="script",
        topics=(),
        assign={"orders": tuple(range(5))},
        starts_at_ms=None,
    )
    away = [
        Action(at_ms=FROM_MS + at_ms, do=verb, member=each.name)
        for at_ms, verb in ((60_000, Verb.STOP), (90_000, Verb.START))
        for each in busy.members
    ]
    plan = [
        Action(at_ms=FROM_MS, do=Verb.START, member="script"),
        *away,
        Action(at_ms=FROM_MS + 120_000, do=Verb.STOP, member="script"),
    ]
    return planned(replace(busy, members=(*busy.members, script)), plan)


DOUBLE = (450 * SECOND, 650 * SECOND)
"""Ten partitions for about 55 seconds: from the takeover until the member wakes up."""

STORIES: dict[str, Story] = {
    "frozen-member": Story(
        scenario=frozen_member,
        everywhere={"moves": 20, "double_partition_ms": DOUBLE},
        expected={
            CLASSIC: {"rounds": 3},
            CONSUMER: {"rounds": 2},
            PUSH: {"rounds": 2, "double_partition_ms": 0},
        },
    ),
    "frozen-for-a-moment": Story(
        scenario=frozen_for_a_moment,
        everywhere={"rounds": 0, "moves": 0, "gaps": 0},
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "zombie-of-kip-447": Story(
        scenario=zombie_of_kip_447,
        everywhere={
            "fenced_commits": 1,
            "duplicate_records": 0,
            "reprocessed_records": (100, 1000),
            "double_partition_ms": DOUBLE,
        },
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "goes-on-after-eviction": Story(
        scenario=goes_on_after_eviction,
        everywhere={
            "fenced_commits": (10, 25),
            "duplicate_records": (6000, 9000),
            "double_partition_ms": (650 * SECOND, 850 * SECOND),
        },
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "stops-after-eviction": Story(
        scenario=stops_after_eviction,
        expected={CLASSIC: {"duplicate_records": 0, "gaps": 20, "moves": 20}},
    ),
    "long-poll": Story(
        scenario=long_poll,
        everywhere={
            "duplicate_records": (5000, 7000),
            "reprocessed_records": (30_000, 42_000),
            "double_partition_ms": DOUBLE,
        },
        expected={CLASSIC: {"rounds": 3}, CONSUMER: {"rounds": 2}},
    ),
    "stuck-application": Story(
        scenario=stuck_application,
        everywhere={
            "duplicate_records": 0,
            "double_partition_ms": 0,
            "longest_gap_ms": (300 * SECOND, 306 * SECOND),
        },
        expected={CLASSIC: {"rounds": 3}, CONSUMER: {"rounds": 2}, PUSH: {"rounds": 2}},
    ),
    "eviction-storm": Story(
        scenario=eviction_storm,
        expected={
            CLASSIC: {
                "rounds": (8, 30),
                "moves": (400, 800),
                "double_partition_ms": (1000 * SECOND, 2500 * SECOND),
            },
            CONSUMER: {
                "rounds": 120,
                "moves": (200, 500),
                "double_partition_ms": (50 * SECOND, 500 * SECOND),
            },
        },
    ),
    "stale-claims-after-eviction": Story(
        scenario=stale_claims,
        expected={CLASSIC: {"rounds": 3, "moves": 20, "double_partition_ms": DOUBLE}},
    ),
    "assign-in-a-live-group": Story(
        scenario=assign_in_a_live_group,
        everywhere={
            "fenced_commits": (17, 20),
            "duplicate_records": (4000, 4800),
            "double_partition_ms": (400 * SECOND, 460 * SECOND),
        },
        expected={
            CLASSIC: {"rounds": 2, "violations": (1, 20)},
            CONSUMER: {"rounds": 20, "violations": (1, 20)},
        },
    ),
    "duplicate-instance-id": Story(
        scenario=duplicate_instance_id,
        everywhere={"rounds": 0, "members_failed": 1},
        expected={
            CLASSIC: {"moves": 10, "double_partition_ms": (0, 32 * SECOND)},
            CONSUMER: {"moves": 0, "gaps": 0, "members_touched": 0},
        },
    ),
}


def _busy(scenario: Scenario, **commits: bool | int) -> Scenario:
    """Return the scenario with ten records a second for each partition, and with commits."""
    return replace(
        with_members(scenario, **commits), processing=ProcessingConfig(records_per_second=10)
    )


def _lasting(scenario: Scenario, kind: FaultKind, lasts_ms: int, *, member: str = "c3") -> Scenario:
    """Return the scenario with a fault of one member, and two minutes after it to settle."""
    until_ms = FROM_MS + lasts_ms
    fault = Fault(kind=kind, member=member, from_ms=FROM_MS, until_ms=until_ms)
    return replace(scenario, faults=(fault,), until_ms=until_ms + 120_000)

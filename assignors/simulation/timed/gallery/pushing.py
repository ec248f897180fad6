"""The push protocol of the discussion of 2014: what it saves, and what each of its parts is for."""

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
    BrokerConfig,
    Fault,
    FaultKind,
    ProcessingConfig,
    PushConfig,
    Scenario,
    Verb,
)

CREEP_SETTLED_MS = 240_000
"""Ten members that move one partition a second need two minutes to share a hundred."""


def nine_steps() -> Scenario:
    """Let a fourth member join three that have four partitions each.

    The worked example of the proposal, in nine steps: brokers first refuse the fetches of the old
    owners, these commit, and the newcomer gets one partition from each. Three partitions stop for
    the hand-over, nine never do. The other protocols move the same three, and wait for heartbeats.
    """
    return _join(group(4, 12))


def creep_with_push() -> Scenario:
    """Let a member join ten others, and move one partition a second to it.

    It takes ten seconds until the newcomer has its share, and no more than one partition stops at
    any moment: caches fill and connections open one after the other. As every move is pushed, all
    of them together stop no longer than if they moved at once.
    """
    return _join(_slow_start(group(11, 110), PushConfig(moves_per_second=1)))


def creep_without_push() -> Scenario:
    """Move one partition a second to a newcomer, and wait for heartbeats.

    A refused fetch tells the old owner soon, but the newcomer hears of each partition with its next
    heartbeat, up to three seconds later. So moving slowly does not pay: it takes as long, and each
    partition stops for seconds all the same.
    """
    push = PushConfig(moves_per_second=1, parks_heartbeats=False)
    return _join(_slow_start(group(11, 110), push))


def assignment_at_heartbeats() -> Scenario:
    """Let a member join ten others, with assignments that wait for heartbeats.

    The barrier for each partition alone saves little: what moves stops until the newcomer's next
    heartbeat, as under KIP-848. It is the push that makes the difference.
    """
    return _join(_with(group(11, 110), PushConfig(parks_heartbeats=False)))


def many_brokers() -> Scenario:
    """Let a member join ten others in a cluster of a thousand brokers.

    The coordinator waits until every live broker has acknowledged, so the slowest of a thousand
    decides. That was the objection to the proposal; it costs some milliseconds a change.
    """
    return _join(_with(group(11, 110), PushConfig(brokers=1000)))


def handover_after_commit() -> Scenario:
    """Let a member join ten others that commit every five seconds.

    The old owner commits before it sends its PartitionCommittedNotification, and the next one
    starts only then: nothing is processed twice.
    """
    return _join(_with_records(group(11, 110), PushConfig()))


def handover_before_commit() -> Scenario:
    """Let the next owner start as soon as brokers refuse the old one.

    Partitions stop for a shorter time, and what the old owner had not committed, up to five seconds
    of records, is processed again.
    """
    return _join(_with_records(group(11, 110), PushConfig(waits_for_commit=False)))


def zombie_with_lease() -> Scenario:
    """Let a member stand still for 100 seconds; brokers do not know owners, but leases end.

    A member may fetch for ten seconds after its last heartbeat. So the coordinator need not inform
    any broker: it hands over when the session is over, and by then the lease has been for long.
    """
    push = PushConfig(fences_fetches=False, lease_ms=10_000)
    return _frozen(_with(group(), push))


def zombie_without_fencing() -> Scenario:
    """Let a member stand still for 100 seconds, without leases and with brokers that let it fetch.

    What it had goes to others after 45 seconds, and it consumes its ten partitions too until it
    wakes up and hears of it.
    """
    return _frozen(_with(group(), PushConfig(fences_fetches=False)))


def push_without_epochs() -> Scenario:
    """Let two members join within a millisecond, without numbers for grants.

    The objection of the discussion: there is no barrier after which everybody has the same view.
    The second plan takes the first for done. It asks the first newcomer for partitions which that
    one never had; its answer releases them while the old owner is still at work. With a number for
    each grant such an answer counts for nothing.
    """
    scenario = _with(with_members(group(5, 100), poll_ms=2000), PushConfig(has_epochs=False))
    return _join(_late(scenario, "c3"), also="c3")


def _join(scenario: Scenario, also: str | None = None) -> Scenario:
    """Return the scenario in which the last member joins, and another one in the same moment."""
    name = scenario.members[-1].name
    at_ms = scenario.count_from_ms + 10_000
    plan = [Action(at_ms=at_ms, do=Verb.START, member=each) for each in (also, name) if each]
    return planned(_late(scenario, name), plan)


def _late(scenario: Scenario, name: str) -> Scenario:
    return replace(
        scenario,
        members=tuple(
            replace(each, starts_at_ms=None if each.name == name else each.starts_at_ms)
            for each in scenario.members
        ),
    )


def _with(scenario: Scenario, push: PushConfig) -> Scenario:
    return replace(scenario, broker=BrokerConfig(push=push))


def _slow_start(scenario: Scenario, push: PushConfig) -> Scenario:
    return replace(_with(scenario, push), count_from_ms=CREEP_SETTLED_MS)


def _with_records(scenario: Scenario, push: PushConfig) -> Scenario:
    scenario = with_members(_with(scenario, push), auto_commit_ms=5000)
    return replace(scenario, processing=ProcessingConfig(records_per_second=100))


def _frozen(scenario: Scenario) -> Scenario:
    begins = SETTLED_MS + 10_000
    freeze = Fault(
        kind=FaultKind.FREEZE, member="c3", from_ms=begins, until_ms=begins + 100 * SECOND
    )
    return replace(scenario, faults=(freeze,), until_ms=begins + 220 * SECOND)


HANDOVER = (0, 0.05 * SECOND)
"""A callback for what is revoked, one for what is assigned, and messages."""
ONE_MOVES = {"moves": 10, "gaps": 10}

STORIES: dict[str, Story] = {
    "nine-steps": Story(
        scenario=nine_steps,
        everywhere={"moves": 3, "gaps": 3},
        expected={
            PUSH: {"rounds": 1, "longest_gap_ms": HANDOVER},
            CLASSIC: {"rounds": 2, "longest_gap_ms": (0.1 * SECOND, 3.2 * SECOND)},
            CONSUMER: {"rounds": 1, "longest_gap_ms": (0.02 * SECOND, 5.2 * SECOND)},
        },
    ),
    "creep-with-push": Story(
        scenario=creep_with_push,
        everywhere=ONE_MOVES,
        expected={
            PUSH: {"longest_gap_ms": HANDOVER, "convergence_ms": (10 * SECOND, 10.3 * SECOND)}
        },
    ),
    "creep-without-push": Story(
        scenario=creep_without_push,
        everywhere=ONE_MOVES,
        expected={
            PUSH: {
                "longest_gap_ms": (1 * SECOND, 3.2 * SECOND),
                "unavailable_partition_ms": (5 * SECOND, 32 * SECOND),
            }
        },
    ),
    "assignment-at-heartbeats": Story(
        scenario=assignment_at_heartbeats,
        everywhere=ONE_MOVES,
        expected={PUSH: {"longest_gap_ms": (1 * SECOND, 3.2 * SECOND)}},
    ),
    "many-brokers": Story(
        scenario=many_brokers,
        everywhere=ONE_MOVES,
        expected={PUSH: {"longest_gap_ms": HANDOVER, "round_ms_max": (40, 200)}},
    ),
    "handover-after-commit": Story(
        scenario=handover_after_commit,
        everywhere=ONE_MOVES,
        expected={PUSH: {"longest_gap_ms": HANDOVER, "reprocessed_records": 0}},
    ),
    "handover-before-commit": Story(
        scenario=handover_before_commit,
        everywhere=ONE_MOVES,
        expected={
            PUSH: {
                "longest_gap_ms": (0, 0.02 * SECOND),
                "reprocessed_records": (2000, 15_000),
                "violations": (0, 10),
            }
        },
    ),
    "zombie-with-lease": Story(
        scenario=zombie_with_lease,
        expected={PUSH: {"rounds": 2, "longest_gap_ms": (32 * SECOND, 38 * SECOND)}},
    ),
    "zombie-without-fencing": Story(
        scenario=zombie_without_fencing,
        expected={PUSH: {"rounds": 2, "double_partition_ms": (450 * SECOND, 650 * SECOND)}},
    ),
    "push-without-epochs": Story(
        scenario=push_without_epochs,
        expected={
            PUSH: {"rounds": 2, "double_partition_ms": (1, 20 * SECOND), "violations": (1, 20)},
        },
    ),
}

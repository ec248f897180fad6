"""From one protocol to the other while the group goes on (KIP-848's online migration)."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    CONSUMER,
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
    GroupProtocol,
    MigrationPolicy,
    ProcessingConfig,
    Scenario,
    Verb,
)

EVERY_MS, DOWN_MS = 30_000, 10_000


def migration_under_load() -> Scenario:
    """Go over to the consumer protocol in one rolling restart, while records keep coming.

    The first member that comes back makes a consumer group of the classic one. It serves the others
    until their turn comes, and their assignor decides nothing any more. No partition has two
    consumers, no commit is refused, and a restart costs what it does in a group of one protocol.
    """
    return replace(
        _restarted(group(), CONSUMER), processing=ProcessingConfig(records_per_second=10)
    )


def migration_and_back() -> Scenario:
    """Go over to the consumer protocol, find a reason to go back, and go back.

    When the last member of the consumer protocol has left, those that are left are a classic group
    again, and elect a leader.
    """
    there = _restarted(group(count=4, partitions=40), CONSUMER)
    back = _bounce(there, CLASSIC, starts_at_ms=there.plan[-1].at_ms + EVERY_MS)
    return planned(there, (*there.plan, *back))


def migration_of_static_members() -> Scenario:
    """Go over to the consumer protocol with static members.

    Each comes back in its own place, with its own partitions, in another protocol: nothing moves.
    The price is that nobody takes over while it is away.
    """
    static = group()
    members = tuple(replace(each, instance_id=f"i-{each.name}") for each in static.members)
    return _restarted(replace(static, members=members), CONSUMER)


def migration_refused() -> Scenario:
    """Go over to the consumer protocol where the broker's policy is `disabled`.

    A member that comes back is refused with GROUP_ID_NOT_FOUND and gives up, each time, and the
    others take over. When the last one leaves the group is empty, and an empty one may change its
    protocol: the last one comes back alone and has everything.
    """
    scenario = _restarted(group(count=4, partitions=40), CONSUMER)
    return replace(scenario, broker=BrokerConfig(migration_policy=MigrationPolicy.DISABLED))


def new_topic_for_a_pattern() -> Scenario:
    """Create a topic that the pattern of every member matches.

    A classic member sees it when it next refreshes its metadata, up to five minutes later; the
    first one that does makes all others look, too. Under KIP-848 the coordinator looks at the next
    heartbeat.
    """
    create = Action(at_ms=SETTLED_MS + 10_000, do=Verb.CREATE, topic="orders-new", partitions=12)
    scenario = planned(group(count=4, partitions=40), [create], settles_ms=400_000)
    return with_members(scenario, topics=(), pattern="orders.*")


STORIES = {
    "migration-under-load": Story(
        scenario=migration_under_load,
        expected={
            CLASSIC: {
                "rounds": 20,
                "moves": 200,
                "longest_gap_ms": (3 * SECOND, 8.5 * SECOND),
                "fenced_commits": 0,
                "reprocessed_records": 0,
            }
        },
    ),
    "migration-and-back": Story(
        scenario=migration_and_back,
        expected={CLASSIC: {"rounds": 17, "longest_gap_ms": (3 * SECOND, 8.5 * SECOND)}},
    ),
    "migration-of-static-members": Story(
        scenario=migration_of_static_members,
        expected={
            CLASSIC: {
                "rounds": 0,
                "moves": 0,
                "longest_gap_ms": (10 * SECOND, 10.2 * SECOND),
            }
        },
    ),
    "migration-refused": Story(
        scenario=migration_refused,
        expected={
            CLASSIC: {
                "rounds": 6,
                "longest_gap_ms": (10 * SECOND, 10.2 * SECOND),
                "members_failed": 3,
            }
        },
    ),
    "new-topic-for-a-pattern": Story(
        scenario=new_topic_for_a_pattern,
        expected={
            CLASSIC: {"rounds": 1, "longest_gap_ms": (0, 304 * SECOND)},
            CONSUMER: {"rounds": 1, "longest_gap_ms": (0, 5.5 * SECOND)},
        },
    ),
}


def _restarted(scenario: Scenario, protocol: GroupProtocol) -> Scenario:
    """Return the scenario with a restart of every member, after which it speaks this protocol."""
    return planned(scenario, _bounce(scenario, protocol, starts_at_ms=SETTLED_MS))


def _bounce(scenario: Scenario, protocol: GroupProtocol, *, starts_at_ms: int) -> list[Action]:
    plan: list[Action] = []
    for number, each in enumerate(scenario.members):
        at_ms = starts_at_ms + EVERY_MS * number
        plan += (
            Action(at_ms=at_ms, do=Verb.STOP, member=each.name),
            Action(at_ms=at_ms + DOWN_MS, do=Verb.START, member=each.name, protocol=protocol),
        )
    return plan

"""Groups, subscriptions and topics that grow or shrink."""

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
from assignors.simulation.timed.scenario import Action, Arrivals, BrokerConfig, Scenario, Verb


def scale_out() -> Scenario:
    """Add five members to five, one every two seconds.

    Under the classic protocol each newcomer interrupts the rebalance of the one before it.
    """
    members = group()
    late = tuple(
        replace(each, starts_at_ms=None if number >= 5 else each.starts_at_ms)
        for number, each in enumerate(members.members)
    )
    starts = [
        Action(at_ms=SETTLED_MS + 2000 * number, do=Verb.START, member=f"c{number + 5}")
        for number in range(5)
    ]
    return planned(replace(members, members=late), starts)


def scale_in() -> Scenario:
    """Take five members of ten away, one every two seconds.

    A member that leaves gives its partitions up, so nobody has to revoke anything, and one
    rebalance a leave is enough. Members of a classic group learn of it with their next heartbeat.
    """
    stops = [
        Action(at_ms=SETTLED_MS + 2000 * number, do=Verb.STOP, member=f"c{number}")
        for number in range(5)
    ]
    return planned(group(), stops)


def join_storm() -> Scenario:
    """Start forty members within a second: a deployment into an empty group.

    The first rebalance of an empty classic group is delayed as long as members come, so that all
    of them meet in it. Under KIP-848 every join is an epoch of its own, and partitions that were
    given to the first comers go on to the later ones.
    """
    storm = group(count=40, partitions=200)
    starts = [
        Action(at_ms=SETTLED_MS + 25 * number, do=Verb.START, member=each.name)
        for number, each in enumerate(storm.members)
    ]
    return planned(with_members(storm, starts_at_ms=None), starts)


def too_many_members() -> Scenario:
    """Let five more members join a group that may have ten (`group.max.size`).

    They are refused with GROUP_MAX_SIZE_REACHED, which is fatal for them, and the ten go on as if
    nothing had happened.
    """
    full = group(count=15)
    late = tuple(
        replace(each, starts_at_ms=None if number >= 10 else each.starts_at_ms)
        for number, each in enumerate(full.members)
    )
    starts = [
        Action(at_ms=SETTLED_MS + 1000 * number, do=Verb.START, member=f"c{number}")
        for number in range(10, 15)
    ]
    return planned(replace(full, members=late, broker=BrokerConfig(max_size=10)), starts)


def churn() -> Scenario:
    """Let short-lived members join a group of five: one every 15 seconds, for ten seconds each.

    A newcomer takes partitions from all others and gives them back ten seconds later. Every one
    costs a handful of rounds, so a group with many of them is never at rest.
    """
    return churn_at(15_000)


def churn_at(every_ms: int, *, lives_ms: int = 10_000, count: int = 16) -> Scenario:
    """Return five lasting members, and short-lived ones that come so often."""
    lasting = group(count=5)
    (first, *_) = lasting.members
    passing = tuple(
        replace(first, name=f"job{number}", starts_at_ms=None) for number in range(count)
    )
    plan = sorted(
        (
            Action(at_ms=SETTLED_MS + every_ms * number + after, do=verb, member=each.name)
            for number, each in enumerate(passing)
            for after, verb in ((0, Verb.START), (lives_ms, Verb.STOP))
        ),
        key=lambda action: action.at_ms,
    )
    return planned(replace(lasting, members=lasting.members + passing), plan, settles_ms=30_000)


def short_lived_members() -> Scenario:
    """Let members come at random, one every 20 seconds, each for half a minute, for ten minutes.

    Their times are exponential, as those of jobs that somebody starts: now and then several come
    within a few seconds, and a classic group handles these in one rebalance.
    """
    lasting = group(count=5)
    job = replace(lasting.members[0], name="job", starts_at_ms=None)
    arrivals = Arrivals(
        member=job,
        every_ms=20_000,
        lifetime_ms=30_000,
        from_ms=SETTLED_MS,
        until_ms=SETTLED_MS + 600_000,
    )
    return replace(lasting, arrivals=(arrivals,), until_ms=SETTLED_MS + 800_000)


def subscription_change() -> Scenario:
    """Let half of the members subscribe to a second topic, one every five seconds.

    The first of them owns the whole new topic for a while. Every change is a rebalance of all,
    under the classic protocol of those as well whose subscription is the same as before.
    """
    both = group()
    changes = [
        Action(
            at_ms=SETTLED_MS + 5000 * number,
            do=Verb.SUBSCRIBE,
            member=f"c{number}",
            topics=("orders", "refunds"),
        )
        for number in range(5)
    ]
    return planned(replace(both, topics={**both.topics, "refunds": 20}), changes)


def topic_created_later() -> Scenario:
    """Create a topic to which all members subscribe already.

    Nothing is wrong and nothing is reported, but nobody reads the topic before the leader of a
    classic group has refreshed its metadata, with the defaults up to five minutes later. Under
    KIP-848 the coordinator sees the topic itself.
    """
    waiting = with_members(group(), topics=("orders", "refunds"))
    create = Action(at_ms=SETTLED_MS + 10_000, do=Verb.GROW, topic="refunds", partitions=12)
    return planned(
        replace(waiting, topics={"orders": 100, "refunds": 0}), [create], settles_ms=390_000
    )


def topic_growth() -> Scenario:
    """Give the topic twenty more partitions.

    Under the classic protocol nobody reads them before the leader has refreshed its metadata, up to
    five minutes; under KIP-848 the coordinator knows at once.
    """
    grow = Action(at_ms=SETTLED_MS + 10_000, do=Verb.GROW, topic="orders", partitions=120)
    return planned(group(), [grow], settles_ms=390_000)


STORIES = {
    "scale-out": Story(
        scenario=scale_out,
        expected={
            CLASSIC: {"rounds": (3, 6), "moves": 50, "gaps": 50},
            CONSUMER: {"rounds": 5, "moves": (50, 70)},
        },
    ),
    "scale-in": Story(
        scenario=scale_in,
        everywhere={"moves": (50, 70)},
        expected={CLASSIC: {"rounds": (3, 8)}, CONSUMER: {"rounds": 5}},
    ),
    "join-storm": Story(
        scenario=join_storm,
        expected={
            CLASSIC: {"rounds": (1, 2), "moves": 0, "longest_gap_ms": (6 * SECOND, 7 * SECOND)},
            CONSUMER: {"rounds": 40, "moves": 195, "longest_gap_ms": (0, 5.4 * SECOND)},
        },
    ),
    "too-many-members": Story(
        scenario=too_many_members,
        everywhere={"rounds": 0, "gaps": 0, "members_touched": 0, "members_failed": 5},
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "churn": Story(
        scenario=churn,
        expected={CLASSIC: {"rounds": (30, 60)}, CONSUMER: {"rounds": 32}},
    ),
    "short-lived-members": Story(
        scenario=short_lived_members,
        expected={CLASSIC: {"rounds": (40, 200)}, CONSUMER: {"rounds": (30, 120)}},
    ),
    "subscription-change": Story(
        scenario=subscription_change,
        everywhere={"unowned": 0},
        expected={CLASSIC: {"rounds": (5, 12)}, CONSUMER: {"rounds": 5}},
    ),
    "topic-created-later": Story(
        scenario=topic_created_later,
        everywhere={"gaps": 12, "moves": 0},
        expected={
            CLASSIC: {"longest_gap_ms": (0, 304 * SECOND)},
            CONSUMER: {"longest_gap_ms": (0, 10.2 * SECOND)},
        },
    ),
    "topic-growth": Story(
        scenario=topic_growth,
        everywhere={"gaps": 20},
        expected={
            CLASSIC: {"longest_gap_ms": (0, 304 * SECOND)},
            # The next heartbeat of anybody makes the target, and each member's own brings it.
            CONSUMER: {"longest_gap_ms": (0, 10.2 * SECOND)},
        },
    ),
}

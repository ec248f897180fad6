"""Named scenarios: what happens to groups, each with what it shows.

A scenario is made for a protocol, so that one can be compared with another: `named` takes the
seed and the protocol. A new one is a function here and a row in `GALLERY`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from assignors.simulation.timed.scenario import (
    Action,
    GroupProtocol,
    MemberConfig,
    Scenario,
    Verb,
)

SETTLED_MS = 60_000
"""When costs begin to count: the group has settled by then."""
EAGER = "java/range"
COOPERATIVE = "java/cooperative-sticky"


def named(name: str, *, seed: int = 0, protocol: GroupProtocol = GroupProtocol.CLASSIC) -> Scenario:
    """Return a scenario of the gallery. `ValueError`, with the known names, for another name.

    >>> named("crash").plan[0].do.value
    'crash'
    """
    if name not in GALLERY:
        raise ValueError(f"no scenario {name!r}; known: {', '.join(GALLERY)}")
    return replace(GALLERY[name](), name=name, seed=seed, protocol=protocol)


def rolling_restart() -> Scenario:
    """Restart ten members one after the other, each away for ten seconds.

    Every leave and every join is a rebalance. Under cooperative-sticky and KIP-848 only the
    partitions that move stop, under an eager protocol all of them.
    """
    return _restarts(_group())


def rolling_restart_eager() -> Scenario:
    """Restart ten members under an eager assignor that is not sticky.

    Each rebalance stops all partitions and moves most of them.
    """
    return _restarts(_group(assignors=(EAGER,)))


def rolling_restart_static() -> Scenario:
    """Restart ten static members (KIP-345).

    Nothing is rebalanced, and each member's partitions wait until it is back: that is dearer than a
    rebalance where the restart takes longer than a heartbeat.
    """
    group = _group()
    static = tuple(replace(each, instance_id=f"i-{each.name}") for each in group.members)
    return _restarts(replace(group, members=static))


def slow_polls() -> Scenario:
    """Restart ten members that take up to five seconds between two polls.

    A classic rebalance waits for the slowest member, so one slow poll stops the others as well;
    under KIP-848 nobody waits for another one's poll.
    """
    group = _group()
    slow = tuple(replace(each, poll_ms=5000) for each in group.members)
    return _restarts(replace(group, members=slow))


def crash() -> Scenario:
    """Let one member of ten die without a word.

    Its partitions stop for the session timeout, 45 seconds, under every protocol.
    """
    return _planned(_group(), [Action(at_ms=SETTLED_MS + 10_000, do=Verb.CRASH, member="c3")])


def scale_out() -> Scenario:
    """Add five members to five, one every two seconds.

    Under the classic protocol each newcomer interrupts the rebalance of the one before it.
    """
    group = _group()
    late = tuple(
        replace(each, starts_at_ms=None if number >= 5 else each.starts_at_ms)
        for number, each in enumerate(group.members)
    )
    starts = [
        Action(at_ms=SETTLED_MS + 2000 * number, do=Verb.START, member=f"c{number + 5}")
        for number in range(5)
    ]
    return _planned(replace(group, members=late), starts)


def topic_growth() -> Scenario:
    """Give the topic twenty more partitions.

    Under the classic protocol nobody reads them before the leader has refreshed its metadata, up to
    five minutes; under KIP-848 the coordinator knows at once.
    """
    grow = Action(at_ms=SETTLED_MS + 10_000, do=Verb.GROW, topic="orders", partitions=120)
    return replace(_planned(_group(), [grow]), until_ms=SETTLED_MS + 400_000)


def stop_all() -> Scenario:
    """Stop all members at once and start them again: a deployment without a rolling restart.

    The first members of an empty classic group wait three seconds for more of them, and three more
    while any come (`group.initial.rebalance.delay.ms`): one rebalance then, not one for each.
    """
    group = _group()
    plan = [
        Action(at_ms=SETTLED_MS + after, do=verb, member=each.name)
        for after, verb in ((0, Verb.STOP), (10_000, Verb.START))
        for each in group.members
    ]
    return _planned(group, plan)


GALLERY: dict[str, Callable[[], Scenario]] = {
    "rolling-restart": rolling_restart,
    "rolling-restart-eager": rolling_restart_eager,
    "rolling-restart-static": rolling_restart_static,
    "slow-polls": slow_polls,
    "crash": crash,
    "scale-out": scale_out,
    "topic-growth": topic_growth,
    "stop-all": stop_all,
}


def _group(assignors: tuple[str, ...] = (COOPERATIVE,)) -> Scenario:
    """Return ten members on a topic of a hundred partitions, with nothing planned."""
    return Scenario(
        until_ms=SETTLED_MS,
        count_from_ms=SETTLED_MS,
        topics={"orders": 100},
        members=tuple(
            MemberConfig(
                name=f"c{number}",
                topics=("orders",),
                assignors=assignors,
                starts_at_ms=100 * number,
            )
            for number in range(10)
        ),
    )


def _planned(group: Scenario, plan: Iterable[Action]) -> Scenario:
    """Return the scenario with a plan, and two minutes after it to settle."""
    actions = tuple(plan)
    return replace(group, plan=actions, until_ms=actions[-1].at_ms + 120_000)


def _restarts(group: Scenario) -> Scenario:
    """Return the scenario with a restart of every member, one every 30 seconds."""
    return _planned(
        group,
        [
            Action(at_ms=SETTLED_MS + 30_000 * number + after, do=verb, member=each.name)
            for number, each in enumerate(group.members)
            for after, verb in ((0, Verb.STOP), (10_000, Verb.START))
        ],
    )

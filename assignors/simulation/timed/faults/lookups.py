"""How members find the coordinator of their group: by asking any broker, again and again.

A member that has lost its coordinator sends FindCoordinator. As long as no broker leads the group's
partition the answer is COORDINATOR_NOT_AVAILABLE, and the member waits before it asks again, longer
each time. All of this is arithmetic: what is sent meanwhile waits for the end, so only that moment
matters.

Source: `AbstractCoordinator.ensureCoordinatorReady`, `CoordinatorRequestManager` and
`ExponentialBackoff` of Kafka's Java client.
"""

from __future__ import annotations

from assignors.simulation.timed.network import Network
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.random_streams import stream

BACKOFF_MS, BACKOFF_MAX_MS = 100, 1000
"""`retry.backoff.ms`, doubled each time up to `retry.backoff.max.ms`."""
JITTER_PERCENT = 20
"""Each wait is longer or shorter by up to so much."""
REQUEST = "FindCoordinator"


def find(network: Network, member: int, from_us: int, elected_us: int) -> int:
    """Return when a member has found its coordinator that begins to look for it at `from_us`.

    There is one from `elected_us` on. The requests are counted. Times are microseconds since the
    run began. Cost: O(requests), one a second while there is no coordinator.
    """
    dice = stream(network.scenario.seed, network.links[member].config.name, f"lookups {from_us}")
    at, wait_ms = from_us, BACKOFF_MS
    while True:
        network.count(REQUEST, 1)
        arrives = network.arrives(member, at)
        at = network.returns(member, arrives)
        if arrives >= elected_us:
            return at
        percent = 100 - JITTER_PERCENT + dice.below(2 * JITTER_PERCENT + 1)
        at += wait_ms * MILLISECOND * percent // 100
        wait_ms = min(2 * wait_ms, BACKOFF_MAX_MS)

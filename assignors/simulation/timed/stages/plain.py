"""Which members may go through a round together: those about which nothing is special."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.dice import STEP, Dice
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import Claims, GroupProtocol, MemberConfig, Scenario
from assignors.simulation.timed.sides import Draws
from assignors.simulation.timed.stages.flight import Int64

MEAN_US_MIN = 100
"""With shorter delays too many messages arrive at one moment, in an order that decides."""
POLL_MS_MAX = 1_000_000
OTHERS = 3
"""So many that come when they have joined save as many events as one that is at rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainMembers:
    """What of members never changes, in the order of the scenario."""

    are_plain: NDArray[np.bool_]
    """bool[N]."""
    poll_limits: Int64
    """int64[N]: one more than the longest time to a poll, in microseconds."""
    join_limits: Int64
    """int64[N]: so long a JoinGroup waits for its answer, in microseconds."""
    sync_limits: Int64
    """int64[N]: so long a SyncGroup does."""
    are_eager: NDArray[np.bool_]
    """bool[N]: who gives up everything before it joins."""
    has_eager: bool
    """Whether anybody does."""
    may_gain: NDArray[np.bool_]
    """bool[N]: who may take what it is given without an event."""
    revoke_us: Int64
    """int64[N]: how long the callback for what it gives up takes."""
    assign_us: Int64
    """int64[N]: how long that for what it is given takes."""
    polls: Sequence[Dice]
    """Their streams of random polls."""

    def least(self, alone: int, others: int) -> int:
        """Return how many at rest are enough to go through a round together; `alone` if all are.

        `others` in the group do not rest: cooperative ones come when they have joined.
        """
        return alone if self.has_eager else max(alone - others // OTHERS, alone // 2)

    def states(self, numbers: Int64, skipped: Int64) -> NDArray[np.uint64]:
        """Return the states of the streams of polls of some members, uint64[n].

        `skipped`, int64[N], are the choices of each that were made elsewhere. Cost: O(n).
        """
        polls = self.polls
        states = np.array([polls[number].state for number in numbers.tolist()], dtype=np.uint64)
        found: NDArray[np.uint64] = states + skipped[numbers].astype(np.uint64) * np.uint64(STEP)
        return found


def has_plain_rounds(scenario: Scenario) -> bool:
    """Return whether members of a scenario may go through rounds together."""
    return (
        scenario.protocols == {GroupProtocol.CLASSIC}
        and scenario.network.mean_us >= MEAN_US_MIN
        and scenario.network.mean_us < 1 << 26
        and scenario.broker.max_size >= len(scenario.members)
        and not scenario.has_kept_pauses
    )


def plain_members(members: Sequence[ClassicMember], *, keeps_changes: bool) -> PlainMembers:
    """Return which members are plain. Cost: O(members).

    With `keeps_changes` what they consume is recorded when it changes: no eager member is plain.
    """
    configs = [each.config for each in members]
    instances = Counter(each.instance_id for each in configs)
    draws = [each.draw for each in members]
    return PlainMembers(
        are_plain=np.array(
            [
                is_plain(each.config)
                and (each.config.instance_id is None or instances[each.config.instance_id] == 1)
                and (each.is_cooperative or (not keeps_changes and _calls_back_in_time(each)))
                and isinstance(each.draw, Draws)
                for each in members
            ],
            dtype=np.bool_,
        ),
        poll_limits=np.array([each.poll_ms * MILLISECOND + 1 for each in configs]),
        join_limits=np.array([each.join_limit_ms * MILLISECOND for each in configs]),
        sync_limits=np.array([each.sync_limit_ms * MILLISECOND for each in configs]),
        are_eager=np.array([not each.is_cooperative for each in members], dtype=np.bool_),
        has_eager=not all(each.is_cooperative for each in members),
        may_gain=np.array(
            [not keeps_changes and _calls_back_in_time(each) for each in members], dtype=np.bool_
        ),
        revoke_us=np.array([each.revoke_ms * MILLISECOND for each in configs]),
        assign_us=np.array([each.assign_ms * MILLISECOND for each in configs]),
        polls=[each.polls if isinstance(each, Draws) else Dice(0) for each in draws],
    )


def _calls_back_in_time(member: ClassicMember) -> bool:
    """Return whether its callbacks end before it has to poll again."""
    config = member.config
    return max(config.revoke_ms, config.assign_ms) <= config.rebalance_timeout_ms


def is_plain(config: MemberConfig) -> bool:
    """Return whether a member writes, reads and waits as most do."""
    return (
        config.client is None
        and config.subscription_hex is None
        and config.claims is Claims.TRUE
        and config.pattern is None
        and not config.heartbeats_go_on
        and not config.sync_delay_us
        and not (config.poll_spread_ms or config.between_polls_us)
        and not config.assign
        and not config.runs_handlers
        and config.poll_ms <= POLL_MS_MAX
    )

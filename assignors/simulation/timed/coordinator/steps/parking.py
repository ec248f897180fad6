"""Requests that wait for the high watermark: in order of offset, and answered once it passes them.

The high watermark of a partition is an event of that partition like a request: it waits for the one
that is being handled, and goes before those that wait. Where several came meanwhile, the last one
is what counts. Source: HighWatermarkListener in CoordinatorRuntime of Kafka 4.4.0.
"""

from __future__ import annotations

from heapq import heappop, heappush

from assignors.simulation.timed.coordinator.log import apply
from assignors.simulation.timed.coordinator.policy import Applies
from assignors.simulation.timed.coordinator.port import Park, Replicated
from assignors.simulation.timed.coordinator.state import Coordinator, Partition, Task
from assignors.simulation.timed.coordinator.steps import history
from assignors.simulation.timed.coordinator.steps.holding import answer, release


def park(partition: Partition, task: Task) -> None:
    """Let a request wait for the high watermark."""
    heappush(partition.parked, (task.end, task.request.number, task))


def start_timeout(state: Coordinator, task: Task) -> None:
    """Start the time for which a request that has been handled may wait."""
    if not task.is_answered:
        state.out.append(Park(task.request.number))


def replicated(state: Coordinator, event: Replicated) -> None:
    """Let the high watermark rise, if it need not wait."""
    number, high_watermark = event
    if state.in_turn:
        waiting = state.keys.get(number)
        if waiting is not None and waiting.holders:
            state.risen[number] = high_watermark
            return
    _rise(state, number, high_watermark)


def catch_up(state: Coordinator) -> None:
    """Let those high watermarks rise that have waited for a request that is handled now."""
    for number in state.unlocked:
        high_watermark = state.risen.pop(number, None)
        if high_watermark is not None:
            _rise(state, number, high_watermark)
    state.unlocked.clear()


def _rise(state: Coordinator, number: int, high_watermark: int) -> None:
    """Answer what the high watermark has passed."""
    partition = state.partitions[number]
    if high_watermark > partition.high_watermark:
        partition.high_watermark = high_watermark
        history.forget(partition)
        drain(state, partition)


def drain(state: Coordinator, partition: Partition) -> None:
    """Answer what is replicated; where the state changes only then, change it."""
    parked, high_watermark = partition.parked, partition.high_watermark
    waits_in_order = state.policy.applies is Applies.REPLICATION
    while parked and parked[0][0] <= high_watermark:
        task = parked[0][2]
        handled = task.handled
        assert handled is not None
        if waits_in_order:
            if task.start > partition.ahead:
                return  # the append before it is replicated, and has not completed here
            for entry in handled.entries:
                apply(partition.state, entry)
            partition.ahead = task.end
        heappop(parked)
        if not task.is_answered:
            answer(state, task, handled.response)
        release(state, task)

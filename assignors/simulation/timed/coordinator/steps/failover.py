"""A partition goes to another coordinator, or comes from one."""

from __future__ import annotations

from collections import deque

from assignors.simulation.timed.coordinator.log import fold
from assignors.simulation.timed.coordinator.port import Failure, Loaded, Loading, Lost
from assignors.simulation.timed.coordinator.state import Coordinator, Partition
from assignors.simulation.timed.coordinator.steps import background
from assignors.simulation.timed.coordinator.steps.holding import answer, release_worker


def lost(state: Coordinator, event: Lost) -> None:
    """Give up a partition: whoever waits there is answered that this is not the coordinator.

    What comes later of its requests, appends and background work means nothing any more.
    Cost: O(requests).
    """
    number = event.partition
    background.cancel(state, number)
    for task in [each for each in state.tasks.values() if each.partition == number]:
        answer(state, task, failure=Failure.NOT_COORDINATOR)
        if not task.is_working:  # else its worker is given back when its time is over
            release_worker(state, task)
        state.keys.pop(task.key, None)
        del state.tasks[task.request.number]
    state.ready = deque(key for key in state.ready if key in state.keys)
    state.resumed = deque(each for each in state.resumed if each.partition != number)
    state.appends = {
        token: whose for token, whose in state.appends.items() if whose.partition != number
    }
    state.risen.pop(number, None)
    state.partitions[number] = Partition(refuses=Failure.NOT_COORDINATOR)


def loading(state: Coordinator, event: Loading) -> None:
    """Refuse requests as long as the log is being read, in other words than before."""
    state.partitions[event.partition].refuses = Failure.LOADING


def loaded(state: Coordinator, event: Loaded) -> None:
    """Take over a partition from its log, or from what a cleaner has left of it.

    Cost: O(entries).
    """
    state.partitions[event.partition] = Partition.of(state.history, fold(event.entries), event.end)

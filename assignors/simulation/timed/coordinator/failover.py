"""A partition goes to another coordinator, or comes from one."""

from __future__ import annotations

from collections import deque

from assignors.simulation.timed.coordinator.holding import answer, release_worker
from assignors.simulation.timed.coordinator.log import fold
from assignors.simulation.timed.coordinator.port import Failure, Loaded, Lost
from assignors.simulation.timed.coordinator.state import Coordinator, Partition


def lost(state: Coordinator, event: Lost) -> None:
    """Give up a partition: whoever waits there is answered that this is not the coordinator.

    What comes later of its requests and appends means nothing any more. Cost: O(requests).
    """
    number = event.partition
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
    state.partitions[number] = Partition()


def loaded(state: Coordinator, event: Loaded) -> None:
    """Take over a partition from its log, or from what a cleaner has left of it.

    Cost: O(entries).
    """
    end = event.end
    state.partitions[event.partition] = Partition(
        state=fold(event.entries), ahead=end, written=end, high_watermark=end
    )

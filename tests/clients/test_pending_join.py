"""The answer to a join is kept until the next poll, but not for ever."""

from __future__ import annotations

import pytest
from kafka.errors import RebalanceInProgressError
from kafka.future import Future

from assignors.clients.kafka_python.pending_join import PendingJoin
from tests.clients.local_group import run


class World:
    """A clock and a generation to turn by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.generation = object()
        self.future = Future()
        self.kept = PendingJoin(
            self.future, generation=lambda: self.generation, keep_s=3.0, clock=lambda: self.now_s
        )


@pytest.fixture
def world() -> World:
    return World()


def test_an_answer_that_came_between_two_polls_is_waited_for(world: World) -> None:
    """The host asks `is_done` before it looks at the answer, and joins again where it is."""
    assert not world.kept.is_done
    world.generation = object()
    world.future.success(b"answer")
    assert world.future.is_done
    assert not world.kept.is_done
    received: list[bytes] = []
    world.kept.add_callback(received.append)
    assert received == [b"answer"]
    assert world.kept.value == b"answer"


def test_it_can_be_awaited_as_the_future_itself(world: World) -> None:
    async def waiting() -> None:
        assert await world.kept == b"answer"

    world.future.success(b"answer")
    run(waiting())


def test_an_old_answer_is_thrown_away_as_the_host_does(world: World) -> None:
    world.future.success(b"answer")
    world.now_s += 3.0
    assert not world.kept.is_done
    world.now_s += 0.1
    assert world.kept.is_done


def test_an_answer_to_a_membership_that_is_lost_is_thrown_away(world: World) -> None:
    """A commit between two polls may learn that the member was expelled."""
    world.future.success(b"answer")
    world.generation = object()
    assert world.kept.is_done


def test_a_join_that_failed_is_made_again(world: World) -> None:
    world.future.failure(RebalanceInProgressError())
    assert world.kept.is_done

"""Small cases over every order in which anything can complete, for every execution model.

No state is kept between histories: each is played from the beginning, by the choices that lead to
it, until all choices have been made (as stateless model checkers do).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from assignors.simulation.timed.execution.policy import (
    POLICIES,
    Lingers,
    Policy,
    Settings,
)
from tests.simulation.timed.execution.world import (
    ASYNC,
    COUNT,
    FAILING,
    READ,
    Appends,
    Choose,
    World,
)

ONE = Settings(workers=1, partitions=1)
TWO = Settings(workers=2, partitions=1)
LINGERING = Settings(workers=1, partitions=1, linger=Lingers.TIMED)


class Choices:
    """Every sequence of choices, one after the other."""

    def __init__(self) -> None:
        self.made: list[int] = []
        self.of: list[int] = []
        self.at = 0

    def choose(self, count: int) -> int:
        """Choose one of so many: as before, or the first one."""
        if self.at == len(self.made):
            self.made.append(0)
            self.of.append(count)
        assert self.of[self.at] == count, "the same choices lead to the same questions"
        self.at += 1
        return self.made[self.at - 1]

    def advance(self) -> bool:
        """Go on to the next sequence; return whether there is one."""
        while self.made and self.made[-1] == self.of[-1] - 1:
            self.made.pop()
            self.of.pop()
        if not self.made:
            return False
        self.made[-1] += 1
        self.at = 0
        return True


def every(play: Callable[[Choose], World]) -> Iterator[World]:
    """Play every history."""
    choices = Choices()
    while True:
        yield play(choices.choose)
        if not choices.advance():
            return


Script = tuple[tuple[int, str, bool] | None, ...]
"""Group, kind, whether it is checked; `None`: a failover."""
SCRIPTS: dict[str, tuple[Settings, Appends, Script]] = {
    "one group": (ONE, ASYNC, ((0, COUNT, False), (0, COUNT, False), (0, READ, False))),
    "checked": (ONE, ASYNC, ((0, COUNT, True), (0, COUNT, False))),
    "two groups": (TWO, ASYNC, ((0, COUNT, False), (1, COUNT, False))),
    "failing": (ONE, FAILING, ((0, COUNT, False), (0, COUNT, False))),
    "failing, checked": (TWO, FAILING, ((0, COUNT, True), (1, COUNT, False))),
    "lingering": (LINGERING, FAILING, ((0, COUNT, False), (0, COUNT, False))),
    "three, failing": (ONE, FAILING, ((0, COUNT, False), (0, COUNT, False), (0, COUNT, False))),
    "failover": (ONE, FAILING, ((0, COUNT, False), None, (0, COUNT, False))),
    "failover, checked": (TWO, ASYNC, ((0, COUNT, True), (1, COUNT, False), None, (0, READ, True))),
}

LONG = {"three, failing"}
"""Some ten thousand histories a model."""


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize(
    "script",
    [pytest.param(each, marks=pytest.mark.deep if each in LONG else ()) for each in SCRIPTS],
)
def test_every_order_of_completions_keeps_the_contract(policy: Policy, script: str) -> None:
    settings, appends, requests = SCRIPTS[script]

    def play(choose: Choose) -> World:
        world = World(policy, appends, choose, settings)
        left = list(requests)
        while True:
            # The next request comes, or something that is on its way happens.
            if left and (not world.is_on_its_way or choose(2) == 0):
                following = left.pop(0)
                if following is None:
                    world.fail_over(0)
                else:
                    group, kind, is_checked = following
                    world.ask(group, kind, is_checked=is_checked)
            elif not world.go_on():
                break
        assert not world.left(), world.told(str(world.left()))
        return world

    assert sum(1 for _ in every(play)) > 1


def test_choices_go_through_every_sequence_once() -> None:
    seen: list[tuple[int, ...]] = []
    choices = Choices()
    while True:
        first = choices.choose(2)
        seen.append((first, *(choices.choose(3) for _ in range(first))))
        if not choices.advance():
            break
    assert seen == [(0,), (1, 0), (1, 1), (1, 2)]

"""Histories of a world of real groups: drawn, played, and made short where something is wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from assignors.simulation.timed.execution.policy import Policy, Settings
from tests.simulation.timed.execution.histories import settings_of
from tests.simulation.timed.execution.world import Appends
from tests.simulation.timed.hosting.world import World

HISTORIES = 8 * int(os.environ.get("DEEP", "1"))
ASK, GO_ON, ADVANCE, FAIL_OVER, TIME_OUT = range(5)
WEIGHTS = (10, 30, 2, 0.5, 0.5)


class Move(NamedTuple):
    """What happens next, and the seed of all that is drawn while it happens."""

    verb: int
    seed: int


def moves_of(random: Random, *, fails_over: bool, length: int = 200) -> list[Move]:
    """Draw what happens, in order."""
    verbs = random.choices(range(5), WEIGHTS, k=length)
    return [
        Move(verb, random.randrange(1 << 30)) for verb in verbs if fails_over or verb != FAIL_OVER
    ]


def play(policy: Policy, appends: Appends, settings: Settings, moves: Sequence[Move]) -> World:
    """Play a history to its end. Raises `AssertionError` where something is wrong."""
    world = World(policy, appends, settings)
    acts = {
        ASK: world.ask,
        GO_ON: world.go_on,
        ADVANCE: lambda: world.advance(world.choose(5_000_000)),
        FAIL_OVER: world.fail_over,
        TIME_OUT: world.time_out,
    }
    for verb, seed in moves:
        world.random = Random(seed)
        world.choose = world.random.randrange
        acts[verb]()
    world.settle()
    left = world.left()
    assert not left, world.told(str(left))
    return world


def drawn(policy: Policy, *, fails_over: bool) -> Iterator[tuple[Settings, list[Move]]]:
    """Draw histories of an execution model."""
    for seed in range(HISTORIES):
        random = Random(seed)
        yield settings_of(random, policy), moves_of(random, fails_over=fails_over)


def wrong(policy: Policy, appends: Appends, settings: Settings, moves: Sequence[Move]) -> str:
    """What is wrong with a history, with the history; empty if nothing is."""
    try:
        play(policy, appends, settings, moves)
    except (AssertionError, KeyError) as error:
        return str(error)
    return ""


def first_wrong(policy: Policy, appends: Appends, *, fails_over: bool = True) -> str:
    """The first history in which something is wrong, without what it does not need for that."""
    for settings, moves in drawn(policy, fails_over=fails_over):
        if wrong(policy, appends, settings, moves):
            shorter = shrunk(policy, appends, settings, moves)
            return f"{settings}\n{wrong(policy, appends, settings, shorter)}"
    return ""


def shrunk(
    policy: Policy, appends: Appends, settings: Settings, moves: Sequence[Move]
) -> Sequence[Move]:
    """Leave out moves as long as something is still wrong: halves first, then fewer, then one."""
    size = len(moves) // 2
    while size:
        at = 0
        while at < len(moves):
            without = [*moves[:at], *moves[at + size :]]
            if wrong(policy, appends, settings, without):
                moves = without
            else:
                at += size
        size //= 2
    return moves

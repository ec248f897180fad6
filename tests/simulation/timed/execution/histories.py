"""Histories of a world: drawn, played, and made as short as they get where something is wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from assignors.simulation.timed.execution.policy import Lingers, Policy, Settings
from tests.simulation.timed.execution.world import (
    COMMIT,
    COUNT,
    READ,
    TWICE,
    Appends,
    World,
)

HISTORIES = 400 * int(os.environ.get("DEEP", "1"))
KINDS = (COUNT, COUNT, COUNT, TWICE, COMMIT, READ)
ASK, FAIL_OVER, GO_ON = range(3)


class Move(NamedTuple):
    """What happens next, and all that is drawn while it happens."""

    verb: int
    what: tuple[Any, ...]
    seed: int


def settings_of(random: Random, policy: Policy) -> Settings:
    """Draw how a coordinator is set up."""
    return Settings(
        workers=random.randint(1, 3),
        partitions=2,
        linger=random.choice(list(Lingers)) if policy.has_batches else Lingers.QUEUED,
        batch_max=random.choice([1, 2, 1000]),
    )


def moves_of(random: Random, *, fails_over: bool) -> list[Move]:
    """Draw up to a dozen requests, and what becomes of them, in any order."""
    moves = []
    what: tuple[Any, ...]
    for _ in range(random.randint(1, 30)):
        dice, seed = random.random(), random.randrange(1 << 30)
        if dice < 0.35:
            alone = random.random() < 0.2
            what = (random.randint(0, 3), random.choice(KINDS), random.random() < 0.5, alone)
            moves.append(Move(ASK, what, seed))
        elif dice < 0.43 and fails_over:
            what = (random.randint(0, 1), random.random() < 0.5)
            moves.append(Move(FAIL_OVER, what, seed))
        else:
            moves.append(Move(GO_ON, (), seed))
    return moves


def play(policy: Policy, appends: Appends, settings: Settings, moves: Sequence[Move]) -> World:
    """Play a history to its end. Raises `AssertionError` where something is wrong."""
    world = World(policy, appends, Random(0).randrange, settings)
    for move in moves:
        world.choose = Random(move.seed).randrange
        if move.verb == ASK:
            group, kind, is_checked, alone = move.what
            world.ask(group, kind, is_checked=is_checked, is_transactional=alone)
        elif move.verb == FAIL_OVER:
            world.fail_over(move.what[0], at_once=move.what[1])
        else:
            world.go_on()
    world.settle()
    assert not world.left(), world.told(str(world.left()))
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
    except AssertionError as error:
        return str(error)
    return ""


def first_wrong(policy: Policy, appends: Appends, *, fails_over: bool = False) -> str:
    """The first history in which something is wrong, without what it does not need for that."""
    for settings, moves in drawn(policy, fails_over=fails_over):
        if wrong(policy, appends, settings, moves):
            short = shrunk(policy, appends, settings, moves)
            return f"{settings}\n{wrong(policy, appends, settings, short)}"
    return ""


def shrunk(policy: Policy, appends: Appends, settings: Settings, moves: list[Move]) -> list[Move]:
    """Leave moves out and make them simpler as long as something is still wrong."""
    shorter: list[Move] | None = moves
    while shorter is not None:
        moves = shorter
        found = (each for each in simpler(moves) if wrong(policy, appends, settings, each))
        shorter = next(found, None)
    return moves


def simpler(moves: list[Move]) -> Iterator[list[Move]]:
    """Yield a history without one of its moves, then with a simpler one in its place."""
    for at in range(len(moves)):
        yield [*moves[:at], *moves[at + 1 :]]
    for at, move in enumerate(moves):
        for other in others(move):
            yield [*moves[:at], other, *moves[at + 1 :]]


def others(move: Move) -> Iterator[Move]:
    """Yield moves that do less; nothing for one that could not do less."""
    for seed in range(min(move.seed, 4)):
        yield move._replace(seed=seed)
    if move.verb == ASK:
        group, kind, is_checked, alone = move.what
        if is_checked or alone:
            yield move._replace(what=(group, kind, False, False))
        if kind != COUNT:
            yield move._replace(what=(group, COUNT, is_checked, alone))

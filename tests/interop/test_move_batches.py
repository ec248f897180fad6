"""Moves by weight on a real broker: in batches, each of two rounds, and then the group rests."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import pairwise

import pytest

from tests.foreign.members.python.weighing import COST, EVERY_MS, FIXED
from tests.interop.audit import Round, dangerous, rounds
from tests.interop.conftest import MakeGroup
from tests.interop.events import Partition
from tests.interop.group import SETTLES_S
from tests.interop.neighbours import WEIGHTED

pytestmark = pytest.mark.interop

HOLD_S = 0.3
PARTITIONS = 12
BATCHES = 3
"""Six of twelve partitions of about one weight, two at a time."""


def test_a_newcomer_gets_its_share_in_batches_and_then_no_round_follows(
    make_group: MakeGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FIXED, "1")
    group = make_group({"a": PARTITIONS}, assignors=(WEIGHTED,))
    group.feed.start()
    group.start("kpp")
    group.settled(SETTLES_S, hold_s=HOLD_S)
    group.start("kpp")
    until = time.monotonic() + SETTLES_S + BATCHES * EVERY_MS / 1000
    counts: Mapping[str, int] = {}
    while counts.get("kpp-2", 0) < COST * BATCHES and time.monotonic() < until:
        counts = group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts
    assert counts == {"kpp-1": PARTITIONS - COST * BATCHES, "kpp-2": COST * BATCHES}
    before = max(group.broker.leaders(group.name))
    time.sleep(1.5 * EVERY_MS / 1000)
    assert max(group.broker.leaders(group.name)) == before, "a round at rest"
    group.drain(SETTLES_S)
    verdict = group.judge()
    assert verdict.is_clean, verdict
    played = [one for one in rounds(group.broker.bootstrap, group.name) if len(one.claims) > 1]
    assert not [gift for one in played for gift in dangerous(one)]
    # What had come back when the newcomer joined pays for the first batch: one move, or two.
    sizes = [len(taken) for one in played if (taken := taken_in(one))]
    assert sum(sizes) == COST * BATCHES
    assert max(sizes) <= COST
    assert len(sizes) in (BATCHES, BATCHES + 1)
    batches = [number for number, one in enumerate(played) if taken_in(one)]
    assert all(not taken_in(played[number + 1]) for number in batches), "a batch is two rounds"
    given = [one.t_ms for one in group.members["kpp-2"].events if one.kind == "assigned"]
    gaps = [after - before for before, after in pairwise(given[-BATCHES:])]
    assert sum(gaps) > (BATCHES - 2) * EVERY_MS, gaps


def taken_in(one: Round) -> set[Partition]:
    """What a round takes from members that claimed it."""
    return {
        each
        for name, claimed in one.claims.items()
        for each in claimed - one.gifts.get(name, set())
    }

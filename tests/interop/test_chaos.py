"""Short chaos in the suite; `make chaos` and `make soak` play on for longer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.foreign.members.python.confluent_member import BATCH
from tests.interop.broker import Broker
from tests.interop.chaos import play
from tests.interop.conftest import MakeGroup
from tests.interop.group import DRAINS_S, SETTLES_S
from tests.interop.neighbours import (
    COOPERATIVE,
    LEADERS,
    ONLY_OURS,
    RANGE,
    STICKY,
    WEIGHTED,
)
from tests.interop.plans import plan

FULL_BATCHES = 2
"""More than one, so that some batch ends where a partition does."""

CELLS = [
    (protocol, leader) for protocol, kinds in {**LEADERS, **ONLY_OURS}.items() for leader in kinds
]


@given(seed=st.integers(0, 10**6), cell=st.sampled_from(CELLS), step_count=st.integers(0, 12))
def test_a_plan_asks_only_what_can_be_done(
    seed: int, cell: tuple[str, str], step_count: int
) -> None:
    protocol, leader = cell
    drawn = plan(seed, protocol, leader, step_count=step_count)
    assert [one.kind for one in drawn.members[:3]] == [leader, "kpp", "aiop"]
    kinds: dict[str, int] = {}
    is_alive: dict[str, bool] = {}
    for start in drawn.members:
        kinds[start.kind] = kinds.get(start.kind, 0) + 1
        is_alive[f"{start.kind}-{kinds[start.kind]}"] = True
    steady = [name for name in is_alive if name.startswith("kpp")][leader == "kpp"]
    for at, step in enumerate(drawn.steps):
        assert bool(step.freeze_ms) == any(one.do == "freeze" for one in step.actions)
        for action in step.actions:
            assert action.member != steady
            assert action.member != f"{leader}-1" or 2 * at >= step_count
            match action.do:
                case "grow":
                    assert action.count > drawn.topics[action.topics[0]]
                case "start":
                    assert action.member not in is_alive
                    is_alive[action.member] = True
                case "back":
                    assert not is_alive[action.member]
                    is_alive[action.member] = True
                case "stop" | "kill":
                    assert is_alive[action.member]
                    is_alive[action.member] = False
                case _:
                    assert is_alive[action.member]


@pytest.mark.slow
@pytest.mark.interop
@pytest.mark.parametrize(
    ("protocol", "leader"),
    [
        (COOPERATIVE, "kpp"),
        (RANGE, "java44"),
        pytest.param(STICKY, "aiop", marks=pytest.mark.deep),
        pytest.param(WEIGHTED, "kpp", marks=pytest.mark.deep),
    ],
)
def test_a_group_outlives_what_happens_to_it(
    protocol: str, leader: str, broker: Broker, tmp_path: Path
) -> None:
    outcome = play(plan(7, protocol, leader, step_count=4), broker, tmp_path)
    print(outcome.line())
    assert outcome.is_clean, f"{outcome.line()}\nthe plan: {outcome.plan}"


@pytest.mark.interop
def test_a_member_that_finds_a_backlog_reports_every_record(make_group: MakeGroup) -> None:
    """The program on librdkafka once dropped a record whenever a poll found more than it took.

    The record was fetched, reported by nobody and passed by with the next commit: record 0 of the
    next partition, where the batch ended with the one before.
    """
    group = make_group({"a": 4})
    group.feed.send(rounds=FULL_BATCHES * BATCH)
    group.feed.stop()
    group.start("ck")
    group.settled(SETTLES_S, hold_s=0.0)
    group.drain(DRAINS_S)
    verdict = group.judge()
    assert verdict.is_clean, verdict

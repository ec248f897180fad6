"""A small real group under contenders, and what the page makes of figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignors.model import Cluster, Group, Member
from tests.interop.broker import Broker
from tests.lab.weights.contenders import CONTENDERS
from tests.lab.weights.figures import figures, lateness
from tests.lab.weights.lag_based import lag_based_assignor
from tests.lab.weights.page import Claim, claim
from tests.lab.weights.play import play
from tests.lab.weights.world import World

WORLD = World(seed=3, seconds=8.0, member_count=3, partition_count=16, rate=80.0, use=0.4)


@pytest.mark.interop
@pytest.mark.parametrize(
    "contender",
    [
        "sampled work",
        *(
            pytest.param(name, marks=pytest.mark.deep)
            for name in CONTENDERS
            if name != "sampled work"
        ),
    ],
)
def test_a_group_processes_its_records_through_leave_and_join(
    contender: str, shared_broker: Broker, tmp_path: Path
) -> None:
    group = f"weights-{tmp_path.name}-{contender.replace(' ', '-')}"
    run = play(contender, WORLD, shared_broker, group=group, folder=tmp_path)
    assert run.errors == []
    assert run.leaders == 1
    late = lateness(run)
    assert not late.is_open[late.due_s < WORLD.join_s].any(), "read once, by whoever has it"
    shown = figures(run)
    assert shown["moves"] >= WORLD.partition_count // WORLD.member_count
    assert run.rounds >= 2
    assert shown["twice"] < shown["records"] / 10
    if contender == "fixed weights":
        assert shown["use_mean"] == pytest.approx(1, abs=0.5)


def test_the_lag_based_rule_counts_first() -> None:
    """The example of its README: the two smaller queues are together the longer one."""
    lags = {("t", 0): 100_000, ("t", 1): 50_000, ("t", 2): 60_000}
    members = tuple(Member(member_id=name, topics=("t",)) for name in ("C0", "C1"))
    answer = lag_based_assignor(lambda _: lags).assign(
        Group(cluster=Cluster.of({"t": 3}), members=members)
    )
    assert answer.assignment == {"C0": {"t": (0,)}, "C1": {"t": (1, 2)}}


@pytest.mark.parametrize(
    ("ratios", "shown"),
    [
        ([(0.5, 0.9), (0.9, 0.4), (0.99, 0.99)], Claim.LESS),
        ([(0.5, 0.9), (0.9, 1.0), (0.2, 0.2)], Claim.NONE),
        ([(1.1, 1.2), (2.0, 1.1), (0.9, 3.0)], Claim.NONE),
        ([(1.1, 1.2), (2.0, 1.1), (3.0, 1.1)], Claim.MORE),
        ([(0.1, 0.1), (0.1, 0.1)], Claim.TOO_FEW),
    ],
)
def test_less_lag_is_claimed_where_every_repetition_shows_it(
    ratios: list[tuple[float, float]], shown: Claim
) -> None:
    assert claim(ratios) is shown

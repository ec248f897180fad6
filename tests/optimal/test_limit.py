"""A search that is cut short still assigns everything, and says how far from the best it may be."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import lead
from assignors.assignor import Assignor
from assignors.model import Cluster, Group, Member
from assignors.optimal.cooperative_sticky import COOPERATIVE_STICKY
from assignors.optimal.solve import Solved, solve
from assignors.optimal.sticky import STICKY
from assignors.options import Options
from tests.optimal.groups import OWNERS, SHAPES, Arrays, group, tiny_groups, with_racks
from tests.optimal.workloads import workload
from wire import Subscription, encode_subscription


def judge(made: Arrays, limit: int) -> Solved:
    """Assert that the answer within `limit` is valid and complete, and that its gap is true."""
    best, cut = made.solve(), solve(**made.arguments(), limit=limit)
    allowed = made.may_take()
    held = cut.owner >= 0
    assert (held == allowed.any(axis=1)).all()
    assert allowed[held, cut.owner[held]].all()
    square, remote, kept, spread = made.figures(cut.owner)
    _, best_remote, _, best_spread = made.figures(best.owner)
    assert (square, kept) == (cut.load_square_sum, cut.kept)
    assert 0 <= square - best.load_square_sum <= cut.gap
    assert best.kept - kept <= cut.moves_gap
    assert spread - best_spread <= cut.spread_gap
    assert remote - best_remote <= cut.racks_gap
    if cut.is_best:
        assert cut.gap == cut.moves_gap == 0
        assert made.figures(cut.owner) == made.figures(best.owner)
    return cut


@given(tiny_groups(), st.integers(0, 40))
def test_every_partition_is_assigned_and_the_gap_is_an_upper_bound(
    made: Arrays, limit: int
) -> None:
    judge(made, limit)


@pytest.mark.parametrize(("shape", "owners"), list(product(SHAPES, OWNERS)))
def test_the_gap_is_an_upper_bound_in_larger_groups(shape: str, owners: str) -> None:
    for seed in range(6):
        made = group(seed, member_max=30, topic_max=12, size_max=12, shape=shape, owners=owners)
        made = with_racks(made, seed, rack_max=3) if seed % 2 else made
        steps = made.solve().steps
        for limit in (0, 1, steps // 3, steps - 1, steps + 1):
            cut = judge(made, max(limit, 0))
            assert cut.is_best or limit <= steps
            assert not steps or limit < steps or cut.is_best


def test_the_answer_depends_on_the_limit_alone() -> None:
    (made,) = (made for event, made in workload("He 500 x 3352 / 50") if event == "replace")
    for limit in (100, 1000, 3000):
        answers = [solve(**made.arguments(), limit=limit).owner for _ in range(2)]
        assert (answers[0] == answers[1]).all()


def test_more_steps_end_nearer_to_the_best() -> None:
    (made,) = (made for event, made in workload("He 500 x 3352 / 50") if event == "replace")
    best = made.solve()
    gaps = [solve(**made.arguments(), limit=best.steps * part // 4).gap for part in range(5)]
    assert gaps[0] > gaps[-1] == 0
    assert np.diff(gaps).max() <= 0


def chain() -> Group:
    """Chains of members: the first has everything, and all of it has to be passed on."""
    topics = [f"t{number:02}" for number in range(12)]
    owned = {topics[0]: tuple(range(30))}
    members = [
        Member(
            member_id=f"m{at:02}", topics=tuple(topics[at : at + 2]), owned=owned if not at else {}
        )
        for at in range(11)
    ]
    return Group(cluster=Cluster.of({topics[0]: 30, topics[-1]: 3}), members=members)


@pytest.mark.parametrize("assignor", [STICKY, COOPERATIVE_STICKY])
def test_a_leader_keeps_the_limit_of_its_assignor(assignor: Assignor) -> None:
    """A leader asks for repair of the copies of Kafka's, and for no limit."""
    group_of_chain = chain()
    blobs = {
        member.member_id: encode_subscription(Subscription(version=1, topics=member.topics))
        for member in group_of_chain.members
    }
    limited = assignor.configured(Options(limit=0))
    led = lead(limited, group_of_chain.cluster, blobs)
    assert led.rebalance.stats["limit_reached"] is True
    assert "limit_reached" not in lead(assignor, group_of_chain.cluster, blobs).rebalance.stats


@pytest.mark.parametrize("assignor", [STICKY, COOPERATIVE_STICKY])
def test_the_option_states_the_gap_and_the_default_none(assignor: Assignor) -> None:
    group_of_chain = chain()
    best = assignor.assign(group_of_chain)
    assert "limit_reached" not in best.stats
    cut = assignor.configured(Options(limit=0)).assign(group_of_chain)
    assert cut.stats["limit_reached"] is True
    assert float(cut.stats["balance_gap_max"]) >= 0
    assert float(cut.stats["moves_gap_max"]) >= 0
    assert assignor.configured(Options(limit=10**9)).assign(group_of_chain).stats == best.stats


@pytest.mark.parametrize("odd", [-1, 2.5, "10", True, float("inf"), [3]])
def test_a_limit_that_is_no_number_of_steps_is_refused(odd: Any) -> None:
    with pytest.raises(ValueError, match="limit: "):
        Options(limit=odd)


def test_an_integer_of_numpy_is_a_limit() -> None:
    assert type(Options(limit=np.int32(7)).limit) is int  # type: ignore[arg-type]

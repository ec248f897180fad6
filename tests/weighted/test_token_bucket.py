"""A budget in time: what rounds may cost, whenever they happen and whoever leads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.weighting.token_bucket import (
    TimedBudget,
    after_look,
    after_round,
    batches_of,
    empty_bucket,
    next_batch_ms,
    round_budget,
)

budgets = st.builds(
    TimedBudget, cost=st.integers(0, 12), every_ms=st.sampled_from([1, 7, 1000, 60_000])
)
steps = st.lists(
    st.tuples(st.integers(0, 3000), st.floats(0, 1), st.booleans(), st.booleans()), max_size=40
)
"""How long after the one before, which part of the budget is spent, by us, cooperatively."""


@given(budgets, steps)
def test_in_any_time_no_more_is_spent_than_a_full_bucket_and_what_comes_back(
    budget: TimedBudget, history: list[tuple[int, float, bool, bool]]
) -> None:
    assert budget.cost is not None
    now_ms, bucket, spent = 0, empty_bucket(budget, 0), []
    for wait_ms, part, is_ours, is_cooperative in history:
        now_ms += wait_ms
        if not is_ours:
            bucket = empty_bucket(budget, now_ms)
            continue
        allowed = round_budget(bucket, now_ms)
        assert allowed is not None
        assert allowed <= budget.cost
        cost = int(allowed * part)
        spent.append((now_ms, cost))
        bucket = after_round(bucket, now_ms, spent=cost, is_cooperative=is_cooperative)
    for at, (begin_ms, _) in enumerate(spent):
        total = 0
        for end_ms, cost in spent[at:]:
            total += cost
            assert total <= budget.cost + budget.cost * (end_ms - begin_ms) // budget.every_ms


@given(budgets, st.integers(1, 12), st.integers(0, 10**6))
def test_the_round_that_completes_a_hand_over_has_no_budget_and_the_next_one_has(
    budget: TimedBudget, spent: int, wait_ms: int
) -> None:
    known = after_round(empty_bucket(budget, 0), 0, spent=0, is_cooperative=True)
    begun = after_round(known, 10**6, spent=spent, is_cooperative=True)
    assert round_budget(begun, 10**6 + wait_ms) == 0
    done = after_round(begun, 10**6 + wait_ms, spent=0, is_cooperative=True)
    assert next_batch_ms(done) == 10**6 + budget.every_ms
    assert round_budget(done, max(next_batch_ms(done), 10**6 + wait_ms)) == budget.cost
    eager = after_round(known, 10**6, spent=spent, is_cooperative=False)
    assert not eager.is_handing_over


def test_without_a_limit_only_the_round_that_completes_a_hand_over_has_a_budget() -> None:
    bucket = empty_bucket(TimedBudget(every_ms=1000), 0)
    assert round_budget(bucket, 10**9) == 0, "somebody else may have begun one"
    bucket = after_round(bucket, 5, spent=0, is_cooperative=True)
    assert round_budget(bucket, 5) is None
    bucket = after_round(bucket, 5, spent=900, is_cooperative=True)
    assert round_budget(bucket, 6) == 0
    assert next_batch_ms(bucket) == 1005
    assert next_batch_ms(after_look(bucket, 1005)) == 2005


def test_a_clock_that_goes_back_brings_no_tokens() -> None:
    bucket = after_round(empty_bucket(TimedBudget(cost=3), 500), 500, spent=0, is_cooperative=True)
    assert round_budget(bucket, 0) == 0
    assert round_budget(bucket, 500 + 60_000) == 3


def test_batches_are_counted_up_and_a_budget_of_nothing_has_none() -> None:
    assert [batches_of(TimedBudget(cost=5), cost) for cost in (0, 1, 5, 6)] == [0, 1, 1, 2]
    assert batches_of(TimedBudget(cost=0), 3) is None
    assert batches_of(TimedBudget(cost=0), 0) == 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cost": -1}, "cost: expected a whole number from 0 on, found -1"),
        ({"cost": 2.5}, "cost: expected a whole number from 0 on, found 2.5"),
        ({"every_ms": 0}, "every_ms: expected a whole number from 1 on, found 0"),
        ({"every_ms": True}, "every_ms: expected a whole number from 1 on, found True"),
    ],
)
def test_a_budget_that_cannot_be_is_refused_with_its_field(
    fields: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        TimedBudget(**fields)

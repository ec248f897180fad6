"""What a coordinator is asked: bursts, clients that wait, transactions."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from assignors.documents.values import DocumentError
from assignors.simulation.timed.execution import measures, step
from assignors.simulation.timed.execution.load import Load, draws
from assignors.simulation.timed.execution.measures import measure, play
from assignors.simulation.timed.execution.policy import POLICIES

LOAD = Load(requests=3000, per_second=5000, groups=100)


def test_a_burst_comes_at_once_and_as_many_come_in_a_second() -> None:
    steady, bursts = draws(LOAD).at_us, draws(replace(LOAD, burst=10)).at_us
    assert len(bursts) == len(steady) == 3000
    assert len(np.unique(bursts)) == 300
    assert bursts[-1] == pytest.approx(steady[-1], rel=0.2)


@pytest.mark.parametrize("name", POLICIES)
def test_requests_on_their_way_are_never_more_than_clients_that_wait_for_answers(name: str) -> None:
    load = replace(LOAD, clients=7, think_us=300, check_us=400)
    played = play(POLICIES[name], load)
    begins, ends = np.sort(played.drawn.at_us), np.sort(played.answered_at)
    on_their_way = np.arange(1, 3001) - np.searchsorted(ends, begins, side="right")
    assert on_their_way.max() <= 7
    # Little's law: clients = rate x (response time + time to think).
    took = (played.answered_at - played.drawn.at_us).mean() + 300
    assert 3000 / (ends[-1] - begins[0]) * took == pytest.approx(7, rel=0.05)


def test_each_transaction_is_an_append_of_its_own() -> None:
    load = replace(LOAD, per_second=50_000, append_us=500)
    shared, alone = (
        measure(POLICIES["two-stage"], replace(load, transactions_share=share))
        for share in (0.0, 1.0)
    )
    assert shared.records_per_append > 2
    assert alone.records_per_append == 1
    assert alone.p99_ms > shared.p99_ms


@pytest.mark.parametrize("name", POLICIES)
def test_what_is_made_without_a_call_has_all_of_its_fields(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made: set[type] = set()

    def make_all(kind: Any, values: tuple[Any, ...]) -> Any:
        assert len(values) == len(kind._fields), kind
        made.add(kind)
        return kind(*values)

    for module in (measures, step):
        monkeypatch.setattr(module, "make", make_all)
    load = replace(LOAD, requests=50, check_us=300, checks_share=0.5)
    measure(POLICIES[name], load)
    assert len(made) == 10


@pytest.mark.parametrize("field", [each.name for each in fields(Load)])
def test_values_that_cannot_be_are_refused_with_their_field(field: str) -> None:
    for value in (-1, 2**70):
        changed: dict[str, Any] = {field: value}
        with pytest.raises(DocumentError) as caught:
            replace(LOAD, **changed)
        assert caught.value.path == field

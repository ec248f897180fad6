"""Traffic scenarios as JSON: what cannot be is refused with its path, and rows stay apart."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from assignors.documents.values import DocumentError
from assignors.simulation import simulate_traffic
from assignors.simulation.traffic.rows import COLUMNS, traffic_rows
from assignors.simulation.traffic.scenario import TrafficScenario, traffic_from_document

MEMBERS = [{"name": "a", "count": 2}, {"name": "b", "capacity": 3}]
SMALL: dict[str, Any] = {
    "version": 1,
    "until_s": 600,
    "topics": {"t": 6, "u": 2},
    "members": MEMBERS,
}


def test_what_is_left_out_or_null_has_its_default() -> None:
    assert traffic_from_document({"version": 1}) == TrafficScenario()
    nulls: dict[str, Any] = dict.fromkeys(each.name for each in fields(TrafficScenario))
    assert traffic_from_document({"version": 1, **nulls}) == TrafficScenario()
    found = traffic_from_document(SMALL)
    assert [member.name for member in found.members] == ["a0", "a1", "b"]
    assert [member.capacity for member in found.members] == [1, 1, 3]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"version": 2}, "version"),
        ({"until": 5}, "until"),
        ({"until_s": 0}, "until_s"),
        ({"until_s": 1.5}, "until_s"),
        ({"until_s": 100_000_000}, "until_s"),
        ({"until_s": 30_000_000, "tick_s": 1}, "until_s"),
        ({"count_from_s": 600}, "count_from_s"),
        ({"topics": {"t": -1}}, "topics.t"),
        ({"topics": {"t": 10**9}}, "topics.t"),
        ({"topics": {"t": 10**6, "u": 1}}, "topics"),
        ({"members": []}, "members"),
        ({"members": [{"capacity": 1}]}, "members[0].name"),
        ({"members": [{"name": "a", "capacity": 0}]}, "members[0].capacity"),
        ({"members": [{"name": "a", "capacity": True}]}, "members[0].capacity"),
        ({"members": [{"name": "a", "count": 20_000}]}, "members[0].count"),
        ({"members": [{"name": "a"}, {"name": "a"}]}, "members[1].name"),
        ({"members": [{"name": "a", "topics": ["t", "v"]}]}, "members[0].topics[1]"),
        ({"plan": [{"do": "leave", "member": "b"}]}, "plan[0].at_s"),
        ({"plan": [{"at_s": 1, "do": "leaf"}]}, "plan[0].do"),
        ({"plan": [{"at_s": 1, "do": "leave"}]}, "plan[0].member"),
        ({"plan": [{"at_s": 1, "do": "leave", "member": "c"}]}, "plan[0].member"),
        (
            {
                "plan": [
                    {"at_s": 2, "do": "leave", "member": "b"},
                    {"at_s": 1, "do": "leave", "member": "b"},
                ]
            },
            "plan[0].member",
        ),
        ({"plan": [{"at_s": 1, "do": "rate", "topic": "v"}]}, "plan[0].topic"),
        ({"rates": {"spread": "wide"}}, "rates.spread"),
        ({"rates": {"spread": float("nan")}}, "rates.spread"),
        ({"rates": {"noise": -0.1}}, "rates.noise"),
        ({"rates": {"distribution": "normal"}}, "rates.distribution"),
        ({"leader": {"budget": -1}}, "leader.budget"),
        ({"leader": {"trigger": 0.01}}, "leader.trigger"),
        ({"leader": {"weights": "bytes"}}, "leader.weights"),
        ({"use": 0}, "use"),
        ({"behind_share": 1.2}, "behind_share"),
    ],
)
def test_what_cannot_be_is_refused_with_its_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(DocumentError) as caught:
        traffic_from_document({**SMALL, **changes})
    assert caught.value.path == path


def test_rows_that_cannot_be_simulated_are_rows_with_an_error_and_harm_no_other() -> None:
    rows: list[dict[str, Any]] = [
        {"scenario": json.dumps(SMALL), "seed": 5},
        {"scenario": json.dumps({**SMALL, "use": -1}), "seed": 6},
        {"scenario": "{", "seed": 7},
        {"scenario": "nosy", "seed": 8},
        {"scenario": SMALL, "seed": "x"},
        {"scenario": None},
        {"scenario": SMALL},
    ]
    found = list(traffic_rows(rows, assignors=["range", "weighted"]))
    assert all(list(row) == list(COLUMNS) for row in found if row["error"] is None)
    good = [(row["seed"], row["assignor"]) for row in found if row["error"] is None]
    names = ("java/range", "weighted/weighted")
    assert good == [(seed, name) for seed in (5, 0) for name in names]
    bad = [row["error"] for row in found if row["error"] is not None]
    assert bad[0] == "-1 is not between 0.001 and 100 at scenario.use"
    assert len(bad) == 5
    assert "seed" in bad[3]
    alone = list(traffic_rows(rows[:1], assignors=["range", "weighted"]))
    assert alone == found[:2]


def test_an_unknown_assignor_is_refused_before_anything_is_simulated() -> None:
    with pytest.raises(ValueError, match="did you mean 'range'"):
        traffic_rows([], assignors=["rnage"])
    with pytest.raises(ValueError, match=r"scenario\.until_s"):
        simulate_traffic({**SMALL, "until_s": 0}, assignors="range")

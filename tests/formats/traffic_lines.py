"""Real lines of the formats of traffic."""

from __future__ import annotations

import json
from typing import Any

from tests.cli.running import answers

Line = dict[str, Any]


def traffic() -> list[Line]:
    """Traffic scenarios, small and with every key."""
    members = [{"name": "a", "count": 2, "capacity": 2}, {"name": "b", "topics": ["t"]}]
    plan = [
        {"at_s": 100, "do": "leave", "member": "b"},
        {"at_s": 200, "do": "rate", "topic": "t", "factor": 2.5},
    ]
    rates = {"distribution": "zipf", "spread": 0.8, "drift": 0, "drift_period_s": 3600}
    rates |= {"noise": 0.1, "noise_s": 60, "bursts_a_day": 0, "burst_factor": 2, "burst_s": 60}
    leader = {"samples_every_s": 10, "decides_every_s": 0, "budget": 3, "weights": "lag"}
    leader |= {"horizon_s": 60, "half_life_s": 30.5, "error": 0, "tolerance": 0, "trigger": 0.1}
    small: Line = {"version": 1, "until_s": 300, "topics": {"t": 4}, "members": members}
    whole = {**small, "name": "mine", "count_from_s": 20, "tick_s": 5, "plan": plan}
    whole |= {"rates": rates, "leader": leader, "records_per_s": 100, "use": 0.5, "warm_up_s": 1}
    return [small, {**whole, "behind_share": 0.5, "behind_s": 60}, {"version": 1, "plan": None}]


def simulated_traffic() -> list[Line]:
    """Loads and lags of small groups."""
    found = []
    for one in traffic()[:2]:
        lines, _ = answers("traffic", "-", "-o", "jsonl", given=json.dumps(one))
        found += lines
    return found

"""The short-lived members of a scenario, drawn from its seed.

Times between arrivals and lifetimes are exponential, each from its own stream of random numbers.
"""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.random_streams import exponential, stream
from assignors.simulation.timed.scenario import Action, Arrivals, MemberConfig, Scenario, Verb


def with_arrivals(scenario: Scenario) -> Scenario:
    """Return the scenario with its short-lived members among the others. Cost: O(members)."""
    if not scenario.arrivals:
        return scenario
    members, plan = list(scenario.members), list(scenario.plan)
    for each in scenario.arrivals:
        come, happens = drawn(each, scenario.seed)
        members += come
        plan += happens
    plan.sort(key=lambda action: action.at_ms)
    return replace(scenario, members=tuple(members), plan=tuple(plan), arrivals=())


def drawn(arrivals: Arrivals, seed: int) -> tuple[list[MemberConfig], list[Action]]:
    """Return the members that come, and what happens to them when. Cost: O(members)."""
    one = arrivals.member
    gaps, lives = stream(seed, one.name, "arrivals"), stream(seed, one.name, "lifetimes")
    members: list[MemberConfig] = []
    plan: list[Action] = []
    at_ms = arrivals.from_ms
    while (at_ms := at_ms + max(exponential(gaps, arrivals.every_ms), 1)) < arrivals.until_ms:
        name = f"{one.name}.{len(members)}"
        instance = None if one.instance_id is None else f"{one.instance_id}.{len(members)}"
        members.append(replace(one, name=name, instance_id=instance, starts_at_ms=None))
        over_ms = at_ms + max(exponential(lives, arrivals.lifetime_ms), 1)
        plan.append(Action(at_ms=at_ms, do=Verb.START, member=name))
        plan.append(Action(at_ms=over_ms, do=Verb(arrivals.ends.value), member=name))
    return members, plan

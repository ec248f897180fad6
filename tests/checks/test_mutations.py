"""A correct answer is spoilt in one place: the check finds that law broken, and no other."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from assignors import ASSIGNORS, Assignment, Group, OnFailure, Options, RebalanceProtocol
from assignors.checks import Rule, check
from assignors.testing import groups

Shares = dict[str, dict[str, list[int]]]
"""Member id -> topic -> numbers, to be spoilt."""
Spoil = Callable[[st.DataObject, Group, Shares, dict[str, list[int]]], None]


def pick_held(data: st.DataObject, shares: Shares) -> tuple[str, str, int]:
    """Return some (member, topic, number) of the answer."""
    held = [(m, t, n) for m, share in shares.items() for t in share for n in share[t]]
    assume(held)
    return data.draw(st.sampled_from(held))


def drop_entry(data: st.DataObject, _group: Group, shares: Shares, _: dict[str, list[int]]) -> None:
    idle = [member_id for member_id, share in shares.items() if not share]
    assume(idle)
    del shares[data.draw(st.sampled_from(idle))]


def add_stranger(_: st.DataObject, _group: Group, shares: Shares, __: dict[str, list[int]]) -> None:
    shares["stranger"] = {}


def invent_topic(
    data: st.DataObject, group: Group, shares: Shares, _: dict[str, list[int]]
) -> None:
    unknown = [
        (member.member_id, topic)
        for member in group.members
        for topic in member.topics
        if topic not in group.cluster.topics
    ]
    assume(unknown)
    member_id, topic = data.draw(st.sampled_from(unknown))
    shares[member_id][topic] = [0]


def invent_partition(
    data: st.DataObject, group: Group, shares: Shares, _: dict[str, list[int]]
) -> None:
    member_id, topic, _number = pick_held(data, shares)
    count = group.cluster.topics[topic].partition_count
    shares[member_id][topic].append(data.draw(st.sampled_from((-1, count, 2**31 - 1))))


def give_to_one_who_did_not_ask(
    data: st.DataObject, group: Group, shares: Shares, _: dict[str, list[int]]
) -> None:
    member_id, topic, number = pick_held(data, shares)
    others = [member.member_id for member in group.members if topic not in member.topics]
    assume(others)
    shares[member_id][topic].remove(number)
    shares[data.draw(st.sampled_from(others))].setdefault(topic, []).append(number)


def give_twice(data: st.DataObject, group: Group, shares: Shares, _: dict[str, list[int]]) -> None:
    _member_id, topic, number = pick_held(data, shares)
    askers = [member.member_id for member in group.members if topic in member.topics]
    shares[data.draw(st.sampled_from(askers))].setdefault(topic, []).append(number)


def lose(data: st.DataObject, _group: Group, shares: Shares, _: dict[str, list[int]]) -> None:
    member_id, topic, number = pick_held(data, shares)
    shares[member_id][topic].remove(number)


def hold_back(
    data: st.DataObject, _group: Group, shares: Shares, withheld: dict[str, list[int]]
) -> None:
    member_id, topic, number = pick_held(data, shares)
    shares[member_id][topic].remove(number)
    withheld[topic] = [number]


SPOILT: dict[Rule, Spoil] = {
    Rule.MISSING_ENTRY: drop_entry,
    Rule.UNKNOWN_MEMBER: add_stranger,
    Rule.UNKNOWN_TOPIC: invent_topic,
    Rule.UNKNOWN_PARTITION: invent_partition,
    Rule.NOT_SUBSCRIBED: give_to_one_who_did_not_ask,
    Rule.ASSIGNED_TWICE: give_twice,
    Rule.UNASSIGNED: lose,
    Rule.WITHHELD_WITHOUT_REASON: hold_back,
}
# Not every group has what a mutation needs; enough of them do.
SOME = settings(
    max_examples=40, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
ROUNDROBIN = ASSIGNORS["java/roundrobin"].configured(Options(on_failure=OnFailure.REPAIR))
COOPERATIVE = ASSIGNORS["optimal/cooperative-sticky"]


def mutable(shares: Assignment) -> Shares:
    return {m: {t: list(ns) for t, ns in share.items()} for m, share in shares.items()}


def frozen(shares: Shares) -> dict[str, dict[str, tuple[int, ...]]]:
    return {m: {t: tuple(ns) for t, ns in share.items()} for m, share in shares.items()}


@pytest.mark.parametrize(("rule", "spoil"), SPOILT.items(), ids=[rule.value for rule in SPOILT])
@SOME
@given(group=groups(racks=False), data=st.data())
def test_exactly_the_law_that_was_broken_is_found(
    rule: Rule, spoil: Spoil, group: Group, data: st.DataObject
) -> None:
    shares = mutable(ROUNDROBIN.assign(group).assignment)
    assert check(group, frozen(shares)).violations == ()
    before, withheld = deepcopy(shares), dict[str, list[int]]()
    spoil(data, group, shares, withheld)
    assert (shares, withheld) != (before, {})
    report = check(
        group, frozen(shares), withheld={topic: tuple(ns) for topic, ns in withheld.items()}
    )
    assert [found.rule for found in report.violations] == [rule]


@SOME
@given(group=groups(racks=False), data=st.data())
def test_what_is_withheld_and_given_is_found(group: Group, data: st.DataObject) -> None:
    shares = mutable(COOPERATIVE.assign(group).assignment)
    member_id, topic, number = pick_held(data, shares)
    answer = COOPERATIVE.assign(group)
    waiting = {**answer.withheld, topic: (*answer.withheld.get(topic, ()), number)}
    found = check(
        group, frozen(shares), withheld=waiting, protocol=RebalanceProtocol.COOPERATIVE
    ).violations
    rules = {violation.rule for violation in found}
    assert Rule.WITHHELD_AND_ASSIGNED in rules
    assert rules <= {Rule.WITHHELD_AND_ASSIGNED, Rule.WITHHELD_WITHOUT_REASON}
    assert {(v.topic, v.partition) for v in found} == {(topic, number)}
    assert (member_id,) in {violation.members for violation in found}


@SOME
@given(group=groups(racks=False), data=st.data())
def test_what_had_to_wait_and_was_given_is_found(group: Group, data: st.DataObject) -> None:
    answer = COOPERATIVE.assign(group)
    assume(answer.withheld)
    topic = data.draw(st.sampled_from(sorted(answer.withheld)))
    number = data.draw(st.sampled_from(answer.withheld[topic]))
    shares = mutable(answer.assignment)
    fresh = [
        member.member_id
        for member in group.members
        if topic in member.topics and number not in member.owned.get(topic, ())
    ]
    assume(fresh)
    taker = data.draw(st.sampled_from(fresh))
    shares[taker].setdefault(topic, []).append(number)
    waiting = {
        name: tuple(n for n in numbers if (name, n) != (topic, number))
        for name, numbers in answer.withheld.items()
    }
    report = check(group, frozen(shares), withheld=waiting, protocol=RebalanceProtocol.COOPERATIVE)
    found = report.violations + report.in_doubt
    assert [(v.rule, v.topic, v.partition) for v in found] == [
        (Rule.GIVEN_TOO_EARLY, topic, number)
    ]
    assert found[0].members[0] == taker


def test_every_rule_is_tried() -> None:
    elsewhere = {Rule.WITHHELD_AND_ASSIGNED, Rule.GIVEN_TOO_EARLY}
    assert set(SPOILT) | elsewhere == set(Rule)

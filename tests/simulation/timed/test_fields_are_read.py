"""Nothing is ignored in silence: a field that a protocol does not read is refused, else it is read.

Which protocols read a field is declared beside its type (`ReadBy`). Here every access to a field is
noted while groups run in which much happens: no protocol reads a field that is not its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from assignors.documents.keys import keys_of
from assignors.documents.values import DocumentError
from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.group_protocols import ReadBy
from assignors.simulation.timed.scenario import (
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    Scenario,
)
from assignors.simulation.timed.scenario_document import scenario_from_document
from assignors.simulation.timed.simulation import simulate

CLASSES: tuple[type[Any], ...] = (Scenario, MemberConfig, Timing, BrokerConfig)
PLACES: dict[type[Any], tuple[str | int, ...]] = {
    Scenario: (),
    MemberConfig: ("members", 0),
    Timing: ("members", 0, "timing"),
    BrokerConfig: ("broker",),
}
VALUES: dict[str, Any] = {
    "assignors": ["java/range"],
    "claims": "stale",
    "owned": {"t": [0]},
    "subscription_hex": "0003",
    "remote_assignor": "range",
    "migration_policy": "disabled",
    "assignor": "server/range",
    "further_assignors": ["server/simple"],
    "placement": {"brokers": 2},
    "push": {"brokers": 2},
    "stops_without_answer": True,
    "forgets_generation": True,
    "instance_id": "i",
    "client": "java-4.4.0",
    "client_model": "in_poll",
    "timing": {"heartbeat_late_us": 1},
    "heartbeats_go_on": True,
    "wake_ms": 500,
    "wake_late_us": 1,
}
"""Values that are no defaults; numbers are one more."""
HANDS_ON = ("sides.py", "live.py", "offsets_client.py", "members.py", "client.py")
BY_CHANCE = {
    "migration_policy",  # of members that migrate
    "claims",  # of members that answer a leader
    "forgets_generation",  # of members whose commits are refused
}
"""Fields that these runs need not come to."""


Found = set[tuple[type[Any], str]]


def marked() -> list[tuple[type[Any], str, frozenset[GroupProtocol]]]:
    return [
        (kind, name, mark.protocols)
        for kind in CLASSES
        for name, key in keys_of(kind).items()
        for mark in key.marks
        if isinstance(mark, ReadBy)
    ]


def document(protocol: GroupProtocol, *, has_pattern: bool = False) -> dict[str, Any]:
    """A group that comes to most of what its protocol can do."""
    member = {"topics": ["t", "u"], "poll_ms": 300, "auto_commit_ms": 1000}
    if has_pattern:
        member |= {"topics": [], "pattern": "t.*"}
    faults = [
        {"kind": "freeze", "member": "c0", "from_ms": 100_000, "until_ms": 155_000},
        {"kind": "cut", "member": "c1", "from_ms": 100_000, "until_ms": 165_000},
        {"kind": "coordinator_crash", "from_ms": 40_000, "until_ms": 45_000},
    ]
    return {
        "version": 1,
        "until_ms": 200_000,
        "topics": {"t": 6, "u": 3},
        "protocol": protocol.value,
        "members": [
            {**member, "name": "c", "count": 3, "starts_every_ms": 100},
            {**member, "name": "late", "starts_at_ms": None},
        ],
        "plan": [
            {"at_ms": 30_000, "do": "start", "member": "late"},
            {"at_ms": 60_000, "do": "stop", "member": "c1"},
            {"at_ms": 70_000, "do": "start", "member": "c1"},
            {"at_ms": 80_000, "do": "crash", "member": "c2"},
            {"at_ms": 140_000, "do": "grow", "topic": "t", "partitions": 8},
        ],
        "processing": {"records_per_second": 5},
        "faults": faults[: 2 if protocol is GroupProtocol.PUSH else 3],
    }


@contextmanager
def reads(found: Found, handed_on: Found) -> Iterator[None]:
    """Note which fields of settings the simulator reads, but for copies and comparisons.

    Those that modules hand on for any protocol at once (`HANDS_ON`) are noted apart.
    """

    def noting(kind: type[Any]) -> Any:
        names = {each.name for each in fields(kind)}

        def read(settings: Any, name: str) -> Any:
            if name in names:
                code = sys._getframe(1).f_code
                is_copy = code.co_filename.endswith("dataclasses.py")
                # What must happen in the end is judged by the longest time of any protocol.
                is_judge = code.co_filename.endswith("liveness.py")
                if not is_copy and not is_judge and code.co_name not in {"__eq__", "__hash__"}:
                    is_side = code.co_filename.endswith(HANDS_ON)
                    (handed_on if is_side else found).add((kind, name))
            return object.__getattribute__(settings, name)

        return read

    for kind in CLASSES:
        setattr(kind, "__getattribute__", noting(kind))  # noqa: B010 - a type checker knows better
    try:
        yield
    finally:
        for kind in CLASSES:
            delattr(kind, "__getattribute__")


def fields_read(protocol: GroupProtocol) -> tuple[Found, Found]:
    found: Found = set()
    handed_on: Found = set()
    for has_pattern in (False, True)[: 1 if protocol is GroupProtocol.PUSH else 2]:
        scenario = scenario_from_document(document(protocol, has_pattern=has_pattern))
        with reads(found, handed_on):
            simulate(scenario)
    return found, handed_on


@pytest.mark.parametrize("protocol", GroupProtocol)
def test_a_run_reads_the_fields_of_its_protocol_and_no_other(protocol: GroupProtocol) -> None:
    found, handed_on = fields_read(protocol)
    for kind, name, protocols in marked():
        if protocol not in protocols:
            assert (kind, name) not in found, f"{name} is read under {protocol}"
        elif name not in BY_CHANCE:
            assert (kind, name) in found | handed_on, f"{name} is not read under {protocol}"


@pytest.mark.parametrize(
    ("kind", "name", "protocol"),
    [
        (kind, name, protocol)
        for kind, name, protocols in marked()
        for protocol in GroupProtocol
        if protocol not in protocols and not (kind is Timing and "wake" in name)  # needs others
    ],
)
def test_a_field_that_the_protocol_does_not_read_is_refused_with_its_place(
    kind: type[Any], name: str, protocol: GroupProtocol
) -> None:
    given = deepcopy(document(protocol))
    part: Any = given
    for step in PLACES[kind]:
        part = part.setdefault(step, {}) if isinstance(part, dict) else part[step]
    default = keys_of(kind)[name].default
    part[name] = VALUES.get(name) if name in VALUES else default + 1
    assert not is_dataclass(part[name])
    with pytest.raises(DocumentError) as error:
        scenario_from_document(given, protocols=())
    is_whole_refused = kind is Timing and protocol is GroupProtocol.PUSH
    assert error.value.place[-1] == ("timing" if is_whole_refused else name)
    assert f"not under {protocol.value}" in error.value.text
    if name == "client_model":
        return  # beside any other protocol a group of push members has none
    others = [each.value for each in GroupProtocol]
    scenario_from_document(given, protocols=others)

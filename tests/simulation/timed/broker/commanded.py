"""What `kafka-assignors replay` finds in a log, compared with groups that a coordinator has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from assignors.cli.command import command
from assignors.simulation.timed.broker import Broker
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from wire import decode_assignment

TABLES = ("groups", "generations", "assignments", "offsets")


def run(*arguments: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(command, [*arguments, "-o", "jsonl"])
    assert result.exit_code in {0, 1}, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def compare_all(path: Path, broker: Broker, partition: int | None = None) -> int:
    """Compare groups with what the command says of a log; return how many of them have owners.

    The log is that of a partition; `None`: of all of them.
    """
    rows = run("replay", str(path), *chain.from_iterable(("--table", each) for each in TABLES))
    by_group: dict[str, list[dict[str, Any]]] = {}
    for each in rows:
        by_group.setdefault(each["row"]["group"], []).append(each)
    return sum(
        compare(each, by_group.get(name, []), broker.topics.names)
        for name, each in broker.groups.items()
        if partition in {None, broker.places[name]}
    )


def compare(
    coordinator: GroupCoordinator, rows: list[dict[str, Any]], names: Mapping[str, str]
) -> bool:
    """Compare a group with what the command says of its last life; whether there was one."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for each in rows:
        tables.setdefault(each["table"], []).append(each["row"])
    offsets = {}
    for row in tables.get("offsets", ()):
        offsets[row["topic"], row["partition"]] = row["offset"]
    known = {place: each.offset for place, each in coordinator.offsets.table.committed.items()}
    assert {place: offset for place, offset in offsets.items() if offset is not None} == known
    group = coordinator.group
    if group is None or (isinstance(group, ClassicGroup) and group.state.value != "Stable"):
        return False
    kind = "classic" if isinstance(group, ClassicGroup) else "consumer"
    generation = group.generation if isinstance(group, ClassicGroup) else group.epoch
    last = tables["groups"][-1]
    assert (last["kind"], tables["generations"][-1]["generation"]) == (kind, generation)
    held = {
        (names.get(row["topic"], row["topic"]), row["partition"], row["member_id"])
        for row in tables.get("assignments", ())
        if row["to_ms"] is None and row["life"] == last["life"]
    }
    assert held == owners(coordinator)
    return True


def owners(coordinator: GroupCoordinator) -> set[tuple[str, int, str]]:
    """Who has what; also what a member has to give up and has not yet."""
    group = coordinator.group
    if isinstance(group, ConsumerGroup):
        members = group.members.values()
        return {(*place, each.member_id) for each in members for place in each.held()}
    found = set()
    for member in () if group is None else group.members.values():
        value = decode_assignment(member.assignment).value
        for topic, numbers in ({} if value is None else value.partitions).items():
            found |= {(topic, number, member.member_id) for number in numbers}
    return found

"""Plays a world with a contender on a broker: members, a producer, one leave and one join."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition

from tests.interop.admin import Admin
from tests.interop.broker import Broker
from tests.interop.program import READY_S, Program
from tests.lab.weights import member, producer
from tests.lab.weights.world import LEAVER, World
from tests.waiting import wait

CALM_S = 2.0
"""A group is at rest when so long nothing came and nothing was given up."""
SETTINGS = {"group.initial.rebalance.delay.ms": "2000"}
"""Of the broker: its first round waits for all members, as by default (3 s)."""
LEAD_S = 0.5
"""How long the first member is ahead of the others: it leads."""
AHEAD_S = 0.3
"""The first record is due so long after the group was found at rest."""

Line = dict[str, Any]


class Process(Program):
    """A member or the producer."""

    def event(self, name: str, *, count: int = 1) -> Line:
        """Return the line of an event that has come so often; `TimeoutError` where it does not."""

        def found() -> list[Line]:
            return [line for line in self.lines if line["event"] == name][count - 1 :]

        if not self.wait(found):
            raise TimeoutError(f"no {name!r}")
        return found()[0]


class Run(NamedTuple):
    """A world that a contender has played. Partitions are numbers of `World.partitions`."""

    contender: str
    world: World
    begin_ns: int
    """When the first second began; all times are of one monotonic clock."""
    first: Sequence[int]
    """The offset of each partition's first record of this run."""
    changes: Sequence[tuple[int, int, str, Sequence[int]]]
    """When, which member, `assigned`, `revoked` or `lost`, partitions."""
    done: Sequence[tuple[Sequence[int], Sequence[int], Sequence[int]]]
    """By member: partition, offset and time of each record that it has processed."""
    errors: Sequence[str]
    """What clients complained of."""
    rounds: int
    """Generations of the group after the first record was due."""
    leaders: int
    """How many members led them."""
    machine: dict[str, float]
    """What was used, in processors, and how late records were sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Playing:
    """A group that is at rest, and what it takes to have it do something."""

    contender: str
    world: World
    broker: Broker
    group: str
    feed: Process
    members: Sequence[Process]
    first: list[int]
    """As `Run.first`."""


def play(contender: str, world: World, broker: Broker, *, group: str, folder: Path) -> Run:
    """Return what a group under a contender did; `group` is a name that was not used before."""
    settings = {"world": asdict(world), "bootstrap": broker.bootstrap}
    with ExitStack() as ends:

        def start(module: str, **more: Any) -> Process:
            program = Process(
                [sys.executable, "-m", module, json.dumps({**settings, **more})],
                errors=folder / f"{group}.errors",
            )
            ends.callback(program.end)
            return program

        feed = start(producer.__name__)
        members = [
            start(member.__name__, contender=contender, number=number, group=group)
            for number in range(world.member_count + 1)
        ]
        first = _prepared(world, broker, group)
        for program in (feed, *members):
            program.event("ready")
        _join(members[:-1], world)
        return _measured(
            Playing(
                contender=contender,
                world=world,
                broker=broker,
                group=group,
                feed=feed,
                members=members,
                first=first,
            )
        )


def _measured(playing: Playing) -> Run:
    """Let records come, a member leave and another join; return what was seen."""
    world, broker, group, members = playing.world, playing.broker, playing.group, playing.members
    begin_ns = time.monotonic_ns() + round(AHEAD_S * 1e9)
    load = os.getloadavg()[0]
    rounds = max(broker.leaders(group), default=0)
    _ask(members, "mark")
    before = _processors(broker)
    playing.feed.ask(str(begin_ns))
    for at_s, number, verb in (
        (world.leave_s, LEAVER, "leave"),
        (world.join_s, world.member_count, "join"),
        (world.seconds, None, "stop"),
    ):
        time.sleep(max(0.0, begin_ns / 1e9 + at_s - time.monotonic()))
        _ask(members if number is None else [members[number]], verb)
    after = _processors(broker)
    leaders = broker.leaders(group)
    done = [program.event("done") for program in members]
    fed = playing.feed.event("fed")
    return Run(
        contender=playing.contender,
        world=world,
        begin_ns=begin_ns,
        first=playing.first,
        changes=[
            (line["at_ns"], number, line["event"], line["places"])
            for number, program in enumerate(members)
            for line in program.lines
            if "places" in line
        ],
        done=[(line["place"], line["offset"], line["at_ns"]) for line in done],
        errors=[line["text"] for program in members for line in program.lines if "text" in line],
        rounds=max(leaders, default=0) - rounds,
        leaders=len({leader for made, leader in leaders.items() if made >= rounds}),
        machine={
            "load_before": round(load, 2),
            "late_50_ms": fed["late_50_ms"],
            "late_99_ms": fed["late_99_ms"],
            "burnt": _share(members, "burnt_ns"),
            "clients": _share(members, "used_ns"),
            "producer": round(fed["used_ns"] / 1e9 / world.seconds, 3),
            "broker": round((after["broker"] - before["broker"]) / world.seconds, 3),
            "busy": round((after["machine"] - before["machine"]) / world.seconds, 3),
        },
    )


def _ask(members: Sequence[Process], verb: str) -> None:
    for program in members:
        program.ask(verb)


def _share(members: Sequence[Process], name: str) -> float:
    """Return what members used between their two marks, in processors."""
    total = 0.0
    for program in members:
        begin, end = (program.event("mark", count=count) for count in (1, 2))
        total += (end[name] - begin[name]) / (end["at_ns"] - begin["at_ns"])
    return round(total, 3)


def _prepared(world: World, broker: Broker, group: str) -> list[int]:
    """Commit the ends of all partitions for the group; return them by number of the partition."""
    admin = Admin(broker.bootstrap)
    if not admin.partition_counts(list(world.topics)):
        admin.create_topics(world.topics)
    ends = _ends(world, broker)
    consumer = KafkaConsumer(
        bootstrap_servers=broker.bootstrap, group_id=group, enable_auto_commit=False
    )
    with contextlib.closing(consumer):
        consumer.assign([TopicPartition(*place) for place in world.partitions])
        consumer.commit(
            {TopicPartition(*place): OffsetAndMetadata(ends[place], "", -1) for place in ends}
        )
    return [ends[place] for place in world.partitions]


def _ends(world: World, broker: Broker) -> dict[tuple[str, int], int]:
    """Return the end of each partition, once the broker serves them all."""
    admin = Admin(broker.bootstrap)
    wait(lambda: min(admin.ends(world.topics).values()) >= 0)
    return admin.ends(world.topics)


def _join(members: Sequence[Process], world: World) -> None:
    """Let members join, the first one ahead of all others: it leads. Wait until all is at rest."""
    _ask(members[:1], "join")
    time.sleep(LEAD_S)
    _ask(members[1:], "join")
    until = time.monotonic() + READY_S
    seen, since = (-1, 0), time.monotonic()
    while time.monotonic() < until:
        lines = [line for program in members for line in program.lines if "places" in line]
        held = sum(
            len(line["places"]) * (1 if line["event"] == "assigned" else -1) for line in lines
        )
        now = len(lines), held
        if now != seen:
            seen, since = now, time.monotonic()
        elif held == world.partition_count and time.monotonic() - since >= CALM_S:
            return
        time.sleep(0.05)
    raise TimeoutError(f"the group does not come to rest: {seen}")


def _processors(broker: Broker) -> dict[str, float]:
    """Return seconds of CPU: of the broker, and of everything on the machine but waiting."""
    tick = os.sysconf("SC_CLK_TCK")
    whole = Path("/proc/stat").read_text("utf-8").splitlines()[0].split()[1:9]
    user, nice, system, _idle, _wait, *interrupts = map(int, whole)
    fields = Path(f"/proc/{broker.process_id}/stat").read_text("utf-8").rpartition(")")[2].split()
    return {
        "machine": (user + nice + system + sum(interrupts)) / tick,
        "broker": (int(fields[11]) + int(fields[12])) / tick,
    }

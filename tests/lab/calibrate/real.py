"""Plays plans on a real broker, several groups side by side, and records what happened.

The broker's log says when requests of members arrived and when generations began; its lines carry
the wall clock, those of members the monotonic one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from assignors.ownership.changes import Change
from assignors.simulation.timed.scenario import Verb
from tests.interop.admin import Admin
from tests.interop.broker import Broker
from tests.lab.calibrate.crowds import Line, changes_of, start_crowd
from tests.lab.calibrate.figures import Figures, figures_of
from tests.lab.calibrate.plan import MILLI, Done, Plan, windows
from tests.lab.calibrate.simulated import Course


def settings(consumer_heartbeat_ms: int) -> dict[str, str]:
    """Return what a broker needs beside the suite's settings, which are quicker than defaults."""
    return {
        "group.consumer.heartbeat.interval.ms": str(consumer_heartbeat_ms),
        "group.consumer.session.timeout.ms": "45000",
    }


NANO = 1000

BEGUN = re.compile(
    r"^(?P<at>\S+) .*(?:Stabilized group (?P<classic>\S+) generation"
    r"|\[GroupId (?P<consumer>\S+)\] Bumped group epoch)"
)
ARRIVED = re.compile(
    r"^(?P<at>\S+) .*(?:Dynamic member with unknown member id joins group (?P<join>\S+) "
    r"|\[GroupId (?P<consumer_join>\S+)\] Member \S+ joins"
    r"|\[Group (?P<leave>\S+)\] Member \S+ has left group"
    r"|\[GroupId (?P<consumer_leave>\S+)\] Member \S+ left)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A plan as it was played. Times are microseconds since its first member was started."""

    plan: Plan
    done: Done
    """In whole milliseconds: a scenario has no finer times."""
    changes: list[Change]
    generations: list[int]
    """When each began, as the broker has it."""
    arrivals: list[int]
    """When each first JoinGroup, LeaveGroup or their like arrived."""
    died: int
    """Members that ended by themselves."""

    @property
    def windows(self) -> list[tuple[int, int]]:
        """From each verb to the next one."""
        return windows(self.plan, self.done)

    @property
    def figures(self) -> list[Figures]:
        """The figures of each verb of the plan."""
        # The log has whole milliseconds, cut off: a generation never began before its verb.
        return figures_of(
            self.changes,
            [at + MILLI for at in self.generations],
            windows=self.windows,
            partitions=self.plan.cell.partitions,
        )

    @property
    def course(self) -> Course:
        """What a prediction has to know: when what was done, and the group was founded."""
        starts = sorted((self.done[Verb.START, name], name) for _, name in self.plan.starts)
        arrivals = sorted(at for at in self.arrivals if starts[0][0] <= at < self.windows[0][0])
        are_all = len(arrivals) == len(starts)
        joined = zip(starts, arrivals, strict=True) if are_all else ()
        return Course(done=self.done, joined={name: at for (_, name), at in joined})

    @property
    def delays(self) -> list[int]:
        """For each verb, how long its request took to the coordinator, in microseconds."""
        return [
            next((at - start for at in self.arrivals if start <= at < end), 0)
            for start, end in self.windows
        ]


def play(
    broker: Broker, plans: Sequence[Plan], *, mark: str, folder: Path, apart_s: float = 0.5
) -> list[Recording]:
    """Play plans side by side, each with a group, a topic and processes of its own.

    Groups start `apart_s` seconds after each other. Takes as long as the longest plan, and that.
    """
    # A cell may be played by several groups at a time.
    names = [f"{plan.cell.name}-{mark}{place}" for place, plan in enumerate(plans)]
    Admin(broker.bootstrap).create_topics(
        {name: plan.cell.partitions for name, plan in zip(names, plans, strict=True)}
    )
    before = _wall_offset()
    with ThreadPoolExecutor(len(plans)) as pool:
        played = []
        for name, plan in zip(names, plans, strict=True):
            played.append(pool.submit(_play, broker, plan, name, folder))
            time.sleep(apart_s)
        lines = [each.result() for each in played]
    offset = (before + _wall_offset()) // 2
    log = broker.log.read_text("utf-8", "replace").splitlines()
    begun, arrived = _times(log, BEGUN, offset), _times(log, ARRIVED, offset)
    return [
        _recording(plan, reported, begun.get(name, []), arrived.get(name, []))
        for name, plan, reported in zip(names, plans, lines, strict=True)
    ]


def _play(broker: Broker, plan: Plan, name: str, folder: Path) -> list[Line]:
    """Do what a plan says, each thing at its time; return what the members reported."""
    crowd = start_crowd(
        plan,
        bootstrap=broker.bootstrap,
        group=name,
        topic=name,
        errors=folder / f"{name}.err",
    )
    try:
        crowd.wait()
        began = time.monotonic()
        for at, verb, member in plan.steps:
            _sleep_until(began + at / 1000)
            crowd.ask(verb.value, member)
        _sleep_until(began + plan.until / 1000)
    finally:
        crowd.end()
    return crowd.lines


def _sleep_until(moment: float) -> None:
    time.sleep(max(moment - time.monotonic(), 0))


def _recording(
    plan: Plan, lines: list[Line], generations: list[int], arrivals: list[int]
) -> Recording:
    verbs = {"starting": Verb.START, "closing": Verb.STOP}
    origin = min(line.at for line in lines)
    return Recording(
        plan=plan,
        done={
            (verbs[line.event], line.member): (line.at - origin) // MILLI * MILLI
            for line in lines
            if line.event in verbs
        },
        changes=[replace(each, at=each.at - origin) for each in changes_of(lines)],
        generations=[at - origin for at in generations],
        arrivals=[at - origin for at in arrivals],
        died=sum(line.event == "died" for line in lines),
    )


def _times(log: Iterable[str], pattern: re.Pattern[str], offset: int) -> dict[str, list[int]]:
    """Return by group when the log has a line of this pattern."""
    found: dict[str, list[int]] = {}
    for line in log:
        match = pattern.match(line)
        if match is not None:
            at, *groups = match.groups()
            group = next(group for group in groups if group is not None)
            wall = int(datetime.fromisoformat(at).timestamp() * 1_000_000)
            found.setdefault(group, []).append(wall - offset)
    return found


def _wall_offset() -> int:
    """Return how far the wall clock is before the monotonic one, in microseconds."""
    return (time.time_ns() - time.monotonic_ns()) // NANO

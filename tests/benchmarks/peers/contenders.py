"""Who takes part, at what, and how it is started; jars and programs are built as for the suite."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Literal

from tests.benchmarks.peers.group_files import COOPERATIVE, EAGER
from tests.conformance.peers import GO
from tests.foreign.jars import class_path
from tests.optimal.workloads import EVENTS, LARGE, NAMED, RACKED, SMALL, TINY, parts

Stage = Literal["assign", "full", "solve", "plan"]

WORKLOADS = (*TINY, *SMALL, *LARGE, *NAMED, *RACKED)
KINDS = {
    "U": "equal",
    "Ha": "one differs",
    "Hb": "random half",
    "Hc": "3 of 60",
    "Hd": "5 buckets",
    "He": "windows",
    "V": "names of 5 to 40 bytes",
    "Vb": "random half, names of 5 to 40 bytes",
    "R1": "racks, 1 replica",
    "R2": "racks, 2 replicas",
}
FEW = ("leave", "fresh")
FIRST = ("leave",)
BIG, HUGE = 100_000, 500_000
"""Partitions from which on some contenders are given fewer events: a call may take seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contender:
    """A program and what it is asked."""

    name: str
    label: str
    language: Literal["python", "go", "java"]
    protocol: str
    stages: tuple[Stage, ...]
    partition_max: int | None = None
    """A group that it is still tried on; above 1,000 partitions only once and without racks."""

    def command(self) -> list[str]:
        """Return the program without its arguments; builds what is not there yet."""
        if self.language == "python":
            return [sys.executable, "-m", "tests.benchmarks.peers.contender"]
        if self.language == "go":
            return [str(GO.made() / "contender")]
        options = ("-XX:+UseSerialGC", "-Xss8m", "-Xmx6g", "-XX:-UsePerfData")
        return ["java", *options, "-cp", class_path(), "Contender"]

    def events(self, workload: str, stage: Stage) -> tuple[str, ...]:
        """Return which events it is asked about, the first one with its first call."""
        kind, _, partitions, _ = parts(workload)
        if self.partition_max is not None and partitions > 1000:
            is_tried = partitions <= self.partition_max and kind[0] != "R"
            return FIRST if is_tried and stage == "full" else ()
        if partitions >= HUGE:
            return self._events_of_huge(stage)
        if stage == "plan":
            return FIRST if partitions >= BIG else ORDER
        is_quick = partitions <= 1000 or self.name in {"ours", "franz-go"}
        if is_quick or (self.protocol == COOPERATIVE and stage == "assign"):
            return ORDER
        return FIRST if self.protocol == EAGER and stage == "full" else FEW

    def _events_of_huge(self, stage: Stage) -> tuple[str, ...]:
        """Return the events where a call takes seconds: plans are too many files to compare."""
        if stage == "plan":
            return ()
        if self.name in {"ours", "franz-go"} and stage in {"assign", "full"}:
            return (*FEW, "join")
        is_few = self.name in {"java-cooperative", "java-uniform"} and stage == "assign"
        return FEW if is_few else FIRST


ORDER = ("leave", *(event for event in EVENTS if event != "leave"))

CONTENDERS = (
    Contender(
        name="ours",
        label="kafka-assignors",
        language="python",
        protocol=COOPERATIVE,
        stages=("assign", "full", "solve"),
    ),
    Contender(
        name="ours-sticky",
        label="kafka-assignors, eager",
        language="python",
        protocol=EAGER,
        stages=("assign", "full", "plan"),
    ),
    Contender(
        name="franz-go",
        label="franz-go",
        language="go",
        protocol=COOPERATIVE,
        stages=("assign", "full"),
    ),
    Contender(
        name="franz-go-sticky",
        label="franz-go, eager",
        language="go",
        protocol=EAGER,
        stages=("plan",),
    ),
    Contender(
        name="java-cooperative",
        label="Java cooperative-sticky",
        language="java",
        protocol=COOPERATIVE,
        stages=("assign", "full"),
    ),
    Contender(
        name="java-sticky",
        label="Java sticky, eager",
        language="java",
        protocol=EAGER,
        stages=("assign", "full", "plan"),
    ),
    Contender(
        name="java-uniform",
        label="Java broker uniform",
        language="java",
        protocol=COOPERATIVE,
        stages=("assign", "plan"),
    ),
    Contender(
        name="sarama",
        label="Sarama",
        language="go",
        protocol=COOPERATIVE,
        stages=("assign", "full"),
        partition_max=10_000,
    ),
    Contender(
        name="sarama-sticky",
        label="Sarama, eager",
        language="go",
        protocol=EAGER,
        stages=("plan",),
        partition_max=1000,
    ),
    Contender(
        name="kafka-python",
        label="kafka-python",
        language="python",
        protocol=COOPERATIVE,
        stages=("assign", "full", "plan"),
        partition_max=10_000,
    ),
    Contender(
        name="aiokafka",
        label="aiokafka, eager",
        language="python",
        protocol=EAGER,
        stages=("assign", "full", "plan"),
        partition_max=1000,
    ),
)
TWICE = replace(CONTENDERS[0], name="ours-twice")
"""Does all work twice: what lost ratios look like."""
BY_NAME = {contender.name: contender for contender in (*CONTENDERS, TWICE)}


def title(workload: str) -> str:
    """Return what a reader sees of a workload's name.

    >>> title("Hb 1000 x 10000 / 100")
    '1,000 x 10,000 / 100, random half'
    """
    kind, members, partitions, topics = parts(workload)
    return f"{members:,} x {partitions:,} / {topics}, {KINDS[kind]}"


def our_stage(contender: str, stage: Stage) -> Stage:
    """Return which of our stages begins and ends where a contender's does.

    A broker knows who owns what: there are no claims to judge, so its assignor is compared with
    our solver.
    """
    return "solve" if contender == "java-uniform" else stage


def same_bytes(contender: str) -> str:
    """Return which of our assignors read the same bytes as a contender."""
    return "ours-sticky" if BY_NAME[contender].protocol == EAGER else "ours"

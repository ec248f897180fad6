"""Groups put to the judge and to us: what differs, as lines that can be added to the vectors."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.foreign.convert import agree, our_answer
from tests.foreign.groups import Request, next_round, random_group
from tests.foreign.judge import OURS, Answer, Judge
from tests.foreign.shrink import shrunk

WAVE = 500
"""How many groups are asked for at once."""
ROUNDS_MAX = 4
FAILURES_MAX = 5
"""How many failures are made small and shown; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How much is tried."""

    groups: int
    blobs: int


PROFILES = {
    "ci": Profile(groups=3_500, blobs=10_000),
    "deep": Profile(groups=50_000, blobs=200_000),
}
USUAL = "ci" if os.environ.get("DEEP", "1") == "1" else "deep"
"""`make deep` tries as many as `FOREIGN_PROFILE=deep`."""


def profile() -> Profile:
    """What the environment asks for: FOREIGN_PROFILE, FOREIGN_GROUPS and FOREIGN_BLOBS."""
    chosen = PROFILES[os.environ.get("FOREIGN_PROFILE", USUAL)]
    return Profile(
        groups=int(os.environ.get("FOREIGN_GROUPS", chosen.groups)),
        blobs=int(os.environ.get("FOREIGN_BLOBS", chosen.blobs)),
    )


def seed() -> int:
    """SUITE_SEED, which is the day where the whole suite runs; else 1."""
    return int(os.environ.get("SUITE_SEED", "1"))


@dataclass(slots=True)
class Record:
    """What was tried and what came of it."""

    groups: Counter[str] = field(default_factory=Counter)
    """By `algo`."""
    faults: Counter[str] = field(default_factory=Counter)
    """Answers that are exceptions of Kafka's, by `algo` and class."""
    unanswered: int = 0
    """Groups that the judge had no answer for in time."""
    failed: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    """The first failures, made small: vectors."""

    def add(self, other: Record) -> None:
        """Take in what another process tried."""
        self.groups += other.groups
        self.faults += other.faults
        self.failed += other.failed
        self.unanswered += other.unanswered
        self.lines += other.lines


def try_groups(judge: Judge, count: int, dice_seed: int, algorithms: Sequence[str]) -> Record:
    """Try `count` random groups and the rounds that follow from their answers."""
    dice = Random(dice_seed)
    record = Record()
    while record.groups.total() < count:
        wave = min(WAVE, count - record.groups.total())
        requests = [random_group(dice, dice.choice(algorithms)) for _ in range(wave)]
        for _ in range(ROUNDS_MAX):
            left = count - record.groups.total()
            answers = judge.ask_all(requests[:left])
            compare(judge, requests[:left], answers, record)
            going_on = [
                (request, answer)
                for request, answer in zip(requests, answers, strict=False)
                if "err" not in answer and dice.random() < 0.6
            ]
            requests = [next_round(dice, request, answer) for request, answer in going_on]
    return record


def compare(
    judge: Judge, requests: Sequence[Request], answers: Sequence[Answer], record: Record
) -> None:
    """Compare the judge's answers with ours."""
    for request, answer in zip(requests, answers, strict=True):
        algorithm = request["algo"]
        record.groups[algorithm] += 1
        fault = answer.get("err", "").partition(":")[0]
        if fault in OURS:
            record.unanswered += 1
            continue
        if fault:
            record.faults[f"{algorithm} {fault}"] += 1
        if not agree(request, answer, answered(request)):
            record.failed[algorithm] += 1
            if len(record.lines) < FAILURES_MAX:
                record.lines.append(line(judge, request))


def answered(request: Request) -> dict[str, Any]:
    """Our answer; an exception that Java does not have is one that never equals Java's."""
    try:
        return our_answer(request)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure to be shown
        return {"err": f"ours: {error!r}"}


def differs(judge: Judge, request: Request) -> bool:
    """Whether the judge answers this one otherwise than we do."""
    answer = judge.ask(request)
    is_known = answer.get("err", "").partition(":")[0] not in OURS
    return is_known and not agree(request, answer, answered(request))


def line(judge: Judge, request: Request) -> str:
    """The failure as a vector, as small as it gets."""
    small = shrunk(request, lambda smaller: differs(judge, smaller))
    return as_line(small, judge.ask(small))


def as_line(request: Request, answer: Answer) -> str:
    """A vector, as a line of the file of vectors."""
    return json.dumps({"id": f"found-{request['algo']}", "in": request, "out": answer})

"""Chaos in real groups: seeded plans, played on a broker, judged, and played again on demand.

    python -m tests.interop.chaos --minutes 15 --seed 1          # every protocol and leader in turn
    python -m tests.interop.chaos --minutes 5 --protocol sticky --leader sarama

A plan that fails is printed as one line of JSON, with what was wrong and the file that has all
its events; the command goes on, and ends with the figures for `SOAK.md`, and with 1. What is
asked of a group: after every step it settles, no partition has two owners (but for a frozen
member that has not noticed yet), no leader gave anything away that somebody still claimed, every
record is consumed, and none twice unless its reader was cut off or slept.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.interop.audit import Gift, dangerous, rounds, so_far
from tests.interop.broker import Broker
from tests.interop.events import Event
from tests.interop.feed import QUICK_S
from tests.interop.group import LiveGroup, Unsettled, Verdict
from tests.interop.install import BUILD
from tests.interop.ledger import Window
from tests.interop.neighbours import (
    COOPERATIVE,
    DEALS_TWICE,
    LEADERS,
    ONLY_OURS,
    OURS,
    READS_AGAIN,
    WEIGHTED,
)
from tests.interop.plans import Action, Plan, Start, Step, plan

SETTLES_S = 40.0
DRAINS_S = 15.0
STEPS = 6

SESSION_MS, HEARTBEAT_MS = 4000, 400

KEEPS = BUILD.parent / "chaos"
"""Where the events of failing plans go."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a plan went."""

    plan: Plan
    settled_s: tuple[float, ...]
    """How long each rest took to come, the first one for all members together."""
    leaders: Counter[str]
    """Rounds led, by kind."""
    verdict: Verdict | None
    """None where the group did not come to rest."""
    complaints: tuple[str, ...]
    gifts: tuple[Gift, ...] = ()
    """Partitions that cooperative leaders gave away while somebody had them."""
    events: tuple[Event, ...] = ()
    """All that was said and done, where something failed."""
    started: Counter[str] = field(default_factory=Counter)
    """Members started, by kind, each as often as it was."""
    record_count: int = 0
    """How many records were written."""

    @property
    def is_clean(self) -> bool:
        """Whether all that was asked for was there."""
        return not self.complaints

    def line(self) -> str:
        """The outcome in a line."""
        given = " ".join(f"{one:.1f}" for one in self.settled_s)
        led = ", ".join(f"{kind} {count}" for kind, count in self.leaders.most_common())
        frozen = sum(one.was_frozen for one in self.verdict.windows) if self.verdict else 0
        said = "ok" if self.is_clean else "FAILED: " + "; ".join(self.complaints)
        asleep = f", {frozen} windows of members that slept" if frozen else ""
        asleep += f", {len(self.gifts)} partitions dealt twice" if self.gifts else ""
        return (
            f"{self.plan.protocol} under {self.plan.leader}, seed {self.plan.seed}: {said}; "
            f"rest after {given} s; rounds led: {led}{asleep}"
        )


def play(history: Plan, broker: Broker, folder: Path) -> Outcome:
    """Play a plan to its end, or to the first rest that does not come."""
    settled: list[float] = []
    names = (history.protocol,)
    since = so_far(broker.bootstrap)
    with LiveGroup(
        broker,
        folder=folder,
        topics=history.topics,
        assignors=names,
        session_timeout_ms=SESSION_MS,
        heartbeat_ms=HEARTBEAT_MS,
    ) as group:
        group.feed.start(every_s=QUICK_S)
        try:
            _start(group, history.members[0])
            group.settled(SETTLES_S, hold_s=0.3)
            for one in history.members[1:]:
                _start(group, one)
            settled.append(group.settled(SETTLES_S).after_s)
            for step in history.steps:
                _do(group, step)
                settled.append(group.settled(SETTLES_S).after_s)
        except Unsettled as error:
            return Outcome(
                plan=history,
                settled_s=tuple(settled),
                leaders=_leaders(group),
                verdict=None,
                complaints=(f"step {len(settled)}: {error}",),
                events=tuple(group.events),
                started=_started(group),
            )
        group.drain(DRAINS_S)
        verdict, leaders = group.judge(), _leaders(group)
        gifts = [
            gift
            for one in rounds(broker.bootstrap, group.name, since=since)
            if one.protocol in (COOPERATIVE, WEIGHTED)
            for gift in dangerous(one)
        ]
        complaints = (
            *_complaints(history, verdict, leaders),
            *(f"dealt twice: {gift}" for gift in gifts if _is_to_blame(group, gift)),
        )
        return Outcome(
            plan=history,
            settled_s=tuple(settled),
            leaders=leaders,
            verdict=verdict,
            complaints=complaints,
            gifts=tuple(gifts),
            events=tuple(group.events) if complaints else (),
            started=_started(group),
            record_count=sum(group.feed.written.values()),
        )


def _start(group: LiveGroup, start: Start) -> None:
    group.start_one(start.kind, topics=_real(group, start.topics), instance=start.instance)


def _do(group: LiveGroup, step: Step) -> None:
    frozen = []
    for action in step.actions:
        if action.do == "freeze":
            group.members[action.member].pause()
            frozen.append(action.member)
        else:
            _act(group, action)
    if frozen:
        time.sleep(step.freeze_ms / 1000)
    for name in frozen:
        group.members[name].resume()


def _act(group: LiveGroup, action: Action) -> None:
    topics = _real(group, action.topics)
    if action.do == "start":
        assert action.start is not None
        _start(group, action.start)
        return
    if action.do == "grow":
        group.grow(topics[0], action.count)
        return
    member = group.members[action.member]
    match action.do:
        case "stop":
            member.close()
        case "kill":
            member.kill()
        case "back":
            member.start()
        case "restart":
            member.restart(**({"topics": topics} if topics else {}))
        case "subscribe":
            member.subscribe(*topics)
        case _:
            raise ValueError(f"nobody can {action.do}")


def _real(group: LiveGroup, topics: tuple[str, ...]) -> tuple[str, ...]:
    """The group's own names of the plan's topics."""
    return tuple(name for name in group.topics if name.rpartition("-")[0] in topics)


def _leaders(group: LiveGroup) -> Counter[str]:
    """Who led how many rounds."""
    return Counter(
        kind_of(group, member_id) for member_id in group.broker.leaders(group.name).values()
    )


def _started(group: LiveGroup) -> Counter[str]:
    """How many members were started, by kind."""
    return Counter(_kind(event.member) for event in group.events if event.kind == "started")


def kind_of(group: LiveGroup, member_id: str) -> str:
    """A member's kind: its id begins with the client's name or the instance's."""
    for one in group.members.values():
        if member_id.startswith(f"{one.flags.instance or one.name}-"):
            return one.kind
    return "unknown"


def _is_to_blame(group: LiveGroup, gift: Gift) -> bool:
    """Whether a gift is nobody's known fault: our leader's, or one that our claims let happen."""
    if (COOPERATIVE, kind_of(group, gift.leader)) not in DEALS_TWICE:
        return True
    return any(kind_of(group, name) in OURS for name in gift.claimants)


def _complaints(history: Plan, verdict: Verdict, leaders: Counter[str]) -> list[str]:
    found = [f"{name}" for name in verdict.died]
    found += verdict.failures
    found += [f"never read: {one} {numbers[:5]}" for one, numbers in verdict.unread.items()]
    if any((history.protocol, kind) in DEALS_TWICE for kind in leaders):
        # Its own doing; but whoever claims as ours do is never the one that is robbed.
        windows = [one for one in _awake(verdict) if _kind(one.members[0]) in OURS]
        return found + [f"robbed: {one}" for one in windows]
    found += [f"two owners: {one}" for one in _awake(verdict)]
    return found + [
        f"read again: {one}"
        for one in verdict.repeats
        if (history.protocol, _kind(one.members[1])) not in READS_AGAIN
    ]


def _awake(verdict: Verdict) -> list[Window]:
    return [one for one in verdict.windows if not one.was_frozen]


def _kind(name: str) -> str:
    return name.rpartition("-")[0]


def _kept(outcome: Outcome) -> Path:
    """The file with all events of an outcome, one a line."""
    plan = outcome.plan
    file = KEEPS / f"{plan.protocol}-{plan.leader}-{plan.seed}-{time.time_ns()}.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{event}\n" for event in outcome.events), "utf-8")
    return file


def _cells(protocol: str | None, leader: str | None) -> list[tuple[str, str]]:
    return [
        (one, kind)
        for one, kinds in {**LEADERS, **ONLY_OURS}.items()
        for kind in kinds
        if one == (protocol or one) and kind == (leader or kind)
    ]


def _told(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--protocol", choices=sorted({**LEADERS, **ONLY_OURS}))
    parser.add_argument(
        "--leader", choices=sorted({kind for kinds in LEADERS.values() for kind in kinds})
    )
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Play plans until the time is up; 1 where one failed."""
    told = _told(words)
    until = time.monotonic() + 60 * told.minutes
    cells = itertools.cycle(_cells(told.protocol, told.leader))
    plans = (
        plan(seed, protocol, leader, step_count=told.steps)
        for seed, (protocol, leader) in enumerate(cells, start=told.seed)
    )
    outcomes = []
    with Broker() as broker, tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        for history in plans:
            outcomes.append(play(history, broker, Path(folder)))
            print(outcomes[-1].line(), flush=True)
            if not outcomes[-1].is_clean:
                print(f"the plan: {history}", flush=True)
                print(f"what was said: {_kept(outcomes[-1])}", flush=True)
            if time.monotonic() > until:
                break
    print(_figures(outcomes))
    return int(any(not one.is_clean for one in outcomes))


def _figures(outcomes: list[Outcome]) -> str:
    """What was played, in two lines."""
    failed = sum(not one.is_clean for one in outcomes)
    rests = [one for outcome in outcomes for one in outcome.settled_s]
    started = sum((one.started for one in outcomes), Counter[str]())
    by_kind = ", ".join(f"{kind} {count}" for kind, count in sorted(started.items()))
    return (
        f"{len(outcomes)} plans, {failed} failed; {len(rests)} rests, "
        f"median {statistics.median(rests or [0]):.1f} s, longest {max(rests, default=0):.1f} s\n"
        f"{sum(sum(one.leaders.values()) for one in outcomes)} rounds; "
        f"{sum(one.record_count for one in outcomes)} records; "
        f"{started.total()} members started: {by_kind}"
    )


if __name__ == "__main__":
    sys.exit(main())

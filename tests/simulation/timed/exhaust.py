"""Exhaust small cases and print a row for each: `python -m tests.simulation.timed.exhaust --long`.

A row has the worlds visited, the moves between them, the worlds from which no settled one can be
reached, and the monitors violated. Ends with 1 where a case gave anything but what is expected of
it. `EXHAUSTED.md` has the rows of the last run.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assignors.simulation.timed.explore.cases import Case, model_of
from assignors.simulation.timed.explore.search import Explored, explore
from assignors.simulation.timed.scenario import (
    MIGRATING,
    ClientModel,
    GroupProtocol,
    MigrationPolicy,
)

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
WORLDS_MAX = 1_000_000
"""More than any case here has; that many take about a gigabyte."""

STALE_REPORT = frozenset(
    {
        "double-consumption",
        "double-owned-in-epoch",
        "handed-over-before-commit",
        "target-epoch-too-early",
    }
)
"""What Kafka 4.4.0 does, coordinator and Java client together: see `EXHAUSTED.md`."""
LATE_STATIC = frozenset(
    {"double-consumption", "double-owned-in-epoch", "handed-over-before-commit"}
)
"""What a static member brings about that comes late for a cooperative round: likewise."""
LOG_KEPT = frozenset({"log-differs-from-state"})
"""A group without members that Kafka 4.4.0 forgets and leaves in the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A case, and what it is known to give."""

    case: Case
    broken: frozenset[str] = frozenset()
    """The monitors that it violates."""
    is_stuck: bool = False
    """Whether states are known from which no settled one can be reached."""


def _classic(
    assignor: str,
    members: int,
    partitions: int,
    broken: frozenset[str] = frozenset(),
    *,
    is_stuck: bool = False,
    **settings: Any,
) -> Row:
    case = Case(
        protocol=CLASSIC, assignor=assignor, members=members, partitions=partitions, **settings
    )
    return Row(case=case, broken=broken, is_stuck=is_stuck)


def _consumer(
    members: int,
    partitions: int,
    broken: frozenset[str],
    **settings: Any,
) -> Row:
    case = Case(
        protocol=CONSUMER,
        assignor="server/uniform",
        members=members,
        partitions=partitions,
        **settings,
    )
    return Row(case=case, broken=broken)


def _mixed(
    assignor: str,
    broken: frozenset[str] = frozenset(),
    *,
    first: GroupProtocol = CLASSIC,
    is_stuck: bool = False,
    **settings: Any,
) -> Row:
    case = Case(protocol=first, assignor=assignor, members=2, partitions=2, **settings)
    return Row(case=case, broken=broken, is_stuck=is_stuck)


EAGER, COOPERATIVE = "java/sticky", "java/cooperative-sticky"
NONE: frozenset[str] = frozenset()
TWINS: dict[str, Any] = {"instances": ("i", "i")}
STATIC: dict[str, Any] = {"instances": ("i", "j")}
RESTART: dict[str, Any] = {"starts": 2, "stops": 1}
BOTH: dict[str, Any] = {"speaks": (CLASSIC, CONSUMER)}
SWITCH: dict[str, Any] = {**RESTART, "is_switching": True}
IN_POLL: dict[str, Any] = {"client_model": ClientModel.IN_POLL}
HEARTBEAT_THREAD: dict[str, Any] = {"client_model": ClientModel.HEARTBEAT_THREAD}
BACKGROUND_THREAD: dict[str, Any] = {"client_model": ClientModel.BACKGROUND_THREAD}
QUICK: dict[str, Row] = {
    "eager-2x2": _classic(EAGER, 2, 2),
    "cooperative-2x3": _classic(COOPERATIVE, 2, 3),
    "cooperative-2x2-fault": _classic(COOPERATIVE, 2, 2, faults=1),
    "consumer-2x2-fault": _consumer(2, 2, STALE_REPORT, faults=1),
    "consumer-2x2-restart": _consumer(2, 2, STALE_REPORT, **RESTART),
    "consumer-3x2": _consumer(3, 2, NONE),
    "consumer-2x2-cut": _consumer(2, 2, STALE_REPORT, cuts=1),
    "cooperative-2x2-failover": _classic(COOPERATIVE, 2, 2, failovers=1),
    "consumer-2x2-failover": _consumer(2, 2, STALE_REPORT, failovers=1),
    "eager-2x2-cut": _classic(EAGER, 2, 2, cuts=1),
    "eager-2x2-twins": _classic(EAGER, 2, 2, **TWINS),
    "cooperative-2x2-twins": _classic(COOPERATIVE, 2, 2, **TWINS),
    "consumer-2x2-twins": _consumer(2, 2, NONE, **TWINS),
    "mixed-eager-2x2": _mixed(EAGER, **BOTH),
    "mixed-cooperative-2x2": _mixed(COOPERATIVE, **BOTH),
    "eager-2x2-in-poll": _classic(EAGER, 2, 2, **IN_POLL),
    "consumer-2x2-in-poll": _consumer(2, 2, NONE, **IN_POLL),
    "cooperative-2x2-heartbeat-thread": _classic(COOPERATIVE, 2, 2, **HEARTBEAT_THREAD),
    "eager-2x2-stalled-thread": _classic(EAGER, 2, 2, **HEARTBEAT_THREAD, stalls=1),
    "consumer-2x2-stalled-thread": _consumer(2, 2, NONE, **BACKGROUND_THREAD, stalls=1),
}
"""Those of `make test`: about 30 s together."""
LONG: dict[str, Row] = {
    "cooperative-2x2-in-poll-cut": _classic(COOPERATIVE, 2, 2, **IN_POLL, cuts=1),
    "cooperative-2x2-stalled-thread": _classic(COOPERATIVE, 2, 2, **HEARTBEAT_THREAD, stalls=1),
    "consumer-2x2-background-thread-cut": _consumer(
        2, 2, STALE_REPORT, **BACKGROUND_THREAD, cuts=1
    ),
    "eager-2x2-failover": _classic(EAGER, 2, 2, failovers=1),
    "consumer-2x2-failovers": _consumer(2, 2, STALE_REPORT, failovers=2),
    "eager-2x2-fault": _classic(EAGER, 2, 2, faults=1),
    "optimal-cooperative-2x2-fault": _classic("optimal/cooperative-sticky", 2, 2, faults=1),
    "consumer-2x2-faults": _consumer(2, 2, STALE_REPORT, faults=2),
    "consumer-2x3-fault": _consumer(2, 3, STALE_REPORT, faults=1),
    "cooperative-2x2-cut": _classic(COOPERATIVE, 2, 2, cuts=1),
    "eager-2x2-restart": _classic(EAGER, 2, 2, starts=2, stops=1),
    "cooperative-2x2-restart": _classic(COOPERATIVE, 2, 2, starts=2, stops=1),
    "eager-2x2-static-restart": _classic(EAGER, 2, 2, **STATIC, **RESTART),
    "cooperative-2x2-static-restart": _classic(
        COOPERATIVE, 2, 2, **STATIC, **RESTART, is_stuck=True
    ),
    "consumer-2x2-static-restart": _consumer(2, 2, STALE_REPORT, **STATIC, **RESTART),
    "cooperative-2x2-static-fault": _classic(
        COOPERATIVE, 2, 2, LATE_STATIC, **STATIC, starts=2, faults=1, is_stuck=True
    ),
    "consumer-2x2-static-fault": _consumer(2, 2, STALE_REPORT, **STATIC, starts=2, faults=1),
    "eager-2x2-static-fault": _classic(EAGER, 2, 2, **STATIC, starts=2, faults=1),
    "cooperative-2x2-static-cut": _classic(COOPERATIVE, 2, 2, **STATIC, cuts=1),
    "consumer-2x2-static-cut": _consumer(2, 2, STALE_REPORT, **STATIC, cuts=1),
    "cooperative-2x2-twins-restart": _classic(COOPERATIVE, 2, 2, **TWINS, starts=2),
    "consumer-2x2-twins-restart": _consumer(2, 2, NONE, **TWINS, **RESTART),
    "consumer-2x2-twins-fault": _consumer(2, 2, NONE, **TWINS, starts=2, faults=1),
    "mixed-eager-2x2-stop": _mixed(EAGER, LOG_KEPT | {"target-epoch-too-early"}, **BOTH, stops=1),
    "mixed-cooperative-2x2-stop": _mixed(
        COOPERATIVE, LOG_KEPT | {"target-epoch-too-early"}, **BOTH, stops=1
    ),
    "mixed-2x2-stop-upgrade": _mixed(
        COOPERATIVE,
        LOG_KEPT | {"target-epoch-too-early"},
        **BOTH,
        stops=1,
        policy=MigrationPolicy.UPGRADE,
        is_stuck=True,
    ),
    "mixed-2x2-stop-downgrade": _mixed(
        COOPERATIVE, LOG_KEPT, **BOTH, stops=1, policy=MigrationPolicy.DOWNGRADE
    ),
    "mixed-2x2-stop-disabled": _mixed(
        COOPERATIVE, LOG_KEPT, **BOTH, stops=1, policy=MigrationPolicy.DISABLED
    ),
    "mixed-eager-2x2-fault": _mixed(EAGER, LOG_KEPT | STALE_REPORT, **BOTH, faults=1),
    "mixed-cooperative-2x2-fault": _mixed(COOPERATIVE, LOG_KEPT | STALE_REPORT, **BOTH, faults=1),
    "upgrade-eager-2x2": _mixed(EAGER, **SWITCH),
    "upgrade-cooperative-2x2": _mixed(COOPERATIVE, STALE_REPORT, **SWITCH),
    "downgrade-cooperative-2x2": _mixed(COOPERATIVE, STALE_REPORT, first=CONSUMER, **SWITCH),
    "upgrade-eager-2x2-static": _mixed(EAGER, STALE_REPORT, **STATIC, **SWITCH, is_stuck=True),
    "upgrade-cooperative-2x2-static": _mixed(
        COOPERATIVE, STALE_REPORT, **STATIC, **SWITCH, is_stuck=True
    ),
    "downgrade-cooperative-2x2-static": _mixed(
        COOPERATIVE, STALE_REPORT, first=CONSUMER, **STATIC, **SWITCH
    ),
}


def exhaust(row: Row, worlds_max: int = WORLDS_MAX) -> Explored:
    """Return what a search through a case finds."""
    return explore(*model_of(row.case), worlds_max=worlds_max)


def is_expected(row: Row, found: Explored) -> bool:
    """Return whether the whole case was visited and gave what it is known to give."""
    is_stuck = found.stuck > 0
    return found.is_complete and is_stuck == row.is_stuck and set(found.broken) == row.broken


def main(arguments: Sequence[str] | None = None) -> int:
    """Search, print, and say whether all was as expected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="the larger cases as well")
    parser.add_argument(
        "--case",
        action="append",
        choices=[*QUICK, *LONG],
        default=[],
        metavar="CASE",
        help=f"this one alone; may be repeated: {', '.join([*QUICK, *LONG])}",
    )
    parser.add_argument("--worlds", type=int, default=WORLDS_MAX, help="stop a case after so many")
    parser.add_argument("--trace", action="store_true", help="print how a violation comes about")
    asked = parser.parse_args(arguments)
    rows = {**QUICK, **(LONG if asked.long or asked.case else {})}
    is_right = True
    for name, row in rows.items():
        if asked.case and name not in asked.case:
            continue
        started = time.process_time()
        found = exhaust(row, asked.worlds)
        is_right = is_right and is_expected(row, found)
        case, seconds = row.case, time.process_time() - started
        print(
            f"| {name} | {_spoken(case)} {case.assignor}{_threads(case)} "
            f"| {case.members} x {case.partitions}{_instances(case)} "
            f"| {case.faults} | {case.cuts} | {case.failovers} | {case.starts} | {case.stops} "
            f"| {found.worlds:,} "
            f"| {found.moves:,} | {'yes' if found.is_complete else 'no'} | {found.settled:,} "
            f"| {found.stuck} | {', '.join(sorted(found.broken)) or 'none'} | {seconds:.0f} s "
            f"| {_peak_mb():,} MB |",
            flush=True,
        )
        if asked.trace:
            for each in found.broken.values():
                print(f"{each.monitor}: {each.text}", *each.lines, sep="\n  ")
            print(*found.stuck_first, sep="\n  ")
    return 0 if is_right else 1


def _spoken(case: Case) -> str:
    """Return the protocols of a case in words."""
    if case.is_switching:
        (other,) = MIGRATING - {case.protocol}
        return f"{case.protocol}, then {other}"
    return " + ".join(case.speaks or (case.protocol,))


def _threads(case: Case) -> str:
    model = f" {case.client_model}" if case.client_model else ""
    return f"{model}, {case.stalls} stall" if case.stalls else model


def _instances(case: Case) -> str:
    return f" ({', '.join(case.instances)})" if case.instances else ""


def _peak_mb() -> int:
    """Return the most memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    sys.exit(main())

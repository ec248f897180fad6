"""Faults drawn at random, for groups drawn at random."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from assignors.simulation.timed.faults.live import FAULTS, OF_A_MEMBER, OF_THE_COORDINATOR
from assignors.simulation.timed.scenario import (
    Direction,
    Fault,
    FaultKind,
    GroupProtocol,
    Scenario,
)
from tests.simulation.timed.exhaust import STALE_REPORT

KINDS = [
    each
    for each in FaultKind
    if each
    not in {FaultKind.HANGING_TRANSACTION, FaultKind.STALLED_THREAD, FaultKind.APPEND_FAILURE}
]
"""Those that can happen to groups without records, client models and execution models."""
BY_CHANCE = frozenset(kind for kind, row in FAULTS.items() if "percent" in row.needs)
LONGER = frozenset(kind for kind, row in FAULTS.items() if "by_ms" in row.needs)
"""Faults that say how long something takes."""
ENDS_MS = 75_000
"""By then all faults are over."""
LONG_MS = 30_000
"""How late messages are at most; the last of them come before faults have to be over."""


@st.composite
def faults(draw: st.DrawFn, names: list[str]) -> Fault:
    """One fault of any kind, of one member or, where that is possible, of all."""
    kind = draw(st.sampled_from(KINDS))
    begins = draw(st.integers(0, ENDS_MS - 1000))
    ends = begins + draw(st.integers(1, ENDS_MS - begins))
    whose = st.sampled_from(names)
    if kind in OF_THE_COORDINATOR:
        loads_ms = draw(st.sampled_from([0, 10, 5000]))
        return Fault(kind=kind, from_ms=begins, until_ms=ends, by_ms=loads_ms)
    late_ms = [10, 1000, *([LONG_MS] if ends <= ENDS_MS - LONG_MS else [])]
    return Fault(
        kind=kind,
        member=draw(whose if kind in OF_A_MEMBER else st.one_of(st.none(), whose)),
        from_ms=begins,
        until_ms=0 if kind is FaultKind.LOST_GENERATION else ends,
        by_ms=draw(st.sampled_from(late_ms)) if kind in {*LONGER, FaultKind.DUPLICATE} else 0,
        percent=draw(st.sampled_from([1, 20, 100])) if kind in BY_CHANCE else 0,
        direction=draw(st.sampled_from([None, *Direction])) if kind is FaultKind.CUT else None,
    )


@st.composite
def with_faults(draw: st.DrawFn, scenarios: st.SearchStrategy[Scenario]) -> Scenario:
    """A scenario with up to six faults, of a member no two of one kind at a time.

    Coordinators fail one after the other, where they have a log.

    Callbacks are shorter than the poll interval: otherwise members would leave again and again.
    """
    scenario = draw(scenarios)
    names = [each.name for each in scenario.members]
    listed = draw(st.lists(faults(names), min_size=1, max_size=6))
    one_of_each = {(each.kind, each.member): each for each in listed}
    for name in names:
        if (FaultKind.STUCK, name) in one_of_each:
            one_of_each.pop((FaultKind.LONG_POLL, name), None)
    failing = [key for key in one_of_each if key[0] in OF_THE_COORDINATOR]
    over = 0
    for key in sorted(failing, key=lambda key: one_of_each[key].from_ms):
        if scenario.protocol is GroupProtocol.PUSH or one_of_each[key].from_ms < over:
            del one_of_each[key]
        else:
            over = one_of_each[key].until_ms
    quick = draw(st.booleans())
    members = tuple(
        replace(
            each,
            rebalance_timeout_ms=20_000,
            request_timeout_ms=3000 if quick else 30_000,
            leaves_if_poll_is_late=draw(st.booleans()),
            stops_without_answer=draw(st.booleans()),
        )
        for each in scenario.members
    )
    return replace(scenario, members=members, faults=tuple(one_of_each.values()))


def known(scenario: Scenario) -> frozenset[str]:
    """What Kafka itself does: a failover loses answers, after which consumers report too little.

    See `EXHAUSTED.md`, and `test_failover_phases`, which shows it.
    """
    is_modern = scenario.protocol is GroupProtocol.CONSUMER
    loses = any(each.kind in OF_THE_COORDINATOR for each in scenario.faults)
    return STALE_REPORT if is_modern and loses else frozenset()

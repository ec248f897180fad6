"""Writes RESULTS.md: how a client divides its work among threads.

python -m tests.lab.clients.page
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from assignors.simulation.timed.scenario import (
    ClientModel,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.threads.duties import MODELS, Duty, Model
from tests.docs.source import table, texts_of
from tests.lab.clients.listeners import handlers, listeners

PAGE = Path(__file__).parent / "RESULTS.md"
STALLS = {
    FaultKind.LONG_POLL: "the application's thread stands still",
    FaultKind.STALLED_THREAD: "the client's own thread stands still",
    FaultKind.CUT: "its network is cut",
}

HEAD = """# How a consumer divides its work among threads

A consumer runs callbacks, which it must do in the application's own thread; it also fetches, sends
heartbeats, commits and rebalances. Where it does all that was debated in KIP-945: in calls of
`poll` alone, as in the first design of 2014; with a second thread for heartbeats, as in Java's
client of the classic protocol; or in a background thread that does all that needs the network, as
in Java's client of KIP-848. A member of a scenario has one of these three as its `client_model`.
The step that a run takes is also searched in every order of messages, polls and stalls, for
[small groups](../../simulation/timed/EXHAUSTED.md).

"""


def page() -> str:
    """Return the page."""
    parts = (models, stalls, listeners, handlers)
    return HEAD + "\n".join(line for part in parts for line in part())


def models() -> Iterator[str]:
    """Yield which thread does what."""
    yield "## The models\n"
    texts = texts_of(Duty)
    head = ("duty", *(f"`{each.name}`" for each in MODELS))
    rows = [(texts[each.name], *(_threads(model, each) for model in MODELS)) for each in Duty]
    yield from table(head, rows)
    yield (
        "Threads that both may do something take turns under a lock. While it waits for a commit, "
        "the application's thread reads and sends by itself, but for `background_thread`, where it "
        "waits for a future that the other thread completes.\n"
    )


def _threads(model: Model, duty: Duty) -> str:
    found = [
        name
        for name, row in (("application, in `poll`", model.polling), ("its own", model.other))
        if duty in row
    ]
    return " or ".join(found)


def stalls() -> Iterator[str]:
    """Yield whom a stall of each thread evicts, measured in whole groups."""
    yield "## Who is evicted when a thread stands still\n"
    yield (
        "One member of a group of four; heartbeats every 3 s (KIP-848: 5 s), sessions of 45 s. "
        "An evicted member loses its partitions to the others.\n"
    )
    head = ("for a minute", *(f"`{each.value}`" for each in ClientModel))
    rows = [
        (text, *(_evicted(kind, model) for model in ClientModel)) for kind, text in STALLS.items()
    ]
    yield from table(head, rows)
    yield (
        "A leader of the classic protocol computes in the thread that rebalances, and in Java's "
        "client under the lock that the heartbeat thread needs: an assignor that takes longer than "
        "a session starves its heartbeats, and the leader is evicted, under every model.\n"
    )


def _settled_group(model: ClientModel, protocol: GroupProtocol) -> Scenario:
    """Return a group of four to which nothing happens."""
    member = MemberConfig(
        name="c",
        topics=("t",),
        assignors=("java/cooperative-sticky",),
        poll_ms=1000,
        client_model=model,
    )
    return Scenario(
        until_ms=240_000,
        count_from_ms=60_000,
        protocol=protocol,
        topics={"t": 12},
        members=tuple(replace(member, name=f"c{number}") for number in range(4)),
    )


def _evicted(kind: FaultKind, model: ClientModel) -> str:
    """Return what becomes of a member that has this fault for a minute."""
    found = {}
    for protocol in (GroupProtocol.CLASSIC, GroupProtocol.CONSUMER):
        scenario = _settled_group(model, protocol)
        fault = Fault(kind=kind, member="c1", from_ms=80_000, until_ms=140_000)
        found[protocol] = simulate(replace(scenario, faults=(fault,))).result.moves > 0
    assert len(set(found.values())) == 1, "the protocol makes no difference"
    return "evicted" if found[protocol] else "stays"


FILES: dict[Path, Callable[[], str]] = {PAGE: page}
"""File -> its text."""

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

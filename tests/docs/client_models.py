"""Writes docs/client-models.md and its charts: how a client divides its work among threads.

    python -m tests.docs.client_models

Everything is exhausted or measured on a simulated clock, so the page is the same on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from assignors.simulation.timed.clients import closing, connection, lookups
from assignors.simulation.timed.clients.cases import CASES, exhausted
from assignors.simulation.timed.clients.claims import CLAIMS
from assignors.simulation.timed.clients.connection import NEXT, Life, Signal
from assignors.simulation.timed.clients.models import BACKGROUND_THREAD, MODELS, Duty, Model
from assignors.simulation.timed.clients.world import RULES
from assignors.simulation.timed.scenario import ClientModel
from tests.docs import client_measures
from tests.docs.client_listeners import handlers, listeners
from tests.docs.client_measures import STALLS, evicted
from tests.docs.source import DOCS, table, texts_of

PAGE = DOCS / "client-models.md"

HEAD = """# How a consumer should divide its work among threads

A consumer runs callbacks, which it must do in the application's own thread; it also fetches, sends
heartbeats, commits and rebalances. Where it does all that was debated in KIP-945: in calls of
`poll` alone, as in the first design of 2014; with a second thread for heartbeats, as in Java's
client of the classic protocol; or in a background thread that does all that needs the network, as
in Java's client of KIP-848. Here all three run the same duties, one duty a step: every order in
which threads, network and application can take turns is tried, and each model is measured on a
clock.

"""


def page() -> str:
    """Return the page."""
    parts = (
        *(models, stalls, costs, listeners, handlers, states),
        *(races, rules, closings, claims, commands),
    )
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
        (text, *(evicted(kind, model) for model in ClientModel)) for kind, text in STALLS.items()
    ]
    yield from table(head, rows)
    yield (
        "A leader of the classic protocol computes in the thread that rebalances, and in Java's "
        "client under the lock that the heartbeat thread needs: an assignor that takes longer than "
        "a session starves its heartbeats, and the leader is evicted, under every model.\n"
    )


# What each costs


def costs() -> Iterator[str]:
    """Yield the charts of what each model costs."""
    yield "## What they cost\n"
    yield (
        "A rebalance, from the coordinator's decision to the end of the last callback, against the "
        "time that the application takes for the records of one `poll`, both in simulated time; "
        "means over rebalances that begin at different moments between two polls and two "
        "heartbeats. Where nothing is revoked a background thread saves a whole poll; where "
        "partitions are given up, two callbacks wait for two polls under every model.\n"
    )
    yield "![A member that only gains partitions](client-models/gains.svg)\n"
    yield "![A member that gives up some and gains others](client-models/gives-up.svg)\n"
    yield (
        "A blocking commit takes a round trip (2 ms here). Through a background thread that is not "
        "woken it takes up to two turns of its loop more. The loop must also be shorter than the "
        "session, as it sends the heartbeats: at a turn every 7 s, a session of 5 s runs out.\n"
    )
    yield "![A blocking commit against the period of the loop](client-models/commit.svg)\n"


# The background thread


def states() -> Iterator[str]:
    """Yield the states of the background thread, and what keeping an event costs."""
    yield "## The background thread and its coordinator\n"
    yield "```mermaid\nstateDiagram-v2\n    [*] --> down"
    for (state, signal), to in NEXT.items():
        yield f"    {state.value} --> {to.value}: {signal.value}"
    yield "```\n"
    meanings = texts_of(Life)
    yield from table(
        ("state", "", *(f"`{each.value}`" for each in Signal)),
        [
            (
                f"`{state.value}`",
                meanings[state.name],
                *(NEXT[state, each].value if (state, each) in NEXT else "" for each in Signal),
            )
            for state in Life
        ],
    )
    yield (
        "Every order of events, answers, failures and disconnections is tried: at most one look-up "
        "is in flight, and every event is executed or fails, once. KIP-945 leaves open what "
        "becomes of an event that needs a coordinator while there is none:\n"
    )
    texts = texts_of(connection.Keeping)
    yield from table(
        ("it is", "", "what that costs"),
        [(f"`{each.value}`", texts[each.name], KEEPING[each]) for each in connection.Keeping],
    )


KEEPING = {
    connection.Keeping.AT_HEAD: "later events that need no coordinator wait too",
    connection.Keeping.PARKED: "nothing",
    connection.Keeping.DROPPED: "it fails, and later events wait for that",
}
"""What `test_what_keeping_an_event_costs` finds."""


def races() -> Iterator[str]:
    """Yield the shortest histories after which the coordinator is never found again."""
    yield "## Two threads that look for the coordinator\n"
    yield (
        "Java's classic client keeps the future of a look-up, and somebody has to forget it. Every "
        "order of two threads, or of one, is tried. The shortest histories that end where no "
        "look-up is ever sent again:\n"
    )
    for release in lookups.RELEASES:
        for has_thread in (True, False):
            found = lookups.exhausted(release, has_heartbeat_thread=has_thread)
            who = "with a heartbeat thread" if has_thread else "without one, as with `assign`"
            if found.stuck:
                yield f"{release.name}, {who}:\n"
                yield "\n".join(f"    {line}" for line in found.stuck_first) + "\n"
    yield (
        "So the race is KAFKA-10793. KAFKA-13563 is what its fix left out: there one thread is "
        "enough. After both fixes nothing hangs; two look-ups can still be in flight, because the "
        "heartbeat thread forgets one without asking whether it is over.\n"
    )


def rules() -> Iterator[str]:
    """Yield the rules, how much is tried, and two histories of mistakes."""
    yield "## What every order keeps\n"
    yield from (f"- {text};" for text in [*RULES.values()][:-1])
    yield f"- {[*RULES.values()][-1]}.\n"
    yield (
        "Each decision is also made wrongly, in each model, and what is found is printed "
        "(`tests/simulation/timed/clients/test_client_models.py`). A background thread that does "
        "not pause a partition before it announces the revocation (`News`: an answer that begins a "
        "rebalance, with what the member will own; `Fenced`: it is no member any more):\n"
    )
    yield _history("swap", "revoked-record", pauses_before_revoking=False)
    yield "One that does not drop callbacks when it has read that the member was removed:\n"
    yield _history("removed", "lost-callback", drops_callbacks_when_fenced=False)
    yield (
        "A commit in a callback hangs, up to its timeout, where the waiting thread does not send "
        "it, or nobody reads its answer: with all work in `poll` it has to do both itself, with a "
        "heartbeat thread it has to send, and a background thread must not wait for callbacks.\n"
    )


def _history(case: str, rule: str, **wrongly: bool) -> str:
    found = exhausted(BACKGROUND_THREAD._replace(**wrongly), CASES[case]).broken[rule]  # type: ignore[arg-type]  # its flags
    return "\n".join(f"    {line}" for line in found) + "\n"


def closings() -> Iterator[str]:
    """Yield which commits each order of closing may lose."""
    yield "## Which commits closing may lose\n"
    texts = texts_of(closing.Pending)
    yield (
        "At the moment of `close` one commit is on its way, one waits in the channel, some offsets "
        "are only processed, and some the application commits in its callback. Every moment at "
        "which client, network and coordinator can act is tried. "
        + " ".join(
            f"`{each.value}`: {texts[each.name][0].lower()}{texts[each.name][1:]}"
            for each in closing.Pending
            if texts.get(each.name)
        )
        + "\n"
    )
    head = ("order", "steps", "at rest it may lose", "amid a classic rebalance", "amid KIP-848's")
    rows = []
    for name, order in closing.ORDERS.items():
        lost = [_lost(order, amid) for amid in closing.Amid]
        rows.append((name, ", ".join(order), *lost))
    yield from table(head, rows)


def _lost(order: tuple[closing.Step, ...], amid: closing.Amid) -> str:
    lost = closing.losses(order, amid)
    if lost == frozenset(closing.Pending):
        return "every commit"
    return ", ".join(f"`{each.value}`" for each in closing.Pending if each in lost) or "nothing"


def claims() -> Iterator[str]:
    """Yield the claims of the KIP, and where they hold."""
    yield "## The claims of the proposal\n"
    yield "What each rests on is computed by the tests beside it in `claims.py`.\n"
    yield from table(
        ("claim", "source", "where it holds"),
        [(each.text, each.source, each.holds) for each in CLAIMS],
    )


EXAMPLE = """## In the simulator

`client_model` of a member is one of these models; without it, heartbeats never wait, answers are
read at once, and only the beginning of a rebalance waits for a poll. `--client` compares them, for
all members of any scenario:

    kafka-assignors simulate --scenario long-poll-in-one-thread \\
        --client in_poll,heartbeat_thread,background_thread

```python
>>> from assignors.simulation.timed.tables.rows import result_rows
>>> rows = [
...     {"scenario": "long-poll-in-one-thread", "client_model": model}
...     for model in ("in_poll", "heartbeat_thread", "background_thread")
... ]
>>> for row in result_rows(rows):
...     print(f"{row['client_model']:18} {row['moves']:3} moves, {row['rounds']} rounds")
in_poll             20 moves, 3 rounds
heartbeat_thread     0 moves, 0 rounds
background_thread    0 moves, 0 rounds

```

The fault `stalled_thread` lets the client's own thread stand still; `long_poll` does so with the
application. [The gallery](gallery.md) has seven scenarios of clients and their threads.

## Beside real clients

Two mechanisms came from Java's clients of 4.4.0, measured while they read records without end. A
call of `poll` wakes the heartbeat thread, so in an application that polls at even times the
heartbeat leaves with a poll, and its answer is read in the next one. And a background thread asks
for the callback of revoked partitions only after a poll has begun, so that it runs in the next one.
Hits and misses are in [the models beside a real broker](models-against-kafka.md). Its members had
the callbacks in the table above.

## What is left out

The application polls at even times, or always while it owns nothing. A poll that finds records
returns at once. Fetches, metadata and look-ups of the coordinator take no thread's time. A leader
computes in the thread that rebalances, and no heartbeat leaves meanwhile.
"""


def commands() -> Iterator[str]:
    """Yield how to use all this."""
    yield EXAMPLE


FILES: dict[Path, Callable[[], str]] = {PAGE: page, **client_measures.FILES}
"""File -> its text."""

if __name__ == "__main__":
    for path, text in FILES.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(), encoding="utf-8")

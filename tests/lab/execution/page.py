"""RESULTS.md: the simulator compared with a real broker's figures.

Everything comes from files that `make execution` writes: what was measured, and what the models say
of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.docs.source import table
from tests.lab.execution import recordings, report
from tests.lab.execution.closings import Commit
from tests.lab.execution.commits import ADAPTIVE, CONNECTIONS, Server
from tests.lab.execution.predicted_commits import FITTED, FITTED_RATE, compared, is_over
from tests.lab.execution.recordings import Recording
from tests.lab.execution.traces import STORIES, Called

PAGE = Path(__file__).parent / "RESULTS.md"


def page() -> str:
    """Return the page."""
    recording = recordings.load()
    found = json.loads(report.RESULTS.read_text("utf-8"))
    parts = (
        HEAD,
        machine(recording.machine),
        commits(recording, found),
        rebalances(found),
        callbacks(recording, found),
        closings(found),
        FINDINGS,
    )
    return "\n".join(parts)


def machine(known: Mapping[str, Any]) -> str:
    """Return what it was measured on."""
    rows = [
        (f"`{name}`", part["date"], f"{part['seconds']} s", _loads(part))
        for name, part in known["parts"].items()
    ]
    return (
        f"Kafka {known['kafka']} on {known['cores']} cores ({known['processor']}), one broker, its "
        "clients on the same machine, JVMs with their first compiler alone (C1). The load average "
        "is that before and after a part; above 1 before it, others were at work.\n\n"
        + "\n".join(table(("part", "date", "took", "load average"), rows))
    )


def _loads(part: Mapping[str, Any]) -> str:
    return f"{part['load_before']:.1f}, {part['load_after']:.1f}"


def commits(recording: Recording, found: Mapping[str, Any]) -> str:
    """Return the commits: times and throughput, measured and predicted."""
    constants, rows = found["constants"], found["commits"]
    return COMMITS.format(
        connections=CONNECTIONS,
        rate=FITTED_RATE,
        service=constants["service_us"],
        replication=constants["replication_us"],
        hits=_share(rows, sum(compared(row["rate"], row["real"]) for row in rows)),
        table="\n".join(table(COMMIT_HEAD, map(_commit, rows))),
        cost="\n".join(table(COST_HEAD, _costs(recording.commits))),
    )


COMMIT_HEAD = (
    *("linger", "threads", "partitions", "groups", "asked a second"),
    *("answered", "predicted", "p50 ms", "predicted", "p99 ms", "predicted", "misses"),
)
NAMES = {"per_second": "throughput", "p50_us": "p50", "p99_us": "p99"}


def _commit(row: Mapping[str, Any]) -> tuple[str, ...]:
    server, real, said = Server(**row["server"]), row["real"], row["predicted"]
    is_fitted = server == FITTED
    return (
        "adaptive" if server.linger_ms == ADAPTIVE else f"{server.linger_ms} ms",
        *(str(each) for each in server[1:]),
        f"{row['rate']:,}" + ("*" if is_fitted else ""),
        f"{real['per_second']:,.0f}",
        f"{said['per_second']:,.0f}",
        *(
            "" if is_over(row["rate"], figures) else f"{figures[name] / 1000:.2f}"
            for name in ("p50_us", "p99_us")
            for figures in (real, said)
        ),
        ", ".join(NAMES[each] for each in row["misses"]),
    )


COST_HEAD = ("asked a second", "of the load", "of the broker", "sent late by")


def _costs(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield what load and broker cost at the fitted setting."""
    for row in rows:
        if recordings.server_of(row) == FITTED:
            yield (
                f"{row['rate']:,}",
                f"{row['load_processors']:.2f}",
                f"{row['broker_processors']:.2f}",
                "" if row["unsent"] else f"{row['late_us'] / 1000:.2f} ms",
            )


def _share(rows: Sequence[Mapping[str, Any]], count: int) -> str:
    misses = sum(len(row["misses"]) for row in rows)
    return f"{count - misses} of {count}"


def rebalances(found: Mapping[str, Any]) -> str:
    """Return how long rebalances take, measured and predicted."""
    rows = found["rebalances"]
    head = ("protocol", "poll interval", "", "count", "measured s", "timed simulator", "")
    return REBALANCES.format(
        hits=f"{sum(row['is_near'] for row in rows)} of {len(rows)}",
        table="\n".join(table(head, map(_rebalance, rows))),
    )


def _rebalance(row: Mapping[str, Any]) -> tuple[str, ...]:
    stall = f", stall of {row['stall_ms'] / 1000:g} s" if row["stall_ms"] else ""
    return (
        row["kind"],
        f"{row['poll_ms']} ms{stall}",
        row["verb"],
        str(row["count"]),
        _seconds(row["real_ms"]),
        _seconds(row["predicted_ms"]),
        "" if row["is_near"] else "miss",
    )


def _seconds(times: Sequence[float]) -> str:
    return " / ".join(f"{each / 1000:.2f}" for each in times)


def callbacks(recording: Recording, found: Mapping[str, Any]) -> str:
    """Return which callbacks ran, in which order, and which of them the models miss."""
    hits = [row["is_hit"] for row in found["traces"]]
    misses = [
        f"{row['scenario']}, {row['kind']}, {row['member']}"
        for row in found["traces"]
        if not row["is_hit"]
    ]
    parts = []
    for name, story in STORIES.items():
        rows = [
            (kind, *(_trace(traces[name].get(member, ())) for member in ("a", "b")))
            for kind, traces in recording.traces.items()
        ]
        lines = "\n".join(table(("protocol", "member a", "member b"), rows))
        parts.append(f"### {name.capitalize()}\n\n{story.text}\n\n{lines}")
    return CALLBACKS.format(
        hits=f"{sum(hits)} of {len(hits)}",
        misses=f"; misses: {'; '.join(misses)}" if misses else "",
        tables="\n".join(parts),
    )


def _trace(called: Iterable[Called]) -> str:
    return ", ".join(map(_called, called))


def _called(one: Called) -> str:
    if one.callback in ("died", "closed"):
        return f"{one.callback} {one.text}".strip()
    names = (each.replace("first-", "").replace("second-", "s") for each in one.partitions)
    where = "" if one.call == "poll" else f" in {one.call}"
    thread = "" if one.thread == "application" else f" on {one.thread}"
    return f"{one.callback}({' '.join(names)}){where}{thread}"


def closings(found: Mapping[str, Any]) -> str:
    """Return which offsets were left on the broker."""
    rows = found["closings"]
    head = (
        *("protocol", "auto-commit", "pending", "close timeout", "group"),
        *("left", "allowed", "", "the commit's callback", "close"),
    )
    hits = sum(row["is_hit"] for row in rows)
    return CLOSINGS.format(
        hits=f"{hits} of {len(rows)}", table="\n".join(table(head, map(_closing, rows)))
    )


def _closing(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        "consumer" if row["kind"] == "consumer" else "classic",
        "on" if row["is_auto"] else "off",
        row["pending"],
        f"{row['timeout_ms'] / 1000:g} s",
        "in a rebalance" if row["is_rebalancing"] else "calm",
        _counted(row["left"]),
        " or ".join(row["allowed"]),
        "" if row["is_hit"] else "miss",
        _counted(row["answers"]) if row["pending"] == Commit.ASYNC else "",
        _counted(row["close"]),
    )


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} x {name}" for name, count in counts.items())


HEAD = """# The models beside a real broker

The [execution models](../coordinators/RESULTS.md) of a coordinator and the models of a client's
threads play loads and rebalances on a clock. This page compares them with a Kafka broker and Java's
clients, hits and misses alike. `make execution` measures it
all again in twelve minutes on a machine with nothing else to do, and keeps what it measured in
`tests/lab/execution/recordings`; `python -m tests.lab.execution.report` compares what is
kept with the models of today.
"""

COMMITS = """## Commits of offsets

A program commits offsets of groups without members at random times (a Poisson process), whatever
the broker does: over {connections} connections with one request each, because a broker reads the
next request of a connection only once it has answered the last one. A time counts from the moment
at which the commit was due. At the highest rate every connection has a request waiting all the
time; in the model as many clients ask again as soon as they are answered. The execution model is
`two-stage`; with a linger of 0 ms every request is an append of its own.

The model has one worker, whatever `group.coordinator.threads` says: what saturates here is the
machine, whose two processors run the broker's other threads and the load as well. Two constants are
fitted, at Kafka's defaults (*): {service} us for a request, from the throughput
where the broker is saturated, and {replication} us for a replication and everything else on the
way, from the median at {rate:,} commits a second. All else is predicted. A figure is a hit within
10 %, a time also within a fifth of a millisecond: {hits} are. Where a rate is more than is
answered times only grow, so none are given or compared.

{table}
What the measurement itself costs, in processors of the machine's two, at the fitted setting:

{cost}"""

REBALANCES = """## Rebalances and the poll interval

Member `a` is there all the time, reads records that never end, and is busy for the poll interval
after each of them. Other members join and leave, at random phases of its polls and heartbeats, and
poll every 20 ms. Heartbeats are one second apart, targets are computed at once. 5th, 50th and 95th
percentile of the time from a member's first call, or its call of `close`, until every partition has
its owner, in seconds.

Simulated members have the `client_model` `heartbeat_thread` under the classic protocol, eager and
cooperative, and `background_thread` under the consumer protocol. A median is near within 10 % or
100 ms: {hits} are.

{table}"""

CALLBACKS = """## Callbacks

Every callback of a rebalance listener, in order. All ran in the application's thread, and inside
`poll` where no other call is named. Partitions are those of the topic `first`, and with an s those
of `second`. Nothing is done before the group is at rest. As data:
`tests/lab/execution/recordings/traces.json`. Given which assignments each member gets, when it
joins again and how it ends, the model of a listener makes the same calls, in the same order and
thread: {hits}{misses}.

{tables}"""

CLOSINGS = """## Commits and close

A member has processed ten records and closes its consumer. Automatic commits are on, with an
interval of an hour, or off; nothing is pending, or an asynchronous commit of an earlier offset, or
one that was to be synchronous and timed out. The broker takes a tenth of a second for a commit.
The table has what is committed afterwards, in five repetitions, and what is allowed: where `close`
may wait, Java's client commits, waits and leaves, so nothing is lost; where its timeout is 0, any
commit may be lost. {hits} are as allowed.

{table}"""

FINDINGS = """## What it found

* A linger sets the times, the load hardly does: at few commits each waits for all of the linger, at
  many for half of it, as in the model.
* Without a linger the broker answers as many commits a second whatever its threads, offsets
  partitions and groups are: the machine's two processors set the limit, as one worker does in the
  model. With a linger the connections set it: a request that waits for the whole linger keeps its
  connection for that long.
* The 99th percentile at low rates is three to five tenths of a millisecond where the model has less
  than one: what stops a thread or a JVM for a moment is not in it.
* Where polls always find records, every exchange with the coordinator costs a cooperative member of
  the classic protocol a poll: JoinGroup leaves in one, SyncGroup in the next, and so on. An eager
  member has nothing to read by then, so its poll waits for the whole round.
* A heartbeat that is due is sent when the application calls `poll`: that wakes the heartbeat
  thread, which otherwise looks every 100 ms. So its answer arrives just after `poll` has returned,
  and waits for the next one: an eager member that polls once a second hears of a rebalance half a
  heartbeat later, and acts a whole poll after that.
* A member of the consumer protocol that gives up partitions needs three calls of `poll`: in the
  first it begins (a revocation waits for the application, which may have offsets to commit), in the
  second it runs the callback for what it gives up, in the third that for the nothing it gets; then
  it acknowledges, and the other member gets the partitions with its next heartbeat.
* A member of the consumer protocol that closes after the callback for what it gives up, and before
  the rebalance is over, gets that callback again, for everything it had before: the same partitions
  are revoked twice. `AsyncKafkaConsumer.runRebalanceCallbacksOnClose` takes its snapshot of them
  from before the rebalance.
* Under the classic protocol who closes amid a rebalance loses its partitions if it has joined
  again, and has them revoked if only its heartbeat thread has heard of the rebalance.
* No commit was lost where `close` could wait. With a timeout of 0 the automatic commit is lost now
  and then behind another commit, as the model allows.
* A classic member without automatic commits never runs the callback of an asynchronous commit that
  is pending when it closes, although the commit is accepted. In the consumer protocol the callback
  runs; but with a timeout of 0 `close` then throws, although the commit is accepted too.
"""

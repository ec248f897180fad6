"""Writes docs/coordinator-models.md: execution models of a coordinator, and what each costs.

    python -m tests.docs.coordinator_models

Everything is measured on a simulated clock, so the figures are the same on any machine.
"""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.coordinator import claims
from assignors.simulation.timed.coordinator.claims import BASE, CLAIMS, SATURATED
from assignors.simulation.timed.coordinator.load import Load
from assignors.simulation.timed.coordinator.policy import POLICIES, Policy
from assignors.simulation.timed.coordinator.run import measure
from tests.docs.source import DOCS, table

PAGE = DOCS / "coordinator-models.md"
SWEEP: tuple[tuple[str, Load], ...] = tuple(
    (
        f"{check_ms} ms | {groups:,} | {rate:,}",
        replace(
            BASE,
            requests=2000 if rate < 1000 else 12_000,
            per_second=rate,
            groups=groups,
            check_us=1000 * check_ms,
            changes_share=0.2,
        ),
    )
    for check_ms, groups, rate in (
        (0, 1000, 5000),
        (0, 100, 40_000),
        (2, 4, 5000),
        (2, 1000, 40_000),
        (10, 1000, 500),
        (10, 1000, 5000),
        (10, 100, 5000),
    )
)

HEAD = """# How a coordinator should execute requests

A group coordinator handles requests, appends records to a log, and answers once these are
replicated. What does a worker do meanwhile? When the group coordinator of Kafka 4 was written that
was debated ([apache/kafka#14705](https://github.com/apache/kafka/pull/14705)): should a worker wait
while an append is checked, or does the check have to be a stage of its own? Here both answers, and
the others that came up, are execution models that play the same requests.

"""


def page() -> str:
    """Return the page."""
    return HEAD + models() + _sweep() + _claims() + TAIL.replace("EXAMPLE", _example())


def _example() -> str:
    """Return what the example at the end of the page prints."""
    load = Load(requests=2000, per_second=1500, check_us=2000, groups=50)
    lines = []
    for name in ("blocking", "two-stage"):
        measured = measure(POLICIES[name], load)
        lines.append(f"{name:10} {measured.p50_ms:5.1f} ms {measured.p99_ms:5.1f} ms")
    return "\n".join(lines)


def models() -> str:
    """Return the models, in a table."""
    rows = [
        (
            f"`{name}`",
            policy.text,
            policy.key.value,
            policy.in_check.value,
            policy.in_replication.value,
            policy.applies.value,
        )
        for name, policy in POLICIES.items()
    ]
    head = ("model", "", "key", "held in a check", "held in a replication", "state changes at")
    return (
        "## The models\n\nRequests of one key are handled one after the other. "
        "What a model holds while a request waits, nobody else can use: its worker and its key, "
        "its key alone, or nothing. A state that changes at the append runs ahead of what is "
        "replicated, and has to go back where an append fails.\n\n"
        + "\n".join(table(head, rows))
        + "\n"
    )


def _sweep() -> str:
    head = ("check", "groups", "asked a second", *(f"`{name}`" for name in POLICIES))
    return (
        f"## What they cost\n\n{claims.WORKERS} workers, 4 offsets partitions, 50 us for a request,"
        " 2 ms for a replication, one request in five changes its group. Median and 99th percentile"
        " of the response time; where a model does not keep up, how many requests it answers in a"
        " second instead.\n\n"
        + "\n".join([*list(table(head, ()))[:-1], *(row(*each) for each in SWEEP), "", ""])
    )


def row(setting: str, load: Load) -> str:
    """Return a line of the table of costs: one load under each model."""
    cells = (_cell(policy, load) for policy in POLICIES.values())
    return f"| {' | '.join((setting, *cells))} |"


def _cell(policy: Policy, load: Load) -> str:
    measured = measure(policy, load)
    if measured.per_second < SATURATED * load.per_second:
        return f"**{measured.per_second:,.0f}/s**"
    return f"{measured.p50_ms:.1f} / {measured.p99_ms:.1f} ms"


def _claims() -> str:
    rows = [(claim.text, claim.by, claim.region, claim.measured().text) for claim in CLAIMS]
    return (
        "## The claims of the debate\n\nEach was right, somewhere. The test suite measures them "
        "again.\n\n" + "\n".join(table(("claim", "by", "where it holds", "measured"), rows)) + "\n"
    )


TAIL = """## What every model keeps

Over logs that complete appends at once, later, in another order, or with a failure, and over
failovers, at any moment (`tests/simulation/timed/coordinator`):

- every request is answered exactly once, and with success only after the high watermark has passed
  its last record, and that of everything it has seen;
- what is replicated of the state is what the replicated part of the log says;
- no update is lost or made twice; what was made on top of a failed append fails with it;
- every worker and every key is given back, once;
- a failover loses what is not replicated, and everybody who waits for it is answered so.

Histories are drawn at random; small cases of two and three requests, with checks, failures and a
failover, are exhausted over every order in which anything can complete, up to 12,000 histories
each.

Faults that were put into the steps on purpose are found, each with a history of a few lines: an
append outside the lock, an answer before the high watermark, a state that does not go back, a key
that is not unlocked, or twice, and appends applied in the order in which they complete.

## In Python

```python
>>> from assignors.simulation.timed.coordinator.load import Load
>>> from assignors.simulation.timed.coordinator.policy import POLICIES
>>> from assignors.simulation.timed.coordinator.run import measure
>>> load = Load(requests=2000, per_second=1500, check_us=2000, groups=50)
>>> for name in ("blocking", "two-stage"):
...     measured = measure(POLICIES[name], load)
...     print(f"{name:10} {measured.p50_ms:5.1f} ms {measured.p99_ms:5.1f} ms")
EXAMPLE

```

## What is left out

Requests are handled in constant time; brokers replicate in constant time, or in times drawn from an
exponential distribution, in order. The network and the clients are those of
[groups on a clock](simulator.md), not of these figures. Nothing here has been measured on a broker
yet.
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

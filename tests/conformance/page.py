"""Writes RESULTS.md from stored results: python -m tests.conformance.page.

`python -m tests.conformance.record` runs the clients and stores `tests/conformance/results.jsonl`;
`make conformance` does that, then writes the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.clients import BY_KEY
from tests.conformance.record import stored

PAGE = Path(__file__).parent / "RESULTS.md"

AREAS = {
    "decode": "decode",
    "encode": "encode",
    "range": "range",
    "roundrobin": "roundrobin",
    "sticky": "sticky",
    "coop": "cooperative-sticky",
    "user data": "UserData",
}
"""What was asked, in results -> the column of the table."""

FIELDS = {"owned": "owned partitions", "gen": "generation", "rack": "rack", "ud": "UserData"}
SHOWN = 400
"""Most characters of an answer."""

HEAD = """\
# What clients decode, assign and write: conformance results

This page shows how consumer clients answer the [test vectors](../vectors/README.md):
Subscriptions and Assignments to decode and to encode, groups to assign, UserData of the sticky
assignors to read and to write. The right answers are those of the classes of Kafka 4.4.0.
`make conformance` asks every client through a small program, as `kafka-assignors conform` asks
yours, and writes this page; written by hand are only the sentences that name the defects.

**How to read it.** 142/145 means: 142 of 145 cases are right; a dash: the client has no such thing.
An answer is right if it is lawful, not only if it is Java's: any balanced assignment passes for the
sticky assignors ([rules](../vectors/README.md#a-line)). Many cases are odd on purpose: bytes
cut at every place, members that ask for a topic twice, names that no broker accepts. A client with
many failures here can still serve you well; what matters is whether a case can occur in your
groups. Where Kafka itself fails, the cases written by hand (`peer-*`) say what we recommend
instead: that is why Java's client 4.4.0 does not pass all of them.

Below each defect stands the smallest case found: what was asked, what is right, what the client
answered. [The vectors' page](../vectors/README.md#categories) has the keys (`sgen`: the
generation in the Subscription; `ud`: UserData, hexadecimal). Your own client is asked one case,
here `coop-0005`, with

    kafka-assignors conform --vectors kafka-4.4.0 --only coop-0005 --command "./your-program"

"""


def page() -> str:
    """Return the page of the stored results."""
    lines = stored()
    parts = [HEAD, *_overview(lines)]
    for line in lines:
        parts += _section(line)
    return "".join(parts)


def _overview(lines: list[dict[str, Any]]) -> Iterator[str]:
    yield f"| client | {' | '.join(AREAS.values())} | defects |\n"
    yield f"|---|{'---:|' * len(AREAS)}---:|\n"
    for line in lines:
        name = f"{line['client']} {line['version']}"
        cells = [_share(line["counts"].get(area, {})) for area in AREAS]
        link = f"[{name}](#{_anchor(name)})"
        yield f"| {link} | {' | '.join(cells)} | {len(line['failures'])} |\n"
    yield "\nThe vectors for brokers (`srv-*`) and for records of `__consumer_offsets` (`rec-*`)"
    yield " are not asked of clients.\n"


def _share(counts: dict[str, int]) -> str:
    passed, failed = counts.get("passed", 0), counts.get("failed", 0)
    return f"{passed}/{passed + failed}" if passed + failed else "-"


def _anchor(name: str) -> str:
    """Return the anchor that a heading gets, on a host of repositories and in the site.

    >>> _anchor("Sarama 1.61.1")
    'sarama-1611'
    """
    kept = "".join(each for each in name.lower() if each.isalnum() or each in " -_")
    return kept.replace(" ", "-")


def _section(line: dict[str, Any]) -> Iterator[str]:
    client = BY_KEY[f"{line['client']}-{line['version']}"]
    yield f"\n## {line['client']} {line['version']}\n\n"
    yield f"Called through {client.through}: [program](../foreign/{client.source})."
    yield f" Run on {line['date']}, {line['on']}.\n"
    skipped = [AREAS[area] for area, counts in line["counts"].items() if counts.get("skipped")]
    if skipped:
        yield f"Not asked, or in part, for want of a function to call: {', '.join(skipped)}.\n"
    if line["unseen"]:
        names = ", ".join(FIELDS[name] for name in line["unseen"])
        yield f"Not compared when it decodes, because it shows no such field: {names}.\n"
    for number, failure in enumerate(line["failures"], 1):
        yield from _failure(number, failure, line["client"])


def _failure(number: int, failure: dict[str, Any], client: str) -> Iterator[str]:
    count, case = len(failure["ids"]), failure["case"]
    cases = "1 case" if count == 1 else f"{count} cases"
    ids = ", ".join(f"`{each}`" for each in failure["ids"][:3]) + (", ..." if count > 3 else "")
    yield f"\n**{number}. {failure['what'][0].upper()}{failure['what'][1:]}** ({cases}: {ids}).\n\n"
    yield "```text\n"
    width = max(len(client), len("expected"))
    expected = case["expected"] or "any lawful assignment"
    for name, value in (
        ("asked", case["asked"]),
        ("expected", expected),
        # Without an answer the sentence says how its process ended; what it printed is not ours.
        (client, case["answer"] or case["wrong"][0].partition(":")[0]),
    ):
        yield f"{name:<{width}}  {_shown(value, cut=name == client)}\n"
    yield "```\n"


def _shown(value: object, *, cut: bool) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f"{text[:SHOWN]}..." if cut and len(text) > SHOWN else text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""Run the kit against clients and store what comes of it: `python -m tests.conformance.record`.

`results.jsonl` has a client in one version a line: how many vectors it answers rightly, by what was
asked, and each of its defects with the vectors that show it and the smallest case that was found,
which Kafka's own classes judge. `--client` runs some of them and keeps the other lines.
"""

from __future__ import annotations

import json
import platform
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from assignors.conformance.judges import Strictness
from assignors.conformance.outcomes import Outcome, Status, judged, outcomes
from assignors.conformance.program_under_test import ProgramUnderTest
from assignors.conformance.values import reference_value
from assignors.conformance.vectors import (
    CLIENT_ALGORITHMS,
    Operation,
    Vector,
    vector_from_document,
)
from tests.conformance.clients import BY_KEY, CLIENTS, TIMEOUT_S, Client
from tests.conformance.known import Defect
from tests.conformance.published import vectors
from tests.foreign.judge import Judge
from tests.foreign.shrink import smaller_groups
from tests.vectors.remarks import remarks

RESULTS = Path(__file__).parent / "results.jsonl"

ASKED: dict[str, str] = {
    **{algorithm: algorithm for algorithm in CLIENT_ALGORITHMS},
    "codec-sub": "decode",
    "codec-asg": "decode",
    "codec-mksub": "encode",
    "codec-mkasg": "encode",
    "codec-stickyud": "user data",
    "codec-coopud": "user data",
    "codec-mdsticky": "user data",
    "codec-mdcoop": "user data",
}
"""Algorithm of a vector -> what it asks of a client. Others ask brokers."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TOPIC_LETTERS = "tuvwxyz"
TRIALS = 1500
"""Most cases that are tried to make one small."""
SECONDS = 25
"""How long that may take: some clients answer at once, others not at all."""

Fields = dict[str, Any]


def asked_of_clients() -> list[Vector]:
    """Return the vectors that a client can be asked."""
    return [vector for vector in vectors() if vector.algorithm in ASKED]


def recorded(client: Client, judge: Judge) -> Fields:
    """Run all vectors against a client; return its line."""
    counts: dict[str, Counter[str]] = {}
    failures: dict[str, list[Outcome]] = {}
    unseen: set[str] = set()
    with ProgramUnderTest(client.command(), timeout_seconds=TIMEOUT_S) as program:
        for outcome in outcomes(asked_of_clients(), program, Strictness()):
            area = ASKED[outcome.vector.algorithm]
            counts.setdefault(area, Counter())[outcome.status.value] += 1
            if outcome.status is Status.FAILED:
                failures.setdefault(defect_of(client, outcome).what, []).append(outcome)
            unseen |= set(((outcome.answer or {}).get("out") or {}).get("unseen") or ())  # type: ignore[attr-defined]
        found = [
            {
                "what": defect.what,
                "ids": sorted(failure.vector.vector_id for failure in failures[defect.what]),
                "case": smallest(client, failures[defect.what], program, judge),
            }
            for defect in client.defects
            if defect.what in failures
        ]
    return {
        "client": client.name,
        "version": client.version,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "on": f"{platform.system()} {platform.machine()}",
        "counts": {area: dict(sorted(counted.items())) for area, counted in counts.items()},
        "unseen": sorted(unseen),
        "failures": found,
    }


def defect_of(client: Client, outcome: Outcome) -> Defect:
    """Return the first known defect that explains a failure; `AssertionError` for a new one."""
    for defect in client.defects:
        if defect.explains(outcome):
            return defect
    vector = outcome.vector
    raise AssertionError(f"{client.key}: {vector.vector_id} ({vector.note}): {outcome.reasons}")


def smallest(
    client: Client, failures: list[Outcome], program: ProgramUnderTest, judge: Judge
) -> Fields:
    """Return the smallest case found that shows a defect: what was asked, and both answers.

    It begins with a failure that few other defects explain too, and never becomes one of others.
    Cases written by hand (`peer-*`) stay as they are: their right answer is ours, not Kafka's.
    """
    made = [each for each in failures if not each.vector.category.startswith("peer-")]
    best = min(
        made or failures,
        key=lambda each: (len(explaining(client, each)), len(json.dumps(each.vector.given))),
    )
    goes_on, trials = bool(made), TRIALS
    until = time.monotonic() + SECONDS
    shown = explaining(client, best)
    while goes_on and trials:
        goes_on = False
        for given in smaller(best.vector.given):
            trials -= 1
            outcome = asked_again(best.vector, given, program, judge)
            if outcome.status is Status.FAILED and explaining(client, outcome) == shown:
                best, goes_on = outcome, True
                break
            if not trials or time.monotonic() > until:
                trials = 0
                break
    return _case(best)


def explaining(client: Client, outcome: Outcome) -> list[str]:
    """Return the defects that explain a failure."""
    return [defect.what for defect in client.defects if defect.explains(outcome)]


def asked_again(vector: Vector, given: Fields, program: ProgramUnderTest, judge: Judge) -> Outcome:
    """Return what comes of a case like a vector, with Kafka's own answer to it as the right one."""
    document: Fields = {
        "id": vector.vector_id,
        "category": vector.category,
        "in": given,
        "out": judge.ask(given),
        "note": remarks(given) if "members" in given else vector.note,
    }
    changed = vector_from_document(document)
    return judged(changed, program.ask(changed.request()), Strictness())


def smaller(given: Fields) -> Iterator[Fields]:
    """Yield cases with a little less than this one, those with much less first."""
    if "members" in given:
        yield from smaller_groups(given)
        yield from _plainer_names(given)
    elif "hex" in given:
        blob = bytes.fromhex(given["hex"])
        for size in (len(blob) // 2, len(blob) // 4, 4, 2, 1):
            for start in range(0, len(blob), size) if size else ():
                yield {**given, "hex": (blob[:start] + blob[start + size :]).hex()}
    else:
        yield from _fewer_fields(given)


def _plainer_names(given: Fields) -> Iterator[Fields]:
    """Yield the group with one name, of a member, topic or instance, replaced by a letter."""
    members = given["members"]
    for position, member in enumerate(members):
        for field, letter in (("id", LETTERS[position % 26]), ("instance", "i")):
            if len(member.get(field) or "") > 1:
                plain = {**member, field: letter if field == "id" else f"{letter}{position}"}
                yield {**given, "members": [*members[:position], plain, *members[position + 1 :]]}
    for position, topic in enumerate(given["topics"]):
        if (letter := TOPIC_LETTERS[position % 7]) not in given["topics"] and len(topic) > 1:
            yield _with_topic_named(given, topic, letter)


def _with_topic_named(given: Fields, topic: str, letter: str) -> Fields:
    def named(name: str) -> str:
        return letter if name == topic else name

    return {
        **given,
        "topics": {named(name): racks for name, racks in given["topics"].items()},
        "members": [
            {
                **member,
                "topics": [named(name) for name in member["topics"]],
                "owned": [[named(name), number] for name, number in member.get("owned") or ()],
            }
            for member in given["members"]
        ],
    }


def _fewer_fields(given: Fields) -> Iterator[Fields]:
    for name, value in given.items():
        if isinstance(value, list):
            for position in range(len(value)):
                yield {**given, name: value[:position] + value[position + 1 :]}
        elif name in {"ud", "rack"} and value is not None:
            yield {**given, name: None}


def _case(outcome: Outcome) -> Fields:
    vector = outcome.vector
    expected: Fields = vector.expected
    if vector.value is not None:
        expected = vector.value
    elif vector.operation is Operation.DECODE and not vector.is_reference_failing:
        expected = reference_value(vector.algorithm, vector.expected)
    elif vector.operation is Operation.ASSIGN and "assignment" in expected:
        expected = {"assignment": expected["assignment"]}
    answer = {key: value for key, value in (outcome.answer or {}).items() if key != "id"}
    return {
        "asked": vector.given,
        "expected": expected,
        "answer": answer.get("out", answer),
        "wrong": list(outcome.reasons[:3]),
    }


def stored() -> list[Fields]:
    """Return the stored lines, in the order of `CLIENTS`."""
    if not RESULTS.exists():
        return []
    lines = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    order = list(BY_KEY)
    return sorted(lines, key=lambda line: order.index(f"{line['client']}-{line['version']}"))


@click.command()
@click.option("--client", "keys", type=click.Choice(list(BY_KEY)), multiple=True)
def main(keys: tuple[str, ...]) -> None:
    """Run the clients, all of them without --client, and store the results."""
    kept = {f"{line['client']}-{line['version']}": line for line in stored()}
    with Judge() as judge:
        for client in CLIENTS:
            if not keys or client.key in keys:
                kept[client.key] = recorded(client, judge)
                click.echo(f"{client.key}: {kept[client.key]['counts']}")
    text = "".join(json.dumps(kept[key]) + "\n" for key in BY_KEY if key in kept)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

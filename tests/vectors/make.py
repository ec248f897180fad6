"""Make the published vectors: `python -m tests.vectors.make` asks Kafka's own classes.

Inputs come from a seed, from the systematic ways to break a message and from `special.jsonl`,
groups made by hand; outputs from the release that `tests/foreign/java/pom.xml` names, through
`tests.foreign.judge`. The same seed and the same release give the same text. `peers.jsonl` is
written beside: its cases and their conclusions stand in `peers.py`.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import click

from assignors.conformance.values import reference_value
from assignors.conformance.vectors import FORMAT, OPERATIONS, Judge, Operation, default_judge
from tests.foreign.groups import next_round, usual_group
from tests.foreign.judge import Judge as Reference
from tests.vectors.codec_inputs import broken_text, edges, member, received, written
from tests.vectors.peers import peers
from tests.vectors.remarks import remarks

FOLDER = Path(__file__).parent
KAFKA = "4.4.0"
SEED = 440
LICENCE = "Apache-2.0"

SIZE_MAX = 9_000
"""Longest input, in characters: what a person can still look at."""

GROUPS = {
    "range": 140,
    "roundrobin": 70,
    "sticky": 300,
    "coop": 340,
    "srv-uniform": 240,
    "srv-range": 50,
    "srv-simple": 60,
}
"""Random groups for each assignor."""

REMEMBERING = ("sticky", "coop", "srv-uniform", "srv-range", "srv-simple")
"""Assignors that look at what was assigned before: their groups go on for a few rounds."""

ROUNDS_MAX = 4

WRITTEN = {"codec-mksub": 25, "codec-mkasg": 25, "codec-stickyud": 25, "codec-coopud": 12}
"""Random messages to be written."""

MEMBERS, RECEIVED = 60, 80
"""Random inputs of the categories codec-md and codec-dec."""

Line = dict[str, Any]


def questions(reference: Reference, seed: int = SEED) -> Iterator[Line]:
    """Lines as far as they are known before they are asked: id, category, input, note.

    The reference is needed all the same: a group's next round starts from its answer.
    """
    seen: set[str] = set()
    for category, listed in _by_category(reference, seed):
        number = 0
        for given, note in listed:
            words = json.dumps(given)
            if words in seen:
                continue  # two ways to break a message now and then give one
            seen.add(words)
            number += 1
            line: Line = {"id": f"{category}-{number:04}", "category": category, "in": given}
            yield {**line, "note": note} if note else line


def answered(lines: Iterable[Line], reference: Reference) -> Iterator[Line]:
    """Complete lines with what the reference answers, and how to judge others by it."""
    asked = list(lines)
    for line, out in zip(asked, reference.ask_all(line["in"] for line in asked), strict=True):
        assert not out.get("err", "").startswith("Judge"), f"{line['id']}: {out}"
        algorithm = line["in"]["algo"]
        operation = OPERATIONS[algorithm]
        judge = default_judge(algorithm, line["in"], out)
        # The texts of causes are Java's own affair.
        kept = {key: value for key, value in out.items() if key != "cause"}
        line = {**line, "op": operation.value, "judge": judge.value, "out": kept}  # noqa: PLW2901  # completed
        is_read = operation is Operation.DECODE and "err" not in out and judge is not Judge.EITHER
        if is_read and algorithm != "rec-dec":
            line["value"] = reference_value(algorithm, out)
        yield line


def header(title: str, categories: Iterable[str]) -> Line:
    """The first line of a file."""
    return {"format": FORMAT, "title": title, "licence": LICENCE, "counts": Counter(categories)}


def kafka_file(reference: Reference, seed: int = SEED) -> list[Line]:
    """The lines of `kafka-VERSION.jsonl.gz`."""
    lines = list(answered(questions(reference, seed), reference))
    title = f"what the classes of Apache Kafka {KAFKA} return, on OpenJDK 17"
    head = header(title, (line["category"] for line in lines))
    return [{**head, "kafka": KAFKA, "seed": seed}, *lines]


def records_file(reference: Reference) -> list[Line]:
    """The lines of `records-VERSION.jsonl.gz`, asked again: its inputs stand in the file itself.

    Records are made of the tables of a release, and some were written by a broker.
    """
    head, *cases = lines_of(FOLDER / f"records-{KAFKA}.jsonl.gz")
    asked = [
        {
            "id": case["id"],
            "category": case["id"].rpartition("-")[0],
            **{key: case[key] for key in ("in", "note") if key in case},
        }
        for case in cases
    ]
    lines = list(answered(asked, reference))
    again = header(head["title"], (line["category"] for line in lines))
    return [{**again, "kafka": KAFKA}, *lines]


def lines_of(packed: Path) -> list[Line]:
    """The lines of a file."""
    with gzip.open(packed, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def peers_file() -> list[Line]:
    """The lines of `peers.jsonl`."""
    seen = Counter[str]()
    lines = []
    for case in peers():
        seen[case["category"]] += 1
        lines.append({"id": f"{case['category']}-{seen[case['category']]:04}", **case})
    title = "what clients write and others get wrong"
    return [header(title, (case["category"] for case in lines)), *lines]


def text_of(lines: Iterable[Line]) -> bytes:
    """A file's text: an object a line, in UTF-8."""
    return b"".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        for line in lines
    )


def pack(lines: list[Line], name: str) -> str:
    """Write a packed file; return what was done."""
    blob = gzip.compress(text_of(lines), compresslevel=9, mtime=0)
    (FOLDER / name).write_bytes(blob)
    return f"{name}: {len(lines) - 1} vectors in {len(blob)} bytes"


def _by_category(
    reference: Reference, seed: int
) -> Iterator[tuple[str, Iterable[tuple[Line, str]]]]:
    # Dice of their own: a change in one category leaves the others as they are.
    for algorithm, count in GROUPS.items():
        yield algorithm, _groups(Random(f"{seed} {algorithm}"), algorithm, count, reference)
    for algorithm, count in WRITTEN.items():
        yield algorithm, _messages(Random(f"{seed} {algorithm}"), algorithm, count)
    dice = Random(f"{seed} codec-md")
    yield "codec-md", [(member(dice), "") for _ in range(MEMBERS)]
    yield "codec-edge", edges()
    yield "codec-utf8", broken_text()
    dice = Random(f"{seed} codec-dec")
    yield "codec-dec", [(received(dice), "") for _ in range(RECEIVED)]
    special = (FOLDER / "special.jsonl").read_text(encoding="utf-8").splitlines()
    yield "special", [_remarked(line["in"], line["note"]) for line in map(json.loads, special)]


def _groups(
    dice: Random, algorithm: str, count: int, reference: Reference
) -> Iterator[tuple[Line, str]]:
    """Random groups and their next rounds; none too long and none twice."""
    seen: set[str] = set()
    while len(seen) < count:
        given, note = usual_group(dice, algorithm), ""
        for _ in range(ROUNDS_MAX):
            words = json.dumps(given)
            if len(words) > SIZE_MAX or words in seen or len(seen) == count:
                break
            seen.add(words)
            yield _remarked(given, note)
            out = reference.ask(given)
            if algorithm not in REMEMBERING or "err" in out or dice.random() < 0.5:
                break
            given, note = next_round(dice, given, out), "the next round of the group before"


def _remarked(given: Line, note: str) -> tuple[Line, str]:
    return given, "; ".join(filter(None, (note, remarks(given))))


def _messages(dice: Random, algorithm: str, count: int) -> Iterator[tuple[Line, str]]:
    """Random messages to be written, none twice."""
    seen: set[str] = set()
    while len(seen) < count:
        given = written(dice, algorithm)
        words = json.dumps(given)
        if words not in seen:
            seen.add(words)
            yield given, ""


@click.command()
@click.option("--seed", default=SEED, show_default=True)
def make(seed: int) -> None:
    """Write kafka-VERSION.jsonl.gz, records-VERSION.jsonl.gz and peers.jsonl."""
    with Reference() as reference:
        click.echo(pack(kafka_file(reference, seed), f"kafka-{KAFKA}.jsonl.gz"))
        click.echo(pack(records_file(reference), f"records-{KAFKA}.jsonl.gz"))
    cases = peers_file()
    (FOLDER / "peers.jsonl").write_bytes(text_of(cases))
    click.echo(f"peers.jsonl: {len(cases) - 1} cases")


if __name__ == "__main__":
    make()

"""Make the published vectors: `python -m tests.vectors.make` asks Kafka's own classes.

Inputs come from a seed, from the systematic ways to break a message and from `special.jsonl`;
outputs from the release that `tests/foreign/java/pom.xml` names, through `tests.foreign.judge`.
The same seed and the same release give the same bytes. `peers.jsonl` is written beside: its
cases and their conclusions stand in `peers.py`.
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
from tests.foreign.groups import random_group
from tests.foreign.judge import Judge as Reference
from tests.vectors.codec_inputs import broken_text, edges, member, received, written
from tests.vectors.peers import peers

FOLDER = Path(__file__).parent
KAFKA = "4.4.0"
SEED = 440
LICENCE = "Apache-2.0"

SIZE_MAX = 9_000
"""Longest input, in characters: what a person can still look at."""

COUNTS = {
    "range": 130,
    "roundrobin": 60,
    "sticky": 200,
    "coop": 200,
    "srv-uniform": 150,
    "srv-range": 40,
    "srv-simple": 50,
    "codec-mksub": 25,
    "codec-mkasg": 25,
    "codec-stickyud": 25,
    "codec-coopud": 12,
}
"""Random inputs for each algorithm."""

MEMBERS, RECEIVED = 60, 80
"""Random inputs of the categories codec-md and codec-dec."""

Line = dict[str, Any]


def questions(seed: int = SEED) -> Iterator[Line]:
    """Lines as far as they are known before the reference is asked: id, category, input, note."""
    for category, listed in _by_category(seed):
        for number, (given, note) in enumerate(listed, 1):
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
        if operation is Operation.DECODE and "err" not in out and judge is not Judge.EITHER:
            line["value"] = reference_value(algorithm, out)
        yield line


def header(title: str, categories: Iterable[str]) -> Line:
    """The first line of a file."""
    return {"format": FORMAT, "title": title, "licence": LICENCE, "counts": Counter(categories)}


def numbered_peers() -> list[Line]:
    """The lines of `peers.jsonl`, with ids."""
    seen = Counter[str]()
    lines = []
    for case in peers():
        seen[case["category"]] += 1
        lines.append({"id": f"{case['category']}-{seen[case['category']]:04}", **case})
    return lines


def text_of(lines: Iterable[Line]) -> bytes:
    """A file's text: an object a line, in UTF-8."""
    return b"".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        for line in lines
    )


def _by_category(seed: int) -> Iterator[tuple[str, list[tuple[Line, str]]]]:
    for algorithm, count in COUNTS.items():
        # Dice of their own: a change in one category leaves the others as they are.
        dice = Random(f"{seed} {algorithm}")
        yield algorithm, [(given, "") for given in _random(dice, algorithm, count)]
    dice = Random(f"{seed} codec-md")
    yield "codec-md", [(member(dice), "") for _ in range(MEMBERS)]
    yield "codec-edge", list(edges())
    yield "codec-utf8", list(broken_text())
    dice = Random(f"{seed} codec-dec")
    yield "codec-dec", [(received(dice), "") for _ in range(RECEIVED)]
    special = (FOLDER / "special.jsonl").read_text(encoding="utf-8").splitlines()
    yield "special", [(line["in"], line["note"]) for line in map(json.loads, special)]


def _random(dice: Random, algorithm: str, count: int) -> Iterator[Line]:
    """Random inputs of one algorithm, none too long and none twice."""
    seen: set[str] = set()
    while len(seen) < count:
        is_codec = algorithm.startswith("codec-")
        given = written(dice, algorithm) if is_codec else random_group(dice, algorithm)
        words = json.dumps(given)
        if len(words) <= SIZE_MAX and words not in seen:
            seen.add(words)
            yield given


@click.command()
@click.option("--seed", default=SEED, show_default=True)
def make(seed: int) -> None:
    """Write kafka-VERSION.jsonl.gz and peers.jsonl."""
    with Reference() as reference:
        lines = list(answered(questions(seed), reference))
    title = f"what the classes of Apache Kafka {KAFKA} return, on OpenJDK 17"
    head = header(title, (line["category"] for line in lines)) | {"kafka": KAFKA, "seed": seed}
    packed = gzip.compress(text_of([head, *lines]), compresslevel=9, mtime=0)
    (FOLDER / f"kafka-{KAFKA}.jsonl.gz").write_bytes(packed)
    cases = numbered_peers()
    head = header("what clients write and others get wrong", (case["category"] for case in cases))
    (FOLDER / "peers.jsonl").write_bytes(text_of([head, *cases]))
    click.echo(f"{len(lines)} vectors in {len(packed)} bytes, {len(cases)} cases of peers")


if __name__ == "__main__":
    make()

"""What the Python programs under test share: their lines, and fields in the form of vectors."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Fields = dict[str, Any]


class Cluster:
    """What an assignor asks of the cluster's metadata."""

    def __init__(self, topics: Fields) -> None:
        self._counts = {name: len(racks) for name, racks in topics.items()}

    def topics(self) -> set[str]:
        return set(self._counts)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        count = self._counts.get(topic)
        return None if count is None else set(range(count))


class CannotAskError(Exception):
    """The client has no way to be asked this."""


def blob(digits: str | None) -> bytes | None:
    """Bytes from hexadecimal digits."""
    return None if digits is None else bytes.fromhex(digits)


def by_topic(listed: list[list[Any]]) -> list[tuple[str, list[int]]]:
    """[[topic, partition], ...] grouped by topic, in order of first appearance."""
    grouped: dict[str, list[int]] = {}
    for topic, number in listed:
        grouped.setdefault(topic, []).append(number)
    return list(grouped.items())


def pairs(entries: Iterable[Any]) -> list[list[Any]]:
    """(topic, partitions) entries as [[topic, partition], ...]."""
    return [[topic, number] for topic, numbers in entries for number in numbers]


def serve(client: str, works: Mapping[str, Callable[[Fields], Fields]]) -> None:
    """Answer each line of standard input with a line, until it ends."""
    for line in sys.stdin:
        asked = json.loads(line)
        answer = {"id": asked["id"], **_answer(client, works, asked)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _answer(client: str, works: Mapping[str, Callable[[Fields], Fields]], asked: Fields) -> Fields:
    work = works.get(asked["algo"])
    if work is None:
        return {"skip": f"{client} has no {asked['algo']}"}
    try:
        return {"out": work(asked)}
    except CannotAskError as reason:
        return {"skip": f"{client} has no way to be asked: {reason}"}
    except Exception as error:  # noqa: BLE001  # whatever it raises is its answer
        return {"error": {"exception": type(error).__name__, "text": repr(error)}}

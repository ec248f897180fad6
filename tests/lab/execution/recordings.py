"""What was measured, as files, so that it can be compared again without being played again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab.execution import closings, rebalances
from tests.lab.execution.closings import Closed, Commit, Left
from tests.lab.execution.commits import Server
from tests.lab.execution.rebalances import Kind, Took
from tests.lab.execution.traces import Called, Traces

FOLDER = Path(__file__).resolve().parent / "recordings"


FILES = ("machine.json", "commits.json", "rebalances.json", "traces.json", "closings.json")

Row = Mapping[str, Any]
"""A measured rate of commits, as `commits.play` returns it."""


class Recording(NamedTuple):
    """A long run."""

    machine: Mapping[str, Any]
    commits: Sequence[Row]
    rebalances: Mapping[rebalances.Cell, Sequence[Took]]
    traces: Mapping[Kind, Traces]
    closings: Mapping[closings.Cell, Sequence[Closed]]


def is_complete(folder: Path) -> bool:
    """Return whether every part has been played."""
    return all((folder / name).exists() for name in FILES)


def loads(folder: Path) -> dict[str, Any]:
    """Return when each part was played, and what else the machine did, as far as is known."""
    path = folder / "machine.json"
    if not path.exists():
        return {}
    parts: dict[str, Any] = _read(path)[0]["parts"]
    return parts


def save_machine(machine: Mapping[str, Any], folder: Path) -> None:
    """Write what it was played on."""
    _write(folder / "machine.json", [machine])


def save_commits(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write what `commits.play` has returned."""
    _write(folder / "commits.json", rows)


def save_rebalances(played: Mapping[rebalances.Cell, Sequence[Took]], folder: Path) -> None:
    """Write what `rebalances.play` has returned."""
    rows = [
        {**cell._asdict(), "took_ms": {verb: _times(took, verb) for verb in ("join", "leave")}}
        for cell, took in played.items()
    ]
    _write(folder / "rebalances.json", rows)


def _times(took: Sequence[Took], verb: str) -> list[float]:
    return [round(each.took_ms, 1) for each in took if each.verb == verb]


def save_traces(played: Mapping[Kind, Traces], folder: Path) -> None:
    """Write what `traces.play` has returned."""
    rows = [
        {"kind": kind, "scenario": name, "member": member, "called": [list(one) for one in called]}
        for kind, found in played.items()
        for name, members in found.items()
        for member, called in members.items()
    ]
    _write(folder / "traces.json", rows)


def save_closings(played: Mapping[closings.Cell, Sequence[Closed]], folder: Path) -> None:
    """Write what `closings.play` has returned."""
    rows = [
        {**cell._asdict(), "closed": [list(each) for each in closed]}
        for cell, closed in played.items()
    ]
    _write(folder / "closings.json", rows)


def load(folder: Path = FOLDER) -> Recording:
    """Read what was saved."""
    (machine,) = _read(folder / "machine.json")
    return Recording(
        machine=machine,
        commits=_read(folder / "commits.json"),
        rebalances={
            rebalances.Cell(Kind(row["kind"]), row["poll_ms"], row["stall_ms"]): [
                Took(verb, took) for verb, times in row["took_ms"].items() for took in times
            ]
            for row in _read(folder / "rebalances.json")
        },
        traces=_traces(_read(folder / "traces.json")),
        closings={
            closings.Cell(
                Kind(row["kind"]),
                row["is_auto"],
                Commit(row["pending"]),
                row["timeout_ms"],
                row["is_rebalancing"],
            ): [Closed(Left(left), *rest) for left, *rest in row["closed"]]
            for row in _read(folder / "closings.json")
        },
    )


def server_of(row: Row) -> Server:
    """Return the setting of a measured row."""
    return Server(**{name: row[name] for name in Server._fields})


def _traces(rows: Sequence[Mapping[str, Any]]) -> dict[Kind, Traces]:
    found: dict[Kind, Traces] = {}
    for row in rows:
        members = found.setdefault(Kind(row["kind"]), {}).setdefault(row["scenario"], {})
        members[row["member"]] = tuple(
            Called(callback, tuple(partitions), *rest)
            for callback, partitions, *rest in row["called"]
        )
    return found


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a list of rows, a line each, so that two recordings can be compared by eye."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", "utf-8")


def _read(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return rows

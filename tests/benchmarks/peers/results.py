"""What was measured, as a JSON file, and the ratios in it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.benchmarks.peers.contenders import Stage, our_stage, same_bytes

FOLDER = Path(__file__).resolve().parent.parent / "results"
FILE = FOLDER / "results.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One contender at one stage of one event; without times it did not finish in time."""

    workload: str
    event: str
    contender: str
    stage: Stage
    least_ms: float | None = None
    cold_ms: float | None = None
    runs: int = 0
    peak_mb: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Quality:
    """How far one contender's eager assignment is from the best one."""

    workload: str
    event: str
    contender: str
    balance_gap: int | None
    """Sum of squared loads above the best; `None` where partitions stay unassigned."""
    moves_above: int
    mismatches_above: int
    moves_least: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Results:
    """Everything of one run."""

    machine: str
    versions: str
    date: str
    limit_s: float
    load: float = 0.0
    """Processes that wanted to run on the machine at the end of the run, over 15 minutes."""
    rows: tuple[Row, ...] = ()
    quality: tuple[Quality, ...] = ()
    _by_key: dict[tuple[str, str, str, str], Row] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Index the rows."""
        self._by_key.update(
            {(row.workload, row.event, row.contender, row.stage): row for row in self.rows}
        )

    def row(self, workload: str, event: str, contender: str, stage: Stage) -> Row | None:
        """Return one row; `None` where it was not measured."""
        return self._by_key.get((workload, event, contender, stage))

    def ratio(
        self, workload: str, event: str, peer: str, stage: Stage, *, ours: Stage | None = None
    ) -> tuple[float, bool] | None:
        """Return how many times our CPU time a peer needs, and whether it is only a lower bound.

        `None` where one of both was not measured. `ours` is our stage, if it is another one.
        """
        here = self.row(workload, event, same_bytes(peer), ours or our_stage(peer, stage))
        there = self.row(workload, event, peer, stage)
        if here is None or here.least_ms is None or there is None:
            return None
        if there.least_ms is None:
            return 1000 * self.limit_s / here.least_ms, True
        return there.least_ms / here.least_ms, False


def save(results: Results, path: Path = FILE) -> None:
    """Write the file, a row a line."""
    whole = asdict(results)
    whole.pop("_by_key")
    lists = {name: whole.pop(name) for name in ("rows", "quality")}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in whole.items()]
    for name, entries in lists.items():
        inner = ",\n ".join(json.dumps(_short(entry)) for entry in entries)
        lines.append(f"{json.dumps(name)}: [\n {inner}\n]")
    path.parent.mkdir(exist_ok=True)
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


def load(path: Path = FILE) -> Results:
    """Read the file."""
    whole = json.loads(path.read_text(encoding="utf-8"))
    rows = tuple(Row(**row) for row in whole.pop("rows"))
    quality = tuple(Quality(**entry) for entry in whole.pop("quality"))
    return Results(rows=rows, quality=quality, **whole)


def _short(entry: dict[str, object]) -> dict[str, object]:
    return {
        name: float(f"{value:.4g}") if isinstance(value, float) else value
        for name, value in entry.items()
    }

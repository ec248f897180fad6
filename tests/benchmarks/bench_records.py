"""Decoding the offsets topic: rate on one core and on Spark, memory, cost in the records.

    python -m tests.benchmarks.bench_records [--records N] [--parts LIST]

`commits` are nothing but commits, `mixed` is `tests.replay.offsets_topics.Mix`, `groups` are
classic groups of 50 members with their bytes opened, all different or saying the same each time.
Alone: CPU seconds, best of 3. Spark: local[2], best of some runs after one for warmth, beside an
identity `mapInArrow` over the same Parquet files in the same session: of key and value alone,
and of all seven columns that are decoded. `shares` is how much of each one's rate is left, by
wall and (by CPU of Spark and its workers).
Memory is the peak of a process that does nothing else, over N / 4 and over N records.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa

from assignors.replay.decode.batches import decode_batches
from assignors.replay.sources import Raw, read_segments
from assignors.replay.sources.arrow import batched, write_parquet
from tests.replay.offsets_topics import COMMITS, Mix, group_value, offsets_topic
from tests.replay.segments import Batch
from wire.records import encode_key

SOURCE = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
PARTS = ("alone", "segments", "memory", "spark")
FILES = 10
GROUPS = 4000
RUNS = 3

PEAK = """
import resource, sys, time
from assignors.replay.decode.batches import decode_batches
from assignors.replay.sources.arrow import read_parquet
start = time.process_time()
print(sum(b.num_rows for path in sys.argv[1:] for b in decode_batches(read_parquet(path))))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time() - start)
"""


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    parts = options.parts.split(",")
    with tempfile.TemporaryDirectory() as folder:
        if "alone" in parts:
            alone(options.records)
        if "segments" in parts:
            segments(Path(folder), options.records)
        if "memory" in parts:
            memory(dump(Path(folder) / "mixed", options.records, Mix()))
        if "spark" in parts:
            spark(Path(folder), options.records, options.runs)


def alone(count: int) -> None:
    """One core, batches in memory."""
    print(f"{'alone':<34} {'records':>9} {'CPU s':>7} {'records/s':>10}")
    for name, mix in (("commits", COMMITS), ("mixed", Mix())):
        for number in (count // 2, count):
            row(name, number, best(partial(decoded, list(offsets_topic(number, mix=mix)))))
    for name, differ in (("groups of 50, all different", True), ("groups of 50, the same", False)):
        row(name, GROUPS, best(partial(decoded, groups(GROUPS, differ=differ))))


def segments(folder: Path, count: int) -> None:
    """Segment files, batches of ten commits."""
    place = folder / "__consumer_offsets-0"
    place.mkdir()
    pairs = (
        pair
        for batch in offsets_topic(count, mix=COMMITS)
        for pair in zip(batch["key"].to_pylist(), batch["value"].to_pylist(), strict=True)
    )
    with (place / f"{0:020d}.log").open("wb") as log:
        first = 0
        while ten := list(itertools.islice(pairs, 10)):
            log.write(Batch(base_offset=first, pairs=ten).data())
            first += len(ten)
    row("segment files", count, best(lambda: sum(1 for _ in read_segments(place))))


def memory(files: list[Path]) -> None:
    """CPU and peak of a process over a quarter of the files, and over all."""
    for chosen in (files[: max(1, len(files) // 4)], files):
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *map(str, chosen)],
            capture_output=True,
            text=True,
            check=True,
        )
        count, peak, seconds = map(float, done.stdout.split())
        row("from Parquet", int(count), seconds)
        print(f"{'  its peak memory':<34} {peak / 1024:>17.0f} MB", flush=True)


def spark(folder: Path, count: int, runs: int) -> None:
    """Local Spark on two cores, to no sink."""
    from assignors.replay.engines.spark import decode_records  # noqa: PLC0415 - the extra `spark`
    from assignors.spark import local_session  # noqa: PLC0415

    session = local_session()
    print(f"{'Spark, local[2]':<40} {'records':>9} {'wall s':>7} {'CPU s':>7} {'rows/s':>8} shares")
    try:
        for name, mix, number in (
            ("commits", COMMITS, count // 2),
            ("commits", COMMITS, count),
            ("mixed", Mix(), count),
        ):
            dump(folder / f"{name}-{number}", number, mix)
            frame = session.read.parquet(str(folder / f"{name}-{number}"))
            measured(name, number, frame, decode_records, runs)
        for name, differ in (("groups differ", True), ("groups repeat", False)):
            place = folder / name
            place.mkdir()
            for number in range(2):
                half = groups(GROUPS // 2, differ=differ, first=number * GROUPS)
                write_parquet(half, place / f"{number}.parquet")
            measured(name, GROUPS, session.read.parquet(str(place)), decode_records, runs)
    finally:
        session.stop()


def measured(name: str, count: int, frame: Any, decode: Callable[[Any], Any], runs: int) -> None:
    """Time decoding, and passing the same columns on; shares are identity's time over its."""
    pair, every = frame.select("key", "value"), frame.select(*SOURCE)
    jobs = {
        "identity, key and value": pair.mapInArrow(same, pair.schema),
        "identity, all columns": every.mapInArrow(same, every.schema),
        "decode key and value": pair.transform(decode),
        "decode all columns": every.transform(decode),
    }
    took = finished(jobs, runs)
    for what, (wall, cpu) in took.items():
        shares = "  ".join(
            f"{took[other][0] / wall:.2f} ({took[other][1] / cpu:.2f})" for other in list(jobs)[:2]
        )
        label = f"{name}: {what}"
        line = f"{label:<40} {count:>9} {wall:>7.2f} {cpu:>7.2f} {count / wall:>8.0f} {shares}"
        print(line, flush=True)


def finished(jobs: dict[str, Any], runs: int) -> dict[str, tuple[float, float]]:
    """The best wall and CPU seconds of jobs that write nowhere; the first round is for warmth."""
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for _ in range(runs + 1):
        for name, frame in jobs.items():
            cpu, wall = cpu_of_children(), time.perf_counter()
            frame.write.format("noop").mode("overwrite").save()
            took[name].append((time.perf_counter() - wall, cpu_of_children() - cpu))
    return {
        name: (min(wall for wall, _ in seen[1:]), min(cpu for _, cpu in seen[1:]))
        for name, seen in took.items()
    }


def cpu_of_children() -> float:
    """CPU seconds of Spark and its workers so far: wall says little on a busy machine."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def same(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    """Hand on."""
    yield from batches


def dump(folder: Path, count: int, mix: Mix) -> list[Path]:
    """Write a topic as Parquet files of equal size, each from a seed of its own."""
    folder.mkdir(exist_ok=True)
    files = []
    for number in range(FILES):
        files.append(folder / f"part-{number}.parquet")
        write_parquet(offsets_topic(count // FILES, seed=number, mix=mix), files[-1])
    return files


def groups(count: int, *, differ: bool, first: int = 0) -> list[pa.RecordBatch]:
    """Classic groups of 50 members."""
    key = encode_key("GROUP_METADATA", {"group": "g"})
    numbers = range(first, first + count)
    values = (group_value(number, claims_differ=differ) for number in numbers)
    return list(batched(Raw(key=key, value=value, partition=0, offset=0) for value in values))


def decoded(batches: Iterable[pa.RecordBatch]) -> int:
    """How many rows there were."""
    return rows_in(decode_batches(batches))


def rows_in(batches: Iterable[pa.RecordBatch]) -> int:
    """How many rows there are."""
    return sum(batch.num_rows for batch in batches)


def best(run: Callable[[], int]) -> float:
    """The fewest CPU seconds of a few runs."""
    took = []
    for _ in range(RUNS):
        start = time.process_time()
        assert run()
        took.append(time.process_time() - start)
    return min(took)


def row(name: str, count: int, seconds: float) -> None:
    """Print one row."""
    print(f"{name:<34} {count:>9} {seconds:>7.2f} {count / seconds:>10.0f}", flush=True)


if __name__ == "__main__":
    main()

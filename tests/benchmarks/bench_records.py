"""Decoding the offsets topic: rate and memory of plain Python and of Spark.

    python -m tests.benchmarks.bench_records [--records N] [--parts LIST]

`mixed` is `tests.replay.offsets_topics.Mix`, `groups` are classic groups of 50 members with their
bytes opened, all different or saying the same each time. Alone: a process that does nothing else,
over N / 4 and over N records; CPU seconds and the peak of its memory. Spark: local[2], best of some
runs after one for warmth; wall, and CPU of Spark and its workers.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa

from assignors.replay.sources import Raw
from assignors.replay.sources.arrow import batched, write_parquet
from tests.replay.offsets_topics import Mix, group_value, offsets_topic
from wire.records import encode_key

PARTS = ("alone", "spark")
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
            alone(dump(Path(folder) / "mixed", options.records, Mix()))
        if "spark" in parts:
            spark(Path(folder), options.records, options.runs)


def alone(files: list[Path]) -> None:
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
    print(f"{'Spark, local[2]':<34} {'records':>9} {'wall s':>7} {'CPU s':>7}")
    try:
        places = {"mixed on Spark": count}
        dump(folder / "mixed on Spark", count, Mix())
        for name, differ in (("groups differ", True), ("groups repeat", False)):
            (folder / name).mkdir()
            for number in range(2):
                half = groups(GROUPS // 2, differ=differ, first=number * GROUPS)
                write_parquet(half, folder / name / f"{number}.parquet")
            places[name] = GROUPS
        for name, number in places.items():
            frame = session.read.parquet(str(folder / name)).transform(decode_records)
            wall, cpu = finished(frame, runs)
            print(f"{name:<34} {number:>9} {wall:>7.2f} {cpu:>7.2f}", flush=True)
    finally:
        session.stop()


def finished(frame: Any, runs: int) -> tuple[float, float]:
    """The best wall and CPU seconds of a job that writes nowhere; the first run is for warmth."""
    took: list[tuple[float, float]] = []
    for _ in range(runs + 1):
        cpu, wall = cpu_of_children(), time.perf_counter()
        frame.write.format("noop").mode("overwrite").save()
        took.append((time.perf_counter() - wall, cpu_of_children() - cpu))
    return min(wall for wall, _ in took[1:]), min(cpu for _, cpu in took[1:])


def cpu_of_children() -> float:
    """CPU seconds of Spark and its workers so far: wall says little on a busy machine."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


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


def row(name: str, count: int, seconds: float) -> None:
    """Print one row."""
    print(f"{name:<34} {count:>9} {seconds:>7.2f} {count / seconds:>10.0f}", flush=True)


if __name__ == "__main__":
    main()

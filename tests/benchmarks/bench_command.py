"""What the command takes from its start to its end: time and memory.

    python -m tests.benchmarks.bench_command [--replay FILE] [--repeat N]

`--help` of the command and of each subcommand; `assign` on one line of 2,000 members and a million
partitions, where each owns one of every topic and one has left; with `--replay` also `replay` of a
dump. Each runs in a process of its own, with compiled modules; of CPU and wall time the least
counts, of memory the most.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from assignors.cli.command import SUMMARIES
from tests.benchmarks.whole_command import run_command

MEMBERS, TOPICS = 2000, 500


def main() -> None:
    """Print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replay", help="a dump to replay")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        group = Path(folder) / "group.jsonl"
        write_large_group(group)
        chosen = ["--assignor", "cooperative-sticky"]
        rows = {
            "--help": ["--help"],
            **{f"{name} --help": [name, "--help"] for name in SUMMARIES},
            "assign, a million partitions": ["assign", *chosen, "-o", "jsonl", str(group)],
        }
        if options.replay is not None:
            rows["replay"] = ["replay", "-o", "jsonl", options.replay]
        print(f"{'command':<30} {'CPU s':>7} {'wall s':>7} {'peak MB':>8}")
        for name, arguments in rows.items():
            measured(arguments, folder)  # compiles
            runs = [measured(arguments, folder) for _ in range(options.repeat)]
            cpu, wall, peak = zip(*runs, strict=True)
            print(f"{name:<30} {min(cpu):>7.3f} {min(wall):>7.3f} {max(peak):>8,.0f}", flush=True)


def write_large_group(file: Path) -> None:
    """Write a group as one line: a member owns one partition of each topic, the last has left.

    Member by member: the memory of this process would count as that of those it starts.
    """
    topics = [f"topic-{number:04d}" for number in range(TOPICS)]
    counts = json.dumps(dict.fromkeys(topics, MEMBERS))
    with file.open("w", encoding="utf-8") as stream:
        stream.write(f'{{"topics": {counts}, "generation": 7, "members": [')
        for member in range(MEMBERS - 1):
            document = {
                "id": f"member-{member:05d}",
                "topics": topics,
                "owned": [[name, [(member + at) % MEMBERS]] for at, name in enumerate(topics)],
                "generation": 7,
            }
            stream.write((", " if member else "") + json.dumps(document))
        stream.write("]}\n")


def measured(arguments: list[str], folder: str) -> tuple[float, float, float]:
    """Return CPU seconds, wall seconds and the peak of memory in MB (10^6 bytes) of one run."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    used = run_command(arguments, environment)
    return used.cpu_s, used.wall_s, used.peak_kib * 1024 / 1e6


if __name__ == "__main__":
    main()

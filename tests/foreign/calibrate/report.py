"""Compares recordings with the simulator, and writes RESULTS.md and results.json.

    python -m tests.foreign.calibrate.report --fit      # with constants found anew

Without `--fit` the kept constants are used: so a change of the simulator is held against the last
long run without playing it again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from assignors.simulation.timed.scenario import Verb
from tests.foreign.calibrate import fit
from tests.foreign.calibrate.compare import Comparison, as_row, compare
from tests.foreign.calibrate.plan import KINDS
from tests.foreign.calibrate.predictions import predict
from tests.foreign.calibrate.real import Recording
from tests.foreign.calibrate.recordings import load
from tests.foreign.calibrate.simulated import Constants
from tests.interop.install import ROOT

HERE = Path(__file__).resolve().parent
SEEDS = range(5)
HEAD = """\
# What the timed simulator predicts of real groups

Written by `make calibrate`. The same plan is played by real members on a Kafka 4.4.0 broker and by
the simulator, verb for verb at the same moments: a member joins a group at rest, and leaves it
again, at a random phase of the heartbeats, with the defaults of clients and broker. Ten partitions
a member. Constants are fitted to groups of 10; those of 3 and 30 are predictions.

A median is near within 10 % or 50 ms. A distribution is missed if a test of Kolmogorov and Smirnov
tells the two apart (p < 0.01) and the 5th or 95th percentile is not near. Rounds are missed if the
share of joins with a round more is unlikely (p < 0.01).

Idle is in partition-seconds. The time is in seconds, from the start of the member's process or of
its close to the last partition taken. 5th, 50th and 95th percentile each. Repetitions after which
the group was not at rest in time are counted in brackets, and left out.
"""
FINDINGS = """\
## What it found

* librdkafka's heartbeats go on over a rebalance (`heartbeats_go_on`); those of Java's client and
  kafka-python start anew with each generation, for all members at once.
* librdkafka's main thread looks for what is due only when it wakes: for a message, by a timer once
  a second, and by one every half second that starts anew with each assignment (`wake_ms`). So its
  heartbeats are 3.000 to 3.006 s apart, most leave in step with the last assignment, and eager
  members stop nearly together, though their heartbeats go on. A newcomer beats as soon as it has
  its first assignment. If another member has joined again before that, it does so too, a second
  after its own last join or later, as it wakes: at once, 0.5 or 1.0 s later. If not, it learns of
  the second round with its next heartbeat. Without `wake_ms`, medians of 12 round times and 7 idle
  times of 18 were near in eager groups.
* What is left of librdkafka's cooperative groups is which of the two comes first, a matter of
  tenths of a millisecond: of three members, the newcomer came second in 11 of 31 joins. With the
  constants of ten members, where that hardly shows, it always comes first; if a message took 500
  instead of 200 us, every median of these groups would be near, but not of the eager ones.
* Eager librdkafka groups of 30 are predicted to some milliseconds in their first rounds. Then some
  members' heartbeats are tenths of a second before those of the others, and a join that falls in
  between sets them half a second or more apart from then on: one recording is one such course.
* kafka-python 3.0.12 forgets a round whose poll times out, and is out of the group: with 30 members
  in a process on a busy machine that happens, and more rounds than predicted. The
  members ask for the round again, as those of `tests/interop` do.
* KIP-848 members of Java's client run callbacks in polls, and report what they gave up one poll
  after that, after the callback for what is new. The reports set the phases of later heartbeats:
  without this mechanism leaves were predicted up to a second off after a few rebalances.
* An idle member that polls at even times falls in step with its heartbeats, as the interval of
  those is a multiple of the polls': an assignment then waits for nearly a whole poll, not for half
  of one. Members poll at uneven times here.
* A round more than needed comes from a late SyncGroup: another member has revoked and joined again
  before it. How often is a matter of the machine's load, as is what eager members lose between the
  first and the last of them: look at the load above before those rows.
* A classic repetition is predicted from the phase that it really had, the time since the last
  generation. Under KIP-848, and in groups of librdkafka, each member has a phase of its own, which
  nobody reports: there a whole plan is one run, and thirty repetitions are not independent.
"""
VERBS = {Verb.START: "join", Verb.STOP: "leave"}


def main() -> None:
    """Compare again what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "calibrate")
    parser.add_argument("--fit", action="store_true", help="look for constants first")
    chosen = parser.parse_args()
    write_results(chosen.folder, is_fitted=chosen.fit)


def write_results(folder: Path, *, is_fitted: bool) -> None:
    """Compare the recordings of a folder, and write the two files of results beside this one."""
    recordings = load(folder)
    if is_fitted:
        fit.keep(fit.fit(recordings))
    constants = fit.kept()
    machine = json.loads((folder / "machine.json").read_text("utf-8"))
    write_rows(compared(recordings, constants), constants, machine)


def write_rows(
    rows: Sequence[Comparison], constants: Mapping[str, Constants], machine: Mapping[str, Any]
) -> None:
    """Write results.json and RESULTS.md."""
    document = {
        "machine": machine,
        "constants": {kind: asdict(each) for kind, each in constants.items()},
        "rows": [as_row(row) for row in rows],
    }
    (HERE / "results.json").write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    (HERE / "RESULTS.md").write_text(as_text(rows, constants, machine), "utf-8")
    print(summary(rows))


def compared(
    recordings: Iterable[Recording], constants: Mapping[str, Constants]
) -> list[Comparison]:
    """Return the comparison of each recording's joins and leaves, by kind and size."""
    rows = []
    for each in sorted(recordings, key=_place):
        cell = each.plan.cell
        simulated = predict(each, constants[cell.kind], seeds=SEEDS)
        rows += [compare(each.plan, verb, each.figures, simulated) for verb in VERBS]
    return rows


def _place(recording: Recording) -> tuple[int, int]:
    cell = recording.plan.cell
    return list(KINDS).index(cell.kind), cell.members


def summary(rows: Iterable[Comparison]) -> str:
    """Return how much was predicted, in a line for each class of protocols."""
    listed = list(rows)
    lines = []
    for name, is_eager in (("cooperative and KIP-848", False), ("eager", True)):
        wanted = [row for row in listed if KINDS[_kind(row)].is_eager == is_eager]
        count = sum(row.repetitions for row in wanted)
        exact = sum(row.moves for row in wanted)
        same = sum(row.generations for row in wanted)
        for figure, words in (("duration_s", "round times"), ("idle_s", "idle times")):
            near = sum(row.times[figure].is_near for row in wanted)
            lines.append(f"{name}: medians of {words}: {near} of {len(wanted)} near")
        lines.append(f"{name}: moves equal in {exact}, generations in {same} of {count}")
    return "\n".join(lines)


def _kind(row: Comparison) -> str:
    return row.cell.rpartition("-")[0]


def as_text(
    rows: Iterable[Comparison], constants: Mapping[str, Constants], machine: Mapping[str, Any]
) -> str:
    """Return the results as Markdown."""
    listed = list(rows)
    clients = ", ".join(f"{name} {version}" for name, version in machine["clients"].items())
    loads = "; ".join(
        f"with {each['groups']} groups {each['load_median']} (at most {each['load_max']})"
        for each in machine["loads"]
    )
    return "\n".join(
        [
            HEAD,
            f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, one broker and",
            f"all members on it; {clients}. Load average, median: {loads}.",
            "",
            "```",
            summary(listed),
            "```",
            "",
            *_table(listed),
            "",
            "## Constants",
            "",
            *_constants(constants),
            "",
            FINDINGS,
        ]
    )


def _table(rows: Iterable[Comparison]) -> list[str]:
    lines = [
        "| cell | | n | idle, real | predicted | time, real | predicted | more rounds | misses |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        more, share = row.more_rounds
        more_share = more / max(row.repetitions, 1)
        rounds = f"{more_share:.0%} / {share:.0%}" if more or share else ""
        times = [
            " / ".join(f"{value:.2f}" for value in side)
            for name in ("idle_s", "duration_s")
            for side in (row.times[name].real, row.times[name].simulated)
        ]
        count = f"{row.repetitions} (+ {row.unsettled})" if row.unsettled else str(row.repetitions)
        cells = [row.cell, VERBS[row.verb], count, *times, rounds]
        lines.append(f"| {' | '.join(cells)} | {', '.join(row.misses)} |")
    return lines


def _constants(constants: Mapping[str, Constants]) -> list[str]:
    names = [each.name for each in fields(Constants)]
    return [
        f"| kind | {' | '.join(f'`{name}`' for name in names)} |",
        f"|{'---|' * (len(names) + 1)}",
        *(
            f"| {kind} | {' | '.join(str(getattr(each, name)) for name in names)} |"
            for kind, each in constants.items()
        ),
    ]


if __name__ == "__main__":
    main()

"""The results as a page: RESULTS.md."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from assignors.simulation.timed.scenario import Verb
from tests.lab.calibrate.compare import Comparison, Times, as_row
from tests.lab.calibrate.findings import EARLIER, FINDINGS, RECORDED
from tests.lab.calibrate.nearness import Known, Off
from tests.lab.calibrate.plan import KINDS
from tests.lab.calibrate.simulated import Constants

HEAD = """\
# What the timed simulator predicts of real groups

Written by `make calibrate`. The same plan is played by real members on a Kafka 4.4.0 broker and by
the simulator, verb for verb at the same moments: a member joins a group at rest, and leaves it
again, at a random phase of the heartbeats, with the defaults of clients and broker. Ten partitions
a member. Each row is of several groups: what a group has been through sets the phases of its
members. Constants are fitted to groups of 10 in one recording; those of 3 and 30 are predictions,
and so is everything in other recordings.

Idle is in partition-seconds. The time is in seconds, from the start of the member's process or of
its close to the last partition taken. Repetitions after which the group was not at rest in time are
counted in brackets, and left out.
"""
MEDIANS = """\
A median is near within 10 % or 50 ms. `off by` is the predicted one minus the real one, and an
interval that has the true difference with a confidence of 95 %: groups are drawn anew, each with
its own predictions. If all of the interval is near, so is the median; if none of it, the median is
missed; else it is undecided, and what the medians themselves say follows in brackets. The second
number of `n` is that of groups.
"""
PAIRS = """\
Both sides play the same verbs at the same moments. So each join and each leave has a prediction of
its own, and the difference of the two says more than two medians do where they move together
(`correlation`): the median difference, predicted minus real, with its interval as above, and the
same words, held against 10 % of the real median or 50 ms.
"""
DISTRIBUTIONS = """\
5th, 50th and 95th percentile each. A distribution is missed if a test of Kolmogorov and Smirnov
tells the two apart (p < 0.01) and the 5th or 95th percentile is not near. Rounds are missed if the
share of joins with a round more is unlikely (p < 0.01).
"""
VERBS = {Verb.START: "join", Verb.STOP: "leave"}
CLASSES = {"cooperative and KIP-848": False, "eager": True}
"""Name -> whether its members are eager."""
FIGURES = {"duration_s": "round times", "idle_s": "idle times"}
"""Figures whose medians count."""


EARLIER_ROWS = Path(__file__).resolve().parent / "earlier.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A recording."""

    name: str
    machine: Mapping[str, Any]
    fitted: str
    """The constants that its groups of ten decided; without any, everything is predicted."""
    groups: int
    """Of a cell, at most."""
    repetitions: int
    near: Mapping[str, tuple[int, int]]
    """Class -> medians that are near in this recording alone, and all of them."""


def near_by_class(rows: Iterable[Comparison]) -> dict[str, tuple[int, int]]:
    """Return how many medians are near, of how many."""
    listed = list(rows)
    found = {}
    for name in CLASSES:
        times = [row.times[figure] for row in _of_class(listed, name) for figure in FIGURES]
        found[name] = (sum(each.is_near for each in times), len(times))
    return found


def summary(rows: Iterable[Comparison]) -> str:
    """Return how much was predicted, in some lines for each class of protocols."""
    listed = list(rows)
    lines = []
    for name in CLASSES:
        wanted = _of_class(listed, name)
        if not wanted:
            continue
        count = sum(row.repetitions for row in wanted)
        exact = sum(row.moves for row in wanted)
        same = sum(row.generations for row in wanted)
        for figure, words in FIGURES.items():
            times = [row.times[figure] for row in wanted]
            near = sum(each.is_near for each in times)
            known = [each.nearness for each in times if each.nearness is not None]
            lines.append(f"{name}: medians of {words}: {near} of {len(wanted)} near")
            if known:  # of enough groups
                lines += [
                    f"  by their intervals: {_counted(each.known for each in known)}",
                    f"  one by one: {_counted(each.pairs_known for each in known)}",
                ]
        lines.append(f"{name}: moves equal in {exact}, generations in {same} of {count}")
    return "\n".join(lines)


def _counted(known: Iterable[Known]) -> str:
    count = Counter(known)
    return ", ".join(f"{count[each]} {each.value}" for each in Known)


def _of_class(rows: Iterable[Comparison], name: str) -> list[Comparison]:
    return [row for row in rows if KINDS[row.cell.rpartition("-")[0]].is_eager == CLASSES[name]]


def as_text(
    rows: Iterable[Comparison],
    constants: Mapping[str, Constants],
    sources: Sequence[Source],
) -> str:
    """Return the results as Markdown."""
    listed = list(rows)
    parts = [
        [HEAD],
        _sources(sources),
        [RECORDED, "```", summary(listed), "```", "", "## Medians", "", MEDIANS],
        _medians(listed),
        ["", "## One by one", "", PAIRS],
        _pairs(listed),
        ["", "## Distributions", "", DISTRIBUTIONS],
        _distributions(map(as_row, listed)),
        ["", "## Constants", ""],
        _constants(constants),
        ["", EARLIER],
        _distributions(earlier()),
        ["", FINDINGS],
    ]
    return "\n".join(line for part in parts for line in part)


def _sources(sources: Iterable[Source]) -> list[str]:
    lines = [
        "| recording | machine | clients | groups | n | load average | alone | fitted to it |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for source in sources:
        machine = source.machine
        loads = "; ".join(
            f"{each['load_median']} (at most {each['load_max']}) with {each['groups']} groups"
            for each in machine["loads"]
        )
        near = ", ".join(
            f"{hits} of {all_of_them} ({name})"
            for name, (hits, all_of_them) in source.near.items()
            if all_of_them
        )
        cells = [
            source.name,
            f"{machine['date']}, {machine['processor']}, {machine['cores']} cores",
            ", ".join(f"{name} {version}" for name, version in machine["clients"].items()),
            str(source.groups),
            f"{source.repetitions:,}",
            loads,
            near,
            source.fitted or "none",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _medians(rows: Iterable[Comparison]) -> list[str]:
    lines = [
        "| cell | | n | idle, real | predicted | off by | | time, real | predicted | off by | |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row.cell, VERBS[row.verb], f"{row.repetitions} in {row.groups}"]
        for figure in ("idle_s", "duration_s"):
            times = row.times[figure]
            cells += [f"{times.real[1]:.2f}", f"{times.simulated[1]:.2f}"]
            nearness = times.nearness
            off = "" if nearness is None else _off(nearness.medians)
            cells += [off, _word(times)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _word(times: Times) -> str:
    """Return what the interval says; if that is nothing, also what the medians themselves say."""
    if times.nearness is None:
        return ""
    known = times.nearness.known
    if known is Known.UNDECIDED:
        return f"{known.value} ({Known.NEAR if times.is_near else Known.MISSED})"
    return known.value


def _pairs(rows: Iterable[Comparison]) -> list[str]:
    lines = [
        "| cell | | n | time: correlation | off by | | idle: correlation | off by | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row.cell, VERBS[row.verb], str(row.repetitions)]
        for figure in FIGURES:
            nearness = row.times[figure].nearness
            if nearness is None:
                cells += ["", "", ""]
                continue
            shares = nearness.correlation
            cells.append("" if shares is None else f"{shares:.2f}")
            cells += [_off(nearness.pairs), nearness.pairs_known.value]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _off(off: Off) -> str:
    return f"{off.value:+.2f} ({off.low:+.2f} to {off.high:+.2f})"


def _distributions(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a table of rows as `results.json` has them."""
    lines = [
        "| cell | | n | idle, real | predicted | time, real | predicted | more rounds | misses |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        (more, share), count = row["more_rounds"], row["repetitions"]
        rounds = f"{more / max(count, 1):.0%} / {share:.0%}" if more or share else ""
        times = [
            " / ".join(f"{value:.2f}" for value in row["times"][name][side])
            for name in ("idle_s", "duration_s")
            for side in ("real", "simulated")
        ]
        counted = f"{count} (+ {row['unsettled']})" if row["unsettled"] else str(count)
        cells = [row["cell"], VERBS[Verb(row["verb"])], counted, *times, rounds]
        lines.append(f"| {' | '.join(cells)} | {', '.join(row['misses'])} |")
    return lines


def earlier() -> list[Mapping[str, Any]]:
    """Return the rows of the recording of 2026-11-23, which was compared when it was made."""
    rows: list[Mapping[str, Any]] = json.loads(EARLIER_ROWS.read_text("utf-8"))["rows"]
    return rows


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

"""`simulate`: plays one scenario on a clock, for some seeds, protocols and assignors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from json import dumps as json_text
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from assignors.cli.inputs.assignor_names import OWN, portable_names
from assignors.cli.inputs.extras import needed_by, require_package
from assignors.cli.inputs.file_values import read_json_file
from assignors.cli.inputs.given_groups import GroupOptions, given_group, group_entries
from assignors.cli.inputs.option_types import NO_DASH, NewFile, names_listed
from assignors.cli.inputs.run_options import (
    assignors_option,
    processes_option,
    protocols_option,
    refuse,
    rows_at_a_time,
    seed_option,
    seed_range,
    seeds_option,
)
from assignors.cli.inputs.scenarios import row_documents
from assignors.cli.outputs.cells import dumps
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.progress import with_progress
from assignors.cli.outputs.timed_tables import show_intervals, show_listed, show_results
from assignors.documents.failures import NO_ERROR
from assignors.documents.values import SCHEMA, Document, DocumentError
from assignors.model import Group
from assignors.names.nearest import question
from assignors.own_assignors.importing import is_import_path
from assignors.simulation.assumptions import of_timed
from assignors.simulation.processes import Row
from assignors.simulation.timed.explore.history import NOTHING, history
from assignors.simulation.timed.explore.shrinking import shrunk
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.monitors.rules import described
from assignors.simulation.timed.own_group import own_group_document
from assignors.simulation.timed.scenario import Scenario, Verb
from assignors.simulation.timed.scenario_document import (
    brief_document,
    scenario_from_document,
)
from assignors.simulation.timed.tables.rows import (
    RUNS_A_CHUNK,
    interval_rows,
    result_rows,
    row_of,
    scenario_of,
    simulate_with_all_figures,
)
from assignors.simulation.timed.tables.variants import (
    Variant,
    variant_of,
    variant_rows,
    variants,
)

SETTING = re.compile(r"[A-Za-z_]+=.*")
"""A word of `--set`."""

A_GROUP = (
    "that is a group: --set away=15s every=30s plays it on a clock, kafka-assignors what-if plays"
    " events in it"
)
A_HISTORY = "that is a random history: kafka-assignors histories FILE plays it"
NO_SCENARIO = (
    "name a SCENARIO, that --list shows or a file, or describe a group with --set; kafka-assignors"
    " histories plays random histories"
)


BESIDE = {
    "history": ("processes", "report", "log", "intervals", "shrink", "form"),
    "shrink": ("processes", "report", "log", "intervals"),
    "intervals": ("report", "log"),
    "log": ("processes",),
}
"""Output in place of the figures -> parameters that have no effect on it."""


class _Simulate(click.Command):
    """`--set a=1 b=2` is `--set a=1 --set b=2`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the remaining arguments."""
        repeated: list[str] = []
        is_setting = False
        for each in args:
            if is_setting and repeated[-1] != "--set" and SETTING.fullmatch(each):
                repeated.append("--set")
            is_setting = each == "--set" or (is_setting and SETTING.fullmatch(each) is not None)
            repeated.append(each)
        return super().parse_args(ctx, repeated)


def _completed_scenarios(
    _context: click.Context, _option: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the scenarios whose name begins so, for the shell; files where there are none."""
    found = [CompletionItem(name) for name in GALLERY if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """Which runs are asked for: every variant with every seed."""

    scenario: Scenario
    variants: list[Variant]
    """What is compared side by side: columns of the rows other than scenario and seed."""
    seeds: range
    processes: int | None
    own_assignors: tuple[str, ...]
    """Those outside the registry that may be imported."""

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self.seeds) * len(self.variants)

    @property
    def options(self) -> dict[str, Any]:
        """How the rows are played."""
        return {
            "processes": self.processes,
            "chunk": rows_at_a_time(self.count, self.processes, RUNS_A_CHUNK),
            "own_assignors": self.own_assignors,
        }

    def rows(self) -> Iterator[Row]:
        """Yield a scenario row for each run, by variant and then by seed."""
        for row in variant_rows(self.scenario, self.variants):
            for seed in self.seeds:
                yield {**row, "seed": seed}

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenario of each run; `click.UsageError` for one that cannot be played."""
        for row in self.rows():
            try:
                scenario = scenario_of(row, self.own_assignors)
            except DocumentError as error:
                raise click.UsageError(f"{variant_of(row)}: {error}") from None
            yield scenario

    def one(self, option: str) -> Scenario:
        """Return the scenario of the only run; `click.UsageError` where there are several."""
        if self.count != 1:
            raise click.UsageError(f"{option} is for one run: one seed, protocol and assignor")
        return next(self.scenarios())


@click.command(cls=_Simulate)
@click.argument("given", metavar="[SCENARIO]", required=False, shell_complete=_completed_scenarios)
@click.option("--list", "lists", is_flag=True, help="Show the scenarios that have a name.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE...",
    help="A group of yours: members=12 topics=orders:48 away=15s every=30s is a rolling restart;"
    " also poll, heartbeat, session, static, rate, do, times, new.",
)
@click.option("--group", metavar="NAME", help="For --set: which group of the file.")
@assignors_option
@protocols_option(GroupProtocol, "Protocols to compare, with commas between; consumer is KIP-848.")
@click.option(
    "--own-assignor",
    "own_assignors",
    metavar="PATH",
    type=OWN,
    multiple=True,
    help="An assignor of yours that the file may name.",
)
@seed_option
@seeds_option(1)
@processes_option
@click.option("--report", type=NewFile(), help="Also write one HTML page.")
@click.option(
    "--log",
    metavar="FILE|DIR",
    help="Also write the run as records that replay reads.",
)
@click.option("--intervals", is_flag=True, help="Write who consumed which partition, when.")
@click.option("--history", is_flag=True, help="Print events up to a violation.")
@click.option(
    "--shrink",
    type=NewFile(),
    help="Write the smallest scenario with the violation of the first run that has one.",
)
@click.option("--show", "shows", is_flag=True, help="Print the scenario as JSON, run nothing.")
@output_option
@click.pass_context
def simulate(
    context: click.Context,
    *,
    given: str | None,
    lists: bool,
    settings: tuple[str, ...],
    group: str | None,
    assignors: tuple[tuple[str, ...], ...],
    protocols: tuple[str, ...],
    own_assignors: tuple[tuple[str, ...], ...],
    seed: int,
    seeds: int,
    processes: int | None,
    report: str | None,
    log: str | None,
    intervals: bool,
    history: bool,
    shrink: str | None,
    shows: bool,
    form: Form,
) -> None:
    """Play a group on a clock, with delays, timeouts and faults.

    SCENARIO is a name that --list shows, a JSON file, or - for standard input; with --set it is
    a group as assign takes it. Writes the figures of each protocol and assignor, medians over
    the seeds, or with -o jsonl a line for each run. In Python: assignors.simulation.simulate_timed.
    """
    if lists:
        refuse(context, _others(context, "lists", "form"), "is not for --list")
        context.exit(write(listed(), form, show_listed))
    names = portable_names(assignors)
    own = (*portable_names(own_assignors), *filter(is_import_path, names))
    if settings:
        refuse(context, ("own_assignors",), "is for a scenario in a file")
        shown, scenario = _own_group(settings, given, group)
    else:
        refuse(context, ("group",), "is for --set")
        shown, scenario = _chosen(given, own, names_listed(protocols))
    if shows:
        what = ("given", "settings", "group", "own_assignors", "shows")
        refuse(context, _others(context, *what), "is not for --show")
        click.echo(json_text(shown, indent=1))
        return
    request = _Request(
        scenario=scenario,
        variants=_compared(scenario, names_listed(protocols), names),
        seeds=seed_range(seed, seeds),
        processes=processes,
        own_assignors=own,
    )
    kinds = {"history": history, "shrink": shrink, "intervals": intervals, "log": log}
    for kind in (name for name, value in kinds.items() if value):
        refuse(context, BESIDE[kind], f"is not for --{kind}")
    if history:
        context.exit(_show_history(request))
    if shrink is not None:
        context.exit(write(shrink_documents(request, shrink), form, show_results))
    context.exit(_show_runs(request, form, intervals=intervals, log=log, report=report))


def _compared(
    scenario: Scenario, protocols: Sequence[str], assignors: Sequence[str]
) -> list[Variant]:
    try:
        return variants(protocols or (scenario.protocol.value,), assignors=assignors)
    except ValueError as error:
        raise click.UsageError(f"--assignor: {error}") from None


def _show_runs(
    request: _Request, form: Form, *, intervals: bool, log: str | None, report: str | None
) -> int:
    """Write the figures or the intervals of all runs; return the exit code."""
    assumed = of_timed(request.scenario, request.seeds)
    if intervals:
        rows = interval_rows(request.rows(), **request.options)
        documents = row_documents(with_progress(rows, None, "intervals"))
        return write(documents, form, show_intervals, assumptions=assumed)
    documents = result_documents(request) if log is None else log_documents(request, log)
    if report is not None:
        documents = with_report(documents, request, report, assumptions=assumed)
    return write(documents, form, show_results, assumptions=assumed)


def _others(context: click.Context, *names: str) -> set[str]:
    """Return the parameters of the command but these."""
    return {each.name or "" for each in context.command.params} - {*names}


def _group_at_start(given: str, name: str | None) -> Group:
    """Return the one group of a file. Raises `click.UsageError` where there is none, or several."""
    if given in GALLERY:
        raise click.UsageError(f"--set is for a group of yours; {given} has its own")
    if given != "-" and not Path(given).is_file():
        raise click.UsageError(f"no file {given!r}")
    about = GroupOptions(name=name)
    entries = list(group_entries([given], about))
    if len(entries) != 1:
        words = "; --group chooses one" if entries else ""
        raise click.UsageError(f"{len(entries)} groups in {given}{words}")
    try:
        return given_group(entries[0], about).group
    except DocumentError as error:
        raise click.UsageError(f"{given}: {error}") from None


def _own_group(
    settings: Sequence[str], given: str | None, name: str | None
) -> tuple[Document, Scenario]:
    """Return the scenario of `--set`. Raises `click.UsageError` for settings that are none."""
    start = None if given is None else _group_at_start(given, name)
    try:
        document = own_group_document(" ".join(settings), start)
        return document, scenario_from_document(document, protocols=tuple(GroupProtocol))
    except DocumentError as error:
        raise click.UsageError(f"--set: {error}") from None


def _chosen(
    text: str | None, own_assignors: Sequence[str], protocols: Sequence[str]
) -> tuple[Document, Scenario]:
    """Return the scenario of this name, or the one that a file describes; `-`: standard input.

    Raises `click.UsageError` for a name that is neither, and for a file that cannot be read or
    describes none.
    """
    if text is None:
        raise click.UsageError(NO_SCENARIO)
    if text in GALLERY:
        return GALLERY[text].document(), named(text)
    path = Path(text)
    if text != "-" and not path.is_file():
        if path.is_dir():
            raise click.UsageError(f"{text!r} is a directory")
        words = question(text, GALLERY) or "; --list shows those that have a name"
        raise click.UsageError(f"no file {text!r}, and no scenario{words}")

    def read(document: object) -> Scenario:
        if isinstance(document, dict) and "version" not in document:
            if "seed" in document:
                raise click.UsageError(A_HISTORY)
            members = document.get("members")
            if isinstance(members, list) and any("id" in m for m in members if isinstance(m, dict)):
                raise click.UsageError(A_GROUP)
        return scenario_from_document(document, own_assignors=own_assignors, protocols=protocols)

    scenario = read_json_file(text, read)
    _print_notes(scenario)
    return brief_document(scenario), scenario


def _print_notes(scenario: Scenario) -> None:
    """Note on standard error the topics that never exist and that members subscribe to."""
    known = {*scenario.topics, *(each.topic for each in scenario.plan if each.do is Verb.CREATE)}
    members = [*scenario.members, *(each.member for each in scenario.arrivals)]
    asked = [topic for member in members for topic in member.topics]
    asked += [topic for action in scenario.plan for topic in action.topics]
    for topic in dict.fromkeys(asked):
        if topic not in known:
            words = question(topic, scenario.topics)
            click.echo(
                f"note: a member subscribes to {topic!r}, which there never is{words}", err=True
            )


def listed() -> Iterator[Document]:
    """Yield the scenarios of the gallery: name, protocols, what each shows, expected figures."""
    for name, one in GALLERY.items():
        yield {
            "schema": SCHEMA,
            "scenario": name,
            "protocols": [protocol.value for protocol in one.expected],
            "text": one.text,
            "expected": {protocol.value: figures for protocol, figures in one.expected.items()},
            **NO_ERROR,
        }


def result_documents(request: _Request) -> Iterator[Document]:
    """Yield the result of each run, with a progress bar; at the end note what members failed with.

    A group may settle without those: its other figures do not say so.
    """
    errors: Counter[str] = Counter()
    failed_runs = 0
    rows = result_rows(request.rows(), **request.options)
    for each in row_documents(with_progress(rows, request.count, "runs")):
        found: Any = each.get("fatal_errors")
        failed_runs += bool(found)
        errors.update(found or {})
        yield each
    if errors:
        runs = f" in {failed_runs} of {request.count} runs" if request.count > 1 else ""
        click.echo(f"note: {_stopped(errors)}{runs}", err=True)


def _stopped(errors: Mapping[str, int]) -> str:
    """Return how many members stopped with which error.

    >>> _stopped({"GROUP_MAX_SIZE_REACHED": 5, "FENCED_INSTANCE_ID": 1})
    '5 members stopped with GROUP_MAX_SIZE_REACHED, 1 member with FENCED_INSTANCE_ID'
    """
    said: list[str] = []
    for name, count in errors.items():
        members = "1 member" if count == 1 else f"{count:,} members"
        said.append(f"{members} with {name}" if said else f"{members} stopped with {name}")
    return ", ".join(said)


def _show_history(request: _Request) -> int:
    """Print the events of the only run up to its first violation; return 1 if there is one."""
    line = NOTHING
    for line in history(request.one("--history")):
        click.echo(line)
    return int(line != NOTHING)


def shrink_documents(request: _Request, path: str) -> Iterator[Document]:
    """Write a small scenario that violates the rule that the first run with a violation does.

    Yields its result. Raises `click.UsageError` where no run violates anything, and for a file that
    cannot be written.
    """
    small = next(filter(None, map(shrunk, request.scenarios())), None)
    if small is None:
        raise click.UsageError("--shrink: no monitor finds anything in any of these runs")
    try:
        Path(path).write_text(f"{dumps(brief_document(small.scenario), indent=1)}\n", "utf-8")
    except OSError as error:
        raise click.UsageError(f"--shrink: {error}") from None
    result = simulate_with_all_figures(small.scenario).result
    seen = described(small.violation, small.scenario.seed)
    found = replace(result, violations=max(result.violations, 1), first_violation=seen)
    yield {"schema": SCHEMA, **row_of(small.scenario, found)}


def log_documents(request: _Request, path: str) -> Iterator[Document]:
    """Write the only run as records of `__consumer_offsets`; yield its result."""
    scenario = request.one("--log")
    from assignors.replay.sources import SourceError  # noqa: PLC0415 - only for this option
    from assignors.simulation.serving import write_run  # noqa: PLC0415 - as above

    if path == "-":
        raise click.UsageError(f"--log: {NO_DASH}")
    if path.endswith(".parquet"):
        require_package("pyarrow", "--log", "replay")
    progress = partial(with_progress, count=None, unit="batches")
    try:
        played = write_run(scenario, path, progress=progress)
    except (SourceError, OSError, ValueError) as error:
        raise click.UsageError(f"--log: {error}") from None
    yield {"schema": SCHEMA, **row_of(scenario, played.result)}


def with_report(
    documents: Iterable[Document], request: _Request, path: str, *, assumptions: str
) -> Iterator[Document]:
    """Yield the results of the runs, and write the page when all of them are there."""
    with needed_by("--report", "replay"):
        from assignors.simulation.page import report_page  # noqa: PLC0415 - an extra
    results: list[dict[str, Any]] = []
    for document in documents:
        results.append({**document})
        yield document
    own = request.own_assignors
    page = report_page(request.scenario, results, own_assignors=own, text=assumptions)
    try:
        Path(path).write_text(page, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"--report: {error}") from None
